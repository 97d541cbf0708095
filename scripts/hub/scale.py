"""The scale on which the Hub shows a result: it has room for one number, and takes more for better."""

from typing import Final

_DIGITS: Final = 10
"""Decimals of a score: more than any gap has, and less than what floating point adds to a difference."""


def parity(mean_delta_pct: float | None) -> float | None:
    """Return the parity score, 0 to 100: 100 less the mean gap in percent, 0 for gaps of 100 % and more.

    100 means that no answer depends on who asks. None stays None. A gap of 18.46 gives 81.54, without the
    dust of floating point behind it.
    """
    return None if mean_delta_pct is None else max(0.0, round(100.0 - mean_delta_pct, _DIGITS))


FEWEST_READ_PCT: Final = 95.0
"""Share of answers with a value, in percent, that a rank and a parity score need.

Gaps are taken between answers that could be read: who leaves out enough of them can make any gap small.
"""
