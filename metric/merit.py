"""Merit: how strongly outputs follow the base profile, and whether all identifiers agree on the order."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .constants import USE_CASES
from .gaps import pair_indices, pairwise_gaps_pct
from .intervals import Intervals
from .layout import AXES, Floats, Ints
from .outcomes import Key, Outcomes, Stack
from .ranks import average_ranks, comparable, rank_correlations, spearman_columns
from .resampling import (
    FEWEST_PROFILES,
    NO_INTERVAL,
    Interval,
    interval_of,
    jackknife_interval,
    percentile_intervals,
    within,
)
from .stacks import of_each


class MeritGaps(NamedTuple):
    """The gaps between all pairs of base profiles of one use case and language.

    Identifier, question and repeat are fixed; pooled over all identifiers of all axes.
    """

    gaps: Floats
    """The defined gaps, flat, in percent."""
    total: Floats
    """Sum of the gaps of each pair of profiles, in the order of `pair_indices`, shape (pairs,)."""
    n_gaps: Ints
    """Number of gaps of each pair of profiles, the same shape."""

    @property
    def merit_sensitivity_pct(self) -> float:
        """Mean gap, in percent; larger = outputs follow merit more."""
        return float(self.total.sum() / self.n_gaps.sum())


def merit_gaps(outcomes: Outcomes, language: str, use_case: str) -> MeritGaps | None:
    """Return the gaps between profiles; None where none is defined."""
    profiles = _by_profile(outcomes, language, use_case)
    if profiles is None:
        return None
    gaps = pairwise_gaps_pct(profiles)
    defined = ~np.isnan(gaps)
    count = defined.sum(axis=1)
    if not count.any():
        return None
    complete = bool(defined.all())
    total = (gaps if complete else np.where(defined, gaps, 0)).sum(axis=1)
    return MeritGaps(gaps.ravel() if complete else gaps[defined], total, count)


def merit_interval(found: MeritGaps, language: str, use_case: str, intervals: Intervals) -> Interval:
    """Return the interval of the mean gap between profiles.

    "pairs" resamples the gaps; "cluster" resamples profiles, a gap counting as often as both its profiles
    are drawn.
    """
    if intervals.kind == "pairs":
        return intervals.of_mean(found.gaps, f"merit sensitivity {language} {use_case}")
    at = USE_CASES.index(use_case)
    if intervals.kind != "cluster" or intervals.profiles.n_present[at] < FEWEST_PROFILES:
        return NO_INTERVAL
    weights, widened = intervals.profiles.weights(at), intervals.profiles.widening_of(at)
    total, count = (_drawn_sum(weights, quantity) for quantity in (found.total, found.n_gaps))
    with np.errstate(invalid="ignore"):
        return interval_of(percentile_intervals(total / count, found.merit_sensitivity_pct, widened))


def _drawn_sum(weights: Floats, of_pairs: Floats | Ints) -> Floats:
    """Return sum_ij w_i w_j q_ij over pairs of profiles for each draw w, shape (resamples,)."""
    if (of_pairs == of_pairs[0]).all():  # sum_ij w_i w_j = ((sum w)^2 - sum w^2) / 2
        both = weights.sum(axis=1) ** 2 - np.einsum("rp,rp->r", weights, weights)
        return np.asarray(both * (of_pairs[0] / 2), dtype=float)
    square = np.zeros((weights.shape[1], weights.shape[1]))
    square[pair_indices(len(square))] = of_pairs
    return np.asarray(np.einsum("rp,rp->r", weights @ square, weights), dtype=float)


class ProfileRankAgreement(NamedTuple):
    """Whether the identifiers of an axis agree on which base profiles are better."""

    mean_rho: float
    """Mean Spearman's rho between identifier columns, -1 to 1; 1 = all agree."""
    interval: Interval
    """95 % interval."""


@dataclass(frozen=True)
class IdentifierRhos:
    """Spearman's rho of the profiles' order between identifiers, by use case, language and axis."""

    outcomes: Outcomes

    @cached_property
    def means(self) -> dict[Key, Floats]:
        """Means over questions and repeats that can be ranked, shape (identifiers, profiles)."""
        return {
            key: means for stack in self._stacks for key, means in zip(stack.keys, stack.arrays, strict=True)
        }

    @cached_property
    def of_pairs(self) -> dict[Key, Floats]:
        """The defined rhos of the pairs of identifiers."""
        return of_each(self._stacks, _pair_rhos_of_complete, _pair_rhos)

    @cached_property
    def without_each_profile(self) -> dict[Key, Floats | None]:
        """Sum and number of the defined rhos, each profile left out in turn, shape (2, profiles).

        None where a mean is missing.
        """
        return of_each(self._stacks, _sums_of_complete, _no_sums)

    @cached_property
    def _stacks(self) -> list[Stack]:
        return [Stack(stack.keys, comparable(stack.arrays)) for stack in self.outcomes.profile_means]


