"""What is verified before anything is sent: content, metadata, and that the real libraries can load it."""

import json
import os
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rupeebias.dataset_builder.card import EVAL_YAML, eval_yaml_problems
from rupeebias.dataset_builder.folder import BuildSummary, check_dataset

from ...errors import RupeeBiasError
from .staging import Staged

_LOADER: Final = Path(__file__).with_name("loader.py")
_COLOURS: Final = frozenset(("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"))
_SPACE_KEYS: Final = ("title", "emoji", "colorFrom", "colorTo", "license")
_DATASET_KEYS: Final = ("license", "language", "pretty_name", "task_categories", "size_categories")
_CHECK_SECONDS: Final = 600


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


def front_matter(path: Path) -> dict[str, Any]:
    """Return the metadata at the top of a README.md; RupeeBiasError if there is none or it is no YAML."""
    parts = path.read_text(encoding="utf-8").split("---\n", 2)
    if len(parts) < 3 or parts[0]:
        raise RupeeBiasError(f"{path.name} does not begin with metadata between two lines of ---")
    loaded = _loaded_yaml(parts[1], path.name)
    if not isinstance(loaded, dict):
        raise RupeeBiasError(f"{path.name}: its metadata is not a mapping")
    return loaded


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
    if not _is_emoji(str(card.get("emoji", ""))):
        problems.append("emoji is not an emoji")
    if len(str(card.get("short_description", ""))) > 60:
        problems.append("short_description is longer than 60 characters")
    return problems


def _is_emoji(text: str) -> bool:
    kinds = {unicodedata.category(letter) for letter in text}
    return "So" in kinds and kinds <= {"So", "Mn", "Cf", "Sk"}


def _loaded_yaml(text: str, name: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the card's metadata is long: ten times faster
    try:
        return yaml.load(text, loader)  # noqa: S506 (a safe loader)
    except yaml.YAMLError as error:
        raise RupeeBiasError(f"{name} is not YAML: {' '.join(str(error).split())[:200]}") from None


def _refuse(what: str, problems: list[str]) -> None:
    if problems:
        raise RupeeBiasError(f"{what} is not what the Hub takes: {'; '.join(problems[:3])}")


def _check_loading(parent: Path, summary: BuildSummary) -> None:
    """Load both folders as a user would, where neither the network nor this package can be seen."""
    with tempfile.TemporaryDirectory(prefix="rupeebias-check-") as home:
        done = _run_loader(parent, home)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1][:300]
        raise RupeeBiasError(f"the built folders do not load: {last}")
    found = json.loads(done.stdout.splitlines()[-1])
    if (found["rows"], found["configurations"]) != (summary.rows, summary.configurations):
        raise RupeeBiasError(
            f"load_dataset finds {found['rows']} prompts in {found['configurations']} configurations, "
            f"expected {summary.rows} in {summary.configurations}"
        )


def _run_loader(parent: Path, home: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 (our own file)
            [sys.executable, "-P", "-W", "ignore", str(_LOADER)],  # -P: no module beside the loader is meant
            cwd=parent,
            env=_isolated(home),
            capture_output=True,
            text=True,
            timeout=_CHECK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RupeeBiasError(
            f"loading the built folders took more than {_CHECK_SECONDS} s; try again"
        ) from None


def _isolated(home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    return kept | {"HF_HOME": home, "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
