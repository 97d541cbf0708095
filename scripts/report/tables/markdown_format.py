"""Tables as Markdown."""

import re
from collections.abc import Iterable

from .records import Grid, GridRow, Number
from .text import NOT_COVERED, interval_text, label_texts, value_text


def markdown_text(grid: Grid) -> str:
    """Return a table as Markdown: caption, table, notes. The best value is bold."""
    headings = (*grid.headings, *grid.columns)
    rule = ["---"] * len(grid.headings) + ["---:"] * len(grid.columns)
    lines = [f"**{escaped(grid.caption)}**", "", _line(map(escaped, headings)), _line(rule)]
    lines += [_line(_cells(row)) for row in grid.rows]
    lines += [line for note in grid.notes for line in ("", escaped(note))]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: GridRow) -> Iterable[str]:
    yield from map(escaped, label_texts(row))
    yield from map(_cell, row.cells)


def _cell(number: Number | None) -> str:
    if number is None:
        return NOT_COVERED
    value = value_text(number).replace("-", "−")
    value = f"**{value}**" if number.extreme else value
    mark = escaped(number.mark.symbol) if number.mark else ""
    extra = f" {escaped(number.remark)}" if number.remark else ""
    return f"{value}{mark}{escaped(interval_text(number).replace('-', '−'))}{extra}"


def escaped(text: str) -> str:
    """Return text that Markdown and HTML show as it is, on one line."""
    text = " ".join("".join(x if x.isprintable() else " " for x in text).split(" "))
    return re.sub(r"([\\`*_{}\[\]<>()#|~!&$])", r"\\\1", text)
