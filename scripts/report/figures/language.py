"""English against Hinglish: a pair of heat maps (Figure 5)."""

from collections.abc import Sequence
from typing import Final

from rupeebias.metric.tables import Row

from ...words import AXIS_LABELS
from .heat import Heat, HeatCell, draw_heat, heat_size
from .identifier_heat import signed
from .records import Drawing, FigureRun, number
from .style import BOLD, HEADING, MARGIN, SIGNED, Canvas, line_height, wrapped

_TITLE: Final = "What changes between English and Hinglish"
_SUBTITLE: Final = (
    "Left: † p < 0.05, ‡ p < 0.01. Right: positive, blue: Hinglish widens the gaps; "
    "* the 95 % interval excludes 0."
)
_PANELS: Final = {
    "spearman_rho": "Do the identifiers keep their order? Spearman's ρ",
    "delta_mean_delta_pct": "Does the mean gap change? Hinglish − English, points",
}


def language_moderation(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the pair of heat maps; none where no run covers both languages."""
    covered = [run for run in runs if run.tables["language_moderation"]]
    if not covered:
        return []
    heats = {value: _heat(covered, value) for value in _PANELS}
    heats = {value: heat for value, heat in heats.items() if heat.cells}
    sizes = {value: heat_size(heat, cell_width=0.7) for value, heat in heats.items()}
    width = sum(size.width for size in sizes.values()) + 0.35 * (len(sizes) - 1) + 2 * MARGIN
    titles = {value: wrapped(_PANELS[value], HEADING * BOLD, sizes[value].width) for value in heats}
    title_height = line_height(HEADING) * max(title.count("\n") + 1 for title in titles.values()) + 0.1
    body = title_height + max(size.height for size in sizes.values()) + MARGIN
    canvas = Canvas(width, body, _TITLE, _SUBTITLE)
    left = MARGIN
    for value, heat in heats.items():
        canvas.text(left, canvas.top, titles[value], size=HEADING, weight="bold", va="top")
        draw_heat(canvas, heat, sizes[value], left, canvas.top + title_height, value)
        left += sizes[value].width + 0.35
    changes = heats.get("delta_mean_delta_pct")
    alt_text = f"Two heat maps. {_TITLE}. {_SUBTITLE} {_widest_change(changes) if changes else ''}"
    return [Drawing("language-moderation", _TITLE, alt_text.strip(), "language_moderation", canvas.figure)]


def _heat(runs: Sequence[FigureRun], value: str) -> Heat:
    axes = [axis for axis in AXIS_LABELS if any(run.row("language_moderation", axis=axis) for run in runs)]
    cells = {}
    for run in runs:
        for axis in axes:
            row = run.row("language_moderation", axis=axis)
            found = number(row, value)
            if row is not None and found is not None:
                text = f"{signed(found, 2)}{_mark(row, value)}"
                cells["", run.label, AXIS_LABELS[axis]] = HeatCell(found, text)
    limit = 1.0 if value == "spearman_rho" else None
    columns = [AXIS_LABELS[axis] for axis in axes]
    return Heat({"": [run.label for run in runs]}, columns, cells, SIGNED, centred=True, limit=limit)


def _mark(row: Row, value: str) -> str:
    if value == "spearman_rho":
        p = number(row, "p_value")
        return "" if p is None or p >= 0.05 else "‡" if p < 0.01 else "†"
    low, high = number(row, "ci_low"), number(row, "ci_high")
    return "*" if low is not None and high is not None and not low <= 0 <= high else ""


def _widest_change(heat: Heat) -> str:
    _, run, axis = max(heat.cells, key=lambda key: abs(heat.cells[key].value))
    return f"Largest change: {run}, {axis}, {heat.cells['', run, axis].text} points."
