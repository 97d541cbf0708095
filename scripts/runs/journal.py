"""`outputs.jsonl`, the journal of a run: every reply is on its way to the disk before anything else happens.

A record has the keys prompt_id, repeat, output, finish_reason, error, usage, cost_usd, latency_s,
attempts, created_at, response_model and status (answer, truncated, empty, reasoning_only or error). A
record whose `error` is null is valid; the others tell of calls that failed.

A record is one line, appended by one write, so a killed process loses at most the calls in flight.
A thread flushes to the disk itself within 0.2 s, for all records of that time together, so a power
failure loses at most that fraction of a second.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeAlias

import orjson

from ..errors import RupeeBiasError
from ..files import sync_folder
from ..models.secrets import Secrets
from ..models.types import Reply, Request

Record: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, int]
"""Identity of a response: (prompt_id, repeat)."""
ANSWER: Final = "answer"
TRUNCATED: Final = "truncated"
EMPTY: Final = "empty"
REASONING_ONLY: Final = "reasoning_only"
ERROR: Final = "error"
_CUT: Final = frozenset({"length", "max_tokens"})
_SYNC_EVERY_S: Final = 0.15
_OF_THE_PROVIDER: Final = ("output", "finish_reason", "error", "response_model")
"""Fields with texts of the provider."""
_sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)  # macOS has only the second


def reply_record(request: Request, reply: Reply, latency_s: float, attempts: int) -> Record:
    """Return the record of a reply.

    Its `status` says what came: an `answer`, one that was cut off (`truncated`), no text at all
    (`empty`), or reasoning and nothing else (`reasoning_only`). All four are outcomes that were paid
    for; none is asked again.
    """
    return {
        "prompt_id": request.prompt_id,
        "repeat": request.repeat,
        "output": reply.text,
        "finish_reason": reply.finish_reason,
        "error": None,
        "usage": reply.usage,
        "cost_usd": reply.cost_usd,
        "latency_s": round(latency_s, 4),
        "attempts": attempts,
        "created_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "response_model": reply.response_model,
        "status": reply_status(reply),
    }


def error_record(request: Request, error: str, latency_s: float, attempts: int) -> Record:
    """Return the record of a request that failed for good."""
    record = reply_record(request, Reply(None), latency_s, attempts)
    return {**record, "error": error or "unknown error", "status": ERROR}


def reply_status(reply: Reply) -> str:
    """Return what kind of reply it is, by its content alone."""
    if reply.text is not None and reply.text.strip():
        return TRUNCATED if reply.finish_reason in _CUT else ANSWER
    has_reasoned = bool((reply.usage or {}).get("reasoning_tokens"))
    return REASONING_ONLY if reply.has_reasoning or has_reasoned else EMPTY


def read_outputs(path: Path) -> Iterator[Record]:
    """Yield the records of `path` in file order.

    An incomplete last line, as a killed process leaves it, is passed over. Raises RupeeBiasError
    with the line number for any other line that is not a record; the file is never changed.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            record = parse_line(line)
            if record is not None:
                yield record
            elif line.endswith(b"\n"):
                start = line[:60].decode("utf-8", "replace").strip()
                raise RupeeBiasError(
                    f"{path} line {number} is not a record: {start!r}\n"
                    "Restore the line, or delete it to have its request asked again; nothing was changed."
                )


def parse_line(line: bytes) -> Record | None:
    """Return the record that `line` holds, None if it holds none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if type(record) is not dict or type(record.get("prompt_id")) is not str:
        return None
    return record if type(record.setdefault("repeat", 0)) is int else None


def latest_valid(records: Iterable[Record]) -> dict[Key, Record]:
    """Return one record per (prompt_id, repeat): the last valid one, or the last error if none is
    valid.
    """
    latest: dict[Key, Record] = {}
    for record in records:
        key = (record["prompt_id"], record["repeat"])
        if record.get("error") is None or key not in latest or latest[key].get("error") is not None:
            latest[key] = record
    return latest


class AppendedLines:
    """A file of lines that is only appended to, each line by one write; a thread brings them to the disk.

    The caller holds the run's lock. Opening repairs a torn tail: a last line without its newline is
    completed if `is_whole` and cut off if not.
    """

    def __init__(
        self, path: Path, is_whole: Callable[[bytes], bool], sync: Callable[[int], None] = _sync_data
    ) -> None:
        self.path = path
        self._sync = sync
        if path.exists():
            _repair_tail(path, is_whole)
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        sync_folder(path.parent)
        self._fault: OSError | None = None
        self._unsynced = threading.Event()
        self._closing = threading.Event()
        self._syncer = threading.Thread(target=self._sync_loop, name=f"{path.stem}-sync", daemon=True)
        self._syncer.start()

    def append(self, record: Record) -> None:
        """Write one record. Raises RupeeBiasError if it cannot be written, and for every one after that.

        After a failed write the file may end in half a line, which only opening it again repairs.
        """
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

    def flush(self) -> None:
        """Return once all lines are on the disk."""
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
            self._fault = OSError(None, "the file is closed")

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


class Journal:
    """`outputs.jsonl` of a run, open for appending. The caller holds the run's lock.

    Opening reads what is there and repairs a torn tail. A damaged line elsewhere raises RupeeBiasError and
    changes nothing.
    """

    def __init__(self, path: Path, *, sync: Callable[[int], None] = _sync_data) -> None:
        """Open `path`; `sync` brings an open file to the disk."""
        self.path = path
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
        self.response_models: Counter[str] = Counter()
        """Valid records by the model that the provider named."""
        self.statuses: Counter[str] = Counter()
        """Valid records that are no whole answer, by kind."""
        self._secrets = Secrets()
        if path.exists():
            for record in read_outputs(path):
                self._count(self._masked(record))
        self._lines = AppendedLines(path, lambda line: parse_line(line) is not None, sync)

    def append(self, record: Record) -> Record:
        """Write one record and return it as written: values of keys, which a server may echo, are masked.

        Raises RupeeBiasError if it cannot be written, and for every record after that.
        """
        record = self._masked(record)
        self._lines.append(record)
        self._count(record)
        return record

    def flush(self) -> None:
        """Return once all records are on the disk."""
        self._lines.flush()

    def close(self) -> None:
        """Flush to the disk and close; closing twice is fine."""
        self._lines.close()

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
        texts = {name: record[name] for name in _OF_THE_PROVIDER if isinstance(record.get(name), str)}
        return {**record, **{name: self._secrets.mask(text) for name, text in texts.items()}}

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
        if model := record.get("response_model"):
            self.response_models[model] += 1
        if (status := record.get("status", ANSWER)) != ANSWER:
            self.statuses[status] += 1


def _encode(record: Record) -> bytes:
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # half a surrogate pair, which UTF-8 cannot hold
        clean = {
            name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
            for name, value in record.items()
        }
        return orjson.dumps(clean, option=orjson.OPT_APPEND_NEWLINE)


def _repair_tail(path: Path, is_whole: Callable[[bytes], bool]) -> None:
    with path.open("r+b") as file:
        start, tail = 0, b""
        for line in file:
            start, tail = start + len(tail), line
        if not tail or tail.endswith(b"\n"):
            return
        if is_whole(tail):
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
        else:
            file.truncate(start)
