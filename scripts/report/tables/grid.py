"""A table: as it is described, and as it is filled from runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from rupeebias.metric.design import Design
from rupeebias.metric.tables import Cell, Row

from ..runs import ReportRun, Tables, report_tables
from .published import PublishedValue, published_rows

Extreme: TypeAlias = Literal["lowest", "highest"]
Order: TypeAlias = Literal["gap", "concordance", "name"]
"""Runs by overall mean gap (lowest first), by mean W (highest first) or by name."""
_INTERVALS: Final = {
    "cluster": "Brackets: 95 % intervals, base profiles resampled.",
    "pairs": "Brackets: 95 % intervals, pairs resampled as in the paper.",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A symbol that says something about a number."""

    symbol: str
    meaning: str
    """What the note below the table says."""
    applies: Callable[[Row], bool]
    """Whether a row of the result carries it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One number of each run: a column where runs are rows, a row where runs are columns."""

    labels: tuple[str, ...]
    table: str
    """A table of the result, `headline` or `fairness`."""
    key: Mapping[str, Cell]
    """The row of that table."""
    value: str
    """Its column."""
    digits: int
    interval: tuple[str, str] | None = None
    """Columns with the ends of the 95 % interval."""
    interval_digits: int = 2
    marks: tuple[Mark, ...] = ()
    """The first that applies is printed."""
    remark: Callable[[Row], str] | None = None
    """Text after the number."""
    published: str | None = None
    """Column of the published values."""


@dataclass(frozen=True, slots=True)
class Description:
    """One table of the paper."""

    name: str
    """File name without its suffix."""
    caption: str
    items: tuple[Item, ...]
    headings: tuple[str, ...] = ("Model",)
    """Headings of the label columns."""
    runs_are: Literal["rows", "columns"] = "rows"
    order: Order = "gap"
    marked: Extreme | None = None
    """Which value of an item is marked, where at least two runs have one."""
    published: str | None = None
    """Number of the paper's table, where its values are printed beside."""


@dataclass(frozen=True, slots=True)
class Number:
    """A filled cell."""

    value: float
    digits: int
    low: float | None = None
    high: float | None = None
    interval_digits: int = 2
    mark: Mark | None = None
    remark: str = ""
    extreme: Extreme | None = None
    """Set on the lowest or highest value of an item, as the description asks."""


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row as it is printed."""

    labels: tuple[str, ...]
    cells: tuple[Number | None, ...]
    """None: the run does not cover it."""
    published: bool = False
    """Printed in the paper, not computed here."""

    @property
    def label_texts(self) -> tuple[str, ...]:
        """The labels; those of published rows say so."""
        return (f"{self.labels[0]} (published)", *self.labels[1:]) if self.published else self.labels


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, filled: what every format prints."""

    name: str
    caption: str
    headings: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TabledRun:
    """A run as the tables see it."""

    name: str
    result: Mapping[str, Any]
    tables: Tables


def tabled(runs: Sequence[ReportRun]) -> list[TabledRun]:
    """Return runs ready to fill tables."""
    return [TabledRun(run.name, run.result, own) for run, own in zip(runs, report_tables(runs), strict=True)]


def filled(description: Description, runs: Sequence[TabledRun]) -> Grid | None:
    """Return a table filled from runs; None where no run covers any of it."""
    ordered = sorted(runs, key=lambda run: _place(description, run))
    matrix = [[_number(item, run.tables) for item in description.items] for run in ordered]
    matrix = _with_extremes(matrix, description.marked)
    items = [at for at in range(len(description.items)) if any(row[at] for row in matrix)]
    rows = [
        GridRow((run.name,), tuple(row[at] for at in items))
        for run, row in zip(ordered, matrix, strict=True)
        if any(row)
    ]
    if not rows:
        return None
    kept = [description.items[at] for at in items]
    published = [*_published(description, kept)]
    notes = _notes(rows + published, description.marked, ordered[0].result)
    head = (description.name, description.caption, description.headings)
    if description.runs_are == "rows":
        return Grid(*head, tuple(item.labels[-1] for item in kept), (*rows, *published), notes)
    turned = tuple(GridRow(item.labels, tuple(row.cells[at] for row in rows)) for at, item in enumerate(kept))
    return Grid(*head, tuple(row.labels[0] for row in rows), turned, notes)


