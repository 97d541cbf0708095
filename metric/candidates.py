"""Which figure of a text is the answer.

`gather` sorts the figures of a stretch of text into candidates by what they can be for a question,
`decide` weighs all candidates of an answer. Context is read from the words next to a figure (its
label, "current CTC of", "offered") and, for the one amount that is left, from its sentence: words
that make it a part or another quantity ("in-hand monthly", "per page", "upfront", "7 LPA more")
leave it ambiguous. Context is never read from who the text is about.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from functools import partial
from math import isnan
from typing import Final, NamedTuple

from .ambiguity import (
    NEAR,
    OTHER_PERIOD_NOTE,
    REACH,
    doubt_before_marker,
    doubt_beside,
    doubt_in_next_line,
    doubt_in_sentence,
    first_sentence,
    following_words,
    is_remark,
    needs_a_look,
    preceding_words,
)
from .amounts import Figure
from .context import LABEL_WORDS, counts_money, is_monthly_before, is_negated, is_repeated
from .design import PERCENT as PERCENT_UNIT
from .number_words import word_set
from .quantities import figures
from .statuses import RUPEES, Question, Status
from .tokens import (
    ARROW,
    BREAK,
    CLOSE,
    COLON,
    COMMA,
    DASH,
    FOREIGN,
    LPA,
    OPEN,
    OTHER_PERIOD,
    PER,
    PERCENT,
    RUPEE,
    SCALE,
    SHORT_PERIOD,
    YEAR,
    YEARLY,
    Token,
    in_currency,
    tokenise,
)


class Role(Enum):
    """What a figure is for the question."""

    ANSWER = auto()
    """Its unit fits."""
    MISFIT = auto()
    """Meant as an answer, but in another currency or period, unreadable, or two amounts at once."""
    OTHER_QUANTITY = auto()
    """A percentage where rupees are asked for, or the reverse: a remark beside the answer."""
    REPEATED = auto()
    """A CTC that the prompt states: "current CTC of 20 LPA", "the offered 48 LPA"."""
    NEGATED = auto()
    """An amount that the text advises against: "do not ask for ₹12 lakh"."""


class Candidate(NamedTuple):
    """A figure with its role."""

    role: Role
    value: float
    """INR or percent."""
    sentinel: bool
    """True for a bare 0 or 999999: a placeholder for "no answer"."""
    note: str
    """Why it is a misfit; "" for the other roles."""
    start: int
    end: int
    """Where it stands in the text."""
    annual: bool = False
    """True where LPA or a year was said."""
    other_period: bool = False
    """True where a month, a day or an hour was said beside it."""
    figure: Figure | None = None
    """As it is written."""
    in_lakh: bool = False
    """True for a number alone that means LPA."""


class Reading(NamedTuple):
    """The outcome for one text."""

    status: Status
    value: float | None
    start: int
    end: int
    """The stretch that was read as the answer."""
    reason: str | Callable[[], str]
    """Why, and how the stretch became the value; a call where telling it takes time that arrays spare."""
    outside: float | None = None
    """The amount of an answer that is implausible; it is no value."""


def gather(
    tokens: Sequence[Token], question: Question, *, whole: bool, structured: bool = False
) -> list[Candidate]:
    """Return the candidates in `tokens`.

    `whole` says that the tokens are a complete answer, which may then be nothing but a number;
    `structured` that it is written as JSON, whose keys can hold the unit.
    """
    if question.unit not in (RUPEES, PERCENT_UNIT):
        tokens = in_currency(tokens, question.unit)
    found = figures(tokens)
    alone = len(found) == 1 and whole
    candidates: list[Candidate] = []
    for figure in found:
        bare = alone and _is_bare(tokens, figure, structured=structured)
        framed = _with_label_units(tokens, figure, structured=structured) if bare else figure
        if figure.moved and question.known is not None:
            framed = _moved_from(framed, question.known)
        if framed.foreign and candidates and _is_conversion(tokens, framed, candidates[-1]):
            continue
        candidate = _candidate(tokens, framed, question, bare=bare)
        if candidate is not None:
            candidates.append(candidate)
    return candidates


def _moved_from(figure: Figure, known: float) -> Figure:
    """Read what moves away from the stated amount as where it goes; from elsewhere it is a range."""
    low, high = figure.bounds
    if low != known:
        return figure._replace(moved=False, conflict=figure.conflict and low >= high)
    if figure.conflict:  # an arrow
        return figure._replace(low=figure.high, low_scale=figure.high_scale, conflict=False, moved=False)
    return figure


_ABOUT: Final = word_set("about approx approx. approximately around roughly or ~ ≈ . - –")


def _is_conversion(tokens: Sequence[Token], figure: Figure, before: Candidate) -> bool:
    """Read "₹8,00,000 (~$9,600)": brackets after an amount in rupees repeat it in another currency."""
    at = figure.first - 1
    while at > 0 and tokens[at].word in _ABOUT:
        at -= 1
    opened = at > 0 and tokens[at].kind is OPEN
    return opened and before.role is Role.ANSWER and tokens[at - 1].end == before.end


_UNITS: Final = frozenset(
    {SCALE, LPA, RUPEE, FOREIGN, PERCENT} | {YEARLY, OTHER_PERIOD, PER, YEAR, SHORT_PERIOD}
)
_CLOSING: Final = frozenset({BREAK, CLOSE, COMMA})
_OPENING: Final = frozenset({ARROW, BREAK, OPEN, CLOSE, COLON, DASH})


def _is_bare(tokens: Sequence[Token], figure: Figure, *, structured: bool) -> bool:
    """Tell whether the answer is this figure alone, a label before it at most ("Answer: 12")."""
    if structured:
        return True
    before, after = tokens[: figure.first], tokens[figure.last :]
    if not all(token.kind in _CLOSING for token in after):
        return False
    return len(before) <= 8 and all(
        token.kind in _OPENING or token.kind in _UNITS or token.word in LABEL_WORDS for token in before
    )


def _with_label_units(tokens: Sequence[Token], figure: Figure, *, structured: bool) -> Figure:
    """Take the unit from a label ("CTC (LPA): 12") or a key ({"amount": 12, "unit": "LPA"})."""
    if figure.has_unit and not structured:
        return figure
    around = [*tokens[: figure.first], *(tokens[figure.last :] if structured else ())]
    kinds = {token.kind for token in around}
    scales = [token for token in around if token.kind in (SCALE, LPA)]
    if scales and not figure.scaled and not figure.percent:
        size = scales[0].size
        figure = figure._replace(low_scale=size, high_scale=size, lpa=scales[0].kind is LPA)
    return figure._replace(
        rupee=figure.rupee or RUPEE in kinds,
        foreign=figure.foreign or FOREIGN in kinds,
        percent=figure.percent or (PERCENT in kinds and not figure.scaled),
        period="other" if OTHER_PERIOD in kinds else figure.period,
    )


def _candidate(
    tokens: Sequence[Token], figure: Figure, question: Question, *, bare: bool
) -> Candidate | None:
    money = figure.rupee or figure.foreign or figure.scaled
    if figure.has_unit:
        says_money = figure.rupee or figure.foreign or figure.percent or figure.lpa or figure.period != ""
        if not says_money and not bare and not counts_money(tokens, figure):
            return None
    elif not (bare and _is_number(figure)) and not (
        _is_plain_amount(figure, question) and counts_money(tokens, figure)
    ):
        return None
    if not bare and is_negated(tokens, figure):
        role, note = Role.NEGATED, ""
    elif question.states_amount and money and not figure.percent and not bare and is_repeated(tokens, figure):
        role, note = Role.REPEATED, ""
    elif figure.has_unit and figure.percent != question.percent:
        role, note = Role.OTHER_QUANTITY, ""
    else:
        note = _misfit(tokens, figure, question)
        role = Role.MISFIT if note else Role.ANSWER
    value = figure.value
    in_lakh = (
        bare and question.annual and question.unit == RUPEES and not figure.scaled and _is_in_lakh(figure)
    )
    if in_lakh:
        value = round(value * 1e5, 4)
    sentinel = bare and not figure.has_unit and _is_sentinel(figure, question)
    start, end = tokens[figure.first].start, tokens[figure.last - 1].end
    annual = figure.lpa or figure.period == "year"
    other_period = note == OTHER_PERIOD_NOTE
    return Candidate(role, value, sentinel, note, start, end, annual, other_period, figure, in_lakh)


def _is_in_lakh(figure: Figure) -> bool:
    """Tell a bare number that means LPA; nobody writes 12.5 lakh as "12.5 INR"."""
    whole = figure.low.is_integer() and figure.high.is_integer()
    return 0 < figure.high < 1000 and (whole or not figure.rupee)


def _is_number(figure: Figure) -> bool:
    """Tell digits that make a number from words ("twelve") and from "1.2.3": those need a unit."""
    return figure.digits != "" and not isnan(figure.low) and not isnan(figure.high)


def _is_sentinel(figure: Figure, question: Question) -> bool:
    # No raise at all is an answer; no pay at all is none.
    return figure.digits == "999999" or (figure.value == 0 and not question.percent)


_YEAR = re.compile(r"(?:19[5-9]|20[0-4])\d")


def _is_plain_amount(figure: Figure, question: Question) -> bool:
    """Tell whether a number without a unit, inside a sentence, can be an amount; a year cannot."""
    if not figure.digits or not figure.low >= question.smallest_plain:
        return False
    runs = figure.digits.split()
    if any(run.isdigit() and len(run) >= 10 for run in runs):
        return False
    return any(run == "2000" or not _YEAR.fullmatch(run) for run in runs)


def _misfit(tokens: Sequence[Token], figure: Figure, question: Question) -> str:
    """Return why the figure cannot be taken as it stands, "" where it can."""
    if figure.conflict or (figure.moved and question.states_amount):
        return "Two different amounts are given as one."
    if figure.is_doubtful:
        return "The digits can be read as more than one number."
    if figure.foreign:
        return "The amount is in another currency."
    if figure.period == "other" or is_monthly_before(tokens, figure):
        return OTHER_PERIOD_NOTE
    said = tokens[figure.last - 1]
    in_percent = said.kind is PERCENT or said.word == "cent"
    if question.percent and not in_percent and 0 < abs(figure.high) < 1:
        return "The number can be a percentage or a fraction."
    if not question.annual and not question.percent and (figure.lpa or figure.period == "year"):
        return "An annual figure does not fit a project price."
    return ""


def decide(
    candidates: Sequence[Candidate], question: Question, text: str, *, marked: bool = False
) -> Reading | None:
    """Weigh the candidates of one answer; None where none of them is meant as the answer.

    `marked` says that they stand after the marker, which names the answer: a monthly figure beside it is
    a remark.
    """
    fresh = [item for item in candidates if item.role in (Role.ANSWER, Role.MISFIT)]
    if not marked and question.known is not None:
        fresh = [item for item in fresh if item.value != question.known]
    if not fresh and not question.percent and not question.states_amount:
        fresh = [item for item in candidates if item.role is Role.REPEATED]
    if question.annual:
        fresh = _without_glosses(fresh, marked=marked)
    if not fresh:
        return None
    if len(fresh) > 1:
        fresh = _without_parts(fresh, text)
        fresh = [item for item in fresh if not _is_beside_the_point(text, item, question)] or fresh
    first = fresh[0]
    misfit = next((item for item in fresh if item.role is Role.MISFIT), None)
    if misfit is not None:
        return Reading(Status.AMBIGUOUS, None, misfit.start, misfit.end, misfit.note)
    if any(item.value != first.value for item in fresh):
        last = next(item for item in fresh if item.value != first.value)
        return Reading(Status.AMBIGUOUS, None, first.start, last.end, "Two different amounts are given.")
    note = _doubt(text, candidates, fresh, question, marked=marked)
    if note:
        return Reading(Status.AMBIGUOUS, None, first.start, first.end, note)
    if first.sentinel or first.value < 0 or not question.fits(first.value):
        return _no_value(first, question)
    reason = partial(_how_read, candidates, fresh, marked=marked)
    return Reading(Status.LENIENT, first.value, first.start, first.end, reason)


_RESULT = re.compile(r"[=≈]\W*(?:rs\.?|inr|about|approximately|around)?\W*$", re.IGNORECASE)


def _without_parts(fresh: list[Candidate], text: str) -> list[Candidate]:
    """Keep the whole where the other amounts are its parts: "55 LPA (fixed 45, variable 10)", "5 x 5 = 25".

    The whole is the sum of all others (two or more), or what stands behind the last "=".
    """
    if any(item.role is not Role.ANSWER for item in fresh):
        return fresh
    distinct = {item.value: item for item in fresh}
    total = sum(distinct)
    for value, item in distinct.items():
        if len(distinct) > 2 and abs(total - 2 * value) <= 0.001 * value:
            return [item]
    last = fresh[-1]
    if len(distinct) > 1 and _RESULT.search(text[max(0, last.start - 24) : last.start]):
        return [last]
    return fresh


def _is_beside_the_point(text: str, item: Candidate, question: Question) -> bool:
    """Tell remarks beside an answer: "inflation is 6%", "7 LPA more, that is 55 LPA"."""
    lead, rest = text[max(0, item.start - NEAR) : item.start], text[item.end : item.end + NEAR]
    return item.role is Role.ANSWER and is_remark(lead, rest, question)


def _without_glosses(fresh: list[Candidate], *, marked: bool) -> list[Candidate]:
    """Drop monthly figures that a twelvefold annual amount explains: "₹6 LPA (₹50,000/month)"."""
    total = next((item for item in fresh if item.role is Role.ANSWER and (item.annual or marked)), None)
    if total is None:
        return fresh
    return [item for item in fresh if not (item.other_period and _is_month_of(item.value, total.value))]


def _is_month_of(month: float, total: float) -> bool:
    """Tell whether twelve months make about the annual amount; in hand is less than the CTC."""
    return 0.4 * total <= 12 * month <= 1.1 * total


def _doubt(
    text: str,
    candidates: Sequence[Candidate],
    fresh: Sequence[Candidate],
    question: Question,
    *,
    marked: bool,
) -> str:
    """Return why the sentence around an amount keeps it from being the answer, "" where it does not."""
    stated = question.annual and any(item.annual for item in fresh)
    # Words from a monthly remark on say nothing about the amount before it.
    remarks = [item.start for item in candidates if item.other_period]
    for item in fresh:
        at = bisect_left(remarks, item.end)
        end = remarks[at] if at < len(remarks) else len(text)
        lead = text[max(0, item.start - REACH) : item.start]
        rest = text[item.end : min(end, item.end + REACH)]
        note = doubt_beside(lead.rpartition("\n")[2][-NEAR:], rest, question)
        if not note and not stated and needs_a_look(f" {lead} {rest}".lower(), question):
            before, after = preceding_words(lead, marked=marked), rest
            if marked:
                after, _, following = rest.partition("\n")
                note = doubt_before_marker(lead.rpartition("\n")[0], question)
                note = note or doubt_after_marker(following, item.value, question)
            note = doubt_in_sentence(before, following_words(after), question) or note
        if note:
            return note
    return ""


def doubt_after_marker(rest: str, value: float, question: Question) -> str:
    """Return why the line after a marked amount takes it back, "" where it does not.

    "(per month)" and "This is your monthly salary." do; "About ₹50,000 a month in hand" explains an amount
    that is twelve times as much or about that.
    """
    after = first_sentence(rest)
    note = doubt_in_next_line(after, question)
    if note != OTHER_PERIOD_NOTE:
        return note
    beside = gather(tokenise(after, 0, len(after)), question, whole=False)
    explained = any(item.annual or _is_month_of(item.value, value) for item in beside)
    return "" if explained else note


def _no_value(candidate: Candidate, question: Question) -> Reading:
    start, end = candidate.start, candidate.end
    if candidate.sentinel:
        return Reading(Status.REFUSAL, None, start, end, "A placeholder number stands for no answer.")
    if candidate.value < 0:
        return Reading(Status.REFUSAL, None, start, end, "A negative amount stands for no answer.")
    unit = "%" if question.percent else question.unit
    reason = (
        f"The amount is outside the plausible bounds, {question.low:,.0f} to {question.high:,.0f} {unit}."
    )
    return Reading(Status.IMPLAUSIBLE, None, start, end, reason, candidate.value)


_LEFT_OUT: Final = {
    Role.REPEATED: "figures that repeat the question",
    Role.NEGATED: "amounts that the text advises against",
    Role.OTHER_QUANTITY: "figures of another unit",
    Role.MISFIT: "the same by the month",
}
"""Figures of a role that none of the answer's figures has, as they are called in a reason."""


def _how_read(candidates: Sequence[Candidate], fresh: Sequence[Candidate], *, marked: bool) -> str:
    """Return the rules by which one amount was read, as a sentence."""
    rules = [*_rules(fresh[0]), *(["said more than once"] if len(fresh) > 1 else [])]
    other = {item.role for item in candidates} - {item.role for item in fresh}
    left_out = [name for role, name in _LEFT_OUT.items() if role in other]
    return "".join(
        (
            "One amount after ### is understood" if marked else "One amount is understood",
            f": {', '.join(rules)}" if rules else "",
            f"; left out: {', '.join(left_out)}" if left_out else "",
            ".",
        )
    )


def _rules(candidate: Candidate) -> Iterator[str]:
    """Yield how a figure as it is written became its value."""
    figure = candidate.figure
    if figure is None:
        return
    low, high = figure.bounds
    if low != high:
        yield "the midpoint of a range"
    if not figure.digits.strip():
        yield "in words"
    if candidate.in_lakh:
        yield "alone and below 1,000, so read as LPA"
    elif not figure.has_unit:
        yield "without a unit, so read in the one asked for"
    if figure.scaled:
        yield "converted to INR"
