"""Two runs compared: plain loops, invariances, and what cannot be compared."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from benchmark_names import IDENTIFIERS, OFFERED_CTC_LPA, USE_CASES, prompt_rows
from reference import Key, Values
from scipy import stats
from test_against_reference import to_outcomes

from rupeebias.cli.app import main
from rupeebias.metric import COMPARISON_TABLES, HEADLINES, MetricInputError, compare_readings
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.compute import score_readings
from rupeebias.metric.layout import layout_of
from rupeebias.metric.options import Blocking, Options
from rupeebias.metric.readings import NOT_GIVEN, Readings, read_outputs
from rupeebias.metric.resampling import Jackknife
from rupeebias.metric.statuses import STATUSES
from rupeebias.metric.tables import Row

OPTIONS = Options(outcome="amount")  # the values are outcomes already


def readings(values: Values) -> Readings:
    dense = to_outcomes(values).values
    status = np.where(np.isnan(dense), NOT_GIVEN, STATUSES.index("ok")).astype(np.int8)
    return Readings(status, dense, np.ones(dense.shape, dtype=bool))


def rows(first: Values, second: Values, **options: Any) -> dict[str, Row]:
    found = compare_readings(readings(first), readings(second), Options(outcome="amount", **options))
    return {row["statistic"]: row for row in found["tables"]["comparison"]}


@pytest.fixture(scope="module")
def runs() -> tuple[Values, Values]:
    return (
        reference.synthetic_values(21, missing_share=0.03),
        reference.synthetic_values(22, missing_share=0.03),
    )


def common(first: Values, second: Values) -> tuple[Values, Values]:
    keys = first.keys() & second.keys()
    return {key: first[key] for key in first if key in keys}, {
        key: second[key] for key in first if key in keys
    }


def by_students_t(change: float, left: Mapping[str, Sequence[float]]) -> Any:
    """A difference, its interval and p-value, from what it is without each profile of each use case."""
    parts = []
    for values in left.values():
        n, centre = len(values), sum(values) / len(values)
        parts.append(((n - 1) / n * sum((x - centre) ** 2 for x in values), n - 1))
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / f for part, f in parts)
    reach = stats.t.ppf(0.975, freedom) * variance**0.5
    p_value = 2 * stats.t.sf(abs(change) / variance**0.5, freedom)
    return pytest.approx((change, change - reach, change + reach, p_value), rel=1e-6)


def plainly(first: Values, second: Values, statistic: Callable[[Values], float | None]) -> Any:
    """What `by_students_t` tells of a statistic made by use case: profiles are left out as they are."""
    first, second = common(first, second)
    left: dict[str, list[float]] = {}
    for use_case in USE_CASES:
        for profile in sorted({key.profile for key in first if key.use_case == use_case}):
            kept = [
                {key: run[key] for key in run if (key.use_case, key.profile) != (use_case, profile)}
                for run in (first, second)
            ]
            left.setdefault(use_case, []).append(statistic(kept[1]) - statistic(kept[0]))  # type: ignore[operator]
    return by_students_t(statistic(second) - statistic(first), left)  # type: ignore[operator]


Parts = dict[tuple[str, str], tuple[float, int]]
"""By use case and profile: sum and number of something about its gaps."""


def parts_of(run: Values, about: Callable[[float], float]) -> Parts:
    by_profile: dict[tuple[str, str], dict[Key, float]] = {}
    for key, value in run.items():
        by_profile.setdefault((key.use_case, key.profile), {})[key] = value
    gaps = {name: reference.pair_gaps(values) for name, values in by_profile.items()}
    return {name: (sum(map(about, of_profile)), len(of_profile)) for name, of_profile in gaps.items()}


def mean_without(parts: Parts, left_out: tuple[str, str] | None = None) -> float:
    """The mean of all gaps; what is left of a profile's use case weighs as much as all of it."""
    total = count = 0.0
    for name, (part, n) in parts.items():
        weight = 1.0
        if left_out and name[0] == left_out[0]:
            n_profiles = sum(use_case == name[0] for use_case, _ in parts)
            weight = 0.0 if name == left_out else n_profiles / (n_profiles - 1)
        total, count = total + weight * part, count + weight * n
    return total / count


