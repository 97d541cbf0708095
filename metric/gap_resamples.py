"""Resampled mean gaps of any selection of slots, from sums that are made once.

Both kinds answer the same question: what would the mean gap have been, had the sample fallen otherwise?
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from .design import LANGUAGES, PROFILES, USE_CASES
from .gaps import SlotGaps
from .layout import AXES, Bools, Floats, Ints
from .mean_laws import MeanLaw
from .resampled_means import SMALL, Cumulants, Sample
from .resampling import FEWEST_PROFILES, Interval, ProfileResamples, percentile_interval, stream

Places: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Selection:
    """Which languages, axes and use cases: their places in benchmark order, ascending."""

    languages: Places
    axes: Places
    use_cases: Places

    @cached_property
    def cells(self) -> tuple[slice, ...] | tuple[Ints, ...]:
        """Index of the chosen cells in an array of (languages, axes, use cases)."""
        return _index(self.languages, self.axes, self.use_cases)

    @cached_property
    def slices(self) -> tuple[slice, ...] | tuple[Ints, ...]:
        """Index of the chosen ones in an array of (languages, axes)."""
        return _index(self.languages, self.axes)

    @property
    def place(self) -> tuple[int, int, int] | None:
        """Where each choice stands: one place, or -1 for all of them; None if one is of some."""
        language = _place(self.languages, len(LANGUAGES))
        axis, use_case = _place(self.axes, len(AXES)), _place(self.use_cases, len(USE_CASES))
        return None if language is None or axis is None or use_case is None else (language, axis, use_case)

    @cached_property
    def profiles(self) -> Bools:
        """Which of the 90 base profiles belong to a chosen use case."""
        return np.repeat([at in self.use_cases for at in range(len(USE_CASES))], list(PROFILES.values()))

    @property
    def name(self) -> str:
        """A name of the selection that does not depend on what else is computed."""
        return str((self.languages, self.axes, self.use_cases))


def _place(chosen: Places, n: int) -> int | None:
    if len(chosen) == n:
        return -1
    return chosen[0] if len(chosen) == 1 else None


def _index(*choices: Places) -> tuple[slice, ...] | tuple[Ints, ...]:
    """Return an index of what all choose: slices, which copy nothing, where each chooses one run."""
    if all(chosen and chosen[-1] - chosen[0] == len(chosen) - 1 for chosen in choices):
        return tuple(slice(chosen[0], chosen[-1] + 1) for chosen in choices)
    return np.ix_(*(np.array(chosen, dtype=np.int64) for chosen in choices))


class ResampledMean(Protocol):
    """A mean gap, or a difference of two, as it might have been."""

    def interval(self, mean: float) -> Interval:
        """Return the 95 % interval around the mean that was found."""
        ...

    def minus(self, other: Self) -> Self:
        """Return the difference of two mean gaps of the same kind."""
        ...


class GapResamples(Protocol):
    """Resampled mean gaps."""

    def of(self, selection: Selection) -> ResampledMean | None:
        """Return the resampled mean gap of a selection; None where an interval would not hold."""
        ...


class ClusterMean(NamedTuple):
    """A mean gap when base profiles are drawn; two are drawn alike."""

    means: Floats
    """Shape (resamples,)."""
    influence: Floats
    """How much each of the 90 base profiles moves the mean, shape (90,)."""
    profiles: ProfileResamples

    def interval(self, mean: float) -> Interval:
        """Return the percentile interval, widened for the number of profiles behind it."""
        return percentile_interval(self.means, mean, self.profiles.widening(self.influence))

    def minus(self, other: "ClusterMean") -> "ClusterMean":
        """Return the difference, draw by draw."""
        return ClusterMean(self.means - other.means, self.influence - other.influence, self.profiles)


@dataclass(frozen=True)
class ClusterGapResamples:
    """Mean gaps when base profiles are drawn within their use case."""

    gaps: SlotGaps
    profiles: ProfileResamples
    drawn: Floats
    """Numbers and sums of gaps, shape (2, languages, axes, use cases, resamples)."""

    def of(self, selection: Selection) -> ClusterMean | None:
        """Return the resampled mean gap; None if a chosen use case with data has too few profiles."""
        has_data = self._has_data[selection.cells].any(axis=(0, 1))
        varies = self.profiles.n_present[list(selection.use_cases)] >= FEWEST_PROFILES
        if not has_data.any() or (has_data & ~varies).any():
            return None
        count, total = self._drawn_of(selection)
        with np.errstate(invalid="ignore"):
            return ClusterMean(total / count, self._influence(selection), self.profiles)

    @cached_property
    def _has_data(self) -> Bools:
        """Which cells hold gaps in any resample, shape (languages, axes, use cases)."""
        return np.asarray(self.drawn[0].any(axis=3))

    def _drawn_of(self, selection: Selection) -> Floats:
        """Return numbers and sums of a selection, shape (2, resamples)."""
        place = selection.place
        if place is None:
            return np.asarray(self.drawn[:, *selection.cells].sum(axis=(1, 2, 3)))
        return np.asarray(self._pooled[:, *place])

    @cached_property
    def _pooled(self) -> Floats:
        """What was drawn, behind each dimension's last place the sum over it: most selections are in here."""
        drawn = self.drawn
        for axis in (3, 2, 1):
            drawn = np.concatenate([drawn, drawn.sum(axis=axis, keepdims=True)], axis=axis)
        return drawn

    def _influence(self, selection: Selection) -> Floats:
        """Return the derivative of the mean by each profile's weight."""
        sums = self.gaps.profile_sums[:, *selection.slices].sum(axis=(1, 2)) * selection.profiles
        (count, total), (n, whole) = sums, sums.sum(axis=1).tolist()
        return np.asarray((total - whole / n * count) / n, dtype=float)


