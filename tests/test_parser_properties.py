"""What must hold for every text: it is read, in linear time, and neither form nor surroundings change it."""

from collections.abc import Callable
from time import process_time

import pytest
from benchmark_names import USE_CASES
from hypothesis import given, settings
from hypothesis import strategies as st

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.parser import parse_answer
from rupeebias.metric.statuses import STATUSES, Status

CTC, HIKE, COUNTER, VENDOR, CUSTOMER = USE_CASES
use_cases = st.sampled_from(USE_CASES)

# Pieces of answers, so that random texts reach the grammar and not only its rim.
PIECES = (
    "### INR ₹ Rs. LPA lakh crore k % percent to se - – / or and between 12 15 1,20,000 9.1/10 1e6 -1 0 ( ) "
    '{ } " : . , per month year twelve fifty barah sadhe point offer current CTC of from $ N/A sorry १२ １２ '
    "+ 91 98765 43210 million rupees a m ½ minus more monthly page <think> </think> hundred x 10^6 "
    "\\boxed ** ` \n"
)
pieces = st.sampled_from(PIECES.split(" "))
hostile = st.one_of(
    st.text(),
    st.lists(pieces, max_size=30).map(" ".join),
    st.lists(st.one_of(pieces, st.text(max_size=4)), max_size=30).map("".join),
)


@given(hostile, use_cases, st.sampled_from((None, "stop", "length", "content_filter")))
@settings(max_examples=150, deadline=None)
def test_any_text_ends_with_a_status_and_a_value_inside_the_bounds(
    text: str, use_case: str, finish_reason: str | None
) -> None:
    parsed = parse_answer(text, use_case, finish_reason=finish_reason)
    assert parsed.status in STATUSES
    assert parsed.reason
    if parsed.status in (Status.OK, Status.LENIENT):
        assert parsed.value is not None
        low, high = DESIGN.use_case[use_case].bounds
        assert low <= parsed.value <= high
    else:
        assert parsed.value is None


MARKS = "1 12 0 e E 6 x × * \\times 10 ^ ** { } + - . , ' _ ’ ． ， १ ² ½ INR ###"
POWERS = "1e6 12.5 x10^5 ×10^{2} *10**3 1,20,000"
marks = st.sampled_from([*MARKS.split(), *POWERS.split()])


@given(st.lists(st.one_of(marks, st.just(" ")), max_size=12).map("".join), use_cases)
@settings(max_examples=1500, deadline=None)
def test_no_run_of_digits_and_marks_is_too_much(text: str, use_case: str) -> None:
    assert parse_answer(text, use_case).status in STATUSES


@given(hostile, use_cases)
@settings(max_examples=150, deadline=None)
def test_strict_mode_takes_the_exact_format_alone(text: str, use_case: str) -> None:
    lenient, strict = parse_answer(text, use_case), parse_answer(text, use_case, mode="strict")
    if lenient.status is Status.LENIENT:
        assert (strict.status, strict.value) == (Status.UNPARSED, None)
    else:
        assert (strict.status, strict.value) == (lenient.status, lenient.value)


def _indian(amount: int) -> str:
    digits = str(amount)
    head, tail = digits[:-3], digits[-3:]
    groups: list[str] = []
    while head:
        groups.insert(0, head[-2:])
        head = head[:-2]
    return ",".join([*groups, tail])


def _other_digits(text: str, zero: str) -> str:
    return "".join(chr(ord(zero) + int(mark)) if mark in "0123456789" else mark for mark in text)


def _plain(number: float) -> str:
    return f"{number:.10f}".rstrip("0").rstrip(".")


