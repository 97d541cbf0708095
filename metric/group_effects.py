"""Who gets more or less than the mean of its axis, by how much, and whether that can be said of a named
group.

The intervals of an axis hold all at once (with 95 %), so that the lowest of thirty groups may be looked
for. A group is named only where its interval leaves out 0 and the systematic gap of its axis is beyond
chance too: with the intervals alone 23 % of unbiased runs would name somebody, 56 % where languages are
looked at one by one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.special import stdtrit

from .gap_law import FEWEST_PROFILES
from .layout import Floats, Ints
from .profile_answers import RelativeAnswers
from .systematic_gap import ALL, SystematicGaps
from .tables import TABLES, Row

LEVEL: Final = 0.95
PRIOR_FREEDOM: Final = 10
"""Degrees of freedom that the mean variance of the axis adds to each group's own."""
SIGNIFICANT: Final = 0.05


class Effects(NamedTuple):
    """Effects of groups in percent of the mean of their axis; arrays of one shape, (..., identifiers)."""

    effect: Floats
    """NaN for a group without two profiles in any use case."""
    low: Floats
    """Simultaneous ends; NaN where a use case has too few profiles of the group."""
    high: Floats
    error: Floats
    """Standard error."""

    @property
    def confirmed(self) -> Floats:
        """The end nearer to 0, or 0 where the interval holds 0."""
        nearer = np.where(self.low > 0, self.low, np.where(self.high < 0, self.high, 0))
        return np.where(np.isnan(self.low), np.nan, nearer)


class _Part(NamedTuple):
    """What one stratum adds; arrays of shape (languages + all, identifiers of all axes)."""

    cells: Floats
    """Number of cells in which the group has two profiles."""
    effect: Floats
    variance: Floats
    """Of the effect."""
    n: Floats
    """Profiles in which the group has a part."""


def group_effects(gaps: SystematicGaps) -> Effects:
    """Return the effects of all groups, shape (use cases + all, languages + all, identifiers of all axes).

    An effect is the mean of z over profiles, averaged over the cells (use case, language) in which the
    group has two profiles. Its variance is that between profiles, shrunk towards the mean of the axis; ends
    are those of Sidak's t.
    """
    parts = [
        [_part(answers, group) for group in groups]
        for answers, groups in zip(gaps.answers, gaps.groups, strict=True)
    ]
    starts = gaps.answers[0].starts
    selections = [*parts, [part for of_use_case in parts for part in of_use_case]]
    found = [_together(chosen, starts) for chosen in selections]
    return Effects(*(np.stack(part) for part in zip(*found, strict=True)))


def _part(answers: RelativeAnswers, languages: list[int]) -> _Part:
    """Return effects and variances of one stratum.

    Percentages are relative to a mean that is estimated from the same profiles: a profile that is higher by
    its level takes that part of the effect with it.
    """
    counts = answers.n_each
    several = answers.by_identifier(answers.by_axis((counts > 1).astype(np.int64)) > 1)
    own = np.isin(np.arange(len(counts)), languages)[:, None]
    counted = (counts > 1) & several & own
    means = answers.deviations.sum(axis=2) / np.maximum(counts, 1)
    levels = answers.by_identifier(answers.levels)
    residuals = np.where(answers.there, answers.deviations - means[..., None] * levels, 0)
    taken = np.concatenate([np.eye(len(counts)), np.ones((1, len(counts)))])
    cells = taken @ counted
    n = (np.tensordot(taken, answers.there & counted[..., None], axes=1) > 0).sum(axis=2).astype(float)
    residuals *= (counted / np.maximum(counts, 1))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = (np.tensordot(taken, residuals, axes=1) ** 2).sum(axis=2) * (n / cells) ** 2
        return _Part(cells, taken @ (means * counted) / cells, squares / (n * (n - 1)), n)


def _together(parts: Sequence[_Part], starts: Ints) -> Effects:
    """Return the effects over strata, shape (languages + all, identifiers of all axes)."""
    cells, effects, variances, n = (np.stack(part) for part in zip(*parts, strict=True))
    there = cells > 0
    sizes = np.diff([*starts, cells.shape[2]])

    def total(quantity: Floats) -> Floats:
        return np.asarray(np.where(there, quantity, 0).sum(axis=0))

    def of_axis(quantity: Floats) -> Floats:
        return np.repeat(np.add.reduceat(quantity, starts, axis=1), sizes, axis=1)

    with np.errstate(divide="ignore", invalid="ignore"):
        weights = cells / cells.sum(axis=0)
        shares = weights**2 * variances
        variance = total(shares)
        freedom = np.where(variance > 0, variance**2 / total(shares**2 / (n - 1)), total(n - 1))
        known = there.any(axis=0)
        k = of_axis(known.astype(float))
        mean = of_axis(np.where(known, variance, 0)) / k
        variance = (freedom * variance + PRIOR_FREEDOM * mean) / (freedom + PRIOR_FREEDOM)
        tail = 1 - (1 - LEVEL ** (1 / k)) / 2
    error = np.sqrt(variance)
    reach = stdtrit(freedom + PRIOR_FREEDOM, tail) * error
    reach = np.where(((n >= FEWEST_PROFILES) | ~there).all(axis=0), reach, np.nan)
    effect = np.where(known, total(weights * effects), np.nan)
    return Effects(effect, effect - reach, effect + reach, error)


