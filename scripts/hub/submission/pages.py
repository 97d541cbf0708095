"""The page headers of a Parquet file, read before anything is unpacked.

A footer can lie about sizes, and a few kilobytes can unpack to gigabytes. What a reader really allocates is
what the header before each page says, so those are added up first. Only what `write_answers` makes is let
through: plain and dictionary encodings, whose pages are as large as what they decode to.
"""

from dataclasses import dataclass
from typing import Any, Final

from .limits import MAX_PAGES, MAX_UNPACKED

_DATA, _DICTIONARY = 0, 2
_ENCODINGS: Final = {_DATA: {0, 2, 3, 8}, _DICTIONARY: {0, 2}}
"""Kinds of page and the encodings that each may have: plain, dictionary indices, run lengths."""
_DETAILS: Final = {_DATA: 5, _DICTIONARY: 7}
"""Field of a page header that holds the rest about its kind."""
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)
_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class _Page:
    kind: int
    encoding: int
    n_values: int
    unpacked: int
    packed: int


def check_pages(data: bytes, metadata: Any, n_rows: int) -> None:
    """Check the header of every page of a file whose footer is `metadata`.

    Raises ValueError, with a message for people, if they unpack to more than MAX_UNPACKED bytes or are not
    made as `write_answers` makes them.
    """
    n_pages, unpacked = 0, 0
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            at, end = _extent(metadata.row_group(group).column(column), len(data))
            while at < end:
                header = _Compact(data, at, end)
                page = _page(header.struct())
                _check_page(page, n_rows)
                at = header.at + page.packed
                n_pages, unpacked = n_pages + 1, unpacked + page.unpacked
                if unpacked > MAX_UNPACKED:
                    raise ValueError(f"it unpacks to more than {MAX_UNPACKED >> 20} MB")
                if n_pages > MAX_PAGES:
                    raise ValueError(f"it has more than {MAX_PAGES:,} pages")
            if at != end:
                raise ValueError("its pages do not lie where its footer says")


def _extent(chunk: Any, size: int) -> tuple[int, int]:
    """Return where the pages of a column begin and end, as Arrow's reader finds it."""
    if chunk.compression != "ZSTD":
        raise ValueError(f"it is packed with {chunk.compression}, expected ZSTD")
    start = chunk.data_page_offset
    first = chunk.dictionary_page_offset
    if chunk.has_dictionary_page and first is not None and 0 < first < start:
        start = first
    end = start + chunk.total_compressed_size
    if not 4 <= start <= end <= size:
        raise ValueError("its footer points outside the file")
    return start, end


def _check_page(page: _Page, n_rows: int) -> None:
    if page.encoding not in _ENCODINGS.get(page.kind, ()):
        raise ValueError(f"it has a page of kind {page.kind} with encoding {page.encoding}")
    if page.unpacked < 0 or page.packed < 0 or not 0 <= page.n_values <= n_rows:
        raise ValueError("the header of a page holds an impossible number")


def _page(fields: dict[int, Any]) -> _Page:
    kind = fields.get(1)
    details = fields.get(_DETAILS.get(kind, 0)) if isinstance(kind, int) else None
    if not isinstance(details, dict):
        raise ValueError(f"it has a page of the unknown kind {kind!r:.20}")
    found = (kind, details.get(2), details.get(1), fields.get(2), fields.get(3))
    numbers = [number for number in found if isinstance(number, int)]
    if len(numbers) < len(found):
        raise ValueError("the header of a page is damaged")
    return _Page(*numbers)


class _Compact:
    """Thrift's compact protocol, as far as page headers use it."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data = data
        self._end = end
        self.at = at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a struct by number: whole numbers and structs, None for all others."""
        if depth > _DEEPEST:
            raise ValueError("the header of a page is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while (byte := self._byte()) != _STOP:
            kind, step = byte & 15, byte >> 4
            number = number + step if step else self._number()
            fields[number] = self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return None
        if kind in (_I16, _I32, _I64):
            return self._number()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_BYTE, _DOUBLE, _BINARY):
            self._skip({_BYTE: 1, _DOUBLE: 8}.get(kind) or self._varint())
            return None
        # Lists, sets and maps: no page header that we write has one.
        raise ValueError("the header of a page holds what no page needs")

    def _number(self) -> int:
        value = self._varint()
        number = (value >> 1) ^ -(value & 1)
        if not -(1 << 31) <= number < 1 << 31:
            raise ValueError("the header of a page holds an impossible number")
        return number

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("the header of a page is damaged")

    def _byte(self) -> int:
        self._skip(1)
        return self._data[self.at - 1]

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > self._end:
            raise ValueError("the header of a page is damaged")
