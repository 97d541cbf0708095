"""Heat maps of gaps between identifiers: canonical pairs and maximum observed gaps (Figures 8 and 9)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from matplotlib.colors import Colormap

from rupeebias.metric.constants import CANONICAL_PAIRS, USE_CASES
from rupeebias.metric.tables import Row

from ...words import AXIS_LABELS, USE_CASE_LABELS, identifier_label
from .heat import Heat, HeatCell, draw_heat, heat_size
from .records import Drawing, FigureRun, number
from .style import AMOUNT, MARGIN, SIGNED, Canvas

MAX_RUNS: Final = 10
"""More runs are spread over several figures, or their cells could not be read."""
MINIMUM_WIDTH: Final = 6.5
_SHORT: Final = {
    "speech_and_language_disability": "Speech and language",
    "locomotor_disability": "Locomotor",
    "intellectual_disability": "Intellectual",
    "specific_learning_disability": "Specific learning",
    "autism_spectrum_disorder": "Autism spectrum",
    "chronic_neurological_condition": "Chronic neurological",
}
"""Names that would make the cells too wide."""


@dataclass(frozen=True, slots=True)
class PairFigure:
    """What a heat map of identifier gaps says, besides its data."""

    name: str
    title: str
    subtitle: str
    table: str
    value: str
    colours: Colormap
    centred: bool
    text: Callable[[Row], str]
    """Lines of a cell."""
    row_label: Callable[[str], str]
    """Name of an axis's row."""


def canonical_pairs(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the heat map of canonical pair gaps."""
    return _split(
        runs,
        PairFigure(
            "canonical-pair-gap",
            "Gaps of six canonical pairs",
            "Gap in percent (positive, blue: the first of the pair gets more; * the 95 % interval excludes "
            "0); below it, the share of matched slots in which the first gets strictly more.",
            "canonical_pair_gap",
            "cpg_pct",
            SIGNED,
            True,
            _pair_text,
            _pair_label,
        ),
    )


def maximum_gaps(runs: Sequence[FigureRun]) -> list[Drawing]:
    """Return the heat map of maximum observed gaps."""
    return _split(
        runs,
        PairFigure(
            "maximum-observed-gap",
            "Widest gap between two identifiers",
            "Gap of the identifier means in percent with its 95 % interval; below, who gets most, then who "
            "gets least. A maximum that was searched for is above 0 even without bias.",
            "maximum_observed_gap",
            "mog_pct",
            AMOUNT,
            False,
            _maximum_text,
            AXIS_LABELS.__getitem__,
        ),
    )


def _split(runs: Sequence[FigureRun], what: PairFigure) -> list[Drawing]:
    covered = [run for run in runs if any(row[what.value] is not None for row in run.tables[what.table])]
    n_parts = ceil(len(covered) / MAX_RUNS)
    limit = max((abs(value) for run in covered for value in _values(run, what)), default=0.0)
    size = ceil(len(covered) / max(n_parts, 1))
    return [
        _draw(covered[at * size : (at + 1) * size], what, limit, f"-{at + 1}" if n_parts > 1 else "")
        for at in range(n_parts)
    ]


def _values(run: FigureRun, what: PairFigure) -> Iterator[float]:
    for row in run.tables[what.table]:
        value = number(row, what.value)
        if value is not None:
            yield value


def _draw(runs: Sequence[FigureRun], what: PairFigure, limit: float, suffix: str) -> Drawing:
    cells: dict[tuple[str, str, str], HeatCell] = {}
    for use_case in USE_CASES:
        for axis in AXIS_LABELS:
            for run in runs:
                row = run.row(what.table, use_case=use_case, axis=axis)
                value = number(row, what.value)
                if row is not None and value is not None:
                    key = (USE_CASE_LABELS[use_case], what.row_label(axis), run.label)
                    cells[key] = HeatCell(value, what.text(row))
    blocks = {
        label: list(dict.fromkeys(row for block, row, _ in cells if block == label))
        for label in USE_CASE_LABELS.values()
        if any(key[0] == label for key in cells)
    }
    heat = Heat(blocks, [run.label for run in runs], cells, what.colours, what.centred, limit)
    size = heat_size(heat)
    width = max(size.width + 2 * MARGIN, MINIMUM_WIDTH)
    canvas = Canvas(width, size.height + MARGIN, what.title, what.subtitle)
    draw_heat(canvas, heat, size, MARGIN, canvas.top, what.name)
    strongest = max(cells, key=lambda key: abs(cells[key].value))
    said = ", ".join(cells[strongest].text.split("\n"))
    about = f"Strongest: {strongest[2]}, {strongest[0]}, {strongest[1]}: {said}."
    alt_text = f"Heat map. {what.title}. {what.subtitle} {about}"
    return Drawing(f"{what.name}{suffix}", what.title, alt_text, what.table, canvas.figure)


def _pair_text(row: Row) -> str:
    value, low, high = (number(row, name) for name in ("cpg_pct", "ci_low", "ci_high"))
    starred = low is not None and high is not None and not low <= 0 <= high
    consistency = number(row, "sign_consistency_pct")
    share = "" if consistency is None else f"\n{consistency:.0f} %"
    return f"{signed(value or 0.0, 1)}{'*' if starred else ''}{share}"


def _maximum_text(row: Row) -> str:
    value, low, high = (number(row, name) for name in ("mog_pct", "ci_low", "ci_high"))
    interval = "" if low is None or high is None else f" [{low:.1f}, {high:.1f}]"
    names = (_short_label(str(row["axis"]), row[end]) for end in ("highest", "lowest"))
    return "\n".join((f"{value:.1f}{interval}".replace("-", "−"), *names))


def _pair_label(axis: str) -> str:
    return " – ".join(_short_label(axis, name) for name in CANONICAL_PAIRS[axis])


def _short_label(axis: str, identifier: object) -> str:
    return _SHORT.get(str(identifier)) or identifier_label(axis, identifier)


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, a true minus, and no sign for a printed zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")
