"""Builds what is published: the dataset's folder and the metric's, whose texts name the organisation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rupeebias.dataset_builder.card import Addresses
from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.eval_yaml import EVAL_YAML
from rupeebias.dataset_builder.folder import MANIFEST, BuildSummary, build_dataset
from rupeebias.dataset_builder.metric_folder import build_metric, check_metric
from rupeebias.metric.version import METRIC_VERSION

from ...errors import RupeeBiasError
from ..names import DATASET, METRIC, repository
from .page import render_page

Kind = Literal["dataset", "space"]

HUB: Final = "https://huggingface.co"
"""Where readers of the published texts find the repositories."""
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
    left_out: frozenset[str] = frozenset()
    """Files of the folder that are not published."""

    @property
    def tag(self) -> str:
        """The tag of this version."""
        return f"v{self.version}"

    @property
    def files(self) -> dict[str, Path]:
        """Every file that is published, by its path in the repository."""
        every = {
            path.relative_to(self.folder).as_posix(): path
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
        return {name: path for name, path in every.items() if name not in self.left_out}


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

    Without `eval_yaml` that file is built and checked but not published.

    Raises UsageError for a name that is none, and what building raises.
    """
    dataset, metric = repository(org, DATASET), repository(org, METRIC)
    addresses = Addresses(dataset, metric, f"{HUB}/datasets/{dataset}")
    summary = build_dataset(folder / DATASET, addresses=addresses)
    _stage_metric(folder / METRIC, addresses, summary.fingerprint)
    left_out = frozenset() if eval_yaml else frozenset((EVAL_YAML,))
    return Staged(_dataset_repo(dataset, folder, left_out), _metric_repo(metric, folder), addresses, summary)


def _dataset_repo(name: str, folder: Path, left_out: frozenset[str]) -> StagedRepo:
    pinned = (".parquet", MANIFEST)
    version = load_components().version
    return StagedRepo("dataset", name, folder / DATASET, version, MANIFEST, pinned, left_out)


def _metric_repo(name: str, folder: Path) -> StagedRepo:
    pinned = (".py", "requirements.txt")
    return StagedRepo("space", name, folder / METRIC, METRIC_VERSION, f"{METRIC}.py", pinned)


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
