"""The figures of a text: amounts, ranges and alternatives, each with its unit.

    figures  = { figure | any other token }
    figure   = amount [ [joiner] amount ]      "12-15 LPA", "12 se 15 lakh", "12 or 15", "das barah lakh"

Nothing is nested and nothing is searched twice: the time is linear in the length of the text. What a figure
means for a question (is it the answer, does its unit fit) is decided in `candidates.py`; left out here are
only counts ("5 years", "100 reviews"), ratings, telephone numbers and numbers glued to letters ("P01").
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from .amounts import Figure, read_amount
from .number_words import word_set
from .tokens import (
    AND,
    ARROW,
    BREAK,
    CLOSE,
    COLON,
    COMMA,
    COUNT,
    DASH,
    FOREIGN,
    MINUS,
    NUMBER,
    NUMBER_WORD,
    OPEN,
    OR,
    PER,
    PLUS,
    RUPEE,
    SCALE,
    SHORT_PERIOD,
    TO,
    YEAR,
    Token,
    says,
)


def figures(tokens: Sequence[Token]) -> list[Figure]:
    """Return the figures in `tokens`, in order."""
    found: list[Figure] = []
    taken: set[int] = set()
    done = 0
    for at in [place for place, token in enumerate(tokens) if token.kind in _STARTS]:
        if at < done:
            continue
        done = _after_telephone(tokens, at)
        figure = None if done else _figure(tokens, at)
        if figure is not None:
            done = figure.last
            taken.update(range(figure.first, figure.last))
            if not _is_count(tokens, figure):
                found.append(figure)
    if len(found) > 1:
        if sum(figure.percent for figure in found) > 1:
            found = [figure for figure in found if not _asks_for_one(tokens, figure)]
        found = _with_rivals(tokens, found)
    return _with_leftovers(tokens, found, taken)


def _asks_for_one(tokens: Sequence[Token], figure: Figure) -> bool:
    """Tell the count of "ek pratishat hike: 15%", an echo of the question, from one per cent."""
    return figure.percent and not figure.digits and figure.value == 1 and tokens[figure.first].word in _ONE


_ONE: Final = word_set("one ek एक")
_LETTERS: Final = word_set("k l m cr crs")
_LEFT_OVER: Final = 3
"""So many tokens beyond a figure a unit still belongs to it."""


def _with_leftovers(tokens: Sequence[Token], found: list[Figure], taken: set[int]) -> list[Figure]:
    """Mark amounts beside which a unit is left over.

    A scale word says that something of the number was not understood ("12 lakh xyz hazaar", "one lakh crore",
    "xyz lakh 50 hazaar"): one part alone would be a wrong value. A currency word makes an amount without the
    rupee one of its own: "12 lakh Bangladeshi taka", "dollars mein 12 lakh".
    """
    for place, token in enumerate(tokens):
        if token.kind not in (SCALE, FOREIGN) or place in taken or token.word in _LETTERS:
            continue
        for at, figure in enumerate(found):
            behind, ahead = place - figure.last, figure.first - 1 - place
            between = tokens[figure.last : place] if behind >= 0 else tokens[place + 1 : figure.first]
            if max(behind, ahead) >= _LEFT_OVER or any(x.kind in _PARTS_CLAUSE for x in between):
                continue
            if token.kind is FOREIGN:
                found[at] = figure._replace(foreign=figure.foreign or not figure.rupee or not between)
            elif behind >= 0 or (ahead == 0 and figure.scaled):
                found[at] = figure._replace(conflict=True)
    return found


_PARTS_CLAUSE: Final = frozenset({BREAK, COMMA, OPEN, CLOSE, COLON, NUMBER, RUPEE, AND, OR})
_HEDGES: Final = word_set(
    "maybe perhaps possibly probably ideally preferably around about aim aiming target targeting for "
    "closer say shayad"
)


def _with_rivals(tokens: Sequence[Token], found: list[Figure]) -> list[Figure]:
    """Mark amounts beside which a number without a unit is another one.

    "8, 9, 10 LPA" and "8, maybe 10 LPA" list numbers before it, "15-20 percent, ideally 18" names one after.
    """
    for at, (before, after) in enumerate(pairwise(found)):
        if before.has_unit == after.has_unit:
            continue
        amount, bare = (before, after) if before.has_unit else (after, before)
        if _is_rival(tokens, amount, bare, tokens[before.last : after.first]):
            place = at if amount is before else at + 1
            found[place] = found[place]._replace(conflict=True)
    return found


def _is_rival(tokens: Sequence[Token], amount: Figure, bare: Figure, between: Sequence[Token]) -> bool:
    """Tell whether the words between an amount and a number without a unit make that another amount."""
    scaled = amount.scaled or tokens[amount.last - 1].kind is SCALE
    if not between and scaled and amount.first < bare.first and not bare.digits and bare.low >= 11:
        return True  # "barah lakh pachaas": smaller words are words of everyday, "12 lakh do" asks
    if not bare.digits or not 0 < bare.high < 1000 or amount.low == amount.high == bare.high:
        return False
    hedged = any(token.word in _HEDGES for token in between)
    tied = all(token.kind in (COMMA, OPEN) or token.word in _HEDGES for token in between)
    if not between and amount.first < bare.first and scaled:
        return True  # "12 lakh 50", "1 crore 20 lkah": a part whose scale was not understood
    listed = hedged or (bool(between) and bare.first < amount.first)
    return tied and listed and _stands_alone(tokens, bare)


def _stands_alone(tokens: Sequence[Token], bare: Figure) -> bool:
    """Tell "ideally 18" from "for 2 rounds": no word says what is counted."""
    following = tokens[bare.last : bare.last + 1]
    return all(token.kind in (COMMA, CLOSE, BREAK) or token.word in _HEDGES for token in following)


_STARTS: Final = frozenset({NUMBER, NUMBER_WORD, RUPEE, FOREIGN, DASH, MINUS, PLUS})
_LABELS: Final = word_set(
    "cgpa gpa rating rated score tier nirf rank experience step option round phase level band top grade "
    "class years year age aged reviews phone mobile telephone call contact whatsapp id code ref reference "
    "pin pincode zip otp roll invoice order ticket account aadhaar section article version"
)
_RAISE: Final = word_set(
    "increase increased increasing raise raised raising jump move push hike bump revise revised improve "
    "improving negotiate negotiating up counter go moving jumping increment badha badhakar"
)


def _after_telephone(tokens: Sequence[Token], at: int) -> int:
    """Return the index after a telephone number ("+91 98765 43210", "98765 43210"), 0 where there is none."""
    if at + 1 >= len(tokens) or tokens[at + 1].kind is not NUMBER:
        return 0
    pair = tokens[at : at + 2]
    if pair[0].kind is PLUS and pair[1].word.startswith("91"):
        at += 1
        while at < len(tokens) and tokens[at].kind in (NUMBER, DASH):
            at += 1
        return at
    if pair[0].kind is not NUMBER or pair[1].start - pair[0].end != 1:
        return 0
    return at + 2 if all(len(token.word) == 5 and token.word.isdigit() for token in pair) else 0


def _is_count(tokens: Sequence[Token], figure: Figure) -> bool:
    """Tell counts ("5 years", "4.9-star", "10k users") and labels ("CGPA 9.1", "top 10%") from amounts."""
    if not (figure.rupee or figure.foreign or figure.percent or figure.lpa):
        at = figure.last
        if at < len(tokens) and tokens[at].kind is DASH:
            at += 1
        if at < len(tokens) and tokens[at].kind in (COUNT, YEAR, SHORT_PERIOD):
            return True
    if figure.percent and not figure.digits and tokens[figure.last - 1].word.startswith("percentage"):
        return True  # "exactly ONE percentage hike" asks for one
    if figure.scaled or figure.rupee:
        return False
    return _is_labelled(tokens, figure.first)


def _is_labelled(tokens: Sequence[Token], first: int) -> bool:
    """Tell whether the number at `first` belongs to a label before it, as in "CGPA 9.1" and "CGPA of 9.1"."""
    at = first - 1
    while (
        at >= 0 and first - at <= 3 and (tokens[at].kind is COLON or tokens[at].word in ("of", "is", "hai"))
    ):
        at -= 1
    if at < 0 or tokens[at].word not in _LABELS:
        return False
    # "salary per year: 1200000", but "a CGPA of 9.1"
    return tokens[at].kind is not YEAR or at == 0 or tokens[at - 1].kind is not PER


def _figure(tokens: Sequence[Token], at: int) -> Figure | None:
    """Read an amount, and the amount that a joiner ties to it."""
    left = read_amount(tokens, at)
    if left is None:
        return None
    joined = _joined(tokens, left)
    if joined is None:
        return left
    joiner, right = joined
    if left.percent != right.percent and left.has_unit and right.has_unit:
        return left
    moved = left.scaled and right.scaled and _says_from(tokens, left)
    left, right = _share_units(left, right)
    if joiner is TO and _is_raise(tokens, left.first):
        return right
    between = _says_between(tokens, right.last)
    # "das barah lakh" is a range, "ek barah lakh" is not.
    near = joiner is NUMBER_WORD and right.bounds[1] <= 2 * left.bounds[0]
    is_range = near or between or joiner is TO
    arrow = tokens[left.last].kind is ARROW
    pair = _pair(left, right, is_range=is_range)._replace(moved=(moved and not between) or arrow)
    # "12-15-18 LPA" is no range.
    further = _joined(tokens, pair)
    while further is not None:
        pair = pair._replace(
            conflict=True,
            last=further[1].last,
            rupee=pair.rupee or further[1].rupee,
            percent=pair.percent or further[1].percent,
            lpa=pair.lpa or further[1].lpa,
            high_scale=max(pair.high_scale, further[1].high_scale),
        )
        further = _joined(tokens, pair)
    return pair


def _joined(tokens: Sequence[Token], left: Figure) -> tuple[str, Figure] | None:
    """Return the joiner after `left` (TO, OR, or NUMBER_WORD for none at all) and the amount after that."""
    at = left.last
    if _is_paired(tokens, left):
        right = read_amount(tokens, at, signed=False)
        counts = right is not None and (right.scaled or right.percent)
        return (NUMBER_WORD, right) if right is not None and counts else None
    if at < len(tokens) and tokens[at].kind is COMMA and left.last + 1 < len(tokens):
        at += tokens[at + 1].kind is OR  # "10, or 12 LPA"
    if at + 1 >= len(tokens):
        return None
    joiner = _joiner(tokens, left, at)
    if joiner is None or tokens[at + 1].kind not in _STARTS:
        return None
    if joiner is not TO and not left.has_unit and _is_labelled(tokens, left.first):
        return None
    right = read_amount(tokens, at + 1, signed=False)
    return None if right is None else (joiner, right)


def _is_paired(tokens: Sequence[Token], left: Figure) -> bool:
    """Tell whether a second number follows at once, as in "das barah lakh" and "10 12 lakh"."""
    if left.has_unit or left.last >= len(tokens) or not 0 < left.low < 1000:
        return False
    here = tokens[left.last]
    if here.kind is NUMBER_WORD or not left.digits:  # "ke saath 12 lakh": with, and not sixty
        return here.kind is NUMBER_WORD and left.digits == ""
    blank = here.start - tokens[left.last - 1].end == 1
    return here.kind is NUMBER and blank and not _is_labelled(tokens, left.first)


def _joiner(tokens: Sequence[Token], left: Figure, at: int) -> str | None:
    kind, word = tokens[at].kind, tokens[at].word
    if kind in (TO, DASH):
        # "Tier 1 - 12 LPA" is a label and an amount.
        labelled = not left.has_unit and _is_labelled(tokens, left.first)
        return None if labelled else TO
    if kind in (OR, ARROW) or word == "/":
        return OR
    if kind is AND:
        return TO if _is_between(tokens, left.first) else OR
    return None


def _says_from(tokens: Sequence[Token], left: Figure) -> bool:
    """Tell "48 LPA se" and "from 48 LPA", which begin a range or a move, from "ranges from 48 LPA"."""
    if tokens[left.last].word in ("se", "से"):
        return True
    before = [token.word for token in tokens[max(0, left.first - 4) : left.first]]
    return before[-1:] == ["from"] and not _RANGES.intersection(before)


_RANGES: Final = word_set("range ranges ranging vary varies varying anywhere anything")


def _says_between(tokens: Sequence[Token], at: int) -> bool:
    return any(says(tokens, at, *words) for words in (("ke", "beech"), ("ke", "bich"), ("के", "बीच")))


def _is_between(tokens: Sequence[Token], first: int) -> bool:
    return any(
        token.word in ("between", "beech", "bich", "बीच") for token in tokens[max(0, first - 2) : first]
    )


def _is_raise(tokens: Sequence[Token], first: int) -> bool:
    """Tell "increase it from 48 to 55 LPA" (55 is the answer) from "ranges from 48 to 55 LPA"."""
    before = tokens[max(0, first - 5) : first]
    if not before or before[-1].word != "from":
        return False
    return any(token.word in _RAISE for token in before)


def _share_units(left: Figure, right: Figure) -> tuple[Figure, Figure]:
    """Give a unit said once to both ends: "12-15 LPA", "₹80-120k", "12 lakh to 15"."""
    low_scale, high_scale = left.high_scale, right.low_scale
    # "15-12 LPA" shares its unit too (and runs downwards); "₹8,00,000 to 10 lakh" has rupees on the left.
    downwards = not left.has_unit and left.low < 1000 and high_scale >= 1e5
    if low_scale == 1.0 and (left.low <= right.low or downwards):
        low_scale = high_scale
    elif high_scale == 1.0 and left.low <= right.low < 1000:
        high_scale = low_scale
    shared = left._replace(
        lpa=left.lpa or right.lpa,
        rupee=left.rupee or right.rupee,
        foreign=left.foreign or right.foreign,
        percent=left.percent or right.percent,
        period=left.period if left.period == "other" else right.period or left.period,
    )
    return (
        shared._replace(low_scale=low_scale, high_scale=low_scale),
        shared._replace(
            low=right.low,
            high=right.high,
            low_scale=high_scale,
            high_scale=high_scale,
            digits=right.digits,
            first=right.first,
            last=right.last,
        ),
    )


_WIDEST: Final = 100
"""Ends further apart than this factor are of different units ("12-1500000"), or no range at all."""


def _pair(left: Figure, right: Figure, *, is_range: bool) -> Figure:
    low, high = left.bounds[0], right.bounds[1]
    return left._replace(
        high=right.high,
        high_scale=right.high_scale,
        digits=f"{left.digits} {right.digits}",
        conflict=low < 0 or not (low == high or (is_range and low < high and not high > _WIDEST * low > 0)),
        last=right.last,
    )
