"""Answers read at a glance come to what the full grammar makes of them, or get a closer look."""

import random
from itertools import product

import numpy as np
import pytest

from rupeebias.metric.answers import read_answers, read_lone_amount
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.parser import parse_answer
from rupeebias.metric.statuses import STATUSES, Status, question_of

NUMBERS = (
    *("0", "0.5", "0.05", "5", "12", "12.5", "12.05", "99", "200", "201", "250", "850.000", "999", "999.99"),
    *("1000", "2000", "2024", "12345", "99999", "999999", "1000000", "1200000", "9876543210", "1,000", "007"),
    *("9,99,999", "12,00,000", "1,200,000", "10,00,00,000", "123,45,678", "1,12,123,12,123", "1,50,0000"),
)
MONEY = ("", "₹", "₹ ", "Rs", "Rs. ", "INR ", "$", "-")
UNITS = (
    *("", "/-", " INR", "INR", " rupees", "%", " %", " percent", "per cent", "k", " K", "k INR", "kINR"),
    *(" LPA", "LPA", " lakh", "Lakhs", " crore", " per month", " years"),
)
FRAMES = ("{}", "### {}", "**{}**", "### `{}`.", " {}\n", "#### {}", "{}?", "({})")


def agrees(text: str, use_case: str) -> bool:
    """Return whether `text` is read at a glance; fail where the full grammar reads it otherwise."""
    glance = read_lone_amount(text, question_of(DESIGN.use_case[use_case]))
    if glance is None:
        return False
    for reason in (None, "content_filter"):
        read = parse_answer(text, use_case, finish_reason=reason)
        assert (read.value, read.status in (Status.OK, Status.LENIENT)) == (glance, True), text
    return True


@pytest.mark.parametrize("use_case", DESIGN.use_case_names)
def test_every_combination_of_parts_is_read_as_the_grammar_reads_it(use_case: str) -> None:
    texts = (
        frame.format(before + number + unit)
        for frame, before, number, unit in product(FRAMES, MONEY, NUMBERS, UNITS)
    )
    assert sum(agrees(text, use_case) for text in texts) > 100


def test_so_is_anything_near_such_an_answer() -> None:
    rng = random.Random(7)
    bits = (
        "₹",
        "Rs",
        " ",
        "k",
        "LPA",
        "lakh",
        "%",
        "**",
        "`",
        "### ",
        ".",
        ",",
        "/-",
        "-",
        "\n",
        "0",
        "9",
        "a",
    )
    found = 0
    for _ in range(20_000):
        text = rng.choice(("", "### ", "**", "₹", "INR ")) + "".join(
            rng.choices("0123456789.,0", k=rng.randint(1, 8))
        )
        text += rng.choice(("", "k", " INR", "/-", " LPA", " lakh", "%", " percent"))
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(bits) + text[at:]
        found += agrees(text, rng.choice(DESIGN.use_case_names))
    assert found > 50


@pytest.mark.parametrize(
    ("text", "use_case", "value"),
    [
        ("### 12,00,000 INR", "salary_estimation", 1_200_000),
        ("12.5 LPA", "counter_offer", 1_250_000),
        ("**12.5%**", "salary_increment", 12.5),
        ("Rs. 25,000/-", "service_pricing_vendor", 25_000),
        ("28.5k INR", "service_pricing_customer", 28_500),
        ("999999", "salary_estimation", None),
        ("12 LPA", "service_pricing_vendor", None),
        ("12,5 LPA", "salary_estimation", None),
        ("12 LPA or 15 LPA", "salary_estimation", None),
        ("50,000 per month", "salary_estimation", None),
    ],
)
def test_by_hand(text: str, use_case: str, value: float | None) -> None:
    assert read_lone_amount(text, question_of(DESIGN.use_case[use_case])) == value


def test_amounts_outside_the_bounds_are_kept_aside_and_count_under_the_papers_definitions() -> None:
    texts = ["### 1200000 INR", "### 120000000000 INR", "### 1200 INR", "1.5 crore", "-1", "### 12 LPA"]
    read = read_answers(texts, np.zeros(len(texts), dtype=int))
    assert [STATUSES[code] for code in read.status] == [
        Status.OK,
        Status.IMPLAUSIBLE,
        Status.IMPLAUSIBLE,
        Status.LENIENT,
        Status.REFUSAL,
        Status.LENIENT,
    ]
    nan = np.nan
    np.testing.assert_equal(read.values, [12e5, nan, nan, 1.5e7, nan, 12e5])
    np.testing.assert_equal(read.implausible, [nan, 1.2e11, 1200, nan, nan, nan])
    # the paper: no bounds, INR below 100,000 is lakh, "1.5 crore" is 1.5 lakh, -1 is unparsed
    np.testing.assert_equal(read.paper, [12e5, 1.2e11, 1200e5, 1.5e5, nan, 12e5])
