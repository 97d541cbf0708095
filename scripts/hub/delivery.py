"""Files for a repository on the Hub, sent as a pull request unless they are there or under way already.

None of what a repository holds in their place is trusted.
"""

import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from rupeebias.metric.design import Design

from .answers import IDENTITY
from .client import hub_errors
from .repository import RemoteFile, remote_files
from .submission import FOLDER, SubmissionManifest, parse_manifest

if TYPE_CHECKING:
    from huggingface_hub import Discussion, HfApi

_MAIN: Final = "main"
_LARGEST: Final = 1 << 20
"""Most bytes of a file in the place of ours that is looked into."""
_LARGEST_RESULTS: Final = 64 << 10
"""Most bytes of YAML that are read: it is slow."""
_FOLDER_IN_URL: Final = re.compile(rf"/{FOLDER}/([a-z0-9][a-z0-9._-]{{0,99}})/?\Z")


@dataclass(frozen=True, slots=True)
class Earlier:
    """How a small file in the place of one of a delivery is looked at."""

    path: str
    """Of that file in the repository."""
    is_same: Callable[[bytes], bool]
    """Whether it says that the same is there, though the bytes differ."""
    change: Callable[[bytes], str]
    """What sending would do to it, in words: `replaces the results of ...`."""


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


def earlier_submission(path: str, manifest: SubmissionManifest, design: Design) -> Earlier:
    """Return how a `manifest.json` in the place of that of `manifest` is looked at.

    The same answers are not sent again, unless it is now that their model's repository gets known: a name
    that is there is never dropped or replaced.
    """

    def same_answers(data: bytes) -> SubmissionManifest | None:
        theirs, problems = parse_manifest(data, design)
        if theirs is None or any(problem.fatal for problem in problems):
            return None
        return theirs if all(getattr(theirs, name) == getattr(manifest, name) for name in IDENTITY) else None

    def is_same(data: bytes) -> bool:
        theirs = same_answers(data)
        return theirs is not None and (theirs.model_repo is not None or manifest.model_repo is None)

    def change(data: bytes) -> str:
        if same_answers(data) is None:
            return f"replaces {path}, which is damaged"
        return f"names the model's repository, {manifest.model_repo}, in a submission that is there already"

    return Earlier(path, is_same, change)


def earlier_results(path: str) -> Earlier:
    """Return how evaluation results in the place of others are looked at: a model has room for one."""
    return Earlier(
        path, lambda _: False, lambda data: f"replaces the results of {_run_of(data) or 'another run'}"
    )


def _run_of(data: bytes) -> str | None:
    """Return the folder of the submission that evaluation results name as their source."""
    if len(data) > _LARGEST_RESULTS:
        return None
    try:
        url: Any = yaml.safe_load(data)[0]["source"]["url"]
    except (yaml.YAMLError, ValueError, LookupError, TypeError, RecursionError):
        return None
    found = _FOLDER_IN_URL.search(url) if isinstance(url, str) else None
    return found[1] if found else None


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
            holds = _state(api, delivery, revision)[0] if is_own else _holds(api, delivery, revision)
            if holds:
                return Found(True, pull.num, pull.url)
            own = pull if is_own else own
        if own is None:
            return Found(is_there=False, change=change)
        return Found(False, own.num, own.url, _state(api, delivery, f"refs/pr/{own.num}")[1] or change)


def send_delivery(api: "HfApi", delivery: Delivery, found: Found) -> str:
    """Open a pull request, or bring this user's earlier one up to date; return its address."""
    from huggingface_hub import CommitOperationAdd

    description = delivery.description + (f"\n\nThis {found.change}." if found.change else "")
    with hub_errors(f"open a pull request on {delivery.target}", api.token):
        made = api.create_commit(
            delivery.repo,
            [CommitOperationAdd(path, content) for path, content in delivery.files.items()],
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
    title = delivery.title
    return [pull for pull in pulls if pull.title == title or pull.title.startswith(f"{title} (")]


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
    paths = list(delivery.files)
    return remote_files(api.get_paths_info(delivery.repo, paths, repo_type=delivery.kind, revision=revision))


def _content(api: "HfApi", delivery: Delivery, revision: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="rupeebias-submit-") as folder:
        path = api.hf_hub_download(
            delivery.repo, delivery.earlier.path, repo_type=delivery.kind, revision=revision, cache_dir=folder
        )
        return Path(path).read_bytes()
