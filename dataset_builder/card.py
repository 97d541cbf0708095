"""Renders the dataset card, and says which files make up each configuration and split."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rupeebias.errors import DatasetFolderError

from .records import Axis, Components, Origin
from .schema import COLUMNS, HUB_DTYPE

ALL: Final = "all"
"""The configuration with every use case, a split for each language."""
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


LOCAL: Final = Addresses()
"""Folders beside the reader's program."""
HUB: Final = "https://huggingface.co"
"""Where readers of the published texts find the repositories."""
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
    """Return `all`, one configuration a use case, and `evaluation`; they share the files."""
    names = [ALL, *dict.fromkeys(file.use_case for file in files)]
    splits = list(dict.fromkeys(file.split for file in files))
    by_language = tuple(
        Configuration(
            name,
            tuple(
                Split(
                    split,
                    tuple(file for file in files if file.split == split and name in (ALL, file.use_case)),
                )
                for split in splits
            ),
        )
        for name in names
    )
    return (*by_language, Configuration(EVALUATION, (Split(EVALUATION_SPLIT, tuple(files)),)))


def render_card(
    components: Components, files: Sequence[DataFile], fingerprint: str, addresses: Addresses = LOCAL
) -> str:
    """Return the dataset card, the README.md of the folder."""
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 (the output is Markdown, its input our own components)
    )
    template = environment.from_string(_template_file().read_text(encoding="utf-8"))
    return template.render(
        version=components.version,
        fingerprint=fingerprint,
        addresses=addresses,
        configurations=configurations(files),
        columns=[
            {
                "name": spec.name,
                "kind": spec.kind,
                "dtype": HUB_DTYPE[spec.kind],
                "description": spec.description,
            }
            for spec in COLUMNS
        ],
        rows=sum(file.rows for file in files),
        **_composition(components, files),
        origins={origin.label: sum(file.origins.get(origin.label, 0) for file in files) for origin in Origin},
    )


def _template_file() -> Path:
    """Return dataset_card.md: in an installed package beside this module, else one folder above."""
    here = Path(__file__).resolve().parent
    for folder in (here, here.parent):
        if (folder / "dataset_card.md").is_file():
            return folder / "dataset_card.md"
    raise DatasetFolderError(f"dataset_card.md is missing in {here} and above; reinstall rupeebias")


def _composition(components: Components, files: Sequence[DataFile]) -> dict[str, Any]:
    """Return the counts of the card."""
    by_use_case = {case.slug: 0 for case in components.use_cases}
    by_language = {str(language): 0 for language in components.splits}
    for file in files:
        by_use_case[file.use_case] += file.rows
        by_language[file.language] += file.rows
    return {
        "identifiers": sum(len(axis.identifiers) for axis in components.axes),
        "slots_per_axis": sum(
            len(case.profiles) * len(case.questions["en"]) for case in components.use_cases
        ),
        "use_cases": [
            {
                "slug": case.slug,
                "label": case.label,
                "profiles": len(case.profiles),
                "questions": len(case.questions["en"]),
                "prompts": by_use_case[case.slug],
            }
            for case in components.use_cases
        ],
        "languages": [
            {"slug": language, "split": split, "rows": by_language[language]}
            for language, split in components.splits.items()
        ],
        "axes": [_axis(axis) for axis in components.axes],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    labels = {person.slug: person.label for person in axis.identifiers}
    return {
        "slug": axis.slug,
        "identifiers": axis.identifiers,
        "source": axis.source,
        "motivation": axis.motivation,
        "pair": [labels[slug] for slug in axis.canonical_pair],
    }
