"""Controls: identities beside facts and wordings that should not matter, against plain loops too."""

from dataclasses import replace
from itertools import combinations
from typing import Any, cast

import numpy as np
import pytest

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.controls import control_groups, control_rows
from rupeebias.metric.design import Design
from rupeebias.metric.layout import Floats, layout_of
from rupeebias.metric.options import Options
from rupeebias.metric.profile_answers import use_case_arrays
from rupeebias.metric.readings import Readings
from rupeebias.metric.systematic_gap import systematic_gaps

CONTROL = cast("Design", DESIGN.control_design)
OPTIONS = Options(n_resamples=200)


def run(own: Floats, controls: Floats) -> Readings:
    """Return the readings of a run with controls."""

    def read(values: Floats, **more: Any) -> Readings:
        return Readings(np.zeros(values.shape, np.int8), values, np.ones(values.shape, bool), **more)

    return read(own, design=DESIGN, controls=read(controls, design=CONTROL))


def noise(seed: int, n: int, sd: float = 0.04) -> Floats:
    return 1e5 * np.exp(sd * np.random.default_rng(seed).standard_normal((n, 1)))


def rows(readings: Readings, table: str, **keys: str) -> list[dict[str, Any]]:
    found = control_rows(control_groups(readings, OPTIONS))[table]
    return [row for row in found if all(row[name] == value for name, value in keys.items())]


def biased(seed: int, effect: float = -0.1) -> Floats:
    """Return answers in which women get less."""
    values = noise(seed, DESIGN.n_prompts)
    women = [":gender:female:" in name for name in layout_of(DESIGN).prompt_ids]
    return np.where(np.array(women)[:, None], values * (1 + effect), values)


def test_bias_is_beyond_all_controls_and_sensitivity_to_words_is_not() -> None:
    found = rows(
        run(biased(1), noise(2, CONTROL.n_prompts)), "excess_over_control", language="all", axis="gender"
    )
    assert [row["control"] for row in found] == ["birth_weekday", "blood_group", "placebo", "wording"]
    for row in found:
        assert row["p_value"] < 0.001
        assert row["excess_systematic_squared_ci_low"] > 0
        assert row["excess_systematic_squared"] == pytest.approx(
            row["identity_systematic_squared"] - row["control_systematic_squared"]
        )
    # the answers of a model that is moved by any change of words
    moved = run(noise(3, DESIGN.n_prompts, 0.2), noise(4, CONTROL.n_prompts, 0.2))
    for row in rows(moved, "excess_over_control", language="all", axis="all"):
        assert row["p_value"] > 0.01
        assert row["excess_mean_delta_pct_ci_low"] < 1
        assert row["identity_mean_delta_pct"] > 15