def pooled_plainly(first: Values, second: Values, about: Callable[[float], float] = float) -> Any:
    """What `by_students_t` tells of a mean over all gaps of all use cases."""
    runs = [parts_of(run, about) for run in common(first, second)]
    left: dict[str, list[float]] = {}
    for name in sorted(runs[0]):
        change = mean_without(runs[1], name) - mean_without(runs[0], name)
        left.setdefault(name[0], []).append(change)
    return by_students_t(mean_without(runs[1]) - mean_without(runs[0]), left)


@pytest.mark.parametrize("language", ["", "english", "hinglish"])
def test_differences_are_those_of_plain_loops(runs: tuple[Values, Values], language: str) -> None:
    of_language = {"": None, "english": "en", "hinglish": "hinglish"}[language]
    first, second = (reference.select(run, language=of_language) for run in runs)
    found = {
        name: (row["difference"], row["ci_low"], row["ci_high"], row["p_value"])
        for name, row in rows(*runs).items()
    }
    prefix = f"{language}_" if language else ""
    assert found[f"{prefix}mean_delta_pct"] == pooled_plainly(first, second)
    above = pooled_plainly(first, second, lambda gap: 100.0 * (gap > 10))
    assert found[f"{prefix}violation_at_10_pct"] == above
    mean_w = plainly(*runs, lambda run: reference.mean_kendall_w(run, of_language))
    assert found[f"{prefix}mean_kendall_w"] == mean_w


def test_balanced_means_are_those_of_plain_loops(runs: tuple[Values, Values]) -> None:
    row = rows(*runs)["mean_delta_pct_balanced"]
    found = (row["difference"], row["ci_low"], row["ci_high"], row["p_value"])
    assert found == plainly(*runs, balanced_mean)


def balanced_mean(run: Values) -> float:
    cells = [
        reference.mean_delta_pct(reference.select(run, language=language, axis=axis, use_case=use_case))
        for language in ("en", "hinglish")
        for axis in reference.SMALL_AXES
        for use_case in USE_CASES
    ]
    return sum(mean or 0 for mean in cells) / len(cells)


@pytest.mark.parametrize("blocks", ["profile", "profile_question"])
def test_w_by_either_kind_of_row_is_that_of_the_result(runs: tuple[Values, Values], blocks: Blocking) -> None:
    first, second = common(*runs)
    row = rows(*runs, w_blocks=blocks)["mean_kendall_w"]
    for name, run in (("first", first), ("second", second)):
        assert row[name] == pytest.approx(reference.mean_kendall_w(run, blocks=blocks))


def test_values_on_common_answers_are_those_of_the_result(runs: tuple[Values, Values]) -> None:
    first, second = (score_readings(readings(run), OPTIONS) for run in common(*runs))
    found = rows(*runs)
    for name in set(found) & set(HEADLINES) - {"parse_health_pct", "refusal_rate_pct"}:
        assert found[name]["first"] == pytest.approx(first[name])
        assert found[name]["second"] == pytest.approx(second[name])


def test_an_axis_is_compared_as_by_itself(runs: tuple[Values, Values]) -> None:
    compared = compare_readings(readings(runs[0]), readings(runs[1]), OPTIONS)
    for row in compared["tables"]["comparison_axis"]:
        language = None if row["language"] == "all" else str(row["language"])
        axis = str(row["axis"])
        found = (row["difference"], row["ci_low"], row["ci_high"], row["p_value"])
        first, second = (reference.select(run, axis=axis, language=language) for run in runs)
        assert found == pooled_plainly(first, second)
        family = [
            other["p_value"]
            for other in compared["tables"]["comparison_axis"]
            if other["language"] == row["language"]
        ]
        adjusted = stats.false_discovery_control(family)
        assert row["p_bh"] == pytest.approx(adjusted[family.index(row["p_value"])])


