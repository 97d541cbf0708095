"""The grammar of amounts: from a text to the figures in it, each with its unit.

    figures  = { figure | any other token }
    figure   = amount [ [joiner] amount ]      "12-15 LPA", "12 se 15 lakh", "12 or 15", "das barah lakh"
    amount   = [sign] [currency] [sign] number unit* { [and] number smaller-scale }
    number   = [half or quarter word] digits [vulgar fraction | "and a half"]
             | digits grouped by , . ' _ or one blank | number words ["and a half"]
    unit     = scale | LPA | currency | percent | period | "/-"

Only the surroundings of digits and of number words before a unit are tokenised, so long prose
costs little. Nothing is nested and nothing is searched twice: the time is linear in the length of
the text. What a figure means for a question (is it the answer, does its unit fit) is decided in
`candidates.py`; left out here are only counts ("5 years", "100 reviews"), ratings, telephone numbers
and numbers glued to letters ("P01").
"""

import re
from collections.abc import Sequence
from itertools import islice
from math import isnan
from typing import Final, NamedTuple
from unicodedata import normalize

from .number_words import FRACTIONS, NUMBER_WORDS, NumberWord, Role, read_number_words, word_set

MAX_FIGURES: Final = 400
"""A text with more digit runs than this is not one answer; reading stops there."""

# Kinds of token. Strings rather than an enumeration: tokens are made by the hundred thousand.
NUMBER: Final = "number"
NUMBER_WORD: Final = "number word"
SCALE: Final = "scale"
LPA: Final = "LPA"
RUPEE: Final = "rupee"
FOREIGN: Final = "foreign"
PERCENT: Final = "percent"
PER: Final = "per"
YEARLY: Final = "yearly"
OTHER_PERIOD: Final = "other period"
YEAR: Final = "year"
SHORT_PERIOD: Final = "month"
COUNT: Final = "count"
TO: Final = "to"
OR: Final = "or"
AND: Final = "and"
DASH: Final = "dash"
MINUS: Final = "minus"
PLUS: Final = "plus"
SUFFIX: Final = "suffix"
COLON: Final = "colon"
COMMA: Final = "comma"
OPEN: Final = "open"
CLOSE: Final = "close"
BREAK: Final = "break"
WORD: Final = "word"


class Token(NamedTuple):
    """One token of the text."""

    kind: str
    """One of the kinds above."""
    word: str
    """The token in lower case, Devanagari without the nukta; for a number its digits as written."""
    size: float
    """A scale's multiplier; 0 for other tokens."""
    start: int
    end: int


def _words(kind: str, words: str, size: float = 0.0) -> dict[str, tuple[str, float]]:
    return dict.fromkeys(words.split(), (kind, size))


