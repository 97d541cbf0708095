"""Outputs that anybody may have made: refused before they can take memory, time or the process."""

import gzip
import json
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from submission_runs import put_outputs, write_run

from rupeebias.hub.answers import Answers, read_answers, write_answers
from rupeebias.hub.build import build_submission
from rupeebias.hub.check import check_submission
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of

MODEL = "acme/one"
IDS = layout_of(DESIGN).prompt_ids


def answers(outputs: list[str | None]) -> Answers:
    n = len(outputs)
    return Answers(IDS[:n], [0] * n, outputs, [None if at % 3 else "stop" for at in range(n)], [False] * n)


def read(data: bytes, most_rows: int = 39_150) -> Answers:
    return read_answers(data, MODEL, most_rows)


def lines(*rows: bytes) -> bytes:
    return gzip.compress(b"".join(row + b"\n" for row in rows))


def row(**changes: Any) -> bytes:
    usual = {
        "model": MODEL,
        "prompt_id": IDS[0],
        "repeat": 0,
        "output": "### 5 INR",
        "finish_reason": "stop",
        "error": False,
    }
    return json.dumps(usual | changes, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "outputs",
    [
        ["### 5 %", None, "", "### 5 %", "अ\n\0\u2028", "x" * 20_000, "\0" * 20_000],
        [None, None],
        [f"### {at} INR" for at in range(30_000)],
        [Random(at).randbytes(200).hex() for at in range(5_000)],
    ],
)
def test_what_is_written_is_read_back(outputs: list[str | None]) -> None:
    data = write_answers(answers(outputs), MODEL)
    assert read(data) == answers(outputs)
    table = [json.loads(line) for line in gzip.decompress(data).splitlines()]
    assert [each["output"] for each in table] == outputs
    assert write_answers(answers(outputs), MODEL) == data


def test_a_line_as_it_should_be() -> None:
    assert read(lines(row())) == Answers([IDS[0]], [0], ["### 5 INR"], ["stop"], [False])


HOSTILE_LINES = {
    "a key twice": row().replace(b'{"model"', b'{"error":true,"model"'),
    "the last key twice": row().replace(b'"error":false', b'"error":true,"error":false'),
    "another key": row(score=1),
    "a key missing": row().replace(b',"error":false', b""),
    "another order": b'{"prompt_id":"' + IDS[0].encode() + b'","model":"acme/one"}',
    "NaN": row().replace(b'"repeat":0', b'"repeat":NaN'),
    "infinity": row().replace(b'"repeat":0', b'"repeat":1e999'),
    "a long number": row().replace(b'"repeat":0', b'"repeat":' + b"9" * 4_000),
    "a number of 25 digits": row().replace(b'"repeat":0', b'"repeat":' + b"9" * 25),
    "a fraction": row(repeat=0.0),
    "minus zero": row().replace(b'"repeat":0', b'"repeat":-0'),
    "a truth value as a number": row(repeat=False),
    "a number as a truth value": row(error=0),
    "a number as a text": row(output=5),
    "a list as a text": row(output=["### 5 INR"]),
    "no prompt_id": row(prompt_id=None),
    "an object as a reason": row(finish_reason={}),
    "blanks": row().replace(b":0", b": 0"),
    "an escape that hides a letter": row().replace(b"### 5", b"\\u0023## 5"),
    "half a character": row().replace(b"### 5", b"\\ud800"),
    "no UTF-8": row().replace(b"### 5", b"\xff"),
    "nesting": b"[" * 100_000 + b"]" * 100_000,
    "nesting in a text's place": row().replace(b'"### 5 INR"', b"[" * 500 + b"]" * 500),
    "no object": b'"text"',
    "a list": b"[1]",
    "an empty line": b"",
    "a byte order mark": b"\xef\xbb\xbf" + row(),
    "a carriage return": row() + b"\r",
    "a method's name": row().replace(b'"model"', b'"self"'),
}


@pytest.mark.parametrize("kind", HOSTILE_LINES)
def test_lines_that_we_do_not_write(kind: str) -> None:
    with pytest.raises(
        ValueError, match=r"line 2 is not as `rupeebias submit` writes it|more than 160,000 bytes"
    ):
        read(lines(row(), HOSTILE_LINES[kind]))


def test_answers_of_another_model_than_the_manifest_names() -> None:
    with pytest.raises(ValueError, match="line 1 is of another model"):
        read(lines(row(model="acme/two")))


def test_more_rows_than_were_asked_for() -> None:
    data = write_answers(answers(["x"] * 11), MODEL)
    assert len(read(data, 11).outputs) == 11
    with pytest.raises(ValueError, match="it has more than the 10 rows that were asked for"):
        read(data, 10)
    with pytest.raises(ValueError, match="it has no row"):
        read(gzip.compress(b""))


