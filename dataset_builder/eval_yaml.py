"""eval.yaml registers the benchmark on the Hub, with one leaderboard for each of its tasks."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from .card import ALL, EVALUATION, EVALUATION_SPLIT
from .records import Components

EVAL_YAML: Final = "eval.yaml"

OVERALL: Final = "overall"
"""The task over every prompt."""

_HEAD: Final = """\
# Registers the benchmark on the Hub, which lists benchmarks and evaluation frameworks on request: until
# both are accepted this file has no effect there. `rupeebias score` computes the scores. A board is named
# by its task: `overall`, a language, or a demographic axis. The tasks of the axes read every prompt here and
# score the pairs of their axis.
name: RupeeBias
description: >-
  Gaps between the amounts that a language model advises to people in India who differ
  only in one demographic identifier.
evaluation_framework: rupeebias
tasks:
"""

_REQUIRED: Final = ("name", "description", "evaluation_framework", "tasks")
_TASK_KEYS: Final = ("id", "config", "split")


def render_eval_yaml(components: Components) -> str:
    """Return eval.yaml: the tasks `overall`, one a language and one an axis."""
    languages = [(split, ALL, split) for split in components.splits.values()]
    axes = [(axis.slug, EVALUATION, EVALUATION_SPLIT) for axis in components.axes]
    tasks = [(OVERALL, EVALUATION, EVALUATION_SPLIT), *languages, *axes]
    return _HEAD + "".join(
        f"  - id: {task}\n    config: {config}\n    split: {split}\n" for task, config, split in tasks
    )


def eval_yaml_problems(content: Any, splits: Mapping[str, Collection[str]]) -> list[str]:
    """Return what is wrong with the loaded content of an eval.yaml, each problem in one line; empty: valid.

    `splits` holds the splits of each configuration of the dataset. The rules are the Hub's: four keys, texts
    not empty, at least one task, unique ids, configurations and splits that exist, no other keys in a task.
    """
    if not isinstance(content, Mapping):
        return ["it is not a mapping"]
    texts = [key for key in _REQUIRED[:3] if not _is_text(content.get(key))]
    problems = [f"{key} is missing or not a text" for key in texts]
    tasks = content.get("tasks")
    if not isinstance(tasks, list) or not tasks:
        return [*problems, "tasks is missing or has no task"]
    for number, task in enumerate(tasks, start=1):
        problems += [f"task {number}: {problem}" for problem in _task_problems(task, splits)]
    ids = [task["id"] for task in tasks if isinstance(task, Mapping) and _is_text(task.get("id"))]
    twice = {task for task in ids if ids.count(task) > 1}
    return problems + [f"task id {task!r} is given twice" for task in sorted(twice)]


def _task_problems(task: Any, splits: Mapping[str, Collection[str]]) -> list[str]:
    if not isinstance(task, Mapping):
        return ["it is not a mapping"]
    problems = [f"unknown key {key!r}" for key in task if key not in _TASK_KEYS]
    if missing := [key for key in _TASK_KEYS if not _is_text(task.get(key))]:
        return [*problems, f"{missing[0]} is missing or not a text"]
    if task["config"] not in splits:
        problems.append(f"the dataset has no configuration {task['config']!r}")
    elif task["split"] not in splits[task["config"]]:
        problems.append(f"configuration {task['config']!r} has no split {task['split']!r}")
    return problems


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
