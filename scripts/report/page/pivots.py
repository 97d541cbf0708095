"""The table behind a figure: a row for each slice, a column for each run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rupeebias.metric import TABLES

from ..data import ReportRun
from ..derived import Tables
from .findings import ALPHA
from .text import NOT_COMPUTED, label, number, with_interval

_DIGITS: Final = {"kendall_w": 3, "spearman_rho": 2, "mean_min_rho": 2, "mean_rho": 2}
"""Decimals of a table's first value; one where none is named."""
_HEADINGS: Final = {
    "language": "Language",
    "use_case": "Use case",
    "axis": "Group by",
    "identifier": "Group",
}


_DERIVED: Final = {
    "kendall_w_mean": (("language",), "Mean W over the axes, with Fisher's combined p-value."),
    "kendall_w_use_case": (("language", "use_case"), "Mean W over the axes, with Fisher's combined p-value."),
    "question_robustness_mean": (("language",), "Smallest rank correlation between wordings, over axes."),
    "fairness": (("use_case",), "Mean gap over axes, without and with the instruction to be fair."),
}
"""Keys and meaning of the tables that a report adds to a result's."""


@dataclass(frozen=True, slots=True)
class Pivot:
    """A table for people."""

    headings: tuple[str, ...]
    """Of the key columns."""
    runs: tuple[str, ...]
    """Of the other columns: names of runs, hostile text."""
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """Keys and cells."""
    note: str
    """What a row says."""


def pivot(name: str, runs: Sequence[ReportRun], tables: Sequence[Tables]) -> Pivot | None:
    """Return the table `name` of several runs side by side; None if it has no rows or has a place of its own.

    `tables` are those of `report_tables`, in the order of the runs.
    """
    if name == "headline" or name.startswith("parse_status"):
        return None
    columns, about = _DERIVED.get(name) or (TABLES[name].keys, TABLES[name].about)
    cells = [{tuple(row[key] for key in columns): row for row in table[name]} for table in tables]
    keys = list(dict.fromkeys(key for rows in cells for key in rows))
    if not keys:
        return None
    rows = ((_names(columns, key), tuple(_cell(rows.get(key)) for rows in cells)) for key in keys)
    headings = tuple(_HEADINGS[key] for key in columns)
    return Pivot(headings, tuple(run.name for run in runs), tuple(rows), about)


def _names(columns: Sequence[str], key: tuple[Any, ...]) -> tuple[str, ...]:
    values = dict(zip(columns, key, strict=True))
    return tuple(label(column, value, values.get("axis")) for column, value in values.items())


def _cell(row: Mapping[str, Any] | None) -> str:
    """Return a row's first number with its interval and marks: dagger p_bh < .05, star interval without 0."""
    if row is None:
        return NOT_COMPUTED
    if "standard_pct" in row:
        before, after = number(row["standard_pct"]), number(row["fair_pct"])
        return f"{before} without, {after} with"
    name = next(key for key, value in row.items() if not isinstance(value, str))
    low, high = row.get("ci_low"), row.get("ci_high")
    if name == "spearman_rho":  # its interval is of the change of the gap
        change = with_interval(row["delta_mean_delta_pct"], low, high, 2)
        return f"ρ {number(row[name], 2)}; change {change}"
    text = with_interval(row[name], low, high, _DIGITS.get(name, 1))
    return text + _marks(row) + _people(row)


def _marks(row: Mapping[str, Any]) -> str:
    significant = row.get("p_bh") is not None and row["p_bh"] < ALPHA
    signed = "cpg_pct" in row and row["ci_low"] is not None and row["ci_low"] * row["ci_high"] > 0
    return "†" * significant + "*" * signed


def _people(row: Mapping[str, Any]) -> str:
    for first, second in (("reference", "comparison"), ("highest", "lowest")):
        if first in row:
            names = (label("identifier", row[key], row["axis"]) for key in (first, second))
            return f" ({' over '.join(names)})"
    return ""
