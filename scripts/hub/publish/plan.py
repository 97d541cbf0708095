"""What a publication would change in one repository; refuses what would break a published version."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from ...errors import RupeeBiasError
from .remote import RemoteFile, RemoteRepo, matches, version_key
from .staging import StagedRepo

State = Literal["new", "changed", "deleted", "unchanged", "foreign"]

_KEPT: Final = frozenset((".gitattributes",))
"""Files of the Hub's own, never deleted."""
_FRESH: Final = frozenset((".gitattributes", "README.md", "index.html", "style.css"))
"""What the Hub itself may put into a new repository."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file and what would happen to it."""

    path: str
    state: State
    """`foreign`: not of ours, left alone."""
    size: int
    """In bytes; of the remote file if it is deleted or left alone."""


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
    private: bool | None = None
    """Whether the repository is or will be private; None: as its owner's default for new ones is."""

    @property
    def pending(self) -> list[Change]:
        """The files that a commit would touch."""
        return [change for change in self.changes if change.state not in ("unchanged", "foreign")]

    @property
    def foreign(self) -> list[str]:
        """The files that are not of ours and stay as they are."""
        return [change.path for change in self.changes if change.state == "foreign"]

    @property
    def restored(self) -> list[str]:
        """The files that give numbers, and that a commit would touch under a version which has a tag."""
        pinned = self.repo.pinned if self.tag_at is not None else ()
        return [change.path for change in self.pending if change.path.endswith(pinned)]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return self.head is not None and not self.pending and self.tag_at is not None


def make_plan(
    repo: StagedRepo, remote: RemoteRepo | None, *, private: bool | None = False, delete_others: bool = False
) -> Plan:
    """Compare a folder with its repository.

    Files that an earlier publication does not list stay unless `delete_others`. Raises RupeeBiasError if the
    repository is not ours, is public where a private one is wanted, holds a newer version, or holds this
    version with other numbers.
    """
    if remote is None:
        return Plan(repo, None, tuple(_changes(repo, None, delete_others=False)), None, private)
    if private and not remote.private:
        raise RupeeBiasError(
            f"{repo.kind} {repo.name} exists and is public: make it private in its settings, "
            "or leave out --private"
        )
    _refuse_foreign(repo, remote)
    _refuse_newer(repo, remote)
    _refuse_other_numbers(repo, remote)
    changes = tuple(_changes(repo, remote, delete_others=delete_others))
    return Plan(repo, remote.head, changes, remote.tagged, remote.private)


def _changes(repo: StagedRepo, remote: RemoteRepo | None, *, delete_others: bool) -> Iterator[Change]:
    here, there = repo.files, remote.files if remote else {}
    for path in sorted({*here, *there} - (_KEPT - here.keys())):
        local = here.get(path)
        if local is None:
            is_ours = remote is None or delete_others or _is_ours(repo, remote, path)
            yield Change(path, "deleted" if is_ours else "foreign", there[path].size)
        else:
            same = matches(local, there.get(path))
            state: State = "new" if path not in there else "unchanged" if same else "changed"
            yield Change(path, state, local.stat().st_size)


def _is_ours(repo: StagedRepo, remote: RemoteRepo, path: str) -> bool:
    """Return whether a file was published by us, or put there by the Hub when it made the repository."""
    return repo.lists_files is None or remote.is_initial or path in remote.published


def _refuse_foreign(repo: StagedRepo, remote: RemoteRepo) -> None:
    if repo.marker in remote.files or (remote.is_initial and remote.files.keys() <= _FRESH):
        return
    other = sorted(remote.files.keys() - _FRESH) or sorted(remote.files.keys() - _KEPT)
    if not other:
        return
    raise RupeeBiasError(
        f"{repo.kind} {repo.name} holds files that this command did not write ({other[0]}, but no "
        f"{repo.marker}); nothing was sent. Choose another --org, or rename that repository"
    )


def _refuse_newer(repo: StagedRepo, remote: RemoteRepo) -> None:
    """Refuse to lead the main branch back from a version that is later than ours."""
    stated = [remote.version] if remote.version else []
    known = [*stated, *(version for version in remote.versions if version_key(version))]
    newest = max(known, key=version_key, default=None)
    if newest is None or repo.states_version is None or version_key(newest) <= version_key(repo.version):
        return
    where = "at its head" if newest in stated else "by its tag"
    raise RupeeBiasError(
        f"{repo.kind} {repo.name} is at version {newest} {where}, this checkout at {repo.version}: it would "
        "lead back. Publish from an up-to-date checkout"
    )


def _refuse_other_numbers(repo: StagedRepo, remote: RemoteRepo) -> None:
    """Refuse if this version is there, by tag or at the head of an untagged run, with other numbers."""
    if remote.tagged_files is not None:
        if repo.marker not in remote.tagged_files:
            raise RupeeBiasError(_misplaced_tag(repo))
        if path := _different(repo, remote, remote.tagged_files):
            raise RupeeBiasError(_other_numbers(repo, path, f"tag {repo.tag} exists"))
        return
    if repo.states_version not in remote.files or remote.version not in (None, repo.version):
        return
    if path := _different(repo, remote, remote.files):  # a run that stopped before its tag left our numbers
        what = f"version {repo.version}" if remote.version else f"a {repo.states_version} without a version"
        raise RupeeBiasError(_other_numbers(repo, path, f"its head has {what}, untagged,"))


def _different(repo: StagedRepo, remote: RemoteRepo, there: Mapping[str, RemoteFile]) -> str | None:
    """Return the first file that gives numbers and is not the same on both sides; others' files are none."""
    here = repo.files
    known = {*here, *(there.keys() & remote.published)}
    pinned = sorted(path for path in known if path.endswith(repo.pinned))
    return next(
        (path for path in pinned if path not in here or not matches(here[path], there.get(path))), None
    )


def _misplaced_tag(repo: StagedRepo) -> str:
    return (
        f"{repo.kind} {repo.name}: tag {repo.tag} is on a commit without {repo.marker}, so on no "
        f"publication. Delete the tag (hf repos tag delete {repo.name} {repo.tag} --type {repo.kind}), then "
        "run the command again"
    )


def _other_numbers(repo: StagedRepo, path: str, where: str) -> str:
    what = "the benchmark's version (use_cases.yaml)" if repo.kind == "dataset" else "METRIC_VERSION"
    return (
        f"{repo.kind} {repo.name}: {where} with another {path}. A changed number is a breaking "
        f"change: raise {what}; if nothing was meant to change, use the packages of requirements.lock"
    )
