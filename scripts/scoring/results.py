"""Results as files: JSON, CSV and Markdown."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from rupeebias.metric import COMPARISON_TABLES, TABLES

from ..errors import RupeeBiasError, UsageError
from ..files import write_file
from ..words import inert, markdown, markdown_table
from .headline import Headlined, headline_cells, headline_columns
from .read import resolved

SCORES: Final = "scores.json"
"""The one file of a run directory that a result may replace."""
SCORED_TABLES: Final = ("headline", *TABLES)
"""Names of the CSV files of a result."""


def flat(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the headline values of a result, without its tables, settings and warnings."""
    return {name: value for name, value in result.items() if not isinstance(value, dict | list)}


def write_json(path: Path, runs: Sequence[Headlined]) -> None:
    """Write the result of one run, or a list of {"run": ..., "result": ...} for several."""
    content: Any = runs[0].result
    if len(runs) > 1:
        content = [{"run": run.name, "result": run.result} for run in runs]
    write_object(path, content)


def write_object(path: Path, content: Any) -> None:
    """Write one JSON object or list."""
    _write(path, orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n")


def write_csv(folder: Path, runs: Sequence[Headlined]) -> None:
    """Write headline.csv and one file a table, each row with its run in the first column."""
    headlines = [{"run": run.name, **flat(run.result)} for run in runs]
    columns = dict.fromkeys(name for row in headlines for name in row)  # benchmarks differ in languages
    _write_rows(folder / "headline.csv", tuple(columns), headlines)
    for name, table in TABLES.items():
        rows = ({"run": run.name, **row} for run in runs for row in run.result["tables"][name])
        _write_rows(folder / f"{name}.csv", ("run", *table.keys, *table.values), rows)


def write_comparison_csv(folder: Path, result: Mapping[str, Any]) -> None:
    """Write one file for each table of a comparison."""
    for name, table in COMPARISON_TABLES.items():
        _write_rows(folder / f"{name}.csv", (*table.keys, *table.values), result["tables"][name])


def _write_rows(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: inert(cell) for name, cell in row.items()} for row in rows)
    _write(path, text.getvalue())


def write_markdown(path: Path, runs: Sequence[Headlined]) -> None:
    """Write the headline table and the warnings of each run."""
    rows = [headline_cells(run) for run in runs]
    lines = list(markdown_table(headline_columns(runs), rows))
    for run in runs:
        lines += ["", f"Warnings of {markdown(run.name)}:", ""] if run.result["warnings"] else []
        lines += [f"- {markdown(warning)}" for warning in run.result["warnings"]]
    _write(path, "\n".join(lines) + "\n")


def _write(path: Path, text: str) -> None:
    """Replace a file in one step; write into a device or a pipe, which must not be replaced."""
    place = resolved(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists() and not place.is_file():
            with place.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        else:
            write_file(place, text)
    except OSError as error:
        fault = error.strerror or str(error)
        raise RupeeBiasError(
            f"{path} cannot be written ({fault}): free space, or choose another place"
        ) from None


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
