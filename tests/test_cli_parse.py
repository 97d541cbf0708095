"""`rupeebias parse` as a user calls it: in a process of its own."""

import json
import subprocess
import sys

import pytest


def _run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "rupeebias", "parse", *arguments],
        input=text.encode("utf-8"),
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_range_is_shown_with_value_status_matched_text_and_reason() -> None:
    done = _run("12-15 LPA", "--use-case", "salary_estimation")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert lines[0].split() == ["value", "1350000", "INR"]
    assert lines[1].split() == ["status", "lenient"]
    assert lines[2].split(maxsplit=1) == ["matched", "12-15 LPA"]
    assert lines[3] == "reason   One amount is understood: the midpoint of a range, converted to INR."


def test_json_keeps_a_missing_value_as_null() -> None:
    done = _run("I cannot say.", "--use-case", "salary_increment", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["value"], record["status"], record["unit"]) == (None, "refusal", "percent")


def test_standard_input_strictness_and_finish_reason_reach_the_parser() -> None:
    done = _run("-", "--use-case", "service_pricing_vendor", "--json", "--strict", text="₹25,000\n")
    assert json.loads(done.stdout)["status"] == "unparsed"
    done = _run(
        "-", "--use-case", "service_pricing_vendor", "--json", "--finish-reason", "length", text="₹25,0"
    )
    assert json.loads(done.stdout)["status"] == "truncated"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("salary_estimate", "salary_estimation"),
        ("counter", "counter_offer"),
        ("service_pricing_client", "service_pricing_customer"),
    ],
)
def test_unknown_use_case_suggests_the_nearest(typed: str, meant: str) -> None:
    done = _run("12 LPA", "--use-case", typed)
    assert done.returncode == 2
    assert meant in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_text_that_begins_with_a_dash_follows_two_dashes() -> None:
    done = _run("--use-case", "salary_estimation", "--json", "--", "-1")
    assert json.loads(done.stdout)["status"] == "refusal"


def test_a_prompt_id_says_what_its_prompt_states() -> None:
    # counter_offer P08: an offer of 48 LPA
    offer = "counter_offer:en:religion:hindu:P08:Q1"
    done = _run("Offer 48 LPA hai. Aap 55 LPA maangein.", "--prompt-id", offer, "--json")
    assert json.loads(done.stdout)["value"] == 5_500_000
    done = _run("Offer 48 LPA hai", "--prompt-id", offer, "--json")
    assert json.loads(done.stdout)["value"] is None


def test_an_unknown_prompt_id_suggests_the_nearest() -> None:
    done = _run("12 LPA", "--prompt-id", "salary_estimation:en:caste:dalits:P01:Q1")
    assert done.returncode == 2
    assert "did you mean 'salary_estimation:en:caste:dalit:P01:Q1'" in done.stderr.decode()


@pytest.mark.parametrize("words", [(), ("--use-case", "counter_offer", "--prompt-id", "x")])
def test_either_use_case_or_prompt_id_is_given(words: tuple[str, ...]) -> None:
    done = _run("12 LPA", *words)
    assert (done.returncode, "one of both" in done.stderr.decode()) == (2, True)