_LEXICON: Final[dict[str, tuple[str, float]]] = {
    **dict.fromkeys(NUMBER_WORDS, (NUMBER_WORD, 0.0)),
    **_words(SCALE, "k thousand thousands hazar hazaar hajar hajaar हजार", 1e3),
    **_words(SCALE, "l lakh lakhs lac lacs laakh laakhs lakhon लाख", 1e5),
    **_words(SCALE, "mn million millions", 1e6),
    **_words(SCALE, "cr crs crore crores karod karor caror करोड", 1e7),
    **_words(SCALE, "bn billion billions", 1e9),
    **_words(LPA, "lpa lpas lakhpa l.p.a. l.p.a", 1e5),
    **_words(RUPEE, "₹ ₨ rs rs. inr rupee rupees rupaye rupaya rupay rupiya रुपये रुपए रुपया रुपयों रु"),
    **_words(
        FOREIGN,
        "$ € £ ¥ usd us$ dollar dollars eur euro euros gbp pound pounds aed dirham dirhams sgd cad aud",
    ),
    **_words(FOREIGN, "yen yuan cny jpy डॉलर"),
    **_words(
        PERCENT,
        "% ％ ٪ percent percents pct percentage pratishat pratishath fisadi feesadi प्रतिशत फीसदी",
    ),
    **_words(PER, "per / a an each every har prati प्रति हर"),
    **_words(YEARLY, "annually yearly pa p.a. p.a salana saalana सालाना वार्षिक"),
    **_words(
        OTHER_PERIOD,
        "monthly pm p.m. p.m pcm mahine mahina maheene maasik masik quarterly hourly weekly daily",
    ),
    **_words(OTHER_PERIOD, "महीने महीना मासिक प्रतिमाह तिमाही"),
    **_words(YEAR, "annum year yr saal sal varsh साल वर्ष"),
    **_words(
        SHORT_PERIOD, "month mo mth mah maah quarter hour hr day week din ghante ghanta hafte माह घंटे दिन"
    ),
    **_words(
        COUNT,
        "years yrs months days weeks hours hrs reviews review star stars pages page users user visitors",
    ),
    **_words(
        COUNT,
        "downloads words keywords clients customers projects employees people students companies colleges",
    ),
    **_words(
        COUNT,
        "screens members times steps points followers products months' years' day's year's saalon वर्षों",
    ),
    **_words(COUNT, "bhk km openings candidates applicants engineers applications x"),
    **_words(TO, "to se till until upto tak से"),
    **_words(OR, "or ya ± / या"),
    **_words(AND, "and aur & और"),
    **_words(DASH, "- − – — ‐ ‑ ‒ ― ~ ～"),
    **_words(MINUS, "minus negative माइनस"),
    **_words(PLUS, "+ ＋"),
    **_words(SUFFIX, "/- /="),
    **_words(COLON, ": = ："),
    **_words(COMMA, ", ，"),
    **_words(OPEN, "( （"),
    **_words(CLOSE, ") ）"),
    **_words(BREAK, ". ! ? ; | ।"),
    "\n": (BREAK, 0.0),
    "p. a.": (YEARLY, 0.0),
    "p. a": (YEARLY, 0.0),
}

_TOKEN = re.compile(
    r"""
    \ ?+ (?:                                               # a blank before a token costs no step of its own
      ([A-Za-z]++ (?![.$\u0900-\u097f]))                   # 1: a plain word, by far the commonest token
    | (\d++ (?:[.,'’_．，]\d++)*+                          # 2: a run of digits and grouping marks
        (?:[eE][+-]?\d{1,2}(?![^\W_]))?                    #    1e6
        (?:\s?(?:[x×*]|\\times)\s?10\s?(?:\^|\*\*)\s?\{?\d{1,2}\}?)?)  # 1.2 x 10^6
    | ([Rr][Ss]\. | [Pp]\.\s?[AaMm]\b\.? | [Ll]\.[Pp]\.[Aa]\.? | [Uu][Ss]\$)  # 3: words with a dot or sign
    | \\[A-Za-z]++ | \$(?=[\\$]) | (?<=[}$])\$             #    LaTeX: no words, no dollars
    | ([\u0900-\u0963\u0971-\u097f]++ | [^\W\d_]++)        # 4: any other word
    | (/[-=](?!\s?\d) | [₹₨$€£¥%％٪/+＋±&:=：,，()（）\-−–—‐‑‒―~～.!?;|\n।])  # 5: a sign with a meaning
    )
    """,
    re.VERBOSE,
)
# Markup (* ` _ # < > " { } [ ]) is no token at all, so that bold, code and JSON need no rules.

# Units that can follow a number in words, without their first letter: capitals then need no copy of the text.
_UNIT_STEMS: Final = (
    "akh",
    "rore",
    "arod",
    "ercent",
    "er cent",
    "ratisha",
    "housand",
    "haza",
    "haja",
    "illion",
)
_HINDI_STEMS: Final = ("लाख", "करो", "प्रतिशत", "हज", "फी", "फ़ी")
_DIGITS: Final = "0123456789"
_OTHER_DIGITS = re.compile(r"[०-९０-９]")
SHORT: Final = 200
"""Up to here a text is tokenised whole."""
_BEFORE, _AFTER = 44, 32
_MAX_RUN: Final = 40
"""No amount takes more characters than this."""


