"""Reading `outputs.jsonl`: one record a line, light enough for scoring.

A record has the keys prompt_id, repeat, output, finish_reason, error, usage, cost_usd, latency_s,
attempts, created_at, response_model and status (answer, truncated, empty, reasoning_only or error). A
record whose `error` is null is valid; the others tell of calls that failed.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from ..errors import RupeeBiasError

Record: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, int]
"""Identity of a response: (prompt_id, repeat)."""


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
                raise RupeeBiasError(_damaged(path, number, line))


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


def parse_line(line: bytes) -> Record | None:
    """Return the record that `line` holds, None if it holds none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if type(record) is dict and type(record.get("prompt_id")) is str and type(record.get("repeat")) is int:
        return record  # as nearly all are
    if not isinstance(record, dict) or not isinstance(record.get("prompt_id"), str):
        return None
    repeat = record.setdefault("repeat", 0)
    return record if isinstance(repeat, int) and not isinstance(repeat, bool) else None


def _damaged(path: Path, number: int, line: bytes) -> str:
    start = line[:60].decode("utf-8", "replace").strip()
    return (
        f"{path} line {number} is not a record: {start!r}\n"
        "Restore the line, or delete it to have its request asked again; nothing was changed."
    )
