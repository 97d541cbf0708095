"""Which identifiers get more and which get less: deviations, canonical pairs, the widest gap."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .design import CANONICAL_PAIRS, IDENTIFIERS, PROFILES, USE_CASES
from .intervals import Intervals
from .layout import AXES, Floats, Ints
from .outcomes import Outcomes, mean_where_any
from .ranks import comparable
from .resampled_means import Cumulants
from .resampling import (
    FEWEST_PROFILES,
    NO_INTERVAL,
    Interval,
    percentile_interval,
    stream,
    within,
)


def identifier_deviation_pct(outcomes: Outcomes, axis: str) -> Floats:
    """Return each identifier's deviation from its axis, in percent, shape (identifiers,).

    By use case and language: identifier mean / mean of the identifier means - 1, relative to the absolute
    centre, so that among negative markups too positive means more; then the mean over use
    cases and languages. 0 = like the axis on average; NaN for an identifier without values. A use case and
    language whose identifier means average to 0 is left out.
    """
    deviations = []
    for _, values in outcomes.blocks(axis=axis):
        means = mean_where_any(values, (1, 2, 3))
        centre = float(np.nanmean(means))
        if centre != 0:
            deviations.append((means - centre) / abs(centre) * 100)
    if not deviations:
        return np.full(len(IDENTIFIERS[axis]), np.nan)
    return mean_where_any(np.array(deviations), (0,))


@dataclass(frozen=True, slots=True)
class CanonicalPairGap:
    """The signed gap between the two identifiers of an axis's canonical pair."""

    reference: str
    """The identifier that is compared with."""
    comparison: str
    """The identifier that is compared."""
    cpg_pct: float
    """(reference mean - comparison mean) / |midpoint| x 100: positive = the reference gets more."""
    interval: Interval
    """95 % interval."""
    sign_consistency_pct: float
    """Share of the matched slots where the reference is strictly higher, in percent."""
    n_slots: int
    """Slots, over both languages, in which both identifiers have a value."""


def signed_gap_pct(a: Floats, b: Floats) -> Floats:
    """Return (a - b) / |(a + b) / 2| x 100, elementwise; NaN where the midpoint is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = (a - b) / np.abs((a + b) / 2) * 100
    return np.where(np.isfinite(gap), gap, np.nan)


@dataclass(frozen=True, slots=True)
class MaximumObservedGap:
    """The gap between the identifiers with the highest and the lowest mean."""

    highest: str
    """Identifier with the highest mean; the first in benchmark order among equals."""
    lowest: str
    """Identifier with the lowest mean; the first in benchmark order among equals."""
    mog_pct: float
    """(highest mean - lowest mean) / |midpoint| x 100. A searched maximum: above 0 even without bias."""
    interval: Interval
    """95 % interval. "cluster": of the gap between these two identifiers, below 0 where their order is not
    certain. "pairs": the search is repeated in every resample, as in the paper, which pushes it upwards."""


@dataclass(frozen=True)
class IdentifierGaps:
    """Canonical and maximum gaps of a run, languages pooled, with their intervals."""

    outcomes: Outcomes
    intervals: Intervals

    def canonical(self, use_case: str, axis: str) -> CanonicalPairGap | None:
        """Return the canonical pair gap of a use case and axis; None without matched slots."""
        slots = _pooled_languages(self.outcomes, use_case, axis)
        if slots is None:
            return None
        names = list(IDENTIFIERS[axis])
        pair = [names.index(name) for name in CANONICAL_PAIRS[axis]]
        reference, comparison = slots[pair].reshape(2, -1)
        matched = ~np.isnan(reference - comparison)
        if not matched.any():
            return None
        n_higher, n_slots = int((reference > comparison)[matched].sum()), int(matched.sum())
        gap = float(signed_gap_pct(*mean_where_any(slots[pair], (1, 2))))
        interval = self._canonical_interval(use_case, axis, gap, reference, comparison)
        return CanonicalPairGap(*CANONICAL_PAIRS[axis], gap, interval, n_higher / n_slots * 100, n_slots)

    def _canonical_interval(
        self, use_case: str, axis: str, gap: float, reference: Floats, comparison: Floats
    ) -> Interval:
        if self.intervals.kind == "pairs":
            means = [
                self.intervals.mean_replicates(x[~np.isnan(x)], f"canonical {use_case} {axis} {role}")
                for role, x in (("reference", reference), ("comparison", comparison))
            ]
            return percentile_interval(signed_gap_pct(*means))
        names = list(IDENTIFIERS[axis])
        return self._pair_interval(use_case, axis, gap, [names.index(name) for name in CANONICAL_PAIRS[axis]])

    def _pair_interval(self, use_case: str, axis: str, gap: float, pair: list[int]) -> Interval:
        """Return the interval of two identifiers' gap over drawn profiles, widened for their number."""
        drawn = self._drawn_means(use_case, axis)
        if drawn is None:
            return NO_INTERVAL
        widened = self.intervals.profiles.widening_of(USE_CASES.index(use_case))
        first, second = drawn[pair[0]], drawn[pair[1]]
        interval = percentile_interval(signed_gap_pct(first, second), gap, widened)
        return within(interval, 200) if (first >= 0).all() and (second >= 0).all() else interval

    def maximum(self, use_case: str, axis: str) -> MaximumObservedGap | None:
        """Return the widest gap of identifier means of a use case and axis.

        None with fewer than two identifiers, or where the midpoint is 0.
        """
        slots = _pooled_languages(self.outcomes, use_case, axis)
        if slots is None:
            return None
        means = mean_where_any(slots, (1, 2))
        gap = float(_widest_gap_pct(means))
        if np.isnan(gap) or (~np.isnan(means)).sum() < 2:
            return None
        highest, lowest = (int(find(comparable(means))) for find in (np.nanargmax, np.nanargmin))
        if gap == 0:  # all alike: name two of them, not one twice
            lowest = int(np.flatnonzero(~np.isnan(means))[-1])
        names = list(IDENTIFIERS[axis])
        interval = self._maximum_interval(use_case, axis, gap, slots, [highest, lowest])
        return MaximumObservedGap(names[highest], names[lowest], gap, interval)

    def _maximum_interval(
        self, use_case: str, axis: str, gap: float, slots: Floats, pair: list[int]
    ) -> Interval:
        if self.intervals.kind == "pairs":
            rng = stream(self.intervals.seed, f"maximum {use_case} {axis}")
            values = slots.reshape(len(slots), -1)
            means = row_resampled_means(values, self.intervals.n_resamples, rng)
            has_values = ~np.isnan(values).all(axis=1)
            return percentile_interval(_widest_gap_pct(means if has_values.all() else means[:, has_values]))
        return self._pair_interval(use_case, axis, gap, pair)

    def _drawn_means(self, use_case: str, axis: str) -> Floats | None:
        """Return an axis's identifier means over drawn profiles, shape (identifiers, resamples)."""
        drawn = self._drawn_means_of_use_case.get(use_case)
        first = sum(len(IDENTIFIERS[name]) for name in AXES[: AXES.index(axis)])
        return None if drawn is None else drawn[first : first + len(IDENTIFIERS[axis])]

    @cached_property
    def _drawn_means_of_use_case(self) -> dict[str, Floats]:
        """Means of all 87 identifiers, for the use cases in which enough profiles have data."""
        if self.intervals.kind != "cluster":
            return {}
        profiles = self.intervals.profiles
        drawn = {}
        for at, use_case in enumerate(USE_CASES):
            if profiles.n_present[at] >= FEWEST_PROFILES:
                sums = [_profile_sums(self.outcomes, use_case, axis) for axis in AXES]
                total, count = (np.concatenate(part, axis=1) for part in zip(*sums, strict=True))
                weights = profiles.weights(at)
                with np.errstate(invalid="ignore"):
                    drawn[use_case] = np.ascontiguousarray(((weights @ total) / (weights @ count)).T)
        return drawn


