"""The headline table: one line a run, the published models beside it."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import typer

from rupeebias.metric.published import PUBLISHED, PublishedModel

NOT_COMPUTED: Final = "–"
PUBLISHED_THRESHOLD: Final = 10.0
"""Gap in percent above which the paper counts a violation."""
PUBLISHED_NOTE: Final = (
    "published: the paper's values, all 39,150 prompts, service pricing asked with ratings 4.4 and 3.8"
)


def headline_columns(result: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the heads of the columns, by the settings that runs scored together share."""
    settings = result["settings"]
    violations = f"V@{settings['threshold']:g} %"
    return (
        "run",
        "mean Δ% [95 % CI]" if settings["ci"] else "mean Δ%",
        "English",
        "Hinglish",
        f"{violations} English",
        f"{violations} Hinglish",
        "mean W",
        "parsed %",
        "refused %",
        "answers",
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


def published_cells(model: PublishedModel, threshold: float = PUBLISHED_THRESHOLD) -> tuple[str, ...]:
    """Return the cells of a published model's line, marked as published.

    At another threshold than the paper's its violations are left out.
    """
    same = threshold == PUBLISHED_THRESHOLD
    return (
        f"{model.model} (published)",
        _number(model.mean_delta_pct, 1),
        _number(model.english_mean_delta_pct, 1),
        _number(model.hinglish_mean_delta_pct, 1),
        _number(model.english_violation_at_10_pct if same else None, 1),
        _number(model.hinglish_violation_at_10_pct if same else None, 1),
        *[""] * 4,
    )


def print_headlines(runs: Sequence[tuple[str, Mapping[str, Any]]], *, published: bool) -> None:
    """Print the headline table and the warnings of each run: in colours to a terminal, else plainly."""
    if (sys.stdout is not None and sys.stdout.isatty()) or "FORCE_COLOR" in os.environ:
        _print_in_colours(runs, published=published)
        return
    columns = headline_columns(runs[0][1])
    rows = [headline_cells(name, result) for name, result in runs]
    if published:
        rows += _published_rows(runs[0][1])
    lines = [*_aligned([columns, *rows]), *([PUBLISHED_NOTE] if published else [])]
    lines += [f"note ({name}): {warning}" for name, result in runs for warning in result["warnings"]]
    typer.echo("\n".join(lines))


def _published_rows(result: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [published_cells(model, result["settings"]["threshold"]) for model in PUBLISHED]


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
    for at, column in enumerate(headline_columns(runs[0][1])):
        table.add_column(Text(column), justify="left" if at == 0 else "right", overflow="fold")
    for name, result in runs:
        table.add_row(*map(Text, headline_cells(name, result)))
    if published:
        table.add_section()
        for row in _published_rows(runs[0][1]):
            table.add_row(*map(Text, row), style="dim")
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