FORMS: dict[str, Callable[[int], str]] = {
    "strict": lambda a: f"### {a} INR",
    "bare": str,
    "Indian commas": _indian,
    "Western commas": lambda a: f"{a:,}",
    "Indian blanks": lambda a: _indian(a).replace(",", " "),
    "thin spaces": lambda a: _indian(a).replace(",", "\u2009"),
    "dots": lambda a: f"{a:,}".replace(",", "."),
    "rupee sign": lambda a: f"₹{_indian(a)}",
    "Rs.": lambda a: f"Rs. {_indian(a)}/-",
    "INR before": lambda a: f"INR {a}",
    "INR after": lambda a: f"{a} INR",
    "lakh": lambda a: f"{_plain(a / 1e5)} lakh",
    "L": lambda a: f"{_plain(a / 1e5)}L",
    "crore": lambda a: f"{_plain(a / 1e7)} crore",
    "k": lambda a: f"{_plain(a / 1e3)}k",
    "million": lambda a: f"INR {_plain(a / 1e6)} million",
    "scientific": lambda a: f"{a:.9e}",
    "bold": lambda a: f"**₹{_indian(a)}**",
    "code": lambda a: f"`{a}`",
    "JSON": lambda a: f'{{"amount": {a}}}',
    "JSON text": lambda a: f'{{"amount": "{_indian(a)}"}}',
    "Devanagari": lambda a: _other_digits(_indian(a), "०"),
    "full width": lambda a: _other_digits(str(a), "０"),
    "boxed": lambda a: f"\\boxed{{{a}}}",
    "twice": lambda a: f"{_indian(a)} ({_plain(a / 1e5)} lakh)",
    "sentence": lambda a: f"I would ask for ₹{_indian(a)} here.",
    "Hinglish sentence": lambda a: f"Aapko {_plain(a / 1e5)} lakh rupaye maangne chahiye.",
}
ANNUAL_FORMS: dict[str, Callable[[int], str]] = {
    "LPA": lambda a: f"{_plain(a / 1e5)} LPA",
    "bare LPA": lambda a: _plain(a / 1e5) if a < 99_900_000 else str(a),
    "a year": lambda a: f"₹{_indian(a)}/year",
    "per annum": lambda a: f"{_plain(a / 1e5)} lakhs per annum",
}
# Whole thousands, as answers are; 999,999 alone is a placeholder and no whole thousand.
amounts = st.integers(101, 99_999).map(lambda thousands: 1000 * thousands)
prices = st.integers(3, 9_999).map(lambda thousands: 1000 * thousands)


@pytest.mark.parametrize("form", [*FORMS, *ANNUAL_FORMS])
@given(amount=amounts)
@settings(max_examples=12, deadline=None)
def test_annual_ctc_in_every_form_is_read_back(form: str, amount: int) -> None:
    text = (FORMS | ANNUAL_FORMS)[form](amount)
    expected = None if form == "dots" and amount < 1_000_000 else amount  # "101.000" is 101 or 101 thousand
    assert parse_answer(text, CTC).value == expected, text
    assert parse_answer(text, COUNTER).value == expected, text


@pytest.mark.parametrize("form", FORMS)
@given(amount=prices)
@settings(max_examples=12, deadline=None)
def test_price_in_every_form_is_read_back(form: str, amount: int) -> None:
    text = FORMS[form](amount)
    doubtful = form == "dots" and amount < 1_000_000  # "25.000" is 25 or 25 thousand
    parsed = parse_answer(text, VENDOR)
    assert parsed.status == ("ambiguous" if doubtful else "ok" if form == "strict" else "lenient"), text
    assert parsed.value == (None if doubtful else amount), text


@given(
    st.integers(0, 400).map(lambda halves: halves / 2),
    st.sampled_from(("%", " %", " percent", " per cent", " pratishat")),
)
def test_hike_in_every_form_is_read_back(hike: float, unit: str) -> None:
    text = f"{hike:g}{unit}"
    for answer in (text, f"### {text}", f"**{text}**", f"Aim for {text}.", f'{{"hike": "{text}"}}'):
        assert parse_answer(answer, HIKE).value == hike, answer


@given(st.integers(10, 60), st.integers(1, 30), st.sampled_from(("-", "–", " - ", " to ", " se ")))
def test_range_is_its_midpoint_however_it_is_written(low: int, width: int, joiner: str) -> None:
    for text in (f"{low}{joiner}{low + width} LPA", f"₹{low} lakh{joiner}{low + width} lakh"):
        assert parse_answer(text, CTC).value == (low + low + width) * 50_000, text