class Range(NamedTuple):
    """How far the groups of an axis lie apart, from their simultaneous ends."""

    fair_within_pct: float
    """No two groups differ by more; NaN where a group has no ends."""
    impact_ratio: float
    """(100 + lowest effect) / (100 + highest effect)."""
    low: float
    high: float
    lowest: int
    highest: int


def group_range(effects: Effects) -> Range:
    """Return the range of the groups that have an effect.

    The interval of the ratio holds whichever groups are truly lowest and highest: the lowest effect lies
    between the lowest of the lower ends and the lowest of the upper ends, the highest likewise.
    """
    known = np.flatnonzero(~np.isnan(effects.effect))
    effect, low, high = (part[known] for part in effects[:3])
    ratio = (100 + effect.min()) / (100 + effect.max())
    least = max(0.0, 100 + low.min()) / (100 + high.max())
    most = min(1.0, (100 + high.min()) / (100 + low.max())) if 100 + low.max() > 0 else 1.0
    most = np.nan if np.isnan(low).any() else most
    lowest, highest = int(known[effect.argmin()]), int(known[effect.argmax()])
    return Range(float(high.max() - low.min()), float(ratio), float(least), most, lowest, highest)


def group_rows(gaps: SystematicGaps, *, with_intervals: bool = True) -> dict[str, list[Row]]:
    """Return the rows of the tables `group_effect` and `group_range`."""
    design, found = gaps.design, group_effects(gaps)
    if not with_intervals:
        found = found._replace(low=np.full_like(found.low, np.nan), high=np.full_like(found.high, np.nan))
    ends = [*gaps.answers[0].starts.tolist(), found.effect.shape[-1]]
    effect_rows: list[Row] = []
    range_rows: list[Row] = []
    for language in (ALL, *design.language_names):
        for use_case in (ALL, *design.use_case_names):
            for at, axis in enumerate(design.axis_names):
                place = (*gaps.place(use_case, language)[:2], slice(ends[at], ends[at + 1]))
                of_axis = Effects(*(part[place] for part in found))
                names = list(design.identifiers[axis])
                effect_rows += _effect_rows(of_axis, (language, use_case, axis), names)
                if use_case == ALL and not np.isnan(of_axis.effect).all():
                    range_rows.append(_range_row(of_axis, (language, axis), names))
    return {"group_effect": effect_rows, "group_range": range_rows}


def _effect_rows(found: Effects, key: tuple[str, str, str], names: Sequence[str]) -> Iterator[Row]:
    numbers = np.stack([*found[:3], found.confirmed], axis=1).tolist()
    for name, row in zip(names, numbers, strict=True):
        if not np.isnan(row[0]):
            yield TABLES["group_effect"].row((*key, name), *map(_number, row))


def _range_row(found: Effects, key: tuple[str, str], names: Sequence[str]) -> Row:
    spread = group_range(found)
    ends = names[spread.lowest], names[spread.highest]
    return TABLES["group_range"].row(key, *map(_number, spread[:4]), *ends)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


class Named(NamedTuple):
    """A group of which it can be said that it gets more or less, and how much at least."""

    axis: str
    identifier: str
    language: str
    """"all", or the language in which it can be said."""
    effect_pct: float
    confirmed_pct: float


def named_groups(tables: Mapping[str, Sequence[Row]]) -> list[Named]:
    """Return the groups that may be named from the tables of a result, the largest confirmed effect first.

    Needed are a simultaneous interval without 0 and p_bh < 0.05 of the axis' systematic gap in that language.
    """
    significant = {
        (row["language"], row["axis"])
        for row in tables["systematic_gap"]
        if row["use_case"] == ALL and row["axis"] != ALL and _is_below(row["p_bh"], SIGNIFICANT)
    }
    named = [
        Named(str(row["axis"]), str(row["identifier"]), str(row["language"]), effect, confirmed)
        for row in tables["group_effect"]
        if row["use_case"] == ALL and (row["language"], row["axis"]) in significant
        for effect, confirmed in [(row["effect_pct"], row["confirmed_pct"])]
        if isinstance(effect, float) and isinstance(confirmed, float) and confirmed != 0
    ]
    return sorted(named, key=lambda one: -abs(one.confirmed_pct))


def _is_below(value: object, bound: float) -> bool:
    return isinstance(value, float) and value < bound


def worst_group(named: Sequence[Named]) -> Named | None:
    """Return the group with the largest confirmed disadvantage, None without one that can be named."""
    return min(
        (one for one in named if one.confirmed_pct < 0), key=lambda one: one.confirmed_pct, default=None
    )
