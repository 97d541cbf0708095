"""The house style of the figures, and what they are drawn from."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, Final

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from rupeebias.metric.design import Design
from rupeebias.metric.tables import Row

from ...words import number
from ..runs import ReportRun, Tables, report_tables

INK: Final = "#1f2328"
MUTED: Final = "#5c636b"
LINE: Final = "#c9ced4"
GRID: Final = "#e8eaed"
PAPER: Final = "#ffffff"
ABSENT: Final = "#f1f2f4"
"""Cells without a value."""
DARK: Final = "#1b4f83"
LIGHT: Final = "#e8a33d"
"""DARK and LIGHT stand for the first two languages, and for more and less."""
SERIES: Final = (
    (DARK, "-", "o"),
    (LIGHT, "-", "s"),
    ("#b8336a", "--", "^"),
    ("#2f8f7f", "-.", "D"),
    ("#7a7f87", ":", "v"),
    ("#6b4fa0", "-", "P"),
)
"""Colour, dash and marker of each series: use cases, languages; from the first again where there are more."""

SMALL: Final = 6.8
NORMAL: Final = 8.5
HEADING: Final = 9.0
TITLE: Final = 11.5
"""Font sizes in points."""
WIDTH: Final = 10.0
LEAST_WIDTH: Final = 6.5
"""Inches: the usual width of a figure, and the smallest."""
PAD: Final = 0.12
"""Inches around a figure and between its parts."""
LABEL_LIMIT: Final = 30
"""Longest name of a run, in characters."""

_STRONG: Final = "#6d9fd0"
"""The strongest colour of a cell: dark text stays readable on it."""
SIGNED: Final = LinearSegmentedColormap.from_list("signed", (LIGHT, "#f8dfb8", "#fafafa", "#bdd2e8", _STRONG))
"""From less (orange) over 0 (white) to more (blue)."""
AMOUNT: Final = LinearSegmentedColormap.from_list("amount", ("#fafafa", "#bdd2e8", _STRONG))

SETTINGS: Final[Any] = {
    "font.family": "DejaVu Sans",
    "font.size": NORMAL,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.labelsize": NORMAL,
    "axes.linewidth": 0.8,
    "axes.titlesize": HEADING,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": MUTED,
    "ytick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": NORMAL,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "hatch.linewidth": 0.7,
    "text.hinting": "none",
    "svg.fonttype": "none",
    "text.parse_math": False,
}


@dataclass(frozen=True, slots=True)
class FigureRun:
    """A run as the figures see it: small enough to be sent to another process."""

    label: str
    """Its name, made fit to be drawn; unique."""
    tables: Tables
    """Of the result, `headline` and `fairness`."""
    design: Design

    @property
    def headline(self) -> Row:
        """The flat values."""
        return self.tables["headline"][0]

    def row(self, table: str, **key: str) -> Row | None:
        """Return the row with these keys; None where the run does not cover it."""
        rows = self.tables.get(table, [])
        return next((row for row in rows if all(row[name] == value for name, value in key.items())), None)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure before it is written."""

    name: str
    title: str
    alt_text: str
    table: str
    """The table that it draws."""
    figure: Figure


def figure_runs(runs: Sequence[ReportRun]) -> list[FigureRun]:
    """Return runs ready to draw, the lowest overall mean gap first; those without one last."""
    labels: list[str] = []
    found = []
    for run, tables in zip(runs, report_tables(runs), strict=True):
        label, n = clean(run.name), 2
        while label in labels:  # one that two runs would share gets a number
            label, n = f"{clean(run.name, LABEL_LIMIT - 5)} ({n})", n + 1
        labels.append(label)
        flat = {name: value for name, value in run.result.items() if not isinstance(value, dict | list)}
        flat["definitions"] = run.result["settings"]["definitions"]
        found.append(FigureRun(label, {**tables, "headline": [flat]}, run.design))
    return sorted(found, key=lambda run: (_or_last(run.headline["mean_delta_pct"]), run.label))


def _or_last(value: Any) -> float:
    return float("inf") if value is None else float(value)


def cell(row: Row | None, column: str) -> float | None:
    """Return a number of a row; None where there is none."""
    found = None if row is None else row[column]
    return None if found is None else float(found)


def excludes_zero(row: Row) -> bool:
    """Tell whether a row's interval lies on one side of 0."""
    low, high = cell(row, "ci_low"), cell(row, "ci_high")
    return low is not None and high is not None and not low <= 0 <= high


def extremes(values: dict[str, float], unit: str, digits: int = 1) -> str:
    """Return a sentence for alt texts: which is lowest and which is highest."""
    if not values:
        return ""
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    lowest, highest = f"{number(values[low], digits)}{unit}", f"{number(values[high], digits)}{unit}"
    return f"{low}: {lowest}." if low == high else f"Lowest: {low}, {lowest}. Highest: {high}, {highest}."


