"""Resampled mean gaps of any selection of slots, from sums that are made once.

Both kinds answer the same question: what would the mean gap have been, had the sample fallen otherwise?
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from .design import PROFILES
from .gaps import SlotGaps
from .layout import Bools, Floats, Ints
from .resampled_means import Cumulants, Sample
from .resampling import (
    FEWEST_PROFILES,
    Interval,
    ProfileResamples,
    percentile_interval,
    stream,
)


@dataclass(frozen=True, eq=False)
class Selection:
    """Which languages, axes and use cases: boolean masks in benchmark order. Two are never equal."""

    languages: Bools
    axes: Bools
    use_cases: Bools

    @cached_property
    def cells(self) -> tuple[slice, ...] | tuple[Ints, ...]:
        """Index of the chosen cells in an array of (languages, axes, use cases)."""
        return _index(self.languages, self.axes, self.use_cases)

    @cached_property
    def slices(self) -> tuple[slice, ...] | tuple[Ints, ...]:
        """Index of the chosen ones in an array of (languages, axes)."""
        return _index(self.languages, self.axes)

    @cached_property
    def profiles(self) -> Bools:
        """Which of the 90 base profiles belong to a chosen use case."""
        return np.repeat(self.use_cases, list(PROFILES.values()))

    @cached_property
    def name(self) -> str:
        """A name of the selection that does not depend on what else is computed."""
        return str([mask.astype(int).tolist() for mask in (self.languages, self.axes, self.use_cases)])


def _index(*masks: Bools) -> tuple[slice, ...] | tuple[Ints, ...]:
    """Return an index of what all masks choose: slices, which copy nothing, where each mask is one run."""
    chosen = [np.flatnonzero(mask) for mask in masks]
    if all(len(at) and at[-1] - at[0] == len(at) - 1 for at in chosen):
        return tuple(slice(int(at[0]), int(at[-1]) + 1) for at in chosen)
    return np.ix_(*chosen)


@dataclass(frozen=True, slots=True)
class ResampledMean:
    """A mean gap, as it might have been."""

    means: Floats
    """Shape (resamples,)."""
    influence: Floats
    """How much each of the 90 base profiles moves the mean, shape (90,); all 0 where pairs are drawn."""


class GapResamples(Protocol):
    """Resampled mean gaps."""

    def of(self, selection: Selection) -> ResampledMean | None:
        """Return the resampled mean gap of a selection; None where an interval would not hold."""
        ...

    def interval(self, mean: float, resampled: ResampledMean) -> Interval:
        """Return the interval of a mean gap, or of a difference of two."""
        ...


@dataclass(frozen=True)
class ClusterGapResamples:
    """Mean gaps when base profiles are drawn within their use case."""

    gaps: SlotGaps
    profiles: ProfileResamples
    total: Floats
    """Sums of gaps, shape (languages, axes, use cases, resamples)."""
    count: Floats
    """Numbers of gaps, the same shape."""

    def of(self, selection: Selection) -> ResampledMean | None:
        """Return the resampled mean gap; None if a chosen use case with data has too few profiles."""
        has_data = self._has_data[selection.cells].any(axis=(0, 1))
        varies = self.profiles.n_present[selection.use_cases] >= FEWEST_PROFILES
        if not has_data.any() or (has_data & ~varies).any():
            return None
        with np.errstate(invalid="ignore"):
            total, count = (sums[selection.cells].sum(axis=(0, 1, 2)) for sums in (self.total, self.count))
            return ResampledMean(total / count, self._influence(selection))

    @cached_property
    def _has_data(self) -> Bools:
        """Which cells hold gaps in any resample, shape (languages, axes, use cases)."""
        return np.asarray(self.count.any(axis=3))

    def _influence(self, selection: Selection) -> Floats:
        """Return the derivative of the mean by each profile's weight."""
        total, count = (
            sums[selection.slices].sum(axis=(0, 1)) * selection.profiles
            for sums in (self.gaps.profile_total, self.gaps.profile_count)
        )
        n = count.sum()
        return np.asarray((total - total.sum() / n * count) / n, dtype=float)

    def interval(self, mean: float, resampled: ResampledMean) -> Interval:
        """Return the percentile interval, widened for the number of profiles behind it."""
        return percentile_interval(resampled.means, mean, self.profiles.widening(resampled.influence))


def cluster_gap_resamples(gaps: SlotGaps, profiles: ProfileResamples) -> ClusterGapResamples:
    """Return the sums behind every cluster interval: one product of draws and sums a use case."""
    sums = np.stack([gaps.profile_total, gaps.profile_count])
    drawn = [sums[..., profiles.slice_of(at)] @ profiles.weights(at).T for at in range(profiles.n_use_cases)]
    total, count = np.stack(drawn, axis=3)
    return ClusterGapResamples(gaps, profiles, total, count)


@dataclass(frozen=True, slots=True)
class PairGapResamples:
    """Mean gaps when pairs are drawn one by one, as in the paper."""

    gaps: SlotGaps
    n_resamples: int
    seed: int

    def of(self, selection: Selection) -> ResampledMean | None:
        """Return the resampled mean gap; None with fewer than two pairs."""
        powers = [float(cell[selection.cells].sum()) for cell in self.gaps.cell_powers]
        if powers[0] < 2:
            return None
        rng = stream(self.seed, f"gaps {selection.name}")
        cumulants = Cumulants.from_powers(powers)
        if cumulants.expands_whole_sample:
            means = cumulants.resampled_means(self.n_resamples, rng)
        else:
            values = self.gaps.defined_pairs(selection.languages, selection.axes, selection.use_cases)
            means = Sample(values).resampled_means(self.n_resamples, rng)
        return ResampledMean(means, np.zeros(sum(PROFILES.values())))

    def interval(self, mean: float, resampled: ResampledMean) -> Interval:
        """Return the percentile interval, as the paper does."""
        return percentile_interval(resampled.means)
