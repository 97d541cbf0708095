"""What an upload changes in a Space: files of a board only, never those of others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ...errors import RupeeBiasError
from ..publish.remote import RemoteRepo, matches
from ..publish.staging import StagedRepo

_OF_THE_HUB: Final = ".gitattributes"
"""Written by the Hub into every repository."""
_IN_A_NEW_SPACE: Final = frozenset(("README.md", "index.html", "style.css"))
"""What the Hub itself puts into a new static Space."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The paths that a commit writes or deletes, and those that it leaves alone."""

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    others: tuple[str, ...]
    """Files that no board wrote."""

    @property
    def pending(self) -> int:
        """Number of files that the commit touches."""
        return len(self.written) + len(self.deleted)


def changes(
    repo: StagedRepo, remote: RemoteRepo, listed: frozenset[str], is_fresh: Callable[[], bool]
) -> Changes:
    """Compare a site with its Space.

    `listed`: what the board there wrote; `is_fresh`: whether nobody wrote there yet, asked only where needed.
    Raises RupeeBiasError if a file of others stands where one of ours belongs.
    """
    here, there = repo.files, remote.files
    ours = listed or (_IN_A_NEW_SPACE if is_fresh() else listed)
    written = [path for path in here if not matches(here[path], there.get(path))]
    others = [path for path in there if path not in ours and path != _OF_THE_HUB]
    if taken := sorted(set(written) & set(others)):
        raise RupeeBiasError(
            f"space {repo.name} holds files that no board wrote in the place of its own "
            f"({', '.join(taken[:3])}{', ...' if len(taken) > 3 else ''}); nothing was sent. "
            "Move or rename them there, or choose another --org"
        )
    return Changes(
        written=tuple(written),
        deleted=tuple(sorted(path for path in there if path in ours and path not in here)),
        others=tuple(sorted(path for path in others if path not in here)),
    )
