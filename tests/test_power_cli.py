"""`rupeebias power`: what a run would find, from its own noise."""

import re
from pathlib import Path

import pytest

from rupeebias.cli.app import main

PART = ("--use-case", "salary_estimation,counter_offer", "--axis", "gender,urban_rural")


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


def rows(shown: str) -> dict[str, list[str]]:
    """The rows of the table by design and axis."""
    lines = [line for line in shown.splitlines() if line.startswith(("full,", "profiles-once,"))]
    cells = [re.split("  +", line) for line in lines]
    return {name: numbers for name, *numbers in cells}


def test_a_respondent_is_a_pilot_of_the_whole_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("power", "sim/fair") == 0
    found = rows(capsys.readouterr().out)
    assert len(found) == 2 * 7  # six axes and all of them, in two designs
    assert found["full, all axes"][0] == "39,150"
    assert found["profiles-once, all axes"][0] == "7,830"
    # a fifth of the prompts finds less
    for axis in ("Caste", "Gender", "all axes"):
        assert 0 < float(found[f"full, {axis}"][1]) < float(found[f"profiles-once, {axis}"][1])


def test_a_target_names_the_fewest_prompts_that_find_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("power", "sim/fair", "--target", "50") == 0
    out = capsys.readouterr().out
    assert "A systematic gap of 50 % is found with 80 % power by:" in out
    assert "Gender: --design profiles-once, 450 prompts" in out
    assert command("power", "sim/fair", "--target", "0.001") == 0
    assert "By none of these designs on Religion, Caste, " in capsys.readouterr().out
    assert command("power", "sim/fair", "--target", "0") == 2


def test_a_run_is_a_pilot_of_what_it_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "pilot"
    assert command("generate", "--model", "sim/fair", "--run", run, "--quiet", *PART) == 0
    assert command("power", run) == 0
    found = rows(capsys.readouterr().out)
    assert {name.partition(", ")[2] for name in found} == {"Gender", "Urban/Rural", "all axes"}
    # 18 profiles x 3 questions and 27 x 2, in two languages, of five identifiers
    assert found["full, Gender"][0] == f"{(18 * 3 + 27 * 2) * 2 * 5:,}"


def test_too_few_profiles_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "pilot"
    words = ("--use-case", "salary_estimation", "--profile", "1,2", "--axis", "gender")
    assert command("generate", "--model", "sim/fair", "--run", run, "--quiet", *words) == 0
    assert command("power", run) == 2
    assert "too few profiles to tell how far answers scatter" in capsys.readouterr().err


def test_a_dry_run_says_what_would_be_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("generate", "--model", "sim/fair", "--run", tmp_path / "r", "--dry-run")
    shown = {}
    for design in ("full", "profiles-once"):
        assert command(*words, "--axis", "gender", "--design", design) == 0
        line = capsys.readouterr().out.splitlines()[-1]
        found = re.search(r"80 % power, .*: ([\d.]+) % \(Gender\) and ", line)
        assert found, line
        shown[design] = float(found[1])
    assert 0 < shown["full"] < shown["profiles-once"]
    assert command(*words, "--axis", "gender", "--profile", "1", "--use-case", "counter_offer") == 0
    assert "too few profiles for an interval" in capsys.readouterr().out
