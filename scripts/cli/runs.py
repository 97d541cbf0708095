"""`rupeebias runs`: what runs there are and how far they are."""

from pathlib import Path
from typing import Annotated

import typer


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder of run directories.")] = Path("runs"),
) -> None:
    """List the runs in a folder: model, requests done, failed and left.

    Example: rupeebias runs
    """
    from ..errors import RupeeBiasError
    from ..generate.run_directory import list_runs

    found = list_runs(folder)
    if not found:
        typer.echo(f"no runs in {folder}")
        return
    rows: list[tuple[str, ...]] = [("run", "model", "done", "failed", "left")]
    for path, run in found:
        if isinstance(run, RupeeBiasError):
            rows.append((path.name, f"damaged: {str(run).splitlines()[0]}", "", "", ""))
        else:
            numbers = (run.counts.done, run.counts.failed, run.counts.left)
            rows.append((path.name, run.identity.model, *(f"{n:,}" for n in numbers)))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        names = (cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True))
        counts = (cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True))
        typer.echo("  ".join((*names, *counts)).rstrip())
