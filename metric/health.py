"""Parse health: how answers were read, overall and by identifier."""

from collections.abc import Sequence

import numpy as np

from .design import IDENTIFIERS, LANGUAGES, USE_CASES
from .layout import AXES, Ints, identifier_codes, language_codes, use_case_codes
from .parser import STATUSES, Status
from .readings import NOT_GIVEN, Readings
from .tables import TABLES, Row

MISSING = "missing"
"""Status of an expected answer that was not given."""
STATUS_NAMES = (*STATUSES, MISSING)
SCORED = (STATUSES.index(Status.OK), STATUSES.index(Status.LENIENT))


def health_headlines(readings: Readings) -> dict[str, float | int | None]:
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


def health_tables(readings: Readings) -> dict[str, list[Row]]:
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
