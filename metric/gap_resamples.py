"""The intervals of mean gaps, of every selection at once, from sums that are made once.

Both kinds answer the same question: what would the mean gap have been, had the sample fallen otherwise?
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from .constants import LANGUAGES
from .gap_grid import CELLS, GRID, N_SELECTIONS, Place, is_cell, of_use_cases, places, with_sums
from .gaps import SlotGaps
from .layout import Bools, Floats
from .mean_laws import Ends, MeanLaw, combined, ranked_normals
from .resampled_means import SMALL, Cumulants, Sample
from .resampling import FEWEST_PROFILES, ProfileResamples, percentile_intervals, stream

NO_ENDS: Final = (np.nan, np.nan)


class GapIntervals(NamedTuple):
    """The 95 % intervals of mean gaps: low and high ends in percent, NaN where there is none."""

    of_selections: Floats
    """Of every selection, shape (2, languages, axes, use cases), all of them last."""
    of_changes: Floats
    """Of Hinglish minus English over all use cases, shape (2, axes), all of them last."""
    of_balanced: Floats
    """Of the balanced mean, shape (2,)."""


def no_gap_intervals() -> GapIntervals:
    """Return no interval for any selection."""
    return GapIntervals(np.full((2, *GRID), np.nan), np.full((2, GRID[1]), np.nan), np.full(2, np.nan))


def cluster_gap_intervals(gaps: SlotGaps, profiles: ProfileResamples) -> GapIntervals:
    """Return the intervals when base profiles are drawn within their use case.

    Percentiles of the drawn means, widened for the number of profiles behind each; none where a use case with
    gaps has too few profiles. A change is made draw by draw: a profile's two languages stay together.
    """
    sums, found = with_sums(gaps.profile_sums[:2], (2, 1)), gaps.means
    means, influence = _drawn_means(sums, profiles), _influence(sums, found)
    holds = _rests_on_enough(gaps.cells[0] > 0, profiles)
    ends = percentile_intervals(means, found, profiles.widenings(influence))
    before, after = (0, slice(None), -1), (1, slice(None), -1)
    widened = profiles.widenings(influence[after] - influence[before])
    changes = percentile_intervals(means[after] - means[before], found[after] - found[before], widened)
    return GapIntervals(
        np.where(holds, ends, np.nan),
        np.where(holds[before] & holds[after], changes, np.nan),
        _balanced_ends(means[CELLS], influence[CELLS], holds[CELLS], gaps, profiles),
    )


def _balanced_ends(
    means: Floats, influence: Floats, holds: Bools, gaps: SlotGaps, profiles: ProfileResamples
) -> Floats:
    """Return the ends of the balanced mean's interval, from what each cell is when profiles are drawn."""
    defined = gaps.cells[0][CELLS] > 0
    if not defined.any() or not holds[defined].all():
        return np.full(2, np.nan)
    widened = profiles.widenings(influence[defined].mean(axis=0))
    return percentile_intervals(means[defined].mean(axis=0), gaps.balanced_mean, widened)


def _drawn_means(sums: Floats, profiles: ProfileResamples) -> Floats:
    """Return the mean gaps of drawn profiles, shape (languages, axes, use cases, resamples).

    `sums` holds number and sum of the gaps of each profile, shape (2, languages, axes, 90), all last.
    """
    drawn = np.empty((2, *GRID, profiles.n_resamples))
    for at in range(profiles.n_use_cases):
        of_use_case = sums[..., profiles.slice_of(at)]
        flat = of_use_case.reshape(-1, of_use_case.shape[-1]) @ profiles.weights(at).T
        drawn[..., at, :] = flat.reshape(*sums.shape[:-1], -1)
    drawn[..., -1, :] = drawn[..., :-1, :].sum(axis=-2)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.divide(drawn[1], drawn[0], out=drawn[1]))


def _influence(sums: Floats, means: Floats) -> Floats:
    """Return the derivative of each mean by each profile's weight, shape (languages, axes, use cases, 90)."""
    own = of_use_cases()
    count, total = sums[:, :, :, None, :] * own
    with np.errstate(invalid="ignore"):
        return np.asarray((total - means[..., None] * count) / count.sum(axis=-1, keepdims=True))


