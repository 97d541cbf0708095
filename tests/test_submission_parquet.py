"""A Parquet file that anybody may have made: refused before it can take memory, time or the process."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from submission_runs import put_outputs, write_run

from rupeebias.hub.submission.answers import Answers, read_answers, write_answers
from rupeebias.hub.submission.api import build_submission, check_submission
from rupeebias.hub.submission.footer import read_footer
from rupeebias.metric.layout import prompt_rows

IDS = list(prompt_rows())
SCHEMA = pa.schema(
    [
        pa.field("prompt_id", pa.string(), nullable=False),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("output", pa.string()),
        pa.field("finish_reason", pa.string()),
        pa.field("error", pa.bool_(), nullable=False),
    ]
)


def answers(outputs: list[str | None]) -> Answers:
    n = len(outputs)
    return Answers(IDS[:n], [0] * n, outputs, [None if at % 3 else "stop" for at in range(n)], [False] * n)


def by_hand(outputs: list[str | None], schema: pa.Schema = SCHEMA, **options: Any) -> bytes:
    """Write what our writer does not, with pyarrow's own."""
    rows = answers(outputs)
    columns = [rows.prompt_ids, rows.repeats, rows.outputs, rows.finish_reasons, rows.errors]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=False)]
    file = io.BytesIO()
    settings = {"compression": "zstd", "store_schema": False, "write_statistics": False} | options
    pq.write_table(pa.table(arrays, schema=schema), file, **settings)
    return file.getvalue()


def varint(number: int, length: int | None = None) -> bytes:
    """Return a whole number as Thrift writes it, drawn out to `length` bytes."""
    value = number << 1
    groups: list[int] = []
    while value or not groups:
        groups.append(value & 127)
        value >>= 7
    groups += [0] * ((length or 0) - len(groups))
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def swapped(data: bytes, old: int, new: int) -> bytes:
    """Replace a number wherever it stands, without moving anything."""
    was = varint(old)
    assert was in data
    return data.replace(was, varint(new, len(was)))


