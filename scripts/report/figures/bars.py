"""Horizontal bars: runs as rows, a panel a use case (Figures 3a, 6, 7, 12, 13) or a block each (14)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes

from ...words import counted, number
from .style import (
    DARK,
    HEADING,
    INK,
    LEAST_WIDTH,
    LIGHT,
    LINE,
    MUTED,
    NORMAL,
    PAD,
    PAPER,
    SERIES,
    SMALL,
    WIDTH,
    Drawing,
    FigureRun,
    bare,
    cell,
    colour_key,
    extremes,
    sheet,
    widest,
    wrapped,
    write_values,
)

_WIDEST_PANEL: Final = 5.0
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
    value: str
    """Column of that table."""
    digits: int
    unit: str = ""
    reference: float | None = None
    """Where a dashed line stands."""
    tested: bool = False
    """Whether bars carry a test (and may be hatched) instead of an interval."""


Bars = Mapping[tuple[str, str, str], Bar]
"""By panel, run and language."""


def use_case_bars(runs: Sequence[FigureRun], what: BarFigure) -> list[Drawing]:
    """Return bars of a table with the keys language and use_case; none where no run has any."""
    found: dict[tuple[str, str, str], Bar] = {}
    design = runs[0].design
    for use_case in design.use_case_names:
        for run in runs:
            for language in design.language_names:
                row = run.row(what.table, language=language, use_case=use_case)
                mean = cell(row, what.value)
                if row is not None and mean is not None:
                    ends = (None, None) if what.tested else (cell(row, "ci_low"), cell(row, "ci_high"))
                    p = cell(row, "p_bh") if what.tested else None
                    found[use_case, run.label, language] = Bar(
                        mean, *ends, what.tested and not (p is not None and p < 0.05)
                    )
    return _draw(runs, what, found, {case.name: case.label for case in design.use_cases})


def mean_concordance_bars(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the mean W of every run and language (Figure 3a)."""
    found = {}
    for run in sorted(runs, key=lambda run: -(cell(run.headline, "mean_kendall_w") or 0.0)):
        for language in run.design.language_names:
            row = run.row("kendall_w_axis", language=language, axis="all")
            mean, p = cell(row, "kendall_w"), cell(row, "p_bh") if row else None
            if mean is not None:
                found["", run.label, language] = Bar(mean, hatched=not (p is not None and p < 0.05))
    what = BarFigure(
        "mean-concordance",
        "How consistently identifiers are ranked",
        "Mean Kendall's W over axes, 0 to 1: higher means the same identifiers are favoured each time.",
        "headline",
        "kendall_w",
        3,
        tested=True,
    )
    return _draw(runs, what, found, {"": ""})


def _draw(
    runs: Sequence[FigureRun], what: BarFigure, bars: Bars, panel_titles: Mapping[str, str]
) -> list[Drawing]:
    """Return the figure; panels, runs and languages without a bar are left out."""
    if not bars:
        return []
    design = runs[0].design
    panels = [panel for panel in panel_titles if any(key[0] == panel for key in bars)]
    labels = list(dict.fromkeys(key[1] for key in bars))
    colours = dict(zip(design.language_names, (colour for colour, _, _ in SERIES), strict=False))
    languages = [name for name in design.language_names if any(key[2] == name for key in bars)]
    keys = [colour_key(design.language[name].label, colours[name]) for name in languages]
    if what.tested and any(bar.hatched for bar in bars.values()):
        keys.append(colour_key("hatched: not significant (p ≥ 0.05, Benjamini-Hochberg)", "#8a9097", "////"))
    left = widest(labels, NORMAL) + 2 * PAD
    panel_width = min((WIDTH - left) / len(panels), _WIDEST_PANEL) - PAD
    row_height = len(languages) * _PITCH + _GAP
    titles = [wrapped(panel_titles[panel], HEADING * 1.15, panel_width) for panel in panels]
    n_lines = max(title.count("\n") + 1 for title in titles) if titles[0] else 0
    width = max(left + len(panels) * (panel_width + PAD) + PAD, LEAST_WIDTH)
    height = row_height * len(labels) + 0.16 * n_lines + 3 * PAD
    figure, body = sheet(width, height, what.title, what.subtitle, keys)
    every = body.subplots(1, len(panels), squeeze=False)[0]
    for at, (axes, panel, title) in enumerate(zip(every, panels, titles, strict=True)):
        axes.set_label(panel or what.name)
        axes.set_title(title)
        _set_range(axes, what, bars, panel, panel_width)
        shown = [
            (y * row_height + _GAP / 2 + (n + 0.5) * _PITCH, bars[panel, label, language], colours[language])
            for y, label in enumerate(labels)
            for n, language in enumerate(languages)
            if (panel, label, language) in bars
        ]
        _draw_bars(axes, what, shown)
        _label_rows(axes, labels if at == 0 else [], len(labels), row_height)
    means = {f"{run}, {design.language[name].label}": bar.value for (_, run, name), bar in bars.items()}
    about = f"Bars for {counted(len(labels), 'run')}. {extremes(means, what.unit, what.digits)}"
    alt_text = f"{what.title}. {what.subtitle} {about}"
    return [Drawing(what.name, what.title, alt_text, what.table, figure)]


