"""Tokens: digits, number words, units and the words between them, read from the parts of a text that count.

Only the surroundings of digits and of number words before a unit are tokenised, so long prose costs little.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias
from unicodedata import normalize

from .number_words import FRACTIONS, NUMBER_WORDS, by_sound, sound, word_set

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
ARROW: Final = "arrow"
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


ISO_4217: Final = word_set(
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD "
    "CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD "
    "GNF GTQ GYD HKD HNL HTG HUF IDR ILS IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK "
    "LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD "
    "OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN "
    "SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF "
    "YER ZAR ZMW ZWL XAU XAG XDR BTC ETH CNH HRK LTL LVL EEK VEF STD MRO SLL ZWD CUC XCG"
)
"""Every currency's code but INR; in capitals beside an amount it is that currency."""
_ALSO_WORDS: Final = word_set(
    "ALL AMD BAM BOB COP CUP GEL LAK MAD MOP NAD PEN PHP RON SAR SOS STD TOP TRY ETH STN VES ERN KES"
)
"""In small letters these are words, names or abbreviations of other things."""
OTHER_CURRENCY_SIGNS: Final = "$¢£¤¥֏؋߾߿৲৳৻૱௹฿៛₠₡₢₣₤₥₦₧₩₪₫€₭₮₯₰₱₲₳₴₵₶₷₸₺₻₼₽₾₿⃀⃁꠸﷼﹩＄￠￡￥￦𑿝𑿞𑿟𑿠𞋿𞲰"
"""The Unicode category Sc without ₹ and ₨."""
_NATIONS: Final = word_set(
    "nepal nepali nepalese pakistan pakistani lanka lankan mauritius mauritian maldivian seychelles "
    "seychellois indonesian bangladeshi bhutan bhutanese नेपाल नेपाली पाकिस्तानी पाकिस्तान श्रीलंकाई "
    "भूटानी बांग्लादेशी american us canadian australian singapore kong taiwan zealand"
)
"""Nations whose name beside a word for rupees or dollars makes them theirs."""
_FOREIGN_BEHIND: Final = word_set(
    "won rand real reais som sum sol leu lev lei pula dong kip lek dram tala colon sterling grand"
)
"""Currencies whose names are words of other things, unless they stand right behind an amount."""

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
    **_words(
        FOREIGN,
        "yen yuan renminbi rmb taka ringgit baht peso pesos riyal riyals rial rials dinar dinars franc "
        "francs krona kronor kroner krone shekel shekels lira liras ruble rubles rouble roubles rupiah "
        "zloty forint naira cedi shilling shillings kyat kwacha nrs lkrs tk tk. nu. ngultrum rufiyaa tenge "
        "hryvnia birr afghani manat guilder guilders kwanza dalasi lari quetzal tugrik pataca ouguiya "
        "metical cordoba balboa kina guarani leone somoni paanga bolivar bolivares vatu loti ariary denar "
        "gourde lempira bitcoin bucks quid डॉलर नेरु ने.रु. ने.रु टका यूरो पाउंड दिरहम रियाल दीनार येन "
        "युआन",
    ),
    **dict.fromkeys(OTHER_CURRENCY_SIGNS, (FOREIGN, 0.0)),
    **dict.fromkeys((code.lower() for code in ISO_4217 - _ALSO_WORDS), (FOREIGN, 0.0)),
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
    **_words(ARROW, "-> --> → ⇒ ➔ ➜"),
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

_HEARD: Final = by_sound(
    word
    for word, (kind, _) in _LEXICON.items()
    if kind is NUMBER_WORD or word in ("karod", "hajar", "लाख", "करोड", "हजार")
)
"""Number words and scales by their sound: spellings of Hindi in Latin letters differ by writer."""

