"""What a record says, and which prompt it answers, by what was asked and never by its place."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from rupeebias.metric.benchmark import DESIGN

from ..naming import slug
from ..words import shown
from . import FAILED, PROFILE_LETTERS, TASKS
from .files import ReleaseFile, Unmapped, UnmappedError, parse_object, read_lines

_TEXTS: Final = frozenset({"response", "model_response", "reasoning_content", "validation_reason"})
"""Fields in which a model may say anything."""
_LANGUAGES: Final = {**{name: name for name in DESIGN.language_names}, "english": "en"}
_LONGEST_AXIS: Final = 24
_RUPEES_PER_LAKH: Final = 100_000
_slug = lru_cache(maxsize=4096)(slug)


class Answer(NamedTuple):
    """One response of a model."""

    prompt_id: str
    """Ours."""
    text: str | None
    """What the model wrote; None for a failed call and where there was none."""
    finish_reason: str | None
    error: str | None
    """Why the call failed; None: it did not."""
    has_reasoning: bool
    is_flagged: bool
    """The authors' validation did not call it valid."""
    own_id: str | None
    """The release's id of its prompt; None where it has none."""
    digest: bytes
    """Hash of its line: equal for copies of one record."""

    @property
    def is_given(self) -> bool:
        """Tell whether there is an answer: the call did not fail, and the model wrote something."""
        return self.error is None and bool(self.text and self.text.strip())


def read_answers(file: ReleaseFile, unmapped: Unmapped) -> Iterator[Answer]:
    """Yield the answers of a file; lines that are none are counted in `unmapped`."""
    for number, line in read_lines(file.path):
        try:
            yield _answer(line, file)
        except UnmappedError as error:
            unmapped.add(file.path, number, str(error))


def _answer(line: bytes, file: ReleaseFile) -> Answer:
    record = parse_object(line)
    prompt_id = prompt_id_of(record, file.use_case, file.language)
    text, reason = _response(record), _optional(record, "finish_reason")
    error = _error(text)
    return Answer(
        prompt_id=prompt_id,
        text=text if error is None else None,
        finish_reason=reason if error is None else None,
        error=error,
        has_reasoning=_is_written(record.get("reasoning_content")),
        is_flagged=record.get("validation_status") not in (None, "", "valid"),
        own_id=record["prompt_id"] if _is_written(record.get("prompt_id")) else None,
        digest=blake2b(line.strip(), digest_size=16).digest(),
    )


def _response(record: Mapping[str, Any]) -> str | None:
    if "response" not in record:
        raise UnmappedError("has no response")
    text = _optional(record, "response")
    # null in all of the release: a text here would be an answer that goes unread
    if text is None and record.get("model_response") is not None:
        raise UnmappedError("has no response, but a model_response")
    return text


def _error(text: str | None) -> str | None:
    """Return what a failed call tells, None for the response of another."""
    if text is None or not text.lstrip().startswith(FAILED):
        return None
    return text.lstrip().removeprefix(FAILED).strip() or "unknown error"


def _optional(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise UnmappedError(f"has the {name} {shown(value)}, expected a text or null")
    # half a surrogate pair, which a file in UTF-8 cannot hold
    return value if value is None or value.isascii() else value.encode("utf-8", "replace").decode()


def _is_written(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def prompt_id_of(record: Mapping[str, Any], use_case: str, language: str) -> str:
    """Return the prompt_id of what a record answers; its file's name tells use case and language.

    Label, profile and question are the record's; task, language, axis and the offer of a counter-offer,
    where it names them, must agree with those. Raises UnmappedError, saying what is wrong.
    """
    _check_file(record, use_case, language)
    axis, identifier = _identifier(record)
    profile = _numbered(record, "profile_id", PROFILE_LETTERS[use_case], DESIGN.use_case[use_case].n_profiles)
    question = _numbered(record, "question_variant_id", "Q", DESIGN.use_case[use_case].n_questions)
    if use_case == "counter_offer":
        _check_offer(record.get("offered_ctc_lpa"), profile)
    return f"{use_case}:{language}:{axis}:{identifier}:P{profile:02d}:Q{question}"


def _check_file(record: Mapping[str, Any], use_case: str, language: str) -> None:
    for name, known, expected in (("task", TASKS, use_case), ("language", _LANGUAGES, language)):
        if record.get(name) is None:
            continue
        told = known.get(_slug(_text(record, name)))
        if told is None:
            raise UnmappedError(f"has the unknown {name} {shown(record[name])}")
        if told != expected:
            raise UnmappedError(f"has the {name} {shown(record[name])}, its file is named as {expected}")


def _identifier(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return axis and identifier of a label."""
    label = _text(record, "identifier_value")
    identifier = _slug(label)
    axes = [axis for axis, identifiers in DESIGN.identifiers.items() if identifier in identifiers]
    if not axes:
        raise UnmappedError(f"has the unknown identifier_value {shown(label)}")
    named = _axes_named(record)
    if not named and len(axes) == 1:
        return axes[0], identifier
    if len(named) != 1 or not named <= set(axes):
        names = " and ".join(sorted(named)) or "no axis"
        raise UnmappedError(f"names {names} beside {shown(label)}, which is of {' or '.join(axes)}")
    return named.pop(), identifier


def _axes_named(record: Mapping[str, Any]) -> set[str]:
    """Return the axes that stand in a record, in whatever field: the release's name of it is not known."""
    short = (
        value
        for name, value in record.items()
        if isinstance(value, str) and len(value) <= _LONGEST_AXIS and name not in _TEXTS
    )
    return {axis for value in short if (axis := _slug(value)) in DESIGN.axis}


def _numbered(record: Mapping[str, Any], name: str, letter: str, last: int) -> int:
    """Return the number of `R01`, `r1`, ...: from 1 to `last`, after the one letter that is right."""
    text = _text(record, name)
    match = re.fullmatch(rf"{letter}0{{0,3}}([1-9][0-9]?)", text.strip(), re.IGNORECASE)
    if match is None or int(match[1]) > last:
        raise UnmappedError(f"has the {name} {shown(text)}, expected {letter}1 to {letter}{last}")
    return int(match[1])


def _check_offer(offered: Any, profile: int) -> None:
    """Refuse a profile under which another amount was offered than under ours of that number."""
    expected = DESIGN.use_case["counter_offer"].known[profile - 1] / _RUPEES_PER_LAKH
    if offered is not None and _number(offered) != expected:
        raise UnmappedError(f"has offered_ctc_lpa {shown(offered)}, in profile {profile} it is {expected:g}")


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise UnmappedError(
            f"has the {name} {shown(value)}, expected a text" if name in record else f"has no {name}"
        )
    return value
