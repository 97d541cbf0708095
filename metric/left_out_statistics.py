"""The statistics of a comparison, with each base profile left out in turn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from .concordance import Blocking, LeftOut, kendall_w_without_each_profile
from .constants import USE_CASES
from .gap_grid import with_sums
from .gaps import SlotGaps
from .health import SCORED
from .identifiers import deviations_pct
from .layout import Bools, Floats, profile_codes
from .leaving_out import N_PROFILES, Leaving, profiles_of, ratio
from .outcomes import Key, Outcomes
from .readings import Readings
from .statuses import STATUSES, Status


def of_gaps(gaps: SlotGaps, numerator: int, language: int, axis: int, scale: float = 1.0) -> Leaving:
    """Return a mean over the gaps of a language and axis, each one's place or the last for all.

    `numerator` is 1 for the mean gap, 2 for the share of violations.
    """
    sums = with_sums(gaps.profile_sums, (2, 1))[:, language, axis]
    return ratio(sums[numerator], sums[0], scale)


def balanced(runs: Sequence[SlotGaps]) -> list[Leaving]:
    """Return each run's mean of the mean gaps of languages, axes and use cases, of those that all have."""
    cells = [_cell_means(run) for run in runs]
    missing = np.isnan([[whole for whole, *_ in of_run] for of_run in cells])
    defined = np.logical_not(np.logical_or.reduce(missing)).tolist()
    return [
        _mean_of_cells([cell for cell, has in zip(of_run, defined, strict=True) if has]) for of_run in cells
    ]


_CellMean: TypeAlias = tuple[float, Floats, slice, Bools]
"""A cell's mean gap, that without each profile, where these stand among the 90, and which have gaps."""


def _cell_means(gaps: SlotGaps) -> list[_CellMean]:
    found: list[_CellMean] = []
    for use_case in USE_CASES:
        own = profiles_of(use_case)
        count, total, _ = gaps.profile_sums[..., own]
        with np.errstate(invalid="ignore"):
            wholes = total.sum(axis=-1) / count.sum(axis=-1)
            without = (total.sum(axis=-1, keepdims=True) - total) / (
                count.sum(axis=-1, keepdims=True) - count
            )
        cells = np.ndindex(wholes.shape)
        found += [(float(wholes[at]), without[at], own, count[at] > 0) for at in cells]
    return found


def _mean_of_cells(cells: Sequence[_CellMean]) -> Leaving:
    whole = float(np.mean([cell[0] for cell in cells])) if cells else np.nan
    without, counts = np.full(N_PROFILES, whole), np.zeros(N_PROFILES, dtype=bool)
    for own_mean, own_without, own, has in cells:
        without[own] += np.where(has, own_without - own_mean, 0) / len(cells)
        counts[own] |= has
    return Leaving(whole, without, counts, abs(whole))


def concordances_left_out(outcomes: Outcomes, blocking: Blocking) -> dict[Key, LeftOut]:
    """Return W of every covered block, whole and without each profile."""
    return {
        key: kendall_w_without_each_profile(values, blocking)
        for key, (_, values) in zip(outcomes.keys, outcomes.covered_blocks, strict=True)
    }


def defined_in_both(runs: Sequence[Mapping[Key, LeftOut]]) -> list[Key]:
    """Return the blocks in which every run has a W."""
    return [key for key in runs[0] if all(not np.isnan(run[key].kendall_w) for run in runs)]


def mean_w(runs: Sequence[Mapping[Key, LeftOut]], languages: Sequence[str]) -> list[Leaving]:
    """Return each run's mean W over use cases, then axes, then languages, of the blocks all define."""
    defined = defined_in_both(runs)
    weights: dict[Key, float] = {}
    groups = {name: {key[2] for key in defined if key[0] == name} for name in languages}
    groups = {name: axes for name, axes in groups.items() if axes}
    for name, axes in groups.items():
        for axis in axes:
            keys = [key for key in defined if key[0] == name and key[2] == axis]
            weights.update(dict.fromkeys(keys, 1 / (len(keys) * len(axes) * len(groups))))
    return [_weighted_w(run, weights) for run in runs]


