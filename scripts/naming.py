"""Names that people type: slugs, file names and suggestions for misspelt ones."""

import difflib
import re
from collections.abc import Iterable

from .errors import UsageError


def slug(text: str) -> str:
    """Return `text` as the benchmark writes its names: lower case, `_` between words ("Tier 1 city"
    -> "tier_1_city").
    """
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")


def file_name(text: str) -> str:
    """Return `text` as one safe path component of a-z, 0-9, `.`, `_` and `-`; never empty, never
    hidden.

    Two texts may give the same name: append a hash where that matters.
    """
    name = re.sub(r"[^a-z0-9._-]+", "-", text.casefold())
    return re.sub(r"\.{2,}", ".", name).strip(".-")[:80] or "model"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, None if nothing is near."""
    by_fold = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(name.casefold(), by_fold, n=1, cutoff=0.5)
    return by_fold[found[0]] if found else None


def is_simulated_name(name: str) -> bool:
    """Tell whether a model's name is that of a simulated respondent."""
    return name.strip().casefold().startswith("sim/")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for an unknown name: it suggests the nearest known one, or lists a few."""
    names = list(known)
    suggestion = nearest(name, names)
    if suggestion is not None:
        return UsageError(f"unknown {kind} {name!r}; did you mean {suggestion!r}?")
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return UsageError(f"unknown {kind} {name!r}; known: {listed}")
