"""The commands of the Hub: `publish`, `submit`, `leaderboard`, `results` and `validate-submission`."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..words import printable, shortened

if TYPE_CHECKING:
    from ..hub.board import Board
    from ..hub.submission import CheckedSubmission, Problem

results_app = typer.Typer(
    help="The results dataset of a leaderboard, for its maintainers.", no_args_is_help=True
)

MAX_REFUSED: Final = 20
"""Refused submissions that are told on the terminal; refused.html has them all."""
_STRAYS: Final = "beside the submissions"


def publish(
    org: Annotated[str, typer.Option(help="User or organisation on the Hub that is to own both.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and show what would be sent; send nothing.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Create the repositories as private ones.")
    ] = False,
    eval_yaml: Annotated[
        bool,
        typer.Option(
            "--eval-yaml/--no-eval-yaml",
            help="Send eval.yaml, which asks the Hub for leaderboards; leave it out if the Hub refuses it.",
        ),
    ] = True,
    delete_others: Annotated[
        bool,
        typer.Option(
            "--delete-others",
            help="Also delete files that other people put into the repositories; they stay otherwise.",
        ),
    ] = False,
) -> None:
    """Publish the dataset (ORG/rupeebias) and the metric (the static Space ORG/rupeebias_metric) on the Hub.

    Example: rupeebias publish --org my-lab --dry-run, then without --dry-run. Both are built and loaded
    once before anything is sent; each gets one commit and the tag of its version, unchanged content none.
    A version that is there with other numbers, or a newer one, is never overwritten. The token comes from
    HF_TOKEN or `hf auth login`. The same command finishes what was interrupted. A dry run without a network
    lists what would be published and ends with status 1, since nothing could be compared.
    """
    from ..hub import publish as api

    prepare = partial(api.built_and_checked, eval_yaml=eval_yaml)
    api.publish(
        org,
        dry_run=dry_run,
        private=private,
        delete_others=delete_others,
        prepare=prepare,
        say=typer.echo,
    )


def submit(
    run: Annotated[Path, typer.Argument(help="Directory of a finished run.")],
    org: Annotated[str | None, typer.Option(help="Owner of the benchmark's repositories on the Hub.")] = None,
    repo: Annotated[
        str | None, typer.Option(help="The model's repository, owner/name, for results on its page.")
    ] = None,
    create_pr: Annotated[
        bool, typer.Option("--create-pr", help="Send, as pull requests; without it nothing is sent.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Keep the submission in this folder.")] = None,
    source_url: Annotated[
        str | None, typer.Option(help="Source that the results name, instead of the submission itself.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask about a --repo whose name does not fit the model.")
    ] = False,
) -> None:
    """Show what a run would send to the Hub, or send it: its submission and the results for its model's page.

    Example: rupeebias submit runs/my-model --org my-lab --repo someone/my-model

    The submission (answers, settings) goes to the dataset ORG/rupeebias-results, where anybody can
    recompute it. With --repo, complete runs of the standard arm add .eval_results/rupeebias.yaml to the
    model. Both are pull requests, and what is there already is not sent again. A run of a simulated
    respondent can be kept with --out, not sent. The token comes from HF_TOKEN or `hf auth login`.
    """
    from ..hub.submit import SubmitOptions
    from ..hub.submit import submit as submit_run

    submit_run(run, SubmitOptions(org, repo, out, source_url, create_pr, yes), typer.echo, _confirmed)


def _confirmed(question: str) -> bool:
    """Ask on a terminal; without one nobody says yes."""
    return sys.stdin is not None and sys.stdin.isatty() and typer.confirm(question)


Results = Annotated[
    Path | None,
    typer.Argument(
        metavar="[RESULTS_DIR]",
        help="Copy of a results dataset: holds submissions/. Without it: ORG/rupeebias-results.",
        show_default=False,
    ),
]
Site = Annotated[
    Path, typer.Option("--out", help="Folder of the site; an older site as it was built is replaced.")
]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", help="Folder of recomputed submissions; default: in the user's cache."),
]
FilesUrl = Annotated[
    str | None,
    typer.Option("--files-url", help="Web address of submissions/, to link each submission's files."),
]
BoardOrg = Annotated[
    str | None, typer.Option("--org", help="User or organisation on the Hub whose results these are.")
]
Upload = Annotated[
    bool, typer.Option("--upload", help="Send the site to the static Space ORG/rupeebias-leaderboard.")
]


def leaderboard(
    results: Results = None,
    out: Site = Path("leaderboard"),
    cache: Cache = None,
    files_url: FilesUrl = None,
    org: BoardOrg = None,
    upload: Upload = False,
) -> None:
    """Build the leaderboard: a table, a page for each submission, JSON and CSV. Every score is recomputed.

    Example: rupeebias leaderboard results --out site, or rupeebias leaderboard --org my-lab --upload.
    Submissions that did not change are not recomputed; the same submissions give the same site.
    --upload sends a board of the results on the Hub only, and leaves files in the Space that no board wrote.
    """
    from ..generate.stopping import terminable
    from ..hub import board as boards
    from ..hub import results as hub_results

    _check_what_is_built(results, org, upload=upload)
    with ExitStack() as stack:
        stack.enter_context(terminable())
        commit, submitters = None, None
        if org is not None:
            if upload:
                hub_results.check_rights(org)
            files_url = files_url or hub_results.files_address(org)
            if results is None:
                copy = stack.enter_context(hub_results.downloaded_results(org, typer.echo))
                results, commit, submitters = copy.folder, copy.commit, copy.submitters
        assert results is not None  # noqa: S101 - one of both was given
        board = boards.build_leaderboard(
            results,
            out,
            cache=cache,
            files_url=files_url,
            progress=_show_recomputed,
            commit=commit,
            submitters=submitters,
        )
        _tell_counts(board)
        _tell_refused(board.refused)
        typer.echo(board.folder / "index.html")
        if upload and org is not None:
            hub_results.upload_board(org, board.folder, typer.echo)


def _check_what_is_built(results: Path | None, org: str | None, *, upload: bool) -> None:
    from ..errors import UsageError

    if org is None and (results is None or upload):
        raise UsageError("--upload needs --org ORG" if upload else "give RESULTS_DIR, or --org ORG")
    if results is not None and upload:
        raise UsageError(
            f"--upload sends the board of {org}'s results on the Hub, whose files its pages link: "
            "leave out RESULTS_DIR, or build without --upload to look at it"
        )


def _show_recomputed(done: int, total: int, name: str) -> None:
    typer.echo(f"recomputed {done} of {total}: {printable(name)}", err=True)


def _tell_counts(board: "Board") -> None:
    typer.echo(
        f"{board.n_ranked} ranked, {board.n_unranked} without a rank, {board.n_superseded} superseded, "
        f"{board.n_refused} refused; {board.n_recomputed} recomputed"
    )


def _tell_refused(refused: Sequence[tuple[str, str]]) -> None:
    for name, reason in refused[:MAX_REFUSED]:
        typer.echo(f"refused {shortened(printable(name), 100)}: {shortened(printable(reason), 200)}")
    if len(refused) > MAX_REFUSED:
        typer.echo(f"{len(refused) - MAX_REFUSED} more are refused: see refused.html")


def validate_submission(
    folder: Annotated[Path, typer.Argument(help="A submission, or a folder with submissions/ in it.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check submissions: every problem on a line of its own; exit status 1 if one is refused.

    Example: rupeebias validate-submission results/submissions/my-model-0123456789ab

    The scores are computed from the answers, whatever anybody says of them. At most: manifest.json 1 MB,
    outputs.jsonl.gz 256 MB unpacked, 20 repeats, 20,000 characters an answer, 100 kB of settings. A rank
    needs a value in 95 % of the answers.
    """
    import orjson

    from ..hub.check import check_submission

    folders, strays = _folders(folder)
    found = []
    for path in folders:
        checked = check_submission(path)
        found.append(_finding(checked))
        if not json:
            _print_problems(path.name, checked.problems)
    if strays:
        found.append(_stray_finding(strays))
        if not json:
            _print_problems(_STRAYS, strays)
    if json:
        typer.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    elif not found:
        typer.echo(f"no submissions in {folder}")
    if not all(each["accepted"] for each in found):
        raise typer.Exit(1)


