"""The rows of every table of statistics, in benchmark order."""

from collections.abc import Iterator

import numpy as np

from .concordance import benjamini_hochberg, fisher_combined
from .constants import IDENTIFIERS, LANGUAGES, USE_CASES
from .gap_summaries import GapSummaries, GapSummary
from .identifiers import SlotsKey, identifier_deviation_pct
from .intervals import Intervals
from .layout import AXES
from .merit import merit_interval, profile_rank_agreement
from .outcomes import Outcomes
from .points import Points
from .robustness import question_robustness
from .tables import TABLES, Row

SLICES: dict[str, str | None] = {**{language: language for language in LANGUAGES}, "all": None}
"""Values of the key `language` in the tables of gaps, and the language each stands for; None pools all."""


def statistic_tables(points: Points, gaps: GapSummaries, intervals: Intervals) -> dict[str, list[Row]]:
    """Return the rows of every table of statistics; a slice without data has no row."""
    rows = {
        "axis": _axis_rows(gaps),
        "use_case": _use_case_rows(gaps),
        "use_case_axis": _use_case_axis_rows(gaps),
        "kendall_w": _kendall_rows(points),
        "kendall_w_axis": _kendall_axis_rows(points),
        "identifier_deviation": _deviation_rows(points.outcomes),
        "canonical_pair_gap": _canonical_rows(points, intervals),
        "maximum_observed_gap": _maximum_rows(points, intervals),
        "language_moderation": _moderation_rows(points, gaps),
        "noise_floor": _noise_rows(points),
        "question_robustness": _robustness_rows(points, intervals),
        "merit_sensitivity": _merit_rows(points, intervals),
        "profile_rank_agreement": _agreement_rows(points, intervals),
    }
    return {name: list(table) for name, table in rows.items()}


def number(value: float) -> float | None:
    """Return a number for a result: None for one that cannot be computed."""
    return None if np.isnan(value) else float(value)


def _gap_row(table: str, keys: tuple[str, ...], found: GapSummary | None) -> Iterator[Row]:
    if found:
        numbers = (found.mean_delta_pct, *found.interval, found.violation_pct, found.n_pairs)
        yield TABLES[table].row(keys, *numbers)


def _axis_rows(gaps: GapSummaries) -> Iterator[Row]:
    for name, language in SLICES.items():
        for axis in AXES:
            found = gaps.summarise(language=language, axis=axis)
            yield from _gap_row("axis", (name, axis), found)


def _use_case_rows(gaps: GapSummaries) -> Iterator[Row]:
    for name, language in SLICES.items():
        for use_case in USE_CASES:
            found = gaps.summarise(language=language, use_case=use_case)
            yield from _gap_row("use_case", (name, use_case), found)


def _use_case_axis_rows(gaps: GapSummaries) -> Iterator[Row]:
    for name, language in SLICES.items():
        for use_case in USE_CASES:
            for axis in AXES:
                found = gaps.summarise(language=language, use_case=use_case, axis=axis)
                yield from _gap_row("use_case_axis", (name, use_case, axis), found)


def _kendall_rows(points: Points) -> Iterator[Row]:
    for language in LANGUAGES:
        of_language = {key: w for key, w in points.concordances.items() if key[0] == language}
        adjusted = benjamini_hochberg(np.array([w.p_value for w in of_language.values()]))
        for (key, w), p_bh in zip(of_language.items(), adjusted, strict=True):
            numbers = map(number, (w.kendall_w, w.chi2, w.p_value, p_bh))
            yield TABLES["kendall_w"].row(key, *numbers, w.n_blocks, w.n_identifiers)


def _kendall_axis_rows(points: Points) -> Iterator[Row]:
    for language in LANGUAGES:
        by_axis = {
            axis: [w for key, w in points.concordances.items() if key[0] == language and key[2] == axis]
            for axis in AXES
        }
        by_axis = {axis: found for axis, found in by_axis.items() if found}
        p_values = np.array(
            [fisher_combined(np.array([w.p_value for w in found])) for found in by_axis.values()]
        )
        adjusted = benjamini_hochberg(p_values)
        for (axis, found), p, p_bh in zip(by_axis.items(), p_values, adjusted, strict=True):
            defined = [w.kendall_w for w in found if not np.isnan(w.kendall_w)]
            mean = float(np.mean(defined)) if defined else None
            yield TABLES["kendall_w_axis"].row((language, axis), mean, number(p), number(p_bh))


def _deviation_rows(outcomes: Outcomes) -> Iterator[Row]:
    for axis in outcomes.covered("axis"):
        deviations = identifier_deviation_pct(outcomes, axis)
        for identifier, deviation in zip(IDENTIFIERS[axis], deviations, strict=True):
            if not np.isnan(deviation):
                yield TABLES["identifier_deviation"].row((axis, identifier), float(deviation))


def _canonical_rows(points: Points, intervals: Intervals) -> Iterator[Row]:
    ends = intervals.of_canonical(points.slots, points.canonical)
    for key, gap in points.canonical.items():
        numbers = (number(gap.cpg_pct), *ends[key], gap.sign_consistency_pct, gap.n_slots)
        yield TABLES["canonical_pair_gap"].row(key, *_names(key, gap.pair), *numbers)


def _maximum_rows(points: Points, intervals: Intervals) -> Iterator[Row]:
    ends = intervals.of_widest(points.slots, points.widest)
    for key, gap in points.widest.items():
        yield TABLES["maximum_observed_gap"].row(key, *_names(key, gap.pair), gap.mog_pct, *ends[key])


def _names(key: SlotsKey, pair: tuple[int, int]) -> list[str]:
    names = list(IDENTIFIERS[key[1]])
    return [names[at] for at in pair]


def _moderation_rows(points: Points, gaps: GapSummaries) -> Iterator[Row]:
    for axis in AXES:
        found = gaps.language_change(axis)
        if found:
            rho, p_value = map(number, points.rank_correlations[axis])
            yield TABLES["language_moderation"].row((axis,), rho, p_value, found.change, *found.interval)


def _noise_rows(points: Points) -> Iterator[Row]:
    for language, found in points.noise_floors.items():
        numbers = (found.noise_floor_pct, found.excess_pct, *found.interval, number(found.p_value))
        yield TABLES["noise_floor"].row((language,), *numbers, found.n_pairs)


def _robustness_rows(points: Points, intervals: Intervals) -> Iterator[Row]:
    for language in LANGUAGES:
        for axis in AXES:
            found = question_robustness(points.question_rhos, language, [axis], intervals)
            if found:
                row = (language, axis)
                yield TABLES["question_robustness"].row(row, found.mean_min_rho, *found.interval)


def _merit_rows(points: Points, intervals: Intervals) -> Iterator[Row]:
    for key, found in points.merit.items():
        ends = merit_interval(found, *key, intervals)
        yield TABLES["merit_sensitivity"].row(key, found.merit_sensitivity_pct, *ends)


def _agreement_rows(points: Points, intervals: Intervals) -> Iterator[Row]:
    for language in LANGUAGES:
        for use_case in USE_CASES:
            found = profile_rank_agreement(points.identifier_rhos, language, use_case, intervals)
            if found:
                row = (language, use_case)
                yield TABLES["profile_rank_agreement"].row(row, found.mean_rho, *found.interval)
