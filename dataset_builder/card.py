"""Renders the dataset card and eval.yaml, and says which files make up each configuration and split."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .columns import columns_of
from .records import HUB_DTYPE, Axis, Components, Origin

ALL: Final = "all"
"""The configuration with every use case, a split for each language."""
CONTROLS: Final = "controls"
"""The configuration with the control prompts, a split for each language."""
EVALUATION: Final = "evaluation"
"""The configuration with every prompt in one split: a task on the Hub has one configuration and one split."""
EVALUATION_SPLIT: Final = "test"
"""Its split."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where dataset and metric are loaded from, as the card tells its readers."""

    dataset: str = "rupeebias"
    """What `load_dataset` takes."""
    metric: str = "rupeebias_metric"
    """What `evaluate.load` takes."""
    url: str | None = None
    """The dataset's page; None for a local folder."""


_CONFIGURATIONS: Final = """\
configs:
{% for configuration in configurations %}
- config_name: {{ configuration.name }}
{% if loop.first %}
  default: true
{% endif %}
  data_files:
{% for split in configuration.splits %}
  - split: {{ split.name }}
    path:
{% for file in split.files %}
    - {{ file }}
{% endfor %}
{% endfor %}
{% endfor %}
dataset_info:
{% for configuration in configurations %}
- config_name: {{ configuration.name }}
  features:
{% for column in columns %}
  - name: {{ column.name }}
    dtype: {{ column.dtype }}
{% endfor %}
  splits:
{% for split in configuration.splits %}
  - name: {{ split.name }}
    num_bytes: {{ split.loaded_bytes }}
    num_examples: {{ split.rows }}
{% endfor %}
  download_size: {{ configuration.file_bytes }}
  dataset_size: {{ configuration.loaded_bytes }}
{% endfor %}
"""
"""The part of a card's metadata that `load_dataset` reads."""

LOCAL: Final = Addresses()
"""Folders beside the reader's program."""
HUB: Final = "https://huggingface.co"
"""Where readers of the published texts find the repositories."""
EVAL_YAML: Final = "eval.yaml"
OVERALL: Final = "overall"
"""The task over every prompt."""
_HEAD: Final = """\
# Registers the benchmark on the Hub, which lists benchmarks and evaluation frameworks on request: until
# both are accepted this file has no effect there. `rupeebias score` computes the scores. A board is named
# by its task: `overall`, a language, or a demographic axis. The tasks of the axes read every prompt here and
# score the pairs of their axis.
name: {label}
description: >-
  Gaps between the amounts that a language model advises to people who differ
  only in one demographic identifier.
evaluation_framework: rupeebias
tasks:
"""
_REQUIRED: Final = ("name", "description", "evaluation_framework", "tasks")
_TASK_KEYS: Final = ("id", "config", "split")
_OWNER: Final = re.compile(r'load_dataset\("([A-Za-z0-9][A-Za-z0-9._-]{0,95})/rupeebias"\)')


def published_addresses(org: str) -> Addresses:
    """Return the addresses of what the user or organisation `org` publishes."""
    dataset = f"{org}/{LOCAL.dataset}"
    return Addresses(dataset, f"{org}/{LOCAL.metric}", f"{HUB}/datasets/{dataset}")


def stated_addresses(card: str) -> Addresses:
    """Return the addresses that a card tells its readers; those of a local folder if it names no owner."""
    found = _OWNER.search(card)
    return published_addresses(found[1]) if found else LOCAL


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file of the dataset."""

    use_case: str
    """Its use case, which is also the name of a configuration."""
    language: str
    """Its language."""
    split: str
    """The split that it belongs to."""
    path: str
    """Relative to the dataset folder, with forward slashes."""
    rows: int
    """Number of prompts."""
    file_bytes: int
    """Size on disk."""
    sha256: str
    """Of its bytes."""
    loaded_bytes: int
    """Size in memory as `datasets` loads it."""
    origins: Mapping[str, int]
    """Number of prompts by `text_origin`."""
    is_control: bool
    """Its prompts are controls, beside the benchmark's own."""


@dataclass(frozen=True, slots=True)
class Split:
    """One split of a configuration: its files, in row order."""

    name: str
    """`english`, `hinglish` or `test`."""
    data_files: tuple[DataFile, ...]
    """Files whose rows follow each other."""

    @property
    def files(self) -> list[str]:
        """Paths of the files."""
        return [file.path for file in self.data_files]

    @property
    def rows(self) -> int:
        """Number of prompts."""
        return sum(file.rows for file in self.data_files)

    @property
    def loaded_bytes(self) -> int:
        """Size in memory."""
        return sum(file.loaded_bytes for file in self.data_files)


