"""Mean gaps by axis and use case, a radar a run (Figure 2)."""

from collections.abc import Mapping, Sequence
from math import ceil, pi
from statistics import median
from typing import Any, Final

from ...words import AXIS_LABELS, USE_CASE_LABELS
from .records import Drawing, FigureRun, number
from .style import GRID, HEADING, INK, LINES, MARGIN, MUTED, NORMAL, SMALL, Canvas, Key, line_height

_NAME: Final = "gap-by-axis-and-use-case"
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
    axes = [axis for axis in AXIS_LABELS if any(axis in row for x in found.values() for row in x.values())]
    limits = _limits({label: _highest(gaps) for label, gaps in found.items()})
    columns = ceil(len(found) / ceil(len(found) / _COLUMNS))
    radius = 1.25 if len(found) <= _FEW else 0.78
    panel_width = 2 * radius + 1.0
    width = max(columns * panel_width + 2 * MARGIN, 6.5)
    panel_height = 2 * radius + 4 * line_height(NORMAL) + 0.2
    use_cases = [name for name in USE_CASE_LABELS if any(name in gaps for gaps in found.values())]
    keys = [Key(USE_CASE_LABELS[x], LINES[x][0], dash=LINES[x][1], marker=LINES[x][2]) for x in use_cases]
    subtitle = _subtitle(limits)
    body = ceil(len(found) / columns) * panel_height + MARGIN / 2
    canvas = Canvas(width, body, _TITLE, subtitle, keys)
    start = (width - columns * panel_width) / 2
    for at, (label, gaps) in enumerate(found.items()):
        centre = start + (at % columns + 0.5) * panel_width
        top = canvas.top + at // columns * panel_height
        _draw(canvas, (centre, top, radius), label, gaps, axes, limits)
    alt_text = f"A radar chart for each run. {_TITLE}. {subtitle} {_widest(found)}"
    return [Drawing(_NAME, _TITLE, alt_text, "use_case_axis", canvas.figure)]


def _gaps(run: FigureRun) -> dict[str, dict[str, float]]:
    gaps: dict[str, dict[str, float]] = {}
    for row in run.tables["use_case_axis"]:
        value = number(row, "mean_delta_pct")
        if row["language"] == "all" and value is not None:
            gaps.setdefault(str(row["use_case"]), {})[str(row["axis"])] = value
    return gaps


def _n_spokes(gaps: Gaps) -> int:
    return max((len(row) for row in gaps.values()), default=0)


def _highest(gaps: Gaps) -> float:
    return max(value for row in gaps.values() for value in row.values())


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


def _subtitle(limits: Mapping[str, float]) -> str:
    same = len(set(limits.values())) == 1
    scale = "" if same else " Runs with a larger scale of their own are marked ‡."
    return f"Mean Δ% between identifiers, both languages; 0 in the centre, rings labelled in percent.{scale}"


def _draw(
    canvas: Canvas,
    place: tuple[float, float, float],
    label: str,
    gaps: Gaps,
    axes: Sequence[str],
    limits: Mapping[str, float],
) -> None:
    """Draw a run's radar; `place` is its centre, top and radius in inches."""
    centre, top, radius = place
    below_name = top + line_height(HEADING) + line_height(NORMAL) + 0.16
    own_scale = limits[label] > min(limits.values())
    name = f"{label} ‡" if own_scale else label
    canvas.text(centre, top + 0.16, name, size=HEADING, weight="bold", ha="center", va="baseline")
    polar: Any = canvas.axes(
        centre - radius, below_name, 2 * radius, 2 * radius, projection="polar", label=label
    )
    angles = [2 * pi * at / len(axes) for at in range(len(axes))]
    _draw_frame(polar, angles, [AXIS_LABELS[axis] for axis in axes], limits[label])
    for use_case, row in gaps.items():
        colour, dash, marker = LINES[use_case]
        values = [row.get(axis, float("nan")) for axis in axes]
        polar.plot(
            [*angles, angles[0]],
            [*values, values[0]],
            color=colour,
            ls=dash,
            marker=marker,
            ms=2.6,
            lw=1.3,
            label=use_case,
            clip_on=False,
        )


def _draw_frame(polar: Any, angles: Sequence[float], names: Sequence[str], limit: float) -> None:
    polar.set_theta_zero_location("N")
    polar.set_theta_direction(-1)
    polar.set_ylim(0, limit)
    polar.set_rgrids([])
    polar.set_thetagrids([])
    polar.spines["polar"].set_visible(False)
    circle = [2 * pi * at / 180 for at in range(181)]
    for ring in (limit / 2, limit):
        polar.plot(circle, [ring] * len(circle), color=GRID, lw=0.8, zorder=0, clip_on=False)
        polar.text(
            angles[0] + pi / len(angles), ring, f"{ring:g}", size=SMALL, color=MUTED, ha="center", va="center"
        )
    for angle, name in zip(angles, names, strict=True):
        polar.plot([angle, angle], [0, limit], color=GRID, lw=0.8, zorder=0)
        turn = angle / pi
        side = "center" if turn % 1 < 0.01 else "left" if turn < 1 else "right"
        upright = "bottom" if turn < 0.01 else "top" if abs(turn - 1) < 0.01 else "center"
        polar.text(angle, limit * 1.06, name, size=SMALL + 0.4, color=INK, ha=side, va=upright)


def _widest(found: Mapping[str, Gaps]) -> str:
    value, label, use_case, axis = max(
        (value, label, use_case, axis)
        for label, gaps in found.items()
        for use_case, row in gaps.items()
        for axis, value in row.items()
    )
    where = f"{label}, {USE_CASE_LABELS[use_case]}, {AXIS_LABELS[axis]}"
    return f"Widest: {where}, {value:.1f} %."
