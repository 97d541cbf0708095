"""What is published: the dataset's folder and the metric's, whose texts name the organisation, verified.

Verified are content, metadata, and that the real libraries can load both.
"""

import json
import os
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rupeebias.dataset_builder.card import EVAL_YAML, Addresses, eval_yaml_problems, published_addresses
from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.folder import MANIFEST, BuildSummary, build_dataset, check_dataset
from rupeebias.dataset_builder.metric_design import build_metric, check_metric
from rupeebias.metric.version import METRIC_VERSION

from ..errors import RupeeBiasError
from .client import DATASET, METRIC, repository
from .repository import LocalRepo

FILES: Final = "files.json"
"""Lists what was published in the Space."""
_BARE: Final = f'evaluate.load("{METRIC}")'
_FOLDER: Final = Path(__file__).parent
_COLOURS: Final = frozenset(("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"))
_SPACE_KEYS: Final = ("title", "emoji", "colorFrom", "colorTo", "license")
_DATASET_KEYS: Final = ("license", "language", "pretty_name", "task_categories", "size_categories")
_CHECK_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class Staged:
    """Everything that is to be published."""

    dataset: LocalRepo
    metric: LocalRepo
    addresses: Addresses
    summary: BuildSummary
    """Of the dataset."""


def stage(org: str, folder: Path, *, eval_yaml: bool = True) -> Staged:
    """Build dataset and metric for `org` inside `folder`, as `rupeebias` and `rupeebias_metric`.

    Without `eval_yaml` the dataset has no such file. Raises UsageError for a name that is none, and what
    building raises.
    """
    names = repository(org, DATASET), repository(org, METRIC)
    addresses = published_addresses(org)
    summary = build_dataset(folder / DATASET, addresses=addresses, eval_yaml=eval_yaml)
    version = load_components().version
    _stage_metric(folder / METRIC, addresses, version, summary.fingerprint)
    dataset = LocalRepo(
        "dataset",
        names[0],
        folder / DATASET,
        marker=MANIFEST,
        lists_files=MANIFEST,
        message=f"RupeeBias dataset {version}",
        version=version,
        pinned=(".parquet",),
        states_version=MANIFEST,
    )
    metric = LocalRepo(
        "space",
        names[1],
        folder / METRIC,
        marker=f"{METRIC}.py",
        lists_files=FILES,
        message=f"RupeeBias metric {METRIC_VERSION}",
        version=METRIC_VERSION,
        pinned=(".py", "requirements.txt"),
        states_version="version.py",
    )
    return Staged(dataset, metric, addresses, summary)


def _stage_metric(folder: Path, addresses: Addresses, benchmark_version: str, fingerprint: str) -> None:
    build_metric(folder)
    check_metric(folder)
    text = (folder / "README.md").read_text(encoding="utf-8")
    if _BARE not in text:
        raise RupeeBiasError(
            f"metric/README.md no longer says {_BARE}: its published copy cannot name the Space"
        )
    texts = {
        "README.md": text.replace(_BARE, f'evaluate.load("{addresses.metric}")'),
        "index.html": _space_page(addresses, benchmark_version, fingerprint),
    }
    names = sorted({FILES, *texts, *(path.name for path in folder.iterdir() if path.is_file())})
    texts[FILES] = json.dumps({"metric_version": METRIC_VERSION, "files": names}, indent=2) + "\n"
    for name, content in texts.items():
        (folder / name).write_text(content, encoding="utf-8", newline="\n")


