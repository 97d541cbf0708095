"""SVG that can be put into a page: with title and description, without style sheets and clashing ids."""

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from markupsafe import Markup

_FONTS: Final = "'DejaVu Sans', Verdana, sans-serif"
"""Verdana has the widths of DejaVu Sans."""
_HEAD: Final = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_META: Final = re.compile(r" *<metadata>.*?</metadata>\n", re.DOTALL)
_STYLE: Final = re.compile(r" *<defs>\s*<style[^>]*>.*?</style>\s*</defs>\n", re.DOTALL)
_COMMENT: Final = re.compile(r" *<!--.*?-->\n?", re.DOTALL)
_GROUP_ID: Final = re.compile(r'<g id="[^"]*"')
_INLINE: Final = re.compile(r' style="([^"]*)"')
_FONT: Final = re.compile(r"^(?:(?P<weight>bold|\d+) )?(?P<size>[\d.]+)px .*$")
_QUOTED: Final = re.compile(r'''="([^"'<>]*)"''')
_DECIMALS: Final = re.compile(r"(\d\.\d\d)\d+")
_LINE_ENDS: Final = re.compile(r"\s*\n\s*")
_ESCAPES: Final = str.maketrans(
    {char: f"%{ord(char):02X}" for char in map(chr, (*range(0x20), *b'%#"&', 0x7F))}
)


@dataclass(frozen=True, slots=True)
class FigureFile:
    """One figure on disk."""

    name: str
    """File name without its suffix, such as `gap-by-use-case`."""
    title: str
    alt_text: str
    """What the figure shows, for those who cannot see it; plain text, to be escaped."""
    svg: Path
    png: Path
    table: str
    """The table of the result that it draws: a key of `rupeebias.metric.TABLES`, `headline` or `fairness`."""


def embeddable(svg: str, name: str, title: str, description: str) -> str:
    """Return matplotlib's SVG cleaned for use on its own and inside a page.

    A strict content security policy forbids `style`: it becomes presentation attributes. Groups lose their
    ids, which would clash between figures; `name` keeps the remaining ones apart.
    """
    for pattern in (_HEAD, _META, _STYLE, _COMMENT):
        svg = pattern.sub("", svg, count=0 if pattern is _COMMENT else 1)
    svg = _GROUP_ID.sub("<g", svg)
    svg = _INLINE.sub(lambda found: _attributes(found[1]), svg)
    head = (
        f' role="img" aria-labelledby="{name}-title {name}-desc"'
        ' stroke-linejoin="round" stroke-linecap="butt">'
        f'\n <title id="{name}-title">{escape(title)}</title>'
        f'\n <desc id="{name}-desc">{escape(description)}</desc>'
    )
    return svg.replace(">", head, 1)


def _attributes(style: str) -> str:
    found = []
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font":
            font = _FONT.match(value)
            if font:
                found.append(("font-size", f"{font['size']}px"))
                found.append(("font-family", _FONTS))
                found += [("font-weight", font["weight"])] if font["weight"] else []
        elif name == "font-family":
            found.append((name, _FONTS))
        elif name:
            found.append((name, value))
    return "".join(f' {name}="{value}"' for name, value in found)


def svg_source(svg: str) -> Markup:
    """Return an SVG as an image's address between double quotes, a quarter smaller than in base64.

    An image runs no script and reaches nothing, whatever its labels hold. Coordinates are rounded to
    hundredths of a point, line ends become spaces, and attributes stand between single quotes, which need no
    escape there.
    """
    compact = _QUOTED.sub(_attribute, _LINE_ENDS.sub(" ", svg))
    return Markup("data:image/svg+xml;charset=utf-8," + compact.translate(_ESCAPES))  # noqa: S704 escaped


def _attribute(quoted: re.Match[str]) -> str:
    value = _DECIMALS.sub(r"\1", quoted[1])
    return f"='{value}'"
