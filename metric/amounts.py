"""One amount with its units: "₹12,00,000", "12.5 LPA", "one crore twenty lakh per annum".

amount   = [sign] [currency] [sign] number unit* { [and] number smaller-scale }
number   = [half or quarter word] digits [vulgar fraction | "and a half"]
         | digits grouped by , . ' _ or one blank | number words ["and a half"]
unit     = scale | LPA | currency | percent | period | "/-"
"""

import re
from collections.abc import Sequence
from math import isnan
from typing import Final, NamedTuple

from .number_words import FRACTIONS, NUMBER_WORDS, NumberWord, Role, read_number_words
from .tokens import (
    AND,
    BREAK,
    CLOSE,
    COLON,
    COMMA,
    DASH,
    FOREIGN,
    LPA,
    MAX_RUN,
    MINUS,
    NUMBER,
    NUMBER_WORD,
    OPEN,
    OTHER_PERIOD,
    PER,
    PERCENT,
    PLUS,
    RUPEE,
    SCALE,
    SHORT_PERIOD,
    SUFFIX,
    WORD,
    YEAR,
    YEARLY,
    Token,
    says,
)

_DOTTED_THOUSAND = re.compile(r"(?<!\S)(?!0)\d{1,3}\.\d{3}(?!\S)")


class Figure(NamedTuple):
    """An amount or a range found in a text, with everything that was said about its unit."""

    low: float
    """The number as written, before the scale: 12 for "12-15 LPA". NaN where the digits cannot be read."""
    high: float
    """The upper end; equal to `low` where there is no range."""
    low_scale: float
    """1e5 for lakh, 1 where none is given."""
    high_scale: float
    lpa: bool
    """True where the scale is "LPA", a unit of annual pay."""
    rupee: bool
    foreign: bool
    percent: bool
    period: str
    """"" (none), "year" or "other" (a month, a day, an hour)."""
    digits: str
    """The numbers as written, both ends of a range with a blank between; "" for number words."""
    conflict: bool
    """True for two amounts offered as alternatives, or a range that runs downwards, on or from below zero."""
    moved: bool
    """True for "48 LPA se 55 LPA": a range, or a move from one to the other."""
    first: int
    """Index of the first token."""
    last: int
    """Index after the last token."""

    @property
    def scaled(self) -> bool:
        """True where lakh, crore, thousand or LPA was said."""
        return self.low_scale != 1.0 or self.high_scale != 1.0

    @property
    def has_unit(self) -> bool:
        """True where anything says what is counted."""
        return self.rupee or self.foreign or self.percent or self.low_scale != 1.0 or self.high_scale != 1.0

    @property
    def is_doubtful(self) -> bool:
        """True where the digits make no number, or two: "850.000 INR" is 850 or 850 thousand."""
        if isnan(self.low) or isnan(self.high):
            return True
        return (
            "." in self.digits
            and not self.scaled
            and not self.percent
            and _DOTTED_THOUSAND.search(self.digits) is not None
        )

    @property
    def value(self) -> float:
        """The amount, or the middle of the range; rounded so that 1.1 lakh is 110000 exactly."""
        return round((self.low * self.low_scale + self.high * self.high_scale) / 2, 4)

    @property
    def bounds(self) -> tuple[float, float]:
        """Both ends, in full."""
        return round(self.low * self.low_scale, 4), round(self.high * self.high_scale, 4)


def read_amount(tokens: Sequence[Token], at: int, *, signed: bool = True) -> Figure | None:
    """Read one amount; None where no number follows the signs at `at`."""
    first = at
    negative = False
    currency = ""
    while at < len(tokens) and tokens[at].kind in (DASH, MINUS, RUPEE, FOREIGN) and at - first < 3:
        if tokens[at].kind is MINUS:
            negative = True
        elif tokens[at].kind is DASH:
            negative = negative or (signed and _is_minus(tokens, at))
            if not negative:
                return None
        else:
            currency = currency or tokens[at].kind
        at += 1
    read = _number(tokens, at)
    if read is None:
        return None
    value, after, digits = read
    if negative:
        value = -value
    units = _units(tokens, after, rupee=currency is RUPEE, foreign=currency is FOREIGN)
    scale, lpa, rupee, foreign, percent, period, last = units
    ends = value, value, scale, scale
    # By position: names would take as long as all the rest.
    figure = Figure(*ends, lpa, rupee, foreign, percent, period, digits, False, False, first, last)
    return figure if scale == 1.0 else _with_smaller_parts(tokens, figure)


