"""Builds what is published: the dataset's folder and the metric's, whose texts name the organisation."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rupeebias.dataset_builder.card import HUB, Addresses, published_addresses
from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.folder import MANIFEST, BuildSummary, build_dataset
from rupeebias.dataset_builder.metric_design import build_metric, check_metric
from rupeebias.metric.version import METRIC_VERSION

from ...errors import RupeeBiasError
from ..names import DATASET, METRIC, repository
from .page import render_page

__all__ = ["FILES", "HUB", "Kind", "Staged", "StagedRepo", "stage"]

Kind = Literal["dataset", "space"]

FILES: Final = "files.json"
"""Lists what was published in the Space: the next publication deletes only such files."""
_BARE: Final = f'evaluate.load("{METRIC}")'


@dataclass(frozen=True, slots=True)
class StagedRepo:
    """One folder that is to become the content of a repository."""

    kind: Kind
    name: str
    """`org/name`."""
    folder: Path
    version: str
    """Version of the content, without a `v`."""
    marker: str
    """A file that every version of it holds: it tells our repositories from others."""
    pinned: tuple[str, ...]
    """Endings of files that give numbers: under one version they never change. The others are texts."""
    states_version: str | None = None
    """The file that states the version; None if it has none."""
    lists_files: str | None = None
    """The JSON file that lists under `files` all that a publication wrote; None: everything there is ours."""

    @property
    def tag(self) -> str:
        """The tag of this version."""
        return f"v{self.version}"

    @property
    def files(self) -> dict[str, Path]:
        """Every file that is published, by its path in the repository."""
        return {
            path.relative_to(self.folder).as_posix(): path
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }


@dataclass(frozen=True, slots=True)
class Staged:
    """Everything that is to be published."""

    dataset: StagedRepo
    metric: StagedRepo
    addresses: Addresses
    summary: BuildSummary
    """Of the dataset."""


def stage(org: str, folder: Path, *, eval_yaml: bool = True) -> Staged:
    """Build dataset and metric for `org` inside `folder`, as `rupeebias` and `rupeebias_metric`.

    Without `eval_yaml` the dataset has no such file.

    Raises UsageError for a name that is none, and what building raises.
    """
    dataset, metric = repository(org, DATASET), repository(org, METRIC)
    addresses = published_addresses(org)
    summary = build_dataset(folder / DATASET, addresses=addresses, eval_yaml=eval_yaml)
    _stage_metric(folder / METRIC, addresses, summary.fingerprint)
    return Staged(_dataset_repo(dataset, folder), _metric_repo(metric, folder), addresses, summary)


def _dataset_repo(name: str, folder: Path) -> StagedRepo:
    version = load_components().version
    return StagedRepo("dataset", name, folder / DATASET, version, MANIFEST, (".parquet",), MANIFEST, MANIFEST)


def _metric_repo(name: str, folder: Path) -> StagedRepo:
    pinned = (".py", "requirements.txt")
    marker = f"{METRIC}.py"
    return StagedRepo("space", name, folder / METRIC, METRIC_VERSION, marker, pinned, "version.py", FILES)


def _stage_metric(folder: Path, addresses: Addresses, fingerprint: str) -> None:
    build_metric(folder)
    check_metric(folder)
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8")
    if _BARE not in text:
        raise RupeeBiasError(
            f"metric/README.md no longer says {_BARE}: its published copy cannot name the Space"
        )
    text = text.replace(_BARE, f'evaluate.load("{addresses.metric}")')
    card.write_text(text, encoding="utf-8", newline="\n")
    page = render_page(addresses, fingerprint)
    (folder / "index.html").write_text(page, encoding="utf-8", newline="\n")
    names = sorted([FILES, *(path.name for path in folder.iterdir() if path.is_file())])
    listing = json.dumps({"metric_version": METRIC_VERSION, "files": names}, indent=2) + "\n"
    (folder / FILES).write_text(listing, encoding="utf-8", newline="\n")
