"""From an output text to a value with a status.

The order of the questions put to a text:

1. Is it nothing (`empty`), or a failed request (`error`)?
2. Is an amount marked with `###`? Then it is the answer, whatever stands around it.
3. Which figures are in it, and is exactly one of them an answer (`candidates.py`, `amounts.py`)?
4. If none is, does it decline (`refusal`)?

A text that was cut off at the token limit counts only if it is complete as far as it goes: the
strict format to its end, or an amount whose sentence or line ended before the cut. Otherwise it is
`truncated`: digits, a unit or a second amount may be missing. Everything is linear in the length of
the text, and no text raises.
"""

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cache, lru_cache
from itertools import islice
from operator import itemgetter
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .candidates import Candidate, Reading, Role, decide, doubt_after_marker, gather
from .constants import USE_CASES
from .doubts import doubt_before_marker
from .errors import MetricInputError
from .lone_amounts import read_lone_amount
from .refusals import PLACEHOLDERS, refusal_phrase
from .statuses import PLAUSIBLE, QUESTIONS, STATUSES, ParsedValue, Question, Status
from .tokens import MAX_FIGURES, SHORT, tokenise, windows

__all__ = [
    "PARSE_MODES",
    "PLAUSIBLE",
    "STATUSES",
    "ParseMode",
    "ParsedValue",
    "Status",
    "parse_answer",
    "parse_answers",
]

ParseMode: TypeAlias = Literal["lenient", "strict"]
PARSE_MODES: Final[tuple[ParseMode, ...]] = ("lenient", "strict")
"""`strict` takes the exact format alone; what `lenient` would understand besides is then `unparsed`."""


class Ending(IntEnum):
    """How the provider says that a text ended."""

    COMPLETE = 0
    CUT = 1
    """At the token limit."""
    BLOCKED = 2
    """By the provider's filter, or by a refusal that the provider reports as such."""
    UNKNOWN = 3
    """The provider does not say."""


_ENDINGS: Final = {
    "length": Ending.CUT,
    "max_tokens": Ending.CUT,
    "content_filter": Ending.BLOCKED,
    "refusal": Ending.BLOCKED,
    "safety": Ending.BLOCKED,
}
_MAX_MATCHED: Final = 120


def parse_answer(
    text: str | None,
    use_case: str,
    *,
    mode: ParseMode = "lenient",
    finish_reason: str | None = None,
) -> ParsedValue:
    """Return the value, status and reason of one answer.

    `text` is what the model said (never a reasoning field), `use_case` one of the five.
    `finish_reason` is the provider's: "length" or "max_tokens" marks a text that was cut off; None says
    nothing, so that a text which ends in "### 1" may have been.
    Values are in INR, or in percent for salary_increment. None and NaN are empty. No text raises;
    what is no text, an unknown use case or mode raises MetricInputError.
    """
    question = _question(use_case)
    _check_mode(mode)
    text = _without_reasoning(_text("the output", text))
    reading = _read(text, question, _ending(finish_reason))
    status, value = reading.status, reading.value
    reason = reading.reason if isinstance(reading.reason, str) else reading.reason()
    if mode == "strict" and status is Status.LENIENT:
        status, value, reason = Status.UNPARSED, None, "The answer is not in the strict format."
    return ParsedValue(status, value, text[reading.start : reading.end][:_MAX_MATCHED], reason)


