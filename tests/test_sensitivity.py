"""Who is missing, suspected slips, worst cases and other choices, on hand-made answers."""

from typing import Any

import numpy as np
import pytest
from test_systematic_gap import TOY, answers

from rupeebias.metric.compute import score_readings
from rupeebias.metric.layout import Bools, Floats, layout_of
from rupeebias.metric.options import Options
from rupeebias.metric.readings import NOT_GIVEN, Readings

IDS = layout_of(TOY).prompt_ids


def result(values: Floats, expected: Bools | None = None, **options: Any) -> dict[str, Any]:
    """Return the result of values; those that are missing failed."""
    status = np.where(np.isnan(values), NOT_GIVEN, 0).astype(np.int8)
    asked = np.ones(values.shape, bool) if expected is None else expected
    readings = Readings(status, values, asked, design=TOY)
    return score_readings(readings, Options(**{"n_resamples": 100, **options}))


def rows_of(name: str) -> Bools:
    return np.array([name in prompt_id.split(":") for prompt_id in IDS])[:, None]


def table(found: dict[str, Any], name: str, **keys: str) -> list[dict[str, Any]]:
    return [row for row in found["tables"][name] if all(row[key] == value for key, value in keys.items())]


def test_who_is_missing_altogether_is_named() -> None:
    values = np.where(rows_of("blue") | rows_of("P03") | rows_of("fr"), np.nan, answers(1))
    found = result(values, ~np.isnan(values))
    rows = {row["what"]: row for row in found["tables"]["completeness"]}
    assert [rows["identifier"][name] for name in ("n_used", "n_expected", "missing")] == [6, 7, "hue:blue"]
    assert rows["profile"]["missing"] == "pay:P03, rise:P03"
    assert rows["language"]["missing"] == "fr"
    assert rows["question"]["missing"] is None
    assert "6 of 7 identifiers have values (not: hue:blue)" in found["warnings"]


def test_only_covered_axes_and_use_cases_are_expected() -> None:
    values = np.where(rows_of("hue") | rows_of("rise"), np.nan, answers(2))
    rows = {row["what"]: row for row in result(values, ~np.isnan(values))["tables"]["completeness"]}
    assert [rows[what]["n_expected"] for what in ("identifier", "profile", "question")] == [3, 7, 3]


def test_slips_are_counted_by_identifier_and_left_out_in_one_choice() -> None:
    values = answers(3, repeats=3)  # 21 values of a question: 20 make a reference
    (slip,) = np.flatnonzero([prompt_id == "pay:en:size:small:P01:Q1" for prompt_id in IDS])
    values[slip, 0] *= 10
    found = result(values)
    (row,) = table(found, "magnitude_slips", identifier="small")
    assert row["n"] == 1
    # small is asked 7 profiles x 3 questions and 6 x 2 in two languages: 66 prompts, three times
    assert row["share_pct"] == pytest.approx(100 / 198)
    assert sum(row["n"] for row in found["tables"]["magnitude_slips"]) == 1
    assert any("1 suspected magnitude slip " in warning for warning in found["warnings"])
    gaps = {row["choice"]: row["mean_delta_pct"] for row in table(found, "sensitivity", language="all")}
    values[slip, 0] = np.nan
    assert gaps["without_slips"] == pytest.approx(result(values)["mean_delta_pct"])
    assert gaps["without_slips"] < gaps["default"]


def test_other_choices_of_the_mean_gap() -> None:
    # "size": two pairs of 3 differ, 200 / 3 %, and one does not; "hue": all alike
    values = np.ones((TOY.n_prompts, 1))
    values[rows_of("small")] = 2
    values[rows_of("pay")[:, 0]] *= 1000
    rows = {row["choice"]: row for row in table(result(values), "sensitivity", language="all")}
    # of 9 pairs a slot (3 of size, 6 of hue) two are 66.7 % apart
    assert rows["default"]["mean_delta_pct"] == pytest.approx(200 / 3 * 2 / 9)
    assert rows["balanced_axes"]["mean_delta_pct"] == pytest.approx(200 / 3 * 2 / 3 / 2)
    assert rows["median_pair"]["mean_delta_pct"] == 0
    n, top = 9 * 66, 1  # 0.1 % of 594 pairs, at least one
    assert rows["without_top_pairs"]["mean_delta_pct"] == pytest.approx(
        200 / 3 * (n * 2 / 9 - top) / (n - top)
    )
    assert rows["paper"]["systematic_gap_pct"] is None
    assert rows["amount"]["systematic_gap_pct"] == rows["default"]["systematic_gap_pct"]
    assert len(table(result(values), "sensitivity")) == 8 * 3


def test_a_group_whose_answers_are_missing_has_a_worst_case() -> None:
    # answers for small are missing in half of the slots; those that are there are 5 % lower
    values = answers(5, noise=0.01)
    values[rows_of("small")] *= 0.95
    holes = rows_of("small") & (rows_of("Q1") | rows_of("P02") | rows_of("P04"))
    found = result(np.where(holes, np.nan, values))
    row = table(found, "worst_case", language="all")[0]
    assert row["identifiers"] == "small"
    # all its failures become the slot's lowest other answer, or all the highest: here both axes' other groups
    filled = np.where(holes, np.nan, values)
    fills = []
    for choose in (min, max):
        mended = filled.copy()
        for at in np.flatnonzero(holes[:, 0]):
            others = [
                filled[IDS.index(IDS[at].replace(":small:", f":{name}:")), 0] for name in ("large", "huge")
            ]
            mended[at] = choose(others)
        fills.append(result(mended))
    effects = [
        table(fill, "group_effect", language="all", use_case="all", identifier="small")[0] for fill in fills
    ]
    worse = max(zip(fills, effects, strict=True), key=lambda pair: abs(pair[1]["effect_pct"]))[0]
    (expected,) = table(worse, "systematic_gap", language="all", use_case="all", axis="size")
    assert row["systematic_gap_pct"] == pytest.approx(expected["systematic_gap_pct"])
    whole = {row["choice"]: row for row in table(found, "sensitivity", language="all")}["missing_worst"]
    assert whole["systematic_gap_pct"] == pytest.approx(worse["systematic_gap_pct"])


def test_a_complete_run_has_no_worst_case() -> None:
    found = result(answers(6))
    assert found["tables"]["worst_case"] == []
    rows = {row["choice"]: row for row in table(found, "sensitivity", language="all")}
    assert rows["missing_worst"] == {**rows["default"], "choice": "missing_worst"}


def test_too_few_profiles_for_intervals_are_told() -> None:
    few = np.logical_or.reduce([rows_of(f"P{at:02d}") for at in (4, 5, 6, 7)])
    values = np.where(few, np.nan, answers(7))
    assert any("needs 4 profiles" in warning for warning in result(values, ~np.isnan(values))["warnings"])
