"""Parse health: how answers were read, overall and by identifier."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from .constants import IDENTIFIERS, LANGUAGES, USE_CASES
from .layout import AXES, Ints, identifier_codes, language_codes, use_case_codes
from .readings import NOT_GIVEN, Readings
from .special import chi_square_tail
from .statuses import STATUSES, Status
from .tables import TABLES, Row

MISSING = "missing"
"""Status of an expected answer that was not given."""
STATUS_NAMES = (*STATUSES, MISSING)
SCORED = (STATUSES.index(Status.OK), STATUSES.index(Status.LENIENT))
FAILED = tuple(at for at in range(len(STATUS_NAMES)) if at not in SCORED)
"""Places in STATUS_NAMES of those without a value."""
UNEVEN_P: Final = 0.001 / len(AXES)
"""p-value below which failures count as uneven: Bonferroni over the axes."""
FEWEST_FAILURES: Final = 5
"""An axis with fewer is not tested: chi-square is too liberal for a few failures of many identifiers.

From here on it names at most 3 of 1,000 axes of 5 to 30 identifiers that fail evenly (simulated).
"""


class Health(NamedTuple):
    """How the answers of a run were read."""

    headlines: dict[str, float | int | None]
    """Flat values by name."""
    tables: dict[str, list[Row]]
    """Rows by table name."""


def health_of(readings: Readings) -> Health:
    """Return parse health, overall and by identifier."""
    return Health(_headlines(readings), _tables(readings))


def _headlines(readings: Readings) -> dict[str, float | int | None]:
    """Return parse health, refusal rate (percent of the expected answers) and the counts behind them."""
    n_expected = int(readings.expected.sum())
    n_scored = int(np.isin(readings.status, SCORED).sum())
    n_refused = int((readings.status == STATUSES.index(Status.REFUSAL)).sum())
    return {
        "parse_health_pct": n_scored / n_expected * 100,
        "refusal_rate_pct": n_refused / n_expected * 100,
        "n_expected": n_expected,
        "n_scored": n_scored,
        "n_missing": int((readings.expected & (readings.status == NOT_GIVEN)).sum()),
    }


def _tables(readings: Readings) -> dict[str, list[Row]]:
    """Return the counts of every status by language and use case, and by identifier."""
    rows, repeats = np.nonzero(readings.expected)
    status = readings.status[rows, repeats].astype(np.int64)
    status[status == NOT_GIVEN] = STATUS_NAMES.index(MISSING)
    n_use_cases = len(USE_CASES)
    place = language_codes()[rows] * n_use_cases + use_case_codes()[rows]
    by_place = _counts(place, status, len(LANGUAGES) * n_use_cases)
    by_identifier = _counts(identifier_codes()[rows], status, sum(map(len, IDENTIFIERS.values())))
    places = [(language, use_case) for language in LANGUAGES for use_case in USE_CASES]
    identifiers = [(axis, name) for axis in AXES for name in IDENTIFIERS[axis]]
    return {
        "parse_status": _rows("parse_status", places, by_place),
        "parse_status_identifier": _rows("parse_status_identifier", identifiers, by_identifier),
    }


def _counts(group: Ints, status: Ints, n_groups: int) -> Ints:
    flat = np.bincount(group * len(STATUS_NAMES) + status, minlength=n_groups * len(STATUS_NAMES))
    return flat.reshape(n_groups, len(STATUS_NAMES))


def _rows(table: str, groups: Sequence[tuple[str, str]], counts: Ints) -> list[Row]:
    """A group that the run covers has a row for every status, 0 included; others have none."""
    covered = counts.sum(axis=1) > 0
    return [
        TABLES[table].row((*group, str(status)), int(n))
        for group, of_group, is_covered in zip(groups, counts, covered, strict=True)
        if is_covered
        for status, n in zip(STATUS_NAMES, of_group, strict=True)
    ]


class Failing(NamedTuple):
    """How often an identifier goes without a value."""

    identifier: str
    n_failed: int
    """Expected answers with any status but ok and lenient, missing ones included."""
    n_expected: int
    status: str
    """The commonest status among the failed."""
    n_status: int
    """Failed answers with that status."""

    @property
    def pct(self) -> float:
        """Failed answers in percent of the expected."""
        return self.n_failed / self.n_expected * 100


class UnevenFailure(NamedTuple):
    """An axis whose identifiers go without a value more unevenly than chance explains."""

    axis: str
    worst: Failing
    best: Failing


def uneven_failures(rows: Sequence[Row], n_repeats: int = 1) -> list[UnevenFailure]:
    """Return the axes on which who asks decides whether there is an answer, from `parse_status_identifier`.

    Pearson's chi-square for equal shares of failed answers over the identifiers of an axis, k - 1 degrees of
    freedom, at UNEVEN_P: a screening test, not a table. It takes answers as independent. Those of one slot
    are matched: a question that fails for everybody makes shares more alike than that, so the test errs on
    the safe side. Repeats of one prompt may be copies: chi-square is divided by their number.
    """
    counts = np.array([row["n"] for row in rows], dtype=np.int64).reshape(-1, len(STATUS_NAMES))
    if not counts[:, FAILED].any():
        return []
    identifiers = rows[:: len(STATUS_NAMES)]
    found = []
    for axis in AXES:
        of_axis = [at for at, row in enumerate(identifiers) if row["axis"] == axis]
        if of_axis and _is_uneven(counts[of_axis], n_repeats):
            names = [str(identifiers[at]["identifier"]) for at in of_axis]
            found.append(UnevenFailure(axis, *_worst_and_best(names, counts[of_axis])))
    return found


def _is_uneven(counts: Ints, n_repeats: int) -> bool:
    failed, expected = counts[:, FAILED].sum(axis=1), counts.sum(axis=1)
    if len(counts) < 2 or failed.sum() < FEWEST_FAILURES or failed.sum() == expected.sum():
        return False
    share = failed.sum() / expected.sum()
    chi2 = ((failed - expected * share) ** 2 / (expected * share * (1 - share))).sum() / n_repeats
    return chi_square_tail(len(counts) - 1, chi2) < UNEVEN_P


def _worst_and_best(names: Sequence[str], counts: Ints) -> Iterator[Failing]:
    """Yield the identifiers with the largest and the smallest share of failed answers."""
    failed, expected = counts[:, FAILED], counts.sum(axis=1)
    shares = failed.sum(axis=1) / expected
    for at in (shares.argmax(), shares.argmin()):
        commonest = int(failed[at].argmax())
        yield Failing(
            names[at],
            int(failed[at].sum()),
            int(expected[at]),
            str(STATUS_NAMES[FAILED[commonest]]),
            int(failed[at, commonest]),
        )
