"""Files for a repository on the Hub, sent as a pull request unless they are there or under way already."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..faults import hub_errors
from ..publish.remote import RemoteFile

if TYPE_CHECKING:
    from huggingface_hub import Discussion, HfApi

_MAIN: Final = "main"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one pull request is to bring."""

    kind: str
    """`dataset` or `model`."""
    repo: str
    """`owner/name`."""
    title: str
    """Title of the pull request; by it an earlier one is found again."""
    description: str
    files: Mapping[str, bytes]
    """Content by path in the repository."""

    @property
    def target(self) -> str:
        """The repository in words."""
        return f"{self.kind} {self.repo}"


@dataclass(frozen=True, slots=True)
class Found:
    """How far a delivery is on the Hub."""

    is_there: bool
    """Whether the main branch or an open pull request holds exactly these files."""
    pull: int | None = None
    """The open pull request that holds them, or one of this user's that is to be brought up to date."""
    url: str | None = None
    """Of that pull request."""


def find_delivery(api: "HfApi", delivery: Delivery, user: str) -> Found:
    """Look what of a delivery is on the Hub; changes nothing.

    Raises RupeeBiasError if the repository does not exist or cannot be read.
    """
    with hub_errors(f"read {delivery.target}", _token(api)):
        api.repo_info(delivery.repo, repo_type=delivery.kind)
        if _holds(api, delivery, _MAIN):
            return Found(is_there=True)
        own = None
        for pull in _open_pulls(api, delivery):
            if _holds(api, delivery, f"refs/pr/{pull.num}"):
                return Found(True, pull.num, pull.url)
            if pull.author == user:
                own = pull
        return Found(False, own.num, own.url) if own else Found(is_there=False)


def send_delivery(api: "HfApi", delivery: Delivery, found: Found) -> str:
    """Open a pull request, or bring this user's earlier one up to date; return its address."""
    from huggingface_hub import CommitOperationAdd

    operations = [CommitOperationAdd(path, content) for path, content in delivery.files.items()]
    with hub_errors(f"open a pull request on {delivery.target}", _token(api)):
        made = api.create_commit(
            delivery.repo,
            operations,
            commit_message=delivery.title,
            commit_description=delivery.description,
            repo_type=delivery.kind,
            create_pr=found.pull is None,
            revision=_MAIN if found.pull is None else f"refs/pr/{found.pull}",
        )
    return str(made.pr_url or found.url)


def _open_pulls(api: "HfApi", delivery: Delivery) -> list["Discussion"]:
    pulls = api.get_repo_discussions(
        delivery.repo, repo_type=delivery.kind, discussion_type="pull_request", discussion_status="open"
    )
    return [pull for pull in pulls if pull.title == delivery.title]


def _holds(api: "HfApi", delivery: Delivery, revision: str) -> bool:
    from huggingface_hub.hf_api import RepoFile

    paths = list(delivery.files)
    listed = api.get_paths_info(delivery.repo, paths, repo_type=delivery.kind, revision=revision)
    there = {
        each.path: RemoteFile(each.blob_id, each.lfs.sha256 if each.lfs else None, each.size)
        for each in listed
        if isinstance(each, RepoFile)
    }
    return all(path in there and there[path].holds(content) for path, content in delivery.files.items())


def _token(api: "HfApi") -> str | None:
    return api.token if isinstance(api.token, str) else None