def _is_minus(tokens: Sequence[Token], at: int) -> bool:
    """A minus touches what follows and not what precedes: "-5", not "12 - 5", "12-5" or a list's "- 5"."""
    if tokens[at].word == "~" or at + 1 >= len(tokens) or tokens[at].end != tokens[at + 1].start:
        return False
    return (
        at == 0
        or tokens[at - 1].end != tokens[at].start
        or tokens[at - 1].kind in (OPEN, COLON, COMMA, BREAK, RUPEE)
    )


def _number(tokens: Sequence[Token], at: int) -> tuple[float, int, str] | None:
    """Return the number at `at`, the index after it, and its digits ("" for words)."""
    if at >= len(tokens):
        return None
    token = tokens[at]
    if token.kind is NUMBER:
        read = _spaced_number(tokens, at) or (read_digits(token.word), at + 1, token.word)
        read = _with_hundred(tokens, read)
    elif token.kind is not NUMBER_WORD:
        return None
    else:
        words = _shifted_digits(tokens, at) or _word_number(tokens, at)
        if words is None:
            return None
        read = words
    return _with_fraction(tokens, read)


def _with_hundred(tokens: Sequence[Token], read: tuple[float, int, str]) -> tuple[float, int, str]:
    """Multiply digits before "hundred": "9 hundred thousand", "5 hundred"."""
    value, after, _ = read
    if after < len(tokens) and tokens[after].kind is NUMBER_WORD and value < 100:
        role, size = NUMBER_WORDS[tokens[after].word]
        if role is Role.HUNDRED:
            return value * size, after + 1, ""
    return read


def _shifted_digits(tokens: Sequence[Token], at: int) -> tuple[float, int, str] | None:
    """Read "sadhe 4" (4.5) and "paune 2" (1.75)."""
    role, shift = NUMBER_WORDS[tokens[at].word]
    if role is not Role.SHIFT or at + 1 >= len(tokens) or tokens[at + 1].kind is not NUMBER:
        return None
    digits = tokens[at + 1].word
    return read_digits(digits) + shift, at + 2, digits


def _with_fraction(tokens: Sequence[Token], read: tuple[float, int, str]) -> tuple[float, int, str]:
    """Add what stands after a whole number: "5½", "one and a half"."""
    value, at, digits = read
    if at >= len(tokens):
        return read
    kind, word, _, start, _ = tokens[at]
    if kind is WORD and word in FRACTIONS and start == tokens[at - 1].end:
        return value + FRACTIONS[word], at + 1, digits
    if kind is AND and says(tokens, at + 1, "a", "half"):
        return value + 0.5, at + 3, digits
    return read


def _word_number(tokens: Sequence[Token], at: int) -> tuple[float, int, str] | None:
    words: list[NumberWord] = []
    ends: list[int] = []
    while at < len(tokens) and len(words) < 9:
        token = tokens[at]
        role = NUMBER_WORDS.get(token.word)
        if role is not None and token.kind is NUMBER_WORD:
            words.append(role)
            ends.append(at + 1)
        elif not (words and _links_words(token, words[-1])):
            break
        at += 1
    read = read_number_words(words)
    if read is None:
        return None
    value, after = read[0], ends[read[1] - 1]
    if 0 < value < 1:  # "half a crore", "half of a crore"
        while after < len(tokens) - 1 and after < ends[0] + 2 and tokens[after].word in ("a", "an", "of"):
            after += 1
        return (value, after, "") if after < len(tokens) and tokens[after].kind is SCALE else None
    return value, after, ""


def _links_words(token: Token, before: NumberWord) -> bool:
    """Accept the hyphen of "twenty-five" and the "and" of "one hundred and five"."""
    return (token.kind is DASH and before[0] is Role.TENS) or (
        token.kind is AND and before[0] is Role.HUNDRED
    )


def _spaced_number(tokens: Sequence[Token], at: int) -> tuple[float, int, str] | None:
    """Read "12 00 000" and "1 200 000": groups of digits with one blank between them."""
    groups = [tokens[at].word]
    end = at + 1
    while end < len(tokens) and len(groups) < 6 and tokens[end].kind is NUMBER:
        if tokens[end].start - tokens[end - 1].end != 1 or len(tokens[end].word) > 3:
            break
        groups.append(tokens[end].word)
        end += 1
    if len(groups) == 1 or not all(group.isdigit() for group in groups):
        return None
    joined = ungrouped(",".join(groups))
    return (float(joined), end, joined) if joined else None


