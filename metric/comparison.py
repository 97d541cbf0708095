"""Two runs compared on the answers that both have: what differs, and whether by more than chance.

Runs are paired by base profile: every statistic is computed for both runs, then with each profile left out of
both in turn. Intervals and p-values are those of the delete-one-profile jackknife within use cases
(`resampling.Jackknife`), as profiles are what a run has only few of, and the answers of one are alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .caveats import coverage, floor_of_w, plural, special_pairs
from .concordance import Concordance, benjamini_hochberg
from .design import Design
from .errors import MetricInputError
from .failures import SCORED
from .gap_differences import gap_difference
from .gaps import MEAN_GAP, VIOLATIONS, SlotGaps, of_common_pairs
from .identifiers import deviations_left_out
from .layout import Floats, layout_of
from .options import Options
from .outcomes import Key, outcomes_from_values
from .readings import Readings
from .resampling import FEWEST_PROFILES, Interval, Jackknife, OfUseCase, interval_of
from .statistics import Statistics
from .statuses import STATUSES, Status
from .systematic_gap import ALL, gap_pct
from .tables import COMPARISON_TABLES, Row, number, prefixes
from .version import METRIC_VERSION

NAMES: Final = ("first", "second")
SHOWN: Final = 4
"""Names that a warning gives at most."""
RATES: Final = {"parse_health_pct": SCORED, "refusal_rate_pct": (STATUSES.index(Status.REFUSAL),)}
"""Which statuses of the expected answers count."""


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
    _check_alike(first, second)
    design = first.design
    repeats_left_out = list(_repeats_left_out((first, second)))
    if options.definitions == "paper":
        first, second = (run._replace(values=run.paper_values) for run in (first, second))
    runs = _common_repeats(first, second)
    both = _matched(runs)
    found = [Statistics(outcomes_from_values(values, options.outcome, design), options) for values in both]
    gaps = of_common_pairs([run.gaps for run in found], options.threshold)
    systematic = _systematic_rows(found)
    tables = {
        "comparison": [*systematic[0], *_headline_rows(gaps, found, runs)],
        "comparison_axis": list(_axis_rows(gaps)),
        "comparison_systematic_gap": systematic[1],
        "comparison_deviation": list(_deviation_rows(found)),
    }
    warnings = (
        *repeats_left_out,
        *_left_out(runs, both[0]),
        *coverage(found[0].outcomes),
        *(
            f"{name} run: {sentence}"
            for name, run in zip(NAMES, found, strict=True)
            for sentence in special_pairs(run.gaps)
        ),
        *_about_w(found),
        *_not_computed(tables),
    )
    return {
        "n_matched": int((~np.isnan(both[0])).sum()),
        "warnings": list(warnings),
        "settings": _settings(options, first),
        "tables": tables,
    }


def _settings(options: Options, run: Readings) -> dict[str, Any]:
    chosen = ("definitions", "outcome", "threshold", "w_blocks")
    return {
        **{name: getattr(options, name) for name in chosen},
        "parse": run.mode,
        "metric_version": METRIC_VERSION,
        "benchmark_version": run.design.version,
        "dataset_fingerprint": run.design.fingerprint,
    }


def _check_alike(first: Readings, second: Readings) -> None:
    if first.mode != second.mode:
        raise MetricInputError(f"one run was read {first.mode}, the other {second.mode}: read both alike")
    if first.design != second.design:
        names = " and ".join(f"{run.design.label} {run.design.version}" for run in (first, second))
        raise MetricInputError(f"the runs answer different benchmarks: {names}")


def _common_repeats(first: Readings, second: Readings) -> tuple[Readings, Readings]:
    """Return both runs with the repeats, by number, that both have."""
    numbers = [run.repeats or tuple(range(run.status.shape[1])) for run in (first, second)]
    common = [number for number in numbers[0] if number in numbers[1]]
    cut = []
    for run, own in zip((first, second), numbers, strict=True):
        at = [own.index(number) for number in common]
        cells = run.status[:, at], run.values[:, at], run.expected[:, at]
        cut.append(Readings(*cells, mode=run.mode, repeats=tuple(common), design=run.design))
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
    gaps: Sequence[SlotGaps], found: Sequence[Statistics], readings: Sequence[Readings]
) -> Iterator[Row]:
    design = found[0].design
    for name, numerator in (("mean_delta_pct", MEAN_GAP), ("violation_at_10_pct", VIOLATIONS)):
        for prefix, language in prefixes(design).items():
            place = gaps[0].place(language)[:2]
            runs = [run.left_out(numerator, *place) for run in gaps]
            bound = 100 if numerator == VIOLATIONS else np.inf
            yield _row("comparison", (f"{prefix}{name}",), difference(runs, bound))
        if numerator == MEAN_GAP:
            yield _row("comparison", ("mean_delta_pct_balanced",), difference(balanced_means(gaps)))
    for prefix, language in prefixes(design).items():
        names = (language,) if language else design.language_names
        means = means_of_w([run.concordances for run in found], names, design)
        yield _row("comparison", (f"{prefix}mean_kendall_w",), difference(means, bound=1))
    expected = np.logical_and.reduce([run.expected for run in readings])
    profiles, layout = layout_of(design).profile_codes, layout_of(design)
    asked = np.bincount(profiles, weights=expected.sum(axis=1)).astype(float)
    for name, statuses in RATES.items():
        counted = [np.isin(run.status, statuses) & expected for run in readings]
        by_profile = [np.bincount(profiles, weights=cells.sum(axis=1)).astype(float) for cells in counted]
        rates = [Jackknife.ratio(cells, asked, layout, 100) for cells in by_profile]
        yield _row("comparison", (name,), difference(rates, bound=100))


def balanced_means(runs: Sequence[SlotGaps]) -> list[Jackknife]:
    """Return each run's mean of the mean gaps of languages, axes and use cases, of those that all have."""
    cells = [run.cells_left_out() for run in runs]
    common = [place for place in cells[0] if all(place in of_run for of_run in cells)]
    return [
        Jackknife.mean([of_run[place]._replace(weight=1 / len(common)) for place in common], runs[0].layout)
        for of_run in cells
    ]


