"""`outputs.jsonl.gz`: every answer of a run, written, and read within limits.

A line must be, byte for byte, what we write for the values in it. That one comparison refuses whatever JSON
leaves open: keys twice, NaN, long numbers, other keys, blanks, escapes that hide something.
"""

import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import orjson

from ..naming import file_name
from .submission import MAX_CHARACTERS, MAX_IN_MEMORY, MAX_UNPACKED, SubmissionManifest

IDENTITY: Final = (
    "model",
    "settings",
    "arm",
    "repeats",
    "selection",
    "prompts_sha256",
    "dataset_fingerprint",
)
"""What of a manifest makes it another submission, beside the answers."""
_KEYS: Final = ("model", "prompt_id", "repeat", "output", "finish_reason", "error")
"""What a line holds, in this order."""
_GZIP: Final = 31
"""zlib's code for a gzip header and trailer around 32 kB of window."""
_PIECE: Final = 1 << 20
_MAX_LINE: Final = 8 * MAX_CHARACTERS
"""Bytes of a line: each letter of the answer takes six at most, as an escape."""
_NOT_OURS: Final = "is not as `rupeebias submit` writes it"


@dataclass(frozen=True, slots=True)
class Answers:
    """The rows of the outputs, column by column."""

    prompt_ids: list[str]
    repeats: list[int]
    outputs: list[str | None]
    """None: no text came."""
    finish_reasons: list[str | None]
    errors: list[bool]
    """Which rows are failed calls."""


def write_answers(answers: Answers, model: str) -> bytes:
    """Return the bytes of `outputs.jsonl.gz`; equal answers give equal bytes with one version of zlib.

    Each line names the model, so that all submissions together are one table.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    columns = (
        answers.prompt_ids,
        answers.repeats,
        answers.outputs,
        answers.finish_reasons,
        answers.errors,
    )
    rows = (dict(zip(_KEYS, (model, *row), strict=True)) for row in zip(*columns, strict=True))
    packed = [packer.compress(_line(row)) for row in rows]
    return b"".join((*packed, packer.flush()))


def _line(row: dict[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def read_answers(data: bytes, model: str, most_rows: int) -> Answers:
    """Return the rows of `outputs.jsonl.gz` of a model, of a run that asked for `most_rows` answers.

    Raises ValueError, with a message for people, for anything that `write_answers` cannot have made and for
    more than the limits allow.
    """
    answers = Answers([], [], [], [], [])
    texts: dict[str | None, str | None] = {None: None}
    size = 0
    for number, line in enumerate(_lines(data), start=1):
        if number > most_rows:
            raise ValueError(f"it has more than the {most_rows:,} rows that were asked for")
        prompt_id, repeat, text, reason, is_error = _row(line, model, number)
        if text not in texts:  # a text that stands in many rows takes its memory once
            texts[text] = text
            size += in_memory(text)
            if size > MAX_IN_MEMORY:
                raise ValueError(f"its distinct texts take more than {MAX_IN_MEMORY >> 20} MB of memory")
        answers.prompt_ids.append(prompt_id)
        answers.repeats.append(repeat)
        answers.outputs.append(texts[text])
        answers.finish_reasons.append(reason)
        answers.errors.append(is_error)
    if not answers.prompt_ids:
        raise ValueError("it has no row")
    return answers


def _row(line: bytes, model: str, number: int) -> tuple[Any, ...]:
    """Return prompt_id, repeat, output, finish_reason and error of a line."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = None
    if type(row) is not dict or tuple(row) != _KEYS:
        raise ValueError(f"line {number:,} {_NOT_OURS}")
    told, *values = row.values()
    prompt_id, repeat, text, reason, is_error = values
    if not (
        type(prompt_id) is str
        and type(repeat) is int
        and (text is None or type(text) is str)
        and (reason is None or type(reason) is str)
        and type(is_error) is bool
        and type(told) is str
        and _line(row) == line
    ):
        raise ValueError(f"line {number:,} {_NOT_OURS}")
    if told != model:
        raise ValueError(f"line {number:,} is of another model than manifest.json names")
    if text is not None and len(text) > MAX_CHARACTERS:
        raise ValueError(f"line {number:,}: its text has more than the {MAX_CHARACTERS:,} letters allowed")
    return tuple(values)


def _lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines of packed data, each with its end, never holding much more than one of them."""
    rest = b""
    for piece in _unpacked(data):
        lines = (rest + piece).splitlines(keepends=True)  # at "\r", too, which stands in no line of ours
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if max(map(len, (*lines, rest))) > _MAX_LINE:
            raise ValueError(f"a line has more than {_MAX_LINE:,} bytes")
        yield from lines
    if rest:
        raise ValueError("it is damaged: its last line does not end")


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Yield what gzip data unpacks to, piece by piece; ValueError for damage and for more than the limit."""
    unpacker = zlib.decompressobj(_GZIP)
    left, size = data, 0
    try:
        while not unpacker.eof:
            piece = unpacker.decompress(left, _PIECE)
            left = unpacker.unconsumed_tail
            size += len(piece)
            if size > MAX_UNPACKED:
                raise ValueError(f"it unpacks to more than {MAX_UNPACKED >> 20} MB")
            if not piece and not left and not unpacker.eof:
                raise ValueError("it is damaged: it ends too early")
            yield piece
    except zlib.error as error:
        raise ValueError(f"it is not a gzip file that can be read ({error})") from None
    if unpacker.unused_data:
        raise ValueError("it is damaged: something follows its end")


def in_memory(text: str) -> int:
    """Return how many bytes the letters of a text take in memory: one, two or four for each."""
    return sys.getsizeof(text) - sys.getsizeof("")


def submission_name(manifest: SubmissionManifest, answers: Answers) -> str:
    """Return the name that the folder of a submission must have: model, `-` and 12 hexadecimal digits.

    The digits are a hash of what was asked and of every answer in dataset order, however they are packed.
    """
    identity = {name: getattr(manifest, name) for name in IDENTITY}
    # Many rows may share one long text: spelt out, they would take gigabytes.
    digests = {text: text and sha256(text.encode()).hexdigest() for text in set(answers.outputs)}
    rows = [
        answers.prompt_ids,
        answers.repeats,
        [digests[text] for text in answers.outputs],
        answers.finish_reasons,
        answers.errors,
    ]
    content = orjson.dumps([identity, rows], option=orjson.OPT_SORT_KEYS)
    return f"{file_name(manifest.model)}-{sha256(content).hexdigest()[:12]}"
