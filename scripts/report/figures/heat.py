"""Heat maps with text in their cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Rectangle

from .style import (
    ABSENT,
    HEADING,
    INK,
    NORMAL,
    PAPER,
    SMALL,
    Canvas,
    bare,
    broken,
    line_height,
    widest,
)

PADDING: Final = 0.09
"""Inches beside the text of a cell."""
BLOCK_HEADING: Final = 0.3
"""Inches for the heading above a block of rows."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell."""

    value: float
    text: str
    """What it says, in lines."""


@dataclass(frozen=True, slots=True)
class Heat:
    """A heat map: rows in blocks, each with a heading (empty: none)."""

    blocks: Mapping[str, Sequence[str]]
    """Heading to row labels."""
    columns: Sequence[str]
    cells: Mapping[tuple[str, str, str], HeatCell]
    """By block, row label and column."""
    colours: Colormap
    centred: bool
    """Whether the colours are symmetric around 0."""
    limit: float | None = None
    """Value of the strongest colour; None: the largest there is."""

    @property
    def normed(self) -> Normalize:
        """The colour scale."""
        largest = max((abs(cell.value) for cell in self.cells.values()), default=1.0)
        limit = self.limit or largest or 1.0
        return Normalize(-limit if self.centred else 0.0, limit, clip=True)


@dataclass(frozen=True, slots=True)
class HeatSize:
    """A heat map's measures in inches."""

    label_width: float
    cell_width: float
    cell_height: float
    head_height: float
    turned: bool
    """Whether the names of the columns are turned, because they are wider than their cells."""
    width: float
    height: float


def heat_size(heat: Heat, *, cell_width: float = 0.0) -> HeatSize:
    """Return measures that hold every text; `cell_width` is the least width of a cell."""
    texts = [cell.text for cell in heat.cells.values()]
    n_lines = max(text.count("\n") + 1 for text in texts)
    cell = max(widest(texts, SMALL) + 2 * PADDING, cell_width, 0.5)
    names = [broken(name, NORMAL, cell - 0.06) for name in heat.columns]
    turned = None in names
    longest = widest(heat.columns, NORMAL)
    labels = [label for rows in heat.blocks.values() for label in rows]
    label_width = widest(labels, NORMAL) + 0.12
    cell_height = n_lines * line_height(SMALL) + 0.1
    n_name_lines = max(name.count("\n") + 1 for name in names if name) if not turned else 0
    head = (longest * 0.72 + 0.2) if turned else n_name_lines * line_height(NORMAL) + 0.08
    n_rows, n_headed = len(labels), sum(1 for heading in heat.blocks if heading)
    overhang = longest * 0.72 + 0.1 - cell / 2 if turned else 0.0
    return HeatSize(
        label_width,
        cell,
        cell_height,
        head,
        turned,
        label_width + cell * len(heat.columns) + max(overhang, 0.0),
        head + n_rows * cell_height + n_headed * BLOCK_HEADING,
    )


def draw_heat(canvas: Canvas, heat: Heat, size: HeatSize, left: float, top: float, label: str) -> None:
    """Draw a heat map whose upper left corner is at a place in inches."""
    left_of_cells = left + size.label_width
    _draw_column_names(canvas, heat, size, left_of_cells, top + size.head_height)
    below = top + size.head_height
    for heading, rows in heat.blocks.items():
        if heading:
            canvas.text(
                left, below + BLOCK_HEADING - 0.09, heading, size=HEADING, weight="bold", va="baseline"
            )
            below += BLOCK_HEADING
        width, height = size.cell_width * len(heat.columns), size.cell_height * len(rows)
        axes = canvas.axes(left_of_cells, below, width, height, label=f"{label}{heading}")
        _draw_cells(axes, heat, heading, rows)
        below += height


def _draw_column_names(canvas: Canvas, heat: Heat, size: HeatSize, left: float, bottom: float) -> None:
    for at, name in enumerate(heat.columns):
        centre = left + (at + 0.5) * size.cell_width
        options: dict[str, Any] = {"ha": "center", "va": "baseline"}
        if size.turned:
            options = {"ha": "left", "va": "bottom", "rotation": 45, "rotation_mode": "anchor"}
        shown = name if size.turned else broken(name, NORMAL, size.cell_width - 0.06) or name
        canvas.text(centre, bottom - (0.05 if size.turned else 0.09), shown, **options)


def _draw_cells(axes: Axes, heat: Heat, block: str, rows: Sequence[str]) -> None:
    norm = heat.normed
    bare(axes)
    axes.set_xlim(0, len(heat.columns))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks([])
    axes.set_yticks([at + 0.5 for at in range(len(rows))], list(rows))
    axes.tick_params(axis="y", pad=4)
    for y, row in enumerate(rows):
        for x, column in enumerate(heat.columns):
            cell = heat.cells.get((block, row, column))
            colour = heat.colours(norm(cell.value)) if cell else ABSENT
            axes.add_patch(Rectangle((x, y), 1, 1, fc=colour, ec=PAPER, lw=1.2))
            if cell:
                axes.text(
                    x + 0.5,
                    y + 0.5,
                    cell.text,
                    ha="center",
                    va="center",
                    fontsize=SMALL,
                    color=INK,
                    linespacing=1.25,
                )
