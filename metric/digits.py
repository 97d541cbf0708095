"""Numbers written in digits, in Indian and Western grouping."""

import re
from typing import Final

from .tokens import MAX_RUN

_COMMAS = re.compile(r"[0-9]{1,3}(?:,[0-9]{2,3}){0,3},[0-9]{3}")
_ASCII_MARKS = str.maketrans({"．": ".", "，": ",", "’": ",", "'": ",", "_": ","})
_POWER = re.compile(r"(?:[eE]|10\s?(?:\^|\*\*)\s?\{?)([+-]?\d{1,2})\}?$")
_MAX_DIGITS: Final = 15


def read_digits(run: str) -> float:
    """Return the number that a run of digits and grouping marks stands for.

    Indian and Western grouping, with dots as well as commas (12,00,000; 1,200,000; 12.00.000), one
    decimal point (12.5; 12,00,000.50), a digit too many in the last group (1,50,0000), powers of ten
    (1e6). NaN where the groups make no number (12,5; 1.2.3); infinite beyond 15 digits, which no
    amount reaches, so that no long digit string is ever converted.
    """
    if run.isascii() and run.isdigit() and len(run) <= _MAX_DIGITS:
        return float(run)
    if len(run) > MAX_RUN:
        return float("inf")
    if _COMMAS.fullmatch(run):
        return float(run.replace(",", ""))
    mantissa, power = _split_power(run.translate(_ASCII_MARKS))
    whole, fraction = _split_fraction(mantissa)
    if not (whole + fraction).isdecimal():  # no number, or a power of a power: "1e6 x 10^5"
        return float("nan")
    if len(whole) > _MAX_DIGITS:
        return float("inf")
    return float(f"{whole}.{fraction or 0}e{power}")


def _split_power(run: str) -> tuple[str, int]:
    if run.replace(",", "").replace(".", "").isdigit():
        return run, 0
    found = _POWER.search(run)
    if found is None:
        return run, 0
    mantissa = run[: found.start()].rstrip(" x×*\\times")
    return mantissa, int(found.group(1))


def _split_fraction(run: str) -> tuple[str, str]:
    """Return the whole digits and the decimals; no whole digits where the groups make no number."""
    marks = [mark for mark in run if mark in ".,"]
    if not marks:
        return run, ""
    last = marks[-1]
    if marks.count(last) == 1 and (last == "." or len(marks) > 2):
        whole, _, fraction = run.rpartition(last)
        if len(marks) > 1:
            return ungrouped(whole.replace(marks[0], ",")) if marks[0] != last else "", fraction
        return whole, fraction
    if len(set(marks)) > 1 or (last == "." and len(run.rpartition(".")[2]) != 3):
        return "", ""  # mixed marks, a date, a version
    return ungrouped(run.replace(".", ",")), ""


def ungrouped(run: str) -> str:
    """Join digit groups; "" where they are not grouped as an amount is."""
    head, *rest = run.split(",")
    if not rest:
        return head
    *middle, tail = rest
    fits = 1 <= len(head) <= 3 and all(len(group) in (2, 3) for group in middle)
    # 1,50,0000 has a digit too many in its last group: a slip that leaves the amount plain.
    if fits and (len(tail) == 3 or (len(tail) == 4 and middle)):
        return head + "".join(rest)
    return ""
