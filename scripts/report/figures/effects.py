"""The first charts of a report: who gets more or less, and how far groups lie apart in every profile."""

from collections.abc import Sequence
from typing import Any, Final

from matplotlib.axes import Axes

from rupeebias.metric.design import Axis
from rupeebias.metric.group_effects import named_groups
from rupeebias.metric.tables import Row

from ...words import number
from .style import (
    DARK,
    GRID,
    INK,
    MUTED,
    NORMAL,
    PAD,
    SMALL,
    WIDTH,
    Drawing,
    FigureRun,
    cell,
    line_key,
    sheet,
    widest,
)

_PITCH: Final = 0.165
"""Inches from group to group."""
_COLUMNS: Final = 3
_EFFECTS: Final = "Who gets more, who gets less"
_EFFECTS_ABOUT: Final = (
    "Percent of the mean of each axis, all use cases and languages. Lines: 95 % intervals that hold for all "
    "groups of an axis at once. Filled: named, the axis differs beyond chance too."
)
_GAPS: Final = "Systematic gap by axis"
_GAPS_ABOUT: Final = (
    "Root mean square difference in percent between two groups of an axis in every profile, chance removed. "
    "Lines: 95 % intervals. Filled: beyond chance."
)


def group_effects(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the effects of all groups on one scale, a panel an axis; of a report of one run alone."""
    run, design = runs[0], runs[0].design
    panels = {axis.name: _effects(run, axis.name) for axis in design.axes}
    covered = [axis for axis in design.axes if panels[axis.name]]
    if len(runs) > 1 or not covered:
        return []
    named = {(one.axis, one.identifier) for one in named_groups(run.tables) if one.language == "all"}
    columns = _packed(covered, {axis.name: len(panels[axis.name]) + 3 for axis in covered})
    heights = [sum(len(panels[axis.name]) + 3 for axis in column) for column in columns]
    widths = [widest(_labels(column, panels), NORMAL) + 2.2 for column in columns]
    width = min(sum(widths) + PAD, WIDTH + 2)
    keys = [line_key("named", DARK, "-", "o"), line_key("not beyond chance", MUTED, "-", "o")]
    figure, body = sheet(width, max(heights) * _PITCH + 0.3, _EFFECTS, f"{run.label}. {_EFFECTS_ABOUT}", keys)
    reach = max(
        abs(end)
        for rows in panels.values()
        for row in rows
        for end in (cell(row, "effect_pct"), cell(row, "ci_low"), cell(row, "ci_high"))
        if end is not None
    )
    parts: Any = body.subfigures(1, len(columns), squeeze=False, width_ratios=widths)
    for part, column, height in zip(parts[0], columns, heights, strict=True):
        ratios = [len(panels[axis.name]) + 3 for axis in column]
        ratios += [max(heights) - height] * (height < max(heights))  # all rows have the same height
        every = part.subplots(len(ratios), 1, squeeze=False, height_ratios=ratios)[:, 0]
        for axes, axis in zip(every, column, strict=False):
            axes.set_label(axis.name)
            named_here = {name for of, name in named if of == axis.name}
            _draw_effects(axes, axis, panels[axis.name], named_here, reach or 1.0)
        for axes in every[len(column) :]:
            axes.set_axis_off()
    said = "; ".join(_ends(axis, panels[axis.name]) for axis in covered)
    alt_text = f"Dots with intervals for each group. {_EFFECTS}. {_EFFECTS_ABOUT} {said}."
    return [Drawing("group-effects", _EFFECTS, alt_text, "group_effect", figure)]


def _effects(run: FigureRun, axis: str) -> list[Row]:
    """Return the rows of an axis over everything, the largest effect first."""
    rows = [
        row
        for row in run.tables["group_effect"]
        if (row["language"], row["use_case"], row["axis"]) == ("all", "all", axis)
    ]
    return sorted(rows, key=lambda row: -(cell(row, "effect_pct") or 0.0))


def _labels(axes: Sequence[Axis], panels: dict[str, list[Row]]) -> list[str]:
    return [axis.identifiers[str(row["identifier"])] for axis in axes for row in panels[axis.name]]


def _packed(axes: Sequence[Axis], sizes: dict[str, int]) -> list[list[Axis]]:
    """Return the axes dealt to columns of about the same height, each largest one to the shortest column."""
    columns: list[list[Axis]] = [[] for _ in range(min(_COLUMNS, len(axes)))]
    for axis in sorted(axes, key=lambda axis: -sizes[axis.name]):
        min(columns, key=lambda column: sum(sizes[one.name] for one in column)).append(axis)
    return columns


def _draw_effects(axes: Axes, axis: Axis, rows: Sequence[Row], named: set[str], reach: float) -> None:
    _frame(axes, len(rows), reach)
    axes.set_title(axis.label)
    axes.set_yticks(range(len(rows)), [axis.identifiers[str(row["identifier"])] for row in rows])
    for y, row in enumerate(rows):
        _draw_dot(axes, row, "effect_pct", y, filled=str(row["identifier"]) in named)


def _frame(axes: Axes, n: int, reach: float, low: float | None = None) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, axis="both")
    axes.tick_params(axis="x", labelsize=SMALL)
    axes.grid(axis="x", color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.set_ylim(n - 0.4, -0.6)
    axes.set_xlim(-reach * 1.05 if low is None else low, reach * 1.05)
    axes.axvline(0, color=INK, lw=0.8)


def _draw_dot(axes: Axes, row: Row, column: str, y: float, *, filled: bool) -> None:
    value, low, high = (cell(row, name) for name in (column, "ci_low", "ci_high"))
    colour = DARK if filled else MUTED
    if low is not None and high is not None:
        axes.plot([low, high], [y, y], color=colour, lw=1.1, solid_capstyle="butt")
    fill = colour if filled else "white"
    axes.plot([value or 0.0], [y], "o", color=colour, mfc=fill, ms=4, label=column)


def _ends(axis: Axis, rows: Sequence[Row]) -> str:
    texts = []
    for row in (rows[0], rows[-1]):
        effect = number(cell(row, "effect_pct"), signed=True)
        texts.append(f"{axis.identifiers[str(row['identifier'])]} {effect} %")
    return f"{axis.label}: {texts[0]} to {texts[1]}"


def systematic_gaps(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the systematic gaps of several runs, a panel an axis."""
    design = runs[0].design
    found = {
        (run.label, axis.name): row
        for run in runs
        for axis in design.axes
        if (row := run.row("systematic_gap", language="all", use_case="all", axis=axis.name))
    }
    if len(runs) < 2 or not found:
        return []
    axes_found = [axis for axis in design.axes if any(key[1] == axis.name for key in found)]
    labels = [run.label for run in runs if any(key[0] == run.label for key in found)]
    height = len(labels) * 0.22 + 0.65
    keys = [line_key("beyond chance", DARK, "-", "o"), line_key("not beyond chance", MUTED, "-", "o")]
    figure, body = sheet(WIDTH, height, _GAPS, _GAPS_ABOUT, keys)
    ends = [end for row in found.values() for end in (cell(row, "systematic_gap_pct"), cell(row, "ci_high"))]
    reach = max((end for end in ends if end is not None), default=1.0) or 1.0
    every = body.subplots(1, len(axes_found), squeeze=False)[0]
    for at, (axes, axis) in enumerate(zip(every, axes_found, strict=True)):
        axes.set_label(axis.name)
        _frame(axes, len(labels), reach, low=-0.02 * reach)
        axes.set_title(axis.label)
        axes.set_yticks(range(len(labels)) if at == 0 else [], labels if at == 0 else [])
        for y, label in enumerate(labels):
            row = found.get((label, axis.name))
            if row:
                p = cell(row, "p_bh")
                _draw_dot(axes, row, "systematic_gap_pct", y, filled=p is not None and p < 0.05)
    texts = (
        f"{label}, {design.axis[axis].label} {number(cell(row, 'systematic_gap_pct'))} %"
        for (label, axis), row in found.items()
    )
    alt_text = f"Dots with intervals for each run. {_GAPS}. {_GAPS_ABOUT} {'; '.join(texts)}."
    return [Drawing("systematic-gap", _GAPS, alt_text, "systematic_gap", figure)]