@pytest.mark.parametrize(
    "outputs",
    [
        ["### 5 %", None, "", "### 5 %", "अ\n\0", "x" * 20_000],
        [None, None],
        [f"### {at} INR" for at in range(30_000)],
        # more text than a dictionary page holds, so that plain pages follow
        [Random(at).randbytes(200).hex() for at in range(30_000)],
    ],
)
def test_what_is_written_is_read_back(outputs: list[str | None]) -> None:
    data = write_answers(answers(outputs))
    assert read_answers(data, 1) == answers(outputs)
    assert pq.read_table(io.BytesIO(data)).column("output").to_pylist() == outputs
    assert write_answers(answers(outputs)) == data


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compression": "snappy"}, "not packed with zstd"),
        ({"compression": "gzip"}, "not packed with zstd"),
        ({"store_schema": True}, "what only a hand-made file does"),
        ({"write_statistics": True}, "what only a hand-made file does"),
        ({"data_page_version": "2.0"}, "encoded otherwise|another kind"),
        (
            {"column_encoding": {"output": "DELTA_BYTE_ARRAY"}, "use_dictionary": False},
            "damaged|encoded otherwise",
        ),
        (
            {"column_encoding": {"repeat": "DELTA_BINARY_PACKED"}, "use_dictionary": False},
            "damaged|otherwise",
        ),
        ({"row_group_size": 1}, "1 to 100 row groups"),
    ],
)
def test_other_ways_of_writing(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_answers(by_hand([f"{at}" for at in range(200)], **options), 1)


@pytest.mark.parametrize(
    ("at", "field"),
    [
        (0, pa.field("prompt_id", pa.string())),
        (0, pa.field("PROMPT_ID", pa.string(), nullable=False)),
        (1, pa.field("repeat", pa.int64(), nullable=False)),
        (1, pa.field("repeat", pa.date32(), nullable=False)),
        (2, pa.field("output", pa.binary())),
        (2, pa.field("output", pa.list_(pa.string()))),
        (2, pa.field("output", pa.json_())),
        (2, pa.field("output", pa.string(), metadata={"PARQUET:field_id": "3"})),
        (4, pa.field("error", pa.int32(), nullable=False)),
    ],
)
def test_other_columns(at: int, field: pa.Field) -> None:
    schema = SCHEMA.set(at, field)
    file = io.BytesIO()
    settings: dict[str, Any] = {"compression": "zstd", "store_schema": False, "write_statistics": False}
    table = pa.table(
        [pa.nulls(1, each.type) if each.nullable else _one(each.type) for each in schema], schema=schema
    )
    pq.write_table(table, file, **settings)
    if field.metadata:  # the number of a field changes nothing
        assert read_answers(file.getvalue(), 1).outputs == [None]
        return
    with pytest.raises(ValueError, match=r"its columns?|what only a hand-made"):
        read_answers(file.getvalue(), 1)


def _one(kind: pa.DataType) -> pa.Array:
    return pa.array([0], pa.int32()).cast(kind)


@pytest.mark.parametrize("change", [lambda s: s.append(pa.field("more", pa.string())), lambda s: s.remove(2)])
def test_more_or_fewer_columns(change: Callable[[pa.Schema], pa.Schema]) -> None:
    schema = change(SCHEMA)
    table = pa.table(
        [pa.nulls(1, each.type) if each.nullable else _one(each.type) for each in schema], schema=schema
    )
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd", store_schema=False, write_statistics=False)
    with pytest.raises(ValueError, match="its columns are prompt_id, repeat, "):
        read_answers(file.getvalue(), 1)


def test_more_rows_than_were_asked_for() -> None:
    twice = Answers(IDS * 2, [0] * 78_300, ["x"] * 78_300, [None] * 78_300, [False] * 78_300)
    data = write_answers(twice)
    assert len(read_answers(data, 2).outputs) == 78_300
    with pytest.raises(ValueError, match=r"it has 78,300 rows: 1 times 39,150 prompts give at most 39,150"):
        read_answers(data, 1)


def test_a_text_beyond_the_limit() -> None:
    for text in ("x" * 20_001, "x" * 90_000, "अ" * 20_001):
        with pytest.raises(ValueError, match="more characters than the 20,000 that are allowed"):
            read_answers(write_answers(answers(["short", text])), 1)


def test_one_odd_letter_makes_a_text_take_four_times_its_size() -> None:
    # 3,000 texts of 20,000 letters: 60 MB as they are, and 240 MB once a letter beyond the usual ones is in
    plain = [f"{at:05}" + "a" * 19_990 for at in range(3_000)]
    assert len(read_answers(by_hand([*plain]), 1).outputs) == 3_000
    with pytest.raises(ValueError, match="its distinct texts take more than 128 MB of memory"):
        read_answers(by_hand([text + "\U0001f600" for text in plain]), 1)


def test_text_that_is_not_utf8() -> None:
    data = by_hand(["zzzzzz"], use_dictionary=False, compression_level=1)
    assert data.count(b"zzzzzz") == 1
    with pytest.raises(ValueError, match="Invalid UTF8"):
        read_answers(data.replace(b"zzzzzz", b"zz\xff\xfezz"), 1)


BOMBS: dict[str, Callable[[], bytes]] = {
    # 270 MB of one letter in plain pages, packed to some kB
    "plain": lambda: by_hand(["x" * 18_000] * 15_000, use_dictionary=False),
    # one answer of 18,000 letters in a dictionary, which 15,000 rows point to: 270 MB if spelt out
    "dictionary": lambda: by_hand(["x" * 18_000] * 15_000),
    # a single text of 270 MB
    "one text": lambda: by_hand(["x" * 270_000_000], use_dictionary=False),
}


def lying(data: bytes) -> bytes:
    """Understate the unpacked size of the answers in the footer."""
    size = pq.read_metadata(io.BytesIO(data)).row_group(0).column(2).total_uncompressed_size
    end = len(data) - 8
    start = end - int.from_bytes(data[-8:-4], "little")
    told = data[:start] + swapped(data[start:end], size, 1_000) + data[end:]
    assert pq.read_metadata(io.BytesIO(told)).row_group(0).column(2).total_uncompressed_size == 1_000
    return told


@pytest.mark.parametrize("footer", ["honest", "understating"])
@pytest.mark.parametrize("kind", BOMBS)
def test_a_few_kilobytes_do_not_fill_the_memory(tmp_path: Path, kind: str, footer: str) -> None:
    data = BOMBS[kind]()
    path = tmp_path / "bomb.parquet"
    path.write_bytes(data if footer == "honest" else lying(data))
    assert path.stat().st_size < 800_000
    code = (
        "import resource, sys; from pathlib import Path; import pyarrow.parquet\n"
        "from rupeebias.hub.submission.answers import read_answers\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10\n"
        "before = peak()\n"
        "try: print(len(read_answers(Path(sys.argv[1]).read_bytes(), 1).outputs))\n"
        "except ValueError as error: print(error)\n"
        "print(peak() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    outcome, megabytes = done.stdout.splitlines()
    # pointing to one text from every row is no harm: it takes its memory once
    assert outcome == ("15000" if kind == "dictionary" else "it unpacks to more than 96 MB")
    assert int(megabytes) < 60


def test_a_page_that_understates_its_size() -> None:
    data = by_hand(["x" * 50_000], use_dictionary=False)
    chunk = read_footer(data, 1).chunks[2]
    page = data[chunk.start : chunk.end]
    honest = len("x" * 50_000) + 4 + 6  # the text, its length, and the run that says it is there
    with pytest.raises(ValueError, match="Destination buffer is too small"):
        read_answers(data[: chunk.start] + swapped(page, honest, 100) + data[chunk.end :], 1)


def test_footers_that_lie_about_themselves() -> None:
    data = write_answers(answers(["a", "b"]))
    for size in (0, 1, 2**31, 2**32 - 1, len(data), 70_000):
        with pytest.raises(ValueError, match=r"footer|damaged|not written"):
            read_answers(data[:-8] + size.to_bytes(4, "little") + b"PAR1", 1)
    for cut in (0, 3, 11, len(data) - 1):
        with pytest.raises(ValueError, match="not a Parquet file"):
            read_answers(data[:cut], 1)


def test_damage_anywhere_is_a_plain_error() -> None:
    random = Random(1)
    data = write_answers(answers([f"### {at} INR" if at % 3 else None for at in range(40)]))
    whole = read_answers(data, 1)
    outcomes = []
    for _ in range(2_000):
        spoilt = bytearray(data)
        for _ in range(random.randint(1, 3)):
            spoilt[random.randrange(len(data))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
        try:
            outcomes.append(len(read_answers(bytes(spoilt), 1).outputs) == len(whole.outputs))
        except ValueError as error:
            outcomes.append(str(error).isascii())
    assert all(outcomes)


@pytest.mark.parametrize("codec", range(9))
def test_a_codec_that_would_end_the_process(tmp_path: Path, codec: int) -> None:
    folder = build_submission(write_run(tmp_path / "run"), tmp_path)
    data = (folder / "outputs.parquet").read_bytes()
    # field 4 of the column's metadata: 0x15 is "the next field, a whole number", 12 is zstd (6) doubled
    assert data.count(b"\x15\x0c\x16") == 5
    put_outputs(folder, data.replace(b"\x15\x0c\x16", bytes([0x15, 2 * codec + 1, 0x16])))
    assert [each.message for each in check_submission(folder).problems if each.fatal] == [
        "outputs.parquet: it is not packed with zstd"
    ]
