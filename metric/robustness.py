"""Question robustness: do the identifiers keep their order when the question is worded differently?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from .gaps import pair_indices
from .intervals import Intervals
from .layout import Floats
from .outcomes import Outcomes, mean_where_any
from .ranks import average_ranks, comparable, spearman_columns
from .resampling import NO_INTERVAL, Interval, jackknife_interval, within

ROBUST_RHO = 0.85
"""From here on the paper marks an axis as robust."""


@dataclass(frozen=True, slots=True)
class QuestionRobustness:
    """The smallest rank correlation between question variants, averaged over use cases."""

    mean_min_rho: float
    """-1 to 1; 1 = every wording ranks the identifiers alike."""
    interval: Interval
    """95 % interval."""


def smallest_rho(means: Floats) -> Floats:
    """Return the smallest Spearman's rho between question columns, shape (..., questions, identifiers).

    Columns that are constant over the identifiers are skipped; NaN with fewer than two others. No value may
    be missing.
    """
    centred = average_ranks(means) - (means.shape[-1] + 1) / 2
    scale = np.sqrt((centred**2).sum(axis=-1))
    smallest = np.full(means.shape[:-2], np.inf)
    for a, b in combinations(range(means.shape[-2]), 2):
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = (centred[..., a, :] * centred[..., b, :]).sum(axis=-1)
            rho = np.clip(rho / (scale[..., a] * scale[..., b]), -1, 1)
        smallest = np.fmin(smallest, np.where(np.isnan(rho), np.inf, rho))
    return np.where(np.isinf(smallest), np.nan, smallest)


def question_robustness(
    outcomes: Outcomes, language: str, axes: Sequence[str], intervals: Intervals
) -> QuestionRobustness | None:
    """Return the question robustness of a language, averaged over axes; None where nothing defines it.

    For each use case and axis: identifier x question means over profiles, the smallest pairwise Spearman's
    rho; then the mean over use cases, then over axes. "pairs" resamples the values that are averaged last
    (use cases for one axis, axes for several), as the paper does; "cluster" is the delete-one-profile
    jackknife.
    """
    by_axis = [_defined_blocks(outcomes, language, axis) for axis in axes]
    by_axis = [blocks for blocks in by_axis if blocks]
    if not by_axis:
        return None
    means = np.array([np.mean([rho for _, rho, _ in blocks]) for blocks in by_axis])
    mean = float(means.mean())
    if intervals.kind == "pairs":
        last = means if len(axes) > 1 else np.array([rho for _, rho, _ in by_axis[0]])
        purpose = f"question robustness {language} {sorted(axes)}"
        return QuestionRobustness(mean, intervals.of_mean(last, purpose))
    if intervals.kind == "cluster":
        left_out = _without_each_profile(by_axis)
        return QuestionRobustness(mean, within(jackknife_interval(mean, left_out), 1))
    return QuestionRobustness(mean, NO_INTERVAL)


_BlockRho: TypeAlias = tuple[str, float, Floats]
"""Use case, its smallest rho, its values."""


def _defined_blocks(outcomes: Outcomes, language: str, axis: str) -> list[_BlockRho]:
    blocks = [
        (block.use_case, _block_rho(values), values)
        for block, values in outcomes.blocks(language=language, axis=axis)
    ]
    return [block for block in blocks if not np.isnan(block[1])]


def _without_each_profile(by_axis: list[list[_BlockRho]]) -> list[Floats]:
    """Return each use case's share of the mean rho, with each of its profiles left out in turn."""
    shares: dict[str, Floats] = {}
    for blocks in by_axis:
        for use_case, _, values in blocks:
            share = _rho_without_each_profile(values) / (len(blocks) * len(by_axis))
            shares[use_case] = shares.get(use_case, np.zeros(values.shape[1])) + share
    return [share[~np.isnan(share)] for share in shares.values()]


def _block_rho(values: Floats) -> float:
    """`values` has shape (identifiers, profiles, questions, repeats)."""
    return _smallest_rho_where_both(comparable(mean_where_any(values, (1, 3))))


def _smallest_rho_where_both(means: Floats) -> float:
    """Return the smallest rho between question columns, each pair over the identifiers that have both."""
    rho = spearman_columns(means)[pair_indices(means.shape[1])]
    return float(np.nanmin(rho)) if not np.isnan(rho).all() else np.nan


def _rho_without_each_profile(values: Floats) -> Floats:
    """Return the smallest rho with each profile left out in turn; NaN for a profile without data."""
    there = ~np.isnan(values)
    total, count = np.where(there, values, 0).sum(axis=3), there.sum(axis=3)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (total.sum(axis=1, keepdims=True) - total) / (count.sum(axis=1, keepdims=True) - count)
    means = comparable(means.transpose(1, 2, 0))  # profiles, questions, identifiers
    if np.isnan(means).any():
        rho = np.array([_smallest_rho_where_both(of_profile.T) for of_profile in means])
    else:
        rho = smallest_rho(means)
    return np.where(there.any(axis=(0, 2, 3)), rho, np.nan)
