"""Ranks of many models by their systematic gaps, from the paired differences of all of them.

Models were asked the same profiles, so that much of what one interval holds is common to both: intervals of
single models overlap long before the models are alike. Two models differ where the interval of the difference
of their squared gaps does not hold 0 (MOVER with the runs' correlation), after Holm's adjustment over all
pairs: with a chance of 95 % no two equal models are told apart.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

import numpy as np

from .gap_law import LARGEST_CORRELATION, GapLaw
from .layout import Bools, Floats
from .systematic_gap import SystematicGaps

SIGNIFICANT: Final = 0.05
_STEPS: Final = 40
"""Halvings of the search for a p-value: it is then known to 1e-12."""


def whole_law(gaps: SystematicGaps) -> dict[str, Any] | None:
    """Return the law of a run's whole gap as JSON can hold it; None where it has no interval."""
    place = gaps.place()
    if not gaps.laws.bounded[place]:
        return None
    return {
        field.name: np.asarray(getattr(gaps.laws, field.name)[place]).tolist() for field in fields(GapLaw)
    }


def rank_ranges(laws: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return the best and the worst rank of each model, by `whole_law` of each; the smallest gap is first."""
    below = clearly_below(laws)
    best, worst = 1 + below.sum(axis=0), len(laws) - below.sum(axis=1)
    return list(zip(best.tolist(), worst.tolist(), strict=True))


def clearly_below(laws: Sequence[dict[str, Any]]) -> Bools:
    """Return which model's gap (row) is smaller than which (column), beyond chance."""
    n = len(laws)
    found = np.zeros((n, n), dtype=bool)
    if n < 2:
        return found
    first, second = np.triu_indices(n, k=1)
    differ = holm(difference_p_values(laws, first, second)) < SIGNIFICANT
    squared = np.array([law["squared_gap"] for law in laws])
    is_first = squared[first] < squared[second]
    low, high = np.where(is_first, first, second), np.where(is_first, second, first)
    found[low[differ], high[differ]] = True
    return found


def difference_p_values(laws: Sequence[dict[str, Any]], first: Any, second: Any) -> Floats:
    """Return the two-sided p-value of no difference for pairs of models, given by their places."""
    table = {field.name: np.array([law[field.name] for law in laws]) for field in fields(GapLaw)}
    larger, smaller = first.copy(), second.copy()
    swapped = table["squared_gap"][first] < table["squared_gap"][second]
    larger[swapped], smaller[swapped] = second[swapped], first[swapped]
    a, b = (GapLaw(**{name: column[at] for name, column in table.items()}) for at in (larger, smaller))
    shared = np.einsum("pi,pi->p", a.influence, b.influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.nan_to_num(shared / np.sqrt(a.variance * b.variance))
    correlation = np.clip(correlation, -LARGEST_CORRELATION, LARGEST_CORRELATION)
    difference = a.squared_gap - b.squared_gap
    low, high = np.full(len(difference), 0.5), np.ones(len(difference))
    for _ in range(_STEPS):
        tail = (low + high) / 2
        down, up = a.squared_gap - a.ends(tail)[0], b.ends(tail)[1] - b.squared_gap
        reach = np.sqrt(np.maximum(down**2 + up**2 - 2 * correlation * down * up, 0))
        excludes = difference > reach
        low, high = np.where(excludes, tail, low), np.where(excludes, high, tail)
    return np.where(difference > 0, 2 * (1 - low), 1.0)


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted by Holm's method over all of them."""
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return adjusted
