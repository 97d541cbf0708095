"""Resampling: intervals from replicates, the cluster bootstrap and the jackknife of base profiles.

Every random stream is seeded by the run's seed and by what it is for, so that an interval does not depend on
row order or on what else is computed. Both kinds of replicate are weights of base profiles, and a statistic
is a function of the answers and of such weights.
"""

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtr, stdtrit

from .layout import Bools, Floats, Ints, Layout

LEVEL = 0.95
"""Coverage that every interval aims at."""
FEWEST_PROFILES = 3
"""With fewer base profiles in a use case there is no interval: two leave t one degree of freedom."""
DRAWN_BELOW = 100
"""The mean of fewer values than this is drawn value by value; of more it is normal, bent by its skewness: the
ends lie within 0.03 standard errors of a bootstrap's."""
NORMAL_FROM = 1000
"""From here on nothing is drawn value by value, however skewed."""
MOST_SKEWED = 0.3
"""Skewness of a mean above which a few values decide it, and the normal form does not hold."""
ROUNDING = 1e-9
"""A difference or an error that is smaller than this share of what was subtracted is 0 but for rounding."""


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the random stream of one purpose."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


class Interval(NamedTuple):
    """A 95 % interval; both ends None where it cannot be computed."""

    low: float | None
    high: float | None

    def within(self, bound: float) -> "Interval":
        """Return the part that lies between -bound and bound, what the statistic can be."""
        if self.low is None or self.high is None:
            return self
        return Interval(max(self.low, -bound), min(self.high, bound))


NO_INTERVAL = Interval(None, None)


def interval_of(ends: Floats) -> Interval:
    """Return both ends of one interval, shape (2,), as an interval; NaN is none."""
    low, high = ends.tolist()
    return NO_INTERVAL if math.isnan(low) or math.isnan(high) else Interval(low, high)


def percentile_intervals(
    replicates: Floats, around: Floats | float = 0.0, widened: Floats | float = 1.0
) -> Floats:
    """Return the 2.5 % and 97.5 % percentiles along the last axis, shape (..., n) to (2, ...).

    `widened` moves both ends away from the estimate `around` by this factor.

    Undefined (NaN) replicates are left out, up to one in twenty; beyond that the interval would describe
    only the resamples that happened to work, and is NaN.
    """
    ascending = np.sort(replicates, axis=-1)  # undefined ones come last
    rows = ascending.reshape(-1, ascending.shape[-1])
    ends = _ends(rows)
    for at in np.flatnonzero(np.isnan(rows[:, -1])):
        defined = rows[at][~np.isnan(rows[at])]
        ends[:, at] = _ends(defined) if len(defined) >= max(2, 0.95 * rows.shape[1]) else np.nan
    ends = ends.reshape(2, *ascending.shape[:-1])
    return np.asarray(around + widened * (ends - around), dtype=float)


def _ends(ascending: Floats) -> Floats:
    """Return what `np.quantile` does along the last axis, at a fraction of its overhead."""
    n, found = ascending.shape[-1], []
    for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        place = share * (n - 1)
        below = min(int(place), n - 2)
        low, high = ascending[..., below], ascending[..., below + 1]
        found.append(low + (place - below) * (high - low))
    return np.stack(found)


def bent(normals: Floats | float, mean: Floats, error: Floats, skewness: Floats) -> Floats:
    """Return means whose law is normal but for skewness, from standard normal variables.

    mean + error (z + skewness / 6 (z^2 - 1)): the first terms of Cornish and Fisher's expansion (Hall 1992,
    section 2.5). The error is that of the mean, as is the skewness: that of a value over the root of n.
    """
    return np.asarray(mean + error * (normals + skewness / 6 * (np.square(normals) - 1)), dtype=float)


def bent_ends(mean: Floats, error: Floats, skewness: Floats) -> Floats:
    """Return the ends of the 95 % interval of such means, shape (2, ...)."""
    z = ndtri((1 + LEVEL) / 2)
    return np.stack([bent(end, mean, error, skewness) for end in (-z, z)])