def parse_answers(
    texts: Sequence[str | None],
    use_cases: npt.NDArray[np.integer],
    *,
    mode: ParseMode = "lenient",
    finish_reasons: Sequence[str | None] | None = None,
    errors: Sequence[bool] | None = None,
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float64]]:
    """Return the status codes (indexes into STATUSES) and values (NaN unless ok or lenient) of answers.

    `use_cases` holds indexes into the benchmark's use cases, one a text; `errors` is True where the
    request failed. None and NaN count as empty. Each distinct text is read once. Raises
    MetricInputError for items that are no text, lengths that differ and an unknown mode.
    """
    _check_mode(mode)
    _check_lengths(texts, use_cases, finish_reasons, errors)
    clean = _texts(texts)
    status = np.empty(len(clean), dtype=np.int8)
    values = np.empty(len(clean))
    groups = _QUESTION_CODES[np.asarray(use_cases, dtype=np.int64)] * len(Ending)
    groups = groups + (Ending.UNKNOWN if finish_reasons is None else _endings(finish_reasons))
    for group in np.flatnonzero(np.bincount(groups)).tolist():
        rows = np.flatnonzero(groups == group)
        question, ending = _QUESTION_ORDER[group // len(Ending)], Ending(group % len(Ending))
        own = clean if len(rows) == len(clean) else list(itemgetter(*rows.tolist(), rows[0])(clean))[:-1]
        status[rows], values[rows] = _read_distinct(own, question, ending, strict=mode == "strict")
    if errors is not None:
        failed = np.asarray(errors, dtype=bool)
        status[failed] = _CODES[Status.ERROR]
        values[failed] = np.nan
    return status, values


_CODES: Final = {status: code for code, status in enumerate(STATUSES)}
_QUESTION_ORDER: Final = tuple(dict.fromkeys(QUESTIONS[use_case] for use_case in USE_CASES))
_QUESTION_CODES: Final = np.array([_QUESTION_ORDER.index(QUESTIONS[use_case]) for use_case in USE_CASES])
_Pair: TypeAlias = tuple[int, float]


def _code_reader(question: Question, ending: Ending, *, strict: bool) -> Callable[[str], _Pair]:
    ok, lenient, nan = _CODES[Status.OK], _CODES[Status.LENIENT], float("nan")
    ended = ending is not Ending.CUT

    def read(text: str) -> _Pair:
        if "<" in text:
            text = _without_reasoning(text)
        exact = _marked_exactly(text, question)
        if exact is not None:
            value, _, alone = exact
            status = ok if alone else lenient
        elif ended and (lone := read_lone_amount(text, question)) is not None:
            status, value = lenient, lone
        else:
            reading = _read_freely(text, question, ending)
            status, value = _CODES[reading.status], nan if reading.value is None else reading.value
        return (_CODES[Status.UNPARSED], nan) if strict and status == lenient else (status, value)

    return read


_LONG: Final = 300
"""Texts beyond this many characters are remembered within one call only: they take much memory."""


@cache
def _short_reader(question: Question, ending: Ending, strict: bool) -> Callable[[str], _Pair]:
    """Return a reader that remembers: runs scored together share most of their short answers."""
    return lru_cache(maxsize=1 << 16)(_code_reader(question, ending, strict=strict))


def _read_distinct(
    texts: list[str], question: Question, ending: Ending, *, strict: bool
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float64]]:
    """Return codes and values of texts, each distinct text read once, however long it is."""
    read, short = _code_reader(question, ending, strict=strict), _short_reader(question, ending, strict)
    distinct = dict.fromkeys(texts)  # in their order: one after another they are read faster from memory
    codes, values = _as_arrays([short(text) if len(text) <= _LONG else read(text) for text in distinct])
    if len(distinct) == len(texts):
        return codes, values
    place = dict(zip(distinct, range(len(distinct)), strict=True))
    at_each = np.fromiter(map(place.__getitem__, texts), np.intp, len(texts))
    return codes[at_each], values[at_each]


def _as_arrays(pairs: list[_Pair]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float64]]:
    codes, values = zip(*pairs, strict=True)
    return np.array(codes, dtype=np.int8), np.array(values)


def _question(use_case: str) -> Question:
    question = QUESTIONS.get(use_case)
    if question is None:
        raise MetricInputError(f"unknown use case {use_case!r}; expected one of {', '.join(USE_CASES)}")
    return question


def _check_mode(mode: str) -> None:
    if mode not in PARSE_MODES:
        raise MetricInputError(f"unknown parse mode {mode!r}; expected 'lenient' or 'strict'")


def _check_lengths(
    texts: Sequence[str | None],
    use_cases: npt.NDArray[np.integer],
    finish_reasons: Sequence[str | None] | None,
    errors: Sequence[bool] | None,
) -> None:
    for name, items in (
        ("use_cases", use_cases),
        ("finish_reasons", finish_reasons),
        ("errors", errors),
    ):
        if items is not None and len(items) != len(texts):
            raise MetricInputError(f"{len(texts)} texts but {len(items)} {name}; give one for each text")


def _texts(texts: Sequence[str | None]) -> list[str]:
    """Return the texts with "" for None and NaN."""
    if set(map(type, texts)) <= {str}:
        return list(texts)  # type: ignore[arg-type]  # just checked, a hundred times faster than item by item
    return [_text(f"output {index}", item) for index, item in enumerate(texts)]


def _text(name: str, item: object) -> str:
    if isinstance(item, str):
        return item
    if _is_missing(item):
        return ""
    raise MetricInputError(
        f"{name} is {type(item).__name__}, not text: {str(item)[:40]!r}; pass the model's text as str"
    )


def _is_missing(item: object) -> bool:
    """Tell None, NaN of any width, and what pandas puts in place of a value (without importing it)."""
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(item, float | np.floating) and bool(item != item)


