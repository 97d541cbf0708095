"""`rupeebias leaderboard`: a static site from a folder of submissions."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from ..hub.leaderboard.api import Board

MAX_REFUSED: Final = 20
"""Refused submissions that are told on the terminal; refused.html has them all."""


def leaderboard(
    results: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RESULTS_DIR]",
            help="Copy of a results dataset: holds submissions/. Without it: ORG/rupeebias-results.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", help="Folder of the site; an older site as it was built is replaced.")
    ] = Path("leaderboard"),
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="Folder of recomputed submissions; default: in the user's cache."),
    ] = None,
    files_url: Annotated[
        str | None,
        typer.Option("--files-url", help="Web address of submissions/, to link each submission's files."),
    ] = None,
    org: Annotated[
        str | None, typer.Option("--org", help="User or organisation on the Hub whose results these are.")
    ] = None,
    upload: Annotated[
        bool, typer.Option("--upload", help="Send the site to the static Space ORG/rupeebias-leaderboard.")
    ] = False,
) -> None:
    """Build the leaderboard: a table, a page for each submission, JSON and CSV. Every score is recomputed.

    Example: rupeebias leaderboard results --out site, or rupeebias leaderboard --org my-lab --upload.
    Submissions that did not change are not recomputed; the same submissions give the same site.
    --upload sends a board of the results on the Hub only, and leaves files in the Space that no board wrote.
    """
    from ..errors import UsageError
    from ..generate.terminating import terminable
    from ..hub.leaderboard.api import build_leaderboard

    if org is None and (results is None or upload):
        raise UsageError("--upload needs --org ORG" if upload else "give RESULTS_DIR, or --org ORG")
    if results is not None and upload:
        raise UsageError(
            f"--upload sends the board of {org}'s results on the Hub, whose files its pages link: "
            "leave out RESULTS_DIR, or build without --upload to look at it"
        )
    with ExitStack() as stack:
        stack.enter_context(terminable())
        if org is not None:
            from ..hub import space

            if upload:
                space.check_rights(org)
            files_url = files_url or space.files_address(org)
            results = results or stack.enter_context(space.downloaded_results(org, typer.echo))
        assert results is not None  # noqa: S101 - one of both was given
        board = build_leaderboard(results, out, cache=cache, files_url=files_url, progress=_show)
        _tell_counts(board)
        _tell_refused(board.refused)
        typer.echo(board.folder / "index.html")
        if upload and org is not None:
            space.upload_board(org, board.folder, typer.echo)


def _show(done: int, total: int, name: str) -> None:
    typer.echo(f"recomputed {done} of {total}: {_shown(name)}", err=True)


def _tell_counts(board: "Board") -> None:
    typer.echo(
        f"{board.n_ranked} ranked, {board.n_unranked} without a rank, {board.n_superseded} superseded, "
        f"{board.n_refused} refused; {board.n_recomputed} recomputed"
    )


def _tell_refused(refused: Sequence[tuple[str, str]]) -> None:
    for name, reason in refused[:MAX_REFUSED]:
        typer.echo(f"refused {_shown(name, 100)}: {_shown(reason, 200)}")
    if len(refused) > MAX_REFUSED:
        typer.echo(f"{len(refused) - MAX_REFUSED} more are refused: see refused.html")


def _shown(text: str, length: int = 1000) -> str:
    """Return hostile text as a terminal can show it, cut to a length."""
    cut = text if len(text) <= length else f"{text[: length - 1]}…"
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in cut)
