"""How far each identifier lies from its axis, a panel a run (Figures 4, 10 and 11)."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from matplotlib.axes import Axes

from ...words import AXIS_LABELS, identifier_label
from .identifier_heat import signed
from .records import Drawing, FigureRun
from .style import (
    BOLD,
    DARK,
    HEADING,
    INK,
    LIGHT,
    LINE,
    MARGIN,
    NORMAL,
    SMALL,
    Canvas,
    Key,
    bare,
    widest,
    wrapped,
)

_PITCH: Final = 0.19
"""Inches from bar to bar."""
_COLUMNS: Final = 5
_WIDTH: Final = 10.0
_SUBTITLE: Final = (
    "Deviation of each identifier's mean from the mean of its axis in percent, averaged over use cases and "
    "languages."
)

Deviations = Mapping[str, float]
"""Identifier's label to deviation in percent."""


def identifier_deviations(runs: Sequence[FigureRun], axis: str) -> list[Drawing]:
    """Return an axis's bars, identifiers sorted by their mean over the runs; none without data."""
    found = {run.label: _deviations(run, axis) for run in runs}
    found = {label: row for label, row in found.items() if row}
    if not found:
        return []
    order = _order(found)
    title = f"Who gets more and who gets less: {AXIS_LABELS[axis].lower()}"
    columns = ceil(len(found) / ceil(len(found) / _COLUMNS))
    label_width = widest(order, NORMAL) + 0.1
    panel_width = min((_WIDTH - 2 * MARGIN - label_width) / columns - 0.12, 4.5)
    heading = 0.0 if len(found) == 1 else 0.4
    panel_height = len(order) * _PITCH
    rows = ceil(len(found) / columns)
    width = max(2 * MARGIN + label_width + columns * (panel_width + 0.12), 6.5)
    keys = [Key("above the mean", DARK), Key("below the mean", LIGHT)]
    subtitle = (
        f"{next(iter(found))}. {_SUBTITLE}"
        if len(found) == 1
        else f"{_SUBTITLE} All panels share one scale and one order."
    )
    canvas = Canvas(width, rows * (heading + panel_height + 0.08) + MARGIN, title, subtitle, keys)
    limit = max(abs(value) for row in found.values() for value in row.values())
    for at, (label, row) in enumerate(found.items()):
        left = MARGIN + label_width + at % columns * (panel_width + 0.12)
        top = canvas.top + at // columns * (heading + panel_height + 0.08) + heading
        axes = canvas.axes(left, top, panel_width, panel_height, label=label)
        if heading:
            name = wrapped(label, HEADING * BOLD, panel_width)
            canvas.text(
                left + panel_width / 2,
                top - 0.08,
                name,
                size=HEADING,
                weight="bold",
                ha="center",
                va="baseline",
            )
        _draw(axes, row, order, limit, panel_width, named=at % columns == 0)
    alt_text = f"Bars for each identifier. {title}. {subtitle} {_ends(found)}"
    name = f"deviation-{axis.replace('_', '-')}"
    return [Drawing(name, title, alt_text, "identifier_deviation", canvas.figure)]


def _deviations(run: FigureRun, axis: str) -> dict[str, float]:
    return {
        identifier_label(axis, row["identifier"]): float(row["deviation_pct"] or 0.0)
        for row in run.tables["identifier_deviation"]
        if row["axis"] == axis
    }


def _order(found: Mapping[str, Deviations]) -> list[str]:
    names = dict.fromkeys(name for row in found.values() for name in row)
    means = {}
    for name in names:
        values = [row[name] for row in found.values() if name in row]
        means[name] = sum(values) / len(values)
    return sorted(means, key=lambda name: -means[name])


def _draw(
    axes: Axes, row: Deviations, order: Sequence[str], limit: float, width: float, *, named: bool
) -> None:
    bare(axes)
    axes.set_ylim(len(order), 0)
    room = widest((signed(value, 1) for value in row.values()), SMALL) + 5 / 72
    reach = (limit or 1.0) * width / max(width - 2 * room, 0.2)
    axes.set_xlim(-reach, reach)
    axes.set_xticks([])
    places = [at + 0.5 for at in range(len(order))] if named else []
    axes.set_yticks(places, list(order) if named else [])
    for at, name in enumerate(order):
        if name in row:
            value, y = row[name], at + 0.5
            axes.barh(y, value, height=0.68, color=DARK if value >= 0 else LIGHT, lw=0)
            axes.annotate(
                signed(value, 1),
                (value, y),
                (3 if value >= 0 else -3, 0),
                textcoords="offset points",
                ha="left" if value >= 0 else "right",
                va="center_baseline",
                fontsize=SMALL,
            )
    axes.axvline(0, color=INK, lw=0.8)
    axes.axhline(len(order), color=LINE, lw=0.4)


def _ends(found: Mapping[str, Deviations]) -> str:
    said = []
    for label, row in found.items():
        high, low = max(row, key=row.__getitem__), min(row, key=row.__getitem__)
        said.append(f"{label}: {high} {signed(row[high], 1)} %, {low} {signed(row[low], 1)} %")
    return "; ".join(said) + "."
