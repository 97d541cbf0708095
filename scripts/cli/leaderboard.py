"""`rupeebias leaderboard`: a static site from a folder of submissions."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer


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
            from ..hub.leaderboard import space

            if upload:
                space.check_rights(org)
            files_url = files_url or space.files_address(org)
            results = results or stack.enter_context(space.downloaded_results(org, typer.echo))
        assert results is not None  # noqa: S101 - one of both was given
        board = build_leaderboard(results, out, cache=cache, files_url=files_url, progress=_show)
        typer.echo(
            f"{board.n_ranked} ranked, {board.n_unranked} without a rank, {board.n_superseded} superseded, "
            f"{board.n_refused} refused; {board.n_recomputed} recomputed"
        )
        typer.echo(board.folder / "index.html")
        if upload and org is not None:
            space.upload_board(org, board.folder, typer.echo)


def _show(done: int, total: int, name: str) -> None:
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    typer.echo(f"recomputed {done} of {total}: {shown}", err=True)