class _Units(NamedTuple):
    """What the units after a number say, as in `Figure`."""

    scale: float
    lpa: bool
    rupee: bool
    foreign: bool
    percent: bool
    period: str
    last: int
    """Index after the last unit."""


def _units(tokens: Sequence[Token], at: int, *, rupee: bool, foreign: bool) -> _Units:
    """Take in the units from `at` on, each kind once."""
    scale, lpa, percent, period = 1.0, False, False, ""
    if at < len(tokens) and tokens[at].kind is PLUS:
        at += 1  # "12+ LPA"
    while at < len(tokens):
        kind = tokens[at].kind
        if kind in (SCALE, LPA) and scale == 1.0 and not percent:
            scale, lpa = tokens[at].size, kind is LPA
        elif kind in (RUPEE, FOREIGN):
            if _belongs_to_next(tokens, at):
                break
            rupee, foreign = rupee or kind is RUPEE, foreign or kind is FOREIGN
        elif kind is PERCENT and scale == 1.0 and not percent:
            percent = True
        elif kind is SUFFIX:
            pass
        elif kind is OPEN and _is_foreign_gloss(tokens, at):
            foreign, at = True, at + 2  # "Rs. 12,00,000 (NPR)", "(in dollars)"
        elif kind is WORD and _says_indian_rupees(tokens, at):
            rupee, at = True, at + 1
        elif scale == 1.0 and tokens[at].word == "m" and tokens[at - 1].end == tokens[at].start:
            scale = 1e6  # "1.2M"
        else:
            step, said = _period(tokens, at)
            if step == 0:
                break
            percent = percent or said == "percent"
            period = said if said != "percent" and period != "other" else period
            at += step - 1
        at += 1
    return _Units(scale, lpa, rupee, foreign, percent, period, at)


def _belongs_to_next(tokens: Sequence[Token], at: int) -> bool:
    """Tell the sign of "10 reviews ke saath ₹25,000", where "saath" is no sixty, from "12,00,000 ₹"."""
    following = tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
    touches = tokens[at].end == following.start and tokens[at - 1].end != tokens[at].start
    return following.kind is NUMBER and (touches or tokens[at - 1].kind is NUMBER_WORD)


def _says_indian_rupees(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].word == "indian" and at + 1 < len(tokens) and tokens[at + 1].kind is RUPEE


def _is_foreign_gloss(tokens: Sequence[Token], at: int) -> bool:
    named = [token.kind for token in tokens[at + 1 : at + 5] if token.word not in ("in", "mein")]
    return named[:2] == [FOREIGN, CLOSE] or named[:3] == [FOREIGN, FOREIGN, CLOSE]


_IN_HAND: Final = frozenset(("in", "hand", "inhand", "take", "home"))


def _period(tokens: Sequence[Token], at: int) -> tuple[int, str]:
    """Return how many tokens a period takes at `at` (0: there is none) and what it says."""
    opened = tokens[at].kind is OPEN
    here = at + opened
    if tokens[at].word in _IN_HAND:  # "₹85,000 in hand per month"
        while here < min(len(tokens) - 1, at + 4) and (
            tokens[here].word in _IN_HAND or tokens[here].kind is DASH
        ):
            here += 1
        if tokens[here].kind not in (PER, OTHER_PERIOD):
            return 0, ""
    if here >= len(tokens) or (opened and here + 1 < len(tokens) and tokens[here + 1].kind is COLON):
        return 0, ""  # "6 LPA (monthly: 50,000)" labels the next amount
    kind = tokens[here].kind
    if kind in (YEARLY, OTHER_PERIOD):
        return here - at + 1, "year" if kind is YEARLY else "other"
    if (kind is not PER and tokens[here].word != "/") or here + 1 >= len(tokens):
        return 0, ""
    following = tokens[here + 1]
    if following.kind in (YEAR, SHORT_PERIOD, OTHER_PERIOD):
        return here - at + 2, "year" if following.kind is YEAR else "other"
    if following.word == "cent" and not opened:
        return here - at + 2, "percent"
    return 0, ""


