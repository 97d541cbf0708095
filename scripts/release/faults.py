"""What cannot be imported, and how it is told."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

_TOLD: Final = 5
_LONGEST: Final = 60


class UnmappedError(Exception):
    """A line that stands for no answer to a prompt of the benchmark; its message says why."""


class Unmapped:
    """The lines that could not be mapped: how many, and where the first ones are."""

    def __init__(self) -> None:
        self.count = 0
        """Of all files."""
        self._first: list[str] = []

    def add(self, path: Path, line: int, reason: str) -> None:
        """Count one line of a file."""
        self.count += 1
        if len(self._first) < _TOLD:
            self._first.append(f"{path} line {line} {reason}")

    def __str__(self) -> str:
        be = "record cannot be mapped" if self.count == 1 else "records cannot be mapped"
        return f"{self.count:,} {be}, first: {listed(self._first, self.count)}"


def shown(value: Any) -> str:
    """Return a value of a record for a message: one line, without control characters, not long."""
    text = repr(value[: _LONGEST + 1] if isinstance(value, str | list) else value)
    return text if len(text) <= _LONGEST + 2 else f"{text[:_LONGEST]}..."


def listed(items: Iterable[object], count: int | None = None) -> str:
    """Return the first few items in one line; `count` is how many there are in all."""
    texts = [str(item) for item in items]
    more = (len(texts) if count is None else count) - min(len(texts), _TOLD)
    return "; ".join(texts[:_TOLD]) + (f"; and {more:,} more" if more else "")
