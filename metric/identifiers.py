"""Which identifiers get more and which get less: deviations, canonical pairs, the widest gap.

Where answers are missing, the means of identifiers are those of a least-squares fit of an identifier and a
slot effect: identifiers are then compared on the same questions. On complete data the fit gives the plain
means. The paper's definitions take plain means of what is there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from .gaps import ZERO, signed_gap_pct
from .layout import Bools, Floats
from .options import Definitions
from .outcomes import Key, Outcomes, mean_where_any
from .ranks import comparable
from .resampling import (
    FEWEST_PROFILES,
    MOST_SKEWED,
    NO_INTERVAL,
    NORMAL_FROM,
    Interval,
    Jackknife,
    OfUseCase,
    ProfileResamples,
    ValueDraws,
    bent,
    interval_of,
    leaving_one_out,
    moments_of_mean,
    percentile_intervals,
)

SlotsKey: TypeAlias = tuple[str, str]
"""Use case and axis."""
FEWEST_ROWS: Final = 30
"""With fewer values of an identifier the rows behind the widest gap are drawn together."""


def largest_component(there: Bools) -> Bools:
    """Return `there` (..., identifiers, slots) without what no chain of shared slots ties to the rest.

    Identifiers that share no slot, not even through others, cannot be compared: the largest set that can is
    kept, the first of equals.
    """
    joined = (there.astype(np.float32) @ there.swapaxes(-1, -2).astype(np.float32)) > 0
    for _ in range(max(1, int(there.shape[-2]).bit_length())):  # chains twice as long each time
        joined = (joined.astype(np.float32) @ joined.astype(np.float32)) > 0
    largest = joined.sum(axis=-1).argmax(axis=-1)
    kept = np.take_along_axis(joined, largest[..., None, None], axis=-2).squeeze(-2)
    return np.asarray(there & kept[..., None])


def least_squares_effects(values: Floats, there: Bools) -> tuple[Floats, Floats]:
    """Return identifier effects of a fit of identifier + slot, and the inverse that gave them.

    `values` has shape (..., identifiers, slots), 0 where not `there`; identifiers without a value have an
    effect of 0. Effects are deviations: their sum is 0.
    """
    n_slot = np.maximum(there.sum(axis=-2, keepdims=True), 1)
    shares = there / n_slot
    n_identifier = there.sum(axis=-1)
    present = n_identifier > 0
    normal = -shares @ there.swapaxes(-1, -2).astype(float)
    at = np.arange(there.shape[-2])
    normal[..., at, at] += np.where(present, n_identifier, 1)
    normal += present[..., :, None] & present[..., None, :]  # effects that sum to 0
    inverse = np.linalg.inv(normal)
    centred = (values - (values.sum(axis=-2, keepdims=True) / n_slot)) * there
    effects = (inverse @ centred.sum(axis=-1)[..., None])[..., 0]
    return np.where(present, effects, 0.0), inverse


@dataclass(frozen=True)
class IdentifierMeans:
    """The means of an axis's identifiers as a function of weights of the base profiles.

    Made of sums over each profile's slots. Where a fit is needed, effects follow weights to first order:
    exactly for equal weights and on complete data.
    """

    definitions: Definitions
    values: Floats
    """Shape (identifiers, profiles, slots of a profile), NaN where there is none."""

    def means(self, weights: Floats, chosen: Sequence[int] | slice = slice(None)) -> Floats:
        """Return the means of chosen identifiers under weights (n, profiles), shape (n, identifiers)."""
        total, count, moves = self._sums
        with np.errstate(divide="ignore", invalid="ignore"):
            if moves is None:
                return np.asarray((weights @ total[:, chosen]) / (weights @ count[:, chosen]), dtype=float)
            level = (weights @ total) / (weights @ count)
            return np.asarray(level + moves[0][chosen] + weights @ moves[1][:, chosen], dtype=float)

    def left_out(self) -> Floats:
        """Return the means of all profiles, then without each, shape (1 + profiles, identifiers)."""
        n = self.values.shape[1]
        if self._sums[2] is None:
            return self.means(leaving_one_out(n))
        subsets = [np.delete(self.values, at, axis=1) for at in range(n)]
        parts = [self, *(IdentifierMeans(self.definitions, subset) for subset in subsets)]
        return np.concatenate([part.means(np.ones((1, part.values.shape[1]))) for part in parts])

    @property
    def answered(self) -> Bools:
        """Which profiles have values, shape (profiles,): all identifiers are compared with their mean."""
        return np.asarray((~np.isnan(self.values)).any(axis=(0, 2)))

    @cached_property
    def _there(self) -> Bools:
        there = ~np.isnan(self.values)
        if self.definitions == "paper" or there.all():
            return there
        return largest_component(there.reshape(len(there), -1)).reshape(there.shape)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, tuple[Floats, Floats] | None]:
        """Sums by profile: of values and their number, where slots are complete.

        Where a fit is needed: of the slots' levels and their number, (profiles, 1), and (effects, moves): how
        effects and level move with the weight of a profile, (profiles, identifiers); NaN for an identifier
        that is in none.
        """
        there = self._there
        known = np.where(there, self.values, 0)
        answered = there.any(axis=0)
        if self.definitions == "paper" or (there.all(axis=0) == answered).all():
            total, count = (part.sum(axis=2).T for part in (known, there))
            return total, count.astype(float), None
        flat = (len(known), -1)
        effects, inverse = least_squares_effects(known.reshape(flat), there.reshape(flat))
        n_slot, n_slots = np.maximum(there.sum(axis=0), 1), answered.sum(axis=1, keepdims=True)
        left = (known - effects[:, None, None]) * there
        levels = left.sum(axis=0) / n_slot
        residuals = ((left - levels) * there).sum(axis=2).T
        moves = residuals @ inverse
        moves -= moves @ ((there / n_slot).sum(axis=(1, 2)) / n_slots.sum())[:, None]
        effects[~there.any(axis=(1, 2))] = np.nan
        return levels.sum(axis=1, keepdims=True), n_slots.astype(float), (effects, moves)


def deviations_pct(means: Floats) -> Floats:
    """Return how far identifier means lie from the mean of each row, in percent of its size.

    Relative to the absolute centre, so that among negative markups too positive means more; NaN where the
    means average to 0.
    """
    centres, sizes = (mean_where_any(part, (-1,))[..., None] for part in (means, np.abs(means)))
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = (means - centres) / np.abs(centres) * 100
    return np.where(np.abs(centres) > ZERO * sizes, deviations, np.nan)


def identifier_deviation_pct(outcomes: Outcomes, axis: str, definitions: Definitions) -> Floats:
    """Return each identifier's deviation from its axis in percent, shape (identifiers,).

    By use case and language: identifier mean / mean of the identifier means - 1; then the mean over use cases
    and languages. 0 = like the axis on average; NaN for an identifier without values.
    """
    fits = [fit for _, fit in _fits(outcomes, axis, definitions)]
    means = [fit.means(np.ones((1, fit.values.shape[1])))[0] for fit in fits]
    return mean_where_any(deviations_pct(np.array(means)), (0,))


def deviations_left_out(
    runs: Sequence[Outcomes], axis: str, definitions: Definitions
) -> list[dict[str, Jackknife]]:
    """Return each run's `identifier_deviation_pct`, base profiles left out in turn.

    Over those use cases and languages in which every run defines it.
    """
    parts = [deviations_of_blocks(run, axis, definitions) for run in runs]
    keys = [key for key in parts[0] if all(key in part for part in parts)]
    defined = ~np.isnan([[part[key][0][0] for key in keys] for part in parts]).any(axis=0)
    with np.errstate(divide="ignore"):
        weights = np.where(defined, 1 / defined.sum(axis=0), 0.0)
    found: list[dict[str, Jackknife]] = [{} for _ in parts]
    for own, part in zip(found, parts, strict=True):
        for at, name in enumerate(runs[0].design.identifiers[axis]):
            of_blocks = [
                OfUseCase(key[1], part[key][0][:, at], part[key][1], float(weight))
                for key, weight in zip(keys, weights[:, at], strict=True)
            ]
            own[name] = Jackknife.mean(of_blocks, runs[0].layout, size=100.0)  # means, in percent of them
    return found


def deviations_of_blocks(
    outcomes: Outcomes, axis: str, definitions: Definitions
) -> dict[Key, tuple[Floats, Bools]]:
    """Return the deviations of each use case and language, and which profiles have a part in them.

    Of all profiles, then without each, shape (1 + profiles, identifiers).
    """
    fits = _fits(outcomes, axis, definitions)
    return {key: (deviations_pct(fit.left_out()), fit.answered) for key, fit in fits}


def _fits(outcomes: Outcomes, axis: str, definitions: Definitions) -> Iterator[tuple[Key, IdentifierMeans]]:
    for block, values in outcomes.blocks(axis=axis):
        flat = values.reshape(*values.shape[:2], -1)
        yield (block.language, block.use_case, axis), IdentifierMeans(definitions, flat)


class CanonicalPairGap(NamedTuple):
    """The signed gap between the two identifiers of an axis's canonical pair."""

    pair: tuple[int, int]
    """The reference and the identifier that is compared with it: places in the axis."""
    cpg_pct: float
    """(reference mean - comparison mean) / midpoint x 100: positive = the reference gets more."""
    sign_consistency_pct: float
    """Share of the matched slots where the reference is strictly higher, in percent."""
    ties_pct: float
    """Share of the matched slots where both get the same, in percent."""
    n_slots: int
    """Slots, over both languages, in which both identifiers have a value."""


