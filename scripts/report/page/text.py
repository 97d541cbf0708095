"""Text for people: names of the design, numbers, and hostile text made visible."""

import unicodedata
from typing import Final

from ...words import AXIS_LABELS, LANGUAGE_LABELS, USE_CASE_LABELS, identifier_label

USE_CASES: Final = USE_CASE_LABELS
"""Use case to the short name that people read."""

LANGUAGES: Final = {**LANGUAGE_LABELS, "all": "both languages"}
"""Value of the key `language` to the name that people read."""

AXES: Final = AXIS_LABELS
"""Axis to the short name that people read."""

NOT_COMPUTED: Final = "–"
_SHOWN_CONTROLS: Final = "\n\t"
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_JOINERS: Final = "\u200c\u200d"  # Devanagari and emoji need them


def visible(text: object) -> str:
    """Return text in which every control, direction or unassigned character is written as its code.

    Text of models and files can hold marks that reorder or hide what stands on a page; "\u202e" becomes
    "⟨U+202E⟩". Line breaks, tabs and the joiners of Indian scripts stay.
    """
    plain = str(text).replace("\r\n", "\n")
    if plain.isascii() and plain.isprintable():
        return plain
    return "".join(map(_visible, plain))


def shortened(text: object, length: int = 100) -> str:
    """Return `visible` text of at most `length` characters: names of models can be of any length."""
    shown = visible(str(text)[: length + 1])
    return shown if len(shown) <= length else f"{shown[: length - 1]}…"


def _visible(char: str) -> str:
    if char in _SHOWN_CONTROLS or char in _JOINERS or unicodedata.category(char) not in _HIDDEN:
        return char
    return f"⟨U+{ord(char):04X}⟩"


def number(value: float | None, digits: int = 1) -> str:
    """Return a number with a true minus sign, "–" for None."""
    if value is None:
        return NOT_COMPUTED
    text = f"{value:,.{digits}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def with_interval(value: float | None, low: float | None, high: float | None, digits: int = 1) -> str:
    """Return "7.6 [7.5, 7.7]", without the brackets where there is no interval."""
    if value is None or low is None or high is None:
        return number(value, digits)
    return f"{number(value, digits)} [{number(low, digits)}, {number(high, digits)}]"


def label(key: str, value: str, axis: str | None = None) -> str:
    """Return the name that people read for a value of a key of the tables."""
    if key == "identifier" and axis is not None:
        return identifier_label(axis, value)
    names = {"use_case": USE_CASES, "language": LANGUAGES, "axis": AXES}.get(key, {})
    return names.get(value, value)
