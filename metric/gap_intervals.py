"""The intervals of mean gaps, of every selection at once, from sums that are made once.

Both kinds answer the same question: what would the mean gap have been, had the sample fallen otherwise?
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .gaps import CELLS, Place, SlotGaps, mean_of
from .layout import Bools, Floats
from .resampling import (
    FEWEST_PROFILES,
    Interval,
    ProfileResamples,
    ValueDraws,
    bent_ends,
    interval_of,
    is_drawn,
    moments_of_mean,
    percentile_intervals,
)


class GapIntervals(NamedTuple):
    """The 95 % intervals of mean gaps: low and high ends in percent, NaN where there is none."""

    of_selections: Floats
    """Of every selection, shape (2, languages, axes, use cases), all of them last."""
    of_changes: Floats
    """Of the second language minus the first over all use cases, shape (2, axes), all of them last."""
    of_balanced: Floats
    """Of the balanced mean, shape (2,)."""


def no_gap_intervals(gaps: SlotGaps) -> GapIntervals:
    """Return no interval for any selection."""
    return GapIntervals(
        np.full((2, *gaps.shape), np.nan), np.full((2, gaps.shape[1]), np.nan), np.full(2, np.nan)
    )


def cluster_gap_intervals(gaps: SlotGaps, profiles: ProfileResamples) -> GapIntervals:
    """Return the intervals when base profiles are drawn within their use case.

    Percentiles of the drawn means, widened for the number of profiles behind each; none where a use case with
    gaps has too few profiles. A change is made draw by draw: a profile's two languages stay together.
    """
    found, means = gaps.means, mean_of(gaps.sums(profiles.weights)[:2])
    influence, holds = influence_of(gaps), _rests_on_enough(gaps.cells[0] > 0, profiles)
    ends = percentile_intervals(means, found, profiles.widenings(influence))
    changes = np.full((2, gaps.shape[1]), np.nan)
    if len(gaps.design.languages) > 1:
        before, after = (0, slice(None), -1), (1, slice(None), -1)
        widened = profiles.widenings(influence[after] - influence[before])
        changes = percentile_intervals(means[after] - means[before], found[after] - found[before], widened)
        changes = np.where(holds[before] & holds[after], changes, np.nan)
    defined, balanced = gaps.cells[0][CELLS] > 0, np.full(2, np.nan)
    if defined.any() and holds[CELLS][defined].all():
        widened = profiles.widenings(influence[CELLS][defined].mean(axis=0))
        balanced = percentile_intervals(means[CELLS][defined].mean(axis=0), gaps.balanced_mean, widened)
    return GapIntervals(np.where(holds, ends, np.nan), changes, balanced)


def influence_of(gaps: SlotGaps) -> Floats:
    """Return the derivative of each mean by each profile's weight, shape (languages, axes, use cases, n)."""
    layout = gaps.layout
    own = np.zeros((gaps.shape[2], layout.n_profiles), dtype=bool)
    for at, profiles in enumerate(layout.profiles.values()):
        own[at, profiles] = True
    own[-1] = True
    count, total = gaps.profile_sums[:2, :, :, None, :] * own
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((total - gaps.means[..., None] * count) / count.sum(axis=-1, keepdims=True))


def _rests_on_enough(has_gaps: Bools, profiles: ProfileResamples) -> Bools:
    """Tell which selections have gaps, and enough profiles in every use case that has some."""
    too_few = has_gaps[..., :-1] & (profiles.n_present < FEWEST_PROFILES)
    blocked = np.concatenate([too_few, too_few.any(axis=-1, keepdims=True)], axis=-1)
    return np.asarray(has_gaps & ~blocked)


