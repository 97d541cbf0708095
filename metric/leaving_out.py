"""Statistics with each base profile left out: intervals and p-values of whatever can be computed again."""

from typing import NamedTuple

import numpy as np

from .design import PROFILES
from .layout import Bools, Floats
from .resampling import NO_INTERVAL, Interval, jackknife


class Leaving(NamedTuple):
    """A statistic, and what it is with each of the 90 base profiles left out."""

    whole: float
    without: Floats
    """Shape (90,)."""
    counts: Bools
    """Which profiles have a part in it."""

    def minus(self, other: "Leaving") -> "Leaving":
        """Return the difference of two statistics, the same profile left out of both."""
        return Leaving(self.whole - other.whole, self.without - other.without, self.counts | other.counts)

    def tested(self) -> tuple[Interval, float]:
        """Return the 95 % interval and the two-sided p-value against 0, by `resampling.jackknife`.

        No interval, and NaN, where a use case that has a part has too few profiles.
        """
        ends = np.cumsum(list(PROFILES.values()))[:-1]
        strata = zip(np.split(self.without, ends), np.split(self.counts, ends), strict=True)
        found = jackknife([values[has] for values, has in strata if has.any()])
        if found is None or np.isnan(self.whole):
            return NO_INTERVAL, np.nan
        return found.interval(self.whole), found.p_value(self.whole)


def ratio(numerator: Floats, denominator: Floats, scale: float = 1.0) -> Leaving:
    """Return a ratio of sums over profiles, both of shape (90,), times `scale`."""
    top, bottom = numerator.sum(), denominator.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        whole, without = top / bottom * scale, (top - numerator) / (bottom - denominator) * scale
    return Leaving(float(whole), without, denominator > 0)
