"""Writes tables of the dataset as Parquet and reads them back.

Arrow arrays are made of buffers, never of Python lists: `pyarrow.array(list)` would import pandas
where it is installed, for half a second and 60 MB.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from rupeebias.errors import DatasetFolderError

from .columns import BlockTable, Codes, Column, Value
from .records import ColumnSpec, Kind

_ARROW_TYPE: Final[dict[Kind, Any]] = {
    "text": pa.string(),
    "category": pa.dictionary(pa.int32(), pa.string()),
    "int32": pa.int32(),
    "float64": pa.float64(),
}


def arrow_schema(specs: Sequence[ColumnSpec]) -> Any:
    """Return the Arrow schema of a dataset with these columns."""
    return pa.schema(
        [
            pa.field(spec.name, _ARROW_TYPE[spec.kind], metadata={"description": spec.description})
            for spec in specs
        ]
    )


def write_table(table: BlockTable, path: Path) -> None:
    """Write a table with one row group an axis, so that readers can skip the axes they leave out.

    Equal tables give equal bytes with one version of pyarrow.
    """
    schema = arrow_schema(table.specs)
    columns = [_arrow_array(table.columns[spec.name], spec.kind) for spec in table.specs]
    arrow = pa.Table.from_arrays(columns, schema=schema)
    start = 0
    with pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=[spec.name for spec in table.specs if spec.kind != "text"],
        # nobody filters sentences by range, and their statistics would be a fifth of the files
        write_statistics=[
            spec.name for spec in table.specs if not _holds_sentences(table.columns[spec.name])
        ],
    ) as writer:
        for rows in table.axis_rows:
            writer.write_table(arrow.slice(start, rows))
            start += rows


def check_file(path: Path, table: BlockTable) -> None:
    """Compare a file with its table, value by value, whatever the encoding.

    Raises DatasetFolderError if it is missing, is not Parquet, has other columns or rows, or for the first
    column and row with another value.
    """
    schema = arrow_schema(table.specs)
    try:
        found = pq.ParquetFile(path).read()
        if not found.schema.equals(schema):
            raise DatasetFolderError(f"{path}: columns or types differ: {_difference(found.schema, schema)}")
        if found.num_rows != table.rows:
            raise DatasetFolderError(f"{path}: {found.num_rows} rows, expected {table.rows}")
        for spec in table.specs:
            _check_column(path, table, spec, found[spec.name])
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise DatasetFolderError(f"{path}: cannot be read as Parquet: {error}") from None


def _check_column(path: Path, table: BlockTable, spec: ColumnSpec, found: Any) -> None:
    expected = pa.chunked_array([_arrow_array(table.columns[spec.name], spec.kind)])
    if spec.kind == "category":
        found, expected = found.cast(pa.string()), expected.cast(pa.string())
    if found.equals(expected):
        return
    values = zip(table.columns["prompt_id"], found.to_pylist(), expected.to_pylist(), strict=True)
    prompt_id, is_now, should_be = next(each for each in values if each[1] != each[2])
    raise DatasetFolderError(
        f"{path}: {spec.name} of {prompt_id} is {is_now!r}, expected {should_be!r}; build the dataset again"
    )


def loaded_bytes(table: BlockTable) -> int:
    """Return the size of the table in Arrow's memory with plain strings, as `datasets` loads it."""
    return sum(_column_bytes(table.columns[spec.name], spec.kind) for spec in table.specs)


def _column_bytes(column: Column, kind: Kind) -> int:
    rows = len(column.values) if column.codes is None else len(column.codes)
    validity = (rows + 7) // 8 if None in column.values else 0
    if kind in ("int32", "float64"):
        return validity + rows * (4 if kind == "int32" else 8)
    return validity + 4 * (rows + 1) + _text_bytes(column)


def _text_bytes(column: Column) -> int:
    words = ["" if value is None else str(value) for value in column.values]
    if column.codes is None:
        return len("".join(words).encode())
    lengths = np.array([len(word.encode()) for word in words])
    return int(lengths[column.codes].sum())


def _arrow_array(column: Column, kind: Kind) -> Any:
    if column.codes is None:
        return _strings(column.values)
    valid = np.array([value is not None for value in column.values])[column.codes]
    validity = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    if kind == "category":
        return _categories(column.values, column.codes, validity)
    dtype = np.int32 if kind == "int32" else np.float64
    numbers = np.array([0 if value is None else value for value in column.values], dtype=dtype)
    return _numbers(numbers[column.codes], validity, _ARROW_TYPE[kind])


def _categories(values: Sequence[Value], codes: Codes, validity: Any) -> Any:
    words = [value for value in values if value is not None]
    position = np.cumsum([value is not None for value in values], dtype=np.int32) - 1
    indices = _numbers(np.maximum(position, 0)[codes], validity, pa.int32())
    return pa.DictionaryArray.from_arrays(indices, _strings(words))


def _numbers(values: npt.NDArray[Any], validity: Any, arrow_type: Any) -> Any:
    return pa.Array.from_buffers(arrow_type, len(values), [validity, pa.py_buffer(values)])


def _strings(values: Sequence[Value]) -> Any:
    encoded = [str(value).encode() for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def _holds_sentences(column: Column) -> bool:
    return any(isinstance(value, str) and " " in value and len(value) > 40 for value in column.values)


def _difference(schema: Any, expected: Any) -> str:
    found, wanted = ({field.name: str(field.type) for field in each} for each in (schema, expected))
    for name in wanted:
        if found.get(name) != wanted[name]:
            return f"{name} is {found.get(name, 'missing')}, expected {wanted[name]}"
    extra = [name for name in found if name not in wanted]
    return f"unknown columns {', '.join(extra)}" if extra else "another order of columns"
