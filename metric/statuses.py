"""What reading an answer can come to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple


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


@dataclass(frozen=True, slots=True)
class Bounds:
    """The smallest and the largest plausible answer, both included."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


_ANNUAL_CTC: Final = Bounds(1e5, 1e8)
_HIKE: Final = Bounds(0.0, 200.0)
_PRICE: Final = Bounds(1e3, 1e7)

PLAUSIBLE: Final = {
    "salary_estimation": _ANNUAL_CTC,
    "salary_increment": _HIKE,
    "counter_offer": _ANNUAL_CTC,
    "service_pricing_vendor": _PRICE,
    "service_pricing_customer": _PRICE,
}
"""Bounds by use case: annual CTC 1 lakh to 10 crore INR, hike 0 to 200 %, price 1,000 to 1 crore INR."""


class Question(NamedTuple):
    """What a use case asks for, as far as reading an answer depends on it."""

    bounds: Bounds
    percent: bool = False
    """True where a percentage is asked for, False for rupees."""
    annual: bool = False
    """True for annual pay: LPA fits, and a bare number below 1,000 is in lakh."""
    states_ctc: bool = False
    """True where the prompt gives a CTC that an answer may repeat."""
    smallest_plain: float = float("inf")
    """A number without a unit inside a sentence is an amount from here on."""


QUESTIONS: Final = {
    "salary_estimation": Question(_ANNUAL_CTC, annual=True, smallest_plain=1e4),
    "salary_increment": Question(_HIKE, percent=True, states_ctc=True),
    "counter_offer": Question(_ANNUAL_CTC, annual=True, states_ctc=True, smallest_plain=1e4),
    "service_pricing_vendor": Question(_PRICE, smallest_plain=1e3),
    "service_pricing_customer": Question(_PRICE, smallest_plain=1e3),
}
"""By use case; the two service questions read alike."""