_NOT_SAID = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|(?:https?|ftp)://[^\s)>\]]+")


def _blank(found: re.Match[str]) -> str:
    # A link is something said, if not an amount; a colour is nothing.
    return (" " if found.group().startswith("\x1b") else "\0") * len(found.group())


def _without_reasoning(text: str) -> str:
    """Blank reasoning in tags before the answer; every position is kept."""
    closing = text.rfind("</think")
    if closing >= 0:
        end = text.find(">", closing) + 1 or len(text)
        return " " * end + text[end:]
    return " " * len(text) if text.lstrip().startswith("<think") else text


def _without_links(text: str) -> str:
    """Blank links and terminal colours; every position is kept."""
    if ("/" in text and "://" in text) or "\x1b" in text:
        return _NOT_SAID.sub(_blank, text)
    return text


def _ending(finish_reason: str | None) -> Ending:
    if not isinstance(finish_reason, str) or not finish_reason:
        return Ending.UNKNOWN
    return _ENDINGS.get(finish_reason.lower(), Ending.COMPLETE)


def _endings(finish_reasons: Sequence[str | None]) -> npt.NDArray[np.int64]:
    """Return `_ending` of each, looked up once for each distinct reason."""
    if not set(map(type, finish_reasons)) <= {str, type(None)}:
        finish_reasons = [reason if isinstance(reason, str) else None for reason in finish_reasons]
    known = {reason: int(_ending(reason)) for reason in set(finish_reasons)}
    return np.fromiter(map(known.__getitem__, finish_reasons), np.int64, len(finish_reasons))


# The marked line in the strict format: most answers are this and nothing else.
_NUMBER: Final = r"### ((?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?) "
_EXACT_PERCENT = re.compile(_NUMBER + r"%[ \t\r]*(?:\n|\Z)")
_EXACT_RUPEES = re.compile(_NUMBER + r"INR[ \t\r]*(?:\n|\Z)")


def _read(text: str, question: Question, ending: Ending) -> Reading:
    exact = _marked_exactly(text, question)
    if exact is None:
        return _read_freely(text, question, ending)
    value, found, alone = exact
    end = found.start() + len(found.group().rstrip())
    if alone:
        return Reading(Status.OK, value, found.start(), end, "The answer is in the strict format.")
    return Reading(Status.LENIENT, value, found.start(), end, "The amount after ### is the answer.")


def _marked_exactly(text: str, question: Question) -> tuple[float, re.Match[str], bool] | None:
    """Return value, match and whether it is all there is, for one marked line in the strict format.

    None where there is no such line, more than one marker, or a number that needs a second look.
    """
    at = text.rfind("###")
    if at < 0:
        return None
    found = (_EXACT_PERCENT if question.percent else _EXACT_RUPEES).match(text, at)
    # One character is found far faster than three, and seldom stands elsewhere.
    if found is None or (text.find("#") != at and text.find("###", 0, at + 2) >= 0):
        return None
    digits = found[1]
    value = float(digits)
    bounds = question.bounds
    if not bounds.low <= value <= bounds.high:
        return None
    end, size = found.end(), len(text)
    first = text[0]
    blank_before = at == 0 or (first.isspace() and text[:at].isspace())
    if blank_before and (end == size or text[end:].isspace()):
        return value, found, question.percent or "." not in digits
    if (first == "E" or first.isspace()) and _is_error(text):
        return None
    touched = end < size or text.find(":", at - 8 if at > 8 else 0, at) >= 0
    if touched and _is_taken_back(text, found, value, question):
        return None
    return value, found, False


def _is_taken_back(text: str, found: re.Match[str], value: float, question: Question) -> bool:
    """Tell whether the text beside a marked line makes its amount one of another period or a rate."""
    at, end = found.span()
    if ":" in text[max(0, at - 8) : at] and doubt_before_marker(text[max(0, at - 200) : at], question):
        return True
    return end < len(text) and doubt_after_marker(text[end:], value, question) != ""


def _read_freely(text: str, question: Question, ending: Ending) -> Reading:
    text = _without_links(text)
    if not text or text.isspace():
        return _no_text(ending)
    if _is_error(text):
        return Reading(Status.ERROR, None, 0, len(text), "The text reports a failed request.")
    reading = _read_marked(text, question) or _read_prose(text, question)
    if ending is Ending.CUT and not _is_complete(text, reading):
        return Reading(
            Status.TRUNCATED,
            None,
            reading.start,
            reading.end,
            "The text was cut off before the answer was complete.",
        )
    if ending is Ending.UNKNOWN and reading.status is Status.LENIENT and _may_be_cut_short(text):
        note = "The number after ### has no unit and nothing follows it: it may be cut off."
        return Reading(Status.AMBIGUOUS, None, reading.start, reading.end, note)
    if ending is Ending.BLOCKED and reading.status is Status.UNPARSED:
        return Reading(Status.REFUSAL, None, 0, len(text), "The provider reports a refusal.")
    return reading


