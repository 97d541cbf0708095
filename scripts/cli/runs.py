"""`rupeebias runs`: what runs there are and how far they are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..generate.manifest import Manifest


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder of run directories.")] = Path("runs"),
) -> None:
    """List the runs in a folder: model, requests done, failed and left, cost in USD.

    Example: rupeebias runs
    """
    from ..errors import RupeeBiasError
    from ..generate.run_directory import list_runs

    found = list_runs(folder)
    if not found:
        typer.echo(f"no runs in {folder}")
        return
    rows: list[tuple[str, ...]] = [("run", "model", "done", "failed", "left", "cost")]
    for path, run in found:
        if isinstance(run, RupeeBiasError):
            rows.append((path.name, f"damaged: {str(run).splitlines()[0]}", "", "", "", ""))
        else:
            numbers = (run.counts.done, run.counts.failed, run.counts.left)
            rows.append((path.name, run.identity.model, *(f"{n:,}" for n in numbers), _cost(run)))
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    for row in rows:
        names = (cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True))
        counts = (cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True))
        typer.echo("  ".join((*names, *counts)).rstrip())


def _cost(run: "Manifest") -> str:
    """Return the cost so far in USD; a `+` stands for replies whose cost is unknown."""
    if run.cost_usd is None:
        return "unknown" if run.unknown_costs else ""
    more = "+" if run.unknown_costs else ""
    return f"{run.cost_usd:.4f}{more}" if run.cost_usd else f"0{more}"
