"""Reading what is to be scored: a run directory, or a file of outputs in any of three formats."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..errors import RupeeBiasError, UsageError
from .formats import COLUMNS, MAX_BYTES, READERS, Row, check_columns

_NO_ERROR: Final = frozenset({"", "false", "0", "0.0", "none", "null", "nan"})
"""What stands in an error column where there was none, as spreadsheets and data frames write it."""


class EmptyRunError(RupeeBiasError):
    """A run directory without a single output yet."""


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
    from ..runs.manifest import read_manifest
    from ..runs.outputs import latest_valid, read_outputs

    manifest = read_manifest(folder)
    path = folder / "outputs.jsonl"
    if path.exists() and not path.is_file():
        raise RupeeBiasError(f"{path} is not a regular file")
    latest = latest_valid(read_outputs(path)) if path.exists() else {}
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
    )


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
