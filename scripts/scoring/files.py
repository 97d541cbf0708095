"""Results as files: JSON, CSV and Markdown."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import orjson

from rupeebias.metric import COMPARISON_TABLES, HEADLINES, TABLES, Result

from ..errors import RupeeBiasError, UsageError
from .headline import headline_cells, headline_columns
from .paths import resolved

SCORES: Final = "scores.json"
"""The one file of a run directory that a result may replace."""


SCORED_TABLES: Final = ("headline", *TABLES)
"""Names of the CSV files of a result."""


class NamedResult(Protocol):
    """A run and its result, whatever else is known of it."""

    @property
    def name(self) -> str: ...
    @property
    def result(self) -> Result: ...


def write_json(path: Path, runs: Sequence[NamedResult]) -> None:
    """Write the result of one run, or a list of {"run": ..., "result": ...} for several."""
    content: Any = runs[0].result
    if len(runs) > 1:
        content = [{"run": run.name, "result": run.result} for run in runs]
    write_object(path, content)


def write_object(path: Path, content: Any) -> None:
    """Write one JSON object or list."""
    _write(path, orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n")


def write_csv(folder: Path, runs: Sequence[NamedResult]) -> None:
    """Write headline.csv and one file a table, each row with its run in the first column."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_rows(folder / "headline.csv", ("run", *HEADLINES), _headline_rows(runs))
    for name, table in TABLES.items():
        rows = ({"run": run.name, **row} for run in runs for row in run.result["tables"][name])
        _write_rows(folder / f"{name}.csv", ("run", *table.keys, *table.values), rows)


def write_comparison_csv(folder: Path, result: dict[str, Any]) -> None:
    """Write one file for each table of a comparison."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in COMPARISON_TABLES.items():
        _write_rows(folder / f"{name}.csv", (*table.keys, *table.values), result["tables"][name])


def _headline_rows(runs: Sequence[NamedResult]) -> Iterable[dict[str, Any]]:
    return ({"run": run.name, **{key: run.result[key] for key in HEADLINES}} for run in runs)


def _write_rows(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: inert(cell) for name, cell in row.items()} for row in rows)
    _write(path, text.getvalue())


def inert(cell: Any) -> Any:
    """Return a cell that a spreadsheet does not take for a formula: names of models are not ours."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def write_markdown(path: Path, runs: Sequence[NamedResult]) -> None:
    """Write the headline table and the warnings of each run."""
    columns = headline_columns(runs[0].result)
    lines = [_markdown_row(columns), _markdown_row("---" for _ in columns)]
    lines += [_markdown_row(headline_cells(run.name, run.result)) for run in runs]
    for run in runs:
        lines += ["", f"Warnings of {_escaped(run.name)}:", ""] if run.result["warnings"] else []
        lines += [f"- {_escaped(warning)}" for warning in run.result["warnings"]]
    _write(path, "\n".join(lines) + "\n")


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(text: str) -> str:
    for mark in "\\`|<>[]*_":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", " ")


def _write(path: Path, text: str) -> None:
    """Replace a file in one step: a full disk leaves the old one as it was. A link stays one."""
    place = resolved(path)
    if place.exists() and not place.is_file():
        _write_into(path, place, text)
        return
    temporary = place.with_name(f".{place.name}.new")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(place)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _cannot_write(path, error) from None


def _write_into(path: Path, place: Path, text: str) -> None:
    """Write to a device or a pipe, which must not be replaced."""
    try:
        with place.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise _cannot_write(path, error) from None


def _cannot_write(path: Path, error: OSError) -> RupeeBiasError:
    fault = error.strerror or str(error)
    return RupeeBiasError(f"{path} cannot be written ({fault}): free space, or choose another place")


def csv_files(folder: Path | None, names: Iterable[str]) -> list[Path]:
    """Return the files that tables of these names become in a folder; none without one."""
    return [] if folder is None else [folder / f"{name}.csv" for name in names]


def check_targets(paths: Sequence[Path], targets: Iterable[Path | None]) -> None:
    """Raise UsageError where a result would be written over what is scored, or over another part of it."""
    chosen = [(target, resolved(target)) for target in targets if target]
    for at, (target, place) in enumerate(chosen):
        if any(place == other for _, other in chosen[:at]):
            raise UsageError(f"{target} would be written twice: choose another file")
        for path in paths:
            own = resolved(path)
            inside = own.is_dir() and place.parent == own and place.exists() and place.name != SCORES
            if place == own or inside:
                raise UsageError(f"{target} belongs to what is scored: choose another file for the result")
