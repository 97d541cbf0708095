"""Names and times in a submission, which anybody may have written."""

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ..scale import FEWEST_READ_PCT
from .limits import MAX_NAME

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
_CLOCK_ERROR: Final = timedelta(hours=24)
_EARLIEST: Final = "2020"
_NAME: Final = re.compile(r"[A-Za-z0-9._:@/+ ()=-]*")
"""Letters of names: those of LiteLLM's. Others look like these, or like nothing."""
_DRIVE: Final = re.compile(r"(?:^|/)[A-Za-z]:")
_NO_MODELS: Final = ("datasets/", "spaces/")


def shown(value: Any, longest: int = 60) -> str:
    """Return a value for a message: one line, no control or direction marks, not long."""
    text = repr(value[: longest + 1] if isinstance(value, str | list) else value)
    return text if len(text) <= longest + 2 else f"{text[:longest]}..."


def short_share(share: float) -> str:
    """Return a share in percent that falls short of what a rank needs, so that it does not look like it."""
    digits = 1 if round(share, 1) < FEWEST_READ_PCT else 2
    return f"{math.floor(share * 100) / 100:.{digits}f}"


def printable(text: str) -> str:
    """Return a text of one line that a terminal can show."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def fault_in_name(name: Any) -> str | None:
    """Return what is wrong with the name of a model or provider, None if nothing is."""
    if not isinstance(name, str) or not name.strip():
        return "must be a text that is not empty"
    if len(name) > MAX_NAME:
        return f"has {len(name):,} characters, at most {MAX_NAME} are allowed"
    if not _NAME.fullmatch(name):
        return "holds another character than A-Z, a-z, 0-9, spaces and ._:@/+()=-"
    parts = name.split("/")
    if "" in parts or _DRIVE.search(name) or {".", ".."} & set(parts) or name.lower().startswith("file:"):
        return "is a path: a name such as provider/model is expected"
    if not name[0].isalnum() or name != name.strip():
        return "must begin with a letter or digit, and not end with a space"
    return None


def fault_in_repo(repo: Any) -> str | None:
    """Return what is wrong with the name of a model repository on the Hub, None if nothing is."""
    # Late: the client takes a fifth of a second to import, and most submissions name no repository.
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    if isinstance(repo, str) and repo.lower().startswith(_NO_MODELS):
        return "must be owner/name of a model, without datasets/ or spaces/"
    if not isinstance(repo, str) or repo.count("/") != 1:
        return "must be null or owner/name"
    try:
        validate_repo_id(repo)
    except HFValidationError:
        return "is not a name that a repository on the Hub can have"
    return None


def fault_in_time(text: Any) -> str | None:
    """Return what is wrong with a time, None if nothing is."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return "must be a UTC time such as 2026-01-31T12:00:00Z"
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return "is not a time that exists"
    if text < _EARLIEST:
        return f"lies before {_EARLIEST}, when there was no benchmark"
    return "lies in the future" if time > datetime.now(UTC) + _CLOCK_ERROR else None


def without_zone(time: str) -> str:
    """Return a UTC time so that texts sort as times do: a whole second comes before its fractions."""
    return time.removesuffix("Z")
