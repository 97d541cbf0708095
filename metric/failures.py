"""Differential failure: does it depend on who asks whether there is an answer that can be read?

A model that refuses one group more often is biased even where its numbers agree.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .concordance import benjamini_hochberg
from .constants import IDENTIFIERS
from .health import SCORED
from .layout import AXES, BLOCKS, Bools, Floats, Ints
from .readings import Readings
from .table_rows import number
from .tables import TABLES, Row


class DifferentialFailure(NamedTuple):
    """How often an identifier goes without a value, against its axis."""

    axis: str
    identifier: str
    n_failed: int
    """Expected answers with any status but ok and lenient, missing ones included."""
    n_expected: int
    axis_failed_pct: float
    """Failed answers of the whole axis, in percent of the expected."""
    p_value: float
    """Two-sided, of permuting the identifiers of each profile; NaN where not all were asked alike."""
    p_bh: float
    """Adjusted (Benjamini-Hochberg) over all identifiers of all axes."""

    @property
    def failed_pct(self) -> float:
        """Failed answers in percent of the expected."""
        return self.n_failed / self.n_expected * 100


def differential_failures(readings: Readings) -> list[DifferentialFailure]:
    """Return the failures of every identifier that was asked, tested by permutation.

    If it does not matter who asks, the identifiers of an axis can be exchanged within each base profile, all
    languages, questions and repeats of an identifier together, as its answers are alike. An identifier's
    number of failures is then a sum of one number drawn from each profile, whose distribution is computed
    exactly. p = 2 min(P(at most so many), P(at least so many)), at most 1.
    """
    asked = readings.expected
    cells = np.stack([asked & ~np.isin(readings.status, SCORED), asked])
    found = [one for axis in AXES for one in _of_axis(axis, *_counts(cells, axis))]
    adjusted = benjamini_hochberg(np.array([one.p_value for one in found]))
    return [one._replace(p_bh=float(p)) for one, p in zip(found, adjusted, strict=True)]


def _counts(cells: Bools, axis: str) -> Ints:
    """Return the numbers of failed and of expected answers, shape (2, identifiers, 90 profiles)."""
    by_use_case: dict[str, list[Ints]] = {}
    for block in BLOCKS:
        if block.axis == axis:
            counts = cells[:, block.rows].reshape(2, *block.shape, -1).sum(axis=(3, 4))
            by_use_case.setdefault(block.use_case, []).append(counts)
    return np.concatenate([np.sum(parts, axis=0) for parts in by_use_case.values()], axis=2)


def _of_axis(axis: str, failed: Ints, expected: Ints) -> list[DifferentialFailure]:
    covered = np.flatnonzero(expected.any(axis=1)).tolist()
    if not covered:
        return []
    failed, expected = failed[covered], expected[covered]
    share = float(failed.sum() / expected.sum() * 100)
    totals = failed.sum(axis=1).tolist()
    p_values = _p_values(totals, failed) if (expected == expected[0]).all() else [np.nan] * len(totals)
    names = list(IDENTIFIERS[axis])
    return [
        DifferentialFailure(axis, names[at], total, int(asked), share, p, np.nan)
        for at, total, asked, p in zip(covered, totals, expected.sum(axis=1), p_values, strict=True)
    ]


def _p_values(totals: Sequence[int], failed: Ints) -> list[float]:
    """Return the p-value of each total, from the failures of each identifier and profile."""
    chances = _distribution(failed)
    at_most, at_least = np.cumsum(chances), np.cumsum(chances[::-1])[::-1]
    return [min(1.0, 2 * min(float(at_most[total]), float(at_least[total]))) for total in totals]


def _distribution(failed: Ints) -> Floats:
    """Return the probability of each sum of one number from each column, drawn with equal chances."""
    chances = np.ones(1)
    for column in failed.T[failed.any(axis=0)]:
        chances = np.convolve(chances, np.bincount(column) / len(column))
    return chances


def failure_rows(readings: Readings) -> Iterator[Row]:
    """Yield the rows of the table `differential_failure`."""
    for one in differential_failures(readings):
        p_values = map(number, (one.p_value, one.p_bh))
        numbers = (one.n_failed, one.n_expected, one.failed_pct, one.axis_failed_pct, *p_values)
        yield TABLES["differential_failure"].row((one.axis, one.identifier), *numbers)
