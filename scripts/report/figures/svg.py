"""SVG that can be put into a page as it is: with title and description, without style sheets and ids."""

import re
from html import escape
from typing import Final

_FONTS: Final = "'DejaVu Sans', Verdana, sans-serif"
"""Verdana has the widths of DejaVu Sans."""
_HEAD: Final = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_META: Final = re.compile(r" *<metadata>.*?</metadata>\n", re.DOTALL)
_STYLE: Final = re.compile(r" *<defs>\s*<style[^>]*>.*?</style>\s*</defs>\n", re.DOTALL)
_COMMENT: Final = re.compile(r" *<!--.*?-->\n?", re.DOTALL)
_GROUP_ID: Final = re.compile(r'<g id="[^"]*"')
_INLINE: Final = re.compile(r' style="([^"]*)"')
_FONT: Final = re.compile(r"^(?:(?P<weight>bold|\d+) )?(?P<size>[\d.]+)px .*$")


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