def pair_gap_intervals(gaps: SlotGaps, draws: ValueDraws) -> GapIntervals:
    """Return the intervals when pairs are drawn one by one, as in the paper.

    None with fewer than two pairs. The pairs of two languages, and of two cells, are drawn apart.
    """
    n, total, _ = gaps.cells
    moments = moments_of_mean(n, total, *gaps.powers)
    drawn = is_drawn(n, moments[2])
    ends = np.where(n > 1, bent_ends(*moments[:2], np.clip(moments[2], -1, 1)), np.nan)
    for place in zip(*np.nonzero((n > 1) & drawn), strict=True):
        ends[:, *place] = percentile_intervals(draws.means(gaps.defined_pairs(place)))
    changes = np.full((2, gaps.shape[1]), np.nan)
    for axis in range(gaps.shape[1]) if len(gaps.design.languages) > 1 else ():
        after, before = ((language, axis, gaps.shape[2] - 1) for language in (1, 0))
        changes[:, axis] = _combined_ends(gaps, moments, drawn, {after: 1.0, before: -1.0}, draws)
    cells = [place for place in np.ndindex(n[CELLS].shape) if n[place]]
    balanced = _combined_ends(gaps, moments, drawn, dict.fromkeys(cells, 1 / max(len(cells), 1)), draws)
    return GapIntervals(ends, changes, balanced)


def _combined_ends(
    gaps: SlotGaps,
    moments: tuple[Floats, Floats, Floats],
    drawn: Bools,
    weights: Mapping[Place, float],
    draws: ValueDraws,
) -> Floats:
    """Return the ends of a weighted sum of means of selections whose pairs are drawn apart."""
    at = tuple(np.array(list(weights)).T)
    if not weights or gaps.cells[0][at].min() < 2:
        return np.full(2, np.nan)
    if drawn[at].any():
        means = [draws.means(gaps.defined_pairs(place), str(place)) for place in weights]
        return percentile_intervals(np.array(list(weights.values())) @ np.array(means))
    mean, error, skewness = (moment[at] for moment in moments)
    scaled = np.array(list(weights.values())) * error
    error = np.sqrt((scaled**2).sum())
    third = (skewness * scaled**3).sum()  # cumulants of independent means add
    skewness = np.where(error > 0, third / np.maximum(error, 1e-300) ** 3, 0)
    return bent_ends(np.dot(list(weights.values()), mean), error, np.clip(skewness, -1, 1))


class GapSummary(NamedTuple):
    """How large the gaps of a selection of slots are."""

    mean_delta_pct: float
    """Mean of all defined pair gaps, in percent; 0 = all identifiers alike."""
    interval: Interval
    """95 % interval of the mean."""
    violation_pct: float
    """Share of the gaps strictly above the threshold, in percent."""
    n_pairs: int
    """Number of defined gaps."""


@dataclass(frozen=True)
class GapSummaries:
    """The pair gaps of a run, summed up, with their intervals."""

    gaps: SlotGaps
    intervals: GapIntervals

    def summarise(
        self, *, language: str | None = None, axis: str | None = None, use_case: str | None = None
    ) -> GapSummary | None:
        """Return the mean gap and violation rate over all pairs of the selected slots, pooled.

        None selects all languages, axes or use cases. Every pair weighs the same, so the axis with the most
        identifiers weighs most (region: 435 of a full slot set's 852 pairs). None where no gap is defined.
        """
        place = self.gaps.place(language, axis, use_case)
        count, _, violations = self.gaps.cells[:, *place].tolist()
        if not count:
            return None
        interval = interval_of(self._ends[:, *place])
        return GapSummary(float(self.gaps.means[place]), interval, violations / count * 100, int(count))

    def balanced_interval(self) -> Interval:
        """Return the interval of `SlotGaps.balanced_mean`."""
        return interval_of(np.clip(self.intervals.of_balanced, *self._bounds))

    @cached_property
    def _ends(self) -> Floats:
        return np.clip(self.intervals.of_selections, *self._bounds)

    @property
    def _bounds(self) -> tuple[float, float]:
        """What a mean gap can be: the paper's has no bound where values below 0 occur."""
        free = self.gaps.definitions == "paper" and bool(self.gaps.below_zero.any())
        return (-np.inf, np.inf) if free else (0.0, 200.0)

    def language_change(self, axis: str) -> tuple[float, Interval] | None:
        """Return the second language's mean gap minus the first's, and its interval; None without both."""
        if len(self.gaps.design.languages) < 2:
            return None
        at = self.gaps.place(axis=axis)[1]
        change = float(self.gaps.means[1, at, -1] - self.gaps.means[0, at, -1])
        return None if np.isnan(change) else (change, interval_of(self.intervals.of_changes[:, at]))
