"""What the Hub refuses at a push: an eval.yaml or a card that it cannot use. Written from its documentation,
independently of the checks that `rupeebias publish` makes.
"""

import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
LICENSES = {"apache-2.0", "mit", "cc-by-4.0", "cc-by-sa-4.0", "cc0-1.0", "other"}
LANGUAGES = {"en", "hi", "bn", "ta", "te", "mr"}
SIZES = {"n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M"}
TASKS = {"text-generation", "question-answering", "text-classification"}
TASK_KEYS = {"id", "config", "split", "field_spec", "solvers", "scorers", "epochs", "epoch_reducer"}


def eval_yaml_errors(text: bytes, card: bytes, frameworks: Collection[str] | None = None) -> list[str]:
    """Return what is wrong with a dataset's eval.yaml, given its README.md and the known frameworks."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        return ["eval.yaml is not YAML"]
    if not isinstance(content, dict):
        return ["eval.yaml is not a mapping"]
    errors = [
        f'"{key}" is required'
        for key in ("name", "description", "evaluation_framework")
        if not isinstance(content.get(key), str) or not content[key].strip()
    ]
    if frameworks is not None and content.get("evaluation_framework") not in frameworks:
        errors.append('"evaluation_framework" must be one of the known frameworks')
    tasks = content.get("tasks")
    if not isinstance(tasks, list) or not tasks:
        return [*errors, '"tasks" must be a list of at least one task']
    splits = _splits(card)
    for at, task in enumerate(tasks):
        errors += [f"tasks[{at}]: {error}" for error in _task_errors(task, splits)]
    ids = [task.get("id") for task in tasks if isinstance(task, dict)]
    return errors + (["task ids must be unique"] if len(set(map(str, ids))) < len(ids) else [])


def _task_errors(task: Any, splits: Mapping[str, set[str]]) -> list[str]:
    if not isinstance(task, dict):
        return ["is not a mapping"]
    errors = [f"unknown key {key!r}" for key in task.keys() - TASK_KEYS]
    if not isinstance(task.get("id"), str):
        errors.append('"id" is required')
    config, split = task.get("config", "default"), task.get("split", "test")
    if config not in splits:
        errors.append(f"config {config!r} does not exist")
    elif split not in splits[config]:
        errors.append(f"split {split!r} does not exist in config {config!r}")
    return errors


def _splits(card: bytes) -> dict[str, set[str]]:
    """Return the splits of every configuration of a dataset card."""
    configs = front_matter(card).get("configs", [])
    return {each["config_name"]: {split["split"] for split in each["data_files"]} for each in configs}


@lru_cache(64)
def front_matter(card: bytes) -> dict[str, Any]:
    """Return the metadata of a README.md; empty if there is none. YAMLError if it is no YAML."""
    text = card.decode()
    if not text.startswith("---\n"):
        return {}
    loaded = yaml.load(text[4 : text.index("\n---", 3) + 1], LOADER)  # noqa: S506 (a safe one)
    return loaded if isinstance(loaded, dict) else {}


def card_errors(kind: str, card: bytes) -> list[str]:
    """Return what is wrong with the metadata of a README.md."""
    try:
        data = front_matter(card)
    except (yaml.YAMLError, ValueError) as error:
        return [f"metadata is not valid YAML: {type(error).__name__}"]
    errors = [] if data.get("license", "other") in LICENSES else ['"license" must be a known licence']
    return errors + (_space_errors(data) if kind == "space" else _dataset_errors(data))


def _dataset_errors(data: Mapping[str, Any]) -> list[str]:
    errors = []
    for key, known in (("language", LANGUAGES), ("size_categories", SIZES), ("task_categories", TASKS)):
        if unknown := set(_listed(data.get(key))) - known:
            errors.append(f'"{key}" has unknown values {sorted(unknown)}')
    return errors


def _space_errors(data: Mapping[str, Any]) -> list[str]:
    errors = [f'"{key}" must be a colour' for key in ("colorFrom", "colorTo") if _no_colour(data.get(key))]
    if data.get("sdk") not in ("static", "gradio", "docker", "streamlit"):
        errors.append('"sdk" must be one of static, gradio, docker, streamlit')
    if not _is_emoji(data.get("emoji", "\N{EYES}")):
        errors.append('"emoji" must only contain emojis')
    if len(data.get("short_description", "")) > 60:
        errors.append('"short_description" length must be less than or equal to 60 characters long')
    return errors


def _no_colour(value: Any) -> bool:
    return value is not None and value not in COLOURS


def _is_emoji(text: Any) -> bool:
    joiners = "\N{VARIATION SELECTOR-16}\N{ZERO WIDTH JOINER}"
    return isinstance(text, str) and all(
        unicodedata.category(each) == "So" or each in joiners for each in text
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
