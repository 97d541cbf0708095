"""Horizontal bars: runs as rows, a panel a use case, a bar a language (Figures 3a, 6, 7, 12 and 13)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes

from rupeebias.metric.benchmark import DESIGN

from ...words import LANGUAGE_LABELS, USE_CASE_LABELS
from .records import Drawing, FigureRun, extremes, number
from .style import (
    BOLD,
    HEADING,
    INK,
    LANGUAGE_COLOURS,
    LINE,
    MARGIN,
    MUTED,
    NORMAL,
    PAPER,
    SMALL,
    Canvas,
    Key,
    bare,
    line_height,
    widest,
    wrapped,
)

_WIDTH: Final = 10.0
_LEAST_WIDTH: Final = 6.5
_WIDEST_PANEL: Final = 5.0
_BETWEEN: Final = 0.15
"""Inches between panels."""
_BAR: Final = 0.14
_PITCH: Final = 0.18
"""Inches: thickness of a bar, distance of two bars of one run."""
_GAP: Final = 0.14
"""Inches between runs."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar."""

    value: float
    low: float | None = None
    high: float | None = None
    hatched: bool = False
    """Not significant."""


@dataclass(frozen=True, slots=True)
class BarFigure:
    """What a figure of bars says, besides its data."""

    name: str
    title: str
    subtitle: str
    table: str
    digits: int
    unit: str = ""
    reference: float | None = None
    """Where a dashed line stands."""
    tested: bool = False
    """Whether bars may be hatched."""


Bars = Mapping[tuple[str, str, str], Bar]
"""By panel, run and language."""


def use_case_bars(
    runs: Sequence[FigureRun], what: BarFigure, value: str, *, interval: bool
) -> Drawing | None:
    """Return bars of a table with the keys language and use_case; None where no run has any."""
    found: dict[tuple[str, str, str], Bar] = {}
    for use_case in USE_CASE_LABELS:
        for run in runs:
            for language in LANGUAGE_LABELS:
                row = run.row(what.table, language=language, use_case=use_case)
                mean = number(row, value)
                if row is not None and mean is not None:
                    ends = (number(row, "ci_low"), number(row, "ci_high")) if interval else (None, None)
                    found[use_case, run.label, language] = Bar(mean, *ends, what.tested and _weak(row))
    return draw_bars(what, found, USE_CASE_LABELS)


def mean_concordance_bars(runs: Sequence[FigureRun]) -> Drawing | None:
    """Return the mean W of every run and language (Figure 3a)."""
    found = {}
    ordered = sorted(runs, key=lambda run: -(number(run.headline, "mean_kendall_w") or 0.0))
    for run in ordered:
        for language in DESIGN.language_names:
            mean = number(run.headline, f"{DESIGN.language[language].split}_mean_kendall_w")
            if mean is not None:
                row = run.row("kendall_w_mean", language=language)
                found["", run.label, language] = Bar(mean, hatched=row is not None and _weak(row))
    what = BarFigure(
        "mean-concordance",
        "How consistently identifiers are ranked",
        "Mean Kendall's W over axes, 0 to 1: higher means the same identifiers are favoured each time.",
        "headline",
        3,
        tested=True,
    )
    return draw_bars(what, found, {"": ""})


def _weak(row: Mapping[str, object]) -> bool:
    p = row["p_bh"]
    return not (isinstance(p, float) and p < 0.05)


