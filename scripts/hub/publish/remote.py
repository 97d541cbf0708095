"""What a repository on the Hub holds now, read without downloading its content."""

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...errors import RupeeBiasError
from ..faults import NotTheHubError, hub_errors
from .staging import StagedRepo

if TYPE_CHECKING:
    from huggingface_hub import GitRefInfo, HfApi

_LARGEST: Final = 1_000_000
"""Bytes of a file that is fetched."""


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
    version: str | None = None
    """What `head` says its version is; None if it says none that can be read."""
    published: frozenset[str] = frozenset()
    """Files that an earlier publication lists as its own."""
    versions: tuple[str, ...] = ()
    """Versions that have a tag."""
    is_initial: bool = False
    """Whether nobody has committed anything since the Hub made the repository."""


def git_blob_sha1(content: bytes) -> str:
    """Return the name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\x00" % len(content) + content).hexdigest()  # noqa: S324 (git's own)


def read_remote(api: "HfApi", repo: StagedRepo) -> RemoteRepo | None:
    """Return what the Hub holds; None if the repository does not exist or may not be seen.

    Of all files only those are fetched that state the version and list what was published. RupeeBiasError
    if the repository answers by another name: then it was renamed, and ours would overwrite that one.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    with hub_errors(f"read {repo.kind} {repo.name}", api.token):
        try:
            info = api.repo_info(repo.name, repo_type=repo.kind)
        except RepositoryNotFoundError:
            return None
        _refuse_other_name(repo, str(info.id))
        return _read(api, repo, _commit(info.sha), is_private=bool(info.private))


def _read(api: "HfApi", repo: StagedRepo, head: str, *, is_private: bool) -> RemoteRepo:
    tags = {each.name: each.target_commit for each in _tags(api, repo)}
    files = _files(api, repo, head)
    tagged = tags.get(repo.tag)
    old = files if tagged == head else _files(api, repo, repo.tag) if tagged else None
    return RemoteRepo(
        head,
        is_private,
        files,
        tagged,
        old,
        version=_version(_fetched(api, repo, head, files, repo.states_version)),
        published=_listed(_fetched(api, repo, head, files, repo.lists_files)),
        versions=tuple(name[1:] for name in tags if re.fullmatch(r"v[0-9].*", name)),
        is_initial=repo.marker not in files and _has_one_commit(api, repo),
    )


def _refuse_other_name(repo: StagedRepo, name: str) -> None:
    if name != repo.name:
        raise RupeeBiasError(
            f"{repo.kind} {repo.name} is now called {name}, and the Hub leads on from the old name: publish "
            "for the owner of the new name, or rename that repository back"
        )


def _commit(sha: object) -> str:
    if not isinstance(sha, str) or not re.fullmatch(r"[0-9a-f]{40,64}", sha):
        raise NotTheHubError("a repository without a commit")
    return sha


def _tags(api: "HfApi", repo: StagedRepo) -> "list[GitRefInfo]":
    return api.list_repo_refs(repo.name, repo_type=repo.kind).tags


def _has_one_commit(api: "HfApi", repo: StagedRepo) -> bool:
    return len(api.list_repo_commits(repo.name, repo_type=repo.kind)) == 1


def _files(api: "HfApi", repo: StagedRepo, revision: str) -> dict[str, RemoteFile]:
    from huggingface_hub.hf_api import RepoFile

    listed = api.list_repo_tree(repo.name, repo_type=repo.kind, revision=revision, recursive=True)
    return {
        each.path: RemoteFile(each.blob_id, each.lfs.sha256 if each.lfs else None, each.size)
        for each in listed
        if isinstance(each, RepoFile)
    }


def _fetched(
    api: "HfApi", repo: StagedRepo, head: str, files: Mapping[str, RemoteFile], name: str | None
) -> str:
    """Return the text of a small file of the head; empty if there is none that we could have written."""
    if name is None or name not in files or files[name].size > _LARGEST or files[name].sha256:
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


def _listed(text: str) -> frozenset[str]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    names = content.get("files") if isinstance(content, dict) else None
    return (
        frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()
    )


def matches(path: Path, remote: RemoteFile | None) -> bool:
    """Return whether a remote file is there and holds what `path` holds."""
    return remote is not None and path.stat().st_size == remote.size and remote.holds(path.read_bytes())
