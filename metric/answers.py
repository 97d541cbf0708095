"""Many answers at once: each distinct text is read once, and the commonest forms at a glance.

Answers that are one amount and nothing else ("### 1200000 INR", "**12.5%**", "12 LPA") match a pattern; the
full grammar (`parser.py`) reads all of them alike, fifty times slower.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .benchmark import DESIGN
from .design import Design
from .errors import MetricInputError
from .normal_form import normal_form, without_reasoning
from .parser import Ending, ParseMode, check_mode, ending_of, marked_exactly, read_freely, text_of
from .statuses import RUPEES, STATUSES, Question, Status, question_of

_CODES: Final = {status: code for code, status in enumerate(STATUSES)}
_Read: TypeAlias = tuple[int, float, float, float]
"""Status code, value, implausible amount, value by the paper's definitions; NaN for none."""
_NAN: Final = float("nan")
_CRORE = re.compile(r"\bcr(?:ores?|s|\.)?\b|करोड", re.IGNORECASE)


class AnswerArrays(NamedTuple):
    """Answers, read; all arrays have one entry a text."""

    status: npt.NDArray[np.int8]
    """Indexes into STATUSES."""
    values: npt.NDArray[np.float64]
    """NaN unless the status is ok or lenient."""
    implausible: npt.NDArray[np.float64]
    """Amounts outside the plausible bounds; NaN elsewhere."""
    paper: npt.NDArray[np.float64]
    """Values by the paper's definitions: no bounds, small rupees of annual pay as lakh, crore as lakh."""


_LONG: Final = 300
"""Texts beyond this many characters are remembered within one call only: they take much memory."""


def read_answers(
    texts: Sequence[str | None],
    use_cases: npt.NDArray[np.integer],
    *,
    mode: ParseMode = "lenient",
    finish_reasons: Sequence[str | None] | None = None,
    errors: Sequence[bool] | None = None,
    known: npt.NDArray[np.floating] | None = None,
    design: Design = DESIGN,
) -> AnswerArrays:
    """Return how answers are read.

    `use_cases` holds indexes into the design's use cases, one a text; `known` the amount that each text's
    prompt states, NaN where it states none; `errors` is True where the request failed. None and NaN count as
    empty. Each distinct text of a question is read once. Raises MetricInputError for items that are no text,
    lengths that differ and an unknown mode.
    """
    check_mode(mode)
    _check_lengths(texts, use_cases=use_cases, finish_reasons=finish_reasons, errors=errors, known=known)
    clean = _texts(texts)
    found = np.empty((4, len(clean)))
    questions, codes = _questions(np.asarray(use_cases, dtype=np.int64), known, design)
    groups = codes * len(Ending)
    groups = groups + (Ending.UNKNOWN if finish_reasons is None else _endings(finish_reasons))
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    for rows in np.split(order, starts[1:]) if len(order) else ():
        group = int(groups[rows[0]])
        question, ending = questions[group // len(Ending)], Ending(group % len(Ending))
        own = list(itemgetter(*rows.tolist(), rows[0])(clean))[:-1]
        found[:, rows] = _read_distinct(own, question, ending, strict=mode == "strict")
    if errors is not None:
        failed = np.asarray(errors, dtype=bool)
        found[0, failed] = _CODES[Status.ERROR]
        found[1:, failed] = np.nan
    return AnswerArrays(found[0].astype(np.int8), *found[1:])


def parse_answers(
    texts: Sequence[str | None], use_cases: npt.NDArray[np.integer], **options: Any
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float64]]:
    """Return the status codes (indexes into STATUSES) and values of answers; options as of `read_answers`."""
    return read_answers(texts, use_cases, **options)[:2]