def test_a_text_beyond_the_limit() -> None:
    for text in ("x" * 20_001, "अ" * 20_001):
        with pytest.raises(ValueError, match="line 2: its text has more than the 20,000 letters allowed"):
            read(write_answers(answers(["short", text]), MODEL))
    with pytest.raises(ValueError, match="a line has more than 160,000 bytes"):
        read(write_answers(answers(["short", "x" * 200_000]), MODEL))


def test_one_odd_letter_makes_a_text_take_four_times_its_size() -> None:
    # 3,000 texts of 20,000 letters: 60 MB as they are, and 240 MB once a letter beyond the usual ones is in
    plain = [f"{at:05}" + "a" * 19_990 for at in range(3_000)]
    assert len(read(write_answers(answers([*plain]), MODEL)).outputs) == 3_000
    with pytest.raises(ValueError, match="its distinct texts take more than 128 MB of memory"):
        read(write_answers(answers([text + "\U0001f600" for text in plain]), MODEL))


def test_files_that_are_not_one_gzip_member() -> None:
    data = lines(row())
    for text, message in (
        (b"", "ends too early"),
        (data[:-1], "ends too early"),
        (data[:20], "ends too early"),
        (gzip.decompress(data), "not a gzip file"),
        (zlib.compress(row() + b"\n"), "not a gzip file"),
        (data + data, "something follows its end"),
        (data + b"\0", "something follows its end"),
        (data[:-8] + b"\0" * 8, "not a gzip file"),  # the checksum
        (gzip.compress(row()), "its last line does not end"),
    ):
        with pytest.raises(ValueError, match=message):
            read(text)


def _repeated(piece: bytes, count: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(piece) for _ in range(count)), packer.flush()])


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    # 1 GB of one letter, of blank lines and of whole rows
    "one text": (lambda: _repeated(b"x" * (1 << 20), 1024), "a line has more than 160,000 bytes"),
    "blank lines": (lambda: _repeated(b"\n" * (1 << 20), 1024), "line 1 is not as"),
    "rows": (lambda: _repeated((row() + b"\n") * 8_000, 1024), "more than the 39,150 rows"),
    # 300 MB in long rows of one text each, as many as may be
    "long rows": (
        lambda: _repeated((row(output="x" * 19_000) + b"\n") * 50, 320),
        "it unpacks to more than 256 MB",
    ),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_few_kilobytes_fill_neither_memory_nor_time(tmp_path: Path, kind: str) -> None:
    made, message = BOMBS[kind]
    path = tmp_path / "bomb.gz"
    path.write_bytes(made())
    assert path.stat().st_size < 5_000_000
    code = (
        "import resource, sys, time; from pathlib import Path\n"
        "from rupeebias.hub.answers import read_answers\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10\n"
        "data = Path(sys.argv[1]).read_bytes(); before, start = peak(), time.process_time()\n"
        "try: read_answers(data, 'acme/one', 39_150)\n"
        "except ValueError as error: print(error)\n"
        "print(peak() - before); print(time.process_time() - start)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    outcome, megabytes, seconds = done.stdout.splitlines()
    assert message in outcome
    assert int(megabytes) < 60
    assert float(seconds) < 3  # half a second on a quiet machine


def test_damage_anywhere_is_a_plain_error() -> None:
    random = Random(1)
    data = write_answers(answers([f"### {at} INR" if at % 3 else None for at in range(40)]), MODEL)
    refused = 0
    for _ in range(2_000):
        spoilt = bytearray(data)
        for _ in range(random.randint(1, 3)):
            spoilt[random.randrange(len(data))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
        try:
            read(bytes(spoilt))
        except ValueError:
            refused += 1
    assert refused > 1_800  # what is left hit a byte of the header that nobody reads, or changed nothing


def test_a_full_run_is_read_in_no_time(tmp_path: Path) -> None:
    texts: list[str | None] = [f"### {Random(at).randrange(10**7)} INR" for at in range(39_150)]
    data = write_answers(answers(texts), MODEL)
    assert len(data) < 400_000
    start = time.process_time()
    assert read(data).outputs == texts
    assert time.process_time() - start < 1.5  # 0.1 s on a quiet machine


def test_outputs_in_another_form_are_told_by_their_name(tmp_path: Path) -> None:
    folder = build_submission(write_run(tmp_path / "run"), tmp_path)
    put_outputs(folder, b"PAR1" + b"\0" * 100 + b"PAR1")
    [message] = [each.message for each in check_submission(folder).problems if each.fatal]
    assert message.startswith("outputs.jsonl.gz: it is not a gzip file that can be read")