def test_the_mean_gaps_are_those_of_plain_loops_over_the_common_prompts() -> None:
    own, controls = biased(5), noise(6, CONTROL.n_prompts)
    controls[np.random.default_rng(7).random(controls.shape) < 0.1] = np.nan
    said = dict(zip(layout_of(DESIGN).prompt_ids, own[:, 0].tolist(), strict=True))
    told = dict(zip(layout_of(CONTROL).prompt_ids, controls[:, 0].tolist(), strict=True))
    readings = replace_outcome(run(own, controls))
    slots: dict[tuple[str, ...], list[float]] = {}
    partners = set()
    for name, value in told.items():
        use_case, language, axis, who, profile, question = name.split(":")
        if value == value:
            partners.add((use_case, language, profile, question))
            if axis == "blood_group":
                slots.setdefault((use_case, language, profile, question), []).append(value)
    genders: dict[tuple[str, ...], list[float]] = {}
    wordings: dict[tuple[str, ...], list[float]] = {}
    for name, value in said.items():
        use_case, language, axis, who, profile, question = name.split(":")
        place = (use_case, language, profile, question)
        if place in partners:
            if axis == "gender":
                genders.setdefault(place, []).append(value)
            others = [
                f"{use_case}:{language}:wording_{axis}:{who}_{at}:{profile}:{question}" for at in (1, 2)
            ]
            if others[0] in told:
                three = [value, *(told[other] for other in others)]
                wordings[(*place, axis, who)] = [x for x in three if x == x]
    (row,) = rows(readings, "excess_over_control", control="blood_group", language="all", axis="gender")
    assert row["identity_mean_delta_pct"] == pytest.approx(mean_gap(genders))
    assert row["control_mean_delta_pct"] == pytest.approx(mean_gap(slots))
    (row,) = rows(readings, "control_gap", control="wording", language="all")
    assert row["mean_delta_pct"] == pytest.approx(mean_gap(wordings))
    assert row["n_pairs"] == sum(len(found) * (len(found) - 1) // 2 for found in wordings.values())


def replace_outcome(readings: Readings) -> Readings:
    """Return readings of a design whose counter-offers are amounts: plain gaps are those of values."""
    cases = tuple(
        replace(case, outcome="amount" if case.outcome == "markup" else case.outcome)
        for case in DESIGN.use_cases
    )
    design = replace(DESIGN, name="amounts", use_cases=cases)
    assert readings.controls is not None
    return readings._replace(
        design=design, controls=readings.controls._replace(design=cast("Design", design.control_design))
    )


def mean_gap(slots: dict[tuple[str, ...], list[float]]) -> float:
    gaps = [abs(a - b) / ((a + b) / 2) * 100 for found in slots.values() for a, b in combinations(found, 2)]
    return sum(gaps) / len(gaps)


def test_without_control_answers_there_are_no_rows() -> None:
    bare = run(biased(8), np.full((CONTROL.n_prompts, 1), np.nan))
    assert control_rows(control_groups(bare, OPTIONS)) == {"control_gap": [], "excess_over_control": []}
    alone = bare._replace(controls=None)
    assert control_groups(alone, OPTIONS) == {}


def test_a_control_alone_has_its_rows() -> None:
    controls = noise(9, CONTROL.n_prompts)
    other = [":birth_weekday:" not in name for name in layout_of(CONTROL).prompt_ids]
    readings = run(biased(9), np.where(np.array(other)[:, None], np.nan, controls))
    assert {row["control"] for row in rows(readings, "excess_over_control")} == {"birth_weekday", "placebo"}


def test_a_control_like_the_identities_has_no_excess() -> None:
    # weekdays are answered exactly as the first seven religions: the same gap, on the same prompts
    own = noise(10, DESIGN.n_prompts)
    controls = np.full((CONTROL.n_prompts, 1), np.nan)
    arrays = zip(use_case_arrays(own, DESIGN), use_case_arrays(controls, CONTROL), strict=True)
    for use_case, (whole, part) in zip(CONTROL.use_cases, arrays, strict=True):
        asked = np.array(use_case.asked) - 1
        part[:, :7] = whole[:, :7, np.arange(len(asked)), asked][:, :, :, None]
        whole[:, 7:12] = np.nan
    readings = run(own, controls)
    (row,) = rows(readings, "excess_over_control", control="birth_weekday", axis="religion", language="all")
    assert row["excess_mean_delta_pct"] == pytest.approx(0, abs=1e-12)
    assert row["excess_systematic_squared"] == pytest.approx(0, abs=1e-12)
    assert row["p_value"] == pytest.approx(1)


def test_the_squared_gap_of_a_control_is_that_of_its_own_design() -> None:
    controls = noise(11, CONTROL.n_prompts)
    readings = run(biased(11), controls)
    laws = systematic_gaps(controls, CONTROL).laws
    (row,) = rows(readings, "excess_over_control", control="blood_group", axis="gender", language="en")
    assert row["control_systematic_squared"] == pytest.approx(float(laws.squared_gap[-1, 0, 1]))


def test_without_intervals_only_the_gaps_remain() -> None:
    readings = run(biased(12), noise(12, CONTROL.n_prompts))
    found = control_rows(control_groups(readings, Options(ci=None)))
    for row in found["excess_over_control"]:
        assert row["excess_mean_delta_pct_ci_low"] is row["excess_systematic_squared_ci_high"] is None
        assert row["p_value"] is None
    assert all(row["mean_delta_pct_ci_low"] is None for row in found["control_gap"])
