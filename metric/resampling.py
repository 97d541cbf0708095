"""Resampling: intervals from replicates, and the cluster bootstrap of base profiles.

Every random stream is seeded by the run's seed and by what it is for, so that an interval does not
depend on row order or on what else is computed.
"""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .constants import PROFILES, USE_CASES
from .layout import Bools, Floats, Ints
from .special import normal_quantile, student_t, student_t_quantile

LEVEL = 0.95
"""Coverage that every interval aims at."""
FEWEST_PROFILES = 3
"""With fewer base profiles in a use case there is no interval: two leave t one degree of freedom."""


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the random stream of one purpose."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


class Interval(NamedTuple):
    """A 95 % interval; both ends None where it cannot be computed."""

    low: float | None
    high: float | None


NO_INTERVAL = Interval(None, None)


def interval_of(ends: Floats) -> Interval:
    """Return both ends of one interval, shape (2,), as an interval; NaN is none."""
    low, high = ends.tolist()
    return NO_INTERVAL if math.isnan(low) or math.isnan(high) else Interval(low, high)


def within(interval: Interval, bound: float) -> Interval:
    """Return the part of an interval that lies between -bound and bound, what the statistic can be."""
    if interval.low is None or interval.high is None:
        return NO_INTERVAL
    return Interval(max(interval.low, -bound), min(interval.high, bound))


def percentile_interval(replicates: Floats) -> Interval:
    """Return what `percentile_intervals` does for the replicates of one statistic."""
    return interval_of(percentile_intervals(replicates))


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
    places = (quantile_place((1 + side * LEVEL) / 2, ascending.shape[-1]) for side in (-1, 1))
    pairs = ((ascending[..., below], ascending[..., below + 1], part) for below, part in places)
    return np.stack([low + part * (high - low) for low, high, part in pairs])


def quantile_place(share: float, n: int) -> tuple[int, float]:
    """Return where `np.quantile` looks among n ascending values: after which one (from 0), and how far on."""
    place = share * (n - 1)
    below = min(int(place), n - 2)
    return below, place - below


def widenings(variances: Floats, freedom: Ints) -> Floats:
    """Return how much wider than a normal interval one of few clusters must be: t / z.

    `variances` (..., k) holds each stratum's share of an estimate's variance, `freedom` (k,) its degrees of
    freedom; t has Satterthwaite's degrees of freedom, (sum v)^2 / sum (v^2 / f). Without it, nine profiles
    would cover 86 % where 95 % is claimed (benchmarks/coverage.py). 1 where there is no variance.
    """
    squares = (variances**2 / freedom).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = student_t_quantile(variances.sum(axis=-1) ** 2 / squares, (1 + LEVEL) / 2)
    return np.where(squares > 0, t / normal_quantile((1 + LEVEL) / 2), 1.0)


class Jackknife(NamedTuple):
    """How uncertain an estimate is, from leaving out one base profile at a time."""

    error: float
    """Standard error."""
    freedom: float
    """Satterthwaite's degrees of freedom of Student's t; infinite where the error is 0."""

    def interval(self, estimate: float) -> Interval:
        """Return estimate -+ t x standard error."""
        if not self.error:
            return Interval(estimate, estimate)
        reach = self.error * float(student_t_quantile(np.array(self.freedom), (1 + LEVEL) / 2))
        return Interval(estimate - reach, estimate + reach)

    def p_value(self, estimate: float) -> float:
        """Return the two-sided p-value of an estimate against 0; 0 where only the error is 0."""
        if not self.error:
            return float(estimate == 0)
        return 2 * student_t(self.freedom, -abs(estimate) / self.error)


