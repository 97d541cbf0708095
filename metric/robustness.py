"""Question robustness: do the identifiers keep their order when the question is worded differently?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .gaps import pair_indices
from .intervals import Intervals
from .layout import Floats
from .outcomes import Key, Outcomes, Stack
from .ranks import average_ranks, comparable, rank_correlations, spearman_columns
from .resampling import NO_INTERVAL, Interval, jackknife_interval, within
from .stacks import of_each

ROBUST_RHO = 0.85
"""From here on the paper marks an axis as robust."""


class QuestionRobustness(NamedTuple):
    """The smallest rank correlation between question variants, averaged over use cases."""

    mean_min_rho: float
    """-1 to 1; 1 = every wording ranks the identifiers alike."""
    interval: Interval
    """95 % interval."""


@dataclass(frozen=True)
class QuestionRhos:
    """The smallest rho between question variants of each use case, language and axis."""

    outcomes: Outcomes

    @cached_property
    def of_blocks(self) -> dict[Key, float]:
        """The rhos that are defined, in benchmark order."""
        means = (stack.mean((2, 4)) for stack in self.outcomes.stacks)
        ranked = (Stack(stack.keys, comparable(stack.arrays)) for stack in means)
        found = of_each(ranked, _smallest_of_complete, _smallest_rho_where_both)
        return {key: found[key] for key in self.outcomes.keys if not np.isnan(found[key])}

    @cached_property
    def without_each_profile(self) -> dict[Key, Floats]:
        """The rhos with each profile left out in turn, shape (profiles,); NaN for one without data."""
        stacks = [_without_each_profile(stack) for stack in self.outcomes.stacks]
        found = of_each((means for means, _ in stacks), _smallest_in_complete, _smallest_of_each_profile)
        present = {
            key: of_block
            for means, of_stack in stacks
            for key, of_block in zip(means.keys, of_stack, strict=True)
        }
        return {key: np.where(present[key], rhos, np.nan) for key, rhos in found.items()}


def _smallest_of_complete(means: Floats) -> list[float]:
    """`means` has shape (blocks, identifiers, questions)."""
    rhos = rank_correlations(average_ranks(means.swapaxes(1, 2)))
    first, second = pair_indices(means.shape[2])
    smallest: list[float] = np.fmin.reduce(rhos[:, first, second], axis=1, initial=np.nan).tolist()
    return smallest


def _smallest_rho_where_both(means: Floats) -> float:
    """Return the smallest rho between question columns, each pair over the identifiers that have both."""
    rho = spearman_columns(means)[pair_indices(means.shape[1])]
    return float(np.nanmin(rho)) if not np.isnan(rho).all() else np.nan


def _without_each_profile(stack: Stack) -> tuple[Stack, list[Floats]]:
    """Return means with each profile left out in turn, and which profiles of each block have data.

    The means have shape (blocks, profiles, questions, identifiers).
    """
    there = ~np.isnan(stack.arrays)
    values = stack.arrays if there.all() else np.where(there, stack.arrays, 0)
    total, count = values.sum(axis=4), there.sum(axis=4)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (total.sum(axis=2, keepdims=True) - total) / (count.sum(axis=2, keepdims=True) - count)
    ranked = comparable(np.ascontiguousarray(means.transpose(0, 2, 3, 1)))
    return Stack(stack.keys, ranked), list(count.any(axis=(1, 3)))


def _smallest_in_complete(means: Floats) -> list[Floats]:
    return list(smallest_rho(means))


def _smallest_of_each_profile(means: Floats) -> Floats:
    """`means` has shape (profiles, questions, identifiers) and gaps."""
    return np.array([_smallest_rho_where_both(of_profile.T) for of_profile in means])


def smallest_rho(means: Floats) -> Floats:
    """Return the smallest Spearman's rho between question columns, shape (..., questions, identifiers).

    Columns that are constant over the identifiers are skipped; NaN with fewer than two others. No value may
    be missing.
    """
    centred = average_ranks(means) - (means.shape[-1] + 1) / 2
    products = centred @ centred.swapaxes(-1, -2)  # of halves: exact in any order
    scale = np.sqrt(np.diagonal(products, axis1=-2, axis2=-1))
    first, second = pair_indices(means.shape[-2])
    with np.errstate(divide="ignore", invalid="ignore"):
        rhos = np.clip(products[..., first, second] / (scale[..., first] * scale[..., second]), -1, 1)
    return np.asarray(np.fmin.reduce(rhos, axis=-1, initial=np.nan), dtype=float)


def question_robustness(
    rhos: QuestionRhos, language: str, axes: Sequence[str], intervals: Intervals
) -> QuestionRobustness | None:
    """Return the question robustness of a language, averaged over axes; None where nothing defines it.

    For each use case and axis: identifier x question means over profiles, the smallest pairwise Spearman's
    rho; then the mean over use cases, then over axes. "pairs" resamples the values that are averaged last
    (use cases for one axis, axes for several), as the paper does; "cluster" is the delete-one-profile
    jackknife.
    """
    by_axis = [[key for key in rhos.of_blocks if key[0] == language and key[2] == axis] for axis in axes]
    by_axis = [keys for keys in by_axis if keys]
    if not by_axis:
        return None
    means = np.array([np.mean([rhos.of_blocks[key] for key in keys]) for keys in by_axis])
    mean = float(means.mean())
    if intervals.kind == "pairs":
        last = means if len(axes) > 1 else np.array([rhos.of_blocks[key] for key in by_axis[0]])
        purpose = f"question robustness {language} {sorted(axes)}"
        return QuestionRobustness(mean, intervals.of_mean(last, purpose))
    if intervals.kind == "cluster":
        left_out = _shares_without_each_profile(rhos, by_axis)
        return QuestionRobustness(mean, within(jackknife_interval(mean, left_out), 1))
    return QuestionRobustness(mean, NO_INTERVAL)


def _shares_without_each_profile(rhos: QuestionRhos, by_axis: list[list[Key]]) -> list[Floats]:
    """Return each use case's share of the mean rho, with each of its profiles left out in turn."""
    shares: dict[str, Floats] = {}
    for keys in by_axis:
        for key in keys:
            share = rhos.without_each_profile[key] / (len(keys) * len(by_axis))
            shares[key[1]] = shares.get(key[1], np.zeros(len(share))) + share
    return [share[~np.isnan(share)] for share in shares.values()]
