"""`outputs.parquet`: every answer of a run, written and read within limits.

Arrow arrays are made of buffers, never of Python lists: `pyarrow.array(list)` would import pandas.
"""

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .footer import read_footer
from .limits import MAX_CHARACTERS, MAX_IN_MEMORY
from .pages import check_pages

_TEXTS: Final = ("prompt_id", "output", "finish_reason")
_DICTIONARY_BYTES: Final = 8 << 20
_TOO_LONG: Final = "x" * (MAX_CHARACTERS + 1)
"""Stands for a text of so many bytes that it is not even decoded."""


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
    known = _Words()
    for batch in batches:
        rows.prompt_ids.extend(str(text) for text in known.of(batch.column(0)))
        rows.repeats.extend(_numbers(batch.column(1)).tolist())
        rows.outputs.extend(known.of(batch.column(2)))
        rows.finish_reasons.extend(known.of(batch.column(3)))
        rows.errors.extend(batch.column(4).to_pylist())
    return rows


class _Words:
    """The texts of dictionary columns, decoded within limits; batches with one dictionary share them."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], list[str | None]] = {}
        self._size = 0

    def of(self, column: Any) -> list[str | None]:
        dictionary = column.dictionary
        buffers = (buffer.address if buffer else 0 for buffer in dictionary.buffers())
        place = (dictionary.offset, len(dictionary), *buffers)
        if place not in self._known:
            self._known[place] = [*map(self._word, dictionary), None]
        words, codes = self._known[place], _numbers(column.indices)
        if column.null_count:
            codes = np.where(_valid(column.indices), codes, -1)
        return [words[code] for code in codes.tolist()]

    def _word(self, scalar: Any) -> str | None:
        """Return one text; only then is known what it takes: one odd letter makes each take four bytes."""
        if not scalar.is_valid:
            return None
        word: str = scalar.as_py() if scalar.as_buffer().size <= 4 * MAX_CHARACTERS else _TOO_LONG
        if len(word) > MAX_CHARACTERS:
            raise ValueError(f"a text in it has more characters than the {MAX_CHARACTERS:,} that are allowed")
        self._size += in_memory(word)
        if self._size > MAX_IN_MEMORY:
            raise ValueError(f"its distinct texts take more than {MAX_IN_MEMORY >> 20} MB of memory")
        return word


def in_memory(text: str) -> int:
    """Return how many bytes the letters of a text take in memory: one, two or four for each."""
    return sys.getsizeof(text) - sys.getsizeof("")


def _numbers(array: Any) -> npt.NDArray[np.int32]:
    return np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset :][: len(array)]


def _valid(array: Any) -> npt.NDArray[np.bool_]:
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little")
    return bits[array.offset :][: len(array)].astype(bool)
