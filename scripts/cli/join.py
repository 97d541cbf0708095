"""`rupeebias join`: the shards of a run put together."""

from pathlib import Path
from typing import Annotated

import typer


def join(
    shards: Annotated[list[Path], typer.Argument(help="Run directories made with --shard.")],
    out: Annotated[Path, typer.Option("--out", help="New run directory.")],
) -> None:
    """Put the shards of one run together, to be scored or resumed as a whole; they stay as they are.

    Example: rupeebias join runs/shard-1 runs/shard-2 --out runs/whole
    """
    from ..runs.join import join_shards
    from ..runs.resuming import resuming_command

    joined = join_shards(shards, out)
    counts = joined.counts
    typer.echo(f"{out}: {counts.done:,} done, {counts.failed:,} failed, {counts.left:,} left")
    if counts.left:
        command = resuming_command(out, joined)
        typer.echo(f"to ask what is left: `{command}`, with the shards' other options except --shard")
