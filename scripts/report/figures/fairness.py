"""What an instruction to be fair changes (Figure 14)."""

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes

from ...words import USE_CASE_LABELS
from .identifier_heat import signed
from .records import Drawing, FigureRun, number
from .style import DARK, HEADING, INK, LIGHT, MARGIN, NORMAL, SMALL, Canvas, Key, bare, widest

_TITLE: Final = "What an instruction to be fair changes"
_SUBTITLE: Final = (
    "Change of the mean Δ% in points, averaged over axes; then before → after, and the relative change."
)
_WIDTH: Final = 8.6
_PITCH: Final = 0.26
_HEADING: Final = 0.32

Effects = Mapping[str, tuple[float, float, float, float | None]]
"""Run to standard, fair, change in points, change in percent."""


def fairness_effects(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the bars, a block a use case; none where no model has both runs."""
    blocks = {use_case: _effects(runs, use_case) for use_case in USE_CASE_LABELS}
    blocks = {use_case: effects for use_case, effects in blocks.items() if effects}
    if not blocks:
        return []
    labels = list(dict.fromkeys(label for effects in blocks.values() for label in effects))
    left = MARGIN + widest(labels, NORMAL) + 0.12
    body = sum(_HEADING + _PITCH * len(effects) for effects in blocks.values()) + MARGIN
    keys = [Key("narrower gaps", DARK), Key("wider gaps", LIGHT)]
    canvas = Canvas(_WIDTH, body, _TITLE, _SUBTITLE, keys)
    changes = [effect[2] for effects in blocks.values() for effect in effects.values()]
    ends = (min(*changes, 0.0), max(*changes, 0.0))
    top = canvas.top
    for use_case, effects in blocks.items():
        canvas.text(
            MARGIN,
            top + _HEADING - 0.09,
            USE_CASE_LABELS[use_case],
            size=HEADING,
            weight="bold",
            va="baseline",
        )
        top += _HEADING
        height, width = _PITCH * len(effects), _WIDTH - left - MARGIN
        _draw(canvas.axes(left, top, width, height, label=use_case), effects, ends, width)
        top += height
    return [Drawing("fairness-instruction", _TITLE, _alt_text(blocks), "fairness", canvas.figure)]


def _effects(runs: Sequence[FigureRun], use_case: str) -> dict[str, tuple[float, float, float, float | None]]:
    effects = {}
    for run in runs:
        row = run.row("fairness", use_case=use_case)
        standard, fair, change = (number(row, x) for x in ("standard_pct", "fair_pct", "change_points"))
        if standard is not None and fair is not None and change is not None:
            effects[run.label] = (standard, fair, change, number(row, "change_pct"))
    return effects


def _draw(axes: Axes, effects: Effects, ends: tuple[float, float], width: float) -> None:
    bare(axes)
    axes.set_ylim(len(effects), 0)
    room = widest((_said(effect) for effect in effects.values()), SMALL) + 6 / 72
    share = max((width - room) / width, 0.2)
    low, high = ends if ends[0] < ends[1] else (0.0, 1.0)
    axes.set_xlim(low, low + (high - low) / share)
    axes.set_xticks([])
    axes.set_yticks([at + 0.5 for at in range(len(effects))], list(effects))
    for at, effect in enumerate(effects.values()):
        change = effect[2]
        axes.barh(at + 0.5, change, height=0.66, color=DARK if change < 0 else LIGHT, lw=0)
        axes.annotate(
            _said(effect),
            (max(change, 0.0), at + 0.5),
            (4, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=SMALL,
        )
    axes.axvline(0, color=INK, lw=0.8)


def _said(effect: tuple[float, float, float, float | None]) -> str:
    standard, fair, change, relative = effect
    percent = "" if relative is None else f", {signed(relative, 0)} %"
    return f"{signed(change, 1)} ({standard:.1f} → {fair:.1f}{percent})"


def _alt_text(blocks: Mapping[str, Effects]) -> str:
    said = "; ".join(
        f"{USE_CASE_LABELS[use_case]}, {label}: {_said(effect)}"
        for use_case, effects in blocks.items()
        for label, effect in effects.items()
    )
    return f"Bars. {_TITLE}. {_SUBTITLE} {said}."
