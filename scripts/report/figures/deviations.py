"""How far each identifier lies from its axis, a panel a run (Figures 4, 10 and 11)."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from matplotlib.axes import Axes

from ...words import number
from .style import (
    DARK,
    HEADING,
    INK,
    LIGHT,
    NORMAL,
    PAD,
    SMALL,
    WIDTH,
    Drawing,
    FigureRun,
    bare,
    cell,
    colour_key,
    sheet,
    widest,
    wrapped,
    write_values,
)

_PITCH: Final = 0.19
"""Inches from bar to bar."""
_COLUMNS: Final = 5
_SUBTITLE: Final = (
    "Deviation of each identifier's mean from the mean of its axis in percent, averaged over use cases and "
    "languages."
)

Deviations = Mapping[str, float]
"""Identifier's label to deviation in percent."""


def identifier_deviations(runs: Sequence[FigureRun], axis: str) -> list[Drawing]:
    """Return an axis's bars, identifiers sorted by their mean over the runs; none without data."""
    found = {run.label: row for run in runs if (row := _deviations(run, axis))}
    if not found:
        return []
    order = _order(found)
    title = f"Who gets more and who gets less: {runs[0].design.axis[axis].label.lower()}"
    n_rows = ceil(len(found) / _COLUMNS)
    columns = ceil(len(found) / n_rows)
    label_width = widest(order, NORMAL) + 2 * PAD
    panel_width = min((WIDTH - label_width) / columns - PAD, 4.5)
    one = len(found) == 1
    about = "All panels share one scale and one order."
    subtitle = f"{next(iter(found))}. {_SUBTITLE}" if one else f"{_SUBTITLE} {about}"
    keys = [colour_key("above the mean", DARK), colour_key("below the mean", LIGHT)]
    height = n_rows * (len(order) * _PITCH + (PAD if one else 0.5)) + PAD
    figure, body = sheet(label_width + columns * (panel_width + PAD), height, title, subtitle, keys)
    every = body.subplots(n_rows, columns, squeeze=False).ravel()
    limit = max(abs(value) for row in found.values() for value in row.values()) or 1.0
    for at, (axes, (label, row)) in enumerate(zip(every, found.items(), strict=False)):
        axes.set_label(label)
        if not one:
            axes.set_title(wrapped(label, HEADING * 1.15, panel_width))
        _draw(axes, row, order, limit, panel_width, named=at % columns == 0)
    for axes in every[len(found) :]:
        axes.set_axis_off()
    alt_text = f"Bars for each identifier. {title}. {subtitle} {_ends(found)}"
    name = f"deviation-{axis.replace('_', '-')}"
    return [Drawing(name, title, alt_text, "identifier_deviation", figure)]


def _deviations(run: FigureRun, axis: str) -> dict[str, float]:
    labels = run.design.identifiers[axis]
    return {
        labels[str(row["identifier"])]: cell(row, "deviation_pct") or 0.0
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
    room = widest((number(value, signed=True) for value in row.values()), SMALL) + 8 / 72
    reach = limit * width / max(width - 2 * room, 0.4)
    axes.set_xlim(-reach, reach)
    places = [at + 0.5 for at in range(len(order))]
    axes.set_yticks(places if named else [], order if named else [])
    drawn = [(y, row[name]) for y, name in zip(places, order, strict=True) if name in row]
    colours = [DARK if value >= 0 else LIGHT for _, value in drawn]
    axes.barh([y for y, _ in drawn], [value for _, value in drawn], height=0.68, color=colours, lw=0)
    for left in (False, True):
        own = [(value, y, number(value, signed=True)) for y, value in drawn if (value < 0) == left]
        write_values(axes, own, left=left)
    axes.axvline(0, color=INK, lw=0.8)


def _ends(found: Mapping[str, Deviations]) -> str:
    said = []
    for label, row in found.items():
        high, low = max(row, key=row.__getitem__), min(row, key=row.__getitem__)
        most, least = number(row[high], signed=True), number(row[low], signed=True)
        said.append(f"{label}: {high} {most} %, {low} {least} %")
    return "; ".join(said) + "."