class MaximumObservedGap(NamedTuple):
    """The gap between the identifiers with the highest and the lowest mean."""

    pair: tuple[int, int]
    """The highest and the lowest: places in the axis, the first in benchmark order among equals."""
    mog_pct: float
    """(highest mean - lowest mean) / midpoint x 100. A searched maximum: above 0 even without bias."""


@dataclass(frozen=True)
class PooledSlots:
    """The values of one use case and axis, all languages, at least one of them there."""

    definitions: Definitions
    values: Floats
    """Shape (identifiers, languages, profiles, questions, repeats), NaN where there is none."""

    @cached_property
    def fit(self) -> IdentifierMeans:
        """The means of the identifiers as a function of weights of profiles."""
        by_profile = self.values.swapaxes(1, 2)
        return IdentifierMeans(self.definitions, by_profile.reshape(*by_profile.shape[:2], -1))

    @cached_property
    def means(self) -> Floats:
        """Mean of each identifier, NaN for one without values."""
        return np.asarray(self.fit.means(np.ones((1, self.values.shape[2])))[0])

    def canonical(self, pair: tuple[int, int]) -> CanonicalPairGap | None:
        """Return the gap of a canonical pair; None without matched slots."""
        reference, comparison = self.values[list(pair)]
        n_slots = int((~np.isnan(reference - comparison)).sum())
        if not n_slots:
            return None
        first, second = self.means[list(pair)]
        gap = float(signed_gap_pct(np.array(first), np.array(second), self.definitions))
        higher, ties = (reference > comparison).sum(), (reference == comparison).sum()
        return CanonicalPairGap(
            pair, gap, float(higher / n_slots * 100), float(ties / n_slots * 100), n_slots
        )

    def widest(self) -> MaximumObservedGap | None:
        """Return the widest gap of identifier means.

        None with fewer than two identifiers, or where the midpoint is 0.
        """
        known = np.flatnonzero(~np.isnan(self.means))
        if len(known) < 2:
            return None
        gap = float(widest_gap_pct(self.means, self.definitions))
        if np.isnan(gap):
            return None
        ranked = comparable(self.means[known])
        if ranked.max() == ranked.min():  # all alike: name two of them, not one twice
            return MaximumObservedGap((int(known[0]), int(known[-1])), 0.0)
        return MaximumObservedGap((int(known[ranked.argmax()]), int(known[ranked.argmin()])), gap)


