"""Heat maps with text in their cells: gaps between identifiers, and between two languages (5, 8, 9)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Rectangle

from rupeebias.metric.design import Axis
from rupeebias.metric.tables import Row

from ...words import number, with_interval
from .style import (
    ABSENT,
    AMOUNT,
    HEADING,
    NORMAL,
    PAD,
    PAPER,
    SIGNED,
    SMALL,
    Drawing,
    FigureRun,
    bare,
    cell,
    excludes_zero,
    sheet,
    widest,
    wrapped,
)

MAX_RUNS: Final = 10
"""More runs are spread over several figures, or their cells could not be read."""
_LONGEST_LABEL: Final = 22
"""Characters of an identifier's name in a cell; longer ones would make the cells too wide."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell."""

    value: float
    text: str
    """What it says, in lines."""


@dataclass(frozen=True, slots=True)
class Heat:
    """A heat map: rows and columns of cells in one frame."""

    label: str
    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], HeatCell]
    """By row and column."""
    colours: Colormap
    norm: Normalize

    @property
    def cell_width(self) -> float:
        """Inches that hold every text."""
        return max(widest((cell.text for cell in self.cells.values()), SMALL) + 0.2, 0.6)

    @property
    def height(self) -> float:
        """Inches of all rows."""
        n_lines = max(cell.text.count("\n") + 1 for cell in self.cells.values())
        return len(self.rows) * (n_lines * SMALL * 1.35 / 72 + 0.12)

    @property
    def width(self) -> float:
        """Inches of all columns and the names of the rows."""
        return widest(self.rows, NORMAL) + 2 * PAD + self.cell_width * len(self.columns)


def _scale(values: Sequence[float], *, centred: bool) -> Normalize:
    limit = max(map(abs, values), default=0.0) or 1.0
    return Normalize(-limit if centred else 0.0, limit, clip=True)


def _turned(heat: Heat) -> bool:
    """Tell whether the names of the columns are turned, because they are wider than their cells."""
    return widest(heat.columns, NORMAL) > heat.cell_width - 0.06


def _head(heat: Heat) -> float:
    """Return the inches that the names of the columns take."""
    return widest(heat.columns, NORMAL) * 0.75 + 0.25 if _turned(heat) else 0.3


def _draw_heat(axes: Axes, heat: Heat, *, named: bool) -> None:
    bare(axes)
    axes.set_label(heat.label)
    axes.set_xlim(0, len(heat.columns))
    axes.set_ylim(len(heat.rows), 0)
    axes.set_yticks([at + 0.5 for at in range(len(heat.rows))], list(heat.rows))
    if named:
        options = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if _turned(heat) else {}
        places = [at + 0.5 for at in range(len(heat.columns))]
        axes.set_xticks(places, list(heat.columns), **options)  # type: ignore[arg-type]
        axes.tick_params(axis="x", top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.tick_params(axis="x", labelsize=NORMAL, labelcolor="black", length=0)
    axes.set_title(heat.title, pad=4)
    for y, row in enumerate(heat.rows):
        for x, column in enumerate(heat.columns):
            found = heat.cells.get((row, column))
            colour = heat.colours(heat.norm(found.value)) if found else ABSENT
            axes.add_patch(Rectangle((x, y), 1, 1, fc=colour, ec=PAPER, lw=1.2))
            if found:
                written = axes.text(x + 0.5, y + 0.5, found.text, ha="center", va="center", fontsize=SMALL)
                written.set(linespacing=1.25, in_layout=False)


@dataclass(frozen=True, slots=True)
class PairFigure:
    """What a heat map of identifier gaps says, besides its data."""

    name: str
    title: str
    subtitle: str
    table: str
    value: str
    colours: Colormap
    centred: bool
    text: Callable[[Axis, Row], str]
    """Lines of a cell."""
    row_label: Callable[[Axis], str]
    """Name of an axis's row."""


def canonical_pairs(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the heat map of canonical pair gaps."""

    def text(_: Axis, row: Row) -> str:
        consistency = cell(row, "sign_consistency_pct")
        share = "" if consistency is None else f"\n{number(consistency, 0)} %"
        return f"{number(cell(row, 'cpg_pct'), signed=True)}{'*' if excludes_zero(row) else ''}{share}"

    what = PairFigure(
        "canonical-pair-gap",
        "Gaps of canonical pairs",
        "Gap in percent (positive, blue: the first of the pair gets more; * the 95 % interval excludes "
        "0); below it, the share of matched slots in which the first gets strictly more.",
        "canonical_pair_gap",
        "cpg_pct",
        SIGNED,
        True,
        text,
        lambda axis: " – ".join(_short(axis, name) for name in axis.canonical_pair or ()),
    )
    return _split(runs, what)


def maximum_gaps(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the heat map of maximum observed gaps."""

    def text(axis: Axis, row: Row) -> str:
        values = (cell(row, name) for name in ("mog_pct", "ci_low", "ci_high"))
        names = (_short(axis, str(row[end])) for end in ("highest", "lowest"))
        return "\n".join((with_interval(*values), *names))  # type: ignore[arg-type]

    what = PairFigure(
        "maximum-observed-gap",
        "Widest gap between two identifiers",
        "Gap of the identifier means in percent with its 95 % interval; below, who gets most, then who "
        "gets least. A maximum that was searched for is above 0 even without bias.",
        "maximum_observed_gap",
        "mog_pct",
        AMOUNT,
        False,
        text,
        lambda axis: axis.label,
    )
    return _split(runs, what)


def _short(axis: Axis, identifier: str) -> str:
    label = axis.identifiers[identifier]
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1].rstrip()}…"