def test_deviations_are_compared_as_in_plain_loops(runs: tuple[Values, Values]) -> None:
    compared = compare_readings(readings(runs[0]), readings(runs[1]), OPTIONS)["tables"][
        "comparison_deviation"
    ]
    assert len(compared) == sum(len(IDENTIFIERS[axis]) for axis in reference.SMALL_AXES)
    for row in compared[::4]:
        key = (str(row["axis"]), str(row["identifier"]))
        found = (row["difference"], row["ci_low"], row["ci_high"], row["p_value"])
        assert found == plainly(*runs, partial(deviation, key=key))
    family = [row["p_value"] for row in compared]
    assert [row["p_bh"] for row in compared] == pytest.approx(stats.false_discovery_control(family))


def deviation(run: Values, key: tuple[str, str]) -> float | None:
    return reference.identifier_deviation(run).get(key)


def test_a_statistic_without_an_interval_says_why() -> None:
    two = [
        {
            key: value
            for key, value in reference.synthetic_values(seed).items()
            if key.use_case != "counter_offer" or key.profile < "P03"
        }
        for seed in (3, 4)
    ]
    found = compare_readings(readings(two[0]), readings(two[1]), OPTIONS)
    unsure = [row["statistic"] for row in found["tables"]["comparison"] if row["p_value"] is None]
    assert "mean_kendall_w" in unsure
    (told,) = (text for text in found["warnings"] if text.startswith("comparison: no interval"))
    assert str(unsure[0]) in told
    assert any("mean_kendall_w rests on few profiles" in text for text in found["warnings"])


def test_runs_that_were_read_differently_are_not_compared() -> None:
    ids = [name for name in prompt_rows() if name.startswith("salary_estimation:en:gender:")]
    texts = ["### 900000 INR"] * len(ids)
    lenient, strict = read_outputs(ids, texts), read_outputs(ids, texts, mode="strict")
    with pytest.raises(MetricInputError, match="read lenient, the other strict"):
        compare_readings(lenient, strict, Options())
    assert score_readings(strict, Options())["settings"]["parse"] == "strict"
    assert compare_readings(strict, strict, Options())["settings"]["parse"] == "strict"


def test_runs_of_two_benchmarks_are_not_compared(runs: tuple[Values, Values]) -> None:
    first, second = map(readings, runs)
    other = replace(DESIGN, label="Another", fingerprint="0")
    with pytest.raises(MetricInputError, match=r"different benchmarks: RupeeBias 1.* and Another"):
        compare_readings(first, second._replace(design=other), OPTIONS)


def test_swapped_runs_differ_the_other_way(runs: tuple[Values, Values]) -> None:
    there, back = rows(*runs), rows(*reversed(runs))
    for name, row in there.items():
        other = back[name]
        assert (row["first"], row["second"]) == (other["second"], other["first"])
        assert row["difference"] == pytest.approx(-float(other["difference"] or 0))
        assert row["p_value"] == pytest.approx(other["p_value"])
        if row["ci_low"] is not None:
            assert row["ci_low"] == pytest.approx(-float(other["ci_high"] or 0))


def mean_gap_row(result: dict[str, Any]) -> dict[str, Any]:
    """Return the row of the mean gap."""
    return next(row for row in result["tables"]["comparison"] if row["statistic"] == "mean_delta_pct")


def test_a_run_does_not_differ_from_itself(runs: tuple[Values, Values]) -> None:
    for row in rows(runs[0], runs[0]).values():
        assert (row["difference"], row["ci_low"], row["ci_high"], row["p_value"]) == (0, 0, 0, 1)


def test_answers_of_one_run_alone_change_nothing_but_the_rates(runs: tuple[Values, Values]) -> None:
    first, second = runs
    fewer = {key: value for key, value in first.items() if key in second}
    for name, row in rows(first, second).items():
        if not name.endswith(("health_pct", "rate_pct")):
            assert row == rows(fewer, second)[name]


def test_p_value_and_interval_of_a_mean_are_students() -> None:
    values = np.array([3.0, 5, 8, -4, 9, 1])
    layout = layout_of(DESIGN)
    numerator, denominator = np.zeros(layout.n_profiles), np.zeros(layout.n_profiles)
    numerator[:6], denominator[:6] = values, 1
    interval, p_value = Jackknife.ratio(numerator, denominator, layout).tested()
    test = stats.ttest_1samp(values, 0)
    assert p_value == pytest.approx(test.pvalue)
    assert tuple(interval) == pytest.approx(test.confidence_interval(0.95))


