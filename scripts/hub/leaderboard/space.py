"""The board on the Hub: submissions come from ORG/rupeebias-results, the site goes to a static Space."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from ...errors import RupeeBiasError
from ..client import hub_client
from ..faults import hub_errors
from ..names import LEADERBOARD, RESULTS, repository
from ..publish.remote import RemoteRepo, read_remote
from ..publish.staging import HUB, StagedRepo
from ..rights import require_rights
from ..submission.records import FOLDER
from .site_files import LIST, listed_files
from .sync import Changes, changes

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

Say = Callable[[str], object]
_PATTERN: Final = f"{FOLDER}/*"


def files_address(org: str) -> str:
    """Return the address under which readers find the folders of the submissions of `org`."""
    return f"{HUB}/datasets/{repository(org, RESULTS)}/tree/main/{FOLDER}"


def check_rights(org: str) -> None:
    """Raise RupeeBiasError if the token may not write the board's Space of `org`; nothing is sent."""
    repository(org, LEADERBOARD)
    require_rights(hub_client(), org)


@contextmanager
def downloaded_results(org: str, say: Say) -> Iterator[Path]:
    """Yield a folder with the submissions on the main branch of `org`'s results, at one commit.

    Files that the Hub's own cache has are not downloaded again. Raises RupeeBiasError if it cannot be read.
    """
    from huggingface_hub import snapshot_download

    api, name = hub_client(), repository(org, RESULTS)
    with TemporaryDirectory(prefix="rupeebias-results-") as temporary:
        with hub_errors(f"read dataset {name}", api.token):
            commit = str(api.repo_info(name, repo_type="dataset").sha)
            cached = snapshot_download(
                name, repo_type="dataset", revision=commit, allow_patterns=_PATTERN, token=api.token
            )
        say(f"dataset {name} at {commit[:7]}")
        results = Path(temporary) / "results"
        (results / FOLDER).mkdir(parents=True)
        if (Path(cached) / FOLDER).is_dir():  # links into the cache become files: links are refused
            shutil.copytree(Path(cached) / FOLDER, results / FOLDER, dirs_exist_ok=True)
        yield results


def upload_board(org: str, site: Path, say: Say) -> str | None:
    """Bring the static Space of `org` to the content of `site` in one commit and return that commit.

    None: nothing had changed. Of what is there only files that an earlier board listed are replaced or, where
    their submissions are gone, deleted; others stay. Raises RupeeBiasError for missing rights, a file of
    others in the place of one of ours, and a Space that somebody else changed meanwhile.
    """
    api = hub_client()
    # the tag of a version is for what other results cite; a board is rebuilt from its results at any time
    repo = StagedRepo("space", repository(org, LEADERBOARD), site, "0", LIST, ())
    remote = read_remote(api, repo)
    is_new = remote is None
    remote = remote or _created(api, repo)
    found = changes(repo, remote, _listed(api, repo, remote), lambda: is_new or _is_fresh(api, repo))
    _tell(repo.name, found, say)
    if not found.pending:
        say(f"space {repo.name}: nothing had changed")
        return None
    with hub_errors(f"commit to space {repo.name}", api.token):
        made = api.create_commit(
            repo.name,
            _operations(repo, found),
            commit_message="Leaderboard rebuilt",
            repo_type="space",
            parent_commit=remote.head,
        )
    say(f"space {repo.name}: {found.pending} files in commit {str(made.oid)[:7]}")
    return str(made.oid)


def _created(api: "HfApi", repo: StagedRepo) -> RemoteRepo:
    """Create the Space and read it: the Hub puts files of its own into a new one."""
    with hub_errors(f"create space {repo.name}", api.token):
        api.create_repo(repo.name, repo_type="space", space_sdk="static", exist_ok=True)
    remote = read_remote(api, repo)
    if remote is None:
        raise RupeeBiasError(f"space {repo.name} was created but cannot be read; run the command again")
    return remote


def _is_fresh(api: "HfApi", repo: StagedRepo) -> bool:
    """Tell whether nobody has written to the Space since it was created."""
    with hub_errors(f"read space {repo.name}", api.token):
        return len(api.list_repo_commits(repo.name, repo_type="space")) == 1


def _listed(api: "HfApi", repo: StagedRepo, remote: RemoteRepo) -> frozenset[str]:
    """Return the files that the board in the Space says it wrote."""
    if LIST not in remote.files:
        return frozenset()
    with TemporaryDirectory(prefix="rupeebias-board-") as temporary:
        with hub_errors(f"read space {repo.name}", api.token):
            path = api.hf_hub_download(
                repo.name, LIST, repo_type="space", revision=remote.head, local_dir=temporary
            )
        names = listed_files(Path(path).read_bytes())
    return frozenset((*names, LIST)) if names else frozenset()


def _tell(space: str, found: Changes, say: Say) -> None:
    for path in found.deleted:
        say(f"space {space}: deletes {path}")
    if found.others:
        shown = ", ".join(found.others[:5]) + (", ..." if len(found.others) > 5 else "")
        say(f"space {space}: left alone, not of a board: {shown}")


def _operations(repo: StagedRepo, found: Changes) -> list["CommitOperationAdd | CommitOperationDelete"]:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    files = repo.files
    return [
        *(CommitOperationDelete(path) for path in found.deleted),
        *(CommitOperationAdd(path, files[path]) for path in found.written),
    ]