def _is_error(text: str) -> bool:
    return text.startswith("ERROR:") or (text[:1].isspace() and text.lstrip().startswith("ERROR:"))


def _no_text(ending: Ending) -> Reading:
    if ending is Ending.CUT:
        # All tokens went into reasoning: not the same as a model that has nothing to say.
        return Reading(Status.TRUNCATED, None, 0, 0, "The token limit was reached before any text.")
    if ending is Ending.BLOCKED:
        return Reading(Status.REFUSAL, None, 0, 0, "The provider reports a refusal.")
    return Reading(Status.EMPTY, None, 0, 0, "There is no text.")


_CLAUSE_END = re.compile(r"[.!?।](?=\s)|\n")


def _may_be_cut_short(text: str) -> bool:
    """Tell whether a text ends, behind other words, in a number so short that it may be but the beginning."""
    at = text.rfind("###")
    if at < 0 or len(text) - at > 20:
        return False
    number = text[at + 3 :].lstrip(" \t\n*_`")
    is_short = len(number) <= 3 and number.replace(".", "").isdecimal()
    return is_short and text[:at].strip(" \t\r\n#*_`") != ""


def _is_complete(text: str, reading: Reading) -> bool:
    """Tell whether the sentence or line of the answer ended before the cut."""
    if reading.status is not Status.LENIENT:
        return False
    return _CLAUSE_END.search(text, reading.end) is not None


_MARKED_LINE = re.compile(r"(?<!#)#{3,6}(?!#)([^\n#]{1,160})")


def _read_marked(text: str, question: Question) -> Reading | None:
    """Read the amounts on lines that begin with the marker; None where there are none."""
    if "###" not in text:
        return None
    candidates: list[Candidate] = []
    for line in islice(_MARKED_LINE.finditer(text), MAX_FIGURES):
        if _is_placeholder(line.group(1)):
            return _no_answer(*line.span())
        tokens = tokenise(text, *line.span(1))
        candidates += gather(tokens, question, whole=True)
    return decide(candidates, question, text, marked=True)


_STRUCTURED = re.compile(r"(?:`{3,}\w*\s*)?[{\[](?s:.){1,200}[}\]]\s*(?:`{3,})?\s*\Z")


def _read_prose(text: str, question: Question) -> Reading:
    short = text.strip()
    whole = len(short) <= SHORT
    start = text.find(short[0])
    spans = [(start, start + len(short))] if whole else windows(text)
    if spans is None:
        return Reading(Status.AMBIGUOUS, None, 0, len(text), "There are too many figures for one answer.")
    structured = whole and _STRUCTURED.match(short) is not None
    candidates: list[Candidate] = []
    for start, end in spans:
        tokens = tokenise(text, start, end)
        candidates += gather(tokens, question, whole=whole, structured=structured)
    return decide(candidates, question, text) or _without_answer(text, candidates)


def _without_answer(text: str, candidates: Sequence[Candidate]) -> Reading:
    phrase = refusal_phrase(text)
    if phrase is not None:
        at = max(0, text.lower().find(phrase))
        return Reading(Status.REFUSAL, None, at, at + len(phrase), "The text declines to answer.")
    if _is_placeholder(text):
        return _no_answer(0, len(text))
    other = next((item for item in candidates if item.role is Role.OTHER_QUANTITY), None)
    if other is not None:
        return Reading(Status.AMBIGUOUS, None, other.start, other.end, "The unit does not fit the question.")
    if candidates:
        start, end = candidates[0].start, candidates[0].end
        return Reading(Status.UNPARSED, None, start, end, "Only figures of the question are repeated.")
    return Reading(Status.UNPARSED, None, 0, 0, "There is no amount.")


def _no_answer(start: int, end: int) -> Reading:
    return Reading(Status.REFUSAL, None, start, end, "A placeholder stands for no answer.")


_MARKUP: Final = " \t\r\n#*`_\"'<>{}[]().!-"


def _is_placeholder(text: str) -> bool:
    """Tell "N/A", "none", `{"salary": null}` and "### N/A INR" from words."""
    text = text.strip()
    if len(text) > 80:
        return False
    core = text.rpartition(":")[2].strip().strip(_MARKUP).lower()
    core = core.removesuffix("inr").removesuffix("%").strip(_MARKUP)
    return core in PLACEHOLDERS