def _weighted_w(run: Mapping[Key, LeftOut], weights: Mapping[Key, float]) -> Leaving:
    whole = sum(weight * run[key].kendall_w for key, weight in weights.items()) if weights else np.nan
    without, counts = np.full(N_PROFILES, whole), np.zeros(N_PROFILES, dtype=bool)
    for key, weight in weights.items():
        own = profiles_of(key[1])
        without[own] += weight * (run[key].without - run[key].kendall_w)
        counts[own] |= run[key].used
    return Leaving(whole, without, counts, abs(whole))


class _Deviations(NamedTuple):
    """The deviations of an axis's identifiers in one use case and language."""

    use_case: str
    whole: Floats
    """Shape (identifiers,)."""
    without: Floats
    """Shape (profiles, identifiers)."""
    used: Bools
    """Which profiles have values, shape (profiles,): all identifiers are compared with their mean."""


def deviations(runs: Sequence[Outcomes], axis: str) -> list[list[Leaving]]:
    """Return, for each run, the deviation of each identifier of an axis over use cases and languages.

    Over those in which every run defines it.
    """
    parts = [list(_deviations(run, axis)) for run in runs]
    defined = np.array([[~np.isnan(part.whole) for part in of_run] for of_run in parts]).all(axis=0)
    with np.errstate(divide="ignore"):
        weights = np.where(defined, 1 / defined.sum(axis=0), 0.0)
    return [_weighted_deviations(of_run, weights) for of_run in parts]


def _deviations(outcomes: Outcomes, axis: str) -> Iterator[_Deviations]:
    for block, values in outcomes.blocks(axis=axis):
        there = ~np.isnan(values)
        total, count = (part.sum(axis=(2, 3)) for part in (np.where(there, values, 0), there))
        sums, counts = (part.sum(axis=1, keepdims=True) for part in (total, count))
        with np.errstate(divide="ignore", invalid="ignore"):
            whole, without = sums / counts, (sums - total) / (counts - count)
        yield _Deviations(
            block.use_case, deviations_pct(whole.T)[0], deviations_pct(without.T), count.any(axis=0)
        )


def _weighted_deviations(parts: Sequence[_Deviations], weights: Floats) -> list[Leaving]:
    """`weights` has shape (parts, identifiers): what each part adds to an identifier's mean."""
    whole = sum(weight * np.nan_to_num(part.whole) for part, weight in zip(parts, weights, strict=True))
    wholes = np.where(weights.any(axis=0), whole, np.nan)
    without, counts = np.tile(wholes, (N_PROFILES, 1)), np.zeros((N_PROFILES, len(wholes)), dtype=bool)
    for part, weight in zip(parts, weights, strict=True):
        own = profiles_of(part.use_case)
        has_part = part.used[:, None] & (weight > 0)
        without[own] += np.where(has_part, weight * (part.without - part.whole), 0)
        counts[own] |= has_part
    # a deviation is a difference of means, in percent of them
    return [Leaving(float(at), without[:, i], counts[:, i], 100.0) for i, at in enumerate(wholes)]


RATES: Final[dict[str, Callable[[Readings], Bools]]] = {
    "parse_health_pct": lambda run: np.isin(run.status, SCORED),
    "refusal_rate_pct": lambda run: np.asarray(run.status == STATUSES.index(Status.REFUSAL)),
}
"""What share of the expected answers counts."""


def rates(readings: Sequence[Readings], is_counted: Callable[[Readings], Bools]) -> list[Leaving]:
    """Return each run's share of counted answers among those expected of all, in percent.

    All have the same repeats.
    """
    expected = np.logical_and.reduce([run.expected for run in readings])
    counted = [is_counted(run) & expected for run in readings]
    return [ratio(_by_profile(cells), _by_profile(expected), 100) for cells in counted]


def _by_profile(cells: Bools) -> Floats:
    return np.bincount(profile_codes(), weights=cells.sum(axis=1)).astype(float)
