"""Mean gaps by axis and use case, a radar a run (Figure 2)."""

from collections.abc import Mapping, Sequence
from math import ceil, pi
from statistics import median
from typing import Any, Final

from ...words import number
from .style import (
    GRID,
    HEADING,
    INK,
    MUTED,
    PAD,
    SERIES,
    SMALL,
    Drawing,
    FigureRun,
    cell,
    line_key,
    sheet,
    wrapped,
)

_TITLE: Final = "Mean gap by axis and use case"
_OUTLIER: Final = 2.0
"""A run whose widest gap is more than this many times the median of the others' has a scale of its own."""
_FEW: Final = 2
"""So many runs have larger panels."""
_COLUMNS: Final = 4
_LEAST_SPOKES: Final = 3

Gaps = Mapping[str, Mapping[str, float]]
"""Use case to axis to mean gap."""


def radars(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the radars; none where no run covers three axes of a use case."""
    found = {run.label: _gaps(run) for run in runs}
    found = {label: gaps for label, gaps in found.items() if _n_spokes(gaps) >= _LEAST_SPOKES}
    if not found:
        return []
    design = runs[0].design
    axes = {
        axis.name: axis.label
        for axis in design.axes
        if any(axis.name in row for gaps in found.values() for row in gaps.values())
    }
    limits = _limits({label: max(_every(gaps)) for label, gaps in found.items()})
    n_rows = ceil(len(found) / _COLUMNS)
    columns = ceil(len(found) / n_rows)
    side = 3.4 if len(found) <= _FEW else 2.5
    series = dict(zip(design.use_case_names, SERIES * len(design.use_cases), strict=False))
    covered = [case for case in design.use_cases if any(case.name in gaps for gaps in found.values())]
    keys = [line_key(case.label, *series[case.name]) for case in covered]
    own = "" if len(set(limits.values())) == 1 else " Runs with a larger scale of their own are marked ‡."
    subtitle = f"Mean Δ% between identifiers, all languages; 0 in the centre, rings labelled in percent.{own}"
    figure, body = sheet(columns * side + 2 * PAD, n_rows * side + PAD, _TITLE, subtitle, keys)
    every = body.subplots(n_rows, columns, squeeze=False, subplot_kw={"projection": "polar"}).ravel()
    for polar, (label, gaps) in zip(every, found.items(), strict=False):
        polar.set_label(label)
        name = f"{label} ‡" if limits[label] > min(limits.values()) else label
        polar.set_title(wrapped(name, HEADING * 1.15, side - 0.2), loc="center", pad=16)
        _draw(polar, gaps, axes, limits[label], series)
    for polar in every[len(found) :]:
        polar.set_axis_off()
    value, label, use_case, axis = max(
        (value, label, use_case, axis)
        for label, gaps in found.items()
        for use_case, row in gaps.items()
        for axis, value in row.items()
    )
    widest = f"{label}, {design.use_case[use_case].label}, {axes[axis]}, {number(value)} %"
    alt_text = f"A radar chart for each run. {_TITLE}. {subtitle} Widest: {widest}."
    return [Drawing("gap-by-axis-and-use-case", _TITLE, alt_text, "use_case_axis", figure)]


def _gaps(run: FigureRun) -> dict[str, dict[str, float]]:
    gaps: dict[str, dict[str, float]] = {}
    for row in run.tables["use_case_axis"]:
        value = cell(row, "mean_delta_pct")
        if row["language"] == "all" and value is not None:
            gaps.setdefault(str(row["use_case"]), {})[str(row["axis"])] = value
    return gaps


def _n_spokes(gaps: Gaps) -> int:
    return max((len(row) for row in gaps.values()), default=0)


def _every(gaps: Gaps) -> list[float]:
    return [value for row in gaps.values() for value in row.values()]


def _limits(highest: Mapping[str, float]) -> dict[str, float]:
    """Return each run's radius: one for all, except for runs far beyond the others."""
    outliers = set()
    if len(highest) > 2:
        middle = median(highest.values())
        outliers = {label for label, value in highest.items() if value > _OUTLIER * middle}
    common = _round_up(max(value for label, value in highest.items() if label not in outliers))
    return {label: _round_up(x) if label in outliers else common for label, x in highest.items()}


def _round_up(value: float) -> float:
    """Return a radius that two rings divide evenly."""
    step = next(step for step in (0.2, 1, 2, 10, 20, 50, 100) if value <= 10 * step)
    return max(ceil(value / (2 * step)), 1) * 2 * step


def _draw(
    polar: Any,
    gaps: Gaps,
    axes: Mapping[str, str],
    limit: float,
    series: Mapping[str, tuple[str, str, str]],
) -> None:
    angles = [2 * pi * at / len(axes) for at in range(len(axes))]
    _draw_frame(polar, angles, list(axes.values()), limit)
    for use_case, row in gaps.items():
        colour, dash, marker = series[use_case]
        values = [row.get(axis, float("nan")) for axis in axes]
        style = {"color": colour, "ls": dash, "marker": marker, "ms": 2.6, "lw": 1.3}
        ends = ([*angles, angles[0]], [*values, values[0]])
        polar.plot(*ends, label=use_case, clip_on=False, **style)


def _draw_frame(polar: Any, angles: Sequence[float], names: Sequence[str], limit: float) -> None:
    polar.set_theta_zero_location("N")
    polar.set_theta_direction(-1)
    polar.set_ylim(0, limit)
    polar.set_rgrids([])
    polar.set_thetagrids([])
    polar.spines["polar"].set_visible(False)
    circle = [2 * pi * at / 180 for at in range(181)]
    between = angles[0] + pi / len(angles)
    for ring in (limit / 2, limit):
        polar.plot(circle, [ring] * len(circle), color=GRID, lw=0.8, zorder=0, clip_on=False)
        polar.text(between, ring, f"{ring:g}", size=SMALL, color=MUTED, ha="center", va="center")
    for angle, name in zip(angles, names, strict=True):
        polar.plot([angle, angle], [0, limit], color=GRID, lw=0.8, zorder=0)
        turn = angle / pi
        side = "center" if turn % 1 < 0.01 else "left" if turn < 1 else "right"
        upright = "bottom" if turn < 0.01 else "top" if abs(turn - 1) < 0.01 else "center"
        polar.text(angle, limit * 1.06, name, size=SMALL + 0.4, color=INK, ha=side, va=upright)
