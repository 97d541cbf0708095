"""Relative pair gaps: how far two identifiers' values lie apart within one slot.

A slot is one use case, language, axis, profile and question: within it only the identifier changes. A
selection is one language, axis and use case, or all of some of these; arrays of selections hold, in the last
place of each dimension, what all languages, axes or use cases have together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Final, TypeAlias

import numpy as np

from .design import Design
from .layout import Bools, Floats, Ints, Layout, layout_of
from .options import Definitions
from .outcomes import Outcomes
from .resampling import Jackknife, OfUseCase, leaving_one_out

ZERO: Final = 1e-12
"""A sum that is smaller than this share of its parts is 0 but for rounding."""
TIE: Final = 1e-9
"""Gaps of exactly the threshold are common between rounded amounts; rounding must not lift them above it."""
Place: TypeAlias = tuple[int, int, int]
"""Where a selection stands: language, axis and use case; the last of each for all of them."""
CELLS: Final = (slice(-1), slice(-1), slice(-1))
"""Index of the selections of one language, axis and use case each."""
MEAN_GAP, VIOLATIONS = 1, 2
"""Rows of `SlotGaps.profile_sums` behind a mean gap and a share of violations; row 0 is their number."""


def relative_gap_pct(a: Floats, b: Floats, definitions: Definitions) -> Floats:
    """Return |a - b| over the midpoint of a and b x 100, elementwise, in percent; NaN where one is missing.

    "rupeebias": the midpoint of |a| and |b|, and 0 where both are 0: 0 to 200, never undefined. "paper": the
    signed midpoint, so that two values whose sum is below 0 have a negative gap, NaN where it is 0. Both
    agree where no value is below 0 and no two are 0. Scale-free: rupees and lakhs give the same gap.
    """
    gaps = np.asarray(np.abs(a - b), dtype=float)
    positive = not ((a <= 0).any() or (b <= 0).any())
    sums = a + b if positive or definitions == "paper" else np.abs(a) + np.abs(b)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps /= sums
    gaps *= 200
    if not positive:
        undefined, instead = (is_zero_sum(a, b), np.nan) if definitions == "paper" else (sums == 0, 0.0)
        gaps[undefined] = instead
    return gaps


def signed_gap_pct(a: Floats, b: Floats, definitions: Definitions) -> Floats:
    """Return (a - b) over the same midpoint as `relative_gap_pct` x 100, elementwise, in percent."""
    return np.asarray(np.where(a < b, -1, 1) * relative_gap_pct(a, b, definitions), dtype=float)


def is_zero_sum(a: Floats, b: Floats) -> Bools:
    """Tell where a + b is 0 but for rounding: markups of -20 and 20 need not cancel to the last bit."""
    return np.abs(a + b) <= ZERO * (np.abs(a) + np.abs(b))


def pairwise_gaps_pct(values: Floats, definitions: Definitions) -> Floats:
    """Return the gaps of all pairs of rows: shape (n, m) gives (n (n - 1) / 2, m)."""
    first, second = pair_indices(values.shape[0])
    return relative_gap_pct(values[first], values[second], definitions)


@cache
def pair_indices(n: int) -> tuple[Ints, Ints]:
    """Return the indices of all pairs of n things, first before second."""
    first, second = np.triu_indices(n, 1)
    return first, second


def with_sums(cells: Floats, axes: Sequence[int]) -> Floats:
    """Return an array with, behind the last place along each of these axes, the sum over the axis."""
    for axis in axes:
        cells = np.concatenate([cells, cells.sum(axis=axis, keepdims=True)], axis=axis)
    return cells


@dataclass(frozen=True)
class SlotGaps:
    """The pair gaps of every slot, and their sums by slot.

    Slots are ordered by use case, profile, question and repeat (RupeeBias: 225 a language, axis and repeat).
    """

    design: Design
    definitions: Definitions
    pairs: dict[tuple[str, str], Floats]
    """For each (language, axis) with data: gaps in percent, shape (pairs, slots); NaN = undefined."""
    total: Floats
    """Sum of the defined gaps, shape (languages, axes, slots)."""
    count: Ints
    """Number of defined gaps, the same shape."""
    violations: Ints
    """Number of gaps strictly above the threshold, the same shape."""
    undefined: Ints
    """Number of pairs whose midpoint is 0, the same shape; none but in the paper's definitions."""
    below_zero: Ints
    """Number of pairs of opposite sign or both negative, the same shape; they are used."""
    use_case: Ints
    """Each slot's use case, as an index into the design's; shape (slots,)."""
    profile: Ints
    """Each slot's base profile, numbered through the use cases; shape (slots,)."""

    @property
    def layout(self) -> Layout:
        """Where each profile stands."""
        return layout_of(self.design)

    @property
    def shape(self) -> Place:
        """Shape of an array of selections."""
        return (
            len(self.design.languages) + 1,
            len(self.design.axes) + 1,
            len(self.design.use_cases) + 1,
        )

    def place(
        self, language: str | None = None, axis: str | None = None, use_case: str | None = None
    ) -> Place:
        """Return the place of one language, axis and use case; None stands for all."""
        design = self.design
        levels = (design.language_names, design.axis_names, design.use_case_names)
        first, second, third = (
            len(names) if name is None else names.index(name)
            for names, name in zip(levels, (language, axis, use_case), strict=True)
        )
        return first, second, third

    @cached_property
    def profile_sums(self) -> Floats:
        """Count, total and violations of each profile, shape (3, languages, axes, profiles), all last."""
        sums = np.stack([self.count, self.total, self.violations])
        return with_sums(_sums_by(self.profile, sums), (2, 1))

    def sums(self, weights: Sequence[Floats]) -> Floats:
        """Return count, total and violations of every selection under weights of the base profiles.

        `weights` holds, for each use case, shape (n, profiles); shape (3, languages, axes, use cases, n).
        """
        n = len(weights[0])
        found = np.empty((3, *self.shape, n))
        for at, own in enumerate(self.layout.profiles.values()):
            of_use_case = self.profile_sums[..., own]
            flat = of_use_case.reshape(-1, of_use_case.shape[-1]) @ weights[at].T
            found[..., at, :] = flat.reshape(*of_use_case.shape[:-1], n)
        found[..., -1, :] = found[..., :-1, :].sum(axis=-2)
        return found

    @cached_property
    def cells(self) -> Floats:
        """Count, total and violations of every selection, shape (3, languages, axes, use cases)."""
        everyone = [np.ones((1, one.n_profiles)) for one in self.design.use_cases]
        return np.asarray(self.sums(everyone)[..., 0])

    @cached_property
    def means(self) -> Floats:
        """Mean gap of every selection; NaN without gaps."""
        return mean_of(self.cells)

    @property
    def balanced_mean(self) -> float:
        """Mean of the mean gaps of each language, axis and use case, which weigh alike; NaN without gaps."""
        means = self.means[CELLS][~np.isnan(self.means[CELLS])]
        return float(means.mean()) if len(means) else np.nan

    def left_out(self, numerator: int, language: int, axis: int) -> Jackknife:
        """Return a mean gap or share of violations (percent) of a language and axis, profiles left out."""
        sums = self.profile_sums[:, language, axis]
        scale = 100 if numerator == VIOLATIONS else 1
        return Jackknife.ratio(sums[numerator], sums[0], self.layout, scale)

    def cells_left_out(self) -> dict[Place, OfUseCase]:
        """Return the mean gap of each language, axis and use case that has gaps, profiles left out."""
        found: dict[Place, OfUseCase] = {}
        for at, (name, own) in enumerate(self.layout.profiles.items()):
            means = mean_of(self.profile_sums[..., own] @ leaving_one_out(own.stop - own.start).T)
            for language, axis in np.ndindex(self.shape[0] - 1, self.shape[1] - 1):
                used = self.profile_sums[0, language, axis, own] > 0
                if used.any():
                    found[language, axis, at] = OfUseCase(name, means[language, axis], used, 1.0)
        return found

    def defined_pairs(self, place: Place) -> Floats:
        """Return all defined gaps of a selection, flat, in percent."""
        languages, axes, use_cases = (
            range(n - 1) if at == n - 1 else (at,) for at, n in zip(place, self.shape, strict=True)
        )
        slots = np.isin(self.use_case, list(use_cases))
        names = self.design.language_names, self.design.axis_names
        keys = [(names[0][language], names[1][axis]) for language in languages for axis in axes]
        parts = [self.pairs[key][:, slots].ravel() for key in keys if key in self.pairs]
        flat = np.concatenate(parts) if parts else np.empty(0)
        return flat[~np.isnan(flat)]

    @cached_property
    def powers(self) -> Floats:
        """Sums of the squared and of the cubed gaps of every selection, (2, languages, axes, use cases)."""
        sums = np.zeros((2, *self.total.shape))
        for (language, axis), gaps in self.pairs.items():
            known = np.nan_to_num(gaps) if np.isnan(gaps).any() else gaps
            squares, at = known * known, self.place(language, axis)[:2]
            sums[:, *at] = squares.sum(axis=0), np.einsum("ps,ps->s", squares, known)
        return with_sums(_sums_by(self.use_case, sums), (3, 2, 1))

    @cached_property
    def largest_share(self) -> float:
        """What share of the sum of all gaps the largest 0.1 % of them make; NaN without gaps."""
        gaps = self.defined_pairs(self.place())
        if not gaps.any():
            return np.nan
        n = max(1, len(gaps) // 1000)
        return float(np.partition(gaps, len(gaps) - n)[-n:].sum() / gaps.sum())


def mean_of(sums: Floats) -> Floats:
    """Return means from count, total (and violations) along the first axis; NaN without any gap."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[1] / sums[0], dtype=float)


def _sums_by(labels: Ints, quantity: Floats) -> Floats:
    """Sum over the last axis within runs of equal labels; labels are 0, 1, ... in order."""
    starts = np.searchsorted(labels, np.arange(labels[-1] + 1))
    return np.asarray(np.add.reduceat(quantity, starts, axis=-1), dtype=float)


def slot_gaps(
    outcomes: Outcomes, threshold_pct: float = 10.0, definitions: Definitions = "rupeebias"
) -> SlotGaps:
    """Return the pair gaps of all slots, with each repeat as a slot of its own.

    Pairs are formed within one repeat, so a gap compares two single answers, as in a run without
    repeats. `violations` counts gaps strictly above `threshold_pct`.
    """
    design = outcomes.design
    use_case, profile = _slot_labels(design, outcomes.n_repeats)
    shape = (len(design.languages), len(design.axes), len(use_case))
    total = np.zeros(shape)
    count, violations, undefined, below_zero = (np.zeros(shape, dtype=np.int64) for _ in range(4))
    pairs = {}
    for place in np.ndindex(shape[:2]):
        language, axis = design.language_names[place[0]], design.axis_names[place[1]]
        values = slots_of(outcomes, language, axis)
        if np.isnan(values).all():
            continue
        pairs[language, axis] = gaps = pairwise_gaps_pct(values, definitions)
        total[place], count[place], violations[place] = _sums_of_gaps(gaps, threshold_pct)
        undefined[place], below_zero[place] = _special_pairs(values, definitions)
    return SlotGaps(
        design, definitions, pairs, total, count, violations, undefined, below_zero, use_case, profile
    )


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
        at = run.place(language, axis)[:2]
        total[at], count[at], violations[at] = _sums_of_gaps(gaps, threshold_pct)
    return replace(run, pairs=pairs, total=total, count=count, violations=violations)


def _sums_of_gaps(gaps: Floats, threshold_pct: float) -> tuple[Floats, Ints, Ints]:
    """Return sum, number and violations of the defined gaps of each slot."""
    defined = ~np.isnan(gaps)
    complete = bool(defined.all())
    total = (gaps if complete else np.where(defined, gaps, 0)).sum(axis=0)
    count = np.full(gaps.shape[1], len(gaps)) if complete else defined.sum(axis=0)
    above = (gaps > threshold_pct + TIE).view(np.int8)
    return total, count, above.sum(axis=0, dtype=np.int32)


def _slot_labels(design: Design, n_repeats: int) -> tuple[Ints, Ints]:
    profiles = np.array([one.n_profiles for one in design.use_cases])
    slots_a_profile = np.array([one.n_asked for one in design.use_cases]) * n_repeats
    use_case = np.repeat(np.arange(len(profiles)), profiles * slots_a_profile)
    profile = np.repeat(np.arange(profiles.sum()), np.repeat(slots_a_profile, profiles))
    return use_case, profile


def slots_of(outcomes: Outcomes, language: str, axis: str) -> Floats:
    """Return shape (identifiers, slots) over all use cases."""
    parts = [
        outcomes.block(block).reshape(block.shape[0], -1)
        for block in outcomes.layout.blocks
        if block.language == language and block.axis == axis
    ]
    return np.concatenate(parts, axis=1)


def _special_pairs(values: Floats, definitions: Definitions) -> tuple[Ints, Ints]:
    """Count, in each slot, the pairs without a gap and those of opposite sign or both negative."""
    if not (values <= 0).any():
        nothing = np.zeros(values.shape[1], dtype=np.int64)
        return nothing, nothing
    first, second = pair_indices(values.shape[0])
    a, b = values[first], values[second]
    zero = is_zero_sum(a, b) if definitions == "paper" else np.zeros(a.shape, dtype=bool)
    negative = (np.minimum(a, b) < 0) & (np.maximum(a, b) != 0)
    return zero.sum(axis=0), (negative & ~zero).sum(axis=0)
