"""What a publication would change in one repository; refuses what would break a published version."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ...errors import RupeeBiasError
from .remote import RemoteRepo, matches
from .staging import StagedRepo

State = Literal["new", "changed", "deleted", "unchanged"]

_KEPT: Final = frozenset((".gitattributes",))
"""Files of the Hub's own, never deleted."""
_FRESH: Final = frozenset((".gitattributes", "README.md", "index.html", "style.css"))
"""What the Hub itself may put into a new repository."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file and what would happen to it."""

    path: str
    state: State
    size: int
    """In bytes; of the remote file if it is deleted."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done with one repository."""

    repo: StagedRepo
    head: str | None
    """The commit on which it rests; None if the repository is to be created."""
    changes: tuple[Change, ...]
    """Every file, by path."""
    tag_at: str | None
    """Commit of the version's tag; None if it is to be set."""

    @property
    def pending(self) -> list[Change]:
        """The files that a commit would touch."""
        return [change for change in self.changes if change.state != "unchanged"]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return self.head is not None and not self.pending and self.tag_at is not None


def make_plan(repo: StagedRepo, remote: RemoteRepo | None, *, private: bool = False) -> Plan:
    """Compare a folder with its repository.

    Raises RupeeBiasError if the repository is not ours, is public where a private one is wanted, or holds
    this version with other numbers.
    """
    if remote is None:
        return Plan(repo, None, tuple(_changes(repo, None)), None)
    if private and not remote.private:
        raise RupeeBiasError(
            f"{repo.kind} {repo.name} exists and is public: make it private in its settings, "
            "or leave out --private"
        )
    _refuse_foreign(repo, remote)
    _refuse_other_numbers(repo, remote)
    return Plan(repo, remote.head, tuple(_changes(repo, remote)), remote.tagged)


def _changes(repo: StagedRepo, remote: RemoteRepo | None) -> Iterator[Change]:
    here, there = repo.files, remote.files if remote else {}
    for path in sorted({*here, *there} - (_KEPT - here.keys())):
        local = here.get(path)
        if local is None:
            yield Change(path, "deleted", there[path].size)
        else:
            same = matches(local, there.get(path))
            state: State = "new" if path not in there else "unchanged" if same else "changed"
            yield Change(path, state, local.stat().st_size)


def _refuse_foreign(repo: StagedRepo, remote: RemoteRepo) -> None:
    if repo.marker in remote.files or remote.files.keys() <= _FRESH:
        return
    other = sorted(remote.files.keys() - _FRESH)[0]
    raise RupeeBiasError(
        f"{repo.kind} {repo.name} holds files that this command did not write ({other}, but no "
        f"{repo.marker}); nothing was sent. Choose another --org, or rename that repository"
    )


def _refuse_other_numbers(repo: StagedRepo, remote: RemoteRepo) -> None:
    """Refuse if the version's tag names a commit whose numbers are not ours."""
    if remote.tagged_files is None:
        return
    here = repo.files
    pinned = {path for path in {*here, *remote.tagged_files} if path.endswith(repo.pinned)}
    for path in sorted(pinned):
        local = here.get(path)
        if local is None or not matches(local, remote.tagged_files.get(path)):
            raise RupeeBiasError(_other_numbers(repo, path))


def _other_numbers(repo: StagedRepo, path: str) -> str:
    what = "the benchmark's version (use_cases.yaml)" if repo.kind == "dataset" else "METRIC_VERSION"
    return (
        f"{repo.kind} {repo.name}: tag {repo.tag} exists with another {path}. A changed number is a breaking "
        f"change: raise {what}; if nothing was meant to change, use the packages of requirements.lock"
    )
