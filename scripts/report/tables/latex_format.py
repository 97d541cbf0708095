"""Tables as LaTeX, for booktabs."""

from collections.abc import Iterable
from typing import Final

from .records import Grid, GridRow, Number
from .text import NOT_COVERED, interval_text, label_texts, value_text

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


def latex_text(grid: Grid) -> str:
    r"""Return a table as a LaTeX `table*`; needs `booktabs`, `amssymb` and `graphicx`."""
    columns = "l" * len(grid.headings) + "r" * len(grid.columns)
    lines = [
        "% needs \\usepackage{booktabs,amssymb,graphicx} and \\usepackage[T1]{fontenc}",
        r"\begin{table*}",
        r"\centering",
        rf"\caption{{{escaped(' '.join((grid.caption, *grid.notes)))}}}",
        rf"\label{{tab:{grid.name}}}",
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(map(escaped, (*grid.headings, *grid.columns))),
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
        yield _line(_cells(row))


def _line(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _cells(row: GridRow) -> Iterable[str]:
    yield from map(escaped, label_texts(row))
    yield from map(_cell, row.cells)


def _cell(number: Number | None) -> str:
    if number is None:
        return escaped(NOT_COVERED)
    value = escaped(value_text(number).replace("-", "−"))
    value = rf"\textbf{{{value}}}" if number.extreme else value
    mark = escaped(number.mark.symbol) if number.mark else ""
    interval = escaped(interval_text(number).replace("-", "−"))
    extra = f" {escaped(number.remark)}" if number.remark else ""
    return f"{value}{mark}{interval}{extra}"


def escaped(text: str) -> str:
    """Return text that LaTeX prints as it is; what its fonts lack becomes a question mark."""
    return "".join(_SPECIAL.get(x, x if " " <= x <= "~" else _other(x)) for x in text)


def _other(character: str) -> str:
    """Latin letters with accents are safe in UTF-8 LaTeX; controls and other scripts are not."""
    if character.isspace():
        return " "
    return character if "À" <= character <= "ÿ" else "?"