def test_rates_count_the_answers_expected_of_both() -> None:
    ids = [name for name in prompt_rows() if name.startswith("salary_estimation:en:gender:")]
    n_of_p01 = sum(":P01:" in name for name in ids)
    texts = ["### 900000 INR"] * len(ids)
    refused = ["I cannot say." if ":P01:" in name else "### 900000 INR" for name in ids]
    fewer = [name for name in ids if ":P02:" not in name]
    first = read_outputs(ids, texts)
    second = read_outputs(fewer, [refused[ids.index(name)] for name in fewer])
    found = compare_readings(first, second, Options())
    row = {row["statistic"]: row for row in found["tables"]["comparison"]}["refusal_rate_pct"]
    # of 17 profiles both were asked, one is refused by the second run
    assert (row["first"], row["second"]) == (0, pytest.approx(100 / 17))
    assert found["n_matched"] == len(ids) - 2 * n_of_p01
    told = f"left out: {2 * n_of_p01:,} answers of the first run that the other has no value for"
    assert found["warnings"][0] == told
    assert [text for text in found["warnings"] if "only 1 of" in text] == [
        text for text in score_readings(second, Options())["warnings"] if "only 1 of" in text
    ]


def test_few_profiles_have_differences_but_no_intervals() -> None:
    runs = [
        {key: value for key, value in reference.synthetic_values(seed).items() if key.profile < "P03"}
        for seed in (1, 2)
    ]
    found = compare_readings(readings(runs[0]), readings(runs[1]), OPTIONS)
    row = found["tables"]["comparison"][0]
    assert row["difference"] is not None
    assert (row["ci_low"], row["ci_high"], row["p_value"]) == (None, None, None)
    assert any("at least 3 in every use case" in warning for warning in found["warnings"])


def test_repeats_that_one_run_has_alone_are_left_out_and_told() -> None:
    once, thrice = reference.synthetic_values(1), reference.synthetic_values(2, repeats=3)
    found = compare_readings(readings(once), readings(thrice), OPTIONS)
    assert found["warnings"][0] == "left out: all but 1 repeat that both runs have (0)"
    first_repeat = {key: value for key, value in thrice.items() if key.repeat == 0}
    assert found["tables"] == compare_readings(readings(once), readings(first_repeat), OPTIONS)["tables"]


def test_repeats_are_matched_by_their_number() -> None:
    ids = [name for name in prompt_rows() if ":gender:" in name and name.startswith("counter_offer")]
    rng = np.random.default_rng(3)
    texts = {(name, repeat): f"### {rng.integers(50, 99)}00000 INR" for name in ids for repeat in range(3)}

    def run(*repeats: int) -> Readings:
        asked = [(name, repeat) for name in ids for repeat in repeats]
        numbers = [repeat for _, repeat in asked]
        return read_outputs([name for name, _ in asked], [texts[one] for one in asked], repeats=numbers)

    for first, second in ((run(0, 1), run(1, 2)), (run(0, 1, 2), run(2)), (run(2), run(2, 1))):
        found = compare_readings(first, second, Options())
        assert found["n_matched"] == len(ids)
        assert {row["difference"] for row in found["tables"]["comparison"]} == {0.0}
    assert run(2).repeats == (2,)
    assert read_outputs(ids, ["x"] * len(ids), repeats=[2] * len(ids), n_repeats=3).repeats == (2, 0, 1)


