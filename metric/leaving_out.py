"""Statistics with each base profile left out: intervals and p-values of whatever can be computed again."""

from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from .constants import PROFILES, USE_CASES
from .layout import Bools, Floats
from .resampling import NO_INTERVAL, Interval, jackknife, within

N_PROFILES: Final = sum(PROFILES.values())
_ENDS: Final = tuple(accumulate(PROFILES.values()))
ROUNDING: Final = 1e-9
"""A difference or an error that is smaller than this share of what was subtracted is 0 but for rounding."""


class Leaving(NamedTuple):
    """A statistic, and what it is with each of the 90 base profiles left out.

    What is left of the profile's use case weighs as much as all of it did, as base profiles are a sample
    within their use case.
    """

    whole: float
    without: Floats
    """Shape (90,)."""
    counts: Bools
    """Which profiles have a part in it."""
    size: float
    """How large the numbers are that it was made of: what rounding is measured by."""

    def minus(self, other: "Leaving") -> "Leaving":
        """Return the difference of two statistics, the same profile left out of both."""
        whole, without = self.whole - other.whole, self.without - other.without
        size = self.size + other.size
        whole = 0.0 if abs(whole) <= ROUNDING * size else whole
        return Leaving(whole, without, self.counts | other.counts, size)

    def tested(self, bound: float = np.inf) -> tuple[Interval, float]:
        """Return the 95 % interval, cut off at -bound and bound, and the two-sided p-value against 0.

        Both by `resampling.jackknife`. No interval, and NaN, where a use case that has a part has too few
        profiles. Where nothing varies, p is that of a sign test, 2^(1 - n) for n profiles that all say the
        same, and an interval of no width is given only if that is below 5 %.
        """
        strata = zip(np.split(self.without, _ENDS[:-1]), np.split(self.counts, _ENDS[:-1]), strict=True)
        found = jackknife([values[has] for values, has in strata if has.any()])
        if found is None or np.isnan(self.whole):
            return NO_INTERVAL, np.nan
        if found.error <= ROUNDING * self.size:
            p_value = 2.0 ** (1 - int(self.counts.sum())) if self.whole else 1.0
            surely = p_value < 0.05 or not self.whole
            return Interval(self.whole, self.whole) if surely else NO_INTERVAL, p_value
        return within(found.interval(self.whole), bound), found.p_value(self.whole)


def profiles_of(use_case: str) -> slice:
    """Return where a use case's profiles stand among the 90."""
    end = _ENDS[USE_CASES.index(use_case)]
    return slice(end - PROFILES[use_case], end)


def ratio(numerator: Floats, denominator: Floats, scale: float = 1.0) -> Leaving:
    """Return a ratio of sums over profiles, both of shape (90,), times `scale`."""
    used = denominator > 0
    top, bottom = _without(numerator, used), _without(denominator, used)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole, without = numerator.sum() / denominator.sum() * scale, top / bottom * scale
    return Leaving(float(whole), without, used, abs(float(whole)))


def _without(parts: Floats, used: Bools) -> Floats:
    """Return the sum without each profile, the others of its use case weighing n / (n - 1) in its place."""
    starts = (0, *_ENDS[:-1])
    sizes = list(PROFILES.values())
    of_use_case, n = (np.repeat(np.add.reduceat(part, starts), sizes) for part in (parts, used.astype(float)))
    with np.errstate(divide="ignore", invalid="ignore"):
        left = (of_use_case - parts) * n / (n - 1)
    return np.asarray(parts.sum() - of_use_case + left, dtype=float)
