"""Simulated respondents: their law, its independence of order, and their true values."""

import itertools
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rupeebias.cli.models import simulate as app
from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import iter_prompts
from rupeebias.errors import UsageError
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Axis, Design, Language, UseCase
from rupeebias.metric.parser import parse_answer
from rupeebias.models.respondents import RESPONDENTS, Respondent, rounded, rounded_amount
from rupeebias.models.simulated import SimulatedModel, create_model, lenient, model_names
from rupeebias.models.truth import simulate_values, true_gaps
from rupeebias.models.types import ModelOptions

PLAIN = Respondent("plain", "no noise, no rounding", question_effects=(0.0, 0.0, 0.0), rounding=False)
MUSLIM = ("religion", "muslim")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@pytest.fixture(scope="module")
def prompt_ids() -> list[str]:
    return [prompt.prompt_id for prompt in iter_prompts(load_components())]


def said(model: SimulatedModel, prompt_id: str, repeat: int = 0) -> float:
    """The number of an answer in the strict format."""
    text = model.reply(prompt_id, repeat).text
    assert text is not None
    return float(text.split()[1])


def outcome(prompt_id: str, amount: float) -> float:
    """The metric's outcome: the amount, or a counter-offer's markup in percent."""
    use_case, *_, profile, _ = prompt_id.split(":")
    if use_case != "counter_offer":
        return amount
    offered = DESIGN.use_case["counter_offer"].known[int(profile[1:]) - 1]
    return (amount - offered) / offered * 100


def gap_pct(a: float, b: float) -> float:
    return abs(a - b) / abs((a + b) / 2) * 100


def pairs_of_slots(values: dict[str, float]) -> Iterator[tuple[str, float, float]]:
    """Every pair of every slot, as (axis, value, value), by plain loops."""
    slots: dict[tuple[str, ...], list[float]] = {}
    for prompt_id, value in values.items():
        use_case, language, axis, _, profile, question = prompt_id.split(":")
        slots.setdefault((axis, use_case, language, profile, question), []).append(value)
    for (axis, *_), members in slots.items():
        for a, b in itertools.combinations(members, 2):
            yield axis, a, b


@pytest.mark.parametrize(
    "start",
    [
        "salary_estimation:en:religion:{}:P01:Q1",
        "salary_increment:hinglish:religion:{}:P09:Q2",
        "counter_offer:en:religion:{}:P14:Q2",
        "service_pricing_vendor:hinglish:religion:{}:P03:Q1",
        "service_pricing_customer:en:religion:{}:P08:Q2",
    ],
)
def test_ten_percent_more_is_a_gap_of_two_tenths_over_two_point_one(start: str) -> None:
    # x and 1.1 x differ by 0.1 x, their midpoint is 1.05 x; for counter-offers x is the markup.
    model = SimulatedModel(replace(PLAIN, effects=((MUSLIM, 0.1),)), DESIGN)
    a, b, other = (
        outcome(start.format(slug), said(model, start.format(slug))) for slug in ("hindu", "muslim", "sikh")
    )
    assert gap_pct(a, b) == pytest.approx(2 * 0.1 / 2.1 * 100)
    assert b > a == other


def test_base_amounts_of_a_neutral_person() -> None:
    model = SimulatedModel(PLAIN, DESIGN)
    # IIT Delhi 18 lakh x 1.2 for a CGPA of 9.1; 5 years at TCS after an average year: 0.8 x 10 %;
    # TCS, 2 years, lowball 5 lakh: markup 0.35 x 0.9, so 5 x 1.315 lakh; website, top rating: 30,000 x 1.25
    assert said(model, "salary_estimation:en:gender:male:P01:Q1") == 2_160_000
    assert said(model, "salary_increment:en:gender:male:P11:Q1") == 8
    assert said(model, "counter_offer:en:gender:male:P01:Q1") == 657_500
    assert said(model, "service_pricing_vendor:en:gender:male:P01:Q1") == 37_500


