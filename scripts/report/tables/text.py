"""Numbers as text, the same digits in every format."""

from typing import Final

from .records import GridRow, Number

NOT_COVERED: Final = "–"
"""A cell without a value."""


def digits_text(value: float, digits: int) -> str:
    """Return a number with so many decimals and an ASCII minus; never a negative zero."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def value_text(number: Number) -> str:
    """Return the value alone; counts with thousands separators."""
    return f"{number.value:,.0f}" if number.digits == 0 else digits_text(number.value, number.digits)


def interval_text(number: Number) -> str:
    """Return ` [low, high]`, or nothing where there is no interval."""
    if number.low is None or number.high is None:
        return ""
    ends = (digits_text(end, number.interval_digits) for end in (number.low, number.high))
    return f" [{', '.join(ends)}]"


def label_texts(row: GridRow) -> tuple[str, ...]:
    """Return a row's labels; published rows say so."""
    return (f"{row.labels[0]} (published)", *row.labels[1:]) if row.published else row.labels
