"""Which identifiers get more and which get less: deviations, canonical pairs, the widest gap."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from .constants import CANONICAL_PAIRS, IDENTIFIERS, USE_CASES
from .gaps import ZERO, is_zero_sum
from .layout import AXES, Floats
from .outcomes import Outcomes, mean_where_any
from .ranks import comparable
from .resampled_means import Sample, samples_of_rows


def identifier_deviation_pct(outcomes: Outcomes, axis: str) -> Floats:
    """Return each identifier's deviation from its axis, in percent, shape (identifiers,).

    By use case and language: identifier mean / mean of the identifier means - 1, relative to the absolute
    centre, so that among negative markups too positive means more; then the mean over use
    cases and languages. 0 = like the axis on average; NaN for an identifier without values. A use case and
    language whose identifier means average to 0 is left out.
    """
    of_axis = [stack.only([key[2] == axis for key in stack.keys]) for stack in outcomes.identifier_means]
    means = np.concatenate([np.empty((0, len(IDENTIFIERS[axis]))), *(x.arrays for x in of_axis if x.keys)])
    return mean_where_any(deviations_pct(means), (0,))


def deviations_pct(means: Floats) -> Floats:
    """Return how far identifier means lie from the mean of each row, in percent; NaN where that is 0."""
    centres, sizes = (mean_where_any(part, (1,))[:, None] for part in (means, np.abs(means)))
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = (means - centres) / np.abs(centres) * 100
    return np.where(np.abs(centres) > ZERO * sizes, deviations, np.nan)


def signed_gap_pct(a: Floats, b: Floats) -> Floats:
    """Return (a - b) / |(a + b) / 2| x 100, elementwise; NaN where the midpoint is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.asarray((a - b) / np.abs(a + b) * 200, dtype=float)
    if (a > 0).all() and (b > 0).all():  # amounts above 0 have no midpoint of 0
        return gap
    return np.where(np.isfinite(gap) & ~is_zero_sum(a, b), gap, np.nan)


class CanonicalPairGap(NamedTuple):
    """The signed gap between the two identifiers of an axis's canonical pair."""

    pair: tuple[int, int]
    """The reference and the identifier that is compared with it: places in the axis."""
    cpg_pct: float
    """(reference mean - comparison mean) / |midpoint| x 100: positive = the reference gets more."""
    sign_consistency_pct: float
    """Share of the matched slots where the reference is strictly higher, in percent."""
    n_slots: int
    """Slots, over both languages, in which both identifiers have a value."""


class MaximumObservedGap(NamedTuple):
    """The gap between the identifiers with the highest and the lowest mean."""

    pair: tuple[int, int]
    """The highest and the lowest: places in the axis, the first in benchmark order among equals."""
    mog_pct: float
    """(highest mean - lowest mean) / |midpoint| x 100. A searched maximum: above 0 even without bias."""


@dataclass(frozen=True)
class PooledSlots:
    """The values of one use case and axis, both languages, at least one of them there."""

    values: Floats
    """Shape (identifiers, languages, profiles, questions, repeats), NaN where there is none."""

    @cached_property
    def means(self) -> Floats:
        """Mean of each identifier, NaN for one without values."""
        return mean_where_any(self.values, (1, 2, 3, 4))

    @cached_property
    def samples(self) -> list[Sample]:
        """The values of each identifier."""
        return samples_of_rows(self.values.reshape(len(self.values), -1))

    @cached_property
    def profile_sums(self) -> Floats:
        """Sum and number of the values of each profile, shape (2, identifiers, profiles)."""
        there = ~np.isnan(self.values)
        values = self.values if there.all() else np.where(there, self.values, 0)
        return np.stack([part.sum(axis=(1, 3, 4)) for part in (values, there)])

    def canonical(self, axis: str) -> CanonicalPairGap | None:
        """Return the gap of the axis's canonical pair; None without matched slots."""
        names = list(IDENTIFIERS[axis])
        first, second = (names.index(name) for name in CANONICAL_PAIRS[axis])
        reference, comparison = self.values[first], self.values[second]
        n_slots = int((~np.isnan(reference - comparison)).sum())
        if not n_slots:
            return None
        gap = float(signed_gap_pct(self.means[first], self.means[second]))
        n_higher = int((reference > comparison).sum())
        return CanonicalPairGap((first, second), gap, n_higher / n_slots * 100, n_slots)

    def widest(self) -> MaximumObservedGap | None:
        """Return the widest gap of identifier means.

        None with fewer than two identifiers, or where the midpoint is 0.
        """
        gap, known = float(widest_gap_pct(self.means)), np.flatnonzero(~np.isnan(self.means))
        if np.isnan(gap) or len(known) < 2:
            return None
        ranked = comparable(self.means[known])
        highest, lowest = int(known[ranked.argmax()]), int(known[ranked.argmin()])
        if gap == 0:  # all alike: name two of them, not one twice
            lowest = int(known[-1])
        return MaximumObservedGap((highest, lowest), gap)


def widest_gap_pct(means: Floats) -> Floats:
    """Return the gap between the largest and the smallest mean along the first axis."""
    return signed_gap_pct(np.fmax.reduce(means, axis=0), np.fmin.reduce(means, axis=0))


SlotsKey: TypeAlias = tuple[str, str]
"""Use case and axis."""


def pooled_slots(outcomes: Outcomes) -> dict[SlotsKey, PooledSlots]:
    """Return the values of every use case and axis that the run covers, in benchmark order."""
    return dict(_pooled_slots(outcomes))


def _pooled_slots(outcomes: Outcomes) -> Iterator[tuple[SlotsKey, PooledSlots]]:
    for use_case in USE_CASES:
        for axis in AXES:
            parts = [values for _, values in outcomes.blocks(use_case=use_case, axis=axis)]
            if parts:
                yield (use_case, axis), PooledSlots(np.stack(parts, axis=1))