def _with_smaller_parts(tokens: Sequence[Token], figure: Figure) -> Figure:
    """Add the smaller parts of "1 crore 20 lakh", "twelve lakh fifty thousand", "one lakh five hundred"."""
    scale = figure.low_scale
    while scale > 1.0 and not figure.lpa and not figure.period and figure.last < len(tokens):
        at = figure.last
        linked = tokens[at].kind is AND
        read = _number(tokens, at + linked)
        if read is None or not read[0] > 0:
            break
        value, after, digits = read
        has_scale = after < len(tokens) and tokens[after].kind is SCALE
        part = tokens[after].size if has_scale else 1.0
        # Without a scale only "five hundred" is a part: in "12 lakh do" the word asks, it does not count.
        counts = has_scale or (not digits and not linked and value >= 100)
        if value * part >= scale or not counts:
            break
        whole = figure.low * figure.low_scale + value * part
        last = after + has_scale
        figure = _with_rupee(
            tokens, figure._replace(low=whole, high=whole, low_scale=1.0, high_scale=1.0, last=last)
        )
        scale = part
    return figure


def _with_rupee(tokens: Sequence[Token], figure: Figure) -> Figure:
    """A sum of parts is an amount of money in full; take in what follows it (rupees, per annum)."""
    _, lpa, _, foreign, percent, period, last = _units(
        tokens, figure.last, rupee=True, foreign=figure.foreign
    )
    if figure.percent if last == figure.last else percent:
        return figure
    return figure._replace(lpa=lpa, rupee=True, foreign=foreign, percent=False, period=period, last=last)


_COMMAS = re.compile(r"[0-9]{1,3}(?:,[0-9]{2,3}){0,3},[0-9]{3}")
_ASCII_MARKS = str.maketrans({"．": ".", "，": ",", "’": ",", "'": ",", "_": ","})
_POWER = re.compile(r"(?:[eE]|10\s?(?:\^|\*\*)\s?\{?)([+-]?\d{1,2})\}?$")
_MAX_DIGITS: Final = 15


def read_digits(run: str) -> float:
    """Return the number that a run of digits and grouping marks stands for.

    Indian and Western grouping, with dots as well as commas (12,00,000; 1,200,000; 12.00.000), one
    decimal point (12.5; 12,00,000.50), a digit too many in the last group (1,50,0000), powers of ten
    (1e6). NaN where the groups make no number (12,5; 1.2.3); infinite beyond 15 digits, which no
    amount reaches, so that no long digit string is ever converted.
    """
    if run.isascii() and run.isdigit() and len(run) <= _MAX_DIGITS:
        return float(run)
    if len(run) > MAX_RUN:
        return float("inf")
    if _COMMAS.fullmatch(run):
        return float(run.replace(",", ""))
    mantissa, power = _split_power(run.translate(_ASCII_MARKS))
    whole, fraction = _split_fraction(mantissa)
    if not (whole + fraction).isdecimal():  # no number, or a power of a power: "1e6 x 10^5"
        return float("nan")
    if len(whole) > _MAX_DIGITS:
        return float("inf")
    return float(f"{whole}.{fraction or 0}e{power}")


def _split_power(run: str) -> tuple[str, int]:
    if run.replace(",", "").replace(".", "").isdigit():
        return run, 0
    found = _POWER.search(run)
    if found is None:
        return run, 0
    mantissa = run[: found.start()].rstrip(" x×*\\times")
    return mantissa, int(found.group(1))


def _split_fraction(run: str) -> tuple[str, str]:
    """Return the whole digits and the decimals; no whole digits where the groups make no number."""
    marks = [mark for mark in run if mark in ".,"]
    if not marks:
        return run, ""
    last = marks[-1]
    if marks.count(last) == 1 and (last == "." or len(marks) > 2):
        whole, _, fraction = run.rpartition(last)
        if len(marks) > 1:
            return ungrouped(whole.replace(marks[0], ",")) if marks[0] != last else "", fraction
        return whole, fraction
    if len(set(marks)) > 1 or (last == "." and len(run.rpartition(".")[2]) != 3):
        return "", ""  # mixed marks, a date, a version
    return ungrouped(run.replace(".", ",")), ""


def ungrouped(run: str) -> str:
    """Join digit groups; "" where they are not grouped as an amount is."""
    head, *rest = run.split(",")
    if not rest:
        return head
    *middle, tail = rest
    fits = 1 <= len(head) <= 3 and all(len(group) in (2, 3) for group in middle)
    # 1,50,0000 has a digit too many in its last group: a slip that leaves the amount plain.
    if fits and (len(tail) == 3 or (len(tail) == 4 and middle)):
        return head + "".join(rest)
    return ""
