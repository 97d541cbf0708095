"""The law of a resampled mean: a normal variable, bent by skewness and kurtosis (Cornish-Fisher).

Source: Hall 1992, section 2.5.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from .layout import Floats
from .resampling import LEVEL, Interval, quantile_place
from .special import normal_quantiles

Ends: TypeAlias = tuple[float, float]
"""Low and high end of an interval."""


class MeanLaw(NamedTuple):
    """How a resampled mean is distributed.

    With z standard normal, s the skewness and k the kurtosis, the mean is
    mean + deviation (z + s/6 (z^2 - 1) + k/24 (z^3 - 3z) - s^2/36 (2z^3 - 5z)).
    """

    mean: float
    deviation: float
    """Standard deviation of the mean."""
    skewness: float
    """Skewness of the mean: that of a single value falls with the root of the draws."""
    kurtosis: float
    """Excess kurtosis of the mean: that of a single value falls with the number of draws."""

    def minus(self, other: "MeanLaw") -> "MeanLaw":
        """Return the law of the difference of two independent means."""
        return combined([self, other], [1.0, -1.0])

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Return n draws of the mean."""
        return np.asarray(bent([self], rng.standard_normal((1, n)))[0])

    def percentile_interval(self, n: int, rng: np.random.Generator) -> Interval:
        """Return the 95 % percentile interval of n draws, of which only those at its ends are made."""
        return Interval(*self.ends(ranked_normals(1, n, rng)[0].tolist(), n))

    def ends(self, ranked: Sequence[float], n: int) -> Ends:
        """Return the ends of an interval of n draws from a row of `ranked_normals`: the mean rises with z."""
        constant, linear, square, cube = self.coefficients
        means = [((cube * z + square) * z + linear) * z + constant for z in ranked]
        low, high = (means[at] + part * (means[at + 1] - means[at]) for at, part in _ranks(n)[1])
        return low, high

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """Return the factors of 1, z, z^2 and z^3."""
        mean, deviation, skewness, kurtosis = self
        skewed, peaked, twice = (
            deviation * skewness / 6,
            deviation * kurtosis / 24,
            deviation * skewness**2 / 36,
        )
        return mean - skewed, deviation - 3 * peaked + 5 * twice, skewed, peaked - 2 * twice


def combined(laws: Sequence[MeanLaw], weights: Sequence[float]) -> MeanLaw:
    """Return the law of a weighted sum of independent means: weighted cumulants add."""
    means, deviations, skewness, kurtosis = np.array(laws).T
    spread = np.array(weights) * deviations
    mean, variance = float(np.dot(weights, means)), float((spread**2).sum())
    if not variance:
        return MeanLaw(mean, 0.0, 0.0, 0.0)
    third, fourth = float((skewness * spread**3).sum()), float((kurtosis * spread**4).sum())
    return MeanLaw(mean, variance**0.5, third / variance**1.5, fourth / variance**2)


def bent(laws: Sequence[MeanLaw], normals: Floats) -> Floats:
    """Return draws of each mean from draws of a standard normal variable, shape (laws, n)."""
    factors = np.array([law.coefficients for law in laws])
    constant, linear, square, cube = factors.T[:, :, None]
    drawn = normals * cube
    for factor in (square, linear):
        drawn += factor
        drawn *= normals
    drawn += constant
    return np.asarray(drawn, dtype=float)


def ranked_normals(n_rows: int, n: int, rng: np.random.Generator) -> Floats:
    """Return those among n ranked standard normal draws that the ends of an interval lie between.

    Shape (n_rows, ranks), each row from n draws of its own. The ranked values of n uniform draws are sums of
    exponential variables over the sum of all n + 1 of them; none but the few needed is made.
    """
    sums = np.cumsum(rng.standard_gamma(_ranks(n)[0], (n_rows, len(_ranks(n)[0]))), axis=1)
    return normal_quantiles(sums[:, :-1] / sums[:, -1:])


@cache
def _ranks(n: int) -> tuple[list[int], list[tuple[int, float]]]:
    """Return how many exponential variables lie between the ranks needed, and where among these the ends."""
    places = [quantile_place(share, n) for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)]
    ranks = sorted({rank for below, _ in places for rank in (below, below + 1)})
    gaps = [later - before for before, later in pairwise([-1, *ranks, n])]
    return gaps, [(ranks.index(below), part) for below, part in places]
