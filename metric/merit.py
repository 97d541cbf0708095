"""Merit: how strongly outputs follow the base profile, and whether all identifiers agree on the order."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .gaps import pair_indices, pairwise_gaps_pct
from .layout import Floats, Ints
from .options import Definitions
from .outcomes import Key, Outcomes, Stack, mean_where_any, of_each
from .ranks import average_ranks, comparable, rank_correlations, spearman_columns
from .resampling import Jackknife, OfUseCase, leaving_one_out


class MeritGaps(NamedTuple):
    """The gaps between all pairs of base profiles of one use case and language."""

    gaps: Floats
    """The defined gaps, flat, in percent."""
    total: Floats
    """Sum of the gaps of each pair of profiles, in the order of `pair_indices`, shape (pairs,)."""
    n_gaps: Ints
    """Number of gaps of each pair of profiles, the same shape."""

    @property
    def mean_pct(self) -> float:
        """Mean gap, in percent; larger = outputs follow merit more."""
        return float(self.total.sum() / self.n_gaps.sum())

    def drawn_means(self, weights: Floats) -> Floats:
        """Return the mean under weights (n, profiles): a gap counts as often as both its profiles do."""
        n, found = weights.shape[1], []
        for of_pairs in (self.total, self.n_gaps):
            square = np.zeros((n, n))
            square[pair_indices(n)] = of_pairs
            found.append(((weights @ square) * weights).sum(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(found[0] / found[1], dtype=float)


def merit_gaps(
    outcomes: Outcomes, language: str, use_case: str, definitions: Definitions
) -> MeritGaps | None:
    """Return the gaps between profiles, identifier, question and repeat fixed; None without any."""
    parts = [
        values.transpose(1, 0, 2, 3).reshape(values.shape[1], -1)
        for _, values in outcomes.blocks(use_case=use_case, language=language)
    ]
    return _gaps_of(np.concatenate(parts, axis=1), definitions) if parts else None


def responsiveness_gaps(
    outcomes: Outcomes, language: str, use_case: str, definitions: Definitions
) -> MeritGaps | None:
    """Return the gaps between the profiles' means over all identifiers and repeats, by question.

    Answers that do not follow qualifications differ between profiles at random, which means over 87
    identifiers do not. `outcomes` are amounts.
    """
    parts = [
        values.transpose(1, 2, 0, 3).reshape(*values.shape[1:3], -1)
        for _, values in outcomes.blocks(use_case=use_case, language=language)
    ]
    if not parts:
        return None
    return _gaps_of(mean_where_any(np.concatenate(parts, axis=2), (2,)), definitions)


def _gaps_of(by_profile: Floats, definitions: Definitions) -> MeritGaps | None:
    gaps = pairwise_gaps_pct(by_profile, definitions)
    defined = ~np.isnan(gaps)
    count = defined.sum(axis=1)
    if not count.any():
        return None
    complete = bool(defined.all())
    total = (gaps if complete else np.where(defined, gaps, 0)).sum(axis=1)
    return MeritGaps(gaps.ravel() if complete else gaps[defined], total, count)


@dataclass(frozen=True)
class IdentifierRhos:
    """Spearman's rho of the profiles' order between the identifiers of an axis, of every block."""

    outcomes: Outcomes

    @cached_property
    def of_pairs(self) -> dict[Key, Floats]:
        """The defined rhos of the pairs of identifiers."""
        return of_each(
            self._stacks,
            lambda means: [_defined(rhos) for rhos in rank_correlations(average_ranks(means))],
            lambda means: _defined(spearman_columns(means.T)),
        )

    @cached_property
    def sums(self) -> dict[Key, Floats]:
        """Number and sum of the defined rhos: of all profiles, then without each; shape (2, 1 + profiles)."""
        return of_each(self._stacks, lambda means: list(_sums_of_complete(means)), _sums_with_gaps)

    @cached_property
    def present(self) -> dict[Key, Floats]:
        """Which profiles have a mean."""
        return {
            key: ~np.isnan(means).all(axis=0)
            for stack in self._stacks
            for key, means in zip(stack.keys, stack.arrays, strict=True)
        }

    @cached_property
    def _stacks(self) -> list[Stack]:
        return [Stack(stack.keys, comparable(stack.arrays)) for stack in self.outcomes.profile_means]

    def agreement(self, language: str, use_case: str) -> tuple[Floats, Jackknife] | None:
        """Return the defined rhos of all axes, pooled, and their mean; None where none is defined."""
        keys = [key for key in self.of_pairs if key[:2] == (language, use_case)]
        rhos = np.concatenate([self.of_pairs[key] for key in keys]) if keys else np.empty(0)
        if not len(rhos):
            return None
        number, total = np.sum([self.sums[key] for key in keys], axis=0)
        used = np.logical_or.reduce([self.present[key] for key in keys])
        with np.errstate(divide="ignore", invalid="ignore"):
            means = total / number
        means[0] = rhos.mean()
        part = OfUseCase(use_case, means, used, 1.0)
        return rhos, Jackknife.mean([part], self.outcomes.layout)


def _defined(rhos: Floats) -> Floats:
    """Return the defined rhos of the pairs of a matrix."""
    of_pairs = rhos[pair_indices(len(rhos))]
    return np.asarray(of_pairs[~np.isnan(of_pairs)], dtype=float)


def _sums_of_complete(means: Floats) -> Floats:
    """Return number and sum of the rhos, shape (..., identifiers, profiles) to (..., 2, 1 + profiles).

    Without profile d, a value's rank loses 1 if it was above the value of d and 1/2 if they were equal. The
    rhos of all pairs of m standardised columns sum to (|sum of columns|^2 - m) / 2.
    """
    by_profile = np.ascontiguousarray(means.swapaxes(-1, -2))
    n = means.shape[-1]
    whole = average_ranks(means).swapaxes(-1, -2)[..., None, :, :]
    left_out, kept = by_profile[..., :, None, :], by_profile[..., None, :, :]
    lost = (left_out < kept).view(np.int8) + (left_out <= kept).view(np.int8)
    without = whole - n / 2 - lost / 2  # n / 2: the mean of the ranks that are left
    without[..., np.arange(n), np.arange(n), :] = 0
    centred = np.concatenate([whole - (n + 1) / 2, without], axis=-3)
    scale = np.sqrt(np.einsum("...pi,...pi->...i", centred, centred))  # of halves: exact in any order
    varies = scale > 0
    centred /= np.where(varies, scale, 1)[..., None, :]
    n_columns = varies.sum(axis=-1)
    squared = (centred.sum(axis=-1) ** 2).sum(axis=-1)
    return np.stack([n_columns * (n_columns - 1) / 2, (squared - n_columns) / 2], axis=-2)


def _sums_with_gaps(means: Floats) -> Floats:
    """Return what `_sums_of_complete` does where means are missing, pairs over the profiles both have."""
    left = leaving_one_out(means.shape[1]) > 0
    rhos = [_defined(spearman_columns(means[:, kept].T)) for kept in left]
    return np.array([[len(found) for found in rhos], [found.sum() for found in rhos]], dtype=float)