_TOKEN = re.compile(
    r"""
    \ ?+ (?:                                               # a blank before a token costs no step of its own
      [A-Za-z]++ (?![.$\u0900-\u097f])                     # a plain word, by far the commonest token
    | \d++ (?:[.,'’_．，]\d++)*+                           # a run of digits and grouping marks
        (?:[eE][+-]?\d{1,2}(?![^\W_]))?                    #    1e6
        (?:\s?(?:[x×*]|\\times)\s?10\s?(?:\^|\*\*)\s?\{?\d{1,2}\}?)?  # 1.2 x 10^6
    | (?:[Rr][Ss]|Nu|[Tt]k)\. | ने\.रु\.?                   # words with a dot or a sign
    | [Pp]\.\s?[AaMm]\b\.? | [Ll]\.[Pp]\.[Aa]\.? | [Uu][Ss]\$
    | \\[A-Za-z]++                                         # LaTeX: no words
    | [\u0900-\u0963\u0971-\u097f]++ | [^\W\d_]++         # any other word
    | (?<![}$])\$(?![\\$])                                 # a dollar; LaTeX has others
    | /[-=](?!\s?\d) | --?> | [→⇒➔➜₹₨%％٪/+＋±&:=：,，()（）\-−–—‐‑‒―~～.!?;|\n।]  # a sign
    | [{signs}]                                              # of another currency
    )
    """.replace("{signs}", OTHER_CURRENCY_SIGNS[1:]),
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
_ZEROS: Final = bytes(ord("0" if chr(byte).isdecimal() else " ") for byte in range(256))
"""Translates digits to zeros and all other bytes to blanks."""
_OTHER_DIGITS = re.compile(r"[०-९０-９]")
SHORT: Final = 200
"""Up to here a text is tokenised whole."""
_BEFORE, _AFTER = 44, 32
MAX_RUN: Final = 40
"""No amount takes more characters than this."""


def windows(text: str) -> list[tuple[int, int]] | None:
    """Return the stretches of a long text that can hold an amount; None for more than MAX_FIGURES places."""
    runs = _digit_runs(text)
    if runs is None:
        return None
    anchors: list[int] = []
    for stem in _UNIT_STEMS:
        if stem in text:
            anchors += _occurrences(text, stem)
    # "lac" is also inside "place".
    anchors += [at for at in _occurrences(text, "lac") if not text[at - 1 : at].isalpha()]
    if not text.isascii():
        anchors += _foreign_script(text)
    if anchors:
        if sum(last - first + 1 for first, last in runs) + len(anchors) > MAX_FIGURES:
            return None
        runs = sorted([*runs, *zip(anchors, anchors, strict=True)])
    return _merged(text, runs)


def _digit_runs(text: str) -> list[tuple[int, int]] | None:
    """Return the first and last place of each run of ASCII digits; None for more than MAX_FIGURES digits."""
    # Bytes are translated and searched many times faster than a pattern is looked for.
    marks = text.encode("latin-1", "replace").translate(_ZEROS)
    runs: list[tuple[int, int]] = []
    left = MAX_FIGURES
    first = marks.find(b"0")
    while first >= 0:
        end = marks.find(b" ", first)
        if end < 0:
            end = len(marks)
        runs.append((first, end - 1))
        left -= end - first
        if left < 0:
            return None
        first = marks.find(b"0", end)
    return runs


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


def _merged(text: str, runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start, end = 0, -1
    for first, last in runs:
        if end < 0:
            start = max(0, first - _BEFORE)
        elif first - _BEFORE > end:
            spans.append((_word_start(text, start), end))
            start = first - _BEFORE
        end = last + _AFTER
    if end >= 0:
        spans.append((_word_start(text, start), end))
    return spans


def _word_start(text: str, at: int) -> int:
    """Move to the next blank, so that a window does not open inside a word or a number."""
    if at == 0:
        return 0
    blank = text.find(" ", at, at + _BEFORE // 2)
    return at if blank < 0 else blank


_Entry: TypeAlias = tuple[str, str, float, int]
"""Kind, word, size and length of a token; the kind is "" for what is none."""
_seen: Final[dict[str, _Entry]] = {}
"""What words and signs are, by how they stand in texts: most come again and again."""
_MAX_SEEN: Final = 1 << 14
_LONGEST_SEEN: Final = 24


def tokenise(text: str, start: int, end: int) -> list[Token]:
    """Return the tokens that begin in `text[start:end]`; the last one is read to its own end."""
    tokens: list[Token] = []
    append, seen, new = tokens.append, _seen.get, tuple.__new__
    for found in _TOKEN.finditer(text, start, end + MAX_RUN):
        said = found[0]
        kind, word, size, length = seen(said) or _entry(said)
        after = found.end()
        at = after - length
        if at >= end:
            break
        if kind is NUMBER:
            append(_number_token(tokens, text, word, at))
        elif kind:
            append(new(Token, (kind, word, size, at, after)))
    return _with_nations(tokens) if _names_nation(tokens) else tokens


def _names_nation(tokens: Sequence[Token]) -> bool:
    return any(
        token.kind is WORD and (token.word in _NATIONS or token.word in _FOREIGN_BEHIND) for token in tokens
    )


def _with_nations(tokens: list[Token]) -> list[Token]:
    """Make "Nepali rupees", "rupees of Nepal" and "12 lakh won" money of their own."""
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else token
        if token.word in _FOREIGN_BEHIND and before.kind in (NUMBER, SCALE):
            tokens[at] = token._replace(kind=FOREIGN)
        elif token.word in _NATIONS:
            beside = [at + 1, at - 2 if before.word in ("of", "sri") else at]
            for place in beside:
                if (
                    0 <= place < len(tokens)
                    and tokens[place].kind in (RUPEE, FOREIGN)
                    and tokens[place].word != "₹"
                ):
                    tokens[at] = token._replace(kind=FOREIGN)
                    tokens[place] = tokens[place]._replace(kind=FOREIGN)
    return tokens


def _entry(said: str) -> _Entry:
    """Return what a token is that may have a blank before it."""
    word = said.lstrip(" ")
    length = len(word)
    if word[0].isdecimal():
        return NUMBER, word, 0.0, length
    if word[0] == "\\":
        return "", "", 0.0, length
    if length == 3 and word in ISO_4217:
        return FOREIGN, word.lower(), 0.0, length
    word = word.lower()
    if word not in _LEXICON and not word.isascii():
        word = _plain_form(word)
    if word not in _LEXICON and 3 < len(word) <= 12:
        word = _HEARD.get(sound(word)) or word
    kind, size = _LEXICON.get(word, _UNKNOWN)
    entry = kind, word, size, length
    if len(said) <= _LONGEST_SEEN and len(_seen) < _MAX_SEEN:
        _seen[said] = entry
    return entry


def _number_token(tokens: list[Token], text: str, digits: str, at: int) -> Token:
    """Return the token of digits after `tokens`, whose last one it takes if that is its decimal point."""
    after = at + len(digits)
    if not tokens:
        return Token(NUMBER, digits, 0.0, at, after)
    kind, word, _, _, end = tokens[-1]
    glued = end == at and kind in (WORD, COUNT)
    if word == "." and _is_point(text, at - 1):
        tokens.pop()
        at, digits = at - 1, "0." + digits
    return Token(WORD if glued else NUMBER, digits, 0.0, at, after)


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


_SIGNS_OF: Final = {
    "USD": "$ us$ dollar dollars usd",
    "EUR": "€ euro euros eur यूरो",
    "GBP": "£ pound pounds gbp",
    "JPY": "¥ yen jpy",
    "CNY": "¥ yuan renminbi rmb cny",
    "BDT": "৳ taka bdt",
    "NPR": "nrs npr rs rs. rupee rupees",
    "PKR": "pkr rs rs. rupee rupees",
    "LKR": "lkr rs rs. rupee rupees",
}
"""Signs and words of currencies that a benchmark may ask for, beside their codes."""


def in_currency(tokens: Sequence[Token], code: str) -> list[Token]:
    """Return the tokens as a question in another currency than rupees sees them: its sign is its own."""
    own = {code.lower(), *_SIGNS_OF.get(code, "").split()}
    return [
        token._replace(kind=RUPEE if token.word in own else FOREIGN)
        if token.kind in (RUPEE, FOREIGN)
        else token
        for token in tokens
    ]


def says(tokens: Sequence[Token], at: int, *words: str) -> bool:
    """Return whether the tokens from `at` on are these words."""
    said = tuple(token.word for token in tokens[at : at + len(words)])
    return said == words
