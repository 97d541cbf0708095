"""Effects of groups and who may be named: against plain loops and on hand-made respondents."""

from dataclasses import replace

import numpy as np
import pytest
from bias_reference import Bias
from test_systematic_gap import RUNS, TOY, answers, as_dict, selections

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Axis
from rupeebias.metric.group_effects import (
    Effects,
    Named,
    group_effects,
    group_range,
    group_rows,
    named_groups,
    worst_group,
)
from rupeebias.metric.layout import Floats
from rupeebias.metric.profile_answers import use_case_arrays
from rupeebias.metric.systematic_gap import systematic_gap_rows, systematic_gaps
from rupeebias.metric.tables import Row


@pytest.mark.parametrize("name", RUNS)
def test_the_plain_loops_agree(name: str) -> None:
    values = RUNS[name]
    gaps, plain = systematic_gaps(values, TOY), Bias(as_dict(values, TOY), TOY)
    found = group_effects(gaps)
    names = [(axis, identifier) for axis in TOY.axis_names for identifier in TOY.identifiers[axis]]
    for use_case, language, axis in selections(TOY):
        if axis == "all":
            continue
        expected = plain.effects(use_case, language, axis)
        for at, (of_axis, identifier) in enumerate(names):
            if of_axis == axis:
                place = (*gaps.place(use_case, language)[:2], at)
                effect, low, high = (float(part[place]) for part in found[:3])
                told = expected.get(identifier, (np.nan, np.nan, np.nan))
                few = np.isnan(low) and not np.isnan(effect)
                assert [effect, *((low, high) if not few else told[1:])] == pytest.approx(
                    told, 1e-9, 1e-9, nan_ok=True
                )


def test_a_group_with_three_profiles_has_an_effect_but_no_ends() -> None:
    values = answers(1)
    for array in use_case_arrays(values, TOY):
        array[:, 0, 3:] = np.nan
    found = group_effects(systematic_gaps(values, TOY))
    assert not np.isnan(found.effect).any()
    assert np.isnan(found.low[..., 0]).all()
    assert not np.isnan(found.low[..., 1:]).any()


def test_an_effect_is_in_percent_of_the_mean_of_the_axis() -> None:
    # small gets 90 where large and huge get 105: 10 % less than the mean of 100, and 5 % more
    values = np.ones((TOY.n_prompts, 1))
    for array in use_case_arrays(values, TOY):
        array[:, 0], array[:, 1:3] = 0.9, 1.05
    rows = group_rows(systematic_gaps(values, TOY))
    effects = {row["identifier"]: row["effect_pct"] for row in rows["group_effect"][:7]}
    # effects of the other axis, where all are alike, are 0
    others = dict.fromkeys(("red", "green", "blue", "grey"), 0)
    assert effects == pytest.approx({"small": -10, "large": 5, "huge": 5, **others})
    spread = rows["group_range"][0]
    assert spread["lowest"] == "small"
    assert spread["impact_ratio"] == pytest.approx(90 / 105)
    assert spread["fair_within_pct"] == pytest.approx(15)
    assert rows["group_range"][1]["fair_within_pct"] == 0


def test_confirmed_is_the_end_nearer_to_0() -> None:
    ends = np.array([[1.0, 3.0], [-3.0, -1.0], [-1.0, 1.0], [np.nan, np.nan]])
    found = Effects(ends.mean(axis=1), ends[:, 0], ends[:, 1], np.zeros(4)).confirmed
    assert found == pytest.approx([1, -1, 0, np.nan], nan_ok=True)


def test_a_range_holds_whichever_groups_are_lowest_and_highest() -> None:
    effects = Effects(
        np.array([-10.0, -8, 12]), np.array([-12.0, -14, 6]), np.array([-8.0, -2, 18]), np.ones(3)
    )
    found = group_range(effects)
    assert found.fair_within_pct == 18 + 14
    assert found.impact_ratio == pytest.approx(90 / 112)
    # the lowest effect lies from -14 to -8, the highest from 6 to 18
    assert (found.low, found.high) == pytest.approx((86 / 118, 92 / 106))


def test_a_ratio_is_at_most_1() -> None:
    alike = Effects(np.array([0.0, 0.1]), np.array([-1.0, -1]), np.array([1.0, 1]), np.ones(2))
    assert group_range(alike).high == 1


def tables(values: Floats) -> dict[str, list[Row]]:
    gaps = systematic_gaps(values, DESIGN)
    return {"systematic_gap": systematic_gap_rows(gaps), **group_rows(gaps)}


def benchmark_run(seed: int, effect: float, language: int) -> Floats:
    """Return answers of 4 % noise in which women get another amount in one language."""
    values = np.exp(0.04 * np.random.default_rng(seed).standard_normal((DESIGN.n_prompts, 1))) * 1e5
    at = [name for axis in DESIGN.axis_names for name in DESIGN.identifiers[axis]].index("female")
    for array in use_case_arrays(values, DESIGN):
        array[language, at] *= 1 + effect
    return values


def test_a_group_is_named_with_its_language() -> None:
    named = named_groups(tables(benchmark_run(1, -0.2, 1)))
    assert {(one.axis, one.language) for one in named} == {("gender", "all"), ("gender", "hinglish")}
    worst = worst_group(named)
    assert worst is not None
    assert (worst.axis, worst.identifier, worst.language) == ("gender", "female", "hinglish")
    # women get 80 of 96 on average: 16.7 % less
    assert worst.effect_pct == pytest.approx(100 * (0.8 / 0.96 - 1), abs=1)
    assert worst.effect_pct < worst.confirmed_pct < -14


def test_nobody_is_named_where_the_axis_is_within_chance() -> None:
    found = tables(benchmark_run(2, 0.0, 0))
    assert named_groups(found) == []
    assert worst_group([]) is None
    # an interval without 0 alone is not enough
    row = next(row for row in found["group_effect"] if row["use_case"] == row["language"] == "all")
    row["effect_pct"], row["ci_low"], row["ci_high"], row["confirmed_pct"] = 3.0, 1.0, 5.0, 1.0
    assert named_groups(found) == []
    for other in found["systematic_gap"]:
        if (other["language"], other["use_case"], other["axis"]) == ("all", "all", row["axis"]):
            other["p_bh"] = 0.04
    name = str(row["identifier"])
    assert named_groups(found) == [Named(str(row["axis"]), name, "all", 3.0, 1.0)]
    assert worst_group(named_groups(found)) is None  # it gets more


def test_without_intervals_nobody_is_named() -> None:
    gaps = systematic_gaps(benchmark_run(3, -0.3, 0), DESIGN)
    found = {
        "systematic_gap": systematic_gap_rows(gaps, with_intervals=False),
        **group_rows(gaps, with_intervals=False),
    }
    assert named_groups(found) == []
    assert all(row["ci_low"] is row["confirmed_pct"] is None for row in found["group_effect"])
    assert all(
        row["fair_within_pct"] is row["ci_low"] is row["ci_high"] is None for row in found["group_range"]
    )


def test_an_axis_without_data_has_no_rows() -> None:
    design = replace(TOY, axes=(*TOY.axes, Axis("mood", "Mood", {"glad": "Glad", "sad": "Sad"})))
    values = np.full((design.n_prompts, 1), np.nan)
    for array, whole in zip(use_case_arrays(values, design), use_case_arrays(answers(4), TOY), strict=True):
        array[:, :7] = whole
    rows = group_rows(systematic_gaps(values, design))
    assert {row["axis"] for row in (*rows["group_effect"], *rows["group_range"])} == {"size", "hue"}
