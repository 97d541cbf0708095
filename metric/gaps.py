"""Relative pair gaps: how far two identifiers' values lie apart within one slot.

A slot is one use case, language, axis, profile and question: within it only the identifier changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Final

import numpy as np

from .constants import LANGUAGES, PROFILES, QUESTIONS, USE_CASES
from .gap_grid import CELLS, Place, chosen, with_sums
from .layout import AXES, BLOCKS, Bools, Floats, Ints
from .outcomes import Outcomes

ZERO: Final = 1e-12
"""A sum that is smaller than this share of its parts is 0 but for rounding."""
TIE: Final = 1e-9
"""Gaps of exactly the threshold are common between rounded amounts; rounding must not lift them above it."""


def relative_gap_pct(a: Floats, b: Floats) -> Floats:
    """Return |a - b| / |(a + b) / 2| x 100, elementwise, in percent.

    0 for equal values, at most 200 for amounts >= 0, unbounded where signs differ (markups). NaN where
    a value is missing or the midpoint is 0: the gap is undefined and left out. Scale-free: rupees and
    lakhs give the same gap.
    """
    gaps, sums = np.asarray(a - b, dtype=float), np.asarray(a + b, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps /= sums
    gaps *= 200
    np.abs(gaps, out=gaps)
    if (a <= 0).any() or (b <= 0).any():  # amounts above 0 have no midpoint of 0
        gaps[is_zero_sum(a, b)] = np.nan
    return gaps


def is_zero_sum(a: Floats, b: Floats) -> Bools:
    """Tell where a + b is 0 but for rounding: markups of -20 and 20 need not cancel to the last bit."""
    return np.abs(a + b) <= ZERO * (np.abs(a) + np.abs(b))


def pairwise_gaps_pct(values: Floats) -> Floats:
    """Return the gaps of all pairs of rows: shape (n, m) gives (n (n - 1) / 2, m)."""
    first, second = pair_indices(values.shape[0])
    return relative_gap_pct(values[first], values[second])


@cache
def pair_indices(n: int) -> tuple[Ints, Ints]:
    """Return the indices of all pairs of n things, first before second."""
    first, second = np.triu_indices(n, 1)
    return first, second


@dataclass(frozen=True)
class SlotGaps:
    """The pair gaps of every slot, and their sums by slot.

    Slots are ordered by use case, profile, question and repeat: 225 a language, axis and repeat.
    """

    pairs: dict[tuple[str, str], Floats]
    """For each (language, axis) with data: gaps in percent, shape (pairs, slots); NaN = undefined."""
    total: Floats
    """Sum of the defined gaps, shape (languages, axes, slots)."""
    count: Ints
    """Number of defined gaps, the same shape."""
    violations: Ints
    """Number of gaps strictly above the threshold, the same shape."""
    undefined: Ints
    """Number of pairs whose midpoint is 0, the same shape."""
    negative: Ints
    """Number of pairs whose midpoint is below 0, the same shape; they are used."""
    use_case: Ints
    """Each slot's use case, as an index into USE_CASES; shape (slots,)."""
    profile: Ints
    """Each slot's base profile, numbered through the use cases, 0 to 89; shape (slots,)."""

    @cached_property
    def largest_possible_pct(self) -> float:
        """200, or infinity where markups of both signs occur: their gaps have no bound."""
        largest = max((float(np.nanmax(gaps, initial=0)) for gaps in self.pairs.values()), default=0.0)
        return 200.0 if largest <= 200 else np.inf

    @cached_property
    def profile_sums(self) -> Floats:
        """Count, total and violations of each base profile, shape (3, languages, axes, 90)."""
        return _sums_by(self.profile, np.stack([self.count, self.total, self.violations]))

    @cached_property
    def cells(self) -> Floats:
        """Count, total and violations of every selection, shape (3, languages, axes, use cases), all last."""
        sums = _sums_by(self.use_case, np.stack([self.count, self.total, self.violations]))
        return with_sums(sums, (3, 2, 1))

    @cached_property
    def means(self) -> Floats:
        """Mean gap of every selection, shape (languages, axes, use cases), all last; NaN without gaps."""
        count, total, _ = self.cells
        with np.errstate(invalid="ignore"):
            return np.asarray(total / count, dtype=float)

    @property
    def balanced_mean(self) -> float:
        """Mean of the mean gaps of each language, axis and use case, which weigh alike; NaN without gaps."""
        means = self.means[CELLS][~np.isnan(self.means[CELLS])]
        return float(means.mean()) if len(means) else np.nan

    @cached_property
    def cell_powers(self) -> Floats:
        """Sums of the powers 0 to 4 of the gaps, shape (5, languages, axes, use cases)."""
        powers = np.zeros((5, *self.total.shape))
        for (language, axis), gaps in self.pairs.items():
            at = (LANGUAGES.index(language), AXES.index(axis))
            powers[:, *at] = _power_sums(gaps)
        return _sums_by(self.use_case, powers)

    def defined_pairs(self, place: Place) -> Floats:
        """Return all defined gaps of a selection, flat, in percent."""
        languages, axes, use_cases = map(chosen, place, (len(LANGUAGES), len(AXES), len(USE_CASES)))
        slots = np.isin(self.use_case, use_cases)
        keys = [(LANGUAGES[language], AXES[axis]) for language in languages for axis in axes]
        parts = [self.pairs[key][:, slots].ravel() for key in keys if key in self.pairs]
        flat = np.concatenate(parts) if parts else np.empty(0)
        return flat[~np.isnan(flat)]


