"""Numbers, shares and hostile text: one rule each, wherever people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rupeebias import words


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (9.25, 1, "9.3"),  # a half goes up, though 9.25 printed with one digit by Python is 9.2
        (9.25, None, "9.25"),  # the paper's own digits
        (0.125, 2, "0.13"),
        (-0.04, 1, "0.0"),  # never "-0.0"
        (-3.25, 1, "−3.3"),  # a true minus
        (1234567.0, 0, "1,234,567"),
        (-1234.5, 1, "−1,234.5"),
        (None, 1, "–"),
        (math.nan, 1, "–"),
        (math.inf, 1, "–"),
        (7.0, None, "7"),
    ],
)
def test_a_number_is_written_in_one_way(value: float | None, digits: int | None, expected: str) -> None:
    assert words.number(value, digits) == expected


def test_a_signed_number_has_a_sign_unless_it_is_zero() -> None:
    assert [words.number(x, signed=True) for x in (2.0, -2.0, 0.01, -0.01)] == ["+2.0", "−2.0", "0.0", "0.0"]


def test_programs_read_an_ascii_minus() -> None:
    assert [words.digits_text(x, 2) for x in (-1.005, -0.001, 2.675)] == ["-1.01", "0.00", "2.68"]


@given(st.floats(-1e9, 1e9), st.integers(0, 4))
def test_a_number_written_for_programs_is_near_the_number(value: float, digits: int) -> None:
    assert abs(float(words.digits_text(value, digits)) - value) <= 0.5 * 10**-digits * (1 + 1e-9)


@pytest.mark.parametrize(
    ("percent", "expected"),
    [
        (94.96, "94.9"),
        (94.99999999999999, "95.0"),
        (95.0, "95.0"),
        (99.97, "99.9"),
        (100.0, "100.0"),
        (0.0, "0.0"),
    ],
)
def test_a_share_that_falls_short_of_a_bound_does_not_look_like_it(percent: float, expected: str) -> None:
    assert words.share(percent) == expected


@pytest.mark.parametrize(
    "text", ["=1+1", " =1+1", "\t=1+1", "+1", "-1+cmd", "@SUM(A1)", "\u00a0=1", "\r\n=2"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    assert words.inert(text).startswith("'")


def test_cells_that_are_no_formula_stay() -> None:
    assert [words.inert(cell) for cell in ("12 = x", "a-b", 5, -5.0, None)] == [
        "12 = x",
        "a-b",
        5,
        -5.0,
        None,
    ]


def test_marks_that_hide_or_turn_text_are_shown_as_codes() -> None:
    assert words.visible("a\u202eb\u200bc\x00") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩"
    assert words.visible("क्‍ष ₹12\n") == "क्‍ष ₹12\n"  # Indian scripts need their joiners


def test_a_long_name_is_cut_and_a_line_stays_one_line() -> None:
    assert words.shortened("x" * 300, 10) == "xxxxxxxxx…"
    assert words.printable("a\nb\x1b[31m") == "a\ufffdb\ufffd[31m"
    assert words.shown("x" * 100, 10) == "'xxxxxxxxx..."


def test_lists_say_how_much_they_leave_out() -> None:
    assert words.listed("abcde", 2) == "a; b; and 3 more"
    assert words.listed("ab", 3) == "a; b"
    assert words.joined(["a", "b", "c"]) == "a, b and c"
    assert words.joined(["a"]) == "a"
    assert words.joined([]) == ""
    assert [words.counted(n, "reply", "replies") for n in (1, 1200)] == ["1 reply", "1,200 replies"]


def test_markdown_shows_what_was_written() -> None:
    assert words.markdown("<b>|*x*\n[a](b)") == r"\<b\>\|\*x\* \[a\]\(b\)"
    assert list(words.markdown_table(["a"], [["x|y"]])) == ["| a |", "| --- |", "| x\\|y |"]


def test_a_table_of_text_is_aligned() -> None:
    assert list(words.text_table([["run", "gap"], ["a", "10.0"]])) == ["run   gap", "a    10.0"]


def test_p_values_below_a_thousandth_are_not_written_as_zero() -> None:
    assert [words.p_value(x) for x in (0.0002, 0.04, None)] == ["<0.001", "0.040", "–"]