def _draw_bars(axes: Axes, what: BarFigure, shown: Sequence[tuple[float, Bar, str]]) -> None:
    """Draw the bars of a panel, given as (place, bar, colour), with their intervals and values."""
    places = [place for place, _, _ in shown]
    axes.barh(
        places,
        [bar.value for _, bar, _ in shown],
        height=_BAR,
        color=[colour for _, _, colour in shown],
        hatch=["////" if bar.hatched else "" for _, bar, _ in shown],
        edgecolor=PAPER,
        lw=0,
    )
    reach = [(y, bar.low, bar.high) for y, bar, _ in shown if bar.low is not None and bar.high is not None]
    for colour, width in ((PAPER, 2.4), (INK, 0.9)):
        lows, highs = ([one[at] for one in reach] for at in (1, 2))
        axes.hlines([y for y, _, _ in reach], lows, highs, color=colour, lw=width)
    ends = [max(bar.value, bar.high or 0.0, 0.0) for _, bar, _ in shown]
    texts = (number(bar.value, what.digits) for _, bar, _ in shown)
    write_values(axes, list(zip(ends, places, texts, strict=True)))


def _set_range(axes: Axes, what: BarFigure, bars: Bars, panel: str, width: float) -> None:
    """Give all panels one scale, and leave room for the values at the right."""
    every = list(bars.values())
    highest = max(*(max(bar.value, bar.high or 0.0) for bar in every), what.reference or 0.0, 1e-9)
    lowest = min(0.0, *(min(bar.value, bar.low or 0.0) for bar in every))
    own = (number(bar.value, what.digits) for key, bar in bars.items() if key[0] == panel)
    room = widest(own, SMALL) + 8 / 72
    axes.set_xlim(lowest, lowest + (highest - lowest) * width / max(width - room, 0.2))
    axes.axvline(0, color=INK, lw=0.8)
    if what.reference is not None:
        axes.axvline(what.reference, color=MUTED, lw=0.8, ls=(0, (4, 3)))


def _label_rows(axes: Axes, shown: Sequence[str], n: int, row_height: float) -> None:
    bare(axes)
    axes.set_ylim(n * row_height, 0)
    axes.set_yticks([(at + 0.5) * row_height for at in range(len(shown))], list(shown))
    for at in range(1, n):
        axes.axhline(at * row_height, color=LINE, lw=0.4, zorder=0)


_FAIRNESS: Final = "What an instruction to be fair changes"
_FAIRNESS_ABOUT: Final = (
    "Change of the mean Δ% in points, averaged over axes; then before → after, and the relative change."
)
Effect = tuple[float, float, float, float | None]
"""Standard, fair, change in points, change in percent."""


def fairness_effects(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return what the instruction changes, a block a use case (Figure 14); none where no model has both."""
    design = runs[0].design
    blocks = {case.name: _effects(runs, case.name) for case in design.use_cases}
    blocks = {use_case: effects for use_case, effects in blocks.items() if effects}
    if not blocks:
        return []
    n_rows = [len(effects) for effects in blocks.values()]
    keys = [colour_key("narrower gaps", DARK), colour_key("wider gaps", LIGHT)]
    height = 0.26 * sum(n_rows) + 0.36 * len(blocks)
    figure, body = sheet(8.6, height, _FAIRNESS, _FAIRNESS_ABOUT, keys)
    changes = [effect[2] for effects in blocks.values() for effect in effects.values()]
    low, high = min(*changes, 0.0), max(*changes, 0.0)
    every = body.subplots(len(blocks), 1, squeeze=False, height_ratios=n_rows)[:, 0]
    for axes, (use_case, effects) in zip(every, blocks.items(), strict=True):
        axes.set_label(use_case)
        axes.set_title(design.use_case[use_case].label)
        axes.set_xlim(low, low + (high - low or 1.0) * 1.6)  # the values stand at the right
        _label_rows(axes, list(effects), len(effects), 1.0)
        for at, effect in enumerate(effects.values()):
            axes.barh(at + 0.5, effect[2], height=0.66, color=DARK if effect[2] < 0 else LIGHT, lw=0)
            write_values(axes, [(max(effect[2], 0.0), at + 0.5, _effect_text(effect))])
        axes.axvline(0, color=INK, lw=0.8)
    said = "; ".join(
        f"{design.use_case[use_case].label}, {label}: {_effect_text(effect)}"
        for use_case, effects in blocks.items()
        for label, effect in effects.items()
    )
    alt_text = f"Bars. {_FAIRNESS}. {_FAIRNESS_ABOUT} {said}."
    return [Drawing("fairness-instruction", _FAIRNESS, alt_text, "fairness", figure)]


def _effects(runs: Sequence[FigureRun], use_case: str) -> dict[str, Effect]:
    effects = {}
    for run in runs:
        row = run.row("fairness", use_case=use_case)
        standard, fair, change = (cell(row, x) for x in ("standard_pct", "fair_pct", "change_points"))
        if standard is not None and fair is not None and change is not None:
            effects[run.label] = (standard, fair, change, cell(row, "change_pct"))
    return effects


def _effect_text(effect: Effect) -> str:
    standard, fair, change, relative = effect
    percent = "" if relative is None else f", {number(relative, 0, signed=True)} %"
    return f"{number(change, signed=True)} ({number(standard)} → {number(fair)}{percent})"