def widest_gap_pct(means: Floats, definitions: Definitions) -> Floats:
    """Return the gap between the largest and the smallest mean along the last axis."""
    return signed_gap_pct(np.fmax.reduce(means, axis=-1), np.fmin.reduce(means, axis=-1), definitions)


def pooled_slots(outcomes: Outcomes, definitions: Definitions) -> dict[SlotsKey, PooledSlots]:
    """Return the values of every use case and axis that the run covers, in benchmark order."""
    found = {}
    for use_case in outcomes.design.use_case_names:
        for axis in outcomes.design.axis_names:
            parts = [values for _, values in outcomes.blocks(use_case=use_case, axis=axis)]
            if parts:
                found[use_case, axis] = PooledSlots(definitions, np.stack(parts, axis=1))
    return found


def cluster_pair_intervals(
    slots: Mapping[SlotsKey, PooledSlots],
    pairs: Mapping[SlotsKey, tuple[int, int]],
    profiles: ProfileResamples,
) -> dict[SlotsKey, Interval]:
    """Return the interval of a gap between two identifiers over drawn profiles, widened for their number.

    For the widest gap it reaches below 0 where the order of the two is not certain.
    """
    found = dict.fromkeys(pairs, NO_INTERVAL)
    for at, use_case in enumerate(profiles.layout.profiles):
        keys = [key for key in pairs if key[0] == use_case]
        if not keys or profiles.n_present[at] < FEWEST_PROFILES:
            continue
        definitions = slots[keys[0]].definitions
        drawn = [slots[key].fit.means(profiles.weights[at], list(pairs[key])).T for key in keys]
        observed = [slots[key].means[list(pairs[key])] for key in keys]
        first, second = np.stack(drawn, axis=1)
        found_first, found_second = np.array(observed).T
        middle = signed_gap_pct(found_first, found_second, definitions)
        gaps = signed_gap_pct(first, second, definitions)
        ends = percentile_intervals(gaps, middle, profiles.widening_of(at))
        negative = (first < 0).any(axis=1) | (second < 0).any(axis=1)
        bound = np.where(negative & (definitions == "paper"), np.inf, 200)
        found.update(zip(keys, map(interval_of, np.clip(ends, -bound, bound).T), strict=True))
    return found