def _place(description: Description, run: TabledRun) -> tuple[float, str]:
    """Return what runs are sorted by; those without the value come last."""
    if description.order == "name":
        return 0.0, run.name.casefold()
    by_gap = description.order == "gap"
    value = run.result["mean_delta_pct" if by_gap else "mean_kendall_w"]
    return float("inf") if value is None else value if by_gap else -value, run.name.casefold()


def _number(item: Item, tables: Tables) -> Number | None:
    rows = tables.get(item.table, ())
    row: Any = next((row for row in rows if all(row[key] == cell for key, cell in item.key.items())), None)
    if row is None or row[item.value] is None:
        return None
    low, high = (row[end] for end in item.interval) if item.interval else (None, None)
    return Number(
        float(row[item.value]),
        item.digits,
        None if low is None else float(low),
        None if high is None else float(high),
        interval_digits=item.interval_digits,
        mark=next((mark for mark in item.marks if mark.applies(row)), None),
        remark=item.remark(row) if item.remark else "",
    )


def _with_extremes(matrix: list[list[Number | None]], marked: Extreme | None) -> list[list[Number | None]]:
    """Mark the lowest or highest value of each item, ties to the printed digit too; none for one run."""
    if marked is None:
        return matrix
    wanted = []
    for column in zip(*matrix, strict=True):
        printed = [round(cell.value, cell.digits) for cell in column if cell]
        wanted.append((min if marked == "lowest" else max)(printed) if len(printed) > 1 else None)
    return [
        [
            replace(cell, extreme=marked) if cell and round(cell.value, cell.digits) == target else cell
            for cell, target in zip(row, wanted, strict=True)
        ]
        for row in matrix
    ]


def _published(description: Description, items: Sequence[Item]) -> Iterator[GridRow]:
    if description.published:
        for model, values in published_rows(description.published).items():
            cells = tuple(_published_number(item, values.get(item.published or "")) for item in items)
            yield GridRow((model,), cells, published=True)


def _published_number(item: Item, found: PublishedValue | None) -> Number | None:
    if found is None:
        return None
    tested = item.marks[0] if item.marks else None
    row: Row = {item.value: found.value, "p_bh": 0.0 if found.significant else 1.0}
    mark = tested if tested and tested.applies(row) else None
    ends = (found.low, found.high) if item.interval else (None, None)
    return Number(found.value, max(item.digits, found.digits), *ends, item.interval_digits, mark)


def _notes(rows: Sequence[GridRow], marked: Extreme | None, result: Mapping[str, Any]) -> tuple[str, ...]:
    cells = [cell for row in rows for cell in row.cells if cell]
    marks = {cell.mark.symbol: cell.mark.meaning for cell in cells if cell.mark}
    notes = [f"{symbol}: {meaning}." for symbol, meaning in sorted(marks.items())]
    if any(cell.extreme for cell in cells):
        notes.append(f"Bold: {marked} value of a column among the runs.")
    published = [cell for row in rows if row.published for cell in row.cells if cell]
    own = [cell for row in rows if not row.published for cell in row.cells if cell]
    if any(cell.low is not None for cell in own):
        notes.append(_INTERVALS[result["settings"]["ci"]])
    if published:
        notes.append(
            "Rows marked (published) are printed in the paper, not computed here; they rest on incomplete "
            "data (parts of files are missing: of Claude Haiku 4.5, 6 of 18 salary profiles)."
        )
    if any(cell.low is not None for cell in published):
        notes.append("Published intervals resample pairs.")
    return tuple(notes)


def dataset_grid(design: Design) -> Grid:
    """Return the composition of a benchmark by use case (Table 1)."""
    n_identifiers, n_languages = sum(map(len, design.identifiers.values())), len(design.languages)
    rows = []
    for case in design.use_cases:
        counts = (n_identifiers, case.n_profiles, case.n_questions, n_languages)
        prompts = n_identifiers * case.n_profiles * case.n_questions * n_languages
        rows.append(GridRow((case.label,), tuple(Number(count, 0) for count in (*counts, prompts))))
    rows.append(GridRow(("Total",), (None, None, None, None, Number(design.n_prompts, 0))))
    return Grid(
        "table-01-dataset",
        "Prompts of the benchmark by use case.",
        ("Use case",),
        ("Identifiers", "Base profiles", "Question variants", "Languages", "Prompts"),
        tuple(rows),
        (),
    )