def draw_bars(what: BarFigure, bars: Bars, panel_titles: Mapping[str, str]) -> Drawing | None:
    """Return the figure; panels, runs and languages without a bar are left out."""
    panels = [panel for panel in panel_titles if any(key[0] == panel for key in bars)]
    labels = list(dict.fromkeys(key[1] for key in bars))
    languages = [x for x in LANGUAGE_LABELS if any(key[2] == x for key in bars)]
    if not bars:
        return None
    left = MARGIN + widest(labels, NORMAL) + 0.12
    panel_width = min((_WIDTH - left - MARGIN) / len(panels), _WIDEST_PANEL) - _BETWEEN
    width = max(left + len(panels) * (panel_width + _BETWEEN) + MARGIN, _LEAST_WIDTH)
    titles = [wrapped(panel_titles[panel], HEADING * BOLD, panel_width - 0.1) for panel in panels]
    title_height = line_height(HEADING) * max(title.count("\n") + 1 for title in titles) if titles[0] else 0
    row_height = len(languages) * _PITCH + _GAP
    body = title_height + 0.08 + row_height * len(labels) + MARGIN
    canvas = Canvas(width, body, what.title, what.subtitle, _keys(what, bars, languages))
    top = canvas.top + title_height + 0.08
    for at, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        at_left = left + at * (panel_width + _BETWEEN)
        axes = canvas.axes(at_left, top, panel_width, row_height * len(labels), label=panel or what.name)
        canvas.text(at_left, top - 0.09, title, size=HEADING, weight="bold", va="baseline")
        _draw_panel(axes, what, bars, panel, labels, languages, panel_width)
        _label_rows(axes, labels if at == 0 else [], len(labels), row_height)
    means = {f"{run}, {LANGUAGE_LABELS[x]}": bar.value for (_, run, x), bar in bars.items()}
    about = f"Bars for {len(labels)} run{'s' * (len(labels) > 1)}. {extremes(means, what.unit, what.digits)}"
    return Drawing(what.name, what.title, f"{what.title}. {what.subtitle} {about}", what.table, canvas.figure)


def _keys(what: BarFigure, bars: Bars, languages: Sequence[str]) -> list[Key]:
    keys = [Key(LANGUAGE_LABELS[x], LANGUAGE_COLOURS[x]) for x in languages]
    if what.tested and any(bar.hatched for bar in bars.values()):
        keys.append(Key("hatched: not significant (p ≥ 0.05, Benjamini-Hochberg)", "#8a9097", "////"))
    return keys


def _draw_panel(
    axes: Axes,
    what: BarFigure,
    bars: Bars,
    panel: str,
    labels: Sequence[str],
    languages: Sequence[str],
    width: float,
) -> None:
    """Draw bars, intervals and values; y counts inches downwards."""
    row_height = len(languages) * _PITCH + _GAP
    own = [bar for key, bar in bars.items() if key[0] == panel]
    _set_range(axes, what, list(bars.values()), own, width)
    for at, label in enumerate(labels):
        for n, language in enumerate(languages):
            bar = bars.get((panel, label, language))
            if bar:
                y = at * row_height + _GAP / 2 + (n + 0.5) * _PITCH
                _draw_bar(axes, what, bar, y, LANGUAGE_COLOURS[language])
    axes.axvline(0, color=INK, lw=0.8)
    if what.reference is not None:
        axes.axvline(what.reference, color=MUTED, lw=0.8, ls=(0, (4, 3)))


def _draw_bar(axes: Axes, what: BarFigure, bar: Bar, y: float, fill: str) -> None:
    axes.barh(
        y, bar.value, height=_BAR, color=fill, hatch="////" if bar.hatched else "", edgecolor=PAPER, lw=0
    )
    end = bar.value
    if bar.low is not None and bar.high is not None:
        for colour, width in ((PAPER, 2.4), (INK, 0.9)):
            axes.plot([bar.low, bar.high], [y, y], color=colour, lw=width, solid_capstyle="butt")
        end = max(bar.high, bar.value)
    end = max(end, 0.0)
    axes.annotate(
        _value_text(bar.value, what.digits),
        (end, y),
        (3, 0),
        textcoords="offset points",
        va="center_baseline",
        fontsize=SMALL,
        color=INK,
    )


def _value_text(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _set_range(axes: Axes, what: BarFigure, every: Sequence[Bar], own: Sequence[Bar], width: float) -> None:
    """Give all panels one scale, and leave room for the values at the right."""
    highest = max(max(bar.value, bar.high or 0.0) for bar in every)
    highest = max(highest, what.reference or 0.0, 1e-9)
    lowest = min(0.0, *(min(bar.value, bar.low or 0.0) for bar in every))
    room = widest((_value_text(bar.value, what.digits) for bar in own), SMALL) + 5 / 72
    axes.set_xlim(lowest, lowest + (highest - lowest) * width / max(width - room, 0.2))


def _label_rows(axes: Axes, shown: Sequence[str], n: int, row_height: float) -> None:
    bare(axes)
    axes.set_ylim(n * row_height, 0)
    axes.set_xticks([])
    axes.set_yticks([(at + 0.5) * row_height for at in range(len(shown))], list(shown))
    for at in range(1, n):
        axes.axhline(at * row_height, color=LINE, lw=0.4, zorder=0)