def _rests_on_enough(has_gaps: Bools, profiles: ProfileResamples) -> Bools:
    """Tell which selections have gaps, and enough profiles in every use case that has some."""
    too_few = has_gaps[..., :-1] & (profiles.n_present < FEWEST_PROFILES)
    blocked = np.concatenate([too_few, too_few.any(axis=-1, keepdims=True)], axis=-1)
    return np.asarray(has_gaps & ~blocked)


def pair_gap_intervals(gaps: SlotGaps, n_resamples: int, seed: int) -> GapIntervals:
    """Return the intervals when pairs are drawn one by one, as in the paper.

    None with fewer than two pairs. The pairs of two languages are drawn apart.
    """
    means = _PairMeans(gaps, n_resamples, seed)
    ranked = ranked_normals(N_SELECTIONS, n_resamples, stream(seed, "mean gaps")).tolist()
    ends = [means.ends(place, at) for place, at in zip(places(), ranked, strict=True)]
    ranked = ranked_normals(GRID[1], n_resamples, stream(seed, "changes of mean gaps")).tolist()
    changes = [means.ends_of_change(axis, at) for axis, at in enumerate(ranked)]
    (ranked,) = ranked_normals(1, n_resamples, stream(seed, "balanced mean gap")).tolist()
    balanced = np.array(means.ends_of_balanced(ranked))
    return GapIntervals(np.transpose(ends).reshape(2, *GRID), np.transpose(changes), balanced)


@dataclass(frozen=True)
class _PairMeans:
    """The mean gaps of drawn pairs: by their law where that is known, from draws of their own where not."""

    gaps: SlotGaps
    n_resamples: int
    seed: int

    def ends(self, place: Place, ranked: Sequence[float]) -> Ends:
        """Return the ends of a selection's interval; `ranked` is a row of `ranked_normals`."""
        if self._cumulants[place].n < 2:
            return NO_ENDS
        law = self._law(place)
        return law.ends(ranked, self.n_resamples) if law else _percentiles(self._draws(place))

    def ends_of_change(self, axis: int, ranked: Sequence[float]) -> Ends:
        """Return the ends of the interval of Hinglish minus English on an axis, over all use cases."""
        before, after = ((language, axis, GRID[2] - 1) for language in range(len(LANGUAGES)))
        if min(self._cumulants[before].n, self._cumulants[after].n) < 2:
            return NO_ENDS
        laws = self._law(before), self._law(after)
        if laws[0] and laws[1]:
            return laws[1].minus(laws[0]).ends(ranked, self.n_resamples)
        return _percentiles(self._draws(after) - self._draws(before))

    def ends_of_balanced(self, ranked: Sequence[float]) -> Ends:
        """Return the ends of the balanced mean's interval, each cell's pairs drawn by themselves."""
        cells = [place for place in places() if is_cell(place) and self._cumulants[place].n]
        if not cells or min(self._cumulants[place].n for place in cells) < 2:
            return NO_ENDS
        laws = [law for place in cells if (law := self._law(place))]
        if len(laws) == len(cells):
            return combined(laws, [1 / len(laws)] * len(laws)).ends(ranked, self.n_resamples)
        return _percentiles(np.mean([self._draws(place) for place in cells], axis=0))

    @cached_property
    def _cumulants(self) -> dict[Place, Cumulants]:
        powers = with_sums(self.gaps.cell_powers, (3, 2, 1))
        rows = powers.reshape(len(powers), -1).T.tolist()
        return {place: Cumulants.from_powers(row) for place, row in zip(places(), rows, strict=True)}

    def _law(self, place: Place) -> MeanLaw | None:
        cumulants = self._cumulants[place]
        return cumulants.law() if cumulants.expands and cumulants.n > SMALL else None

    def _draws(self, place: Place) -> Floats:
        rng = stream(self.seed, f"mean gap {place}")
        law = self._law(place)
        if law:
            return law.draws(self.n_resamples, rng)
        return Sample.of(self.gaps.defined_pairs(place)).resampled_means(self.n_resamples, rng)


def _percentiles(means: Floats) -> Ends:
    low, high = percentile_intervals(means).tolist()
    return low, high
