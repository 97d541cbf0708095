"""`rupeebias runs` and `rupeebias join`: what runs there are, how far they are, and shards put together."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..errors import RupeeBiasError
    from ..runs.manifest import Manifest

_HEADER = ("run", "model", "arm", "repeats", "done", "failed", "left", "cost", "selection")
_TEXTS = ("run", "model", "arm", "selection")
"""Columns that hold texts, the others hold numbers. A selection may be long, so it ends the line, whole."""


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder of run directories.")] = Path("runs"),
) -> None:
    """List the runs in a folder: what they ask, requests done, failed and left, cost in USD.

    Example: rupeebias runs
    """
    from ..errors import UsageError
    from ..runs.directory import list_runs

    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder}; `rupeebias generate` makes runs/, or name another one"
        )
    found = list_runs(folder)
    if not found:
        typer.echo(f"no runs in {folder}")
        return
    rows = [_HEADER, *(_row(path, run) for path, run in found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
    for row in rows:
        cells = (
            cell.ljust(width) if name in _TEXTS else cell.rjust(width)
            for name, cell, width in zip(_HEADER, row, widths, strict=True)
        )
        typer.echo("  ".join(cells).rstrip())


def join(
    shards: Annotated[list[Path], typer.Argument(help="Run directories made with --shard.")],
    out: Annotated[Path, typer.Option("--out", help="New run directory.")],
) -> None:
    """Put the shards of one run together, to be scored or resumed as a whole; they stay as they are.

    Example: rupeebias join runs/shard-1 runs/shard-2 --out runs/whole
    """
    from ..runs.join import join_shards
    from ..runs.manifest import resuming_command

    joined = join_shards(shards, out)
    counts = joined.counts
    typer.echo(f"{out}: {counts.done:,} done, {counts.failed:,} failed, {counts.left:,} left")
    if counts.left:
        command = resuming_command(out, joined)
        typer.echo(f"to ask what is left: `{command}`, with the shards' other options except --shard")


def _row(path: Path, run: "Manifest | RupeeBiasError") -> tuple[str, ...]:
    """Return the cells of one run; only a manifest tells more than the name."""
    if isinstance(run, Exception):
        return (path.name, *[""] * (len(_HEADER) - 2), f"damaged: {str(run).splitlines()[0]}")
    identity = run.identity
    counts = (run.repeats, run.counts.done, run.counts.failed, run.counts.left)
    numbers = (*(f"{count:,}" for count in counts), _cost(run))
    return (path.name, identity.model, identity.arm, *numbers, identity.selection.describe())


def _cost(run: "Manifest") -> str:
    """Return the cost so far in USD; a `+` stands for replies whose cost is unknown."""
    if run.cost_usd is None:
        return "unknown" if run.unknown_costs else ""
    more = "+" if run.unknown_costs else ""
    return f"{run.cost_usd:.4f}{more}" if run.cost_usd else f"0{more}"
