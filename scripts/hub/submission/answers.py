"""`outputs.parquet`: every answer of a run, written and read within limits.

Arrow arrays are made of buffers, never of Python lists: `pyarrow.array(list)` would import pandas.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .footer import read_footer
from .limits import MAX_CHARACTERS
from .pages import check_pages

_TEXTS: Final = ("prompt_id", "output", "finish_reason")
_DICTIONARY_BYTES: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Answers:
    """The rows of `outputs.parquet`, column by column."""

    prompt_ids: list[str]
    repeats: list[int]
    outputs: list[str | None]
    """None: no text came."""
    finish_reasons: list[str | None]
    errors: list[bool]
    """Which rows are failed calls."""


def write_answers(answers: Answers) -> bytes:
    """Return the bytes of `outputs.parquet`; equal answers give equal bytes with one version of pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [
        pa.field("prompt_id", pa.string(), nullable=False),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("output", pa.string()),
        pa.field("finish_reason", pa.string()),
        pa.field("error", pa.bool_(), nullable=False),
    ]
    repeats = np.array(answers.repeats, dtype=np.int32)
    flags = np.packbits(np.array(answers.errors, dtype=bool), bitorder="little")
    columns = [
        _texts(answers.prompt_ids),
        pa.Array.from_buffers(pa.int32(), len(repeats), [None, pa.py_buffer(repeats)]),
        _texts(answers.outputs),
        _texts(answers.finish_reasons),
        pa.Array.from_buffers(pa.bool_(), len(answers.errors), [None, pa.py_buffer(flags)]),
    ]
    repetitive = ["repeat", "output", "finish_reason"] + ["prompt_id"] * bool(repeats.any())
    file = io.BytesIO()
    pq.write_table(
        pa.Table.from_arrays(columns, schema=pa.schema(fields)),
        file,
        compression="zstd",
        use_dictionary=repetitive,
        dictionary_pagesize_limit=_DICTIONARY_BYTES,
        write_statistics=False,
        store_schema=False,
    )
    return file.getvalue()


def _texts(values: Sequence[str | None]) -> Any:
    import pyarrow as pa

    encoded = [b"" if value is None else value.encode() for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    valid = np.array([value is not None for value in values], dtype=bool)
    validity = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def read_answers(data: bytes, n_repeats: int) -> Answers:
    """Return the rows of `outputs.parquet`, of a run that asked each prompt `n_repeats` times.

    Raises ValueError, with a message for people, for anything that `write_answers` cannot have made and for
    more than the limits allow; those are checked before anything is unpacked.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    footer = read_footer(data, n_repeats)
    check_pages(data, footer)
    try:
        # Read as dictionaries, a text that stands in many rows takes its memory once; in one batch,
        # as each would bring the whole dictionary again.
        with pq.ParquetFile(pa.BufferReader(pa.py_buffer(data)), read_dictionary=list(_TEXTS)) as file:
            batches = list(file.iter_batches(batch_size=footer.n_rows, use_threads=False))
        for batch in batches:
            batch.validate(full=True)  # Arrow's reader lets indices through that point nowhere
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as error:
        fault = (str(error) or type(error).__name__).splitlines()[0][:120]
        raise ValueError(f"it is not a Parquet file that can be read ({fault})") from None
    if sum(batch.num_rows for batch in batches) != footer.n_rows:
        raise ValueError("it is damaged: its pages hold fewer rows than its footer says")
    try:
        return _joined(batches)
    except UnicodeDecodeError:
        raise ValueError("a text in it is not UTF-8") from None


def _joined(batches: Sequence[Any]) -> Answers:
    rows = Answers([], [], [], [], [])
    known: dict[tuple[int, ...], list[str | None]] = {}
    for batch in batches:
        rows.prompt_ids.extend(str(text) for text in _words(batch.column(0), known))
        rows.repeats.extend(_numbers(batch.column(1)).tolist())
        rows.outputs.extend(_words(batch.column(2), known))
        rows.finish_reasons.extend(_words(batch.column(3), known))
        rows.errors.extend(batch.column(4).to_pylist())
    return rows


def _words(column: Any, known: dict[tuple[int, ...], list[str | None]]) -> list[str | None]:
    """Return the texts of a dictionary column; batches with one dictionary share its texts."""
    dictionary = column.dictionary
    place = (dictionary.offset, len(dictionary), *(b.address if b else 0 for b in dictionary.buffers()))
    if place not in known:
        known[place] = [*_checked_lengths(dictionary.to_pylist()), None]
    words, codes = known[place], _numbers(column.indices)
    if column.null_count:
        codes = np.where(_valid(column.indices), codes, -1)
    return [words[code] for code in codes.tolist()]


def _checked_lengths(words: list[str | None]) -> list[str | None]:
    longest = max((len(word) for word in words if word), default=0)
    if longest > MAX_CHARACTERS:
        raise ValueError(f"its longest text has {longest:,} characters, at most {MAX_CHARACTERS:,} allowed")
    return words


def _numbers(array: Any) -> npt.NDArray[np.int32]:
    return np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset :][: len(array)]


def _valid(array: Any) -> npt.NDArray[np.bool_]:
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little")
    return bits[array.offset :][: len(array)].astype(bool)