def _split(runs: Sequence[FigureRun], what: PairFigure) -> list[Drawing]:
    covered = [run for run in runs if any(row[what.value] is not None for row in run.tables[what.table])]
    if not covered:
        return []
    values = [cell(row, what.value) or 0.0 for run in covered for row in run.tables[what.table]]
    norm = _scale(values, centred=what.centred)
    n_parts = ceil(len(covered) / MAX_RUNS)
    size = ceil(len(covered) / n_parts)
    return [
        _draw_pairs(covered[at * size : (at + 1) * size], what, norm, f"-{at + 1}" if n_parts > 1 else "")
        for at in range(n_parts)
    ]


def _draw_pairs(runs: Sequence[FigureRun], what: PairFigure, norm: Normalize, suffix: str) -> Drawing:
    """Return one figure: a block of rows for each use case, a column for each run."""
    design, heats = runs[0].design, []
    for case in design.use_cases:
        cells = {}
        for axis in design.axes:
            for run in runs:
                row = run.row(what.table, use_case=case.name, axis=axis.name)
                value = cell(row, what.value)
                if row is not None and value is not None:
                    cells[what.row_label(axis), run.label] = HeatCell(value, what.text(axis, row))
        rows, columns = list(dict.fromkeys(key[0] for key in cells)), [run.label for run in runs]
        if cells:
            label = f"{what.name} {case.name}"
            heats.append(Heat(label, case.label, rows, columns, cells, what.colours, norm))
    width = max(widest(heat.rows, NORMAL) for heat in heats) + 3 * PAD
    width += max(heat.cell_width for heat in heats) * len(runs) + (0.5 if _turned(heats[0]) else 0.0)
    height = sum(heat.height + 0.34 for heat in heats) + _head(heats[0])
    figure, body = sheet(width, height, what.title, what.subtitle)
    every = body.subplots(len(heats), 1, squeeze=False, height_ratios=[heat.height for heat in heats])
    for at, (axes, heat) in enumerate(zip(every[:, 0], heats, strict=True)):
        _draw_heat(axes, heat, named=at == 0)
    best = max(heats, key=lambda heat: max(abs(one.value) for one in heat.cells.values()))
    row_name, run_name = max(best.cells, key=lambda key: abs(best.cells[key].value))
    said = ", ".join(best.cells[row_name, run_name].text.split("\n"))
    about = f"Strongest: {run_name}, {best.title}, {row_name}: {said}."
    alt_text = f"Heat map. {what.title}. {what.subtitle} {about}"
    return Drawing(f"{what.name}{suffix}", what.title, alt_text, what.table, figure)


def language_moderation(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return a pair of heat maps (Figure 5); none where no run covers two languages."""
    covered = [run for run in runs if run.tables["language_moderation"]]
    if not covered:
        return []
    first, second = (language.label for language in covered[0].design.languages[:2])
    title = f"What changes between {first} and {second}"
    subtitle = (
        f"Left: † p < 0.05, ‡ p < 0.01. Right: positive, blue: {second} widens the gaps; "
        "* the 95 % interval excludes 0."
    )
    titles = {
        "spearman_rho": "Do the identifiers keep their order? Spearman's ρ",
        "delta_mean_delta_pct": f"Does the mean gap change? {second} − {first}, points",
    }
    heats = [heat for value, own in titles.items() if (heat := _moderation(covered, value, own)).cells]
    width = sum(heat.width + PAD + (0.5 if _turned(heat) else 0.0) for heat in heats) + PAD
    height = max(heat.height + _head(heat) for heat in heats) + 0.65
    figure, body = sheet(width, height, title, subtitle)
    every = body.subplots(1, len(heats), squeeze=False, width_ratios=[heat.width for heat in heats])
    for axes, heat in zip(every[0], heats, strict=True):
        _draw_heat(axes, heat, named=True)
    about = ""
    if heats[-1].label == "delta_mean_delta_pct":
        cells = heats[-1].cells
        run, axis = max(cells, key=lambda key: abs(cells[key].value))
        about = f"Largest change: {run}, {axis}, {cells[run, axis].text} points."
    alt_text = f"Two heat maps. {title}. {subtitle} {about}".strip()
    return [Drawing("language-moderation", title, alt_text, "language_moderation", figure)]


def _moderation(runs: Sequence[FigureRun], value: str, title: str) -> Heat:
    design, cells = runs[0].design, {}
    for run in runs:
        for axis in design.axes:
            row = run.row("language_moderation", axis=axis.name)
            found = cell(row, value)
            if row is not None and found is not None:
                p = cell(row, "p_value")
                mark = "*" if excludes_zero(row) else ""
                if value == "spearman_rho":
                    mark = "" if p is None or p >= 0.05 else "‡" if p < 0.01 else "†"
                text = f"{number(found, 2, signed=True)}{mark}"
                cells[run.label, axis.label] = HeatCell(found, text)
    columns = [axis.label for axis in design.axes if any(key[1] == axis.label for key in cells)]
    values = [1.0] if value == "spearman_rho" else [one.value for one in cells.values()]
    labels = [run.label for run in runs]
    wide = wrapped(title, HEADING * 1.15, widest(labels, NORMAL) + 0.6 * len(columns))
    return Heat(value, wide, labels, columns, cells, SIGNED, _scale(values, centred=True))