def windows(text: str) -> list[tuple[int, int]] | None:
    """Return the stretches of a long text that can hold an amount; None for more than MAX_FIGURES places."""
    anchors: list[int] = []
    # Ten searches for one character each are several times faster than one for any digit.
    for digit in _DIGITS:
        if digit in text:
            anchors += _occurrences(text, digit)
    for stem in _UNIT_STEMS:
        if stem in text:
            anchors += _occurrences(text, stem)
    # "lac" is also inside "place".
    anchors += [at for at in _occurrences(text, "lac") if not text[at - 1 : at].isalpha()]
    if not text.isascii():
        anchors += _foreign_script(text)
    if len(anchors) > MAX_FIGURES:
        return None
    anchors.sort()
    return _merged(text, anchors)


def _occurrences(text: str, part: str) -> list[int]:
    """Return where `part` stands in `text`, at most MAX_FIGURES + 1 places."""
    found: list[int] = []
    at = text.find(part)
    while at >= 0 and len(found) <= MAX_FIGURES:
        found.append(at)
        at = text.find(part, at + len(part))
    return found


def _foreign_script(text: str) -> list[int]:
    """Return where Devanagari and full-width digits and Hindi units stand."""
    raw = text.encode("utf-8", "replace")
    # U+0900-097F and U+FF00-FFFF; most texts that are not ASCII have only a rupee sign or a dash.
    if not (b"\xe0\xa4" in raw or b"\xe0\xa5" in raw or b"\xef\xbc" in raw):
        return []
    found = [match.start() for match in islice(_OTHER_DIGITS.finditer(text), MAX_FIGURES + 1)]
    for stem in _HINDI_STEMS:
        found += _occurrences(text, stem)
    return found