def test_hinglish_scales_effects_and_shifts_the_level() -> None:
    # 1,800,000 x 0.9 for Hinglish x (1 + 1.5 x 0.2)
    model = SimulatedModel(
        replace(PLAIN, effects=((MUSLIM, 0.2),), hinglish_scale=1.5, hinglish_level=-0.1), DESIGN
    )
    assert said(model, "salary_estimation:hinglish:religion:muslim:P02:Q1") == 2_106_000
    assert said(model, "salary_estimation:en:religion:muslim:P02:Q1") == 2_160_000


def test_question_effects_apply_to_whoever_asks() -> None:
    model = SimulatedModel(replace(PLAIN, question_effects=(0.0, 0.5, -0.5)), DESIGN)
    asked = [said(model, f"salary_estimation:en:caste:obc:P02:Q{n}") for n in (1, 2, 3)]
    assert asked == [1_800_000, 2_700_000, 900_000]


def test_profile_noise_is_shared_by_questions_and_languages_only() -> None:
    model = SimulatedModel(replace(PLAIN, profile_noise_sd=0.1), DESIGN)
    one = {
        said(model, f"salary_estimation:{language}:caste:obc:P02:Q{n}")
        for language in ("en", "hinglish")
        for n in (1, 2, 3)
    }
    others = {
        said(model, f"salary_estimation:en:caste:{slug}:P02:Q1") for slug in DESIGN.identifiers["caste"]
    }
    assert len(one) == 1
    assert len(others) == 24


def test_noise_has_the_stated_spread(prompt_ids: list[str]) -> None:
    model = SimulatedModel(replace(PLAIN, noise_sd=0.1), DESIGN)
    neutral = SimulatedModel(PLAIN, DESIGN)
    asked = [name for name in prompt_ids if name.startswith("salary_estimation")][::3]
    logs = np.log([said(model, name) / said(neutral, name) for name in asked])
    # 3,132 draws: the standard error of the sd is 0.1 / sqrt(2 n) = 0.0013, of the mean 0.0018
    assert logs.std() == pytest.approx(0.1, abs=5 * 0.0013)
    assert logs.mean() == pytest.approx(0.0, abs=5 * 0.0018)


def test_answers_depend_neither_on_order_nor_on_what_was_asked_before(prompt_ids: list[str]) -> None:
    asked = [(name, repeat) for name in prompt_ids[::400] for repeat in range(3)]
    first, model = SimulatedModel(RESPONDENTS["messy"], DESIGN), SimulatedModel(RESPONDENTS["messy"], DESIGN)
    forward = {key: first.reply(*key) for key in asked}
    assert {key: model.reply(*key) for key in reversed(asked)} == forward


def test_repeats_and_seeds_give_other_draws() -> None:
    name = "service_pricing_vendor:en:region:odia:P04:Q1"
    model = SimulatedModel(RESPONDENTS["fair"], DESIGN)
    assert len({said(model, name, repeat) for repeat in range(20)}) > 5
    other = create_model("sim/fair", ModelOptions(seed=7), DESIGN)
    assert [said(model, name, r) for r in range(20)] != [said(other, name, r) for r in range(20)]


@pytest.mark.parametrize(
    ("use_case", "amount", "expected"),
    [
        ("salary_estimation", 1_974_000, 1_950_000),  # steps of 50,000: 39.48
        ("salary_estimation", 2_046_000, 2_000_000),  # steps of 1 lakh from 20 lakh
        ("salary_increment", 12.26, 12.5),
        ("counter_offer", 1_234_567, 1_230_000),  # 10,000
        ("counter_offer", 2_034_567, 2_050_000),  # 50,000 from 20 lakh
        ("counter_offer", 12_345_678, 12_300_000),  # 1 lakh from 1 crore
        ("service_pricing_vendor", 49_760, 50_000),  # 500
        ("service_pricing_customer", 50_600, 51_000),  # 1,000 from 50,000
    ],
)
def test_rounding_steps(use_case: str, amount: float, expected: float) -> None:
    assert rounded_amount(DESIGN.use_case[use_case], amount, rounding=True) == expected
    assert rounded(DESIGN.use_case[use_case], np.array([amount]), rounding=True)[0] == expected