def test_a_run_that_only_refuses_is_compared_by_that() -> None:
    ids = [name for name in prompt_rows() if name.startswith("salary_estimation:en:gender:")]
    answered, refused = (read_outputs(ids, [text] * len(ids)) for text in ("### 900000 INR", "I cannot say."))
    found = compare_readings(answered, refused, Options())
    by_name = {row["statistic"]: row for row in found["tables"]["comparison"]}
    # 18 profiles that all say the same: 2^-17
    assert list(by_name["refusal_rate_pct"].values())[1:] == [0, 100, 100, 100, 100, 2**-17]
    assert list(by_name["parse_health_pct"].values())[1:] == [100, 0, -100, -100, -100, 2**-17]
    assert by_name["mean_delta_pct"]["difference"] is None
    assert found["n_matched"] == 0
    (told,) = (text for text in found["warnings"] if text.startswith("comparison: None for"))
    assert "mean_delta_pct" in told


def test_a_difference_of_everybody_alike_is_certain_and_one_of_rounding_is_none() -> None:
    ids = [name for name in prompt_rows() if ":gender:" in name and name.startswith("salary_estimation")]
    for base, factor in ((1_000_000, 1.2), (1_500_000, 1.1)):
        equal = read_outputs(ids, [f"### {base} INR"] * len(ids))
        more = [base * factor if ":female:" in name else base for name in ids]
        other = read_outputs(ids, [f"### {round(amount)} INR" for amount in more])
        row = mean_gap_row(compare_readings(equal, other, Options()))
        # 4 of 10 pairs are with the one who gets more
        expected = 0.4 * (factor - 1) / ((factor + 1) / 2) * 100
        assert row["difference"] == pytest.approx(expected)
        assert row["p_value"] == 2**-17  # 18 profiles, all alike
        assert (row["ci_low"], row["ci_high"]) == (row["difference"], row["difference"])
    # the same answers under other names: no gap differs by more than rounding
    rng = np.random.default_rng(4)
    names = list(IDENTIFIERS["gender"])
    amounts = {
        name: int(amount) for name, amount in zip(ids, rng.integers(5, 40, len(ids)) * 33_333, strict=True)
    }
    turned = {
        name: name.replace(f":{who}:", f":{names[names.index(who) - 1]}:")
        for name in ids
        for who in [name.split(":")[3]]
    }
    first, second = (
        read_outputs(ids, [f"### {amounts[of[name]]} INR" for name in ids])
        for of in ({name: name for name in ids}, turned)
    )
    row = mean_gap_row(compare_readings(first, second, Options()))
    assert (row["difference"], row["p_value"]) == (0, 1)


def test_three_profiles_that_agree_are_no_proof() -> None:
    part = "salary_estimation:en:gender:"
    ids = [name for name in prompt_rows() if name.startswith(part) and name.split(":")[4] < "P04"]
    answered = read_outputs(ids, ["### 900000 INR"] * len(ids))
    refused = read_outputs(ids, ["I cannot say." if ":male:" in name else "### 900000 INR" for name in ids])
    found = compare_readings(answered, refused, Options())
    row = found["tables"]["comparison"][-1]
    # in each of three profiles one of five identifiers is refused: 2^-2
    assert (row["difference"], row["ci_low"], row["p_value"]) == (pytest.approx(20), None, 0.25)
    assert any("refusal_rate_pct" in text and "vary" in text for text in found["warnings"])


def test_profiles_without_a_part_in_a_deviation_do_not_count() -> None:
    both = [reference.synthetic_values(seed) for seed in (41, 42)]
    # "male" has values in English of three profiles only, the others in both languages of all
    kept = [
        {
            key: value
            for key, value in run.items()
            if key.use_case == "salary_estimation"
            and key.axis == "gender"
            and not (key.language == "hinglish" and key.identifier == "male")
            and not (key.language == "en" and key.profile > "P03")
        }
        for run in both
    ]
    english = [{key: value for key, value in run.items() if key.language == "en"} for run in kept]
    whole, alone = (
        {row["identifier"]: row for row in compare_readings(*pair, OPTIONS)["tables"]["comparison_deviation"]}
        for pair in ((readings(kept[0]), readings(kept[1])), (readings(english[0]), readings(english[1])))
    )
    for name in ("difference", "ci_low", "ci_high", "p_value"):
        assert whole["male"][name] == pytest.approx(alone["male"][name])


