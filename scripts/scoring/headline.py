"""The headline table: one line a run, the published models beside it."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import typer

from rupeebias.metric.published import PUBLISHED, PublishedModel

COLUMNS: Final = (
    "run",
    "mean Δ% [95 % CI]",
    "English",
    "Hinglish",
    "V@10 % English",
    "V@10 % Hinglish",
    "mean W",
    "parsed %",
    "refused %",
    "answers",
)
NOT_COMPUTED: Final = "–"
PUBLISHED_NOTE: Final = (
    "published: the paper's values, all 39,150 prompts, service pricing asked with ratings 4.4 and 3.8"
)


def headline_cells(name: str, result: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cells of one run's line."""
    return (
        name,
        _with_interval(result, "mean_delta_pct"),
        _with_interval(result, "english_mean_delta_pct"),
        _with_interval(result, "hinglish_mean_delta_pct"),
        _number(result["english_violation_at_10_pct"], 1),
        _number(result["hinglish_violation_at_10_pct"], 1),
        _number(result["mean_kendall_w"], 3),
        _number(result["parse_health_pct"], 1),
        _number(result["refusal_rate_pct"], 1),
        f"{result['n_scored']:,} of {result['n_expected']:,}",
    )


def published_cells(model: PublishedModel) -> tuple[str, ...]:
    """Return the cells of a published model's line, marked as published."""
    return (
        f"{model.model} (published)",
        _number(model.mean_delta_pct, 1),
        _number(model.english_mean_delta_pct, 1),
        _number(model.hinglish_mean_delta_pct, 1),
        _number(model.english_violation_at_10_pct, 1),
        _number(model.hinglish_violation_at_10_pct, 1),
        *[""] * (len(COLUMNS) - 6),
    )


def print_headlines(runs: Sequence[tuple[str, Mapping[str, Any]]], *, published: bool) -> None:
    """Print the headline table and the warnings of each run: in colours to a terminal, else plainly."""
    if sys.stdout.isatty() or "FORCE_COLOR" in os.environ:
        _print_in_colours(runs, published=published)
        return
    rows = [headline_cells(name, result) for name, result in runs]
    if published:
        rows += [published_cells(model) for model in PUBLISHED]
    lines = [*_aligned([COLUMNS, *rows]), *([PUBLISHED_NOTE] if published else [])]
    lines += [f"note ({name}): {warning}" for name, result in runs for warning in result["warnings"]]
    typer.echo("\n".join(lines))


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells))


def _print_in_colours(runs: Sequence[tuple[str, Mapping[str, Any]]], *, published: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, column in enumerate(COLUMNS):
        table.add_column(Text(column), justify="left" if at == 0 else "right", overflow="fold")
    for name, result in runs:
        table.add_row(*map(Text, headline_cells(name, result)))
    if published:
        table.add_section()
        for model in PUBLISHED:
            table.add_row(*map(Text, published_cells(model)), style="dim")
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    if published:
        console.print(Text(PUBLISHED_NOTE), style="dim")
    for name, result in runs:
        for warning in result["warnings"]:
            console.print(Text(f"note ({name}): {warning}"), style="yellow")


def _with_interval(result: Mapping[str, Any], name: str) -> str:
    low, high = result[f"{name}_ci_low"], result[f"{name}_ci_high"]
    interval = "" if low is None else f" [{_number(low, 1)}, {_number(high, 1)}]"
    return _number(result[name], 1) + interval


def _number(value: float | None, digits: int) -> str:
    return NOT_COMPUTED if value is None else f"{value:.{digits}f}"
