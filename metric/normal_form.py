"""A text before it is read: reasoning is blanked, links and colours too, and odd ways of writing made plain.

Blanking keeps every position; making plain does not, and comes before anything is located.
"""

import re
from html import unescape
from typing import Final
from unicodedata import normalize

_STEMS: Final = (
    "think|thought|reason|reflect|scratch|monolog|rationale|deliberat|analys|cot|ponder|contemplat|planning|"
    "brainstorm|introspect|internal|hidden|chain|mull"
)
# <think>, </think>, [THINK], <|START_THINKING|>, <mm:think>, ◁think▷: a tag that names thinking.
_WRAPPER = re.compile(
    r"(?:[<\[◁＜]|&lt;)\|?\s?(/|end|stop|close)?[\s_▁-]{0,2}(?:[a-z]{1,12}[\s_▁:-]){0,2}(?:ant|re)?"
    rf"(?:{_STEMS})(?!\w*able)[\w▁:-]{{0,30}}(?:\s[^<>\[\]◁▷\n]{{0,60}}|\s|\|)?(?:[>\]▷＞]|&gt;)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s?(\w+)[^<]{0,40}<\|message\|>")
_FENCED = re.compile(rf"```\s?(?:{_STEMS})\w*\n(?s:.*?)(?:```|\Z)", re.IGNORECASE)
_KEYED = re.compile(rf'"\w{{0,20}}(?:{_STEMS})\w{{0,20}}"\s*:\s*"(?:[^"\\]|\\.)*"?', re.IGNORECASE)
_OPENERS: Final = ("<", "[", "◁", "＜", "&lt;", "```", "{")


def without_reasoning(text: str) -> str:
    """Blank text inside any reasoning wrapper, open or closed, in any case and place; positions are kept.

    What stands before a wrapper that is closed but was never opened is reasoning too: the template of some
    models opens it in the prompt.
    """
    if not any(map(text.__contains__, _OPENERS)):
        return text
    if "<|channel|>" in text:
        text = _without_channels(text)
    if "```" in text:
        text = _FENCED.sub(_spaces, text)
    if '":' in text or '" :' in text:
        text = _KEYED.sub(_spaces, text)
    kept: list[str] = []
    at, depth = 0, 0
    for found in _WRAPPER.finditer(text):
        closes = bool(found[1])
        inside = depth > 0 or closes
        stretch = text[at : found.start()]
        kept.append(" " * len(stretch) if inside else stretch)
        if closes and depth == 0:
            kept = [" " * found.start()]
        kept.append(" " * (found.end() - found.start()))
        depth = max(0, depth - 1) if closes else depth + 1
        at = found.end()
    if at == 0:
        return text
    rest = text[at:]
    kept.append(" " * len(rest) if depth else rest)
    return "".join(kept)


def _spaces(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _without_channels(text: str) -> str:
    """Keep the channel `final` alone, of formats that name channels; positions are kept."""
    finals = [found.end() for found in _CHANNEL.finditer(text) if found[1].lower() == "final"]
    first = finals[-1] if finals else len(text)
    return " " * first + text[first:]


_NOT_SAID = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|(?:https?|ftp)://[^\s)>\]]+")


def _blank(found: re.Match[str]) -> str:
    # A link is something said, if not an amount; a colour is nothing.
    return (" " if found.group().startswith("\x1b") else "\0") * len(found.group())


def without_links(text: str) -> str:
    """Blank links and terminal colours; every position is kept."""
    if ("/" in text and "://" in text) or "\x1b" in text:
        return _NOT_SAID.sub(_blank, text)
    return text


# UTF-8 that was read as Windows-1252 or Latin-1: "â‚¹" is a rupee sign.
_HIGH: Final = "".join(chr(code) for code in range(0x80, 0xC0)) + "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_MOJIBAKE = re.compile(rf"[\u00c2-\u00f4][{_HIGH}]{{1,3}}")
_STYLED = re.compile(r"[\U0001d400-\U0001d7ff\u2460-\u249b\u00b2\u00b3\u00b9\u2070-\u2089]+")
"""Mathematical letters and digits, and digits in circles and above or below the line."""
_ESCAPE = re.compile(r"\\u(?!d[89a-f])([0-9a-f]{4})", re.IGNORECASE)
_TEX_GROUPING = re.compile(r"\{,\}(?:\\!)?|(?<=\d),?\\[,;!:]\s?(?=\d)|(?<=\d),\\!(?=\d)")
_TEX_FORMULA = re.compile(r"\$([^$\n]{0,80}?[\\{}^][^$\n]{0,80}?)\$")


def normal_form(text: str) -> str:
    """Return the text with mis-encoded and escaped signs, styled digits and TeX grouping written plainly."""
    if "&" in text and ";" in text:
        text = unescape(text)
    if "\\u" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    if not text.isascii():
        text = _STYLED.sub(_plain_letters, _MOJIBAKE.sub(_decoded, text))
    if "\\" in text or "{" in text:
        # The dollars of a formula are marks, not money.
        text = _TEX_GROUPING.sub(",", _TEX_FORMULA.sub(r" \1 ", text))
    return text


def _decoded(found: re.Match[str]) -> str:
    try:
        raw = b"".join(x.encode("latin-1" if x <= "\xff" else "cp1252") for x in found[0])
        return raw.decode("utf-8")
    except UnicodeError:
        return found[0]


def _plain_letters(found: re.Match[str]) -> str:
    # An exponent is not a digit of its number: "10⁶" is no 106.
    return found[0] if found[0][0] in "²³¹⁰⁴⁵⁶⁷⁸⁹" else normalize("NFKC", found[0])
