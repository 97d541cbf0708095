"""Text that people read: numbers, shares, hostile text made harmless, lists and tables.

A rule for numbers: a value that cannot be shown is "–", minus is a true minus where people read ("−") and
ASCII where programs do, nothing is ever "-0.0", and halves are rounded away from zero (9.25 is 9.3).
"""

import math
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any, Final

NOT_COMPUTED: Final = "–"
"""Stands where there is no value."""
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_JOINERS: Final = "\u200c\u200d"  # Devanagari and emoji need them
_FORMULA: Final = ("=", "+", "-", "@")
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>()#|~!&$])")


def digits_text(value: float, digits: int) -> str:
    """Return a number with so many decimals as a program reads it: ASCII minus, never a negative zero."""
    text = f"{Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"
    return text.removeprefix("-") if float(text) == 0 else text


def number(value: float | None, digits: int | None = 1, *, signed: bool = False) -> str:
    """Return a number as people read it: thousands separated, a true minus; "–" for None and NaN.

    `digits=None` keeps the digits that the value has: a published 9.25 stays 9.25. `signed` adds a plus.
    """
    if value is None or not math.isfinite(value):
        return NOT_COMPUTED
    plain = repr(float(value)).removesuffix(".0") if digits is None else digits_text(value, digits)
    whole, point, decimals = plain.removeprefix("-").partition(".")
    text = f"{int(whole):,}{point}{decimals}" if whole.isdigit() else plain.removeprefix("-")
    is_zero = float(plain) == 0
    sign = "−" if plain.startswith("-") and not is_zero else "+" if signed and not is_zero else ""
    return sign + text


def with_interval(
    value: float | None, low: float | None, high: float | None, digits: int = 1, *, signed: bool = False
) -> str:
    """Return "7.6 [7.5, 7.7]", without the brackets where there is no interval."""
    shown = number(value, digits, signed=signed)
    if value is None or low is None or high is None:
        return shown
    return f"{shown} [{number(low, digits, signed=signed)}, {number(high, digits, signed=signed)}]"


def share(percent: float | None, digits: int = 1) -> str:
    """Return a share in percent, rounded down: 94.96 falls short of 95 and must not look like it."""
    if percent is None or not math.isfinite(percent):
        return NOT_COMPUTED
    # an amount of float noise below a round number (94.99999999999999) is the round number
    exact = Decimal(repr(round(float(percent), 9)))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_DOWN):f}"


def p_value(value: float | None) -> str:
    """Return a p-value with three decimals, "<0.001" below."""
    if value is None or not math.isfinite(value):
        return NOT_COMPUTED
    return "<0.001" if value < 0.001 else digits_text(value, 3)


def counted(count: int, thing: str, things: str | None = None) -> str:
    """Return "1 reply", "1,200 replies"."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def listed(items: Iterable[object], most: int = 3, count: int | None = None, between: str = "; ") -> str:
    """Return the first few items in one line, and how many more there are; `count` is how many in all."""
    texts = [str(item) for item in items]
    more = (len(texts) if count is None else count) - min(len(texts), most)
    return between.join(texts[:most]) + (f"{between}and {more:,} more" if more > 0 else "")


def joined(items: Iterable[object]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    texts = [str(item) for item in items]
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def printable(text: object) -> str:
    """Return one line that a terminal, a manifest or a log can hold: what does not print becomes "\ufffd"."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in str(text))


def shown(value: Any, longest: int = 60) -> str:
    """Return a value of a file for a message: quoted, one line, no control or direction marks, not long."""
    text = repr(value[: longest + 1] if isinstance(value, str | list) else value)
    return text if len(text) <= longest + 2 else f"{text[:longest]}..."


def visible(text: object) -> str:
    """Return text in which every control, direction or unassigned character is written as its code.

    Text of models and files can hold marks that reorder or hide what stands on a page; "\u202e" becomes
    "⟨U+202E⟩". Line breaks, tabs and the joiners of Indian scripts stay.
    """
    plain = str(text).replace("\r\n", "\n")
    if plain.isascii() and plain.isprintable():
        return plain
    return "".join(map(_visible, plain))


def _visible(char: str) -> str:
    if char in "\n\t" or char in _JOINERS or unicodedata.category(char) not in _HIDDEN:
        return char
    return f"⟨U+{ord(char):04X}⟩"


def shortened(text: object, length: int = 100) -> str:
    """Return `visible` text of at most `length` characters: names of models can be of any length."""
    seen = visible(str(text)[: length + 1])
    return seen if len(seen) <= length else f"{seen[: length - 1]}…"


def inert(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; numbers and None stay as they are.

    Names of models are not ours. Spreadsheets skip leading blanks, so `" =1+1"` is a formula too.
    """
    if not isinstance(cell, str):
        return cell
    text = "".join(letter if letter.isprintable() else " " for letter in cell)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def markdown(text: object) -> str:
    """Return text that Markdown and HTML show as it is, on one line."""
    line = "".join(letter if letter.isprintable() else " " for letter in str(text))
    return _MARKDOWN.sub(r"\\\1", " ".join(line.split(" ")))


def markdown_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table; every cell is escaped."""
    heads = list(columns)
    yield f"| {' | '.join(map(markdown, heads))} |"
    yield f"| {' | '.join('---' for _ in heads)} |"
    for row in rows:
        yield f"| {' | '.join(map(markdown, row))} |"


Rows = Sequence[Sequence[str]]


def text_table(rows: Rows) -> Iterator[str]:
    """Yield lines of cells aligned under each other: the first column left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells)).rstrip()


def print_table(columns: Sequence[str], rows: Rows, beside: Rows = (), notes: Sequence[str] = ()) -> None:
    """Print rows under their heads, rows that are only to compare with, and a line for each note.

    In colours where the terminal shows them, otherwise plainly.
    """
    if (sys.stdout is not None and sys.stdout.isatty()) or "FORCE_COLOR" in os.environ:
        _print_in_colours(columns, rows, beside, notes)
    else:
        print("\n".join([*text_table([columns, *rows, *beside]), *notes]))  # noqa: T201 - this is its task


def _print_in_colours(columns: Sequence[str], rows: Rows, beside: Rows, notes: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if at == 0 else "right", no_wrap=True)
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
