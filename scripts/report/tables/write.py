"""Tables as files."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ..data import ReportRun
from ..derived import report_tables
from .csv_format import csv_text
from .descriptions import descriptions
from .grid import TabledRun, dataset_grid, filled
from .latex_format import latex_text
from .markdown_format import markdown_text
from .records import Grid

FORMATS: Final[dict[str, Callable[[Grid], str]]] = {
    "csv": csv_text,
    "md": markdown_text,
    "tex": latex_text,
}


def write_tables(runs: Sequence[ReportRun], out: Path) -> list[Path]:
    """Write every table that the runs cover into the folder `out`, as CSV, Markdown and LaTeX.

    Returns the paths, in the order of the paper. `tables.tex` in the same folder compiles to all of them.
    """
    out.mkdir(parents=True, exist_ok=True)
    grids = list(table_grids(runs))
    written = [
        _write(out / f"{grid.name}.{suffix}", render(grid))
        for grid in grids
        for suffix, render in FORMATS.items()
    ]
    return [*written, _write(out / "tables.tex", _document(grids))]


def table_grids(runs: Sequence[ReportRun]) -> Iterator[Grid]:
    """Yield every table that the runs cover, in the order of the paper."""
    yield dataset_grid()
    tabled = [
        TabledRun(run.name, run.result, tables) for run, tables in zip(runs, report_tables(runs), strict=True)
    ]
    for description in descriptions():
        grid = filled(description, tabled)
        if grid:
            yield grid


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def _document(grids: Sequence[Grid]) -> str:
    lines = [
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[a4paper,margin=2cm,landscape]{geometry}",
        r"\usepackage{booktabs,amssymb,graphicx}",
        r"\begin{document}",
        *(rf"\input{{{grid.name}}}\clearpage" for grid in grids),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"
