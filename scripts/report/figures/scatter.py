"""Mean gap against consistency (Figure 3b)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes

from ...scoring.headline import PUBLISHED_BENCHMARK
from ...words import number
from ..tables.published import published_rows
from .style import (
    DARK,
    GRID,
    INK,
    LINE,
    MUTED,
    NORMAL,
    PAPER,
    SMALL,
    Drawing,
    FigureRun,
    cell,
    line_key,
    sheet,
    widest,
)

_TITLE: Final = "Size of the gaps against their consistency"
_SUBTITLE: Final = (
    "Right: larger gaps. Up: the same identifiers are favoured again and again. Lines: 95 % intervals."
)
_PITCH: Final = NORMAL * 1.4 / 72
"""Inches from name to name."""


@dataclass(frozen=True, slots=True)
class _Point:
    label: str
    gap: float
    low: float | None
    high: float | None
    w: float
    published: bool = False


def gap_against_consistency(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the scatter plot; none where no run has both values."""
    points = [*filter(None, map(_point, runs))]
    if not points:
        return []
    keys = []
    if any(map(_is_comparable, runs)):
        points += _published()
        keys = [line_key("runs", DARK, "", "o"), line_key("published", MUTED, "", "o")]
    height = max(3.4, (len(points) + 1) * _PITCH)
    width = 5.6 + widest((point.label for point in points), NORMAL)
    figure, body = sheet(width, height + 0.55, _TITLE, _SUBTITLE, keys)
    axes = body.subplots()
    axes.set_label("scatter")
    _draw_points(axes, points)
    _draw_labels(axes, points, _PITCH / height)
    said = "; ".join(f"{x.label}: gap {number(x.gap)} %, W {number(x.w, 3)}" for x in points)
    alt_text = f"Scatter plot. {_TITLE}. {_SUBTITLE} {said}."
    return [Drawing("gap-against-consistency", _TITLE, alt_text, "headline", figure)]


def _is_comparable(run: FigureRun) -> bool:
    """Tell whether a run covers the benchmark of which values were published, by the same definitions."""
    design = run.design
    n_cells = (len(design.languages) + 1) * len(design.use_cases) * len(design.axes)
    is_paper = run.headline["definitions"] == "paper"
    return is_paper and design.name == PUBLISHED_BENCHMARK and len(run.tables["use_case_axis"]) == n_cells


def _point(run: FigureRun) -> _Point | None:
    gap, w = cell(run.headline, "mean_delta_pct"), cell(run.headline, "mean_kendall_w")
    low, high = (cell(run.headline, f"mean_delta_pct_ci_{end}") for end in ("low", "high"))
    return None if gap is None or w is None else _Point(run.label, gap, low, high, w)


def _published() -> Iterator[_Point]:
    """Yield the published models whose mean W is printed for both languages, for context."""
    gaps, english, hinglish = (published_rows(table) for table in ("2", "5", "6"))
    for model in [name for name in gaps if name in english and name in hinglish]:
        w = (english[model]["mean"].value + hinglish[model]["mean"].value) / 2
        gap = gaps[model]["mean_delta_pct"]
        yield _Point(f"{model} (published)", gap.value, gap.low, gap.high, w, published=True)


def _draw_points(axes: Axes, points: Sequence[_Point]) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, labelsize=SMALL, pad=4)
    axes.grid(color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.set_xlim(0, max(point.high or point.gap for point in points) * 1.08 or 1)
    axes.set_ylim(0, min(max(point.w for point in points) * 1.15, 1.02) or 1)
    axes.set_xlabel("Mean Δ%")
    axes.set_ylabel("Mean Kendall's W")
    for point in points:
        if point.low is not None and point.high is not None:
            colour = MUTED if point.published else DARK
            axes.plot([point.low, point.high], [point.w] * 2, color=colour, lw=1.2)
    for published in (True, False):
        shown = [point for point in points if point.published == published]
        gaps, ws = [point.gap for point in shown], [point.w for point in shown]
        colour, name = (MUTED, "published") if published else (DARK, "runs")
        size = 5 if published else 7
        axes.plot(gaps, ws, "o", color=colour, mec=PAPER, ms=size, label=name)


def _draw_labels(axes: Axes, points: Sequence[_Point], pitch: float) -> None:
    """Write the names at the right in the points' order, joined to them by thin lines."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ordered = sorted(points, key=lambda point: (-point.w, point.gap))
    wanted = [float(to_axes.transform((point.gap, point.w))[1]) for point in ordered]
    for point, y in zip(ordered, spread(wanted, pitch), strict=True):
        axes.annotate(
            point.label,
            xy=(point.gap, point.w),
            xytext=(1.05, y),
            textcoords="axes fraction",
            va="center",
            fontsize=NORMAL,
            color=MUTED if point.published else INK,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": LINE,
                "lw": 0.7,
                "shrinkA": 2,
                "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )


def spread(wanted: Sequence[float], pitch: float) -> list[float]:
    """Return places from high to low, as near to the wanted ones as a distance of `pitch` allows, in [0, 1].

    Neighbours that are too near are put into groups, each centred on the mean of what its members want.
    """
    groups: list[list[float]] = []
    for place in wanted:
        groups.append([place])
        while len(groups) > 1 and _bottom(groups[-2], pitch) - _top(groups[-1], pitch) < pitch:
            last = groups.pop()
            groups[-1] += last
    return [_top(group, pitch) - at * pitch for group in groups for at in range(len(group))]


def _top(group: Sequence[float], pitch: float) -> float:
    half = (len(group) - 1) * pitch / 2
    centre = sum(group) / len(group)
    return min(max(centre, pitch / 2 + half), 1 - pitch / 2 - half) + half


def _bottom(group: Sequence[float], pitch: float) -> float:
    return _top(group, pitch) - (len(group) - 1) * pitch
