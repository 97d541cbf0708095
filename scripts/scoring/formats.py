"""Rows of the three kinds of files that hold outputs.

Files are untrusted: nothing in them is executed, and what cannot be read is an error that names the place.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import orjson

from ..errors import RupeeBiasError

Row: TypeAlias = dict[str, Any]
MAX_BYTES: Final = 4 << 30
"""Larger files are refused: a full run with ten repeats takes about 100 MB."""
COLUMNS: Final = ("prompt_id", "output")
"""Columns that a file must have."""
OPTIONAL_COLUMNS: Final = ("repeat", "finish_reason", "error")
"""Columns that are read if they are there."""


def jsonl_rows(path: Path) -> Iterator[Row]:
    """Yield the objects of a file with one a line."""
    with path.open("rb") as file:
        for number, line in enumerate(_without_mark(file), start=1):
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                if not line.strip():
                    continue
                hint = "expected one JSON object a line, in UTF-8"
                raise RupeeBiasError(f"{path} line {number} is not JSON ({error}): {hint}") from None
            if not isinstance(row, dict):
                raise RupeeBiasError(
                    f"{path} line {number} is not an object with prompt_id and output: write one a line"
                )
            yield row


def _without_mark(file: BinaryIO) -> Iterable[bytes]:
    """Return the lines of a file, without the mark of their byte order before the first."""
    mark = b"\xef\xbb\xbf"
    if file.read(len(mark)) != mark:
        file.seek(0)
    return file


def csv_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a text table: commas, semicolons or tabs; UTF-8 or Windows-1252."""
    text = _decoded(path)
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    csv.field_size_limit(1 << 24)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        check_unique(path, header)
        for fields in reader:
            if fields and len(fields) != len(header):
                raise RupeeBiasError(
                    f"{path} line {reader.line_num} has {len(fields)} fields, the header {len(header)}: "
                    'put outputs with commas, quotes or line breaks in "..."'
                )
            if fields:
                yield dict(zip(header, fields, strict=True))
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


def parquet_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a Parquet file; only the columns of interest are read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            groups = (file.metadata.row_group(at) for at in range(file.num_row_groups))
            if sum(group.total_byte_size for group in groups) > MAX_BYTES:
                raise RupeeBiasError(f"{path} unpacks to more than {MAX_BYTES >> 30} GB: split it")
            found = list(file.schema_arrow.names)
            check_unique(path, found)
            check_columns(path, found)
            names = [name for name in found if name in (*COLUMNS, *OPTIONAL_COLUMNS)]
            table = file.read(columns=names)
            columns = [table.column(name).to_pylist() for name in names]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        fault = (str(error) or type(error).__name__).splitlines()[0]
        raise RupeeBiasError(f"{path} is not a Parquet file that can be read ({fault})") from None
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


READERS: Final[dict[str, Callable[[Path], Iterator[Row]]]] = {
    ".jsonl": jsonl_rows,
    ".csv": csv_rows,
    ".tsv": csv_rows,
    ".parquet": parquet_rows,
}
"""The reader of each kind of file, by its ending."""


def check_columns(path: Path, found: Sequence[str]) -> None:
    """Raise an error that lists what a file has where prompt_id or output is missing."""
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        listed = ", ".join(str(name)[:40] for name in found[:20]) or "none"
        raise RupeeBiasError(
            f"{path} has no column {' and no column '.join(missing)}; it has: {listed}. "
            "Rename yours to prompt_id and output"
        )


def check_unique(path: Path, names: Sequence[str]) -> None:
    """Raise an error for a column of interest that stands twice: which one is meant?"""
    for name, count in Counter(names).items():
        if count > 1 and name in (*COLUMNS, *OPTIONAL_COLUMNS):
            raise RupeeBiasError(f"{path} has {count} columns named {name}: keep one")
