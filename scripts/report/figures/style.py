"""The house style of the figures: colours, sizes, text, and a canvas that is laid out in inches.

Colours are told apart by colour-blind readers and, by their lightness, in grey. Nothing here uses pyplot or
changes matplotlib's settings for others.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import Rectangle

INK: Final = "#1f2328"
MUTED: Final = "#5c636b"
LINE: Final = "#c9ced4"
GRID: Final = "#e8eaed"
PAPER: Final = "#ffffff"
ABSENT: Final = "#f1f2f4"
"""Cells without a value."""
DARK: Final = "#1b4f83"
LIGHT: Final = "#e8a33d"
"""DARK and LIGHT stand for the two languages, and for more and less."""
LANGUAGE_COLOURS: Final = {"en": DARK, "hinglish": LIGHT}
LINES: Final = {
    "salary_estimation": ("#1b4f83", "-", "o"),
    "salary_increment": ("#e8a33d", "-", "s"),
    "counter_offer": ("#b8336a", "--", "^"),
    "service_pricing_vendor": ("#2f8f7f", "-.", "D"),
    "service_pricing_customer": ("#7a7f87", ":", "v"),
}
"""Colour, dash and marker of each use case."""

SMALL: Final = 6.8
NORMAL: Final = 8.5
HEADING: Final = 9.0
TITLE: Final = 11.5
"""Font sizes in points."""
BOLD: Final = 1.09
"""How much wider bold text is."""

MARGIN: Final = 0.2
"""Inches around a figure."""
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
    "axes.unicode_minus": True,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": NORMAL,
    "hatch.linewidth": 0.7,
    "svg.fonttype": "none",
    "text.parse_math": False,
    "path.simplify": True,
}


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
    """Return a text broken into lines that fit a width in inches."""
    n_characters = len(text)
    while n_characters > 8:
        lines = textwrap.wrap(text, n_characters, break_long_words=False)
        if widest(lines, size) <= width:
            return "\n".join(lines)
        n_characters -= 1
    return text


def broken(name: str, size: float, width: float, most: int = 3) -> str | None:
    """Return a name on at most so many lines, broken after a space or a mark; None where it does not fit."""
    lines = [""]
    for part in re.findall(r"[^ /_-]*[ /_-]?", name):
        if lines[-1] and text_width((lines[-1] + part).rstrip(), size) > width:
            lines.append("")
        lines[-1] += part
    lines = [line.rstrip() for line in lines]
    return "\n".join(lines) if len(lines) <= most and widest(lines, size) <= width else None


def line_height(size: float) -> float:
    """Return the distance of two lines in inches."""
    return size * 1.35 / 72


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the key: what a colour, hatch or line means."""

    text: str
    colour: str
    hatch: str = ""
    dash: str | None = None
    """Given for lines."""
    marker: str = ""


class Canvas:
    """A figure laid out in inches from its top left corner: title, subtitle and key, then the panels."""

    def __init__(
        self, width: float, body_height: float, title: str, subtitle: str, keys: Sequence[Key] = ()
    ) -> None:
        """Make a figure with room for `body_height` inches below its heading."""
        inner = width - 2 * MARGIN
        title, subtitle = wrapped(title, TITLE * BOLD, inner), wrapped(subtitle, NORMAL, inner)
        rows = _key_rows(keys, inner)
        below_title = MARGIN + line_height(TITLE) * (title.count("\n") + 1)
        below_subtitle = below_title + line_height(NORMAL) * (subtitle.count("\n") + 1) + 0.06
        self.top = below_subtitle + 0.2 * len(rows) + 0.08
        """Inches from the upper edge to where the body begins."""
        self.width, self.height = width, self.top + body_height
        self.figure = Figure(figsize=(self.width, self.height), facecolor=PAPER)
        FigureCanvasAgg(self.figure)
        self.text(MARGIN, MARGIN, title, size=TITLE, weight="bold", va="top")
        self.text(MARGIN, below_title + 0.03, subtitle, color=MUTED, va="top")
        for at, row in enumerate(rows):
            self._draw_keys(row, below_subtitle + 0.2 * at + 0.1)

    def axes(self, left: float, top: float, width: float, height: float, **options: Any) -> Axes:
        """Add a panel; `top` counts from the top of the figure."""
        place = (
            left / self.width,
            1 - (top + height) / self.height,
            width / self.width,
            height / self.height,
        )
        return self.figure.add_axes(place, **options)

    def text(self, left: float, top: float, text: str, *, size: float = NORMAL, **options: Any) -> None:
        """Write a text at a place in inches."""
        self.figure.text(
            left / self.width, 1 - top / self.height, text, fontsize=size, linespacing=1.2, **options
        )

    def _draw_keys(self, keys: Sequence[Key], top: float) -> None:
        axes = self.axes(0, top - 0.1, self.width, 0.2, xlim=(0, self.width), ylim=(0, 0.2), label="key")
        axes.set_axis_off()
        left = MARGIN
        for key in keys:
            if key.dash is not None:
                ends = [left, left + 0.3] if key.dash else [left + 0.15]
                axes.plot(ends, [0.1] * len(ends), color=key.colour, ls=key.dash, marker=key.marker, ms=4)
            else:
                axes.add_patch(Rectangle((left, 0.04), 0.16, 0.12, fc=key.colour, hatch=key.hatch, ec=PAPER))
            axes.text(left + _sample_width(key), 0.1, key.text, va="center_baseline", fontsize=NORMAL)
            left += _key_width(key)


def _sample_width(key: Key) -> float:
    return 0.36 if key.dash is not None else 0.23


def _key_width(key: Key) -> float:
    return _sample_width(key) + text_width(key.text, NORMAL) + 0.2


def _key_rows(keys: Sequence[Key], width: float) -> list[list[Key]]:
    rows: list[list[Key]] = []
    used = width
    for key in keys:
        if used + _key_width(key) > width:
            rows.append([])
            used = 0.0
        rows[-1].append(key)
        used += _key_width(key)
    return rows


def bare(axes: Axes) -> None:
    """Take away what carries no data: frame and ticks."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