def _space_page(addresses: Addresses, benchmark_version: str, fingerprint: str) -> str:
    """Return the page that visitors of the metric's Space see: nothing fetched from elsewhere, no script."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("space.html.j2").render(
        addresses=addresses,
        fingerprint=fingerprint,
        metric_version=METRIC_VERSION,
        benchmark_version=benchmark_version,
    )


def check_staged(staged: Staged) -> None:
    """Verify both folders; RupeeBiasError or DatasetFolderError names the first fault.

    Values and texts as `rupeebias build --check`, the metadata of both cards, eval.yaml by the Hub's rules,
    and in a process of its own, offline and with an empty cache: load_dataset, evaluate.load and Croissant.
    """
    check_dataset(staged.dataset.folder, addresses=staged.addresses)
    card = front_matter(staged.dataset.folder / "README.md")
    _refuse("the dataset card's metadata", dataset_card_problems(card, staged.dataset.folder))
    registered = staged.dataset.folder / EVAL_YAML
    if registered.exists():
        content = _loaded_yaml(registered.read_text(encoding="utf-8"), EVAL_YAML)
        _refuse(EVAL_YAML, eval_yaml_problems(content, splits_of(card)))
    space = front_matter(staged.metric.folder / "README.md")
    _refuse("the metric card's metadata", space_card_problems(space))
    _check_loading(staged.dataset.folder.parent, staged.summary)


def _refuse(what: str, problems: list[str]) -> None:
    if problems:
        raise RupeeBiasError(f"{what} is not what the Hub takes: {'; '.join(problems[:3])}")


def front_matter(path: Path) -> dict[str, Any]:
    """Return the metadata at the top of a README.md; RupeeBiasError if there is none or it is no YAML."""
    parts = path.read_text(encoding="utf-8").split("---\n", 2)
    if len(parts) < 3 or parts[0]:
        raise RupeeBiasError(f"{path.name} does not begin with metadata between two lines of ---")
    loaded = _loaded_yaml(parts[1], path.name)
    if not isinstance(loaded, dict):
        raise RupeeBiasError(f"{path.name}: its metadata is not a mapping")
    return loaded


def _loaded_yaml(text: str, name: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the card's metadata is long: ten times faster
    try:
        return yaml.load(text, loader)  # noqa: S506 (a safe loader)
    except yaml.YAMLError as error:
        raise RupeeBiasError(f"{name} is not YAML: {' '.join(str(error).split())[:200]}") from None


def splits_of(card: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the splits of each configuration that a dataset card declares."""
    return {each["config_name"]: [split["split"] for split in each["data_files"]] for each in card["configs"]}


def dataset_card_problems(card: Mapping[str, Any], folder: Path) -> list[str]:
    """Return what is wrong with a dataset card's metadata: keys missing, or files that do not exist."""
    problems = [
        f"{key} is missing" for key in (*_DATASET_KEYS, "configs", "dataset_info") if not card.get(key)
    ]
    for each in card.get("configs", []):
        paths = [path for split in each["data_files"] for path in split["path"]]
        problems += [
            f"{each['config_name']}: no file {path}" for path in paths if not (folder / path).is_file()
        ]
    return problems


def space_card_problems(card: Mapping[str, Any]) -> list[str]:
    """Return what the Hub would refuse in a Space's metadata."""
    problems = [f"{key} is missing" for key in _SPACE_KEYS if not card.get(key)]
    if card.get("sdk") != "static":
        problems.append("sdk is not static: other Spaces need a paid plan")
    strange = [key for key in ("colorFrom", "colorTo") if card.get(key) not in _COLOURS]
    problems += [f"{key} is none of {', '.join(sorted(_COLOURS))}" for key in strange]
    kinds = {unicodedata.category(letter) for letter in str(card.get("emoji", ""))}
    if "So" not in kinds or not kinds <= {"So", "Mn", "Cf", "Sk"}:
        problems.append("emoji is not an emoji")
    if len(str(card.get("short_description", ""))) > 60:
        problems.append("short_description is longer than 60 characters")
    return problems


def _check_loading(parent: Path, summary: BuildSummary) -> None:
    """Load both folders as a user would, where neither the network nor this package can be seen."""
    with tempfile.TemporaryDirectory(prefix="rupeebias-check-") as home:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        alone = {"HF_HOME": home, "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(  # noqa: S603 (our own file)
                # -P: no module beside the loader is meant
                [sys.executable, "-P", "-W", "ignore", str(_FOLDER / "loader.py")],
                cwd=parent,
                env=kept | alone,
                capture_output=True,
                text=True,
                timeout=_CHECK_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RupeeBiasError(
                f"loading the built folders took more than {_CHECK_SECONDS} s; try again"
            ) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1][:300]
        raise RupeeBiasError(f"the built folders do not load: {last}")
    found = json.loads(done.stdout.splitlines()[-1])
    if (found["rows"], found["configurations"]) != (summary.rows, summary.configurations):
        raise RupeeBiasError(
            f"load_dataset finds {found['rows']} prompts in {found['configurations']} configurations, "
            f"expected {summary.rows} in {summary.configurations}"
        )
