"""Reading what is to be scored: a run directory, or a file of outputs in any of three formats.

Files are untrusted: nothing in them is executed, and what cannot be read is an error that names the place.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

import orjson

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design
from rupeebias.metric.errors import MetricInputError
from rupeebias.metric.layout import layout_of
from rupeebias.metric.parser import ParseMode
from rupeebias.metric.readings import Readings, read_outputs

from ..errors import EmptyRunError, RupeeBiasError, UsageError
from ..naming import is_simulated_name
from ..words import printable

Row: TypeAlias = dict[str, Any]
MAX_BYTES: Final = 4 << 30
"""Larger files are refused: a full run with ten repeats takes about 100 MB."""
COLUMNS: Final = ("prompt_id", "output")
"""Columns that a file must have."""
OPTIONAL_COLUMNS: Final = ("repeat", "finish_reason", "error")
"""Columns that are read if they are there."""
_NO_ERROR: Final = frozenset({"", "false", "0", "0.0", "none", "null", "nan"})
"""What stands in an error column where there was none, as spreadsheets and data frames write it."""


class RunFacts(NamedTuple):
    """What a sentence about a run must say besides its numbers."""

    model: str
    arm: str
    """System prompt arm."""
    asked: str
    """First and last day of its answers; empty where no file tells."""
    n_prompts: int
    """Different prompts that were answered."""
    n_repeats: int
    """How often each prompt was asked."""
    share_of_benchmark: float
    """Answered prompts of all that the benchmark has, 0 to 1."""

    @property
    def is_simulated(self) -> bool:
        """Whether a formula answered, and no model: it reads no instruction either."""
        return is_simulated_name(self.model)


class RunOutputs(NamedTuple):
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
    dataset_fingerprint: str | None = None
    """Fingerprint of the dataset whose prompts were asked; None: not known."""
    design: Design = DESIGN
    """The benchmark that the prompts are of."""
    asked: str = ""
    """First and last day of the answers; empty where no file tells."""

    @property
    def facts(self) -> RunFacts:
        """What a sentence about the run must say."""
        n_prompts = len(layout_of(self.design).prompt_rows.keys() & set(self.prompt_ids))
        n_repeats = max(self.n_repeats or 1, len(set(self.repeats or (0,))))
        share = n_prompts / self.design.n_prompts
        return RunFacts(self.name, self.arm, self.asked, n_prompts, n_repeats, share)


class ParsedRun(NamedTuple):
    """One run, its answers read."""

    label: str
    """Model or file name, and the arm if it is not the standard one, for a terminal."""
    path: Path
    outputs: RunOutputs
    readings: Readings


def parse_run(path: Path, mode: ParseMode = "lenient") -> ParsedRun:
    """Return a run with its answers read; RupeeBiasError naming the path where they cannot be scored."""
    run = read_run(path)
    try:
        readings = readings_of(run, mode)
    except MetricInputError as error:
        # the metric speaks to those who call it from Python
        message = str(error).replace("pass repeats=0, 1, ...", "number them in a column `repeat` (0, 1, ...)")
        raise RupeeBiasError(f"{path}: {message}") from error
    label = run.name if run.arm == "standard" else f"{run.name} ({run.arm})"
    return ParsedRun(printable(label), path, run, readings)


def readings_of(run: RunOutputs, mode: ParseMode = "lenient") -> Readings:
    """Return the readings of outputs; MetricInputError for some that cannot be scored."""
    return read_outputs(
        run.prompt_ids,
        run.outputs,
        repeats=run.repeats,
        finish_reasons=run.finish_reasons,
        errors=run.errors,
        expected=run.expected,
        n_repeats=run.n_repeats,
        mode=mode,
        design=run.design,
    )


def resolved(path: Path) -> Path:
    """Return the place that a path stands for, links followed; UsageError for a link to itself."""
    try:
        return path.resolve()
    except RuntimeError as error:
        raise UsageError(f"{path} is a link to itself") from error


def read_run(path: Path) -> RunOutputs:
    """Return the outputs of a run directory or of a .jsonl, .csv, .tsv or .parquet file."""
    if path.is_dir():
        return _from_directory(path)
    if not path.exists():
        raise UsageError(f"{path} does not exist: give a run directory or a file of outputs")
    if not path.is_file():
        raise UsageError(f"{path} is not a regular file")
    reader = READERS.get(path.suffix.lower())
    if path.suffix.lower() == ".json":
        raise UsageError(f"{path}: write one JSON object a line, with prompt_id and output, to a .jsonl file")
    if reader is None:
        raise UsageError(f"{path}: unknown kind of file; give a run directory or {', '.join(READERS)}")
    if path.stat().st_size > MAX_BYTES:
        raise RupeeBiasError(f"{path} is larger than {MAX_BYTES >> 30} GB: split it, or score a part of it")
    return _from_rows(path, list(reader(path)))


def _from_directory(folder: Path) -> RunOutputs:
    from ..runs.journal import latest_valid
    from ..runs.journal import read_outputs as read_records
    from ..runs.manifest import read_manifest

    manifest = read_manifest(folder)
    path = folder / "outputs.jsonl"
    if path.exists() and not path.is_file():
        raise RupeeBiasError(f"{path} is not a regular file")
    latest = latest_valid(read_records(path)) if path.exists() else {}
    if not latest:
        raise EmptyRunError(f"{folder} has no outputs yet: run `rupeebias generate` to its end")
    ids, repeats = map(list, zip(*latest, strict=True))
    records = list(latest.values())
    return RunOutputs(
        name=manifest.identity.model,
        prompt_ids=ids,
        outputs=[record.get("output") for record in records],
        repeats=repeats,
        finish_reasons=_reasons(records),
        errors=_errors(records),
        expected=manifest.prompt_ids() or sorted(set(ids)),
        n_repeats=manifest.repeats,
        arm=manifest.identity.arm,
        dataset_fingerprint=manifest.identity.dataset_fingerprint,
        design=manifest.identity.design,
        asked=_days(manifest.created_at, manifest.updated_at),
    )


def _days(first: str, last: str) -> str:
    """Return "2026-11-30 to 2026-12-01", or one day alone."""
    days = dict.fromkeys(time[:10] for time in (first, last) if time)
    return " to ".join(days)


def _from_rows(path: Path, rows: list[Row]) -> RunOutputs:
    if not rows:
        raise RupeeBiasError(f"{path} has no rows: nothing to score")
    try:
        ids, outputs = ([row[name] for row in rows] for name in COLUMNS)
    except KeyError as missing:
        check_columns(path, list(dict.fromkeys(name for row in rows for name in row)))
        at = next(at for at, row in enumerate(rows, start=1) if missing.args[0] not in row)
        raise RupeeBiasError(f"{path}: row {at} has no {missing}") from None
    if not any(len(row) > len(COLUMNS) for row in rows):
        return RunOutputs(path.stem, ids, outputs)
    return RunOutputs(
        name=path.stem,
        prompt_ids=ids,
        outputs=outputs,
        repeats=_repeats(path, rows) if any("repeat" in row for row in rows) else None,
        finish_reasons=_reasons(rows),
        errors=_errors(rows),
    )


def _reasons(rows: Sequence[Row]) -> list[str | None]:
    given = [row.get("finish_reason") for row in rows]
    return [reason if isinstance(reason, str) else None for reason in given]


def _errors(rows: Sequence[Row]) -> list[bool]:
    cells = [row.get("error") for row in rows]
    return [cell is not None and _is_error(cell) for cell in cells]


def _is_error(cell: Any) -> bool:
    """Tell whether a record's error says anything: "False" in a CSV file does not."""
    return cell is not None and str(cell).strip().casefold() not in _NO_ERROR


def _repeats(path: Path, rows: Sequence[Row]) -> list[int]:
    repeats = [_repeat(row.get("repeat")) for row in rows]
    if None in repeats:
        at = repeats.index(None)
        given = repr(rows[at].get("repeat"))[:40]
        raise RupeeBiasError(f"{path}: row {at + 1} has repeat {given}; every row needs 0, 1, 2, ...")
    return [repeat for repeat in repeats if repeat is not None]


def _repeat(cell: Any) -> int | None:
    """Return a repeat number, None for what is none: 1, "1" and 1.0 are, 1.7, True and "" are not."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        number = float(cell)
    except ValueError:
        return None
    return int(number) if number.is_integer() and 0 <= number < 1e9 else None


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
