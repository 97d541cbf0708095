"""The journal of a run: every reply is on its way to the disk before anything else is done with it.

A record is one line, appended by one write, so a killed process loses at most the calls in flight.
A thread flushes to the disk itself within 0.2 s, for all records of that time together, so a power
failure loses at most that fraction of a second.
"""

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

import orjson

from ..errors import RupeeBiasError
from ..files import sync_folder
from ..models.secrets import Secrets
from .outputs import Key, Record, parse_line, read_outputs
from .records import ANSWER, EMPTY

_SYNC_EVERY_S = 0.15
_TOLD = ("output", "finish_reason", "error", "response_model")
"""Fields with texts of the provider."""
_sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)  # macOS has only the second


class Journal:
    """`outputs.jsonl` of a run, open for appending. The caller holds the run's lock.

    Opening reads what is there and repairs a torn tail: a last line without its newline is
    completed if it is a whole record and cut off if it is not. A damaged line elsewhere raises
    RupeeBiasError and changes nothing.
    """

    def __init__(self, path: Path, *, sync: Callable[[int], None] = _sync_data) -> None:
        """Open `path`; `sync` brings an open file to the disk."""
        self.path = path
        self._sync = sync
        self.done: set[Key] = set()
        """Keys with a valid record."""
        self.failed: set[Key] = set()
        """Keys with error records only."""
        self.empty: set[Key] = set()
        """Those of `done` whose last reply has neither text nor reasoning."""
        self.cost_usd = 0.0
        """Sum of the known costs."""
        self.unknown_costs = 0
        """Valid records whose cost is unknown."""
        self.response_models: dict[str, int] = {}
        """Valid records by the model that the provider named."""
        self.statuses: dict[str, int] = {}
        """Valid records that are no whole answer, by kind (`records.py`)."""
        self._secrets = Secrets()
        if path.exists():
            self._load(read_outputs(path))
            _repair_tail(path)
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        sync_folder(path.parent)
        self._fault: OSError | None = None
        self._unsynced = threading.Event()
        self._closing = threading.Event()
        self._syncer = threading.Thread(target=self._sync_loop, name="journal-sync", daemon=True)
        self._syncer.start()

    def append(self, record: Record) -> Record:
        """Write one record and return it as written: values of keys, which a server may echo, are masked.

        Raises RupeeBiasError if it cannot be written, and for every record after that.

        After a failed write the file may end in half a line, which only opening it again repairs.
        """
        record = {**record, **self._masked(record)}
        line = _encode(record)
        try:
            if self._fault is not None:
                raise self._fault
            written = os.write(self._fd, line)
            if written != len(line):
                raise OSError(None, "only part of a record could be written")
        except OSError as error:
            self._fault = error
            raise RupeeBiasError(
                f"cannot write {self.path}: {error.strerror or error}; all earlier replies are kept, "
                "free some space and run the same command again"
            ) from error
        self._unsynced.set()
        self._count(record)
        return record

    def flush(self) -> None:
        """Return once all records are on the disk."""
        self._sync(self._fd)

    def close(self) -> None:
        """Flush to the disk and close; closing twice is fine."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._unsynced.set()
        self._syncer.join()
        try:
            self._sync(self._fd)
        finally:
            os.close(self._fd)
            self._fault = OSError(None, "the journal is closed")

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _masked(self, record: Record) -> Record:
        texts = {name: record[name] for name in _TOLD if isinstance(record.get(name), str)}
        return {name: self._secrets.mask(text) for name, text in texts.items()}

    def _load(self, records: Iterable[Record]) -> None:
        for record in records:
            self._count({**record, **self._masked(record)})

    def _count(self, record: Record) -> None:
        key = (record["prompt_id"], record["repeat"])
        if record.get("error") is not None:
            if key not in self.done:
                self.failed.add(key)
            return
        self.done.add(key)
        self.failed.discard(key)
        if key in self.empty:
            self.statuses[EMPTY] -= 1  # it was asked again
        (self.empty.add if record.get("status") == EMPTY else self.empty.discard)(key)
        cost = record.get("cost_usd")
        if cost is None:
            self.unknown_costs += 1
        else:
            self.cost_usd += cost
        _count_in(self.response_models, record.get("response_model"))
        if (status := record.get("status", ANSWER)) != ANSWER:
            _count_in(self.statuses, status)

    def _sync_loop(self) -> None:
        while not self._closing.is_set():
            self._unsynced.wait()
            self._unsynced.clear()
            try:
                self._sync(self._fd)
            except OSError as error:
                self._fault = error  # the next append reports it
                return
            self._closing.wait(_SYNC_EVERY_S)


def _count_in(counts: dict[str, int], name: str | None) -> None:
    if name:
        counts[name] = counts.get(name, 0) + 1


def _encode(record: Record) -> bytes:
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # half a surrogate pair, which UTF-8 cannot hold
        clean = {
            name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
            for name, value in record.items()
        }
        return orjson.dumps(clean, option=orjson.OPT_APPEND_NEWLINE)


def _repair_tail(path: Path) -> None:
    with path.open("r+b") as file:
        start, tail = 0, b""
        for line in file:
            start, tail = start + len(tail), line
        if not tail or tail.endswith(b"\n"):
            return
        if parse_line(tail) is None:
            file.truncate(start)
        else:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
