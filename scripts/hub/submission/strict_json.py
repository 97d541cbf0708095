"""JSON files that are not ours: no duplicate keys, no NaN, nothing too deep."""

import json
import math
from typing import Any, NoReturn

from .limits import MAX_DEPTH

_MOST = 1 << 63


def strict_json(data: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises ValueError, with a message for people, for anything but plain JSON: duplicate keys, NaN and
    infinities, numbers beyond 64 bits, half characters, and nesting deeper than MAX_DEPTH.
    """
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except RecursionError:
        raise ValueError(_too_deep()) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    _check(value, 0)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON: write null")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > 20 or not -_MOST <= int(text) < _MOST:
        raise ValueError(f"the number {text[:20]}... is too large")
    return int(text)


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(_too_deep())
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check(item, depth + 1)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:  # "\ud800" is JSON, but no text
        raise ValueError(f"{text[:20]!r} holds half a character") from None


def _too_deep() -> str:
    return f"lists and objects lie more than {MAX_DEPTH} deep"