def drawn_canonical_interval(
    slots: PooledSlots, key: SlotsKey, pair: tuple[int, int], draws: ValueDraws
) -> Interval:
    """Return the interval of the gap between two identifiers whose values are drawn one by one.

    It lies around the gap of matched means where answers are missing.
    """
    samples = [slots.values[at][~np.isnan(slots.values[at])] for at in pair]
    drawn = [draws.means(values, f"{key[1]} {at}") for at, values in enumerate(samples)]
    ends = percentile_intervals(signed_gap_pct(drawn[0], drawn[1], slots.definitions))
    plain, matched = np.array([[values.mean() for values in samples], slots.means[list(pair)]])
    return interval_of(ends + _moved(plain, matched, slots.definitions))


def _moved(plain: Floats, matched: Floats, definitions: Definitions) -> float:
    """Return by how much the gap between two matched means differs from that of plain ones."""
    first, second = (signed_gap_pct(means[0], means[1], definitions) for means in (plain, matched))
    return float(second - first)


def drawn_widest_interval(slots: PooledSlots, key: SlotsKey, draws: ValueDraws) -> Interval:
    """Return the interval of the widest gap, searched anew in every resample, which pushes it upwards.

    A resample draws as many (identifier, value) rows as there are. Where every identifier has many, their
    means are drawn apart, each of a number of rows that is binomial.
    """
    values = slots.values.reshape(len(slots.values), -1)
    there = ~np.isnan(values)
    sizes = there.sum(axis=1)
    n, known = int(sizes.sum()), sizes > 0
    sizes, values, there = sizes[known], values[known], there[known]
    means = mean_where_any(values, (1,))
    centred = np.where(there, values - means[:, None], 0)
    squares = centred * centred
    powers = (centred.sum(axis=1), squares.sum(axis=1), np.einsum("iv,iv->i", squares, centred))
    _, errors, skewness = moments_of_mean(sizes, *powers)
    if n > NORMAL_FROM or (sizes.min() >= FEWEST_ROWS and np.abs(skewness).max() <= MOST_SKEWED):
        errors = errors * np.sqrt(1 + (1 - sizes / n) / sizes)
        normals = draws.normals(len(sizes), f"widest {key[1]}")
        drawn = bent(normals, means, errors, np.clip(skewness, -1, 1))
    else:
        rows = np.repeat(np.eye(len(sizes)), sizes, axis=0)
        counts = draws.counts(n, "rows")
        with np.errstate(invalid="ignore"):
            drawn = counts @ (rows * values[there][:, None]) / (counts @ rows)
    ends = percentile_intervals(widest_gap_pct(drawn, slots.definitions))
    plain, matched = ((np.fmax.reduce(found), np.fmin.reduce(found)) for found in (means, slots.means))
    return interval_of(ends + _moved(np.array(plain), np.array(matched), slots.definitions))
