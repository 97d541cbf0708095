"""Two runs compared on the answers that both have: what differs, and whether by more than chance.

Runs are paired by base profile: every statistic is computed for both runs, then with each profile left out of
both in turn. Intervals and p-values are those of the delete-one-profile jackknife within use cases
(`resampling.jackknife`), as profiles are what a run has only few of, and the answers of one are alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .benchmark import DESIGN
from .caveats import coverage, floor_of_w, midpoints, plural
from .compute import Options, points_of
from .concordance import LeftOut, benjamini_hochberg
from .constants import BENCHMARK_VERSION, DATASET_FINGERPRINT, IDENTIFIERS, LANGUAGES
from .errors import MetricInputError
from .gaps import SlotGaps, of_common_pairs
from .headlines import PREFIXES
from .layout import AXES, Floats
from .leaving_out import Leaving
from .left_out_statistics import (
    RATES,
    balanced,
    concordances_left_out,
    defined_in_both,
    deviations,
    mean_w,
    of_gaps,
    rates,
)
from .outcomes import Key, Outcomes, outcomes_from_values
from .readings import Readings
from .resampling import FEWEST_PROFILES, Interval
from .table_rows import number
from .tables import COMPARISON_TABLES, Row
from .version import METRIC_VERSION

NAMES: Final = ("first", "second")
SHOWN: Final = 4
"""Names that a warning gives at most."""


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

    Both runs are cut down to the answers (prompt and repeat) that have a value in both, and to pairs that
    have a gap in both; parse health and refusal rate count the answers expected of both. The result has
    `n_matched`, `warnings`, `settings` and `tables` (COMPARISON_TABLES). Raises MetricInputError where the
    runs were not asked the same prompt once. `options` are those of a result; its kind of interval and its
    resamples are not used.
    """
    if first.mode != second.mode:
        raise MetricInputError(f"one run was read {first.mode}, the other {second.mode}: read both alike")
    told_of_repeats = list(_repeats_left_out((first, second)))
    first, second = runs = _common_repeats(first, second)
    both = _matched(runs)
    outcomes = [outcomes_from_values(values, options.outcome, DESIGN) for values in both]
    own_gaps = [points_of(run, options).gaps for run in outcomes]
    gaps = of_common_pairs(own_gaps, options.threshold)
    concordances = [concordances_left_out(run, options.w_blocks) for run in outcomes]
    tables = {
        "comparison": list(_headline_rows(gaps, concordances, (first, second))),
        "comparison_axis": list(_axis_rows(gaps)),
        "comparison_deviation": list(_deviation_rows(outcomes)),
    }
    warnings = (
        *told_of_repeats,
        *_left_out(runs, both[0]),
        *coverage(outcomes[0]),
        *(
            f"{name} run: {told}"
            for name, run in zip(NAMES, own_gaps, strict=True)
            for told in midpoints(run)
        ),
        *_about_w(concordances),
        *_not_computed(tables),
    )
    return {
        "n_matched": int((~np.isnan(both[0])).sum()),
        "warnings": list(warnings),
        "settings": {
            **{name: getattr(options, name) for name in ("outcome", "threshold", "w_blocks")},
            "parse": first.mode,
            "metric_version": METRIC_VERSION,
            "benchmark_version": BENCHMARK_VERSION,
            "dataset_fingerprint": DATASET_FINGERPRINT,
        },
        "tables": tables,
    }


def _common_repeats(first: Readings, second: Readings) -> tuple[Readings, Readings]:
    """Return both runs with the repeats, by number, that both have."""
    numbers = [run.repeats or tuple(range(run.status.shape[1])) for run in (first, second)]
    common = [number for number in numbers[0] if number in numbers[1]]
    cut = []
    for run, own in zip((first, second), numbers, strict=True):
        at = [own.index(number) for number in common]
        cells = run.status[:, at], run.values[:, at], run.expected[:, at]
        cut.append(Readings(*cells, n_twice=run.n_twice, mode=run.mode, repeats=tuple(common)))
    if not common:
        raise MetricInputError(
            f"the runs have no repeat number in common ({numbers[0][:SHOWN]} and {numbers[1][:SHOWN]}): "
            "number the repeats of both alike"
        )
    if not (cut[0].expected & cut[1].expected).any():
        raise MetricInputError("the runs have no prompt in common: compare runs that were asked the same")
    return cut[0], cut[1]


def _matched(runs: Sequence[Readings]) -> list[Floats]:
    """Return the values of both runs, NaN where either has none."""
    there = np.logical_and.reduce([~np.isnan(run.values) for run in runs])
    return [np.where(there, run.values, np.nan) for run in runs]


