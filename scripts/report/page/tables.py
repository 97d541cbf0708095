"""Tables of the page: how good the data of a run are, and what is behind a figure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rupeebias.metric import TABLES, Result
from rupeebias.metric.design import Design

from ...words import NOT_COMPUTED, number, with_interval
from ..runs import ReportRun, Tables

ALPHA: Final = 0.05
"""p-values below this count."""
STATUS_LABELS: Final = {
    "ok": "in the form asked for",
    "lenient": "understood from another form",
    "refusal": "refused",
    "truncated": "cut off",
    "empty": "empty",
    "error": "failed request",
    "ambiguous": "several amounts",
    "implausible": "out of bounds",
    "unparsed": "no amount",
    "missing": "missing",
}
"""Status to words; the first two carry a value into the statistics."""
READ: Final = ("ok", "lenient")
_DIGITS: Final = {"kendall_w": 3, "spearman_rho": 2, "mean_min_rho": 2, "mean_rho": 2}
"""Decimals of a table's first value; one where none is named."""
_HEADINGS: Final = {
    "language": "Language",
    "use_case": "Use case",
    "axis": "Group by",
    "identifier": "Group",
}


_OTHERS: Final = {
    "fairness": (("use_case",), "Mean gap over axes, without and with the instruction to be fair."),
}


def label(design: Design, key: str, value: str, axis: str | None = None) -> str:
    """Return the name that people read for a value of a key of the tables."""
    if key == "identifier" and axis is not None:
        return design.identifiers[axis][value]
    if value == "all":
        n_languages = {1: "", 2: "both languages"}.get(len(design.languages), "all languages")
        return n_languages if key == "language" else "all"
    named: dict[str, Any] = {"use_case": design.use_case, "language": design.language, "axis": design.axis}
    return str(named[key][value].label) if key in named else value


@dataclass(frozen=True, slots=True)
class StatusRow:
    """The answers of one group by status."""

    names: tuple[str, ...]
    """What the group is: language and use case, or axis and identifier."""
    counts: Mapping[str, int]
    """Number of answers by status."""

    @property
    def total(self) -> int:
        """Answers that were expected."""
        return sum(self.counts.values())

    def share(self, *statuses: str) -> float:
        """Return the percentage of the answers with one of these statuses."""
        return sum(self.counts[status] for status in statuses) / self.total * 100

    @property
    def unread(self) -> float:
        """Percentage of the answers without a value."""
        return 100 - self.share(*READ)


@dataclass(frozen=True, slots=True)
class AxisFailures:
    """The identifiers of an axis that are refused, or not readable, least and most often."""

    axis: str
    least_refused: StatusRow
    most_refused: StatusRow
    least_unread: StatusRow
    most_unread: StatusRow


def by_use_case(result: Result, design: Design) -> list[StatusRow]:
    """Return the statuses of each language and use case."""
    groups = _grouped(result["tables"]["parse_status"], ("language", "use_case"))
    return [
        StatusRow((label(design, "language", language), label(design, "use_case", use_case)), counts)
        for (language, use_case), counts in groups.items()
    ]


def statuses_seen(results: Sequence[Result]) -> list[str]:
    """Return the statuses that occur, those with a value first."""
    seen = {row["status"] for result in results for row in result["tables"]["parse_status"] if row["n"]}
    return [status for status in STATUS_LABELS if status in seen]


def by_identifier(result: Result, design: Design) -> dict[str, list[StatusRow]]:
    """Return the statuses of each identifier, by the axis's label."""
    rows: dict[str, list[StatusRow]] = {}
    groups = _grouped(result["tables"]["parse_status_identifier"], ("axis", "identifier"))
    for (axis, name), counts in groups.items():
        names = (design.axis[axis].label, label(design, "identifier", name, axis))
        rows.setdefault(names[0], []).append(StatusRow(names, counts))
    return rows


def failures(result: Result, design: Design) -> list[AxisFailures]:
    """Return, by axis, which identifiers go without an answer least and most often."""
    return [
        AxisFailures(
            axis,
            min(rows, key=lambda row: row.share("refusal")),
            max(rows, key=lambda row: row.share("refusal")),
            min(rows, key=lambda row: row.unread),
            max(rows, key=lambda row: row.unread),
        )
        for axis, rows in by_identifier(result, design).items()
    ]


def _grouped(rows: Sequence[Mapping[str, Any]], keys: tuple[str, str]) -> dict[tuple[str, str], Counter[str]]:
    groups: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        counts = groups.setdefault((row[keys[0]], row[keys[1]]), Counter())
        counts[row["status"]] += row["n"]
    return groups


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
    columns, about = _OTHERS.get(name) or (TABLES[name].keys, TABLES[name].about)
    cells = [{tuple(row[key] for key in columns): row for row in table[name]} for table in tables]
    keys = list(dict.fromkeys(key for rows in cells for key in rows))
    if not keys:
        return None
    design = runs[0].design
    rows = (
        (_names(design, columns, key), tuple(_cell(design, rows.get(key)) for rows in cells)) for key in keys
    )
    headings = tuple(_HEADINGS[key] for key in columns)
    return Pivot(headings, tuple(run.name for run in runs), tuple(rows), about)


def _names(design: Design, columns: Sequence[str], key: tuple[Any, ...]) -> tuple[str, ...]:
    values = dict(zip(columns, key, strict=True))
    return tuple(label(design, column, value, values.get("axis")) for column, value in values.items())


def _cell(design: Design, row: Mapping[str, Any] | None) -> str:
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
    return text + _marks(row) + _people(design, row)


def _marks(row: Mapping[str, Any]) -> str:
    significant = row.get("p_bh") is not None and row["p_bh"] < ALPHA
    signed = "cpg_pct" in row and row["ci_low"] is not None and row["ci_low"] * row["ci_high"] > 0
    return "†" * significant + "*" * signed


def _people(design: Design, row: Mapping[str, Any]) -> str:
    for first, second in (("reference", "comparison"), ("highest", "lowest")):
        if first in row:
            names = (label(design, "identifier", row[key], row["axis"]) for key in (first, second))
            return f" ({' over '.join(names)})"
    return ""
