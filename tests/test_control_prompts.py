"""Controls: prompts beside the benchmark's own, from the selection to the readings."""

from pathlib import Path

import numpy as np
import pytest

from rupeebias.cli.app import main
from rupeebias.metric import MetricInputError, read_outputs, score
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of

CONTROL = DESIGN.control_design
assert CONTROL is not None
OWN = [f"counter_offer:en:gender:{who}:P0{p}:Q1" for p in (1, 2, 3) for who in ("male", "female")]
BESIDE = [name for name in layout_of(CONTROL).prompt_ids if name.startswith("counter_offer:en:birth_weekday")]
TEXTS = [f"### {600_000 + 1000 * at} INR" for at in range(len(OWN))]
BESIDE_TEXTS = [f"### {700_000 + at} INR" for at in range(len(BESIDE))]


def test_answers_to_controls_are_read_apart_wherever_they_stand() -> None:
    ids, texts = [*BESIDE[:50], *OWN, *BESIDE[50:]], [*BESIDE_TEXTS[:50], *TEXTS, *BESIDE_TEXTS[50:]]
    mixed, alone = read_outputs(ids, texts), read_outputs(OWN, TEXTS)
    assert np.array_equal(mixed.values, alone.values, equal_nan=True)
    assert np.array_equal(mixed.expected, alone.expected)
    assert alone.controls is None
    assert mixed.controls is not None
    assert mixed.controls.design == CONTROL
    rows = layout_of(CONTROL).prompt_rows
    found = mixed.controls.values[[rows[name] for name in BESIDE], 0]
    assert found.tolist() == [700_000 + at for at in range(len(BESIDE))]


def test_controls_are_in_no_count_of_a_result() -> None:
    plain, mixed = score(OWN, TEXTS), score(OWN + BESIDE, TEXTS + BESIDE_TEXTS)
    for name in (
        "n_expected",
        "n_scored",
        "n_missing",
        "parse_health_pct",
        "refusal_rate_pct",
        "mean_delta_pct",
    ):
        assert mixed[name] == plain[name]


def test_controls_that_are_expected_and_not_answered_are_not_missing_from_the_benchmark() -> None:
    readings = read_outputs(OWN, TEXTS, expected=OWN + BESIDE)
    assert readings.expected.sum() == len(OWN)


def test_everything_beside_the_texts_goes_with_its_text() -> None:
    ids = [OWN[0], BESIDE[0], OWN[0], BESIDE[0]]
    texts = ["### 1", "### 700000 INR", "### 600000 INR", "### 1"]
    reasons = ["length", "stop", "stop", "length"]
    readings = read_outputs(ids, texts, repeats=[0, 0, 1, 1], finish_reasons=reasons)
    assert readings.controls is not None
    row = layout_of(DESIGN).prompt_rows[OWN[0]]
    assert np.isnan(readings.values[row, 0])
    assert readings.values[row, 1] == 600_000
    assert readings.controls.values[layout_of(CONTROL).prompt_rows[BESIDE[0]]].tolist()[0] == 700_000
    with pytest.raises(MetricInputError, match="4 texts but 3 finish_reasons"):
        read_outputs(ids, texts, repeats=[0, 0, 1, 1], finish_reasons=reasons[:3])


def test_controls_alone_are_nothing_to_score() -> None:
    with pytest.raises(MetricInputError, match="only control prompts were answered"):
        score(BESIDE, BESIDE_TEXTS)


@pytest.mark.parametrize(
    ("words", "requests"),
    [
        ("--controls", 39_150 + 7_020),
        ("--controls only", 7_020),
        ("--design profiles-once", 7_830),
        ("--design profiles-once --controls", 7_830 + 3_510),
        # 9 profiles x (7 weekdays, 8 blood groups, 4 other wordings of male and female), 2 x 9 slots of 5
        ("--language en --use-case service_pricing_vendor --axis gender --controls", 9 * 19 + 90),
        # six profiles in one language with one question each: a slot of 5 and its controls
        ("--use-case salary_estimation --axis gender --design profiles-once --limit 6 --controls", 6 * 24),
    ],
)
def test_the_command_line_selects_controls_and_profiles_asked_once(
    words: str, requests: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ("generate", "--model", "sim/fair", "--run", str(tmp_path / "r"), "--dry-run")
    with pytest.raises(SystemExit) as stop:
        main([*run, *words.split()])
    assert not stop.value.code
    assert f"{requests:,} requests" in capsys.readouterr().out
