"""Tables as CSV: one number a column, so that a spreadsheet can calculate with it."""

import csv
import io
from collections.abc import Iterator

from .records import Grid, Number
from .text import digits_text, label_texts


def csv_text(grid: Grid) -> str:
    """Return a table as CSV with a header row.

    A column of the table becomes up to four: the value, `low` and `high` of its interval, and a `note` in
    words (lowest or highest, significance, names); those that no row fills are left out.
    """
    parts = [_parts(grid, at) for at in range(len(grid.columns))]
    header = [inert(heading) for heading in grid.headings]
    for column, names in zip(grid.columns, parts, strict=True):
        header += [inert(f"{column} {name}".rstrip()) for name in names]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in grid.rows:
        cells = [inert(label) for label in label_texts(row)]
        for cell, names in zip(row.cells, parts, strict=True):
            filled = _filled(cell)
            cells += [filled[name] for name in names]
        writer.writerow(cells)
    return text.getvalue()


def _parts(grid: Grid, at: int) -> list[str]:
    filled = [_filled(row.cells[at]) for row in grid.rows]
    return [name for name in ("", "low", "high", "note") if name == "" or any(cell[name] for cell in filled)]


def _filled(number: Number | None) -> dict[str, str]:
    if number is None:
        return dict.fromkeys(("", "low", "high", "note"), "")
    ends = {
        name: "" if end is None else digits_text(end, number.interval_digits)
        for name, end in (("low", number.low), ("high", number.high))
    }
    return {"": digits_text(number.value, number.digits), **ends, "note": inert("; ".join(_words(number)))}


def _words(number: Number) -> Iterator[str]:
    if number.extreme:
        yield number.extreme
    if number.mark:
        yield number.mark.meaning
    if number.remark:
        yield number.remark


def inert(text: str) -> str:
    """Return a text that a spreadsheet does not take for a formula: names of models are not ours."""
    text = "".join(x if x.isprintable() else " " for x in text)
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text