def _sums_by(labels: Ints, quantity: Floats) -> Floats:
    """Sum over the last axis within runs of equal labels; labels are 0, 1, ... in order."""
    starts = np.searchsorted(labels, np.arange(labels[-1] + 1))
    return np.add.reduceat(quantity, starts, axis=-1)


def _power_sums(values: Floats) -> Floats:
    """Return the sums over pairs of the powers 0 to 4 of the defined values, shape (5, slots)."""
    defined = ~np.isnan(values)
    values = values if defined.all() else np.where(defined, values, 0)
    squares = values * values
    cubes, fourths = (np.einsum("ps,ps->s", squares, other) for other in (values, squares))
    return np.stack([*(part.sum(axis=0) for part in (defined, values, squares)), cubes, fourths])


def slot_gaps(outcomes: Outcomes, threshold_pct: float = 10.0) -> SlotGaps:
    """Return the pair gaps of all slots, with each repeat as a slot of its own.

    Pairs are formed within one repeat, so a gap compares two single answers, as in a run without
    repeats. `violations` counts gaps strictly above `threshold_pct`.
    """
    use_case, profile = _slot_labels(outcomes.n_repeats)
    shape = (len(LANGUAGES), len(AXES), len(use_case))
    total = np.zeros(shape)
    count, violations, undefined, negative = (np.zeros(shape, dtype=np.int64) for _ in range(4))
    pairs = {}
    for at, language in enumerate(LANGUAGES):
        for axis_at, axis in enumerate(AXES):
            values = slots_of(outcomes, language, axis)
            if np.isnan(values).all():
                continue
            gaps, midpoints = pairwise_gaps_pct(values), _midpoint_counts(values)
            pairs[language, axis] = gaps
            place = at, axis_at
            total[place], count[place], violations[place] = _sums_of_gaps(gaps, threshold_pct)
            undefined[place], negative[place] = midpoints
    return SlotGaps(pairs, total, count, violations, undefined, negative, use_case=use_case, profile=profile)


def of_common_pairs(runs: Sequence[SlotGaps], threshold_pct: float) -> list[SlotGaps]:
    """Return the gaps of runs of the same answers, without the pairs that one of them leaves undefined."""
    if not any(run.undefined.any() for run in runs):
        return list(runs)
    defined = {
        key: np.logical_and.reduce([~np.isnan(run.pairs[key]) for run in runs]) for key in runs[0].pairs
    }
    return [_without(run, defined, threshold_pct) for run in runs]


def _without(run: SlotGaps, defined: Mapping[tuple[str, str], Bools], threshold_pct: float) -> SlotGaps:
    pairs = {key: np.where(defined[key], gaps, np.nan) for key, gaps in run.pairs.items()}
    total, count, violations = np.zeros_like(run.total), np.zeros_like(run.count), np.zeros_like(run.count)
    for (language, axis), gaps in pairs.items():
        at = LANGUAGES.index(language), AXES.index(axis)
        total[at], count[at], violations[at] = _sums_of_gaps(gaps, threshold_pct)
    return replace(run, pairs=pairs, total=total, count=count, violations=violations)


def _sums_of_gaps(gaps: Floats, threshold_pct: float) -> tuple[Floats, Ints, Ints]:
    """Return sum, number and violations of the defined gaps of each slot."""
    defined = ~np.isnan(gaps)
    complete = bool(defined.all())
    total = (gaps if complete else np.where(defined, gaps, 0)).sum(axis=0)
    count = np.full(gaps.shape[1], len(gaps)) if complete else defined.sum(axis=0)
    above = (gaps > threshold_pct + TIE).view(np.int8)
    return total, count, above.sum(axis=0, dtype=np.int16)  # at most 435 pairs


def _slot_labels(n_repeats: int) -> tuple[Ints, Ints]:
    profiles = np.array([PROFILES[name] for name in USE_CASES])
    slots_a_profile = np.array([QUESTIONS[name] for name in USE_CASES]) * n_repeats
    use_case = np.repeat(np.arange(len(USE_CASES)), profiles * slots_a_profile)
    profile = np.repeat(np.arange(profiles.sum()), np.repeat(slots_a_profile, profiles))
    return use_case, profile


def slots_of(outcomes: Outcomes, language: str, axis: str) -> Floats:
    """Return shape (identifiers, slots) over all use cases."""
    parts = [
        outcomes.block(block).reshape(block.shape[0], -1)
        for block in BLOCKS
        if block.language == language and block.axis == axis
    ]
    return np.concatenate(parts, axis=1)


def _midpoint_counts(values: Floats) -> tuple[Ints, Ints]:
    """Count, in each slot, the pairs whose midpoint is 0 and those whose midpoint is below 0."""
    if not (values <= 0).any():  # a midpoint of 0 or less needs a value of 0 or less
        nothing = np.zeros(values.shape[1], dtype=np.int64)
        return nothing, nothing
    first, second = pair_indices(values.shape[0])
    a, b = values[first], values[second]
    zero = is_zero_sum(a, b)
    return zero.sum(axis=0), ((a + b < 0) & ~zero).sum(axis=0)
