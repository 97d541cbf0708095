"""`rupeebias leaderboard`: a static site from a folder of submissions."""

from pathlib import Path
from typing import Annotated

import typer


def leaderboard(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS_DIR", help="Copy of a results dataset: holds submissions/.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the site; an older one is replaced.")] = Path(
        "leaderboard"
    ),
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="Folder of recomputed submissions; default: in the user's cache."),
    ] = None,
    files_url: Annotated[
        str | None,
        typer.Option("--files-url", help="Web address of submissions/, to link each submission's files."),
    ] = None,
) -> None:
    """Build the leaderboard: a table, a page for each submission, JSON and CSV. Every score is recomputed.

    Example: rupeebias leaderboard results --out site
    """
    from ..hub.leaderboard.api import build_leaderboard

    board = build_leaderboard(results, out, cache=cache, files_url=files_url, progress=_show)
    typer.echo(
        f"{board.n_ranked} ranked, {board.n_unranked} without a rank, {board.n_superseded} superseded, "
        f"{board.n_refused} refused; {board.n_recomputed} recomputed"
    )
    typer.echo(board.folder / "index.html")


def _show(done: int, total: int, name: str) -> None:
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    typer.echo(f"recomputed {done} of {total}: {shown}", err=True)