@results_app.command(name="init")
def init_results(
    org: Annotated[str, typer.Option(help="User or organisation on the Hub that is to own it.")],
) -> None:
    """Make the dataset ORG/rupeebias-results, which collects submissions, or bring its card up to date.

    Example: rupeebias results init --org my-lab. `load_dataset` of it gives one table: model, prompt_id,
    repeat, output. Submissions that are there stay.
    """
    from ..hub import results as hub_results

    hub_results.init_results(org, typer.echo)


@results_app.command(name="check")
def check_results(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A submission, or a folder with submissions/ in it.", show_default=False),
    ] = None,
    org: Annotated[str | None, typer.Option(help="Owner of the results dataset.")] = None,
    pr: Annotated[int | None, typer.Option(help="Number of a pull request on it.", min=1)] = None,
    comment: Annotated[
        bool, typer.Option("--comment", help="Write the verdict into the pull request.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Of a folder: print the findings as JSON.")] = False,
) -> None:
    """Check submissions before they are merged; exit status 1 if one must not be.

    Example: rupeebias results check --org my-lab --pr 3 --comment, or rupeebias results check FOLDER

    Scores are computed from the answers. Of a pull request it is also told how it would stand on the board:
    conflicts with other submissions of the model and settings, copies of another model's answers, whose rank
    it takes.
    """
    from ..errors import UsageError

    if (folder is None) == (pr is None or org is None):
        raise UsageError("give a FOLDER, or --org ORG with --pr N")
    if folder is not None:
        validate_submission(folder, json)
        return
    from ..hub import results as hub_results

    assert org is not None  # noqa: S101 - checked above
    assert pr is not None  # noqa: S101
    if not hub_results.check_pull_request(org, pr, typer.echo, comment=comment):
        raise typer.Exit(1)


