"""What a repository on the Hub holds now, read without downloading any file."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..faults import hub_errors
from .staging import StagedRepo

if TYPE_CHECKING:
    from huggingface_hub import HfApi


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
    """A repository's main branch and the tag of one version."""

    head: str
    """Commit of the main branch."""
    private: bool
    files: Mapping[str, RemoteFile]
    """By path, at `head`."""
    tagged: str | None
    """Commit of the version's tag; None if there is no such tag."""
    tagged_files: Mapping[str, RemoteFile] | None
    """By path, at that tag."""


def git_blob_sha1(content: bytes) -> str:
    """Return the name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\x00" % len(content) + content).hexdigest()  # noqa: S324 (git's own)


def read_remote(api: "HfApi", repo: StagedRepo) -> RemoteRepo | None:
    """Return what the Hub holds; None if the repository does not exist or may not be seen.

    Raises RupeeBiasError for any other failure.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    token = api.token if isinstance(api.token, str) else None
    with hub_errors(f"read {repo.kind} {repo.name}", token):
        try:
            info = api.repo_info(repo.name, repo_type=repo.kind)
        except RepositoryNotFoundError:
            return None
        head = str(info.sha)
        tags = api.list_repo_refs(repo.name, repo_type=repo.kind).tags
        tagged = next((each.target_commit for each in tags if each.name == repo.tag), None)
        files = _files(api, repo, head)
        old = files if tagged == head else _files(api, repo, repo.tag) if tagged else None
        return RemoteRepo(head, bool(info.private), files, tagged, old)


def _files(api: "HfApi", repo: StagedRepo, revision: str) -> dict[str, RemoteFile]:
    from huggingface_hub.hf_api import RepoFile

    listed = api.list_repo_tree(repo.name, repo_type=repo.kind, revision=revision, recursive=True)
    return {
        each.path: RemoteFile(each.blob_id, each.lfs.sha256 if each.lfs else None, each.size)
        for each in listed
        if isinstance(each, RepoFile)
    }


def matches(path: Path, remote: RemoteFile | None) -> bool:
    """Return whether a remote file is there and holds what `path` holds."""
    return remote is not None and path.stat().st_size == remote.size and remote.holds(path.read_bytes())
