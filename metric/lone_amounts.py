"""Answers that are one amount and nothing else, read at a glance: "### 12,00,000 INR", "**12.5%**", "12 LPA".

The full grammar (`amounts.py`, `candidates.py`) reads all of them alike, fifty times slower; what it reads
otherwise, or with a second thought, matches nothing here.
"""

import re
from functools import cache
from typing import Final

from .statuses import Question

LONGEST: Final = 40
"""Such an answer has at most this many characters."""
_WHOLE: Final = r"([1-9][0-9]{0,2}(?:,[0-9]{2,3}){0,3},[0-9]{3}|[1-9][0-9]{3,9})"
_SMALL: Final = r"([1-9][0-9]{0,2}(?:\.[0-9]{1,2})?)"
_SHARE: Final = r"((?:0|[1-9][0-9]{0,2})(?:\.[0-9]{1,2})?)"
_RUPEES: Final = rf"(?:₹ ?|Rs\.? ?|INR )?{_WHOLE}(?:/-| ?INR| rupees)?"
_PLACEHOLDER: Final = "999999"


def _pattern(amount: str) -> re.Pattern[str]:
    return re.compile(rf"(?:### )?(\*\*|`|)(?:{amount})\1\.?")


@cache
def _patterns(percent: bool, annual: bool) -> tuple[tuple[re.Pattern[str], float], ...]:
    """Return patterns whose second group is a number, and what it counts in rupees or percent."""
    if percent:
        return ((_pattern(rf"{_SHARE} ?(?:%|percent|per cent)"), 1.0),)
    thousands = (_pattern(rf"(?:₹ ?|Rs\.? ?|INR )?{_SMALL} ?[kK](?: INR)?"), 1e3)
    lakhs = (_pattern(rf"(?:₹ ?|Rs\.? ?|INR )?{_SMALL} ?(?:LPA|[Ll]akhs?)"), 1e5)
    return (_pattern(_RUPEES), 1.0), lakhs if annual else thousands


def read_lone_amount(text: str, question: Question) -> float | None:
    """Return the amount in INR or percent that `text` is, None where a closer look is needed.

    The text must have ended by itself. An amount outside the plausible bounds gets a closer look too.
    """
    if len(text) > LONGEST:
        return None
    text = text.strip()
    for pattern, unit in _patterns(question.percent, question.annual):
        found = pattern.fullmatch(text)
        if found is not None and found[2] != _PLACEHOLDER:
            value = round(float(found[2].replace(",", "")) * unit, 4)
            return value if value in question.bounds else None
    return None
