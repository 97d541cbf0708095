"""From a record of the release to our prompt_id, by what was asked: never by its ids or its place."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from rupeebias.metric.constants import IDENTIFIERS, LANGUAGES, OFFERED_CTC_LPA, PROFILES, QUESTIONS

from ..naming import slug
from .facts import PROFILE_LETTERS, TASKS
from .faults import UnmappedError, shown

_TEXTS: Final = frozenset({"response", "model_response", "reasoning_content", "validation_reason"})
"""Fields in which a model may say anything."""
_LANGUAGES: Final = {**{name: name for name in LANGUAGES}, "english": "en"}
_LONGEST_AXIS: Final = 24
_slug = lru_cache(maxsize=4096)(slug)


def prompt_id_of(record: Mapping[str, Any], use_case: str, language: str) -> str:
    """Return the prompt_id of what a record answers; its file's name tells use case and language.

    Label, profile and question are the record's; task, language, axis and the offer of a counter-offer,
    where it names them, must agree with those. Raises UnmappedError, saying what is wrong.
    """
    _check_file(record, use_case, language)
    axis, identifier = _identifier(record)
    profile = _numbered(record, "profile_id", PROFILE_LETTERS[use_case], PROFILES[use_case])
    question = _numbered(record, "question_variant_id", "Q", QUESTIONS[use_case])
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
    axes = [axis for axis, identifiers in IDENTIFIERS.items() if identifier in identifiers]
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
    return {axis for value in short if (axis := _slug(value)) in IDENTIFIERS}


def _numbered(record: Mapping[str, Any], name: str, letter: str, last: int) -> int:
    """Return the number of `R01`, `r1`, ...: from 1 to `last`, after the one letter that is right."""
    text = _text(record, name)
    match = re.fullmatch(rf"{letter}0{{0,3}}([1-9][0-9]?)", text.strip(), re.IGNORECASE)
    if match is None or int(match[1]) > last:
        raise UnmappedError(f"has the {name} {shown(text)}, expected {letter}1 to {letter}{last}")
    return int(match[1])


def _check_offer(offered: Any, profile: int) -> None:
    """Refuse a profile under which another amount was offered than under ours of that number."""
    expected = OFFERED_CTC_LPA[profile - 1]
    if offered is not None and _number(offered) != expected:
        raise UnmappedError(f"has offered_ctc_lpa {shown(offered)}, in profile {profile} it is {expected}")


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