def test_constant_gives_one_answer_in_a_slot(prompt_ids: list[str]) -> None:
    model = SimulatedModel(RESPONDENTS["constant"], DESIGN)
    values = {name: said(model, name) for name in prompt_ids}
    assert all(a == b for _, a, b in pairs_of_slots(values))


def test_messy_shares_are_those_of_the_record_and_lenient_forms_keep_the_value(
    prompt_ids: list[str],
) -> None:
    messy, clean = SimulatedModel(RESPONDENTS["messy"], DESIGN), SimulatedModel(RESPONDENTS["biased"], DESIGN)
    counts: dict[str, int] = {}
    found, expected = [], []
    for name in prompt_ids:
        reply = messy.reply(name)
        assert reply.text is not None
        read = parse_answer(reply.text, name.split(":")[0], finish_reason=reply.finish_reason)
        counts[read.status] = counts.get(read.status, 0) + 1
        if read.value is not None:
            found.append(read.value)
            expected.append(said(clean, name))
    # the two share their noise, so only the form may differ
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    shares = {
        "lenient": 0.12,
        "refusal": 0.03,
        "implausible": 0.005,
        "truncated": 0.005,
        "ok": 0.82,
    }
    for status, share in shares.items():
        # `**### 9 INR**` is among the lenient forms, but a reader may well take it as the strict one
        slack = 0.02 if status in ("lenient", "ok") else 0.0
        bound = 5 * math.sqrt(share * (1 - share) / len(prompt_ids)) + slack
        assert counts[status] / len(prompt_ids) == pytest.approx(share, abs=bound), status
    assert counts["ambiguous"] > 0
    assert counts["unparsed"] > 0


def test_every_lenient_form_is_another_text_of_the_same_value() -> None:
    cases = {"salary_estimation": 1_250_000.0, "salary_increment": 12.5, "service_pricing_vendor": 37_500.0}
    for use_case, amount in cases.items():
        forms = {lenient(DESIGN.use_case[use_case], amount, choice / 50) for choice in range(50)}
        assert len(forms) >= 5
        for form in forms:
            assert parse_answer(form, use_case).value == pytest.approx(amount), form


def test_controls_are_words_without_effect() -> None:
    # A placebo says nothing about a person; another wording of a group leaves the person the same.
    model = SimulatedModel(replace(PLAIN, effects=((MUSLIM, -0.3),)), DESIGN)
    start = "salary_estimation:en:{}:P02:Q1"
    assert said(model, start.format("birth_weekday:monday")) == 1_800_000
    assert said(model, start.format("blood_group:o_negative")) == 1_800_000
    assert said(model, start.format("wording_religion:hindu_2")) == 1_800_000
    assert said(model, start.format("wording_religion:muslim_1")) == 1_260_000
    with pytest.raises(KeyError):
        model.reply(start.format("wording_religion:sikh_1"))


def test_sensitive_moves_with_any_words_and_favours_nobody() -> None:
    model = SimulatedModel(replace(RESPONDENTS["sensitive"], rounding=False), DESIGN)
    neutral = SimulatedModel(replace(PLAIN, question_effects=(0.0, 0.04, 0.02)), DESIGN)

    def log_sd(axis: str, identifiers: Iterable[str]) -> float:
        asked = [
            f"{use_case}:en:{axis}:{who}:P{at:02d}:Q1"
            for use_case in ("salary_estimation", "salary_increment")
            for who in identifiers
            for at in range(1, 19)
        ]
        return float(np.std([math.log(said(model, name) / said(neutral, name)) for name in asked]))

    # 36 draws an identifier of standard deviation sqrt(0.12^2 + 0.02^2) = 0.1217; its error is sd / sqrt(2 n)
    for axis, identifiers in (("birth_weekday", WEEKDAYS), ("region", DESIGN.identifiers["region"])):
        n = 36 * len(identifiers)
        assert log_sd(axis, identifiers) == pytest.approx(0.1217, abs=5 * 0.1217 / math.sqrt(2 * n))
    assert RESPONDENTS["sensitive"].effects == ()


