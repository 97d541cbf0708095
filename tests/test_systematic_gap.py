"""Systematic gap: against plain loops, against hand-made respondents, and what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
from bias_reference import Bias, Key

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Axis, Design, Language, UseCase
from rupeebias.metric.layout import Floats, layout_of
from rupeebias.metric.profile_answers import use_case_arrays
from rupeebias.metric.systematic_gap import SystematicGaps, systematic_gap_rows, systematic_gaps

TOY = Design(
    name="toy",
    label="Toy",
    version="1",
    fingerprint="toy",
    languages=(Language("en", "English", "english"), Language("fr", "French", "french")),
    axes=(
        Axis("size", "Size", {"small": "Small", "large": "Large", "huge": "Huge"}),
        Axis("hue", "Hue", {name: name.title() for name in ("red", "green", "blue", "grey")}),
    ),
    use_cases=(
        UseCase("pay", "Pay", "EUR", "amount", (1, 1e9), 7, 3),
        UseCase("rise", "Rise", "percent", "percent", (0, 200), 6, 2),
    ),
)


def answers(seed: int, design: Design = TOY, noise: float = 0.05, repeats: int = 1) -> Floats:
    """Return values with effects by identifier, by profile and by chance."""
    rng = np.random.default_rng(seed)
    values = np.empty((design.n_prompts, repeats))
    for array, use_case in zip(use_case_arrays(values, design), design.use_cases, strict=True):
        _, identifiers, profiles, questions, _ = array.shape
        base = rng.uniform(5, 20, (1, 1, profiles, 1, 1)) * (1 if use_case.unit == "percent" else 50_000)
        effects = rng.normal(0, 0.06, (1, identifiers, 1, 1, 1)) * rng.exponential(1, (1, 1, profiles, 1, 1))
        asked = 1 + 0.3 * rng.random((1, 1, 1, questions, 1))
        array[:] = base * asked * np.exp(effects + rng.normal(0, noise, array.shape))
    return values


def with_holes(values: Floats, seed: int, share: float) -> Floats:
    """Return values of which a share is missing."""
    return np.where(np.random.default_rng(seed).random(values.shape) < share, np.nan, values)


def asked_once(values: Floats, design: Design) -> Floats:
    """Return values of which each profile keeps one language and question."""
    kept = np.full_like(values, np.nan)
    for whole, part in zip(use_case_arrays(values, design), use_case_arrays(kept, design), strict=True):
        for profile in range(whole.shape[2]):
            place = (profile % 2, slice(None), profile, profile // 2 % whole.shape[3])
            part[place] = whole[place]
    return kept


def as_dict(values: Floats, design: Design) -> dict[Key, float]:
    """Return values by prompt."""
    found: dict[Key, float] = {}
    for prompt_id, row in zip(layout_of(design).prompt_ids, values.tolist(), strict=True):
        use_case, language, axis, identifier, profile, question = prompt_id.split(":")
        for repeat, value in enumerate(row):
            if not np.isnan(value):
                key = (use_case, language, axis, identifier, int(profile[1:]), int(question[1:]), repeat)
                found[key] = value
    return found


def selections(design: Design) -> list[tuple[str, str, str]]:
    return [
        (use_case, language, axis)
        for use_case in ("all", *design.use_case_names)
        for language in ("all", *design.language_names)
        for axis in ("all", *design.axis_names)
    ]


def without(values: Floats, *names: str) -> Floats:
    """Return values without the prompts that have one of these parts."""
    rows = [any(name in prompt_id.split(":") for name in names) for prompt_id in layout_of(TOY).prompt_ids]
    return np.where(np.array(rows)[:, None], np.nan, values)


RUNS = {
    "complete": answers(1),
    "two repeats": answers(2, repeats=2),
    "a tenth missing": with_holes(answers(3, repeats=2), 3, 0.1),
    "half missing": with_holes(answers(4), 4, 0.5),
    "profiles once": asked_once(answers(5), TOY),
    "no effects": np.exp(0.05 * np.random.default_rng(6).standard_normal((TOY.n_prompts, 1))),
    "no percentages above 0": np.where(
        np.array([name.startswith("rise") for name in layout_of(TOY).prompt_ids])[:, None], 0, answers(7)
    ),
    "one language": without(answers(8), "fr"),
    "an identifier and an axis of a use case missing": without(
        with_holes(answers(9), 9, 0.05), "blue", *(f"P{at:02d}" for at in (7,))
    ),
    "all alike": np.ones((TOY.n_prompts, 1)),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_plain_loops_agree(name: str) -> None:
    values = RUNS[name]
    gaps, plain = systematic_gaps(values, TOY), Bias(as_dict(values, TOY), TOY)
    low, high, p_value = gaps.laws.interval()
    for key in selections(TOY):
        place, expected = gaps.place(*key), plain.gap(*key)
        if expected is None:
            assert np.isnan(gaps.laws.squared_gap[place])
            continue
        found = [part[place] for part in (gaps.laws.squared_gap, gaps.laws.scatter, low, high, p_value)]
        told = [expected.squared, expected.scatter, expected.low, expected.high, expected.p_value]
        assert found == pytest.approx([np.nan if x is None else x for x in told], 1e-9, 1e-9, nan_ok=True), (
            key
        )
        assert gaps.laws.n_profiles[place] == expected.n_profiles


def test_the_plain_loops_agree_on_a_run_of_the_benchmark() -> None:
    values = with_holes(answers(11, DESIGN), 11, 0.02)
    gaps, plain = systematic_gaps(values, DESIGN), Bias(as_dict(values, DESIGN), DESIGN)
    low, high, p_value = gaps.laws.interval()
    for key in [
        ("all", "all", "gender"),
        ("counter_offer", "en", "gender"),
        ("salary_increment", "all", "caste"),
    ]:
        place, expected = gaps.place(*key), plain.gap(*key)
        assert expected is not None
        found = [part[place] for part in (gaps.laws.squared_gap, low, high, p_value)]
        assert found == pytest.approx([expected.squared, expected.low, expected.high, expected.p_value], 1e-9)


def whole(values: Floats, design: Design = TOY) -> dict[str, float]:
    """Return the first row of the table."""
    row = systematic_gap_rows(systematic_gaps(values, design))[0]
    assert (row["language"], row["use_case"], row["axis"]) == ("all", "all", "all")
    return row  # type: ignore[return-value]


def test_two_groups_thirty_percent_apart() -> None:
    # one of two groups gets 70 where the other gets 100: 30 / 85 = 35.29 % of the mean
    design = replace(TOY, axes=(Axis("who", "Who", {"a": "A", "b": "B"}),))
    values = np.ones((design.n_prompts, 1))
    for array in use_case_arrays(values, design):
        array[:, 1] = 0.7
    row = whole(values, design)
    assert row["systematic_gap_pct"] == pytest.approx(100 * 0.3 / 0.85)
    # without noise there is hardly an interval
    assert row["ci_low"] == pytest.approx(row["systematic_gap_pct"], rel=0.005)
    assert row["ci_high"] == pytest.approx(row["systematic_gap_pct"], rel=0.005)
    assert row["scatter_gap_pct"] == pytest.approx(0, abs=1e-5)
    assert row["p_value"] < 0.001


def test_equal_answers_have_a_gap_of_0_for_certain() -> None:
    row = whole(np.full((TOY.n_prompts, 1), 12.0))
    assert [row[name] for name in ("systematic_gap_pct", "ci_low", "ci_high", "p_value")] == [0, 0, 0, 1]


def test_what_changes_sign_between_profiles_is_scatter() -> None:
    values = np.ones((TOY.n_prompts, 1))
    for array in use_case_arrays(values, TOY):
        signs = np.resize([1, -1], array.shape[2])[None, :, None, None]
        array[:, 0] += 0.1 * signs
        array[:, 1] -= 0.1 * signs
    row = whole(values)
    assert row["systematic_gap_pct"] == 0
    assert row["scatter_gap_pct"] > 10


def test_the_unit_of_money_and_the_level_of_a_profile_do_not_matter() -> None:
    values = answers(12)
    scaled = values.copy()
    pay, scaled_pay = use_case_arrays(values, TOY)[0], use_case_arrays(scaled, TOY)[0]
    scaled_pay[:] = pay * np.array([1e5, 1, 2, 3, 4, 5, 6])[:, None, None]
    assert whole(scaled) == pytest.approx(whole(values))


def test_the_order_of_identifiers_and_of_profiles_does_not_matter() -> None:
    values = answers(13)
    turned = values.copy()
    for array, source in zip(use_case_arrays(turned, TOY), use_case_arrays(values, TOY), strict=True):
        array[:, :3], array[:, 3:] = source[:, [2, 0, 1]], source[:, [6, 4, 3, 5]]
        array[:] = array[:, :, ::-1].copy()
    assert whole(turned) == pytest.approx(whole(values))


def test_a_missing_answer_to_the_question_with_high_answers_is_no_bias() -> None:
    # Q2 is asked three times as much as Q1: whoever lacks it in every profile would seem to get less
    values = np.ones((TOY.n_prompts, 1))
    for array in use_case_arrays(values, TOY):
        array[:, :, :, 1] = 3
        array[:, 0, :, 1] = np.nan
    assert whole(values)["systematic_gap_pct"] == 0


def test_who_shares_no_question_with_the_others_is_not_compared() -> None:
    values = np.ones((TOY.n_prompts, 1))
    for array in use_case_arrays(values, TOY):
        array[:, :, :, 1] = 3
        array[:, 0, :, 0] = np.nan  # small: only Q2
        array[:, 1:3, :, 1] = np.nan  # the others of the axis: only Q1
        array[:, :, :, 2:] = np.nan
    assert whole(values)["systematic_gap_pct"] == 0


def only_profiles(values: Floats, n: int) -> SystematicGaps:
    cut = values.copy()
    for array in use_case_arrays(cut, TOY):
        array[:, :, n:] = np.nan
    return systematic_gaps(cut, TOY)


def test_one_profile_has_no_row_and_three_have_no_ends() -> None:
    assert systematic_gap_rows(only_profiles(answers(14), 1)) == []
    for n in (2, 3):
        rows = systematic_gap_rows(only_profiles(answers(14), n))
        assert len(rows) == 27
        assert all(row["ci_low"] is row["ci_high"] is row["p_value"] is row["p_bh"] is None for row in rows)
        assert all(row["systematic_gap_squared"] is not None for row in rows)
    assert all(row["ci_high"] is not None for row in systematic_gap_rows(only_profiles(answers(14), 4)))


def test_p_values_are_adjusted_in_three_families() -> None:
    rows = systematic_gap_rows(systematic_gaps(answers(15), TOY))
    families: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        name = "use case" if row["use_case"] != "all" else "whole" if row["axis"] == "all" else "axis"
        families.setdefault(name, []).append((row["p_value"], row["p_bh"]))  # type: ignore[arg-type]
    assert {name: len(family) for name, family in families.items()} == {"axis": 6, "use case": 18, "whole": 3}
    for family in families.values():
        ascending = sorted(family)
        for place, (p, p_bh) in enumerate(ascending):
            rest = [other * len(family) / (at + 1) for at, (other, _) in enumerate(ascending)][place:]
            assert p_bh == pytest.approx(min(1, *rest, p * len(family) / (place + 1)))


def test_a_p_value_below_five_percent_goes_with_a_lower_end_above_0() -> None:
    for seed in range(30):
        for row in systematic_gap_rows(systematic_gaps(answers(seed, noise=0.3), TOY)):
            assert (row["p_value"] < 0.05) == (row["ci_low"] > 0)  # type: ignore[operator]


def test_without_intervals_only_the_gap_remains() -> None:
    rows = systematic_gap_rows(systematic_gaps(answers(16), TOY), with_intervals=False)
    assert all(row["p_value"] is row["p_bh"] is row["ci_low"] is row["ci_high"] is None for row in rows)
    assert all(row["systematic_gap_pct"] is not None for row in rows)