@contextmanager
def house_style(salt: str = "") -> Iterator[None]:
    """Draw and save in the house style; the same salt gives the same SVG, byte for byte."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        matplotlib.rcParams["svg.hashsalt"] = salt or "rupeebias"
        yield


def clean(text: str, limit: int = LABEL_LIMIT) -> str:
    """Return a hostile name as matplotlib can draw it: one line, no formulas, only glyphs that the font has.

    The middle of a long name is left out: its provider and its version stay.
    """
    known = _glyphs()
    text = " ".join("".join(x if x.isprintable() else " " for x in text).split()) or "unnamed"
    text = "".join(x if ord(x) in known else "□" for x in text)
    if len(text) > limit:
        head = limit // 2 - 1
        text = f"{text[:head]}…{text[len(text) - (limit - head - 1) :]}"
    return text


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family="DejaVu Sans"))).get_charmap())


@cache
def text_width(text: str, size: float) -> float:
    """Return the width of the widest line of a text in inches."""
    font = get_font(findfont(FontProperties(family="DejaVu Sans")))
    font.set_size(size, 72)
    widths = []
    for line in text.split("\n"):
        font.set_text(line)
        widths.append(font.get_width_height()[0] / 64 / 72)
    return max(widths)


def widest(texts: Iterable[str], size: float) -> float:
    """Return the width of the widest text in inches; 0 for none."""
    return max((text_width(text, size) for text in texts), default=0.0)


def wrapped(text: str, size: float, width: float) -> str:
    """Return a text broken into lines that fit a width in inches, at a width of 0.62 em a letter."""
    return textwrap.fill(text, max(int(width * 72 / (0.62 * size)), 10), break_long_words=False)


def colour_key(label: str, colour: str, hatch: str = "") -> Patch:
    """Return an entry of the key: what a colour or hatch means."""
    return Patch(facecolor=colour, hatch=hatch, edgecolor=PAPER, label=label)


def line_key(label: str, colour: str, dash: str, marker: str) -> Line2D:
    """Return an entry of the key: what a line or a marker means."""
    return Line2D([], [], color=colour, ls=dash or "none", marker=marker, ms=4, label=label)


def sheet(
    width: float, height: float, title: str, subtitle: str, keys: Sequence[Artist] = ()
) -> tuple[Figure, SubFigure]:
    """Return a figure with its heading and key, and the part below, `height` inches high, to draw in."""
    width = max(width, LEAST_WIDTH)
    inner = width - 2 * PAD
    title, subtitle = wrapped(title, TITLE * 1.05, inner), wrapped(subtitle, NORMAL, inner)
    key_width = widest((str(key.get_label()) for key in keys), NORMAL) + 0.5
    columns = max(min(int(inner / key_width), len(keys)), 1)
    heights = [
        0.22 * (title.count("\n") + 1),
        0.165 * (subtitle.count("\n") + 1) + 0.05,
        0.19 * ceil(len(keys) / columns) + (0.08 if keys else 0.0),
    ]
    top = PAD + sum(heights)
    figure = Figure(figsize=(width, top + height), layout="constrained", facecolor=PAPER)
    FigureCanvasAgg(figure)
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=PAD / 2, h_pad=PAD / 2, wspace=0.02, hspace=0.02)
    parts: Any = figure.subfigures(2, 1, height_ratios=(top, height), hspace=0)
    head, body = parts
    left = PAD / width
    head.text(left, 1 - PAD / top, title, fontsize=TITLE, weight="bold", va="top", linespacing=1.2)
    head.text(left, 1 - (PAD + heights[0]) / top, subtitle, color=MUTED, va="top", linespacing=1.2)
    if keys:
        place = (left, 1 - (PAD + heights[0] + heights[1]) / top)
        options = {"ncols": columns, "handlelength": 1.6, "columnspacing": 1.2, "borderaxespad": 0.0}
        head.legend(handles=list(keys), loc="upper left", bbox_to_anchor=place, **options)
    return figure, body


def lay_out(figure: Figure) -> None:
    """Give every part its place, once; it stays where it is."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def bare(axes: Axes) -> None:
    """Take away what carries no data: frame and ticks."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    axes.set_xticks([])


def write_values(axes: Axes, values: Sequence[tuple[float, float, str]], *, left: bool = False) -> None:
    """Write texts beside the ends of bars, given as (x, y, text). The axes' limits leave room for them."""
    beside = ScaledTranslation((-3 if left else 3) / 72, 0, axes.figure.dpi_scale_trans)
    place: Any = {"transform": axes.transData + beside, "ha": "right" if left else "left"}
    for x, y, text in values:
        axes.text(x, y, text, va="center_baseline", fontsize=SMALL, **place).set_in_layout(False)
