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
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from itertools import islice
from typing import Final, Literal, TypeAlias

import numpy as np

from .ambiguity import doubt_before_marker
from .benchmark import DESIGN
from .candidates import Candidate, Reading, Role, decide, doubt_after_marker, gather
from .design import PERCENT, Design
from .errors import MetricInputError
from .normal_form import normal_form, without_links, without_reasoning
from .refusals import PLACEHOLDERS, declines, refusal_phrase
from .statuses import ParsedValue, Question, Status, question_of
from .tokens import MAX_FIGURES, SHORT, tokenise, windows

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
    known: float | None = None,
    design: Design = DESIGN,
) -> ParsedValue:
    """Return the value, status and reason of one answer.

    `text` is what the model said (never a reasoning field), `use_case` one of the design's. `finish_reason`
    is the provider's: "length" or "max_tokens" marks a text that was cut off; None says nothing, so that a
    text which ends in "### 1" may have been. `known` is the amount that the prompt stated (the offer, the
    current pay): said again, it is not the answer. Values are in the use case's unit. None and NaN are empty.
    No text raises; what is no text, an unknown use case or mode raises MetricInputError.
    """
    question = _question(use_case, design, known)
    check_mode(mode)
    text = normal_form(without_reasoning(text_of("the output", text)))
    reading = _read(text, question, ending_of(finish_reason))
    status, value = reading.status, reading.value
    reason = reading.reason if isinstance(reading.reason, str) else reading.reason()
    if mode == "strict" and status is Status.LENIENT:
        status, value, reason = Status.UNPARSED, None, "The answer is not in the strict format."
    return ParsedValue(status, value, text[reading.start : reading.end][:_MAX_MATCHED], reason)


def _question(use_case: str, design: Design, known: float | None) -> Question:
    found = design.use_case.get(use_case)
    if found is None:
        names = ", ".join(design.use_case_names)
        raise MetricInputError(f"unknown use case {use_case!r}; expected one of {names}")
    return question_of(found, known)


def check_mode(mode: str) -> None:
    if mode not in PARSE_MODES:
        raise MetricInputError(f"unknown parse mode {mode!r}; expected 'lenient' or 'strict'")


def text_of(name: str, item: object) -> str:
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


def ending_of(finish_reason: str | None) -> Ending:
    if not isinstance(finish_reason, str) or not finish_reason:
        return Ending.UNKNOWN
    return _ENDINGS.get(finish_reason.lower(), Ending.COMPLETE)


# The marked line in the strict format: most answers are this and nothing else.
_NUMBER: Final = r"### ((?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?) "


@cache
def _exact_line(unit: str) -> re.Pattern[str]:
    return re.compile(_NUMBER + re.escape("%" if unit == PERCENT else unit) + r"[ \t\r]*(?:\n|\Z)")


def _read(text: str, question: Question, ending: Ending) -> Reading:
    exact = marked_exactly(text, question)
    if exact is None:
        return read_freely(text, question, ending)
    value, found, alone = exact
    end = found.start() + len(found.group().rstrip())
    if alone:
        return Reading(Status.OK, value, found.start(), end, "The answer is in the strict format.")
    return Reading(Status.LENIENT, value, found.start(), end, "The amount after ### is the answer.")


def marked_exactly(text: str, question: Question) -> tuple[float, re.Match[str], bool] | None:
    """Return value, match and whether it is all there is, for one marked line in the strict format.

    None where there is no such line, more than one marker, or a number that needs a second look.
    """
    at = text.rfind("###")
    if at < 0:
        return None
    found = _exact_line(question.unit).match(text, at)
    # One character is found far faster than three, and seldom stands elsewhere.
    if found is None or (text.find("#") != at and text.find("###", 0, at + 2) >= 0):
        return None
    digits = found[1]
    value = float(digits)
    if not question.low <= value <= question.high:
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


def read_freely(text: str, question: Question, ending: Ending) -> Reading:
    text = without_links(text)
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
    reading = decide(candidates, question, text)
    if (
        reading is not None
        and reading.status is Status.LENIENT
        and declines(text, reading.start, reading.end)
    ):
        return Reading(Status.REFUSAL, None, 0, reading.start, "The text declines, and then names a fact.")
    return reading or _without_answer(text, candidates)


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
