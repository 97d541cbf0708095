"""What a repository on the Hub holds already in the place of what is to be sent. None of it is trusted."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import yaml

from .identity import IDENTITY
from .manifest import parse_manifest
from .records import FOLDER, SubmissionManifest

_FOLDER_IN_URL: Final = re.compile(rf"/{FOLDER}/([a-z0-9][a-z0-9._-]{{0,99}})/?\Z")

_LARGEST_RESULTS: Final = 64 << 10
"""Most bytes of YAML that are read: it is slow."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """How a small file in the place of one of a delivery is looked at."""

    path: str
    """Of that file in the repository."""
    is_same: Callable[[bytes], bool]
    """Whether it says that the same is there, though the bytes differ."""
    change: Callable[[bytes], str]
    """What sending would do to it, in words: `replaces the results of ...`."""


def earlier_submission(path: str, manifest: SubmissionManifest) -> Earlier:
    """Return how a `manifest.json` in the place of that of `manifest` is looked at.

    The same answers are not sent again, unless it is now that their model's repository gets known: a name
    that is there is never dropped or replaced.
    """

    def is_same(data: bytes) -> bool:
        theirs = _same_answers(data, manifest)
        return theirs is not None and (theirs.model_repo is not None or manifest.model_repo is None)

    def change(data: bytes) -> str:
        if _same_answers(data, manifest) is None:
            return f"replaces {path}, which is damaged"
        return f"names the model's repository, {manifest.model_repo}, in a submission that is there already"

    return Earlier(path, is_same, change)


def earlier_results(path: str) -> Earlier:
    """Return how evaluation results in the place of others are looked at: a model has room for one."""

    def change(data: bytes) -> str:
        return f"replaces the results of {_run_of(data) or 'another run'}"

    return Earlier(path, lambda _: False, change)


def _same_answers(data: bytes, manifest: SubmissionManifest) -> SubmissionManifest | None:
    theirs, problems = parse_manifest(data)
    if theirs is None or any(problem.fatal for problem in problems):
        return None
    return theirs if all(getattr(theirs, name) == getattr(manifest, name) for name in IDENTITY) else None


def _run_of(data: bytes) -> str | None:
    """Return the folder of the submission that evaluation results name as their source."""
    if len(data) > _LARGEST_RESULTS:
        return None
    try:
        entries = yaml.safe_load(data)
        url: Any = entries[0]["source"]["url"]
    except (yaml.YAMLError, ValueError, LookupError, TypeError, RecursionError):
        return None
    found = _FOLDER_IN_URL.search(url) if isinstance(url, str) else None
    return found[1] if found else None
