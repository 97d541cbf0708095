"""Which identifiers get more and which get less: deviations, canonical pairs, the widest gap."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .design import CANONICAL_PAIRS, IDENTIFIERS, PROFILES, USE_CASES
from .gaps import ZERO, is_zero_sum
from .intervals import Intervals
from .layout import AXES, Floats
from .outcomes import Outcomes, mean_where_any
from .ranks import comparable
from .resampled_means import Sample, row_resampled_means, samples_of_rows
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
    of_axis = [stack.only([key[2] == axis for key in stack.keys]) for stack in outcomes.identifier_means]
    means = np.concatenate([np.empty((0, len(IDENTIFIERS[axis]))), *(x.arrays for x in of_axis if x.keys)])
    centres, sizes = (mean_where_any(part, (1,))[:, None] for part in (means, np.abs(means)))
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = (means - centres) / np.abs(centres) * 100
    return mean_where_any(np.where(np.abs(centres) > ZERO * sizes, deviations, np.nan), (0,))


class CanonicalPairGap(NamedTuple):
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
    return np.where(np.isfinite(gap) & ~is_zero_sum(a, b), gap, np.nan)


class MaximumObservedGap(NamedTuple):
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
class PooledSlots:
    """The values of one use case and axis, both languages, at least one of them there."""

    values: Floats
    """Shape (identifiers, slots), NaN where there is none."""

    @cached_property
    def means(self) -> Floats:
        """Mean of each identifier, NaN for one without values."""
        return mean_where_any(self.values, (1,))

    @cached_property
    def samples(self) -> list[Sample]:
        """The values of each identifier."""
        return samples_of_rows(self.values)


@dataclass(frozen=True)
class IdentifierGaps:
    """Canonical and maximum gaps of a run, languages pooled, with their intervals."""

    outcomes: Outcomes
    intervals: Intervals
    _known: dict[tuple[str, str], "PooledSlots | None"] = field(default_factory=dict)

    def canonical(self, use_case: str, axis: str) -> CanonicalPairGap | None:
        """Return the canonical pair gap of a use case and axis; None without matched slots."""
        slots = self._slots(use_case, axis)
        if slots is None:
            return None
        names = list(IDENTIFIERS[axis])
        pair = [names.index(name) for name in CANONICAL_PAIRS[axis]]
        reference, comparison = slots.values[pair]
        matched = ~np.isnan(reference - comparison)
        n_slots = int(matched.sum())
        if not n_slots:
            return None
        n_higher = int((reference > comparison).sum())
        gap = float(signed_gap_pct(*slots.means[pair]))
        interval = self._canonical_interval(use_case, axis, gap, slots, pair)
        return CanonicalPairGap(*CANONICAL_PAIRS[axis], gap, interval, n_higher / n_slots * 100, n_slots)

    def _canonical_interval(
        self, use_case: str, axis: str, gap: float, slots: "PooledSlots", pair: list[int]
    ) -> Interval:
        if self.intervals.kind == "pairs":
            rng = stream(self.intervals.seed, f"canonical {use_case} {axis}")
            drawn = (slots.samples[at].resampled_means(self.intervals.n_resamples, rng) for at in pair)
            return percentile_interval(signed_gap_pct(*drawn))
        return self._pair_interval(use_case, axis, gap, pair)

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
        slots = self._slots(use_case, axis)
        if slots is None:
            return None
        means = slots.means
        gap, known = float(_widest_gap_pct(means)), np.flatnonzero(~np.isnan(means))
        if np.isnan(gap) or len(known) < 2:
            return None
        ranked = comparable(means[known])
        highest, lowest = int(known[ranked.argmax()]), int(known[ranked.argmin()])
        if gap == 0:  # all alike: name two of them, not one twice
            lowest = int(known[-1])
        names = list(IDENTIFIERS[axis])
        interval = self._maximum_interval(use_case, axis, gap, slots, [highest, lowest])
        return MaximumObservedGap(names[highest], names[lowest], gap, interval)

    def _maximum_interval(
        self, use_case: str, axis: str, gap: float, slots: "PooledSlots", pair: list[int]
    ) -> Interval:
        if self.intervals.kind == "pairs":
            rng = stream(self.intervals.seed, f"maximum {use_case} {axis}")
            means = row_resampled_means(slots.samples, self.intervals.n_resamples, rng)
            return percentile_interval(_widest_gap_pct(means))
        return self._pair_interval(use_case, axis, gap, pair)

    def _slots(self, use_case: str, axis: str) -> "PooledSlots | None":
        key = use_case, axis
        if key not in self._known:
            parts = [values for _, values in self.outcomes.blocks(use_case=use_case, axis=axis)]
            flat = [values.reshape(len(values), -1) for values in parts]
            self._known[key] = PooledSlots(np.concatenate(flat, axis=1)) if flat else None
        return self._known[key]

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
                total, count = (np.concatenate(part) for part in zip(*sums, strict=True))
                weights = np.ascontiguousarray(profiles.weights(at).T)
                with np.errstate(invalid="ignore"):
                    drawn[use_case] = (total @ weights) / (count @ weights)
        return drawn


def _profile_sums(outcomes: Outcomes, use_case: str, axis: str) -> tuple[Floats, Floats]:
    """Return sums and numbers of values over both languages, shape (identifiers, profiles)."""
    shape = (len(IDENTIFIERS[axis]), PROFILES[use_case])
    total, count = np.zeros(shape), np.zeros(shape)
    for _, values in outcomes.blocks(use_case=use_case, axis=axis):
        there = ~np.isnan(values)
        total += np.where(there, values, 0).sum(axis=(2, 3))
        count += there.sum(axis=(2, 3))
    return total, count


def _widest_gap_pct(means: Floats) -> Floats:
    """Return the gap between the largest and the smallest mean along the first axis."""
    return signed_gap_pct(np.fmax.reduce(means, axis=0), np.fmin.reduce(means, axis=0))
