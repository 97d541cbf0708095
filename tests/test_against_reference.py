"""Every statistic, from the vectorised metric and from plain loops that share no code with it."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import reference
from benchmark_names import IDENTIFIERS, LANGUAGES, N_PROMPTS, USE_CASES, prompt_rows
from reference import Values

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.compute import score_outcomes
from rupeebias.metric.options import DEFINITIONS, Definitions, Options
from rupeebias.metric.outcomes import Outcomes
from rupeebias.metric.statistics import Scored

CASES: dict[str, dict[str, Any]] = {
    "complete": {"seed": 1},
    "missing values": {"seed": 2, "missing_share": 0.15},
    "ties, zero and negative midpoints": {"seed": 3, "ties": True},
    "ties and missing values": {"seed": 4, "ties": True, "missing_share": 0.1},
    "many missing values and ties": {"seed": 11, "ties": True, "missing_share": 0.25},
    "repeats": {"seed": 5, "repeats": 2, "missing_share": 0.05},
}


def to_outcomes(values: Values) -> Outcomes:
    rows = prompt_rows()
    dense = np.full((N_PROMPTS, 1 + max(key.repeat for key in values)), np.nan)
    for key, value in values.items():
        dense[rows[":".join(key[:6])], key.repeat] = value
    return Outcomes(dense, DESIGN)


@pytest.fixture(scope="module", params=CASES, ids=lambda name: name.replace(" ", "_"))
def case(request: pytest.FixtureRequest) -> tuple[Values, Scored]:
    values = reference.synthetic_values(**CASES[request.param])
    return values, score_outcomes(to_outcomes(values), Options(ci=None))


@pytest.fixture(scope="module")
def of_paper(case: tuple[Values, Scored]) -> Scored:
    return score_outcomes(to_outcomes(case[0]), Options(ci=None, definitions="paper"))


def part(
    values: Values, language: str | None = None, axis: str | None = None, use_case: str | None = None
) -> Values:
    wanted = (use_case, language, axis)
    return {
        key: value
        for key, value in values.items()
        if all(want is None or want == have for want, have in zip(wanted, key[:3], strict=True))
    }


def approx(expected: float | None) -> Any:
    return None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9)


def covered_axes(values: Values) -> list[str]:
    return [axis for axis in IDENTIFIERS if any(key.axis == axis for key in values)]


def slices() -> Iterator[tuple[str, str | None]]:
    yield from ((language, language) for language in LANGUAGES)
    yield "all", None


def found(statistics: Scored, table: str, **keys: str) -> dict[str, Any]:
    rows = [row for row in statistics.tables[table] if all(row[k] == v for k, v in keys.items())]
    assert len(rows) == 1, (table, keys, rows)
    return rows[0]


def test_headline_gaps(case: tuple[Values, Scored]) -> None:
    values, statistics = case
    for prefix, language in (("", None), ("english_", "en"), ("hinglish_", "hinglish")):
        chosen = part(values, language)
        headlines = statistics.headlines
        assert headlines[f"{prefix}mean_delta_pct"] == approx(reference.mean_delta_pct(chosen))
        assert headlines[f"{prefix}violation_at_10_pct"] == approx(reference.violation_pct(chosen))


@pytest.mark.parametrize("table", ["axis", "use_case", "use_case_axis"])
def test_gaps_by_slice(case: tuple[Values, Scored], table: str) -> None:
    values, statistics = case
    axes: list[str | None] = [*covered_axes(values)] if "axis" in table else [None]
    use_cases: list[str | None] = [*USE_CASES] if "use_case" in table else [None]
    n_rows = 0
    for name, language in slices():
        for use_case in use_cases:
            for axis in axes:
                named = {"axis": axis, "use_case": use_case}
                keys = {key: value for key, value in named.items() if value is not None}
                row = found(statistics, table, language=name, **keys)
                chosen = part(values, language, axis, use_case)
                assert row["mean_delta_pct"] == approx(reference.mean_delta_pct(chosen))
                assert row["violation_at_10_pct"] == approx(reference.violation_pct(chosen))
                assert row["n_pairs"] == len(reference.pair_gaps(chosen))
                n_rows += 1
    assert len(statistics.tables[table]) == n_rows


def test_special_pairs_are_counted(case: tuple[Values, Scored], of_paper: Scored) -> None:
    values, statistics = case
    assert statistics.gaps.undefined.sum() == 0
    assert statistics.gaps.below_zero.sum() == reference.n_below_zero(values)
    assert of_paper.gaps.undefined.sum() == reference.n_zero_midpoints(values)


def test_gaps_by_the_papers_definitions(case: tuple[Values, Scored], of_paper: Scored) -> None:
    values, _ = case
    for prefix, language in (("", None), ("english_", "en"), ("hinglish_", "hinglish")):
        chosen = part(values, language)
        headlines = of_paper.headlines
        assert headlines[f"{prefix}mean_delta_pct"] == approx(reference.mean_delta_pct(chosen, "paper"))
        violations = reference.violation_pct(chosen, definitions="paper")
        assert headlines[f"{prefix}violation_at_10_pct"] == approx(violations)
    assert of_paper.headlines["mean_kendall_w"] == approx(
        reference.mean_kendall_w(values, definitions="paper")
    )


@pytest.mark.parametrize("blocks", ["profile", "profile_question"])
def test_kendall_w(case: tuple[Values, Scored], blocks: Any) -> None:
    values, _ = case
    statistics = score_outcomes(to_outcomes(values), Options(ci=None, w_blocks=blocks))
    for language in LANGUAGES:
        p_values, rows = [], []
        for use_case in USE_CASES:
            for axis in covered_axes(values):
                expected = reference.kendall_w(values, use_case, language, axis, blocks)
                row = found(statistics, "kendall_w", language=language, use_case=use_case, axis=axis)
                assert row["kendall_w"] == approx(expected and expected.kendall_w)
                assert row["chi2"] == approx(expected and expected.chi2)
                assert row["p_value"] == approx(expected and expected.p_value)
                if expected:
                    assert row["n_blocks"] == expected.n_blocks
                    assert row["n_identifiers"] == expected.n_identifiers
                    p_values.append(expected.p_value)
                    rows.append(row)
        for row, p_bh in zip(rows, reference.benjamini_hochberg(p_values), strict=True):
            assert row["p_bh"] == approx(p_bh)


def test_kendall_w_by_axis_and_overall(case: tuple[Values, Scored]) -> None:
    values, statistics = case
    for language in LANGUAGES:
        for axis in covered_axes(values):
            row = found(statistics, "kendall_w_axis", language=language, axis=axis)
            expected = reference.kendall_w_axis(values, language, axis)
            assert (row["kendall_w"], row["p_value"]) == tuple(map(approx, expected or (None, None)))
    for prefix, languages in (("", LANGUAGES), ("english_", ["en"]), ("hinglish_", ["hinglish"])):
        means = [reference.mean_kendall_w(values, language) for language in languages]
        assert statistics.headlines[f"{prefix}mean_kendall_w"] == approx(reference.mean_or_none(means))


@pytest.mark.parametrize("definitions", DEFINITIONS)
def test_identifier_deviation(
    case: tuple[Values, Scored], of_paper: Scored, definitions: Definitions
) -> None:
    values, statistics = case[0], of_paper if definitions == "paper" else case[1]
    expected = reference.identifier_deviation(values, definitions)
    rows = {(row["axis"], row["identifier"]): row for row in statistics.tables["identifier_deviation"]}
    assert {key: row["deviation_pct"] for key, row in rows.items()} == {
        key: approx(value) for key, value in expected.items()
    }


@pytest.mark.parametrize("definitions", DEFINITIONS)
def test_canonical_pair_gap(case: tuple[Values, Scored], of_paper: Scored, definitions: Definitions) -> None:
    values, statistics = case[0], of_paper if definitions == "paper" else case[1]
    for use_case in USE_CASES:
        for axis in covered_axes(values):
            expected = reference.canonical_pair_gap(values, use_case, axis, definitions)
            row = found(statistics, "canonical_pair_gap", use_case=use_case, axis=axis)
            assert expected
            assert row["cpg_pct"] == approx(expected.cpg_pct)
            assert row["sign_consistency_pct"] == approx(expected.sign_consistency_pct)
            assert row["ties_pct"] == approx(expected.ties_pct)
            assert row["n_slots"] == expected.n_slots


@pytest.mark.parametrize("definitions", DEFINITIONS)
def test_maximum_observed_gap(
    case: tuple[Values, Scored], of_paper: Scored, definitions: Definitions
) -> None:
    values, statistics = case[0], of_paper if definitions == "paper" else case[1]
    for use_case in USE_CASES:
        for axis in covered_axes(values):
            expected = reference.maximum_observed_gap(values, use_case, axis, definitions)
            row = found(statistics, "maximum_observed_gap", use_case=use_case, axis=axis)
            assert expected
            assert row["mog_pct"] == approx(expected.mog_pct)
            assert (row["highest"], row["lowest"]) == (expected.highest, expected.lowest)


def test_language_moderation(case: tuple[Values, Scored]) -> None:
    values, statistics = case
    for axis in covered_axes(values):
        expected = reference.language_moderation(values, axis)
        row = found(statistics, "language_moderation", axis=axis)
        assert expected
        assert row["spearman_rho"] == approx(expected.spearman_rho)
        assert row["p_value"] == approx(expected.p_value)
        assert row["spearman_rho_normalised"] == approx(reference.normalised_rho(values, axis))
        assert row["delta_mean_delta_pct"] == approx(expected.delta_mean_delta_pct)


def by_two(
    case: tuple[Values, Scored],
    table: str,
    value: str,
    second: tuple[str, list[str]],
    expected: Callable[..., float | None],
) -> None:
    values, statistics = case
    for language in LANGUAGES:
        for name in second[1]:
            wanted = expected(values, **{"language": language, second[0]: name})
            rows = [
                row[value]
                for row in statistics.tables[table]
                if row["language"] == language and row[second[0]] == name
            ]
            assert rows == ([] if wanted is None else [approx(wanted)])


def robustness(values: Values, language: str, axis: str) -> float | None:
    return reference.question_robustness(values, language, None if axis == "all" else axis)


def test_question_robustness(case: tuple[Values, Scored]) -> None:
    axes = ("axis", [*covered_axes(case[0]), "all"])
    by_two(case, "question_robustness", "mean_min_rho", axes, robustness)


def test_merit_sensitivity(case: tuple[Values, Scored]) -> None:
    use_cases = ("use_case", [*USE_CASES])
    by_two(case, "merit_sensitivity", "merit_sensitivity_pct", use_cases, reference.merit_sensitivity)


def test_responsiveness(case: tuple[Values, Scored]) -> None:
    use_cases = ("use_case", [*USE_CASES])
    by_two(case, "responsiveness", "responsiveness_pct", use_cases, reference.responsiveness)
    values, statistics = case
    cells = [reference.responsiveness(values, u, x) for u in USE_CASES for x in LANGUAGES]
    assert statistics.headlines["responsiveness_pct"] == approx(reference.mean_or_none(cells))


def test_kendall_w_by_use_case(case: tuple[Values, Scored]) -> None:
    values, statistics = case
    for language in LANGUAGES:
        for use_case in USE_CASES:
            row = found(statistics, "kendall_w_use_case", language=language, use_case=use_case)
            cells = [reference.kendall_w(values, use_case, language, axis) for axis in covered_axes(values)]
            defined = [one for one in cells if one]
            assert row["kendall_w"] == approx(reference.mean_or_none(one.kendall_w for one in defined))
            expected = reference.fisher([one.p_value for one in defined]) if defined else None
            assert row["p_value"] == approx(expected)
        axes = [reference.kendall_w_axis(values, language, axis) for axis in covered_axes(values)]
        row = found(statistics, "kendall_w_axis", language=language, axis="all")
        assert row["kendall_w"] == approx(reference.mean_kendall_w(values, language))
        assert row["p_value"] == approx(reference.fisher([pair[1] for pair in axes if pair]))


def test_profile_rank_agreement(case: tuple[Values, Scored]) -> None:
    use_cases = ("use_case", [*USE_CASES])
    by_two(case, "profile_rank_agreement", "mean_rho", use_cases, reference.profile_rank_agreement)
