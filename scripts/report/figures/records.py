"""What figures are drawn from and what comes out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from rupeebias.metric.tables import Row

from ..data import ReportRun
from ..derived import Tables, report_tables
from .style import LABEL_LIMIT, clean


@dataclass(frozen=True, slots=True)
class FigureRun:
    """A run as the figures see it: small enough to be sent to another process."""

    label: str
    """Its name, made fit to be drawn; unique."""
    tables: Tables
    """Of the result, `headline` and the derived ones."""

    @property
    def headline(self) -> Row:
        """The flat values."""
        return self.tables["headline"][0]

    def row(self, table: str, **key: str) -> Row | None:
        """Return the row with these keys; None where the run does not cover it."""
        rows = self.tables.get(table, [])
        return next((row for row in rows if all(row[name] == value for name, value in key.items())), None)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure before it is written."""

    name: str
    title: str
    alt_text: str
    table: str
    """The table that it draws."""
    figure: Figure


def figure_runs(runs: Sequence[ReportRun]) -> list[FigureRun]:
    """Return runs ready to draw, the lowest overall mean gap first; those without one last."""
    labels: list[str] = []
    found = []
    for run, tables in zip(runs, report_tables(runs), strict=True):
        labels.append(_unused_label(run.name, labels))
        flat = {name: value for name, value in run.result.items() if not isinstance(value, dict | list)}
        found.append(FigureRun(labels[-1], {**tables, "headline": [flat]}))
    return sorted(found, key=lambda run: (_or_last(run.headline["mean_delta_pct"]), run.label))


def _unused_label(name: str, used: Sequence[str]) -> str:
    """Return a name made fit to be drawn; one that two runs would share gets a number."""
    label, n = clean(name), 2
    while label in used:
        label, n = f"{clean(name, LABEL_LIMIT - 5)} ({n})", n + 1
    return label


def _or_last(value: Any) -> float:
    return float("inf") if value is None else float(value)


def number(row: Row | None, column: str) -> float | None:
    """Return a number of a row; None where there is none."""
    cell = None if row is None else row[column]
    return None if cell is None else float(cell)


def extremes(values: dict[str, float], unit: str, digits: int = 1) -> str:
    """Return a sentence for alt texts: which is lowest and which is highest."""
    if not values:
        return ""
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if low == high:
        return f"{low}: {values[low]:.{digits}f}{unit}."
    lowest, highest = f"{values[low]:.{digits}f}{unit}", f"{values[high]:.{digits}f}{unit}"
    return f"Lowest: {low}, {lowest}. Highest: {high}, {highest}."
