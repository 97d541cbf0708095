"""The maintainer's side of the Hub: the results dataset, pull requests on it, the board's static Space."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design

from ..report.page.render import environment
from ..words import listed, markdown
from .board import computed_entries, default_cache
from .check import is_plain_name
from .client import HUB, LEADERBOARD, RESULTS, hub_client, hub_errors, repository, require_rights
from .ranking import DECISIONS, Placed, placed, read_decisions
from .repository import LocalRepo, Sent, make_plan, read_remote, remote_files, send
from .site import LIST as BOARD_LIST
from .site import TEMPLATES
from .submission import FOLDER, OUTPUTS
from .table import columns_of

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Say = Callable[[str], object]
LIST: Final = "results.json"
"""Tells a results dataset from others, and names what `init` wrote there."""
_MOST_SAID: Final = 60
"""Lines of a comment."""


@dataclass(frozen=True, slots=True)
class Results:
    """A copy of a results dataset."""

    folder: Path
    commit: str
    submitters: dict[str, str]
    """Who opened the pull request that brought a folder, by its name. Hostile text."""


def files_address(org: str) -> str:
    """Return the address under which readers find the folders of the submissions of `org`."""
    return f"{HUB}/datasets/{repository(org, RESULTS)}/tree/main/{FOLDER}"


def init_results(org: str, say: Say) -> Sent:
    """Make the results dataset of `org`, or bring its card up to date; submissions in it stay as they are."""
    api, name = hub_client(), repository(org, RESULTS)
    require_rights(api, org)
    with TemporaryDirectory(prefix="rupeebias-results-") as temporary:
        folder = Path(temporary)
        (folder / "README.md").write_text(results_card(org), encoding="utf-8", newline="\n")
        content = json.dumps({"made_by": "rupeebias results init", "files": [LIST, "README.md"]}, indent=2)
        (folder / LIST).write_text(content + "\n", encoding="utf-8", newline="\n")
        repo = LocalRepo("dataset", name, folder, marker=LIST, lists_files=LIST, message="Results dataset")
        sent = send(api, make_plan(repo, read_remote(api, repo), private=None))
    done = f"commit {sent.commit[:7]}" if sent.commit else "nothing had changed"
    say(f"dataset {name}: {done}; submissions come as pull requests (`rupeebias submit --org {org}`)")
    return sent


def results_card(org: str) -> str:
    """Return the README.md of a results dataset: all answers of all submissions are one table."""
    template = environment(TEMPLATES).get_template("results.md.j2")
    return template.render(org=org, outputs=f"{FOLDER}/*/{OUTPUTS}", decisions=DECISIONS)


@contextmanager
def downloaded_results(org: str, say: Say, revision: str = "main") -> Iterator[Results]:
    """Yield a copy of the submissions and decisions of `org`'s results, at one commit.

    Files that the Hub's own cache has are not downloaded again. Raises RupeeBiasError if it cannot be read.
    """
    from huggingface_hub import snapshot_download

    api, name = hub_client(), repository(org, RESULTS)
    with TemporaryDirectory(prefix="rupeebias-results-") as temporary:
        with hub_errors(f"read dataset {name}", api.token):
            commit = str(api.repo_info(name, repo_type="dataset", revision=revision).sha)
            cached = Path(
                snapshot_download(
                    name,
                    repo_type="dataset",
                    revision=commit,
                    allow_patterns=[f"{FOLDER}/*", DECISIONS],
                    token=api.token,
                )
            )
            submitters = _submitters(api, name)
        say(f"dataset {name} at {commit[:7]}")
        results = Path(temporary) / "results"
        (results / FOLDER).mkdir(parents=True)
        if (cached / FOLDER).is_dir():  # links into the cache become files: links are refused
            shutil.copytree(cached / FOLDER, results / FOLDER, dirs_exist_ok=True)
        if (cached / DECISIONS).is_file():
            shutil.copyfile(cached / DECISIONS, results / DECISIONS)
        yield Results(results, commit, submitters)


def _submitters(api: "HfApi", name: str) -> dict[str, str]:
    pulls = api.get_repo_discussions(name, repo_type="dataset", discussion_type="pull_request")
    found: dict[str, str] = {}
    for pull in pulls:
        folder = pull.title.removeprefix("Submission ").split(" ")[0]
        if pull.status == "merged" and pull.title.startswith("Submission ") and is_plain_name(folder):
            found.setdefault(folder, str(pull.author))
    return found


# --- a pull request


def check_pull_request(
    org: str, number: int, say: Say, *, comment: bool = False, design: Design = DESIGN
) -> bool:
    """Say how the submissions of a pull request would stand on the board; return whether they may be merged.

    They are checked, scored, and compared with what is merged: conflicts and copies are told. `comment`
    writes the verdict into the pull request. Raises RupeeBiasError if there is no such one.
    """
    api, name = hub_client(), repository(org, RESULTS)
    revision = f"refs/pr/{number}"
    with hub_errors(f"read pull request {number} of dataset {name}", api.token):
        trees = [
            remote_files(api.list_repo_tree(name, repo_type="dataset", revision=at, recursive=True))
            for at in ("main", revision)
        ]
    changed = sorted(
        path for path in trees[0].keys() | trees[1].keys() if trees[0].get(path) != trees[1].get(path)
    )
    outside = [path for path in changed if not path.startswith(f"{FOLDER}/")]
    touched = sorted({path.split("/")[1] for path in changed if path not in outside})
    gone = [each for each in touched if not any(path.startswith(f"{FOLDER}/{each}/") for path in trees[1])]
    with downloaded_results(org, say, revision) as results:
        places = standings_of(results.folder, design)
    lines = list(_verdict(places, touched, gone, outside))
    may_merge = all(not line.startswith("**refused**") for line in lines)
    verdict = "may be merged" if may_merge else "must not be merged"
    text = "\n".join([f"Checked by `rupeebias results check`: this {verdict}.", "", *lines[:_MOST_SAID]])
    say(text)
    if comment:
        with hub_errors(f"comment on pull request {number} of dataset {name}", api.token):
            api.comment_discussion(name, number, text, repo_type="dataset")
    return may_merge


def standings_of(results: Path, design: Design = DESIGN, cache: Path | None = None) -> list[Placed]:
    """Return how every submission of a results folder stands; what was computed before is not again."""
    with TemporaryDirectory(prefix="rupeebias-check-") as temporary:
        site = Path(temporary) / "site"
        entries, _ = computed_entries(results, site, cache or default_cache(), design=design)
    return placed(entries, decisions=read_decisions(results))


def _verdict(
    places: Sequence[Placed], touched: Sequence[str], gone: Sequence[str], outside: Sequence[str]
) -> Iterator[str]:
    if outside:
        names = markdown(listed(outside, between=", "))
        yield f"**refused**: it changes files beside the submissions: {names}"
    for folder in gone:
        yield f"**refused**: it deletes the submission {markdown(folder)}"
    if not touched:
        yield "**refused**: it brings no submission"
    by_name = {one.entry.name: one for one in places}
    columns = [column for column in columns_of(DESIGN) if column.key != "caution"]
    for folder in touched:
        if folder in gone or folder not in by_name:
            continue
        entry, standing = by_name[folder]
        if not entry.accepted:
            yield f"**refused**: {markdown(folder)}: {markdown('; '.join(entry.refusals))}"
            continue
        values = [f"{column.label} {column.cell(entry, standing).text}" for column in columns]
        yield f"**accepted**: {markdown(folder)} ({standing.status}): {markdown('; '.join(values))}"
        reasons = dict.fromkeys(filter(None, (standing.reason, *entry.no_rank)))
        yield from (f"- no rank: {markdown(reason)}" for reason in reasons)
        yield from (f"- merging it takes the rank of {markdown(one)}" for one in _against(folder, places))


def _against(folder: str, places: Sequence[Placed]) -> Iterator[str]:
    """Yield the submissions that have no rank on account of one."""
    for entry, standing in places:
        if entry.name != folder and (standing.superseded_by == folder or folder in standing.reason):
            yield entry.name


# --- the board


def check_rights(org: str) -> None:
    """Raise RupeeBiasError if the token may not write the board's Space of `org`; nothing is sent."""
    repository(org, LEADERBOARD)
    require_rights(hub_client(), org)


def upload_board(org: str, site: Path, say: Say) -> str | None:
    """Bring the static Space of `org` to the content of `site` in one commit and return that commit.

    None: nothing had changed. Of what is there only files that an earlier board listed are replaced or, where
    their submissions are gone, deleted; others stay. Raises RupeeBiasError for missing rights, a file of
    others in the place of one of ours, and a Space that somebody else changed meanwhile.
    """
    api = hub_client()
    name = repository(org, LEADERBOARD)
    repo = LocalRepo(
        "space", name, site, marker=BOARD_LIST, lists_files=BOARD_LIST, message="Leaderboard rebuilt"
    )
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