def jackknife(left_out: Sequence[Floats]) -> Jackknife | None:
    """Return the delete-one-profile jackknife; None where a stratum has too few profiles.

    `left_out` holds, for each use case, the estimate with each of its profiles left out in turn. The
    variance is the sum over strata of (n - 1) / n x sum of squared deviations from their mean. For statistics
    of ranks, which resampled profiles would tie with themselves and so pull. Source: Efron & Tibshirani 1993,
    chapter 11.
    """
    few = any(len(values) < FEWEST_PROFILES or np.isnan(values).any() for values in left_out)
    if few or not left_out:
        return None
    sizes = np.array([len(values) for values in left_out])
    spread = np.array([((values - values.mean()) ** 2).sum() for values in left_out])
    variances = (sizes - 1) / sizes * spread
    squares = float((variances**2 / (sizes - 1)).sum())
    freedom = float(variances.sum()) ** 2 / squares if squares else math.inf
    return Jackknife(float(np.sqrt(variances.sum())) if squares else 0.0, freedom)


def jackknife_interval(estimate: float, left_out: Sequence[Floats]) -> Interval:
    """Return the interval of an estimate by `jackknife`; none where that cannot be made."""
    found = jackknife(left_out)
    return found.interval(estimate) if found else NO_INTERVAL


@dataclass(frozen=True)
class ProfileResamples:
    """How often each base profile is drawn in each resample: the cluster bootstrap.

    Within each use case n - 1 of its n profiles with data are drawn with replacement, and weigh n / (n - 1):
    a plain bootstrap of n would understate the variance by (n - 1) / n, which matters for nine profiles.
    Source: Rao & Wu 1988.
    """

    present: Bools
    """Which of the 90 base profiles have data."""
    n_resamples: int
    seed: int

    @property
    def n_use_cases(self) -> int:
        """Number of use cases."""
        return len(USE_CASES)

    def slice_of(self, use_case: int) -> slice:
        """Return a use case's profiles among the 90."""
        start = sum(list(PROFILES.values())[:use_case])
        return slice(start, start + PROFILES[USE_CASES[use_case]])

    @cached_property
    def n_present(self) -> Ints:
        """Number of profiles with data in each use case."""
        counts = [self.present[self.slice_of(at)].sum() for at in range(self.n_use_cases)]
        return np.array(counts, dtype=np.int64)

    def weights(self, use_case: int) -> Floats:
        """Return the draws of one use case's profiles, shape (resamples, profiles)."""
        return self._weights[use_case]

    @cached_property
    def _weights(self) -> list[Floats]:
        return [self._draw(at) for at in range(self.n_use_cases)]

    def _draw(self, use_case: int) -> Floats:
        present = np.flatnonzero(self.present[self.slice_of(use_case)])
        n_profiles = PROFILES[USE_CASES[use_case]]
        if not len(present):
            return np.zeros((self.n_resamples, n_profiles))
        n_draws = max(1, len(present) - 1)
        rng = stream(self.seed, f"profiles of {USE_CASES[use_case]}")
        drawn = present[rng.integers(0, len(present), (self.n_resamples, n_draws))]
        drawn += np.arange(self.n_resamples)[:, None] * n_profiles
        counts = np.bincount(drawn.ravel(), minlength=self.n_resamples * n_profiles)
        return counts.reshape(self.n_resamples, n_profiles) * np.float64(len(present) / n_draws)

    def widenings(self, influence: Floats) -> Floats:
        """Return `widenings` of estimates, from the influence of each profile on them, shape (..., 90)."""
        n = self.n_present
        there = influence * self.present
        means = np.add.reduceat(there, self._starts, axis=-1) / np.maximum(n, 1)
        spread = (there - np.repeat(means, list(PROFILES.values()), axis=-1)) * self.present
        squares = np.add.reduceat(spread * spread, self._starts, axis=-1)
        varies = n > 1
        factor = n[varies] / (n[varies] - 1)
        return widenings(squares[..., varies] * factor, n[varies] - 1)

    @cached_property
    def _starts(self) -> Ints:
        """Where each use case's profiles begin."""
        return np.cumsum([0, *list(PROFILES.values())[:-1]])

    def widening_of(self, use_case: int) -> float:
        """Return the widening for an estimate of one use case."""
        return float(widenings(np.ones(1), self.n_present[use_case : use_case + 1] - 1))