def means_of_w(
    runs: Sequence[Mapping[Key, Concordance]], languages: Sequence[str], design: Design
) -> list[Jackknife]:
    """Return each run's mean W over use cases, then axes, then languages, of the blocks all define."""
    defined = _defined_in_all(runs)
    weights: dict[Key, float] = {}
    groups = {name: {key[2] for key in defined if key[0] == name} for name in languages}
    groups = {name: axes for name, axes in groups.items() if axes}
    for name, axes in groups.items():
        for axis in axes:
            keys = [key for key in defined if key[0] == name and key[2] == axis]
            weights.update(dict.fromkeys(keys, 1 / (len(keys) * len(axes) * len(groups))))
    return [
        Jackknife.mean(
            [
                OfUseCase(key[1], np.array([run[key].kendall_w, *run[key].without]), run[key].used, weight)
                for key, weight in weights.items()
            ],
            layout_of(design),
        )
        for run in runs
    ]


def _defined_in_all(runs: Sequence[Mapping[Key, Concordance]]) -> list[Key]:
    return [key for key in runs[0] if all(not np.isnan(run[key].kendall_w) for run in runs)]


def _systematic_rows(runs: Sequence[Statistics]) -> tuple[list[Row], list[Row]]:
    """Return the differences of the systematic gap, in points: headlines, and axes by language.

    p-values of axes are adjusted over all languages, as in `systematic_gap`.
    """
    first, second = (run.systematic for run in runs)
    found = gap_difference(second.laws, first.laws)
    sizes = [gap_pct(run.laws.squared_gap) for run in (first, second)]
    design = runs[0].design

    def one(language: str, axis: str) -> Difference:
        at = first.place(ALL, language, axis)
        ends = np.array([found.points_low[at], found.points_high[at]])
        a, b, change = (float(part[at]) for part in (*sizes, found.points))
        return Difference(a, b, change, interval_of(ends), float(found.p_value[at]))

    headlines = [
        _row("comparison", (f"{prefix}systematic_gap_pct",), one(language or ALL, ALL))
        for prefix, language in prefixes(design).items()
    ]
    keys = [(language, axis) for language in (ALL, *design.language_names) for axis in design.axis_names]
    return headlines, list(_adjusted("comparison_systematic_gap", {key: one(*key) for key in keys}))


def _axis_rows(gaps: Sequence[SlotGaps]) -> Iterator[Row]:
    """Yield the differences of the mean gap by axis; p-values are adjusted over the axes of a language."""
    design = gaps[0].design
    for place, language in enumerate((*design.language_names, ALL)):
        found = {
            axis: difference([run.left_out(MEAN_GAP, place, at) for run in gaps])
            for at, axis in enumerate(design.axis_names)
        }
        yield from _adjusted("comparison_axis", {(language, axis): one for axis, one in found.items()})


def _deviation_rows(runs: Sequence[Statistics]) -> Iterator[Row]:
    """Yield the differences of each identifier's deviation, p-values adjusted over all of them."""
    found: dict[tuple[str, str], Difference] = {}
    outcomes = [run.outcomes for run in runs]
    for axis in outcomes[0].covered("axis"):
        deviations = deviations_left_out(outcomes, axis, runs[0].options.definitions)
        for identifier in deviations[0]:
            found[axis, identifier] = difference([of_run[identifier] for of_run in deviations])
    yield from _adjusted("comparison_deviation", found)


def _adjusted(table: str, found: Mapping[tuple[str, str], Difference]) -> Iterator[Row]:
    """Yield the rows of the differences that are defined, p-values adjusted over them."""
    defined = {key: one for key, one in found.items() if not np.isnan(one.difference)}
    adjusted = benjamini_hochberg(np.array([one.p_value for one in defined.values()]))
    for (key, one), p_bh in zip(defined.items(), adjusted, strict=True):
        yield _row(table, key, one, p_bh)


def _row(table: str, keys: tuple[str, ...], found: Difference, *more: float) -> Row:
    first, second, change, interval, p_value = found
    numbers = map(number, (first, second, change))
    return COMPARISON_TABLES[table].row(keys, *numbers, *interval, *map(number, (p_value, *more)))


def difference(runs: Sequence[Jackknife], bound: float = np.inf) -> Difference:
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


def _about_w(runs: Sequence[Statistics]) -> Iterator[str]:
    found = [run.concordances for run in runs]
    defined = _defined_in_all(found)
    most = max(sum(not np.isnan(w.kendall_w) for w in run.values()) for run in found)
    if len(defined) < most:
        yield (
            f"mean_kendall_w is over {len(defined)} of {most} combinations of language, use case and axis: "
            "one run has no W in the others"
        )
    yield from floor_of_w(
        [{"kendall_w": 1.0, "n_blocks": found[0][key].n_blocks} for key in defined], runs[0].design
    )


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
