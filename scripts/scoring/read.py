"""Reading what is to be scored: a run directory, or a file of outputs in any of three formats.

Files are untrusted: nothing in them is executed, and what cannot be read is an error that names the place.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from ..errors import RupeeBiasError, UsageError

MAX_BYTES: Final = 4 << 30
"""Larger files are refused: a full run with ten repeats takes about 100 MB."""
COLUMNS: Final = ("prompt_id", "output")
"""Columns that a file must have; `repeat`, `finish_reason` and `error` are read if they are there."""


@dataclass(frozen=True, slots=True)
class RunOutputs:
    """The outputs of one run, as they are scored."""

    name: str
    """The model of a run directory, the name of a file."""
    prompt_ids: list[str]
    outputs: list[str | None]
    repeats: list[int] | None = None
    """None: one output for each prompt."""
    finish_reasons: list[str | None] | None = None
    errors: list[bool] | None = None
    """Which outputs are failed calls."""
    expected: list[str] | None = None
    """The prompts that the run was to answer; None: not known."""
    n_repeats: int | None = None
    """How often each prompt was to be asked; None: not known."""
    arm: str = "standard"
    """System prompt arm."""


def read_run(path: Path) -> RunOutputs:
    """Return the outputs of a run directory or of a .jsonl, .csv or .parquet file."""
    if path.is_dir():
        return _from_directory(path)
    if not path.exists():
        raise UsageError(f"{path} does not exist: give a run directory or a file of outputs")
    readers = {".jsonl": _jsonl_rows, ".csv": _csv_rows, ".parquet": _parquet_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: unknown kind of file; give a run directory or {', '.join(readers)}")
    if path.stat().st_size > MAX_BYTES:
        raise RupeeBiasError(f"{path} is larger than {MAX_BYTES >> 30} GB: split it, or score a part of it")
    return _from_rows(path, list(reader(path)))


def _from_directory(folder: Path) -> RunOutputs:
    from ..generate.manifest import read_manifest
    from ..generate.outputs import latest_valid, read_outputs
    from ..selection import expected_prompt_ids

    manifest = read_manifest(folder)
    path = folder / "outputs.jsonl"
    if not path.exists():
        raise RupeeBiasError(f"{folder} has no outputs yet: run `rupeebias generate` to its end")
    records = list(latest_valid(read_outputs(path)).values())
    if not records:
        raise RupeeBiasError(f"{path} is empty: run `rupeebias generate` to its end")
    return RunOutputs(
        name=manifest.identity.model,
        prompt_ids=[record["prompt_id"] for record in records],
        outputs=[record.get("output") for record in records],
        repeats=[record["repeat"] for record in records],
        finish_reasons=[record.get("finish_reason") for record in records],
        errors=[record.get("error") is not None for record in records],
        expected=expected_prompt_ids(manifest.identity.selection),
        n_repeats=manifest.repeats,
        arm=manifest.identity.arm,
    )


_Row = Mapping[str, Any]


def _from_rows(path: Path, rows: list[_Row]) -> RunOutputs:
    if not rows:
        raise RupeeBiasError(f"{path} has no rows: nothing to score")
    _check_columns(path, rows[0])
    try:
        ids, outputs = ([row[name] for row in rows] for name in COLUMNS)
    except KeyError as missing:
        at = next(at for at, row in enumerate(rows, start=1) if missing.args[0] not in row)
        raise RupeeBiasError(f"{path}: row {at} has no {missing}") from None
    return RunOutputs(
        name=path.stem,
        prompt_ids=ids,
        outputs=outputs,
        repeats=_repeats(path, rows) if "repeat" in rows[0] else None,
        finish_reasons=[row.get("finish_reason") for row in rows],
        errors=[bool(row.get("error")) for row in rows],
    )


def _check_columns(path: Path, row: _Row) -> None:
    missing = [name for name in COLUMNS if name not in row]
    if missing:
        found = ", ".join(str(name)[:40] for name in list(row)[:20]) or "none"
        raise RupeeBiasError(
            f"{path} has no column {' and no column '.join(missing)}; it has: {found}. "
            "Rename yours to prompt_id and output"
        )


def _repeats(path: Path, rows: Sequence[_Row]) -> list[int]:
    try:
        return [int(row["repeat"] or 0) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise RupeeBiasError(f"{path}: column repeat must hold whole numbers ({error})") from None


def _jsonl_rows(path: Path) -> Iterator[_Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
            except orjson.JSONDecodeError as error:
                raise RupeeBiasError(f"{path} line {number} is not JSON ({error})") from None
            if not isinstance(row, dict):
                raise RupeeBiasError(f"{path} line {number} is not an object with prompt_id and output")
            yield row


def _csv_rows(path: Path) -> Iterator[_Row]:
    text = _decoded(path)
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    csv.field_size_limit(1 << 24)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        yield from reader
    except csv.Error as error:
        raise RupeeBiasError(f"{path} line {reader.line_num} is not CSV ({error})") from None


def _decoded(path: Path) -> str:
    """Return a text file's content: UTF-8 with or without a byte order mark, else Windows-1252."""
    data = path.read_bytes()
    if b"\0" in data:
        raise RupeeBiasError(f"{path} is not a text file: save it as CSV in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _parquet_rows(path: Path) -> Iterator[_Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            if (
                sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
                > MAX_BYTES
            ):
                raise RupeeBiasError(f"{path} unpacks to more than {MAX_BYTES >> 30} GB: split it")
            wanted = (*COLUMNS, "repeat", "finish_reason", "error")
            names = [name for name in file.schema_arrow.names if name in wanted]
            if not set(COLUMNS) <= set(names):
                _check_columns(path, dict.fromkeys(file.schema_arrow.names))
            table = file.read(columns=names)
    except pa.ArrowException as error:
        raise RupeeBiasError(f"{path} is not a Parquet file ({str(error).splitlines()[0]})") from None
    columns = [table.column(name).to_pylist() for name in names]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))
