"""The board on the Hub: submissions come from ORG/rupeebias-results, the site goes to a static Space."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ..words import listed
from .client import HUB, LEADERBOARD, RESULTS, hub_client, hub_errors, repository, require_rights
from .repository import LocalRepo, make_plan, read_remote, send
from .site import LIST
from .submission import FOLDER

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
    name = repository(org, LEADERBOARD)
    repo = LocalRepo("space", name, site, marker=LIST, lists_files=LIST, message="Leaderboard rebuilt")
    sent = send(api, make_plan(repo, read_remote(api, repo), private=None))
    for change in sent.plan.pending:
        if change.state == "deleted":
            say(f"{repo.target}: deletes {change.path}")
    if sent.plan.foreign:
        say(f"{repo.target}: left alone, not of a board: {listed(sent.plan.foreign, 5, between=', ')}")
    if sent.commit is None:
        say(f"{repo.target}: nothing had changed")
    else:
        say(f"{repo.target}: {len(sent.plan.pending)} files in commit {sent.commit[:7]}")
    return sent.commit
