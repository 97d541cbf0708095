"""Tables as files: CSV for programs, Markdown and LaTeX (for booktabs) for papers."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ...words import NOT_COMPUTED, digits_text, inert, markdown
from ...words import number as number_text
from ..runs import ReportRun
from .descriptions import descriptions
from .grid import Grid, GridRow, Number, dataset_grid, filled, tabled

_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": "'",
    "`": r"\textasciigrave{}",
    "–": "--",
    "Δ": r"$\Delta$",
    "ρ": r"$\rho$",
    "−": "$-$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "✓": r"$\checkmark$",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "-": "{-}",
}
"""Everything that TeX would take for a command or could not print; brackets and stars would be read as
options after a line's end, hyphens would join into dashes."""


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
    yield dataset_grid(runs[0].design)
    ready = tabled(runs)
    for description in descriptions(runs[0].design, runs[0].result["settings"]["definitions"]):
        grid = filled(description, ready)
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


def _texts(number: Number) -> tuple[str, str]:
    """Return the value, and " [low, high]" or nothing where there is no interval."""
    if number.low is None or number.high is None:
        return number_text(number.value, number.digits), ""
    ends = (number_text(end, number.interval_digits) for end in (number.low, number.high))
    return number_text(number.value, number.digits), f" [{', '.join(ends)}]"


def csv_text(grid: Grid) -> str:
    """Return a table as CSV with a header row.

    A column of the table becomes up to four: the value, `low` and `high` of its interval, and a `note` in
    words (lowest or highest, significance, names); those that no row fills are left out.
    """
    parts = [_parts(grid, at) for at in range(len(grid.columns))]
    header = [inert(heading) for heading in grid.headings]
    for column, names in zip(grid.columns, parts, strict=True):
        header += [inert(f"{column} {name}".rstrip()) for name in names]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in grid.rows:
        cells = [inert(label) for label in row.label_texts]
        for cell, names in zip(row.cells, parts, strict=True):
            filled = _filled(cell)
            cells += [filled[name] for name in names]
        writer.writerow(cells)
    return text.getvalue()


def _parts(grid: Grid, at: int) -> list[str]:
    filled = [_filled(row.cells[at]) for row in grid.rows]
    return [name for name in ("", "low", "high", "note") if name == "" or any(cell[name] for cell in filled)]


def _filled(number: Number | None) -> dict[str, str]:
    if number is None:
        return dict.fromkeys(("", "low", "high", "note"), "")
    ends = {
        name: "" if end is None else digits_text(end, number.interval_digits)
        for name, end in (("low", number.low), ("high", number.high))
    }
    return {"": digits_text(number.value, number.digits), **ends, "note": inert("; ".join(_words(number)))}


def _words(number: Number) -> Iterator[str]:
    if number.extreme:
        yield number.extreme
    if number.mark:
        yield number.mark.meaning
    if number.remark:
        yield number.remark


def markdown_text(grid: Grid) -> str:
    """Return a table as Markdown: caption, table, notes. The best value is bold."""
    headings = (*grid.headings, *grid.columns)
    rule = ["---"] * len(grid.headings) + ["---:"] * len(grid.columns)
    lines = [
        f"**{markdown(grid.caption)}**",
        "",
        _markdown_line(map(markdown, headings)),
        _markdown_line(rule),
    ]
    cells = ([*map(markdown, row.label_texts), *map(_markdown_cell, row.cells)] for row in grid.rows)
    lines += map(_markdown_line, cells)
    lines += [line for note in grid.notes for line in ("", markdown(note))]
    return "\n".join(lines) + "\n"


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(number: Number | None) -> str:
    if number is None:
        return NOT_COMPUTED
    value, interval = _texts(number)
    value = f"**{value}**" if number.extreme else value
    mark = markdown(number.mark.symbol) if number.mark else ""
    extra = f" {markdown(number.remark)}" if number.remark else ""
    return f"{value}{mark}{markdown(interval)}{extra}"


def latex_text(grid: Grid) -> str:
    r"""Return a table as a LaTeX `table*`; needs `booktabs`, `amssymb` and `graphicx`."""
    columns = "l" * len(grid.headings) + "r" * len(grid.columns)
    lines = [
        "% needs \\usepackage{booktabs,amssymb,graphicx} and \\usepackage[T1]{fontenc}",
        r"\begin{table*}",
        r"\centering",
        rf"\caption{{{latex_escaped(' '.join((grid.caption, *grid.notes)))}}}",
        rf"\label{{tab:{grid.name}}}",
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _latex_line(map(latex_escaped, (*grid.headings, *grid.columns))),
        r"\midrule",
        *_body(grid),
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _body(grid: Grid) -> Iterable[str]:
    published = False
    for row in grid.rows:
        if row.published and not published:
            yield r"\midrule"
        published = row.published
        yield _latex_line(_latex_cells(row))


def _latex_line(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _latex_cells(row: GridRow) -> Iterable[str]:
    yield from map(latex_escaped, row.label_texts)
    yield from map(_latex_cell, row.cells)


def _latex_cell(number: Number | None) -> str:
    if number is None:
        return latex_escaped(NOT_COMPUTED)
    value, interval = map(latex_escaped, _texts(number))
    value = rf"\textbf{{{value}}}" if number.extreme else value
    mark = latex_escaped(number.mark.symbol) if number.mark else ""
    extra = f" {latex_escaped(number.remark)}" if number.remark else ""
    return f"{value}{mark}{interval}{extra}"


def latex_escaped(text: str) -> str:
    """Return text that LaTeX prints as it is; what its fonts lack becomes a question mark."""
    return "".join(_SPECIAL.get(x, x if " " <= x <= "~" else _other(x)) for x in text)


def _other(character: str) -> str:
    """Latin letters with accents are safe in UTF-8 LaTeX; controls and other scripts are not."""
    if character.isspace():
        return " "
    return character if "À" <= character <= "ÿ" else "?"


FORMATS: Final[dict[str, Callable[[Grid], str]]] = {"csv": csv_text, "md": markdown_text, "tex": latex_text}