@dataclass(frozen=True, slots=True)
class Configuration:
    """What `load_dataset` calls a configuration."""

    name: str
    """`all`, the slug of a use case, or `evaluation`."""
    splits: tuple[Split, ...]
    """One a language; a single one in `evaluation`."""

    @property
    def file_bytes(self) -> int:
        """Size on disk."""
        return sum(file.file_bytes for split in self.splits for file in split.data_files)

    @property
    def loaded_bytes(self) -> int:
        """Size in memory."""
        return sum(split.loaded_bytes for split in self.splits)


def configurations(files: Sequence[DataFile]) -> tuple[Configuration, ...]:
    """Return `all`, one configuration a use case, and `evaluation`, which share files; then `controls`."""
    own = tuple(file for file in files if not file.is_control)
    controls = tuple(file for file in files if file.is_control)
    names = dict.fromkeys(file.use_case for file in own)
    return (
        _by_language(ALL, own),
        *(_by_language(name, [file for file in own if file.use_case == name]) for name in names),
        Configuration(EVALUATION, (Split(EVALUATION_SPLIT, own),)),
        *((_by_language(CONTROLS, controls),) if controls else ()),
    )


def _by_language(name: str, files: Sequence[DataFile]) -> Configuration:
    splits = dict.fromkeys(file.split for file in files)
    return Configuration(
        name, tuple(Split(split, tuple(file for file in files if file.split == split)) for split in splits)
    )


def render_card(
    components: Components, files: Sequence[DataFile], fingerprint: str, addresses: Addresses = LOCAL
) -> str:
    """Return the dataset card, the README.md of the folder."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.DictLoader({"card": components.card, "configurations": _CONFIGURATIONS}),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 (the output is Markdown, its input our own components)
    )
    own = [file for file in files if not file.is_control]
    columns = [
        {"name": spec.name, "kind": spec.kind, "dtype": HUB_DTYPE[spec.kind], "description": spec.description}
        for spec in columns_of(components)
    ]
    return environment.get_template("card").render(
        label=components.label,
        version=components.version,
        fingerprint=fingerprint,
        addresses=addresses,
        configurations=configurations(files),
        columns=columns,
        rows=sum(file.rows for file in own),
        control_rows=sum(file.rows for file in files if file.is_control),
        controls=[_axis(axis) for axis in components.controls],
        **_composition(components, own),
        origins={origin.label: sum(file.origins.get(origin.label, 0) for file in own) for origin in Origin},
    )


def _composition(components: Components, files: Sequence[DataFile]) -> dict[str, Any]:
    """Return the counts of the card."""
    cases = components.use_cases
    by_use_case = {
        case.slug: sum(file.rows for file in files if file.use_case == case.slug) for case in cases
    }
    return {
        "identifiers": sum(len(axis.identifiers) for axis in components.axes),
        "slots_per_axis": sum(len(case.profiles) * case.n_questions for case in cases),
        "use_cases": [
            {
                "slug": case.slug,
                "label": case.about,
                "profiles": len(case.profiles),
                "questions": case.n_questions,
                "prompts": by_use_case[case.slug],
            }
            for case in cases
        ],
        "languages": [
            {
                "slug": language.slug,
                "split": language.split,
                "tag": language.tag,
                "rows": sum(file.rows for file in files if file.language == language.slug),
            }
            for language in components.languages
        ],
        "axes": [_axis(axis) for axis in components.axes],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    labels = {person.slug: person.label for person in axis.identifiers}
    return {
        "slug": axis.slug,
        "label": axis.label,
        "identifiers": axis.identifiers,
        "source": axis.source,
        "motivation": axis.motivation,
        "pair": [labels[slug] for slug in axis.canonical_pair or ()],
    }


def render_eval_yaml(components: Components) -> str:
    """Return eval.yaml: the tasks `overall`, one a language and one an axis."""
    languages = [(split, ALL, split) for split in components.splits.values()]
    axes = [(axis.slug, EVALUATION, EVALUATION_SPLIT) for axis in components.axes]
    tasks = [(OVERALL, EVALUATION, EVALUATION_SPLIT), *languages, *axes]
    return _HEAD.format(label=components.label) + "".join(
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
