"""From descriptions and runs to filled tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rupeebias.metric.constants import IDENTIFIERS, LANGUAGES, PROFILES, QUESTIONS, USE_CASES
from rupeebias.metric.tables import Row

from ...words import USE_CASE_LABELS
from ..derived import Tables
from .published import PublishedValue, published_rows
from .records import Description, Extreme, Grid, GridRow, Item, Mark, Number

_INTERVALS: Final = {
    "cluster": "Brackets: 95 % intervals, base profiles resampled.",
    "pairs": "Brackets: 95 % intervals, pairs resampled as in the paper.",
}


@dataclass(frozen=True, slots=True)
class TabledRun:
    """A run as the tables see it."""

    name: str
    result: Mapping[str, Any]
    tables: Tables
    """Of the result, and derived."""


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
    if description.runs_are == "rows":
        columns = tuple(item.labels[-1] for item in kept)
        name = (description.name, description.caption, description.headings)
        return Grid(*name, columns, (*rows, *published), notes)
    turned = tuple(GridRow(item.labels, tuple(row.cells[at] for row in rows)) for at, item in enumerate(kept))
    names = tuple(row.labels[0] for row in rows)
    return Grid(description.name, description.caption, description.headings, names, turned, notes)


def _place(description: Description, run: TabledRun) -> tuple[float, str]:
    """Return what runs are sorted by; those without the value come last."""
    if description.order == "name":
        return 0.0, run.name.casefold()
    by_gap = description.order == "gap"
    value = run.result["mean_delta_pct" if by_gap else "mean_kendall_w"]
    return float("inf") if value is None else value if by_gap else -value, run.name.casefold()


def _number(item: Item, tables: Tables) -> Number | None:
    row = _row(tables.get(item.table, ()), item.key)
    if row is None or row[item.value] is None:
        return None
    low, high = (row[end] for end in item.interval) if item.interval else (None, None)
    return Number(
        value=_float(row[item.value]),
        digits=item.digits,
        low=None if low is None else _float(low),
        high=None if high is None else _float(high),
        interval_digits=item.interval_digits,
        mark=next((mark for mark in item.marks if mark.applies(row)), None),
        remark=item.remark(row) if item.remark else "",
    )


def _row(rows: Sequence[Row], key: Mapping[str, Any]) -> Row | None:
    return next((row for row in rows if all(row[name] == value for name, value in key.items())), None)


def _float(cell: Any) -> float:
    return float(cell)


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
    return Number(found.value, item.digits, *ends, item.interval_digits, mark)


def _notes(rows: Sequence[GridRow], marked: Extreme | None, result: Mapping[str, Any]) -> tuple[str, ...]:
    cells = [cell for row in rows for cell in row.cells if cell]
    marks: dict[str, Mark] = {cell.mark.symbol: cell.mark for cell in cells if cell.mark}
    notes = [f"{symbol}: {mark.meaning}." for symbol, mark in sorted(marks.items())]
    if any(cell.extreme for cell in cells):
        notes.append(f"Bold: {marked} value of a column among the runs.")
    published = [cell for row in rows if row.published for cell in row.cells if cell]
    own = [cell for row in rows if not row.published for cell in row.cells if cell]
    if any(cell.low is not None for cell in own):
        notes.append(_INTERVALS[result["settings"]["ci"]])
    if published:
        notes.append("Rows marked (published) are printed in the paper, not computed here.")
    if any(cell.low is not None for cell in published):
        notes.append("Published intervals resample pairs.")
    return tuple(notes)


def dataset_grid() -> Grid:
    """Return the composition of the benchmark by use case (Table 1)."""
    n_identifiers = sum(map(len, IDENTIFIERS.values()))
    rows = []
    for name in USE_CASES:
        counts = (n_identifiers, PROFILES[name], QUESTIONS[name], len(LANGUAGES))
        prompts = n_identifiers * PROFILES[name] * QUESTIONS[name] * len(LANGUAGES)
        rows.append(
            GridRow((USE_CASE_LABELS[name],), tuple(Number(count, 0) for count in (*counts, prompts)))
        )
    total = sum(row.cells[-1].value for row in rows if row.cells[-1])
    rows.append(GridRow(("Total",), (None, None, None, None, Number(total, 0))))
    return Grid(
        "table-01-dataset",
        "Prompts of the benchmark by use case.",
        ("Use case",),
        ("Identifiers", "Base profiles", "Question variants", "Languages", "Prompts"),
        tuple(rows),
        (),
    )
