"""Thrift's compact protocol, in which a Parquet file says what is in it, read within limits.

Arrow has a reader of its own, but some values that no writer writes make it end the whole process. So what
it is to read is read here first.
"""

from typing import Any, Final, TypeAlias

Struct: TypeAlias = dict[int, Any]
"""Fields by number: whole numbers, truth values, bytes, lists and structs."""
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_BITS: Final = {_I16: 16, _I32: 32, _I64: 64}
_DEEPEST: Final = 8


class Compact:
    """Reads `data` from `at` on, never beyond `end`; raises ValueError for anything that is damaged."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data = data
        self._end = end
        self.at = at
        """Where the next byte is read."""

    def struct(self, depth: int = 0) -> Struct:
        """Return the next struct. A field given twice or out of order is damage, too."""
        if depth > _DEEPEST:
            raise ValueError("it is damaged: nested too deeply")
        fields: Struct = {}
        number = 0
        while byte := self._byte():
            kind, step = byte & 15, byte >> 4
            following = number + step if step else self._number(16)
            if following <= number:
                raise ValueError("it is damaged: a field stands twice")
            number = following
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _BITS:
            return self._number(_BITS[kind])
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind == _LIST:
            return self._list(depth + 1)
        raise ValueError("it is damaged: a value of a kind that Parquet does not use")

    def _list(self, depth: int) -> list[Any]:
        byte = self._byte()
        size, kind = byte >> 4, byte & 15
        size = self._varint() if size == 15 else size
        if size > self._end - self.at or depth > _DEEPEST:  # each value takes a byte or more
            raise ValueError("it is damaged: a list is longer than the file")
        if kind in (_TRUE, _FALSE):
            return [self._byte() == _TRUE for _ in range(size)]
        return [self._value(kind, depth) for _ in range(size)]

    def _number(self, bits: int) -> int:
        value = self._varint()
        number = (value >> 1) ^ -(value & 1)
        if not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise ValueError("it is damaged: a number has too many digits")
        return number

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("it is damaged: a number has too many digits")

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        start, self.at = self.at, self.at + count
        if self.at > self._end:
            raise ValueError("it is damaged: it ends too early")
        return self._data[start : self.at]
