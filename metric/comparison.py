"""Two runs compared on the answers that both have: what differs, and whether by more than chance.

Runs are paired by base profile: every statistic is computed for both runs, then with each profile left out of
both in turn. Intervals and p-values are those of the delete-one-profile jackknife within use cases
(`resampling.jackknife`), as profiles are what a run has only few of, and the answers of one are alike.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .compute import Options, points_of
from .concordance import Blocking, LeftOut, benjamini_hochberg, kendall_w_without_each_profile
from .design import BENCHMARK_VERSION, DATASET_FINGERPRINT, LANGUAGES, PROFILES, USE_CASES
from .errors import MetricInputError
from .gap_grid import with_sums
from .gaps import SlotGaps
from .headlines import PREFIXES
from .health import SCORED
from .layout import AXES, Bools, Floats, profile_codes
from .leaving_out import Leaving, ratio
from .outcomes import Key, Outcomes, outcomes_from_values
from .parser import STATUSES, Status
from .readings import Readings
from .resampling import FEWEST_PROFILES, Interval
from .tables import COMPARISON_TABLES, Row
from .version import METRIC_VERSION


class Difference(NamedTuple):
    """How a statistic of the second run differs from that of the first."""

    first: float
    second: float
    difference: float
    """second - first."""
    interval: Interval
    """95 % interval of the difference."""
    p_value: float
    """Two-sided p-value of no difference; NaN where it cannot be told."""


def compare_readings(first: Readings, second: Readings, options: Options) -> dict[str, Any]:
    """Return the differences of every headline statistic, second minus first, with intervals and p-values.

    Both runs are cut down to the answers (prompt and repeat) that have a value in both; parse health and
    refusal rate count the answers expected of both. The result has `n_matched`, `warnings`, `settings` and
    `tables` (COMPARISON_TABLES). Raises MetricInputError where the runs have no answer in common. `options`
    are those of a result; its kind of interval and its resamples are not used.
    """
    both = _matched(first, second)
    outcomes = [outcomes_from_values(values, options.outcome) for values in both]
    gaps = [points_of(run, options).gaps for run in outcomes]
    tables = {
        "comparison": list(_headline_rows(gaps, outcomes, (first, second), options.w_blocks)),
        "comparison_axis": list(_axis_rows(gaps)),
    }
    used = ("outcome", "threshold", "w_blocks", "parse")
    return {
        "n_matched": int((~np.isnan(both[0])).sum()),
        "warnings": list(_warnings(first, second, both[0], tables["comparison"])),
        "settings": {
            **{name: getattr(options, name) for name in used},
            "metric_version": METRIC_VERSION,
            "benchmark_version": BENCHMARK_VERSION,
            "dataset_fingerprint": DATASET_FINGERPRINT,
        },
        "tables": tables,
    }


def _matched(first: Readings, second: Readings) -> list[Floats]:
    """Return the values of both runs, NaN where either has none."""
    n_repeats = min(first.values.shape[1], second.values.shape[1])
    values = [run.values[:, :n_repeats] for run in (first, second)]
    there = ~np.isnan(values[0]) & ~np.isnan(values[1])
    if not there.any():
        raise MetricInputError(
            "the runs have no answer in common: no prompt has a value in both; compare runs that were asked "
            "the same prompts"
        )
    return [np.where(there, of_run, np.nan) for of_run in values]


def _headline_rows(
    gaps: Sequence[SlotGaps], outcomes: Sequence[Outcomes], readings: Sequence[Readings], blocking: Blocking
) -> Iterator[Row]:
    places = {"": len(LANGUAGES), **{prefix: LANGUAGES.index(name) for name, prefix in PREFIXES.items()}}
    for name, numerator, scale in (("mean_delta_pct", 1, 1), ("violation_at_10_pct", 2, 100)):
        for prefix, language in places.items():
            runs = [_of_gaps(run, numerator, language, len(AXES), scale) for run in gaps]
            yield _row("comparison", (f"{prefix}{name}",), difference(*runs))
    concordances = [_left_out(run, blocking) for run in outcomes]
    for prefix, language in places.items():
        names = LANGUAGES if language == len(LANGUAGES) else LANGUAGES[language : language + 1]
        yield _row("comparison", (f"{prefix}mean_kendall_w",), difference(*_mean_w(concordances, names)))
    for name, is_counted in _RATES.items():
        yield _row("comparison", (name,), difference(*_rates(readings, is_counted)))


def _axis_rows(gaps: Sequence[SlotGaps]) -> Iterator[Row]:
    """Yield the differences of the mean gap by axis; p-values are adjusted over the axes of a language."""
    for place, language in enumerate((*LANGUAGES, "all")):
        found = {
            axis: difference(*(_of_gaps(run, 1, place, at) for run in gaps)) for at, axis in enumerate(AXES)
        }
        found = {axis: one for axis, one in found.items() if not np.isnan(one.difference)}
        adjusted = benjamini_hochberg(np.array([one.p_value for one in found.values()]))
        for (axis, one), p_bh in zip(found.items(), adjusted, strict=True):
            yield _row("comparison_axis", (language, axis), one, p_bh)


def _row(table: str, keys: tuple[str, ...], found: Difference, *more: float) -> Row:
    first, second, change, interval, p_value = found
    numbers = map(_number, (first, second, change))
    return COMPARISON_TABLES[table].row(keys, *numbers, *interval, *map(_number, (p_value, *more)))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def difference(first: Leaving, second: Leaving) -> Difference:
    """Return the difference of a statistic between two runs, from what it is without each profile."""
    change = second.minus(first)
    return Difference(first.whole, second.whole, change.whole, *change.tested())


def _of_gaps(gaps: SlotGaps, numerator: int, language: int, axis: int, scale: float = 1.0) -> Leaving:
    """Return a mean over the gaps of a language and axis, each one's place or the last for all."""
    sums = with_sums(gaps.profile_sums, (2, 1))[:, language, axis]
    return ratio(sums[numerator], sums[0], scale)


