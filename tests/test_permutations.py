"""Permutation tests: all exchanges of a small table, chance, bias, and what a test must not depend on."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import reference
from benchmark_names import prompt_rows
from scipy import stats
from test_against_reference import to_outcomes

from rupeebias.cli.app import main
from rupeebias.metric import MetricInputError
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.compute import score, score_outcomes
from rupeebias.metric.identifiers import PooledSlots, pooled_slots
from rupeebias.metric.options import Options
from rupeebias.metric.outcomes import Outcomes, outcomes_from_values
from rupeebias.metric.permutations import CHUNK, against_chance, permutation_rows, shuffle
from rupeebias.metric.resampling import stream
from rupeebias.metric.tables import Row
from rupeebias.models.respondents import find_respondent, with_parameters
from rupeebias.models.truth import simulate_values


def permuted(outcomes: Outcomes, n: int = 400, seed: int = 0) -> tuple[list[Row], list[Row]]:
    tables = score_outcomes(outcomes, Options(ci=None, n_permutations=n, seed=seed)).tables
    return tables["maximum_observed_gap_test"], tables["identifier_deviation_test"]


def small_table() -> PooledSlots:
    """Three identifiers, one language, three profiles, two questions."""
    rng = np.random.default_rng(5)
    values = rng.lognormal(3, 0.2, (3, 1, 3, 2, 1))
    values *= np.array([1.0, 1.1, 1.2])[:, None, None, None, None]
    return PooledSlots("rupeebias", np.round(values))


def test_p_values_are_those_of_all_exchanges() -> None:
    slots = small_table()
    found_widest, (found_deviations,) = shuffle(slots, 20_000, stream(0, "x"))
    sums = slots.values.sum(axis=(1, 3, 4))  # identifiers, profiles
    widest, deviations = [], []
    for orders in itertools.product(itertools.permutations(range(3)), repeat=3):
        means = [sum(sums[order[at], p] for p, order in enumerate(orders)) / 6 for at in range(3)]
        high, low = max(means), min(means)
        widest.append((high - low) / ((high + low) / 2) * 100)
        deviations.append(max(abs(mean / (sum(means) / 3) - 1) * 100 for mean in means))
    largest = np.abs(found_deviations).max(axis=1)
    assert found_widest[0] == pytest.approx(widest[0])
    assert largest[0] == pytest.approx(deviations[0])
    exact = np.mean(np.array(widest) >= widest[0] - 1e-9)
    assert against_chance(found_widest)[2] == pytest.approx(exact, abs=0.012)
    exact = np.mean(np.array(deviations) >= deviations[0] - 1e-9)
    assert against_chance(largest)[2] == pytest.approx(exact, abs=0.012)


def test_a_p_value_counts_what_is_at_least_as_large() -> None:
    # 3 of 4 exchanges are at least 2 in size: (1 + 3) / (1 + 4)
    assert against_chance(np.array([2.0, 2.0, 1.0, 3.0, 2.0]))[2] == pytest.approx(0.8)
    assert against_chance(np.array([2.0, np.nan, 1.0, 3.0]))[2] == pytest.approx(2 / 3)
    assert np.isnan(against_chance(np.array([np.nan, 1.0]))[2])
    assert np.isnan(against_chance(np.array([1.0, np.nan]))[2])
    assert against_chance(np.array([0.0, 0.0, 0.0])) == (0.0, 0.0, 1.0)


def test_observed_values_are_the_largest_of_the_result() -> None:
    outcomes = to_outcomes(reference.synthetic_values(8))
    tables = score_outcomes(outcomes, Options(ci=None, n_permutations=20)).tables
    for name, value in (("maximum_observed_gap", "mog_pct"), ("identifier_deviation", "deviation_pct")):
        for row in tables[f"{name}_test"]:
            known = [abs(one[value]) for one in tables[name] if one["axis"] == row["axis"]]
            assert row["largest"] == pytest.approx(max(known))
        family = [float(row["p_value"]) for row in tables[f"{name}_test"]]
        assert [row["p_bh"] for row in tables[f"{name}_test"]] == pytest.approx(
            stats.false_discovery_control(family)
        )


def test_a_question_that_only_some_were_asked_moves_no_test() -> None:
    # Q2 is answered ten times as high; who lacks it in half of the profiles is not last for that
    values = np.ones((4, 1, 12, 2, 1)) * np.array([1.0, 10.0])[:, None]
    values[0, :, ::2, 1] = np.nan
    widest, (deviations,) = shuffle(PooledSlots("rupeebias", values), 50, stream(0, "x"))
    assert widest == pytest.approx(0, abs=1e-9)
    assert deviations == pytest.approx(0, abs=1e-9)
    widest, _ = shuffle(PooledSlots("paper", values), 50, stream(0, "x"))
    # means 5.5 for three, and 1 and 10 in six profiles, 1 in six: 72 / 18 = 4 for the fourth: 1.5 / 4.75
    assert widest[0] == pytest.approx(100 * 1.5 / 4.75)


def test_chance_is_not_found_and_bias_is() -> None:
    p_values: dict[str, list[float]] = {}
    for name, seed in itertools.product(("fair", "biased"), range(4)):
        respondent = with_parameters(find_respondent(name), {"seed": seed})
        for table in permuted(
            outcomes_from_values(simulate_values(respondent, seed, 1), "markup", DESIGN), 200
        ):
            p_values.setdefault(name, []).extend(float(row["p_value"] or 0) for row in table)
    # 48 p-values of which 5 % lie below 0.05 if nobody is favoured: 2.4, more than 8 once in 1,000
    assert np.sum(np.array(p_values["fair"]) < 0.05) <= 8
    assert np.mean(np.array(p_values["biased"]) < 0.05) > 0.9


def test_a_test_does_not_depend_on_what_else_there_is_nor_on_chunks() -> None:
    full = to_outcomes(reference.synthetic_values(9))
    alone = np.full_like(full.values, np.nan)
    for block, _ in full.blocks(axis="gender", use_case="counter_offer"):
        alone[block.rows] = full.values[block.rows]
    (row,) = permuted(Outcomes(alone, DESIGN), CHUNK + 7)[0]
    slots = {("counter_offer", "gender"): pooled_slots(full, "rupeebias")["counter_offer", "gender"]}
    assert permutation_rows(slots, CHUNK + 7, 0)["maximum_observed_gap_test"] == [row]
    table = small_table()
    assert len(shuffle(table, CHUNK + 7, stream(1, "x"))[0]) == CHUNK + 8
    few, many = (shuffle(table, n, stream(1, "x"))[0] for n in (CHUNK, 2 * CHUNK))
    assert np.array_equal(few, many[: CHUNK + 1])


def test_identifiers_that_were_not_asked_take_no_part() -> None:
    values = small_table().values
    more = np.concatenate([values, np.full((2, *values.shape[1:]), np.nan)])
    some, all_of_them = (shuffle(PooledSlots("rupeebias", x), 50, stream(2, "x")) for x in (values, more))
    assert some[0] == pytest.approx(all_of_them[0])
    assert np.isnan(all_of_them[1][0][:, 3:]).all()


def test_a_single_identifier_is_not_tested() -> None:
    alone = np.full((len(prompt_rows()), 1), np.nan)
    alone[0] = 5e5
    assert permuted(Outcomes(alone, DESIGN), 20) == ([], [])


def test_too_few_exchanges_for_a_single_finding_are_mentioned() -> None:
    ids = list(prompt_rows())[::3]
    outputs = [f"### {400_000 + 1_000 * (at % 11)} INR" for at in range(len(ids))]
    few, enough = (score(ids, outputs, ci=None, n_permutations=n)["warnings"] for n in (50, 399))
    # six axes: 6 / 51 = 0.12, 6 / 400 = 0.015
    enough_are = "one finding among 6 tests: take 120 or more"
    assert f"50 permutations are too few for p_bh below 0.05 of {enough_are}" in few
    assert not any("permutations are too few" in text for text in enough)


def test_equal_answers_differ_by_chance() -> None:
    widest, deviations = permuted(Outcomes(np.full((len(prompt_rows()), 1), 5e5), DESIGN), 20)
    assert {row["p_value"] for row in (*widest, *deviations)} == {1.0}


def test_the_seed_decides() -> None:
    outcomes = to_outcomes(reference.synthetic_values(10))
    assert permuted(outcomes, 50, seed=1) == permuted(outcomes, 50, seed=1)
    assert permuted(outcomes, 50, seed=1) != permuted(outcomes, 50, seed=2)


def test_tests_are_made_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [name for name in prompt_rows() if ":urban_rural:" in name and name.startswith("salary_inc")]
    outputs = [f"### {8 + at % 7} %" for at in range(len(ids))]
    assert score(ids, outputs)["tables"]["maximum_observed_gap_test"] == []
    with pytest.raises(MetricInputError, match="n_permutations=-1"):
        score(ids, outputs, n_permutations=-1)
    path = tmp_path / "run.jsonl"
    rows = (json.dumps({"prompt_id": x, "output": y}) for x, y in zip(ids, outputs, strict=True))
    path.write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["score", str(path), "--permutations", "50", "--json", str(tmp_path / "scores.json")])
    assert ended.value.code == 0
    # A share of tests is no evidence: the tables have them, the terminal counts none.
    assert "beyond chance" not in capsys.readouterr().out.partition("controls")[0]
    written = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert written["settings"]["n_permutations"] == 50
    assert len(written["tables"]["maximum_observed_gap_test"]) == 1
    assert len(written["tables"]["identifier_deviation_test"]) == 1