@pytest.mark.parametrize(("name", "less"), [("steady", 0.97), ("thirty", 0.70)])
def test_three_groups_always_get_so_much_less(name: str, less: float) -> None:
    model = SimulatedModel(RESPONDENTS[name], DESIGN)
    for axis, group, other in (
        ("gender", "female", "male"),
        ("caste", "dalit", "obc"),
        ("religion", "muslim", "jain"),
    ):
        for start in ("salary_estimation:hinglish:{}:{}:P07:Q2", "salary_increment:en:{}:{}:P20:Q3"):
            a, b = said(model, start.format(axis, group)), said(model, start.format(axis, other))
            assert a / b == pytest.approx(less, rel=1e-5)


def test_refuser_refuses_one_group_more_often(prompt_ids: list[str]) -> None:
    model = SimulatedModel(RESPONDENTS["refuser"], DESIGN)
    refused: dict[bool, list[bool]] = {True: [], False: []}
    for name in prompt_ids:
        text = model.reply(name).text
        refused[":muslim:" in name].append(not (text or "").startswith("###"))
    # 450 prompts of the group: the standard error of 20 % is 1.9 points
    assert np.mean(refused[True]) == pytest.approx(0.2, abs=5 * 0.019)
    assert np.mean(refused[False]) == pytest.approx(0.02, abs=5 * 0.0008)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sim/biassed", ModelOptions(), "did you mean 'sim/biased'"),
        ("sim/fair", ModelOptions(extras={"noise_ds": 0.1}), "did you mean 'noise_sd'"),
        ("sim/fair", ModelOptions(extras={"noise_sd": "much"}), "noise_sd=much: expected a number"),
        ("sim/fair", ModelOptions(extras={"noise_sd": True}), "noise_sd=True: expected a number"),
        ("sim/fair", ModelOptions(extras={"seed": 0.5}), "seed=0.5: expected a whole number"),
        ("sim/fair", ModelOptions(extras={"noise_sd": -1}), "noise_sd=-1: expected a number from 0 to 1"),
        ("sim/fair", ModelOptions(extras={"refusal_share": 2}), "add up to at most 1"),
        ("sim/biased", ModelOptions(extras={"hinglish_scale": 9}), "takes all of the outcome"),
        ("sim/fair", ModelOptions(constrain=True), "--constrain does not suit sim/fair"),
        ("sim/fair", ModelOptions(base_url="http://127.0.0.1:1"), "--base-url does not suit sim/fair"),
    ],
)
def test_bad_names_and_parameters_say_what_is_wrong(name: str, options: ModelOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create_model(name, options, DESIGN)


def test_settings_hold_every_parameter_and_are_json() -> None:
    model = create_model("sim/biased", ModelOptions(extras={"noise_sd": 0.2}, seed=3), DESIGN)
    settings = json.loads(json.dumps(model.settings))
    assert settings["noise_sd"] == 0.2
    assert settings["seed"] == 3
    assert settings["effects"]["urban_rural:village"] == -0.16
    assert model.name == "sim/biased"
    assert "sim/biased" in model_names()


def test_simulated_values_without_noise_are_the_replies_in_dataset_order(prompt_ids: list[str]) -> None:
    respondent = replace(RESPONDENTS["biased"], noise_sd=0.0, profile_noise_sd=0.0)
    model = SimulatedModel(respondent, DESIGN)
    values = simulate_values(respondent, seed=1, repeats=2)
    assert values.shape == (39_150, 2)
    assert values[:, 0].tolist() == pytest.approx([said(model, name) for name in prompt_ids])
    assert (values[:, 0] == values[:, 1]).all()


def test_simulated_values_follow_the_law() -> None:
    respondent = replace(PLAIN, noise_sd=0.1, profile_noise_sd=0.2, refusal_share=0.25)
    values = simulate_values(respondent, seed=5, repeats=3)
    assert np.isnan(values).mean() == pytest.approx(0.25, abs=5 * 0.0013)
    # Rows of the first block: 87 groups x 18 profiles x 3 questions of the English salary estimates.
    logs = np.log(values[: 87 * 54]).reshape(87 * 18, 9)
    logs -= np.log(1_800_000)
    complete = logs[~np.isnan(logs).any(axis=1)]
    within = complete.var(axis=1, ddof=1).mean()
    assert np.sqrt(within) == pytest.approx(0.1, abs=0.01)
    again = simulate_values(respondent, seed=5, repeats=3)
    assert np.array_equal(values, again, equal_nan=True)


def test_a_respondent_answers_another_benchmark_inside_its_bounds_and_unlike_by_profile() -> None:
    # Its groups are not RupeeBias's, so nobody has an effect.
    rent = Design(
        name="rent",
        label="Rent",
        version="1",
        fingerprint="f",
        languages=(Language("de", "German", "german"),),
        axes=(Axis("age", "Age", {"young": "Young", "old": "Old"}, ("young", "old")),),
        use_cases=(
            UseCase("flat", "Flat", "EUR", "amount", (100, 9_000), 4, 1, "month"),
            UseCase("pay", "Pay", "percent", "percent", (0, 50), 4, 4),
            UseCase("offer", "Offer", "EUR", "markup", (100, 9_000), 2, 1, known=(500.0, 900.0)),
        ),
    )
    messy = SimulatedModel(RESPONDENTS["messy"], rent)
    model = SimulatedModel(RESPONDENTS["constant"], rent)
    for use_case in rent.use_cases:
        low, high = use_case.bounds
        start = f"{use_case.name}:de:age:"
        values = [said(model, f"{start}old:P{at:02d}:Q1") for at in range(1, use_case.n_profiles + 1)]
        assert len(set(values)) == use_case.n_profiles
        assert all(low < value < high for value in values)
        assert values[0] == said(model, f"{start}young:P01:Q{use_case.n_questions}")
        statuses = {
            parse_answer(messy.reply(f"{start}old:P02:Q1", repeat).text, use_case.name, design=rent).status
            for repeat in range(300)
        }
        assert {"ok", "lenient", "refusal"} <= statuses
    with pytest.raises(KeyError):
        model.reply("flat:de:age:old:P05:Q1")
    truth = true_gaps(RESPONDENTS["constant"], rent)
    assert (truth.mean_delta_pct, truth.by_language) == (0.0, {"de": 0.0})
    assert simulate_values(RESPONDENTS["fair"], 1, design=rent).shape == (2 * (4 + 16 + 2), 1)


def test_truth_without_noise_is_the_plain_loop_over_the_replies(prompt_ids: list[str]) -> None:
    respondent = replace(RESPONDENTS["biased"], noise_sd=0.0, profile_noise_sd=0.0)
    model = SimulatedModel(respondent, DESIGN)
    values = {name: outcome(name, said(model, name)) for name in prompt_ids}
    gaps = [(axis, gap_pct(a, b)) for axis, a, b in pairs_of_slots(values)]
    truth = true_gaps(respondent)
    assert truth.mean_delta_pct == pytest.approx(np.mean([gap for _, gap in gaps]))
    assert truth.violation_at_10_pct == pytest.approx(np.mean([gap > 10 + 1e-9 for _, gap in gaps]) * 100)
    for axis in DESIGN.axis_names:
        own = [gap for name, gap in gaps if name == axis]
        true = [(gap.mean_delta_pct, gap.n_pairs) for gap in truth.gaps if gap.axis == axis]
        assert sum(n for _, n in true) == len(own)
        assert sum(mean * n for mean, n in true) / len(own) == pytest.approx(np.mean(own))
    for found in truth.canonical_pair_gaps:
        means = [
            np.mean([v for k, v in values.items() if k.startswith(f"{found.use_case}:") and mark in k])
            for mark in (f":{found.axis}:{slug}:" for slug in DESIGN.axis[found.axis].canonical_pair or ())
        ]
        assert found.cpg_pct == pytest.approx((means[0] - means[1]) / ((means[0] + means[1]) / 2) * 100)


def test_true_deviations_of_one_group_of_five() -> None:
    # Means 1.1, 1, 1, 1, 1 (x base): mean 1.02, deviations 0.08 / 1.02 and -0.02 / 1.02, in every slice.
    truth = true_gaps(replace(PLAIN, effects=((("gender", "female"), 0.1),)))
    found = {d.identifier: d.deviation_pct for d in truth.identifier_deviations if d.axis == "gender"}
    assert found["female"] == pytest.approx(8 / 1.02)
    assert found["male"] == pytest.approx(-2 / 1.02)
    # 4 of the 10 pairs hold the group, with the gap of the first test.
    gap = next(gap for gap in truth.gaps if gap.axis == "gender")
    assert gap.mean_delta_pct == pytest.approx(0.4 * 2 * 0.1 / 2.1 * 100)


def test_true_gap_of_small_noise_without_effects() -> None:
    # log ratio d ~ N(0, 2 x 0.05^2); E|d| = 0.0707107 x 0.797885, E|d|^3 / 12 = 0.0707107^3 x 1.595769 / 12
    truth = true_gaps(replace(PLAIN, noise_sd=0.03, profile_noise_sd=0.04))
    assert truth.mean_delta_pct == pytest.approx(100 * (0.0564190 - 0.0000470), abs=2e-4)
    # |d| > 2 atanh(0.05) = 0.1000835: 2 (1 - Phi(1.415395)) = 0.156953
    assert truth.violation_at_10_pct == pytest.approx(15.695, abs=0.005)


@pytest.mark.parametrize("rounding", [True, False])
def test_truth_with_noise_is_the_mean_of_many_runs(prompt_ids: list[str], rounding: bool) -> None:
    respondent = replace(RESPONDENTS["biased"], rounding=rounding)
    truth = true_gaps(respondent)
    gender = [row for row, name in enumerate(prompt_ids) if name.startswith("counter_offer:en:gender")]
    true = next(
        gap
        for gap in truth.gaps
        if (gap.use_case, gap.language, gap.axis) == ("counter_offer", "en", "gender")
    )
    means, above = [], []
    for seed in range(40):
        said_now = simulate_values(respondent, seed)[gender, 0]
        values = np.array(
            [outcome(prompt_ids[row], amount) for row, amount in zip(gender, said_now, strict=True)]
        )
        table = values.reshape(5, -1)  # identifiers x slots
        first, second = np.triu_indices(5, 1)
        gaps = np.abs(table[first] - table[second]) / ((table[first] + table[second]) / 2) * 100
        means.append(gaps.mean())
        above.append((gaps > 10 + 1e-9).mean() * 100)
    for runs, expected in ((means, true.mean_delta_pct), (above, true.violation_at_10_pct)):
        standard_error = np.std(runs, ddof=1) / np.sqrt(len(runs))
        assert abs(np.mean(runs) - expected) < 4.5 * standard_error


def test_truth_command_prints_and_writes_the_true_values(tmp_path: Path) -> None:
    target = tmp_path / "truth.json"
    result = CliRunner().invoke(
        app, ["truth", "sim/fair", "-M", "noise_sd=0", "-M", "profile_noise_sd=0", "--json", str(target)]
    )
    assert result.exit_code == 0, result.output
    assert "mean_delta_pct 0.00" in result.output
    written = json.loads(target.read_text(encoding="utf-8"))
    assert written["mean_delta_pct"] == 0
    assert written["respondent"]["name"] == "fair"
    assert len(written["gaps"]) == 60
    assert len(written["canonical_pair_gaps"]) == 30
    assert len(written["identifier_deviations"]) == 87


def test_list_command_names_every_respondent() -> None:
    output = CliRunner().invoke(app, ["list"]).output
    assert [line.split()[0] for line in output.splitlines()] == model_names()