def _left_out(outcomes: Outcomes, blocking: Blocking) -> dict[Key, LeftOut]:
    return {
        key: kendall_w_without_each_profile(values, blocking)
        for key, (_, values) in zip(outcomes.keys, outcomes.covered_blocks, strict=True)
    }


def _mean_w(runs: Sequence[Mapping[Key, LeftOut]], languages: Sequence[str]) -> list[Leaving]:
    """Return each run's mean W over use cases, then axes, then languages, of the blocks both define."""
    defined = [key for key in runs[0] if all(not np.isnan(run[key].kendall_w) for run in runs)]
    weights: dict[Key, float] = {}
    groups = {name: {key[2] for key in defined if key[0] == name} for name in languages}
    groups = {name: axes for name, axes in groups.items() if axes}
    for name, axes in groups.items():
        for axis in axes:
            keys = [key for key in defined if key[0] == name and key[2] == axis]
            weights.update(dict.fromkeys(keys, 1 / (len(keys) * len(axes) * len(groups))))
    return [_weighted_w(run, weights) for run in runs]


def _weighted_w(run: Mapping[Key, LeftOut], weights: Mapping[Key, float]) -> Leaving:
    n_profiles = sum(PROFILES.values())
    if not weights:
        return Leaving(np.nan, np.full(n_profiles, np.nan), np.zeros(n_profiles, dtype=bool))
    whole = sum(weight * run[key].kendall_w for key, weight in weights.items())
    without, counts = np.full(n_profiles, whole), np.zeros(n_profiles, dtype=bool)
    first = dict(zip(USE_CASES, np.cumsum([0, *PROFILES.values()]).tolist(), strict=False))
    for key, weight in weights.items():
        own = slice(first[key[1]], first[key[1]] + PROFILES[key[1]])
        without[own] += weight * (run[key].without - run[key].kendall_w)
        counts[own] |= run[key].used
    return Leaving(whole, without, counts)


_RATES: dict[str, Callable[[Readings], Bools]] = {
    "parse_health_pct": lambda run: np.isin(run.status, SCORED),
    "refusal_rate_pct": lambda run: np.asarray(run.status == STATUSES.index(Status.REFUSAL)),
}
"""What share of the expected answers counts."""


def _rates(readings: Sequence[Readings], is_counted: Callable[[Readings], Bools]) -> list[Leaving]:
    """Return each run's share of counted answers among those expected of both, in percent."""
    n_repeats = min(run.expected.shape[1] for run in readings)
    expected = readings[0].expected[:, :n_repeats] & readings[1].expected[:, :n_repeats]
    counted = [is_counted(run)[:, :n_repeats] & expected for run in readings]
    return [ratio(_by_profile(cells), _by_profile(expected), 100) for cells in counted]


def _by_profile(cells: Bools) -> Floats:
    return np.bincount(profile_codes(), weights=cells.sum(axis=1)).astype(float)


def _warnings(first: Readings, second: Readings, matched: Floats, rows: Sequence[Row]) -> Iterator[str]:
    repeats = (first.values.shape[1], second.values.shape[1])
    if repeats[0] != repeats[1]:
        yield f"only the first {min(repeats)} of {max(repeats)} repeats are compared: one run has no more"
    for name, run in (("first", first), ("second", second)):
        alone = int((~np.isnan(run.values[:, : matched.shape[1]]) & np.isnan(matched)).sum())
        if alone:
            yield f"left out: {alone:,} answers of the {name} run, which the other has no value for"
    if rows[0]["difference"] is not None and rows[0]["ci_low"] is None:
        yield (
            f"intervals are None: leaving out base profiles needs at least {FEWEST_PROFILES} in every use "
            "case; compare more profiles"
        )