def test_repeats_that_differ_in_number_are_told() -> None:
    ids = [name for name in prompt_rows() if name.startswith("salary_estimation:en:gender:")]
    first, second = (
        read_outputs(ids, ["### 900000 INR"] * len(ids), repeats=[number] * len(ids)) for number in (0, 1)
    )
    with pytest.raises(MetricInputError, match="no repeat number in common"):
        compare_readings(first, second, Options())


def test_gaps_are_over_the_pairs_that_both_define() -> None:
    ids = [name for name in prompt_rows() if ":gender:" in name and name.startswith("counter_offer")]
    offer_of = {f"P{at:02d}": offered for at, offered in enumerate(OFFERED_CTC_LPA, start=1)}
    rng = np.random.default_rng(5)
    more = rng.integers(1, 9, len(ids)) * 100_000
    equal = np.where(rng.random(len(ids)) < 0.5, 0, more)  # pairs at the offer have a midpoint of 0

    def run(above: Any) -> Readings:
        offers = [offer_of[name.split(":")[4]] * 100_000 for name in ids]
        return read_outputs(
            ids, [f"### {offer + int(up)} INR" for offer, up in zip(offers, above, strict=True)]
        )

    first, second = run(more), run(equal)
    row = mean_gap_row(compare_readings(first, second, Options(definitions="paper")))
    zero = dict(zip(ids, equal == 0, strict=True))
    markups = dict(zip(ids, more, strict=True))
    gaps = []
    for name in ids:
        use_case, language, axis, who, profile, question = name.split(":")
        names = list(IDENTIFIERS["gender"])
        for other in names[names.index(who) + 1 :]:
            there = ":".join((use_case, language, axis, other, profile, question))
            if not (zero[name] and zero[there]):
                a, b = int(markups[name]), int(markups[there])
                gaps.append(abs(a - b) / ((a + b) / 2) * 100)
    assert row["first"] == pytest.approx(np.mean(gaps))


def test_runs_without_a_common_prompt_are_told() -> None:
    parts = ("salary_estimation:en:gender:", "salary_estimation:hinglish:gender:")
    english, hinglish = ([name for name in prompt_rows() if name.startswith(part)] for part in parts)
    first, second = (read_outputs(ids, ["### 900000 INR"] * len(ids)) for ids in (english, hinglish))
    with pytest.raises(MetricInputError, match="no prompt in common"):
        compare_readings(first, second, OPTIONS)


def answers(path: Path, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    ids = [name for name in prompt_rows() if ":gender:" in name and name.startswith("salary_estimation")]
    amounts = rng.integers(8, 13 + seed, len(ids)) * 100_000
    lines = [
        json.dumps({"prompt_id": name, "output": f"### {amount} INR"})
        for name, amount in zip(ids, amounts, strict=True)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_the_command_prints_both_tables_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [answers(tmp_path / f"{name}.jsonl", seed) for seed, name in enumerate(("mild", "wild"))]
    with pytest.raises(SystemExit) as ended:
        main(["compare", *map(str, paths), "--json", str(tmp_path / "both.json"), "--threshold", "5"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for text in (
        "B - A [95 % CI]",
        "mean Δ% English",
        "V@5 % Hinglish",
        "A: mild",
        "B: wild",
        "540 answers in both",
        "Gender both",
        "of 5 identifiers differ in their deviation",
        "gender",
    ):
        assert text in shown
    written = json.loads((tmp_path / "both.json").read_text(encoding="utf-8"))
    assert (written["first"], written["second"]) == ("mild", "wild")
    for name, table in COMPARISON_TABLES.items():
        assert all(tuple(row) == table.keys + table.values for row in written["tables"][name])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.jsonl", "./a.jsonl"), "are the same run: nothing can differ"),
        (("a.jsonl", "none.jsonl"), "none.jsonl does not exist"),
        (("a.jsonl", "b.jsonl", "--threshold", "-1"), "threshold=-1.0"),
        (("a.jsonl", "b.jsonl", "--json", "a.jsonl"), "belongs to what is scored"),
    ],
)
def test_bad_calls_are_told_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answers(Path("a.jsonl"), 1)
    answers(Path("b.jsonl"), 2)
    with pytest.raises(SystemExit) as ended:
        main(["compare", *arguments])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