def _headline_rows(
    gaps: Sequence[SlotGaps], concordances: Sequence[Mapping[Key, LeftOut]], readings: Sequence[Readings]
) -> Iterator[Row]:
    places = {"": len(LANGUAGES), **{prefix: LANGUAGES.index(name) for name, prefix in PREFIXES.items()}}
    for name, numerator, scale in (("mean_delta_pct", 1, 1), ("violation_at_10_pct", 2, 100)):
        for prefix, language in places.items():
            runs = [of_gaps(run, numerator, language, len(AXES), scale) for run in gaps]
            bound = 100 if numerator == 2 else np.inf
            yield _row("comparison", (f"{prefix}{name}",), difference(runs, bound))
        if numerator == 1:
            yield _row("comparison", ("mean_delta_pct_balanced",), difference(balanced(gaps)))
    for prefix, language in places.items():
        names = LANGUAGES if language == len(LANGUAGES) else LANGUAGES[language : language + 1]
        means = mean_w(concordances, names)
        yield _row("comparison", (f"{prefix}mean_kendall_w",), difference(means, bound=1))
    for name, is_counted in RATES.items():
        yield _row("comparison", (name,), difference(rates(readings, is_counted), bound=100))


def _axis_rows(gaps: Sequence[SlotGaps]) -> Iterator[Row]:
    """Yield the differences of the mean gap by axis; p-values are adjusted over the axes of a language."""
    for place, language in enumerate((*LANGUAGES, "all")):
        found = {
            axis: difference([of_gaps(run, 1, place, at) for run in gaps]) for at, axis in enumerate(AXES)
        }
        found = {axis: one for axis, one in found.items() if not np.isnan(one.difference)}
        adjusted = benjamini_hochberg(np.array([one.p_value for one in found.values()]))
        for (axis, one), p_bh in zip(found.items(), adjusted, strict=True):
            yield _row("comparison_axis", (language, axis), one, p_bh)


def _deviation_rows(outcomes: Sequence[Outcomes]) -> Iterator[Row]:
    """Yield the differences of each identifier's deviation, p-values adjusted over all of them."""
    found: dict[tuple[str, str], Difference] = {}
    for axis in outcomes[0].covered("axis"):
        runs = zip(*deviations(outcomes, axis), strict=True)
        for identifier, pair in zip(IDENTIFIERS[axis], runs, strict=True):
            found[axis, identifier] = difference(pair)
    found = {key: one for key, one in found.items() if not np.isnan(one.difference)}
    adjusted = benjamini_hochberg(np.array([one.p_value for one in found.values()]))
    for (key, one), p_bh in zip(found.items(), adjusted, strict=True):
        yield _row("comparison_deviation", key, one, p_bh)


def _row(table: str, keys: tuple[str, ...], found: Difference, *more: float) -> Row:
    first, second, change, interval, p_value = found
    numbers = map(number, (first, second, change))
    return COMPARISON_TABLES[table].row(keys, *numbers, *interval, *map(number, (p_value, *more)))


def difference(runs: Sequence[Leaving], bound: float = np.inf) -> Difference:
    """Return the difference of a statistic between two runs, whose size is at most `bound`."""
    first, second = runs
    change = second.minus(first)
    return Difference(first.whole, second.whole, change.whole, *change.tested(bound))


def _repeats_left_out(runs: Sequence[Readings]) -> Iterator[str]:
    numbers = [set(run.repeats or range(run.status.shape[1])) for run in runs]
    if numbers[0] != numbers[1]:
        common = sorted(numbers[0] & numbers[1])
        shown = ", ".join(map(str, common[:SHOWN])) + (", ..." if len(common) > SHOWN else "")
        yield f"left out: all but {plural(len(common), 'repeat')} that both runs have ({shown})"


def _left_out(runs: Sequence[Readings], matched: Floats) -> Iterator[str]:
    for name, run in zip(NAMES, runs, strict=True):
        alone = int((~np.isnan(run.values) & np.isnan(matched)).sum())
        if alone:
            yield f"left out: {plural(alone, 'answer')} of the {name} run that the other has no value for"


def _about_w(runs: Sequence[Mapping[Key, LeftOut]]) -> Iterator[str]:
    defined = defined_in_both(runs)
    most = max(sum(not np.isnan(found.kendall_w) for found in run.values()) for run in runs)
    if len(defined) < most:
        yield (
            f"mean_kendall_w is over {len(defined)} of {most} combinations of language, use case and axis: "
            "one run has no W in the others"
        )
    rows: list[Row] = [{"kendall_w": 1.0, "n_blocks": int(runs[0][key].n_rows)} for key in defined]
    yield from floor_of_w(rows)


def _not_computed(tables: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    for table, rows in tables.items():
        named = [" ".join(str(row[key]) for key in COMPARISON_TABLES[table].keys) for row in rows]
        absent = [name for name, row in zip(named, rows, strict=True) if row["difference"] is None]
        unsure = [
            name
            for name, row in zip(named, rows, strict=True)
            if row["difference"] is not None and row["ci_low"] is None
        ]
        if absent:
            yield f"{table}: None for {', '.join(absent)}: the answers that both runs have do not define it"
        if unsure:
            yield (
                f"{table}: no interval or p-value for {_some(unsure)}: leaving out one profile after another "
                f"needs at least {FEWEST_PROFILES} in every use case, and values that stay defined and vary"
            )


def _some(names: Sequence[str]) -> str:
    return (
        ", ".join(names)
        if len(names) <= SHOWN
        else f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"
    )
