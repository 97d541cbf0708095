"""Differences of two systematic gaps whose profiles are the same: two runs, or identities and controls.

The ends of both intervals are combined (MOVER: the method of variance estimates recovery), less what both
have in common because the same profiles are high in both. So the interval of a difference is as uneven as
those it is made of; a paired jackknife would have no power where few profiles carry the effect. Source: Zou
& Donner 2008, with correlation Zou 2007.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Final, NamedTuple

import numpy as np

from .gap_law import ROUNDING, TAIL, GapLaw
from .layout import Bools, Floats
from .systematic_gap import gap_pct

LARGEST_CORRELATION: Final = 0.95
"""Beyond it the difference would be certain: an estimate of a correlation never is."""
SMALLEST_LOG_P: Final = -12.0
STEPS: Final = 45
"""Halvings in the search of a p-value: more than its digits."""
SIGNIFICANT: Final = 0.05


class GapDifference(NamedTuple):
    """D of one law minus that of another; arrays of the laws' shape, NaN where there is none."""

    squared: Floats
    low: Floats
    high: Floats
    p_value: Floats
    """Two-sided: from which level on the interval leaves out 0."""
    points: Floats
    """The same in percentage points of the gap: sqrt(max(0, D)) of one minus that of the other."""
    points_low: Floats
    points_high: Floats


def gap_difference(first: GapLaw, second: GapLaw) -> GapDifference:
    """Return D of the first minus D of the second, on the same profiles."""
    shared = np.clip(_correlation(first, second), -LARGEST_CORRELATION, LARGEST_CORRELATION)
    squared = first.squared_gap - second.squared_gap
    low, high = _ends(first, second, shared, np.full(squared.shape, TAIL))
    p_value = _p_value(first, second, shared, squared)
    one, other = gap_pct(first.squared_gap), gap_pct(second.squared_gap)
    points = one - other
    # A gap near 0 is estimated too large (a root of what chance left above 0), and would make the difference
    # too small: the end that lies further from 0 takes the lower end of the smaller gap.
    surely = np.minimum(*(gap_pct(law.ends(np.full(squared.shape, TAIL))[0]) for law in (first, second)))
    wide, narrow = np.maximum(one, other) + np.minimum(surely, np.minimum(one, other)), one + other
    ends = [_points(low, np.where(low < 0, wide, narrow)), _points(high, np.where(high > 0, wide, narrow))]
    parts = [low, high, p_value, points, np.minimum(ends[0], points), np.maximum(ends[1], points)]
    same = (squared == 0) & (_correlation(first, second) > 1 - ROUNDING)  # the same answers: certain
    parts = [np.where(same & (at != 2), 0, part) for at, part in enumerate(parts)]
    bounded = first.bounded & second.bounded
    known = [part if at == 3 else np.where(bounded, part, np.nan) for at, part in enumerate(parts)]
    return GapDifference(squared, *known)


def _correlation(first: GapLaw, second: GapLaw) -> Floats:
    shared = (first.influence * second.influence).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = shared / np.sqrt(first.variance * second.variance)
    return np.asarray(np.nan_to_num(found, posinf=0, neginf=0))


def _reaches(first: GapLaw, second: GapLaw, sign: int, tail: Floats) -> tuple[Floats, Floats]:
    """Return how far the first may be lower and the second higher (sign -1), or the other way round."""
    ends_of_first, ends_of_second = first.ends(tail), second.ends(tail)
    if sign < 0:
        return first.squared_gap - ends_of_first[0], ends_of_second[1] - second.squared_gap
    return ends_of_first[1] - first.squared_gap, second.squared_gap - ends_of_second[0]


def _length(one: Floats, other: Floats, shared: Floats) -> Floats:
    return np.sqrt(np.maximum(one**2 + other**2 - 2 * shared * one * other, 0))


def _ends(first: GapLaw, second: GapLaw, shared: Floats, tail: Floats) -> tuple[Floats, Floats]:
    squared = first.squared_gap - second.squared_gap
    low = squared - _length(*_reaches(first, second, -1, tail), shared)
    return low, squared + _length(*_reaches(first, second, 1, tail), shared)


def _p_value(first: GapLaw, second: GapLaw, shared: Floats, squared: Floats) -> Floats:
    """Return the smallest level whose interval leaves out 0, by bisection of its logarithm."""
    below, above = np.full(squared.shape, SMALLEST_LOG_P), np.zeros(squared.shape)
    for _ in range(STEPS):
        middle = (below + above) / 2
        low, high = _ends(first, second, shared, 1 - 10**middle / 2)
        outside = (low > 0) | (high < 0)
        below, above = np.where(outside, below, middle), np.where(outside, middle, above)
    return np.where(squared == 0, 1.0, 10**above)


def _points(end: Floats, gaps: Floats) -> Floats:
    """Return an end of D's difference in points of the gap; `gaps` is the sum of both gaps.

    D1 - D2 is (g1 - g2) (g1 + g2), so a difference of D is divided by the sum of the gaps; and no difference
    of gaps exceeds the root of that of D, which counts where both gaps are near 0. The sign stays, so that
    both intervals agree about 0.
    """
    size = np.abs(end)
    with np.errstate(divide="ignore", invalid="ignore"):
        points = np.sign(end) * size / np.maximum(gaps, np.sqrt(size))
    return np.where(size == 0, 0.0, points)


def rank_ranges(laws: Sequence[GapLaw]) -> list[tuple[int, int]]:
    """Return the best and the worst rank that each run may have; 1 is the smallest gap.

    `laws` are of one selection each, or scalars.
    """
    below = clearly_below(laws)
    best, worst = 1 + below.sum(axis=0), len(laws) - below.sum(axis=1)
    return list(zip(best.tolist(), worst.tolist(), strict=True))


def clearly_below(laws: Sequence[GapLaw]) -> Bools:
    """Return which run's gap (row) is smaller than which (column), beyond chance.

    All pairs are tested on their differences, p-values adjusted by Holm's method: intervals of two runs may
    overlap where their difference, on the same profiles, is certain.
    """
    n = len(laws)
    found = np.zeros((n, n), dtype=bool)
    if n < 2:
        return found
    # all pairs at once: two hundred runs have 19,900
    table = {field.name: np.stack([getattr(law, field.name) for law in laws]) for field in fields(GapLaw)}
    first, second = np.triu_indices(n, k=1)
    one, other = (GapLaw(**{name: column[at] for name, column in table.items()}) for at in (first, second))
    difference = gap_difference(one, other)
    differ = holm(difference.p_value) < SIGNIFICANT
    smaller = np.where(difference.squared < 0, first, second)[differ]
    larger = np.where(difference.squared < 0, second, first)[differ]
    found[smaller, larger] = True
    return found


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted by Holm's method over all of them."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    factors = np.arange(len(p_values), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return adjusted
