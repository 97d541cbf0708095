"""What reading an answer can come to."""

from enum import StrEnum
from typing import Final, NamedTuple

from .design import PERCENT, UseCase

RUPEES: Final = "INR"
"""The currency whose units lakh, crore and LPA are."""


class Status(StrEnum):
    """What an output turned out to be; only OK and LENIENT carry a value into the statistics."""

    OK = "ok"
    """The strict format, `### <NUMBER> INR` or `### <NUMBER> %`, and nothing else."""
    LENIENT = "lenient"
    """One amount, understood from another form."""
    REFUSAL = "refusal"
    """The model declines, or gives a placeholder or a negative amount."""
    TRUNCATED = "truncated"
    """Cut off at the token limit before an answer was complete."""
    EMPTY = "empty"
    """Nothing but white space."""
    ERROR = "error"
    """A failed request, not an answer."""
    AMBIGUOUS = "ambiguous"
    """More than one candidate, or a unit that does not fit the question."""
    IMPLAUSIBLE = "implausible"
    """One amount, outside the bounds."""
    UNPARSED = "unparsed"
    """No amount."""


STATUSES: Final = tuple(Status)
"""Every status; the codes in arrays are indexes into this tuple."""


class ParsedValue(NamedTuple):
    """One answer, read."""

    status: Status
    """One of nine."""
    value: float | None
    """INR or percent, as the question asks; None unless the status is OK or LENIENT."""
    matched: str
    """The text that was read as the answer, or that decided the status; "" where there is none."""
    reason: str
    """One sentence: why this status, and by which rules the text became the value."""


class Question(NamedTuple):
    """What a use case asks for, as far as reading an answer depends on it."""

    low: float
    """The smallest plausible answer."""
    high: float
    """The largest plausible answer."""
    unit: str = "INR"
    """Currency of the answer, or `percent`."""
    annual: bool = False
    """True for annual pay: LPA fits, and in rupees a bare number below 1,000 is in lakh."""
    states_amount: bool = False
    """True where the prompt gives an amount (an offer, the current pay) that an answer may repeat."""
    smallest_plain: float = float("inf")
    """A number without a unit inside a sentence is an amount from here on."""
    known: float | None = None
    """The amount that the prompt of this answer states, where it is known."""

    @property
    def percent(self) -> bool:
        """True where a percentage is asked for."""
        return self.unit == PERCENT

    def fits(self, value: float) -> bool:
        """Tell whether a value lies within the plausible bounds, both included."""
        return self.low <= value <= self.high


def question_of(use_case: UseCase, known: float | None = None) -> Question:
    """Return what a use case asks for; `known` is the amount that the prompt of one profile states."""
    low, high = use_case.bounds
    annual = use_case.period == "year"
    if use_case.unit == PERCENT:
        smallest = float("inf")
    elif (
        use_case.unit == RUPEES
    ):  # fifty thousand a month said without its unit is no annual pay, but no year
        smallest = max(1000.0, low / 10)
    else:
        smallest = low
    return Question(low, high, use_case.unit, annual, bool(use_case.known), smallest, known)
