"""Lines of JSON, one at a time, of files that anybody may have written."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from .faults import UnmappedError, shown

MAX_LINE: Final = 16 << 20
"""Bytes; a longer line is no record."""


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, numbered from 1; of one too long only its beginning."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            rest = line
            while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
                rest = file.readline(MAX_LINE + 1)
            if line.strip():
                yield number, line


def parse_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object that a line holds, NaN allowed as Python writes it; raises UnmappedError."""
    if len(line) > MAX_LINE:
        raise UnmappedError(f"is longer than {MAX_LINE >> 20} MB")
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        found = _loads(line)
    if not isinstance(found, dict):
        raise UnmappedError(f"is {shown(found)}, not a JSON object")
    return found


def _loads(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        fault = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise UnmappedError(f"is not valid JSON ({fault})") from None
