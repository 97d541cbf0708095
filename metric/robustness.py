"""Question robustness and language moderation: do the identifiers keep their order in other words?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .gaps import pair_indices
from .layout import Bools, Floats
from .outcomes import Key, Outcomes, Stack, mean_where_any, of_each
from .ranks import average_ranks, comparable, rank_correlations, spearman, spearman_columns
from .resampling import Jackknife, OfUseCase, leaving_one_out

ROBUST_RHO = 0.85
"""From here on the paper marks an axis as robust."""
UNITS = {"INR": 100_000.0}
"""What an annual amount of a currency is counted in where use cases are pooled: the paper pooled lakhs."""


@dataclass(frozen=True)
class QuestionRhos:
    """The smallest rho between question variants of each use case, language and axis."""

    outcomes: Outcomes

    @cached_property
    def of_blocks(self) -> dict[Key, tuple[Floats, Bools]]:
        """The rhos that are defined, and without each profile (1 + profiles,); and which profiles count."""
        stacks = [_question_means(stack) for stack in self.outcomes.stacks]
        found = of_each((means for means, _ in stacks), lambda arrays: list(smallest_rho(arrays)), _with_gaps)
        present = {
            key: of_block
            for means, of_stack in stacks
            for key, of_block in zip(means.keys, of_stack, strict=True)
        }
        return {
            key: (found[key], present[key] & ~np.isnan(found[key][1:]))
            for key in self.outcomes.keys
            if not np.isnan(found[key][0])
        }

    def robustness(self, language: str, axes: Sequence[str]) -> tuple[Floats, Jackknife] | None:
        """Return the values that are averaged last, and the question robustness: the mean over axes.

        For each use case and axis: identifier x question means over profiles, the smallest pairwise
        Spearman's rho; then the mean over use cases, then over axes. Averaged last are use cases for one
        axis, axes for several. None where nothing defines it.
        """
        by_axis = [[key for key in self.of_blocks if key[0] == language and key[2] == axis] for axis in axes]
        by_axis = [keys for keys in by_axis if keys]
        if not by_axis:
            return None
        means = np.array([np.mean([self.of_blocks[key][0][0] for key in keys]) for keys in by_axis])
        parts = [
            OfUseCase(key[1], *self.of_blocks[key], 1 / (len(keys) * len(by_axis)))
            for keys in by_axis
            for key in keys
        ]
        last = means if len(axes) > 1 else np.array([self.of_blocks[key][0][0] for key in by_axis[0]])
        return last, Jackknife.mean(parts, self.outcomes.layout)


def _question_means(stack: Stack) -> tuple[Stack, list[Bools]]:
    """Return means with all profiles and with each left out, and which profiles of each block have data.

    The means have shape (blocks, 1 + profiles, questions, identifiers).
    """
    there = ~np.isnan(stack.arrays)
    values = stack.arrays if there.all() else np.where(there, stack.arrays, 0)
    total, count = values.sum(axis=4), there.sum(axis=4)
    weights = leaving_one_out(total.shape[2])
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.einsum("rp,bipq->brqi", weights, total, optimize=True) / np.einsum(
            "rp,bipq->brqi", weights, count.astype(float), optimize=True
        )
    return Stack(stack.keys, comparable(np.ascontiguousarray(means))), list(count.any(axis=(1, 3)))


def smallest_rho(means: Floats) -> Floats:
    """Return the smallest Spearman's rho between question columns, shape (..., questions, identifiers).

    Columns that are constant over the identifiers are skipped; NaN with fewer than two others. No value may
    be missing.
    """
    first, second = pair_indices(means.shape[-2])
    rhos = rank_correlations(average_ranks(means))[..., first, second]
    return np.asarray(np.fmin.reduce(rhos, axis=-1, initial=np.nan), dtype=float)


def _with_gaps(means: Floats) -> Floats:
    """Return `smallest_rho` where means are missing, each pair over the identifiers that have both."""
    first, second = pair_indices(means.shape[1])
    rhos = [spearman_columns(of_profile.T)[first, second] for of_profile in means]
    return np.asarray(np.fmin.reduce(rhos, axis=-1, initial=np.nan), dtype=float)


def pooled_identifier_means(outcomes: Outcomes, language: str, axis: str, *, normalised: bool) -> Floats:
    """Return identifier means over the values of all use cases, shape (identifiers,).

    In the paper's units: annual CTC in lakh, project prices in rupees, percentages as they are, so that
    service prices weigh most. `normalised`: in percent of the mean of each slot instead, so that all slots
    weigh alike.
    """
    n = len(outcomes.design.identifiers[axis])
    total, count = np.zeros(n), np.zeros(n)
    for block, values in outcomes.blocks(language=language, axis=axis):
        if normalised:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = values / np.abs(mean_where_any(values, (0,))) * 100
            values = np.where(np.isfinite(values), values, np.nan)
        there = ~np.isnan(values)
        unit = 1.0 if normalised else _unit(outcomes, block.use_case)
        total += np.where(there, values, 0).sum(axis=(1, 2, 3)) / unit
        count += there.sum(axis=(1, 2, 3))
    with np.errstate(invalid="ignore"):
        return comparable(np.asarray(total / count, dtype=float))


def _unit(outcomes: Outcomes, use_case: str) -> float:
    about = outcomes.design.use_case[use_case]
    is_annual = about.period == "year" and use_case not in outcomes.markups
    return UNITS.get(about.unit, 1.0) if is_annual else 1.0


def rank_correlation(outcomes: Outcomes, axis: str, *, normalised: bool = False) -> tuple[float, float]:
    """Return Spearman's rho of an axis's identifier means in the first two languages, and its p-value.

    Two-sided; NaN where it is undefined.
    """
    names = outcomes.design.language_names[:2]
    if len(names) < 2:
        return np.nan, np.nan
    if normalised:  # a markup is in percent already, and may be 0
        outcomes = outcomes.as_amounts
    first, second = (pooled_identifier_means(outcomes, name, axis, normalised=normalised) for name in names)
    return spearman(first, second)