def cluster_gap_resamples(gaps: SlotGaps, profiles: ProfileResamples) -> ClusterGapResamples:
    """Return the sums behind every cluster interval: one product of draws and sums a use case."""
    sums = gaps.profile_sums
    drawn = [sums[..., profiles.slice_of(at)] @ profiles.weights(at).T for at in range(profiles.n_use_cases)]
    return ClusterGapResamples(gaps, profiles, np.stack(drawn, axis=3))


class PairsMean(NamedTuple):
    """A mean gap when pairs are drawn one by one, as in the paper; two are drawn apart."""

    law: MeanLaw | None
    """Its law, where that is known: then nothing is drawn but what an interval needs."""
    means: Floats
    """Draws of the mean where its law is not known, shape (resamples,); otherwise empty."""
    n_resamples: int
    seed: int
    purpose: str

    def interval(self, mean: float) -> Interval:
        """Return the percentile interval, as the paper does."""
        if self.law is None:
            return percentile_interval(self.means)
        return self.law.percentile_interval(self.n_resamples, stream(self.seed, self.purpose))

    def minus(self, other: "PairsMean") -> "PairsMean":
        """Return the difference."""
        purpose = f"{self.purpose} minus {other.purpose}"
        if self.law and other.law:
            law = self.law.minus(other.law)
            return PairsMean(law, self.means, self.n_resamples, self.seed, purpose)
        return PairsMean(None, self._draws() - other._draws(), self.n_resamples, self.seed, purpose)

    def _draws(self) -> Floats:
        if self.law is None:
            return self.means
        return self.law.draws(self.n_resamples, stream(self.seed, self.purpose))


class PairGapResamples(NamedTuple):
    """Mean gaps when pairs are drawn one by one, as in the paper."""

    gaps: SlotGaps
    n_resamples: int
    seed: int

    def of(self, selection: Selection) -> PairsMean | None:
        """Return the resampled mean gap; None with fewer than two pairs."""
        powers = self.gaps.cell_powers[:, *selection.cells].sum(axis=(1, 2, 3)).tolist()
        if powers[0] < 2:
            return None
        purpose = f"gaps {selection.name}"
        cumulants = Cumulants.from_powers(powers)
        if cumulants.expands and cumulants.n > SMALL:
            return PairsMean(cumulants.law(), np.empty(0), self.n_resamples, self.seed, purpose)
        values = self.gaps.defined_pairs(selection.languages, selection.axes, selection.use_cases)
        means = Sample.of(values).resampled_means(self.n_resamples, stream(self.seed, purpose))
        return PairsMean(None, means, self.n_resamples, self.seed, purpose)