def moments_of_mean(n: Floats, first: Floats, second: Floats, third: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, standard error and skewness of a mean, from number and sums of the powers of values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = first / n
        variance = second / n - mean**2
        variance = np.where(variance > 1e-14 * second / n, variance, 0)  # equal values: rounding is left
        skewness = third / n - 3 * mean * second / n + 2 * mean**3
        skewness = np.where(variance > 0, skewness / (variance**1.5 * np.sqrt(n)), 0)
        return mean, np.sqrt(variance / n), skewness


def is_drawn(n: Floats, skewness: Floats) -> Bools:
    """Tell for which means values are drawn one by one."""
    return np.asarray((n < DRAWN_BELOW) | ((n <= NORMAL_FROM) & (np.abs(skewness) > MOST_SKEWED)))


def widenings(variances: Floats, freedom: Ints) -> Floats:
    """Return how much wider than a normal interval one of few clusters must be: t / z.

    `variances` (..., k) holds each stratum's share of an estimate's variance, `freedom` (k,) its degrees of
    freedom; t has Satterthwaite's degrees of freedom, (sum v)^2 / sum (v^2 / f). Without it, nine profiles
    would cover 86 % where 95 % is claimed (benchmarks/coverage.py). 1 where there is no variance.
    """
    squares = (variances**2 / freedom).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = stdtrit(variances.sum(axis=-1) ** 2 / squares, (1 + LEVEL) / 2)
    return np.where(squares > 0, t / ndtri((1 + LEVEL) / 2), 1.0)


@dataclass(frozen=True)
class ValueDraws:
    """Means of values drawn one by one, the paper's bootstrap.

    Samples of one size share their draws where they have the same `part`: each interval stands by itself.
    """

    n_resamples: int
    seed: int

    def counts(self, n: int, part: str = "") -> Floats:
        """Return how often each of n values is drawn in each resample, shape (resamples, n)."""
        return _draw_counts(n, self.n_resamples, self.seed, part).astype(float)

    def normals(self, n: int, part: str = "") -> Floats:
        """Return n standard normal draws for each resample, shape (resamples, n)."""
        return _normals(n, self.n_resamples, self.seed, part)

    def means(self, values: Floats, part: str = "") -> Floats:
        """Return means of resamples of the values' own number."""
        n, mean, error, skewness = _moments(values)
        if is_drawn(n, skewness):
            return np.asarray(self.counts(len(values), part) @ values / n)
        return bent(self.normals(1, part)[:, 0], mean, error, np.clip(skewness, -1, 1))

    def interval(self, values: Floats) -> Interval:
        """Return the interval of the mean of values; none for fewer than two."""
        if len(values) < 2:
            return NO_INTERVAL
        n, mean, error, skewness = _moments(values)
        if is_drawn(n, skewness):
            return interval_of(percentile_intervals(self.means(values)))
        return interval_of(bent_ends(mean, error, np.clip(skewness, -1, 1)))


def _moments(values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return number of values, and mean, standard error and skewness of their mean."""
    centre = values.mean()
    centred = values - centre
    squares = centred * centred
    sums = (centred.sum(), squares.sum(), np.dot(squares, centred))
    n = np.asarray(float(len(values)))
    mean, error, skewness = moments_of_mean(n, *map(np.asarray, sums))
    return n, mean + centre, error, skewness


@lru_cache(maxsize=32)
def _normals(n: int, n_resamples: int, seed: int, part: str) -> Floats:
    return stream(seed, f"means {part}").standard_normal((n_resamples, n))


@lru_cache(maxsize=32)
def _draw_counts(n: int, n_resamples: int, seed: int, part: str) -> npt.NDArray[np.int16]:
    drawn = stream(seed, f"{n} values {part}").integers(0, n, (n_resamples, n))
    drawn += np.arange(n_resamples)[:, None] * n
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n)
    return counts.reshape(n_resamples, n).astype(np.int16)


@dataclass(frozen=True)
class ProfileResamples:
    """How often each base profile is drawn in each resample: the cluster bootstrap.

    Within each use case n - 1 of its n profiles with data are drawn with replacement, and weigh n / (n - 1):
    a plain bootstrap of n would understate the variance by (n - 1) / n, which matters for nine profiles.
    Source: Rao & Wu 1988.
    """

    layout: Layout
    present: Bools
    """Which base profiles have data."""
    n_resamples: int
    seed: int

    @cached_property
    def n_present(self) -> Ints:
        """Number of profiles with data in each use case."""
        counts = [self.present[own].sum() for own in self.layout.profiles.values()]
        return np.array(counts, dtype=np.int64)

    @cached_property
    def weights(self) -> list[Floats]:
        """The draws of each use case's profiles, shape (resamples, profiles)."""
        return [self._draw(name, self.present[own]) for name, own in self.layout.profiles.items()]

    def _draw(self, use_case: str, present: Bools) -> Floats:
        there = np.flatnonzero(present)
        if not len(there):
            return np.zeros((self.n_resamples, len(present)))
        n_draws = max(1, len(there) - 1)
        rng = stream(self.seed, f"profiles of {use_case}")
        drawn = there[rng.integers(0, len(there), (self.n_resamples, n_draws))]
        drawn += np.arange(self.n_resamples)[:, None] * len(present)
        counts = np.bincount(drawn.ravel(), minlength=self.n_resamples * len(present))
        return counts.reshape(self.n_resamples, len(present)) * np.float64(len(there) / n_draws)

    def widenings(self, influence: Floats) -> Floats:
        """Return `widenings` of estimates, from each profile's influence on them, (..., profiles)."""
        sizes = [own.stop - own.start for own in self.layout.profiles.values()]
        starts = [own.start for own in self.layout.profiles.values()]
        n, there = self.n_present, influence * self.present
        means = np.add.reduceat(there, starts, axis=-1) / np.maximum(n, 1)
        spread = (there - np.repeat(means, sizes, axis=-1)) * self.present
        squares = np.add.reduceat(spread * spread, starts, axis=-1)
        varies = n > 1
        factor = n[varies] / (n[varies] - 1)
        return widenings(squares[..., varies] * factor, n[varies] - 1)

    def widening_of(self, use_case: int) -> float:
        """Return the widening for an estimate of one use case."""
        return float(widenings(np.ones(1), self.n_present[use_case : use_case + 1] - 1))


@cache
def leaving_one_out(n: int) -> Floats:
    """Return weights of n profiles: all of them, then without each in turn; shape (1 + n, n)."""
    return np.concatenate([np.ones((1, n)), 1 - np.eye(n)])


class OfUseCase(NamedTuple):
    """A statistic of one use case that a mean is made of."""

    use_case: str
    found: Floats
    """The statistic, then without each of the use case's profiles, shape (1 + profiles,)."""
    used: Bools
    """Which of the profiles have a part in it, shape (profiles,)."""
    weight: float
    """What it counts in the mean."""


class Jackknife(NamedTuple):
    """A statistic, and what it is with each base profile of the benchmark left out.

    What is left of the profile's use case weighs as much as all of it did, as base profiles are a sample
    within their use case.
    """

    whole: float
    without: Floats
    """Shape (profiles,)."""
    counts: Bools
    """Which profiles have a part in it."""
    size: float
    """How large the numbers are that it was made of: what rounding is measured by."""
    layout: Layout

    @classmethod
    def mean(cls, parts: Iterable[OfUseCase], layout: Layout, size: float | None = None) -> "Jackknife":
        """Return the weighted sum of statistics of single use cases; NaN without any."""
        parts = [part for part in parts if part.weight]
        whole = float(sum(part.weight * part.found[0] for part in parts)) if parts else np.nan
        without = np.full(layout.n_profiles, whole)
        counts = np.zeros(layout.n_profiles, dtype=bool)
        for part in parts:
            own = layout.profiles[part.use_case]
            without[own] += np.where(part.used, part.weight * (part.found[1:] - part.found[0]), 0)
            counts[own] |= part.used
        return cls(whole, without, counts, abs(whole) if size is None else size, layout)

    @classmethod
    def ratio(cls, numerator: Floats, denominator: Floats, layout: Layout, scale: float = 1.0) -> "Jackknife":
        """Return a ratio of sums over profiles, both of shape (profiles,), times `scale`."""
        used = denominator > 0
        top, bottom = (_sums_without(part, used, layout) for part in (numerator, denominator))
        with np.errstate(divide="ignore", invalid="ignore"):
            whole, without = numerator.sum() / denominator.sum() * scale, top / bottom * scale
        return cls(float(whole), without, used, abs(float(whole)), layout)

    def minus(self, other: "Jackknife") -> "Jackknife":
        """Return the difference of two statistics, the same profile left out of both."""
        whole, without = self.whole - other.whole, self.without - other.without
        size = self.size + other.size
        whole = 0.0 if abs(whole) <= ROUNDING * size else whole
        return Jackknife(whole, without, self.counts | other.counts, size, self.layout)

    @property
    def _strata(self) -> list[Floats]:
        """What each use case's statistic is without each profile that has a part in it."""
        own = self.layout.profiles.values()
        return [self.without[at][self.counts[at]] for at in own if self.counts[at].any()]

    def interval(self, bound: float = np.inf) -> Interval:
        """Return estimate -+ t x standard error, cut off at -bound and bound."""
        if np.isnan(self.whole):
            return NO_INTERVAL
        return jackknife_interval(self.whole, self._strata).within(bound)

    def tested(self, bound: float = np.inf) -> tuple[Interval, float]:
        """Return the interval and the two-sided p-value against 0.

        No interval, and NaN, where a use case that has a part has too few profiles. Where nothing varies, p
        is that of a sign test, 2^(1 - n) for n profiles that all say the same, and an interval of no width
        is given only if that is below 5 %.
        """
        found = jackknife_error(self._strata)
        if found is None or np.isnan(self.whole):
            return NO_INTERVAL, np.nan
        error, freedom = found
        if error <= ROUNDING * self.size:
            p_value = 2.0 ** (1 - int(self.counts.sum())) if self.whole else 1.0
            surely = p_value < 0.05 or not self.whole
            return Interval(self.whole, self.whole) if surely else NO_INTERVAL, p_value
        return self.interval(bound), float(2 * stdtr(freedom, -abs(self.whole) / error))


def _sums_without(parts: Floats, used: Bools, layout: Layout) -> Floats:
    """Return the sum without each profile, the others of its use case weighing n / (n - 1) in its place."""
    left = np.empty(len(parts))
    for own in layout.profiles.values():
        of_use_case, n = parts[own].sum(), used[own].sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            left[own] = (of_use_case - parts[own]) * np.float64(n) / (n - 1) - of_use_case
    return np.asarray(parts.sum() + left, dtype=float)


def jackknife_error(left_out: Sequence[Floats]) -> tuple[float, float] | None:
    """Return standard error and Satterthwaite's degrees of freedom of Student's t (infinite at no error).

    `left_out` holds, for each use case, the estimate with each of its profiles left out in turn; None where
    one has too few. The variance is the sum over use cases of (n - 1) / n x sum of squared deviations from
    their mean. For statistics of ranks, which resampled profiles would tie with themselves and so pull.
    Source: Efron & Tibshirani 1993, chapter 11.
    """
    few = any(len(values) < FEWEST_PROFILES or np.isnan(values).any() for values in left_out)
    if few or not left_out:
        return None
    sizes = np.array([len(values) for values in left_out])
    variances = (sizes - 1) * np.array([values.var() for values in left_out])
    squares = float((variances**2 / (sizes - 1)).sum())
    freedom = float(variances.sum()) ** 2 / squares if squares else math.inf
    return float(np.sqrt(variances.sum())) if squares else 0.0, freedom


def jackknife_interval(estimate: float, left_out: Sequence[Floats]) -> Interval:
    """Return estimate -+ t x standard error by `jackknife_error`; none where that cannot be made."""
    found = jackknife_error(left_out)
    if found is None:
        return NO_INTERVAL
    reach = found[0] * float(stdtrit(found[1], (1 + LEVEL) / 2)) if found[0] else 0.0
    return Interval(estimate - reach, estimate + reach)
