"""The footer of `outputs.parquet`: let through only if it is one that `write_answers` can have made."""

import struct
from dataclasses import dataclass
from typing import Any, Final

from rupeebias.metric.layout import N_PROMPTS

from .limits import MAX_FOOTER, MAX_ROW_GROUPS
from .thrift import Compact, Struct

_MAGIC: Final = b"PAR1"
_WRITER: Final = b"parquet-cpp-arrow version "
_ZSTD: Final = 6
_ENCODINGS: Final = {0, 2, 3, 8}
"""Plain, dictionary, run lengths, dictionary."""
_TEXT: Final = {1: 6, 6: 0, 10: {1: {}}}
_COLUMNS: Final[dict[bytes, Struct]] = {
    b"prompt_id": {**_TEXT, 3: 0},
    b"repeat": {1: 1, 3: 0},
    b"output": {**_TEXT, 3: 1},
    b"finish_reason": {**_TEXT, 3: 1},
    b"error": {1: 0, 3: 0},
}
"""How the schema describes each column: 1 type, 3 whether it may be missing, 6 and 10 that it is text."""
_FIELDS: Final = {
    "file": {1, 2, 3, 4, 6, 7},
    "row group": {1, 2, 3, 5, 6, 7},
    "column": {2, 3},
    "column's metadata": {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16},
    "column's sizes": {1, 2, 3},
}
"""Fields that may be there: none for values, indexes, encryption, other files or metadata of a user."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Where the pages of one column of a row group are."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Footer:
    """What a footer says, checked."""

    n_rows: int
    chunks: tuple[Chunk, ...]


def read_footer(data: bytes, n_repeats: int) -> Footer:
    """Return what the footer of a Parquet file says.

    Raises ValueError, with a message for people, for columns other than ours, more rows than a run of
    `n_repeats` repeats has, and anything that our writer does not write.
    """
    fields = _fields(data)
    _known("file", fields)
    if not bytes(fields.get(6, b"")).startswith(_WRITER):
        raise ValueError("it was not written by `rupeebias submit`")
    _check_schema(fields.get(2))
    n_rows = fields.get(3)
    most = N_PROMPTS * n_repeats
    if not isinstance(n_rows, int) or not 0 < n_rows <= most:
        raise ValueError(
            f"it has {n_rows:,} rows: {n_repeats} times {N_PROMPTS:,} prompts give at most {most:,}"
        )
    groups = fields.get(4)
    if not isinstance(groups, list) or not 0 < len(groups) <= MAX_ROW_GROUPS:
        raise ValueError(f"it must have 1 to {MAX_ROW_GROUPS} row groups")
    chunks = [chunk for group in groups for chunk in _group(group, len(data))]
    sizes = [group[3] for group in groups]
    if min(sizes) < 1 or sum(sizes) != n_rows:
        raise ValueError("the rows of its row groups do not add up")
    return Footer(n_rows, tuple(chunks))


def _fields(data: bytes) -> Struct:
    if len(data) < 12 or not data.startswith(_MAGIC) or not data.endswith(_MAGIC):
        raise ValueError("it is not a Parquet file")
    size: int = struct.unpack("<I", data[-8:-4])[0]
    if size > min(MAX_FOOTER, len(data) - 12):
        raise ValueError(f"its footer says that it is {size:,} bytes long")
    end = len(data) - 8
    reader = Compact(data, end - size, end)
    fields = reader.struct()
    if reader.at != end:
        raise ValueError("it is damaged: its footer ends too early")
    return fields


def _known(what: str, fields: Any) -> Struct:
    if not isinstance(fields, dict) or not fields.keys() <= _FIELDS[what]:
        raise ValueError(f"the description of a {what} in its footer holds what only a hand-made file does")
    return fields


def _check_schema(schema: Any) -> None:
    is_list = isinstance(schema, list) and all(isinstance(element, dict) for element in schema)
    elements: list[Struct] = schema if is_list else []
    found = [element.get(4) for element in elements[1:]]
    if found != [*_COLUMNS] or elements[0].keys() - {3, 4, 5}:
        names = ", ".join(repr(name)[2:-1][:30] if isinstance(name, bytes) else "?" for name in found[:8])
        expected = ", ".join(name.decode() for name in _COLUMNS)
        raise ValueError(f"its columns are {names or 'none'}; expected {expected}")
    root = elements[0]
    if root.get(5) != len(_COLUMNS) or root.get(3, 0) != 0 or not isinstance(root.get(4), bytes):
        raise ValueError("its columns are nested")
    for element, (name, described) in zip(elements[1:], _COLUMNS.items(), strict=True):
        told = {key: value for key, value in element.items() if key not in (4, 9)}
        if told != described:
            raise ValueError(f"its column {name.decode()} is of another type than expected")


def _group(group: Any, size: int) -> list[Chunk]:
    fields = _known("row group", group)
    columns = fields.get(1)
    numbers = [fields.get(key, 0) for key in (2, 3, 5, 6, 7)]
    if (
        not isinstance(columns, list)
        or len(columns) != len(_COLUMNS)
        or not _all(int, numbers)
        or 3 not in fields
    ):
        raise ValueError("a row group in its footer is damaged")
    return [_chunk(column, name, fields[3], size) for column, name in zip(columns, _COLUMNS, strict=True)]


def _chunk(column: Any, name: bytes, n_rows: int, size: int) -> Chunk:
    outer = _known("column", column)
    fields = _known("column's metadata", outer.get(3))
    _known("column's sizes", fields.get(16, {}))
    numbers = [fields.get(key) for key in (5, 6, 7, 9)] + [fields.get(11, 0), outer.get(2, 0)]
    if not _all(int, numbers) or not _encodings_are_known(fields):
        raise ValueError("a column in its footer is damaged")
    if (fields.get(1), fields.get(3)) != (_COLUMNS[name][1], [name]) or fields[5] != n_rows:
        raise ValueError("a column in its footer does not fit the schema")
    if fields.get(4) != _ZSTD:
        raise ValueError("it is not packed with zstd")
    start = fields[9]
    if 11 in fields and 0 < fields[11] < start:  # as Arrow finds the first page
        start = fields[11]
    end = start + fields[7]
    if not len(_MAGIC) <= start <= end <= size:
        raise ValueError("its footer points outside the file")
    return Chunk(start, end)


def _encodings_are_known(fields: Struct) -> bool:
    encodings, statistics = fields.get(2), fields.get(13, [])
    if not isinstance(encodings, list) or not isinstance(statistics, list):
        return False
    pages = [[page.get(key) for key in (1, 2, 3)] for page in statistics if isinstance(page, dict)]
    return (
        all(encoding in _ENCODINGS for encoding in encodings)
        and len(pages) == len(statistics)
        and all(_all(int, page) and page[0] in (0, 2) and page[1] in _ENCODINGS for page in pages)
    )


def _all(kind: type, values: list[Any]) -> bool:
    return all(type(value) is kind for value in values)
