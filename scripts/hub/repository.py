"""A folder and the repository on the Hub that is to hold it: compared, guarded, sent in one commit.

What is there is read by its hashes, without its content. Files that we did not write are never touched,
and a published version never gets other numbers.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ..errors import RupeeBiasError
from ..words import listed
from .client import NotTheHubError, hub_errors

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile, RepoFolder

Kind = Literal["dataset", "space"]
State = Literal["new", "changed", "deleted", "unchanged", "foreign"]

_LARGEST: Final = 10_000_000
"""Bytes of a file that is fetched: the list of a board of 10,000 submissions is smaller."""
_OF_THE_HUB: Final = frozenset((".gitattributes",))
"""Files of the Hub's own, never deleted."""
_FRESH: Final = _OF_THE_HUB | {"README.md", "index.html", "style.css"}
"""What the Hub itself may put into a new repository."""


@dataclass(frozen=True, slots=True)
class LocalRepo:
    """One folder that is to become the content of a repository."""

    kind: Kind
    name: str
    """`org/name`."""
    folder: Path
    marker: str
    """A file that every version of it holds: it tells our repositories from others."""
    lists_files: str
    """The JSON file that lists under `files` all that was sent: only such files are ever deleted."""
    message: str
    """Of the commit."""
    version: str | None = None
    """Version of the content, without a `v`, which becomes a tag; None: it is never cited, so without one."""
    pinned: tuple[str, ...] = ()
    """Endings of files that give numbers: under one version they never change. The others are texts."""
    states_version: str | None = None
    """The file that states the version."""

    @property
    def target(self) -> str:
        """The repository in words."""
        return f"{self.kind} {self.name}"

    @property
    def tag(self) -> str | None:
        """The tag of this version."""
        return None if self.version is None else f"v{self.version}"

    @property
    def files(self) -> dict[str, Path]:
        """Every file that is sent, by its path in the repository."""
        return {
            path.relative_to(self.folder).as_posix(): path
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a repository, by its hashes."""

    git_sha1: str
    """Of what git stores: the file, or the pointer of an LFS file."""
    sha256: str | None
    """Of the content of an LFS file; None for others."""
    size: int
    """Of the content, in bytes."""

    def holds(self, content: bytes) -> bool:
        """Return whether its content is `content`."""
        if self.sha256 is not None:
            return self.sha256 == hashlib.sha256(content).hexdigest()
        return self.git_sha1 == git_blob_sha1(content)


@dataclass(frozen=True, slots=True)
class RemoteRepo:
    """A repository's main branch and the tags of versions."""

    head: str
    """Commit of the main branch."""
    private: bool
    files: Mapping[str, RemoteFile]
    """By path, at `head`."""
    tagged: str | None
    """Commit of our version's tag; None if there is no such tag."""
    tagged_files: Mapping[str, RemoteFile] | None
    """By path, at that tag."""
    version: str | None
    """What `head` says its version is; None if it says none that can be read."""
    published: frozenset[str]
    """Files that are listed as sent by us."""
    versions: tuple[str, ...]
    """Versions that have a tag."""
    is_initial: bool
    """Whether nobody has committed anything since the Hub made the repository."""


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

    repo: LocalRepo
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


@dataclass(frozen=True, slots=True)
class Sent:
    """What was done with one repository."""

    plan: Plan
    commit: str | None
    """The commit that was made; None if nothing had changed."""
    tagged: bool
    """Whether the tag was set now."""


# --- what is there


def git_blob_sha1(content: bytes) -> str:
    """Return the name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\x00" % len(content) + content).hexdigest()  # noqa: S324 (git's own)


def read_remote(api: "HfApi", repo: LocalRepo) -> RemoteRepo | None:
    """Return what the Hub holds; None if the repository does not exist or may not be seen.

    Of all files only those are fetched that state the version and list what was published. RupeeBiasError
    if the repository answers by another name: then it was renamed, and ours would overwrite that one.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    with hub_errors(f"read {repo.target}", api.token):
        try:
            info = api.repo_info(repo.name, repo_type=repo.kind)
        except RepositoryNotFoundError:
            return None
        if info.id != repo.name:
            raise RupeeBiasError(
                f"{repo.target} is now called {info.id}, and the Hub leads on from the old name: publish "
                "for the owner of the new name, or rename that repository back"
            )
        if not isinstance(info.sha, str) or not re.fullmatch(r"[0-9a-f]{40,64}", info.sha):
            raise NotTheHubError("a repository without a commit")
        return _read(api, repo, info.sha, is_private=bool(info.private))


def _read(api: "HfApi", repo: LocalRepo, head: str, *, is_private: bool) -> RemoteRepo:
    refs = api.list_repo_refs(repo.name, repo_type=repo.kind) if repo.tag else None
    tags = {each.name: each.target_commit for each in refs.tags} if refs else {}
    files = _files(api, repo, head)
    tagged = tags.get(repo.tag) if repo.tag else None
    is_initial = repo.marker not in files and len(api.list_repo_commits(repo.name, repo_type=repo.kind)) == 1
    return RemoteRepo(
        head,
        is_private,
        files,
        tagged,
        files if tagged == head else _files(api, repo, str(repo.tag)) if tagged else None,
        version=_version(_fetched(api, repo, head, files, repo.states_version)),
        published=_names(_fetched(api, repo, head, files, repo.lists_files)),
        versions=tuple(name[1:] for name in tags if re.fullmatch(r"v[0-9].*", name)),
        is_initial=is_initial,
    )


def _files(api: "HfApi", repo: LocalRepo, revision: str) -> dict[str, RemoteFile]:
    return remote_files(api.list_repo_tree(repo.name, repo_type=repo.kind, revision=revision, recursive=True))


def remote_files(entries: "Iterable[RepoFile | RepoFolder]") -> dict[str, RemoteFile]:
    """Return the files, by path, of what the client lists in a repository."""
    from huggingface_hub.hf_api import RepoFile

    return {
        each.path: RemoteFile(each.blob_id, each.lfs.sha256 if each.lfs else None, each.size)
        for each in entries
        if isinstance(each, RepoFile)
    }


def _fetched(
    api: "HfApi", repo: LocalRepo, head: str, files: Mapping[str, RemoteFile], name: str | None
) -> str:
    """Return the text of a file of the head; empty if there is none that we could have written."""
    if name is None or name not in files or files[name].size > _LARGEST:
        return ""
    with tempfile.TemporaryDirectory(prefix="rupeebias-fetch-") as folder:
        path = api.hf_hub_download(repo.name, name, repo_type=repo.kind, revision=head, local_dir=folder)
        return Path(path).read_text(encoding="utf-8", errors="replace")


def _version(text: str) -> str | None:
    found = re.search(
        r'^\s*(?:"benchmark_version":|METRIC_VERSION\b[^"\n=]*=)\s*"([^"]*)"', text, re.MULTILINE
    )
    return found[1] if found and version_key(found[1]) else None


def version_key(version: str) -> tuple[int, ...]:
    """Return a version's numbers, to compare with others; empty if it is not numbers and dots."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6}){0,3}", version):
        return ()
    return tuple(map(int, version.split(".")))


def _names(text: str) -> frozenset[str]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    names = content.get("files") if isinstance(content, dict) else None
    if not isinstance(names, list | dict):  # a board also lists the hash of each file
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str))


def matches(path: Path, remote: RemoteFile | None) -> bool:
    """Return whether a remote file is there and holds what `path` holds."""
    return remote is not None and path.stat().st_size == remote.size and remote.holds(path.read_bytes())


# --- what is to change


def make_plan(
    repo: LocalRepo, remote: RemoteRepo | None, *, private: bool | None = False, delete_others: bool = False
) -> Plan:
    """Compare a folder with its repository.

    Files that an earlier commit of ours does not list stay unless `delete_others`. Raises RupeeBiasError if
    the repository is not ours, is public where a private one is wanted, holds a newer version, holds this
    version with other numbers, or has a file of somebody else in the place of one of ours.
    """
    if remote is None:
        new = tuple(Change(path, "new", file.stat().st_size) for path, file in repo.files.items())
        return Plan(repo, None, new, None, private)
    if private and not remote.private:
        raise RupeeBiasError(
            f"{repo.target} exists and is public: make it private in its settings, or leave out --private"
        )
    _refuse_foreign(repo, remote)
    _refuse_newer(repo, remote)
    _refuse_other_numbers(repo, remote)
    changes = tuple(_changes(repo, remote, delete_others=delete_others))
    _refuse_taken(repo, remote, changes)
    return Plan(repo, remote.head, changes, remote.tagged, remote.private)


def _changes(repo: LocalRepo, remote: RemoteRepo, *, delete_others: bool) -> Iterator[Change]:
    here, there = repo.files, remote.files
    for path in sorted({*here, *there} - (_OF_THE_HUB - here.keys())):
        local = here.get(path)
        if local is None:
            is_ours = delete_others or remote.is_initial or path in remote.published
            yield Change(path, "deleted" if is_ours else "foreign", there[path].size)
        else:
            same = matches(local, there.get(path))
            state: State = "new" if path not in there else "unchanged" if same else "changed"
            yield Change(path, state, local.stat().st_size)


def _refuse_foreign(repo: LocalRepo, remote: RemoteRepo) -> None:
    if repo.marker in remote.files or (remote.is_initial and remote.files.keys() <= _FRESH):
        return
    other = sorted(remote.files.keys() - _FRESH) or sorted(remote.files.keys() - _OF_THE_HUB)
    if other:
        raise RupeeBiasError(
            f"{repo.target} holds files that this command did not write ({other[0]}, but no "
            f"{repo.marker}); nothing was sent. Choose another --org, or rename that repository"
        )


def _refuse_taken(repo: LocalRepo, remote: RemoteRepo, changes: tuple[Change, ...]) -> None:
    ours = remote.published | {repo.marker, repo.lists_files}
    taken = [change.path for change in changes if change.state == "changed" and change.path not in ours]
    if taken and not remote.is_initial:
        raise RupeeBiasError(
            f"{repo.target} holds files that this command did not write in the place of its own "
            f"({listed(taken, between=', ')}); nothing was sent. Move or rename them there, or choose "
            "another --org"
        )


def _refuse_newer(repo: LocalRepo, remote: RemoteRepo) -> None:
    """Refuse to lead the main branch back from a version that is later than ours."""
    stated = [remote.version] if remote.version else []
    known = [*stated, *(version for version in remote.versions if version_key(version))]
    newest = max(known, key=version_key, default=None)
    if newest is None or repo.version is None or version_key(newest) <= version_key(repo.version):
        return
    where = "at its head" if newest in stated else "by its tag"
    raise RupeeBiasError(
        f"{repo.target} is at version {newest} {where}, this checkout at {repo.version}: it would "
        "lead back. Publish from an up-to-date checkout"
    )


def _refuse_other_numbers(repo: LocalRepo, remote: RemoteRepo) -> None:
    """Refuse if this version is there, by tag or at the head of an untagged run, with other numbers."""
    if remote.tagged_files is not None:
        if repo.marker not in remote.tagged_files:
            raise RupeeBiasError(
                f"{repo.target}: tag {repo.tag} is on a commit without {repo.marker}, so on no publication. "
                f"Delete the tag (hf repos tag delete {repo.name} {repo.tag} --type {repo.kind}), then "
                "run the command again"
            )
        there, where = remote.tagged_files, f"tag {repo.tag} exists"
    elif repo.states_version in remote.files and remote.version in (None, repo.version):
        # a run that stopped before its tag left our numbers
        what = f"version {repo.version}" if remote.version else f"a {repo.states_version} without a version"
        there, where = remote.files, f"its head has {what}, untagged,"
    else:
        return
    here = repo.files
    known = {*here, *(there.keys() & remote.published)}  # others' files are no numbers of ours
    for path in sorted(path for path in known if path.endswith(repo.pinned)):
        if path not in here or not matches(here[path], there.get(path)):
            raised = (
                "the benchmark's version (use_cases.yaml)" if repo.kind == "dataset" else "METRIC_VERSION"
            )
            raise RupeeBiasError(
                f"{repo.target}: {where} with another {path}. A changed number is a breaking change: raise "
                f"{raised}; if nothing was meant to change, use the packages of requirements.lock"
            )


# --- carrying it out


def send(api: "HfApi", plan: Plan, *, delete_others: bool = False) -> Sent:
    """Create the repository if need be, commit what differs on top of the planned head, set the tag.

    The commit is all or nothing. A failure before it leaves the repository as it was, and one after it is
    made good by the next run. Raises RupeeBiasError, also if somebody else pushed in between.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    if plan.head is None:
        plan = _created(api, plan, delete_others=delete_others)
    repo, commit = plan.repo, None
    if plan.pending:
        here = repo.files
        with hub_errors(f"commit to {repo.target}", api.token):
            made = api.create_commit(
                repo.name,
                [
                    CommitOperationDelete(change.path)
                    if change.state == "deleted"
                    else CommitOperationAdd(change.path, here[change.path])
                    for change in plan.pending
                ],
                commit_message=repo.message,
                repo_type=repo.kind,
                parent_commit=plan.head,
            )
        commit = str(made.oid)
    is_untagged = repo.tag is not None and plan.tag_at is None
    if is_untagged:
        with hub_errors(f"tag {repo.target}", api.token):
            revision = commit or str(plan.head)
            api.create_tag(repo.name, tag=str(repo.tag), revision=revision, repo_type=repo.kind)
    return Sent(plan, commit, is_untagged)


def _created(api: "HfApi", plan: Plan, *, delete_others: bool) -> Plan:
    """Create the repository and plan again: the Hub puts files of its own into a new one."""
    repo = plan.repo
    sdk = "static" if repo.kind == "space" else None
    with hub_errors(f"create {repo.target}", api.token):
        # None: the organisation's own default holds
        api.create_repo(repo.name, repo_type=repo.kind, private=plan.private, space_sdk=sdk, exist_ok=True)
    remote = read_remote(api, repo)
    if remote is None:
        raise RupeeBiasError(f"{repo.target} was created but cannot be read; run the command again")
    return make_plan(repo, remote, private=plan.private, delete_others=delete_others)
