"""Permutation tests of what is searched for: the widest gap, and which identifiers deviate.

If it does not matter who asks, the identifiers of an axis can be exchanged within each base profile: all
answers of an identifier to a profile (questions, languages, repeats) move together, as they are alike. Each
statistic is computed again for many exchanges; p = (1 + how many are at least as large) / (1 + all of them).
Kendall's W needs none: Friedman's test, which it comes with, rests on the same exchanges.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from .concordance import benjamini_hochberg
from .constants import IDENTIFIERS
from .gaps import ZERO
from .identifiers import PooledSlots, SlotsKey, deviations_pct, widest_gap_pct
from .layout import AXES, Bools, Floats, Ints
from .outcomes import mean_where_any
from .resampling import LEVEL, stream
from .tables import TABLES, Row

CHUNK: Final = 250
"""Exchanges that are held at a time."""


class AgainstChance(NamedTuple):
    """A statistic against what it is by chance."""

    observed: float
    """In percent; its sign counts for nothing."""
    chance_95: float
    """What 95 % of the exchanges lie below."""
    p_value: float


class Shuffled(NamedTuple):
    """Statistics of one use case and axis as they were found (first), then after each exchange."""

    widest: Floats
    """Widest gap of identifier means, languages pooled, shape (1 + exchanges,)."""
    deviations: list[Floats]
    """For each language: deviations of the identifiers, shape (1 + exchanges, identifiers)."""


def permutation_rows(
    slots: Mapping[SlotsKey, PooledSlots], n_permutations: int, seed: int
) -> dict[str, list[Row]]:
    """Return the rows of the tables of tests; none for 0 permutations. `slots` are those of a whole run."""
    if not n_permutations:
        return {"maximum_observed_gap_test": [], "identifier_deviation_test": []}
    shuffled = {
        key: shuffle(of_key.values, n_permutations, stream(seed, f"exchanges {' '.join(key)}"))
        for key, of_key in slots.items()
    }
    widest = {key: against_chance(found.widest) for key, found in shuffled.items()}
    return {
        "maximum_observed_gap_test": list(_rows("maximum_observed_gap_test", widest)),
        "identifier_deviation_test": list(_rows("identifier_deviation_test", _deviations(shuffled))),
    }


def _rows(table: str, found: Mapping[tuple[str, str], AgainstChance]) -> Iterator[Row]:
    """Yield a row for each test that can be made, p-values adjusted over all of them."""
    defined = {key: one for key, one in found.items() if not np.isnan(one.p_value)}
    adjusted = benjamini_hochberg(np.array([one.p_value for one in defined.values()]))
    for (key, one), p_bh in zip(defined.items(), adjusted, strict=True):
        yield TABLES[table].row(key, *one, float(p_bh))


def _deviations(shuffled: Mapping[SlotsKey, Shuffled]) -> dict[tuple[str, str], AgainstChance]:
    """Return the test of each identifier's deviation, averaged over use cases and languages."""
    found = {}
    for axis in AXES:
        parts = [part for key, one in shuffled.items() if key[1] == axis for part in one.deviations]
        if parts:
            means = mean_where_any(np.stack(parts), (0,))
            for at, identifier in enumerate(IDENTIFIERS[axis]):
                found[axis, identifier] = against_chance(means[:, at])
    return found


def against_chance(values: Floats) -> AgainstChance:
    """Return the test of a statistic as it was found (first) against what it is after exchanges.

    NaN where it was not found; exchanges in which it is undefined are left out.
    """
    observed, chance = float(values[0]), np.abs(values[1:])
    chance = chance[~np.isnan(chance)]
    if np.isnan(observed) or not len(chance):
        return AgainstChance(observed, np.nan, np.nan)
    # an exchange that leaves everything as it was can differ by rounding
    as_large = int((chance >= abs(observed) * (1 - ZERO)).sum())
    return AgainstChance(observed, float(np.quantile(chance, LEVEL)), (1 + as_large) / (1 + len(chance)))


def shuffle(values: Floats, n_permutations: int, rng: np.random.Generator) -> Shuffled:
    """Return the statistics of one use case and axis after exchanges of identifiers within profiles.

    `values` has shape (identifiers, languages, profiles, questions, repeats). Identifiers that were not asked
    take no part; there is no statistic of a single one.
    """
    there = ~np.isnan(values)
    asked: Bools = np.asarray(there.any(axis=(1, 2, 3, 4)))
    if asked.sum() < 2:
        return Shuffled(np.full(1 + n_permutations, np.nan), [])
    parts = [np.where(there, values, 0)[asked], there[asked]]
    # sums and numbers by profile, shape (2 x languages, profiles, identifiers)
    sums = np.concatenate([part.sum(axis=(3, 4)).transpose(1, 2, 0) for part in parts])
    orders = _orders(sums.shape[1], sums.shape[2], n_permutations, rng)
    totals, counts = np.split(np.concatenate([_exchanged(sums, order) for order in orders]), 2, axis=1)
    with np.errstate(invalid="ignore"):
        by_language, pooled = totals / counts, totals.sum(axis=1) / counts.sum(axis=1)
    deviations = [_spread_out(deviations_pct(means), asked) for means in by_language.swapaxes(0, 1)]
    return Shuffled(widest_gap_pct(pooled.T), deviations)


def _orders(
    n_profiles: int, n_identifiers: int, n_permutations: int, rng: np.random.Generator
) -> Iterator[Ints]:
    """Yield the order as it is, then exchanges, shape (some, profiles, identifiers)."""
    yield np.broadcast_to(np.arange(n_identifiers), (1, n_profiles, n_identifiers))
    for done in range(0, n_permutations, CHUNK):
        n = min(CHUNK, n_permutations - done)
        yield rng.random((n, n_profiles, n_identifiers)).argsort(axis=2)


def _exchanged(sums: Floats, order: Ints) -> Floats:
    """Return sums over profiles with identifiers exchanged: (parts, p, i) to (some, parts, i)."""
    profiles = np.arange(sums.shape[1])[:, None]
    return np.asarray(sums[:, profiles, order].sum(axis=2).swapaxes(0, 1))


def _spread_out(found: Floats, asked: Bools) -> Floats:
    """Return columns of those asked among columns of all identifiers, NaN for the others."""
    everyone = np.full((len(found), len(asked)), np.nan)
    everyone[:, asked] = found
    return everyone