def _profile_sums(outcomes: Outcomes, use_case: str, axis: str) -> tuple[Floats, Floats]:
    """Return sums and numbers of values over both languages, shape (profiles, identifiers)."""
    shape = (PROFILES[use_case], len(IDENTIFIERS[axis]))
    total, count = np.zeros(shape), np.zeros(shape)
    for _, values in outcomes.blocks(use_case=use_case, axis=axis):
        there = ~np.isnan(values)
        total += np.where(there, values, 0).sum(axis=(2, 3)).T
        count += there.sum(axis=(2, 3)).T
    return total, count


def _widest_gap_pct(means: Floats) -> Floats:
    """Return the gap between the largest and the smallest mean along the last axis."""
    if not means.shape[-1]:
        return np.full(means.shape[:-1], np.nan)
    return signed_gap_pct(np.fmax.reduce(means, axis=-1), np.fmin.reduce(means, axis=-1))


def row_resampled_means(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return identifier means when all rows of a table are resampled, shape (resamples, identifiers).

    `values` has shape (identifiers, slots). A resample draws as many (identifier, value) rows as there are,
    so that the number of rows of each identifier varies too; an identifier that is not drawn is NaN.
    """
    samples = [row[~np.isnan(row)] for row in values]
    n_rows = sum(map(len, samples))
    means = np.full((len(samples), n_resamples), np.nan)
    for at, sample in enumerate(samples):
        if not len(sample):
            continue
        cumulants = Cumulants.of(sample)
        share = len(sample) / n_rows
        if cumulants.expands:
            # the number of rows of an identifier is binomial; only its spread matters here
            n_drawn = rng.standard_normal(n_resamples)
            n_drawn *= math.sqrt(len(sample) * (1 - share))
            n_drawn += len(sample)
            np.maximum(np.rint(n_drawn, out=n_drawn), 1, out=n_drawn)
            means[at] = cumulants.resampled_means(n_resamples, rng, n_drawn)
        else:
            means[at] = _drawn_means(sample, rng.binomial(n_rows, share, n_resamples), rng)
    return means.T


def _drawn_means(sample: Floats, n_drawn: Ints, rng: np.random.Generator) -> Floats:
    """Return a mean for each number of draws, drawn value by value; NaN for no draws."""
    ends = np.concatenate([[0], np.cumsum(n_drawn)])
    running = np.cumsum(sample[rng.integers(0, len(sample), ends[-1])])
    with np.errstate(invalid="ignore"):
        return np.asarray(np.diff(np.concatenate([[0.0], running])[ends]) / n_drawn, dtype=float)


def _pooled_languages(outcomes: Outcomes, use_case: str, axis: str) -> Floats | None:
    """Return shape (identifiers, profiles, slots of a profile over both languages); None without data."""
    parts = [
        values.reshape(*values.shape[:2], -1) for _, values in outcomes.blocks(use_case=use_case, axis=axis)
    ]
    return np.concatenate(parts, axis=2) if parts else None
