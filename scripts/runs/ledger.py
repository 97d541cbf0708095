"""`ledger.jsonl`: what a run spends, one line before each attempt that may cost money and one after it.

An attempt is **reserved** at its worst case before it is sent. Then it is **settled** at what it cost, or
**lost** at its worst case where that is not known: a reply that was torn or tells no tokens, a deadline that
passed, an error of the server after it may have been at work. What a killed process had only reserved is lost
as well. So settled and lost together are never below the bill, and a cap holds over any number of sessions.
Money is in USD; null where there is no price.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from ..errors import RupeeBiasError
from .journal import AppendedLines, Key

FILE: Final = "ledger.jsonl"


@dataclass(slots=True)
class Spending:
    """Sums of a ledger."""

    settled_usd: float = 0.0
    """Attempts whose cost is known."""
    lost_usd: float = 0.0
    """Worst case of those whose cost is not."""
    unknown: int = 0
    """Attempts of which not even that is known, since there is no price."""

    @property
    def spent_usd(self) -> float:
        """All that may be on the bill."""
        return self.settled_usd + self.lost_usd

    def settle(self, usd: float | None) -> None:
        """Count a cost."""
        self.settled_usd += usd or 0.0
        self.unknown += usd is None

    def lose(self, usd: float | None) -> None:
        """Count a worst case."""
        self.lost_usd += usd or 0.0
        self.unknown += usd is None


class Ledger:
    """The ledger of a run, open for appending. The caller holds the run's lock.

    The file is made with the first line: a run that costs nothing has none. A run that has replies and no
    ledger (an older version asked them) begins with what they cost, `before`.
    """

    def __init__(self, folder: Path, before: Spending | None = None) -> None:
        self.path = folder / FILE
        self.spending = Spending()
        self._open: dict[str, float | None] = {}
        self._session = secrets.token_hex(4)
        self._count = 0
        self._before = before
        self._lines: AppendedLines | None = None
        if self.path.exists():
            self._before = None
            self.spending = read_spending(folder)
        elif before is not None:
            self.spending = replace(before)

    @property
    def spent_usd(self) -> float:
        """All that may be on the bill, attempts under way at their worst case."""
        return self.spending.spent_usd + sum(usd or 0.0 for usd in self._open.values())

    @property
    def has_open(self) -> bool:
        """Whether attempts are under way, whose end may make room under a cap."""
        return bool(self._open)

    def reserve(self, key: Key, worst_usd: float | None) -> str:
        """Write down an attempt that is about to be sent, and return its id.

        Raises RupeeBiasError if it cannot be written: then it must not be sent.
        """
        name = self._name()
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._append({"id": name, "prompt_id": key[0], "repeat": key[1], "reserved_usd": worst_usd, "at": at})
        self._open[name] = worst_usd
        return name

    def settle(self, name: str, cost_usd: float | None) -> None:
        """Write down what an attempt cost; None: that is not known, so its worst case counts."""
        worst = self._open.pop(name)
        if cost_usd is None:
            self.spending.lose(worst)
            self._append({"id": name, "lost_usd": worst})
        else:
            self.spending.settle(cost_usd)
            self._append({"id": name, "settled_usd": cost_usd})

    def record(self, key: Key, cost_usd: float | None, worst_usd: float | None) -> None:
        """Write down at once an attempt that was reserved elsewhere, as those of a batch are."""
        end = {"settled_usd": cost_usd} if cost_usd is not None else {"lost_usd": worst_usd}
        self.spending.settle(cost_usd) if cost_usd is not None else self.spending.lose(worst_usd)
        self._append({"id": self._name(), "prompt_id": key[0], "repeat": key[1], **end})

    def add(self, run: str, other: Spending) -> None:
        """Take in what another run spent that is joined with this one."""
        for end, usd in (("settled_usd", other.settled_usd), ("lost_usd", other.lost_usd)):
            if usd:
                self._append({"id": self._name(), "of": run, end: usd})
        self.spending.settled_usd += other.settled_usd
        self.spending.lost_usd += other.lost_usd

    def close(self) -> None:
        """Flush to the disk and close."""
        if self._lines is not None:
            self._lines.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _name(self) -> str:
        self._count += 1
        return f"{self._session}-{self._count}"

    def _append(self, line: dict[str, Any]) -> None:
        if self._lines is None:
            self._lines = AppendedLines(self.path, lambda tail: _parsed(tail) is not None)
            if self._before is not None and (self._before.spent_usd or self._before.unknown):
                before = {"id": self._name(), "of": "replies before this ledger"}
                self._lines.append({**before, "settled_usd": self._before.settled_usd})
        self._lines.append(line)


def read_spending(folder: Path, without: Spending | None = None) -> Spending:
    """Return what the run in `folder` has spent, `without` if it has no ledger.

    Attempts that were only reserved are lost. Raises RupeeBiasError with the line number for a damaged line,
    an incomplete last one aside.
    """
    if without is not None and not (folder / FILE).exists():
        return without
    spending, reserved = Spending(), dict[str, float | None]()
    for line in _lines_of(folder / FILE):
        name = line["id"]
        if "reserved_usd" in line:
            reserved[name] = line["reserved_usd"]
            continue
        reserved.pop(name, None)
        if "settled_usd" in line:
            spending.settle(line["settled_usd"])
        else:
            spending.lose(line.get("lost_usd"))
    for usd in reserved.values():
        spending.lose(usd)
    return spending


def _lines_of(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if (entry := _parsed(line)) is not None:
                yield entry
            elif line.endswith(b"\n"):
                raise RupeeBiasError(f"{path} line {number} is damaged; restore it: it says what was paid")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return None
    amounts = [entry[name] for name in ("reserved_usd", "settled_usd", "lost_usd") if name in entry]
    is_good = len(amounts) == 1 and (amounts[0] is None or type(amounts[0]) in (int, float))
    return entry if is_good else None
