"""Resampled mean gaps of any selection of slots, from sums that are made once.

Both kinds answer the same question: what would the mean gap have been, had the sample fallen otherwise?
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .gaps import SlotGaps
from .layout import Bools, Floats, Ints
from .resampling import Cumulants, ProfileResamples, Sample, stream


@dataclass(frozen=True, slots=True)
class Selection:
    """Which languages, axes and use cases: boolean masks in benchmark order."""

    languages: Bools
    axes: Bools
    use_cases: Bools

    @property
    def cells(self) -> tuple[Ints, ...]:
        """Index of the chosen cells in an array of (languages, axes, use cases)."""
        return np.ix_(self.languages, self.axes, self.use_cases)

    @property
    def name(self) -> str:
        """A name of the selection that does not depend on what else is computed."""
        return str([mask.astype(int).tolist() for mask in (self.languages, self.axes, self.use_cases)])


class GapResamples(Protocol):
    """Resampled mean gaps."""

    def means(self, selection: Selection) -> Floats | None:
        """Return resampled mean gaps, shape (resamples,); None where an interval would not hold."""
        ...


@dataclass(frozen=True, slots=True)
class ClusterGapResamples:
    """Mean gaps when base profiles are drawn within their use case."""

    total: Floats
    """Sums of gaps, shape (languages, axes, use cases, resamples)."""
    count: Floats
    """Numbers of gaps, the same shape."""
    varies: Bools
    """Which use cases have two profiles or more with data; a single one would seem not to vary."""

    def means(self, selection: Selection) -> Floats | None:
        """Return resampled mean gaps; None if a chosen use case with data has a single profile."""
        count = self.count[selection.cells]
        has_data = count.any(axis=(0, 1, 3))
        if not has_data.any() or (has_data & ~self.varies[selection.use_cases]).any():
            return None
        with np.errstate(invalid="ignore"):
            total = self.total[selection.cells].sum(axis=(0, 1, 2))
            return np.asarray(total / count.sum(axis=(0, 1, 2)), dtype=float)


def cluster_gap_resamples(gaps: SlotGaps, profiles: ProfileResamples) -> ClusterGapResamples:
    """Return the sums behind every cluster interval: one product of draws and sums a use case."""
    sums = np.stack([gaps.profile_total, gaps.profile_count])
    drawn = [sums[..., profiles.slice_of(at)] @ profiles.weights(at).T for at in range(profiles.n_use_cases)]
    total, count = np.stack(drawn, axis=3)
    return ClusterGapResamples(total, count, profiles.n_present >= 2)


@dataclass(frozen=True, slots=True)
class PairGapResamples:
    """Mean gaps when pairs are drawn one by one, as in the paper."""

    gaps: SlotGaps
    n_resamples: int
    seed: int

    def means(self, selection: Selection) -> Floats | None:
        """Return resampled mean gaps; None with fewer than two pairs."""
        powers = self.gaps.cell_powers[:, *selection.cells].sum(axis=(1, 2, 3))
        if powers[0] < 2:
            return None
        rng = stream(self.seed, f"gaps {selection.name}")
        cumulants = Cumulants.from_powers(powers, self.gaps.pivot)
        if cumulants.expands_whole_sample:
            return cumulants.resampled_means(self.n_resamples, rng)
        values = self.gaps.defined_pairs(selection.languages, selection.axes, selection.use_cases)
        return Sample(values).resampled_means(self.n_resamples, rng)
