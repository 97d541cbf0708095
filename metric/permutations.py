"""Permutation tests of what is searched for: the widest gap and the largest deviation of each axis.

If it does not matter who asks, the identifiers of an axis can be exchanged within each base profile: all
answers of an identifier to a profile (questions, languages, repeats) move together, as they are alike. The
largest statistic of an axis is computed again for many exchanges;
p = (1 + how many are at least as large) / (1 + all of them). One p an axis: a share of many tests is no
evidence. Kendall's W needs none: Friedman's test, which it comes with, rests on the same exchanges.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from .concordance import benjamini_hochberg
from .gaps import ZERO
from .identifiers import PooledSlots, SlotsKey, deviations_pct, largest_component, widest_gap_pct
from .layout import Bools, Floats, Ints
from .outcomes import mean_where_any
from .resampling import LEVEL, stream
from .tables import TABLES, Row

CHUNK: Final = 100
"""Exchanges that are held at a time."""


def permutation_rows(
    slots: Mapping[SlotsKey, PooledSlots], n_permutations: int, seed: int
) -> dict[str, list[Row]]:
    """Return the rows of the tables of tests; none for 0 permutations. `slots` are those of a whole run.

    The largest |MOG| of an axis is over use cases, the largest |deviation| over identifiers, each averaged
    over use cases and languages. p-values are adjusted over the axes.
    """
    found: dict[str, dict[str, Floats]] = {"maximum_observed_gap_test": {}, "identifier_deviation_test": {}}
    for axis in dict.fromkeys(key[1] for key in slots) if n_permutations else ():
        widest, deviations = [], []
        for key, of_key in slots.items():
            if key[1] == axis:
                rng = stream(seed, f"exchanges {' '.join(key)}")
                of_widest, of_deviations = shuffle(of_key, n_permutations, rng)
                widest.append(np.abs(of_widest))
                deviations += of_deviations
        found["maximum_observed_gap_test"][axis] = np.fmax.reduce(widest)
        if deviations:
            means = np.abs(mean_where_any(np.stack(deviations), (0,)))
            found["identifier_deviation_test"][axis] = np.fmax.reduce(means, axis=1)
    return {table: list(_rows(table, by_axis)) for table, by_axis in found.items()}


def _rows(table: str, found: Mapping[str, Floats]) -> Iterator[Row]:
    """Yield a row for each axis that can be tested, p-values adjusted over all of them."""
    tests = {axis: against_chance(largest) for axis, largest in found.items()}
    tests = {axis: test for axis, test in tests.items() if not np.isnan(test[2])}
    adjusted = benjamini_hochberg(np.array([test[2] for test in tests.values()]))
    for (axis, test), p_bh in zip(tests.items(), adjusted, strict=True):
        yield TABLES[table].row((axis,), *test, float(p_bh))


def against_chance(largest: Floats) -> tuple[float, float, float]:
    """Return a statistic as it was found (first), what 95 % of the exchanges lie below, and its p-value.

    NaN where it was not found; exchanges in which it is undefined are left out.
    """
    observed, chance = float(largest[0]), largest[1:]
    chance = chance[~np.isnan(chance)]
    if np.isnan(observed) or not len(chance):
        return observed, np.nan, np.nan
    # an exchange that leaves everything as it was can differ by rounding
    as_large = int((chance >= observed * (1 - ZERO)).sum())
    return observed, float(np.quantile(chance, LEVEL)), (1 + as_large) / (1 + len(chance))


def shuffle(slots: PooledSlots, n_permutations: int, rng: np.random.Generator) -> tuple[Floats, list[Floats]]:
    """Return the widest gap (1 + exchanges,), and by language the deviations (1 + exchanges, identifiers).

    As they were found, then after exchanges within profiles. Identifiers that were not asked take no part;
    there is no statistic of a single one. Where answers are missing, means are of what lies above or below
    the mean of each slot, beside the mean of all: an answer is compared with others to the same question.
    """
    there = ~np.isnan(slots.values)
    if slots.definitions != "paper":
        there = largest_component(there.reshape(len(there), -1)).reshape(there.shape)
    asked: Bools = np.asarray(there.any(axis=(1, 2, 3, 4)))
    if asked.sum() < 2:
        return np.full(1 + n_permutations, np.nan), []
    known, there = np.where(there, slots.values, 0)[asked], there[asked]
    complete = bool((there == there.any(axis=0)).all())
    level = np.zeros(known.shape[1])
    if not complete and slots.definitions != "paper":
        slot_means = known.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        known = (known - slot_means) * there
        n_slots = there.any(axis=0).sum(axis=(1, 2, 3))
        level = slot_means.sum(axis=(1, 2, 3)) / np.maximum(n_slots, 1)
    # sums and numbers by profile, shape (languages, profiles, identifiers)
    sums, counts = (part.sum(axis=(3, 4)).transpose(1, 2, 0).astype(float) for part in (known, there))
    totals, numbers = [], []
    for order in _orders(sums.shape[1], sums.shape[2], n_permutations, rng):
        totals.append(_exchanged(sums, order))
        numbers.append(counts.sum(axis=1)[None] if complete else _exchanged(counts, order))
    total, number = np.concatenate(totals), np.concatenate(numbers[:1] if complete else numbers)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_language = total / number + level[:, None]
        n_slots = there.any(axis=0).sum(axis=(1, 2, 3))
        pooled = total.sum(axis=1) / number.sum(axis=1) + (level * n_slots).sum() / n_slots.sum()
    deviations = [_spread_out(deviations_pct(means), asked) for means in by_language.swapaxes(0, 1)]
    return widest_gap_pct(pooled, slots.definitions), deviations


def _orders(
    n_profiles: int, n_identifiers: int, n_permutations: int, rng: np.random.Generator
) -> Iterator[Ints]:
    """Yield the order as it is, then exchanges, shape (some, profiles, identifiers)."""
    yield np.broadcast_to(np.arange(n_identifiers), (1, n_profiles, n_identifiers))
    for done in range(0, n_permutations, CHUNK):
        n = min(CHUNK, n_permutations - done)
        yield rng.random((n, n_profiles, n_identifiers), dtype=np.float32).argsort(axis=2)


def _exchanged(sums: Floats, order: Ints) -> Floats:
    """Return sums over profiles with identifiers exchanged: (parts, p, i) to (some, parts, i)."""
    profiles = np.arange(sums.shape[1])[:, None]
    return np.asarray(sums[:, profiles, order].sum(axis=2).swapaxes(0, 1))


def _spread_out(found: Floats, asked: Bools) -> Floats:
    """Return columns of those asked among columns of all identifiers, NaN for the others."""
    everyone = np.full((len(found), len(asked)), np.nan)
    everyone[:, asked] = found
    return everyone