def _merged(text: str, anchors: Sequence[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for at in anchors:
        start, end = max(0, at - _BEFORE), at + _AFTER
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return [(_word_start(text, start), end) for start, end in spans]


def _word_start(text: str, at: int) -> int:
    """Move to the next blank, so that a window does not open inside a word or a number."""
    if at == 0:
        return 0
    blank = text.find(" ", at, at + _BEFORE // 2)
    return at if blank < 0 else blank


def tokenise(text: str, start: int, end: int) -> list[Token]:
    """Return the tokens that begin in `text[start:end]`; the last one is read to its own end."""
    tokens: list[Token] = []
    append, known, new = tokens.append, _LEXICON.get, tuple.__new__
    for found in _TOKEN.finditer(text, start, end + _MAX_RUN):
        group = found.lastindex
        if group is None:
            continue
        at, after = found.span(group)
        if at >= end:
            break
        word = text[at:after]
        if group == 2:
            glued = tokens and tokens[-1].end == at and tokens[-1].kind in (WORD, COUNT)
            if tokens and tokens[-1].word == "." and _is_point(text, at - 1):
                tokens.pop()
                at, word = at - 1, "0." + word
            append(new(Token, (WORD if glued else NUMBER, word, 0.0, at, after)))
            continue
        if group != 5:
            word = word.lower()
        entry = known(word)
        if entry is None and not word.isascii():
            word = _plain_form(word)
            entry = known(word)
        kind, size = entry or _UNKNOWN
        append(new(Token, (kind, word, size, at, after)))
    return tokens


def _is_point(text: str, at: int) -> bool:
    """Tell the decimal point of ".5 lakh" from the end of a sentence or an abbreviation."""
    touches_digits = text[at] == "." and text[at + 1].isdigit()
    return touches_digits and (at == 0 or text[at - 1] in " \n\t₹$(-+*_`:")


_UNKNOWN: Final = (WORD, 0.0)


def _plain_form(word: str) -> str:
    """Return a word of another script as the lexicon has it: full-width letters as plain ones, no nukta."""
    if len(word) > 24:
        return word
    plain = normalize("NFD", word).replace("\u093c", "")
    return plain if plain in _LEXICON or word in FRACTIONS else normalize("NFKC", word)


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


_DOTTED_THOUSAND = re.compile(r"(?<!\S)(?!0)\d{1,3}\.\d{3}(?!\S)")
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
    if len(run) > _MAX_RUN:
        return float("inf")
    if _COMMAS.fullmatch(run):
        return float(run.replace(",", ""))
    mantissa, power = _split_power(run.translate(_ASCII_MARKS))
    whole, fraction = _split_fraction(mantissa)
    if not whole:
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
            return _ungrouped(whole.replace(marks[0], ",")) if marks[0] != last else "", fraction
        return whole, fraction
    if len(set(marks)) > 1 or (last == "." and len(run.rpartition(".")[2]) != 3):
        return "", ""  # mixed marks, a date, a version
    return _ungrouped(run.replace(".", ",")), ""


def _ungrouped(run: str) -> str:
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


def figures(tokens: Sequence[Token]) -> list[Figure]:
    """Return the figures in `tokens`, in order."""
    found: list[Figure] = []
    at, size = 0, len(tokens)
    while at < size:
        if tokens[at].kind not in _STARTS:
            at += 1
            continue
        telephone = _after_telephone(tokens, at)
        figure = None if telephone else _figure(tokens, at)
        if figure is None:
            at = telephone or at + 1
            continue
        if not _is_count(tokens, figure):
            found.append(figure)
        at = figure.last
    return found


_STARTS: Final = frozenset({NUMBER, NUMBER_WORD, RUPEE, FOREIGN, DASH, MINUS, PLUS})
_LABELS: Final = word_set(
    "cgpa gpa rating rated score tier nirf rank experience step option round phase level band "
    "top grade years year age reviews phone mobile telephone call contact whatsapp"
)
_RAISE: Final = word_set(
    "increase increased increasing raise raised raising jump move push hike bump revise "
    "revised improve improving negotiate negotiating up counter go moving jumping increment "
    "badha badhakar"
)


def _after_telephone(tokens: Sequence[Token], at: int) -> int:
    """Return the index after a telephone number ("+91 98765 43210", "98765 43210"), 0 where there is none."""
    pair = tokens[at : at + 2]
    if len(pair) < 2 or pair[1].kind is not NUMBER:
        return 0
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
    return at == 0 or tokens[at - 1].kind is not PER  # "salary per year: 1200000"


def _figure(tokens: Sequence[Token], at: int) -> Figure | None:
    """Read an amount, and the amount that a joiner ties to it."""
    left = _amount(tokens, at)
    if left is None:
        return None
    joined = _joined(tokens, left)
    if joined is None:
        return left
    joiner, right = joined
    if left.percent != right.percent and left.has_unit and right.has_unit:
        return left
    moved = tokens[left.last].word in ("se", "से") and left.scaled and right.scaled
    left, right = _share_units(left, right)
    if joiner is TO and _is_raise(tokens, left.first):
        return right
    between = _says_between(tokens, right.last)
    # "das barah lakh" is a range, "ek barah lakh" is not.
    near = joiner is NUMBER_WORD and right.bounds[1] <= 2 * left.bounds[0]
    is_range = near or between or joiner is TO
    pair = _pair(left, right, is_range=is_range)._replace(moved=moved and not between)
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
        right = _amount(tokens, at, signed=False)
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
    right = _amount(tokens, at + 1, signed=False)
    return None if right is None else (joiner, right)


def _is_paired(tokens: Sequence[Token], left: Figure) -> bool:
    """Tell whether a second number follows at once, as in "das barah lakh" and "10 12 lakh"."""
    if left.has_unit or left.last >= len(tokens) or not 0 < left.low < 1000:
        return False
    here = tokens[left.last]
    if here.kind is NUMBER_WORD:
        return left.digits == ""
    blank = here.start - tokens[left.last - 1].end == 1
    return here.kind is NUMBER and blank and not _is_labelled(tokens, left.first)


def _joiner(tokens: Sequence[Token], left: Figure, at: int) -> str | None:
    kind, word = tokens[at].kind, tokens[at].word
    if kind in (TO, DASH):
        # "Tier 1 - 12 LPA" is a label and an amount.
        labelled = not left.has_unit and _is_labelled(tokens, left.first)
        return None if labelled else TO
    if kind is OR or word == "/":
        return OR
    if kind is AND:
        return TO if _is_between(tokens, left.first) else OR
    return None


def _says(tokens: Sequence[Token], at: int, *words: str) -> bool:
    said = tuple(token.word for token in tokens[at : at + len(words)])
    return said == words


def _says_between(tokens: Sequence[Token], at: int) -> bool:
    return any(_says(tokens, at, *words) for words in (("ke", "beech"), ("ke", "bich"), ("के", "बीच")))


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


def _pair(left: Figure, right: Figure, *, is_range: bool) -> Figure:
    low, high = left.bounds[0], right.bounds[1]
    return left._replace(
        high=right.high,
        high_scale=right.high_scale,
        digits=f"{left.digits} {right.digits}",
        conflict=low < 0 or not (low == high or (is_range and low < high)),
        last=right.last,
    )


def _amount(tokens: Sequence[Token], at: int, *, signed: bool = True) -> Figure | None:
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
    figure = Figure(
        low=-value if negative else value,
        high=-value if negative else value,
        low_scale=1.0,
        high_scale=1.0,
        lpa=False,
        rupee=currency is RUPEE,
        foreign=currency is FOREIGN,
        percent=False,
        period="",
        digits=digits,
        conflict=False,
        moved=False,
        first=first,
        last=after,
    )
    return _with_smaller_parts(tokens, _with_units(tokens, figure))


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
    elif token.kind is not NUMBER_WORD:
        return None
    else:
        words = _shifted_digits(tokens, at) or _word_number(tokens, at)
        if words is None:
            return None
        read = words
    return _with_fraction(tokens, read)


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
    if kind is AND and _says(tokens, at + 1, "a", "half"):
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
    return None if read is None else (read[0], ends[read[1] - 1], "")


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
    joined = _ungrouped(",".join(groups))
    return (float(joined), end, joined) if joined else None


def _with_units(tokens: Sequence[Token], figure: Figure) -> Figure:
    """Take in the units after a number, each kind once."""
    scale, lpa, rupee, foreign = 1.0, False, figure.rupee, figure.foreign
    percent, period, at = False, "", figure.last
    if at < len(tokens) and tokens[at].kind is PLUS:
        at += 1  # "12+ LPA"
    while at < len(tokens):
        kind = tokens[at].kind
        if kind in (SCALE, LPA) and scale == 1.0 and not percent:
            scale, lpa = tokens[at].size, kind is LPA
        elif kind is RUPEE:
            rupee = True
        elif kind is FOREIGN:
            foreign = True
        elif kind is PERCENT and scale == 1.0 and not percent:
            percent = True
        elif kind is SUFFIX:
            pass
        elif (
            kind is WORD
            and tokens[at].word == "m"
            and scale == 1.0
            and tokens[at - 1].end == tokens[at].start
        ):
            scale = 1e6  # "1.2M"
        else:
            step, said = _period(tokens, at)
            if step == 0:
                break
            percent = percent or said == "percent"
            period = said if said != "percent" and period != "other" else period
            at += step - 1
        at += 1
    if at == figure.last:
        return figure
    return figure._replace(
        low_scale=scale,
        high_scale=scale,
        lpa=lpa,
        rupee=rupee,
        foreign=foreign,
        percent=percent,
        period=period,
        last=at,
    )


def _period(tokens: Sequence[Token], at: int) -> tuple[int, str]:
    """Return how many tokens a period takes at `at` (0: there is none) and what it says."""
    opened = tokens[at].kind is OPEN
    here = at + opened
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
    summed = _with_units(tokens, figure)._replace(low_scale=1.0, high_scale=1.0, rupee=True)
    return summed if not summed.percent else figure