def _sums_of_complete(means: Floats) -> list[Floats | None]:
    return list(_rho_sums_without_each_profile(means))


def _no_sums(means: Floats) -> Floats | None:
    return None


def profile_rank_agreement(
    rhos: IdentifierRhos, language: str, use_case: str, intervals: Intervals
) -> ProfileRankAgreement | None:
    """Return the mean rho over the identifier pairs of all axes, pooled; None where none is defined.

    For each axis: profile x identifier means over questions and repeats, Spearman's rho between all pairs
    of identifier columns. "pairs" resamples the rhos; "cluster" is the delete-one-profile jackknife.
    """
    keys = [key for axis in AXES if (key := (language, use_case, axis)) in rhos.means]
    defined = np.concatenate([rhos.of_pairs[key] for key in keys]) if keys else np.empty(0)
    if not len(defined):
        return None
    mean = float(defined.mean())
    if intervals.kind == "pairs":
        purpose = f"profile rank agreement {language} {use_case}"
        return ProfileRankAgreement(mean, intervals.of_mean(defined, purpose))
    if intervals.kind == "cluster":
        left_out = _agreement_without_each_profile(rhos, keys)
        return ProfileRankAgreement(mean, within(jackknife_interval(mean, [left_out]), 1))
    return ProfileRankAgreement(mean, NO_INTERVAL)


def _pair_rhos(means: Floats) -> Floats:
    """Return the defined rhos of the pairs of identifiers, `means` of shape (identifiers, profiles)."""
    return _defined(spearman_columns(means.T)[pair_indices(len(means))])


def _pair_rhos_of_complete(means: Floats) -> list[Floats]:
    first, second = pair_indices(means.shape[1])
    return [_defined(rhos) for rhos in rank_correlations(average_ranks(means))[:, first, second]]


def _defined(rhos: Floats) -> Floats:
    return np.asarray(rhos[~np.isnan(rhos)], dtype=float)


def _agreement_without_each_profile(rhos: IdentifierRhos, keys: list[Key]) -> Floats:
    """Return the pooled mean rho with each profile that has data left out in turn."""
    known = [sums for key in keys if (sums := rhos.without_each_profile[key]) is not None]
    if len(known) == len(keys):
        total = np.asarray(np.sum(known, axis=0))
    else:
        total = _sums_with_gaps([rhos.means[key] for key in keys])
    with np.errstate(invalid="ignore"):
        return np.asarray(total[0] / total[1], dtype=float)


def _sums_with_gaps(means: list[Floats]) -> Floats:
    """Return sum and number of the defined rhos of all axes, each profile with data left out in turn."""
    present = np.flatnonzero(~np.all([np.isnan(of_axis).all(axis=0) for of_axis in means], axis=0))
    kept = [of_axis[:, present] for of_axis in means]
    if not any(np.isnan(of_axis).any() for of_axis in kept):
        return np.asarray(np.sum([_rho_sums_without_each_profile(of_axis) for of_axis in kept], axis=0))
    left = [[_pair_rhos(np.delete(of_axis, profile, axis=1)) for of_axis in means] for profile in present]
    return np.array([[sum(r.sum() for r in rhos), sum(map(len, rhos))] for rhos in left]).T


def _rho_sums_without_each_profile(means: Floats) -> Floats:
    """Return sum and number of the defined rhos between identifiers, each profile left out in turn.

    Shape (..., identifiers, profiles) to (..., 2, profiles). Without profile d, a value's rank loses 1 if it
    was above the value of d and 1/2 if they were equal. The rhos of all pairs of m standardised columns sum
    to (|sum of columns|^2 - m) / 2.
    """
    by_profile = np.ascontiguousarray(means.swapaxes(-1, -2))
    left_out, kept = by_profile[..., :, None, :], by_profile[..., None, :, :]
    n = means.shape[-1]
    own = average_ranks(means).swapaxes(-1, -2)[..., None, :, :] - n / 2  # n / 2: the mean of the ranks left
    lost = (left_out < kept).view(np.int8) + (left_out <= kept).view(np.int8)
    centred = own - lost / 2
    centred[..., np.arange(n), np.arange(n), :] = 0
    scale = np.sqrt(np.einsum("...pi,...pi->...i", centred, centred))  # of halves: exact in any order
    varies = scale > 0
    centred /= np.where(varies, scale, 1)[..., None, :]
    n_columns = varies.sum(axis=-1)
    squared = (centred.sum(axis=-1) ** 2).sum(axis=-1)
    return np.stack([(squared - n_columns) / 2, n_columns * (n_columns - 1) / 2], axis=-2)


def _by_profile(outcomes: Outcomes, language: str, use_case: str) -> Floats | None:
    """Return shape (profiles, identifiers x questions x repeats over all axes); None without data."""
    parts = [
        values.transpose(1, 0, 2, 3).reshape(values.shape[1], -1)
        for _, values in outcomes.blocks(use_case=use_case, language=language)
    ]
    return np.concatenate(parts, axis=1) if parts else None