@given(
    st.lists(pieces, min_size=1, max_size=8).map(" ".join),
    use_cases,
    st.sampled_from((" ", "\n", "\t", "\u00a0")),
)
@settings(max_examples=150, deadline=None)
def test_white_space_around_an_answer_changes_nothing(text: str, use_case: str, blank: str) -> None:
    plain, padded = (
        parse_answer(text.strip(), use_case),
        parse_answer(blank + text.strip() + blank * 3, use_case),
    )
    assert (padded.status, padded.value) == (plain.status, plain.value)


@given(amounts, st.sampled_from(("**{}**", "`{}`", "_{}_", "> {}", '"{}"', "```\n{}\n```", "*{}*")))
def test_markup_around_an_answer_changes_nothing(amount: int, markup: str) -> None:
    for form in ("₹{}", "{}", "{} INR"):
        assert parse_answer(markup.format(form.format(_indian(amount))), CTC).value == amount


PHRASES = (
    *(
        "a Hindu",
        "a Shia Muslim",
        "from the SC/ST category",
        "from the Brahmin caste",
        "a trans woman",
        "non-binary",
    ),
    *(
        "from a Tier 2 city",
        "from a Tier 1 city",
        "from a village",
        "Nepali-speaking",
        "Das by name",
        "a Dalit",
    ),
    *("who has a Locomotor disability", "on the autism spectrum", "from Himachal Pradesh", "Sufi", "a Pasi"),
)
SENTENCES = (
    (CTC, "You should expect 12 LPA as someone who is {}."),
    (CTC, "As someone who is {}, you should expect between 12 and 15 LPA."),
    (CTC, "I'm sorry, I can't give a number for someone who is {}."),
    (CTC, "It depends on much, also for someone who is {}."),
    (CTC, "For someone who is {}: $20,000."),
    (COUNTER, "The offer of ₹48 LPA for someone who is {} is fair; ask for ₹55 LPA."),
    (COUNTER, "Someone who is {} could counter 55 LPA or 60 LPA."),
    (HIKE, "Someone who is {} can expect a 12% hike."),
    (VENDOR, "For a client who is {}, charge twenty thousand rupees."),
    (CUSTOMER, "Ek client jo {} hai: 15,000 se 20,000 rupaye."),
)


@pytest.mark.parametrize(("use_case", "sentence"), SENTENCES)
def test_reading_is_blind_to_who_the_answer_is_about(use_case: str, sentence: str) -> None:
    readings = [parse_answer(sentence.format(phrase), use_case) for phrase in ("asked", *PHRASES)]
    assert len({(parsed.status, parsed.value) for parsed in readings}) == 1, readings


HOSTILE = (
    *("1", " ", "(", ")", ",", ".", "-", "#", "*", "[", "{", "\n", "१", "₹", "%", "\\", "$", "a", "ा", "_"),
    *(
        "1,",
        "1 ",
        "1-",
        "1.",
        "1e",
        "12 LPA ",
        "### ",
        "### 1 ",
        "###\n",
        "₹ ",
        "lakh ",
        "one ",
        "- ",
        "or 1 ",
    ),
    *("12 to ", "offer of ", "sadhe ", "twenty ", "10^", "1 x 10^", "\\boxed{", "place ", "per "),
    *(
        "~",
        "× ",
        "more ",
        "### 12 lakh (1 lakh per month) ",
        "1 lakh per month\n### 12 LPA\n",
        "<think>",
        "://",
    ),
    *("( ", "# ", "\x1b[31m", "-> ", "8, ", "8, maybe ", "ideally ", "9 hundred "),
)


@pytest.mark.parametrize("start", ["x ", "12 LPA ", ""])
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_hostile_text_takes_linear_time(unit: str, start: str) -> None:
    # A quadratic reader needs 100 times the time for 10 times the text; 30 leaves room for a busy machine.
    def spent(size: int) -> float:
        text = start + unit * (size // len(unit))
        began = process_time()
        assert parse_answer(text, CTC).status in STATUSES
        return process_time() - began

    small, large = min(spent(100_000), spent(100_000)), spent(1_000_000)
    assert large < 0.02 + 30 * small
    assert large < 2.0
