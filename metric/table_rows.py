"""The rows of every table of statistics, in benchmark order."""

from collections.abc import Iterator, Sequence

import numpy as np

from .concordance import (
    Blocking,
    Concordance,
    benjamini_hochberg,
    concordances,
    fisher_combined,
)
from .design import IDENTIFIERS, LANGUAGES, USE_CASES
from .gap_summaries import GapSummaries, GapSummary
from .identifiers import IdentifierGaps, identifier_deviation_pct
from .intervals import Intervals
from .language import language_moderation
from .layout import AXES
from .merit import IdentifierRhos, merit_sensitivity, profile_rank_agreement
from .outcomes import Outcome, Outcomes
from .robustness import QuestionRhos, question_robustness
from .tables import TABLES, Row

ALL_LANGUAGES = "all"
SLICES: dict[str, Sequence[str]] = {**{x: (x,) for x in LANGUAGES}, ALL_LANGUAGES: LANGUAGES}
"""Values of the key `language` in the tables of gaps, and the languages that each pools."""


def statistic_tables(
    outcomes: Outcomes,
    gaps: GapSummaries,
    intervals: Intervals,
    outcome: Outcome,
    w_blocks: Blocking,
) -> dict[str, list[Row]]:
    """Return the rows of every table of statistics; a slice without data has no row."""
    of_blocks = _concordances(outcomes, w_blocks)
    identifiers = IdentifierGaps(outcomes, intervals)
    rows = {
        "axis": _axis_rows(gaps),
        "use_case": _use_case_rows(gaps),
        "use_case_axis": _use_case_axis_rows(gaps),
        "kendall_w": _kendall_rows(of_blocks),
        "kendall_w_axis": _kendall_axis_rows(of_blocks),
        "identifier_deviation": _deviation_rows(outcomes),
        "canonical_pair_gap": _canonical_rows(identifiers),
        "maximum_observed_gap": _maximum_rows(identifiers),
        "language_moderation": _moderation_rows(outcomes, gaps, outcome),
        "question_robustness": _robustness_rows(outcomes, intervals),
        "merit_sensitivity": _merit_rows(outcomes, intervals),
        "profile_rank_agreement": _agreement_rows(outcomes, intervals),
    }
    return {name: list(table) for name, table in rows.items()}


def number(value: float) -> float | None:
    """Return a number for a result: None for one that cannot be computed."""
    return None if np.isnan(value) else float(value)


def _gap_row(table: str, keys: tuple[str, ...], found: GapSummary | None) -> Iterator[Row]:
    if found:
        interval = (found.interval.low, found.interval.high)
        numbers = (found.mean_delta_pct, *interval, found.violation_pct, found.n_pairs)
        yield TABLES[table].row(keys, *numbers)


def _axis_rows(gaps: GapSummaries) -> Iterator[Row]:
    for name, languages in SLICES.items():
        for axis in AXES:
            found = gaps.summarise(languages=languages, axes=[axis])
            yield from _gap_row("axis", (name, axis), found)


def _use_case_rows(gaps: GapSummaries) -> Iterator[Row]:
    for name, languages in SLICES.items():
        for use_case in USE_CASES:
            found = gaps.summarise(languages=languages, use_cases=[use_case])
            yield from _gap_row("use_case", (name, use_case), found)


def _use_case_axis_rows(gaps: GapSummaries) -> Iterator[Row]:
    for name, languages in SLICES.items():
        for use_case in USE_CASES:
            for axis in AXES:
                found = gaps.summarise(languages=languages, axes=[axis], use_cases=[use_case])
                yield from _gap_row("use_case_axis", (name, use_case, axis), found)


_Concordances = dict[tuple[str, str, str], Concordance]
"""By language, use case and axis."""


def _concordances(outcomes: Outcomes, blocking: Blocking) -> _Concordances:
    found = concordances(outcomes, blocking)
    order = [(x, use_case, axis) for x in LANGUAGES for use_case in USE_CASES for axis in AXES]
    return {key: found[key] for key in order if key in found}


def _kendall_rows(concordances: _Concordances) -> Iterator[Row]:
    for language in LANGUAGES:
        of_language = {key: w for key, w in concordances.items() if key[0] == language}
        adjusted = benjamini_hochberg(np.array([w.p_value for w in of_language.values()]))
        for (key, w), p_bh in zip(of_language.items(), adjusted, strict=True):
            numbers = map(number, (w.kendall_w, w.chi2, w.p_value, p_bh))
            yield TABLES["kendall_w"].row(key, *numbers, w.n_blocks, w.n_identifiers)


def _kendall_axis_rows(concordances: _Concordances) -> Iterator[Row]:
    for language in LANGUAGES:
        by_axis = {
            axis: [w for key, w in concordances.items() if key[0] == language and key[2] == axis]
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


def _canonical_rows(identifiers: IdentifierGaps) -> Iterator[Row]:
    for use_case in USE_CASES:
        for axis in AXES:
            gap = identifiers.canonical(use_case, axis)
            if gap:
                yield TABLES["canonical_pair_gap"].row(
                    (use_case, axis),
                    gap.reference,
                    gap.comparison,
                    number(gap.cpg_pct),
                    gap.interval.low,
                    gap.interval.high,
                    gap.sign_consistency_pct,
                    gap.n_slots,
                )


def _maximum_rows(identifiers: IdentifierGaps) -> Iterator[Row]:
    for use_case in USE_CASES:
        for axis in AXES:
            gap = identifiers.maximum(use_case, axis)
            if gap:
                ends = (gap.interval.low, gap.interval.high)
                numbers = (gap.highest, gap.lowest, gap.mog_pct, *ends)
                yield TABLES["maximum_observed_gap"].row((use_case, axis), *numbers)


def _moderation_rows(outcomes: Outcomes, gaps: GapSummaries, outcome: Outcome) -> Iterator[Row]:
    for axis in AXES:
        found = language_moderation(outcomes, gaps, axis, outcome)
        if found:
            rho = (number(found.spearman_rho), number(found.p_value))
            change = (found.delta_mean_delta_pct, found.interval.low, found.interval.high)
            yield TABLES["language_moderation"].row((axis,), *rho, *change)


def _robustness_rows(outcomes: Outcomes, intervals: Intervals) -> Iterator[Row]:
    rhos = QuestionRhos(outcomes)
    for language in LANGUAGES:
        for axis in AXES:
            found = question_robustness(rhos, language, [axis], intervals)
            if found:
                ends = (found.interval.low, found.interval.high)
                row = (language, axis)
                yield TABLES["question_robustness"].row(row, found.mean_min_rho, *ends)


def _merit_rows(outcomes: Outcomes, intervals: Intervals) -> Iterator[Row]:
    for language in LANGUAGES:
        for use_case in USE_CASES:
            found = merit_sensitivity(outcomes, language, use_case, intervals)
            if found:
                numbers = (found.merit_sensitivity_pct, found.interval.low, found.interval.high)
                yield TABLES["merit_sensitivity"].row((language, use_case), *numbers)


def _agreement_rows(outcomes: Outcomes, intervals: Intervals) -> Iterator[Row]:
    rhos = IdentifierRhos(outcomes)
    for language in LANGUAGES:
        for use_case in USE_CASES:
            found = profile_rank_agreement(rhos, language, use_case, intervals)
            if found:
                numbers = (found.mean_rho, found.interval.low, found.interval.high)
                yield TABLES["profile_rank_agreement"].row((language, use_case), *numbers)
