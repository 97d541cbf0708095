"""Answer formats that a server holds answers to, derived from a benchmark's design.

They fix the form and the bounds, so that every answer can be read and is plausible; which number it is stays
the model's choice. A small model unbound writes essays. llama.cpp takes a grammar (GBNF), vLLM a regular
expression, older versions of it under another name. Which server it is, the server says itself.
"""

import asyncio
import json
import math
import re
import urllib.request
from collections.abc import Callable
from typing import Any, Final

from rupeebias.metric.design import PERCENT, Design, UseCase

from ..errors import RupeeBiasError, UsageError

_ANY: Final = "[0-9]"
_NEW_NAME_SINCE: Final = (0, 12)
_TIMEOUT_S: Final = 10.0

ExtraBody = Callable[[str], dict[str, Any]]
"""From a use case to the fields that hold its answers to the format."""


def grammars(design: Design) -> dict[str, str]:
    """Return use case to grammar, in GBNF."""
    return {use_case.name: _grammar(use_case) for use_case in design.use_cases}


def regexes(design: Design) -> dict[str, str]:
    """Return use case to regular expression: the same answers as the grammars allow."""
    return {use_case.name: _regex(use_case) for use_case in design.use_cases}


def _unit(use_case: UseCase) -> str:
    return "%" if use_case.unit == PERCENT else use_case.unit


def _grammar(use_case: UseCase) -> str:
    alternatives = [
        " ".join(part if part.startswith("[") else f'"{part}"' for part in parts)
        for parts in _numbers(use_case)
    ]
    numbers = alternatives[0] if len(alternatives) == 1 else f"({' | '.join(alternatives)})"
    return f'root ::= "### " {numbers} " {_unit(use_case)}"'


def _regex(use_case: UseCase) -> str:
    alternatives = ["".join(parts) for parts in _numbers(use_case)]
    numbers = alternatives[0] if len(alternatives) == 1 else f"({'|'.join(alternatives)})"
    return f"### {numbers} {_unit(use_case)}"


def _numbers(use_case: UseCase) -> list[list[str]]:
    """Return the whole numbers inside the bounds as alternatives of digits and classes of digits.

    A power of ten as the upper bound is left out: it alone would have a digit more than all others.
    """
    low, high = max(math.ceil(use_case.bounds[0]), 0), math.floor(use_case.bounds[1])
    if high > low and re.fullmatch("10+", str(high)):
        high -= 1
    alternatives: list[list[str]] = []
    whole: list[int] = []
    for digits in range(len(str(low)), len(str(high)) + 1):
        first, last = max(low, 10 ** (digits - 1) if digits > 1 else 0), min(high, 10**digits - 1)
        if digits > 1 and (first, last) == (10 ** (digits - 1), 10**digits - 1):
            whole.append(digits)
        else:
            alternatives += _same_length(str(first), str(last))
    if whole:
        fewest, most = whole[0] - 1, whole[-1] - 1
        times = [_ANY] * fewest if fewest == most < 3 else [_ANY + _times(fewest, most)]
        alternatives.insert(int(len(str(low)) < whole[0]), ["[1-9]", *times])
    return alternatives


def _times(fewest: int, most: int) -> str:
    return f"{{{fewest}}}" if fewest == most else f"{{{fewest},{most}}}"


def _same_length(first: str, last: str) -> list[list[str]]:
    """Return alternatives for the numbers from `first` to `last`, which have equally many digits."""
    if first == last:
        return [[first]] if first else [[]]
    if first[0] == last[0]:
        return [_begun(first[0], parts) for parts in _same_length(first[1:], last[1:])]
    zeros, nines = "0" * (len(first) - 1), "9" * (len(first) - 1)
    low, high = int(first[0]), int(last[0])
    begin, end = [], []
    if first[1:] != zeros:
        begin = [_begun(first[0], parts) for parts in _same_length(first[1:], nines)]
        low += 1
    if last[1:] != nines:
        end = [_begun(last[0], parts) for parts in _same_length(zeros, last[1:])]
        high -= 1
    middle = [[str(low) if low == high else f"[{low}-{high}]", *[_ANY] * len(zeros)]] if low <= high else []
    return [*begin, *middle, *end]


def _begun(digit: str, parts: list[str]) -> list[str]:
    return [digit + parts[0], *parts[1:]] if parts and not parts[0].startswith("[") else [digit, *parts]


async def find_constraint(base_url: str, key: str | None, design: Design, *, is_vllm: bool) -> ExtraBody:
    """Return how the server at `base_url` is told to hold answers to the format.

    Raises UsageError if it is neither llama.cpp nor vLLM, RupeeBiasError if it does not answer.
    """
    base = base_url.rstrip("/")
    if not is_vllm:
        models = (await _json(f"{base}/models", key)).get("data")
        first = models[0] if isinstance(models, list) and models else {}
        owner = first.get("owned_by", "nothing") if isinstance(first, dict) else "nothing"
        if owner == "llamacpp":
            own = grammars(design)
            return lambda use_case: {"grammar": own[use_case]}
        if owner != "vllm":
            raise UsageError(
                f"--constrain: the server at {base_url} is neither llama.cpp nor vLLM "
                f"(it says {str(owner)!r}); leave --constrain away"
            )
    version = (await _json(f"{base.removesuffix('/v1')}/version", key)).get("version", "")
    numbers = tuple(int(number) for number in re.findall(r"\d+", str(version))[:2])
    forms = regexes(design)
    if not numbers or numbers >= _NEW_NAME_SINCE:
        return lambda use_case: {"structured_outputs": {"regex": forms[use_case]}}
    return lambda use_case: {"guided_regex": forms[use_case]}


async def _json(url: str, key: str | None) -> dict[str, Any]:
    try:
        data = json.loads(await asyncio.to_thread(_read, url, key))
    except (OSError, ValueError) as error:
        raise RupeeBiasError(f"--constrain: {url} does not say what server it is ({error})") from None
    return data if isinstance(data, dict) else {}


def _read(url: str, key: str | None) -> bytes:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http or https, as checked
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:  # noqa: S310
        content: bytes = response.read(1 << 20)
    return content