def _questions(
    use_cases: npt.NDArray[np.int64], known: npt.NDArray[np.floating] | None, design: Design
) -> tuple[list[Question], npt.NDArray[np.int64]]:
    """Return the distinct questions, and which of them each text answers."""
    own = [question_of(use_case) for use_case in design.use_cases]
    # A percentage is never the amount that was stated, and reads alike whatever that was.
    told = np.array([question.states_amount and not question.percent for question in own])
    stated = np.full(len(use_cases), np.nan) if known is None else np.where(told[use_cases], known, np.nan)
    amounts, at_amount = np.unique(stated, return_inverse=True)
    keys, codes = np.unique(use_cases * len(amounts) + at_amount, return_inverse=True)
    questions = []
    for key in keys.tolist():
        amount = float(amounts[key % len(amounts)])
        question = own[key // len(amounts)]
        questions.append(question if np.isnan(amount) else question._replace(known=amount))
    distinct = list(dict.fromkeys(questions))  # both sides of a price read alike
    place = np.array([distinct.index(question) for question in questions], dtype=np.int64)
    return distinct, place[codes] if len(codes) else codes.astype(np.int64)


def _paper_value(amount: float, question: Question, matched: str) -> float:
    """Return an amount as the paper's extractor has it: annual pay below 100,000 INR is in lakh."""
    if question.unit != RUPEES or not question.annual:
        return amount
    if _CRORE.search(matched):
        return amount / 100
    return amount * 1e5 if 0 < amount < 1e5 else amount


def _code_reader(question: Question, ending: Ending, *, strict: bool) -> Callable[[str], _Read]:
    ok, lenient = _CODES[Status.OK], _CODES[Status.LENIENT]
    ended = ending is not Ending.CUT

    def read(text: str) -> _Read:
        if "<" in text or "[" in text or "◁" in text:
            text = without_reasoning(text)
        if "\\" in text or not text.isascii():
            text = normal_form(text)
        exact = marked_exactly(text, question)
        if exact is not None:
            value, _, alone = exact
            status = ok if alone else lenient
        elif ended and (lone := read_lone_amount(text, question)) is not None:
            status, value = lenient, lone
        else:
            return _read_slowly(text, question, ending, strict=strict)
        is_refused = strict and status == lenient
        return (_CODES[Status.UNPARSED], _NAN, _NAN, value) if is_refused else (status, value, _NAN, value)

    return read


def _read_slowly(text: str, question: Question, ending: Ending, *, strict: bool) -> _Read:
    reading = read_freely(text, question, ending)
    status, value = _CODES[reading.status], _NAN if reading.value is None else reading.value
    outside = _NAN if reading.outside is None else reading.outside
    amount = outside if reading.value is None else value
    matched = text[reading.start : reading.end]
    paper = amount if np.isnan(amount) else _paper_value(amount, question, matched)
    if strict and reading.status is Status.LENIENT:
        status, value = _CODES[Status.UNPARSED], _NAN
    return status, value, outside, paper


@cache
def _short_reader(question: Question, ending: Ending, strict: bool) -> Callable[[str], _Read]:
    """Return a reader that remembers: runs scored together share most of their short answers."""
    return lru_cache(maxsize=1 << 16)(_code_reader(question, ending, strict=strict))


def _read_distinct(
    texts: list[str], question: Question, ending: Ending, *, strict: bool
) -> npt.NDArray[np.float64]:
    """Return what is read of texts, shape (4, texts), each distinct text read once, however long it is."""
    read, short = _code_reader(question, ending, strict=strict), _short_reader(question, ending, strict)
    distinct = dict.fromkeys(texts)  # in their order: one after another they are read faster from memory
    found = np.array([short(text) if len(text) <= _LONG else read(text) for text in distinct]).T
    if len(distinct) == len(texts):
        return found
    place = dict(zip(distinct, range(len(distinct)), strict=True))
    at_each = np.fromiter(map(place.__getitem__, texts), np.intp, len(texts))
    return np.asarray(found[:, at_each])


LONGEST: Final = 40
"""An answer that is read at a glance has at most this many characters."""
_WHOLE: Final = r"([1-9][0-9]{0,2}(?:,[0-9]{2,3}){0,3},[0-9]{3}|[1-9][0-9]{3,9})"
_SMALL: Final = r"([1-9][0-9]{0,2}(?:\.[0-9]{1,2})?)"
_SHARE: Final = r"((?:0|[1-9][0-9]{0,2})(?:\.[0-9]{1,2})?)"
_RUPEES: Final = rf"(?:₹ ?|Rs\.? ?|INR )?{_WHOLE}(?:/-| ?INR| rupees)?"
_PLACEHOLDER: Final = "999999"


def _pattern(amount: str) -> re.Pattern[str]:
    return re.compile(rf"(?:### )?(\*\*|`|)(?:{amount})\1\.?")


@cache
def _patterns(unit: str, annual: bool) -> tuple[tuple[re.Pattern[str], float], ...]:
    """Return patterns whose second group is a number, and what it counts in the question's unit."""
    if unit == "percent":
        return ((_pattern(rf"{_SHARE} ?(?:%|percent|per cent)"), 1.0),)
    if unit != RUPEES:
        return ((_pattern(rf"{_WHOLE} ?{re.escape(unit)}"), 1.0),)
    thousands = (_pattern(rf"(?:₹ ?|Rs\.? ?|INR )?{_SMALL} ?[kK](?: INR)?"), 1e3)
    lakhs = (_pattern(rf"(?:₹ ?|Rs\.? ?|INR )?{_SMALL} ?(?:LPA|[Ll]akhs?)"), 1e5)
    return (_pattern(_RUPEES), 1.0), lakhs if annual else thousands


def read_lone_amount(text: str, question: Question) -> float | None:
    """Return the amount in the question's unit that `text` is, None where a closer look is needed.

    The text must have ended by itself. An amount outside the plausible bounds, or the one that the prompt
    stated, gets a closer look too.
    """
    if len(text) > LONGEST:
        return None
    text = text.strip()
    for pattern, unit in _patterns(question.unit, question.annual):
        found = pattern.fullmatch(text)
        if found is not None and found[2] != _PLACEHOLDER:
            value = round(float(found[2].replace(",", "")) * unit, 4)
            return value if question.fits(value) and value != question.known else None
    return None


def _check_lengths(
    texts: Sequence[str | None], **others: Sequence[object] | npt.NDArray[np.generic] | None
) -> None:
    for name, items in others.items():
        if items is not None and len(items) != len(texts):
            raise MetricInputError(f"{len(texts)} texts but {len(items)} {name}; give one for each text")


def _texts(texts: Sequence[str | None]) -> list[str]:
    """Return the texts with "" for None and NaN."""
    if set(map(type, texts)) <= {str}:
        return list(texts)  # type: ignore[arg-type]  # just checked, a hundred times faster than item by item
    return [text_of(f"output {index}", item) for index, item in enumerate(texts)]


def _endings(finish_reasons: Sequence[str | None]) -> npt.NDArray[np.int64]:
    """Return `ending_of` each, looked up once for each distinct reason."""
    if not set(map(type, finish_reasons)) <= {str, type(None)}:
        finish_reasons = [reason if isinstance(reason, str) else None for reason in finish_reasons]
    known = {reason: int(ending_of(reason)) for reason in set(finish_reasons)}
    return np.fromiter(map(known.__getitem__, finish_reasons), np.int64, len(finish_reasons))
