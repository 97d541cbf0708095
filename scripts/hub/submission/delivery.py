"""Files for a repository on the Hub, sent as a pull request unless they are there or under way already."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..client import hub_errors
from ..repository import RemoteFile
from .earlier import Earlier

if TYPE_CHECKING:
    from huggingface_hub import Discussion, HfApi

_MAIN: Final = "main"
_LARGEST: Final = 1 << 20
"""Most bytes of a file in the place of ours that is looked into."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one pull request is to bring."""

    kind: str
    """`dataset` or `model`."""
    repo: str
    """`owner/name`."""
    title: str
    """What the title of the pull request begins with; by it an earlier one is found again."""
    description: str
    files: Mapping[str, bytes]
    """Content by path in the repository."""
    earlier: Earlier
    """How what is there already is looked at."""

    @property
    def target(self) -> str:
        """The repository in words."""
        return f"{self.kind} {self.repo}"


@dataclass(frozen=True, slots=True)
class Found:
    """How far a delivery is on the Hub."""

    is_there: bool
    """Whether the main branch or an open pull request holds it."""
    pull: int | None = None
    """The open pull request that holds them, or one of this user's that is to be brought up to date."""
    url: str | None = None
    """Of that pull request."""
    change: str | None = None
    """What sending does to what is there, in words; None: nothing is."""


def find_delivery(api: "HfApi", delivery: Delivery, user: str | None) -> Found:
    """Look what of a delivery is on the Hub; changes nothing.

    Raises RupeeBiasError if the repository does not exist or cannot be read.
    """
    with hub_errors(f"read {delivery.target}", api.token):
        api.repo_info(delivery.repo, repo_type=delivery.kind)
        is_there, change = _state(api, delivery, _MAIN)
        if is_there:
            return Found(is_there=True)
        own = None
        for pull in _open_pulls(api, delivery):
            # Another user's counts only with exactly these bytes: a pull request can claim anything.
            is_own, revision = pull.author == user, f"refs/pr/{pull.num}"
            if _state(api, delivery, revision)[0] if is_own else _holds(api, delivery, revision):
                return Found(True, pull.num, pull.url)
            own = pull if is_own else own
        if own is None:
            return Found(is_there=False, change=change)
        return Found(False, own.num, own.url, _state(api, delivery, f"refs/pr/{own.num}")[1] or change)


def send_delivery(api: "HfApi", delivery: Delivery, found: Found) -> str:
    """Open a pull request, or bring this user's earlier one up to date; return its address."""
    from huggingface_hub import CommitOperationAdd

    operations = [CommitOperationAdd(path, content) for path, content in delivery.files.items()]
    description = delivery.description + (f"\n\nThis {found.change}." if found.change else "")
    with hub_errors(f"open a pull request on {delivery.target}", api.token):
        made = api.create_commit(
            delivery.repo,
            operations,
            commit_message=delivery.title + (f" ({found.change})" if found.change else ""),
            commit_description=description,
            repo_type=delivery.kind,
            create_pr=found.pull is None,
            revision=_MAIN if found.pull is None else f"refs/pr/{found.pull}",
        )
    if found.pull is not None:
        with hub_errors(f"say in {found.url} what it brings now", api.token):
            now = f"Brought up to date, this holds for it now:\n\n{description}"
            api.comment_discussion(delivery.repo, found.pull, now, repo_type=delivery.kind)
    return str(made.pr_url or found.url)


def _open_pulls(api: "HfApi", delivery: Delivery) -> list["Discussion"]:
    pulls = api.get_repo_discussions(
        delivery.repo, repo_type=delivery.kind, discussion_type="pull_request", discussion_status="open"
    )
    titles = delivery.title, f"{delivery.title} ("
    return [pull for pull in pulls if pull.title == titles[0] or pull.title.startswith(titles[1])]


def _state(api: "HfApi", delivery: Delivery, revision: str) -> tuple[bool, str | None]:
    """Return whether a revision holds a delivery, and what sending it would change there."""
    there = _listed(api, delivery, revision)
    if _are_ours(there, delivery):
        return True, None
    earlier = delivery.earlier
    if earlier.path not in there:
        return False, None
    data = _content(api, delivery, revision) if there[earlier.path].size <= _LARGEST else b""
    if earlier.is_same(data) and there.keys() >= delivery.files.keys():
        return True, None
    return False, earlier.change(data)


def _holds(api: "HfApi", delivery: Delivery, revision: str) -> bool:
    return _are_ours(_listed(api, delivery, revision), delivery)


def _are_ours(there: Mapping[str, RemoteFile], delivery: Delivery) -> bool:
    return all(path in there and there[path].holds(content) for path, content in delivery.files.items())


def _listed(api: "HfApi", delivery: Delivery, revision: str) -> dict[str, RemoteFile]:
    from huggingface_hub.hf_api import RepoFile

    paths = list(delivery.files)
    listed = api.get_paths_info(delivery.repo, paths, repo_type=delivery.kind, revision=revision)
    return {
        each.path: RemoteFile(each.blob_id, each.lfs.sha256 if each.lfs else None, each.size)
        for each in listed
        if isinstance(each, RepoFile)
    }


def _content(api: "HfApi", delivery: Delivery, revision: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="rupeebias-submit-") as folder:
        path = api.hf_hub_download(
            delivery.repo, delivery.earlier.path, repo_type=delivery.kind, revision=revision, cache_dir=folder
        )
        return Path(path).read_bytes()