def _folders(folder: Path) -> "tuple[list[Path], Sequence[Problem]]":
    """Return the submissions, and what lies beside them."""
    from ..errors import UsageError
    from ..hub.check import find_submissions, stray_problems
    from ..hub.submission import FOLDER, MANIFEST

    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: give a submission, or a folder with {FOLDER}/ in it")
    is_results = (folder / FOLDER).is_dir() and not (folder / MANIFEST).exists()
    return (find_submissions(folder), stray_problems(folder)) if is_results else ([folder.resolve()], ())


def _finding(checked: "CheckedSubmission") -> dict[str, Any]:
    problems = [{"message": each.message, "fatal": each.fatal} for each in checked.problems]
    result = checked.result or {}
    return {
        "name": printable(checked.folder.name),
        "accepted": checked.accepted,
        "problems": problems,
        "mean_delta_pct": result.get("mean_delta_pct"),
    }


def _stray_finding(problems: "Sequence[Problem]") -> dict[str, Any]:
    return {
        "name": _STRAYS,
        "accepted": not any(each.fatal for each in problems),
        "problems": [{"message": each.message, "fatal": each.fatal} for each in problems],
        "mean_delta_pct": None,
    }


def _print_problems(name: str, problems: "Sequence[Problem]") -> None:
    verdict = "refused" if any(problem.fatal for problem in problems) else "accepted"
    typer.echo(f"{printable(name)}: {verdict}")
    for problem in problems:
        typer.echo(f"  {'error' if problem.fatal else 'note'}: {problem.message}")
