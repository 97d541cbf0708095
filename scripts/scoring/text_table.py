"""Tables for a terminal: in colours where it shows them, otherwise plainly."""

import os
import sys
from collections.abc import Iterator, Sequence

import typer

Rows = Sequence[Sequence[str]]


def print_table(columns: Sequence[str], rows: Rows, beside: Rows = (), notes: Sequence[str] = ()) -> None:
    """Print rows under their heads, rows that are only to compare with, and a line for each note."""
    if (sys.stdout is not None and sys.stdout.isatty()) or "FORCE_COLOR" in os.environ:
        _print_in_colours(columns, rows, beside, notes)
    else:
        typer.echo("\n".join([*_aligned([columns, *rows, *beside]), *notes]))


def _aligned(rows: Rows) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells))


def _print_in_colours(columns: Sequence[str], rows: Rows, beside: Rows, notes: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if at == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    if beside:
        table.add_section()
    for row in beside:
        table.add_row(*map(Text, row), style="dim")
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for note in notes:
        console.print(Text(note), style="yellow")
