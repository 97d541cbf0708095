"""Numbers written as words: English, Hinglish (Hindi in Latin letters) and Hindi.

Only what is below one thousand lives here; lakh, crore and thousand are units (`amounts.py`), so
that "twelve lakh fifty thousand" and "12 lakh 50 thousand" are one production. A word is never an
amount by itself: a unit must follow, because "do", "ek" and "das" are also everyday words and names.
"""

from collections.abc import Sequence
from enum import IntEnum


class Role(IntEnum):
    """What a number word does inside a number."""

    SMALL = 0
    """Stands for itself and may follow a TENS word: one to nineteen, and the Hindi words up to 99."""
    TENS = 1
    """Twenty, thirty, ... ninety in English: a SMALL word below ten may follow."""
    HUNDRED = 2
    """Multiplies what stands before it by one hundred."""
    SHIFT = 3
    """Hindi quarters and halves that are added to the number after them: sadhe, sava, paune."""
    POINT = 4
    """The decimal point, spoken; single digits follow."""


def word_set(words: str) -> frozenset[str]:
    """Return the words of `words` as a set: lists of words read best as running text."""
    return frozenset(words.split())


NumberWord = tuple[Role, float]
"""Role and size of a word: (Role.TENS, 20.0)."""

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
# Every spelling of one number on one line; Latin spellings vary by writer.
_HINDI = {
    0.0: "shunya शून्य",
    1.0: "ek एक",
    1.5: "dedh derh डेढ",
    2.0: "do दो",
    2.5: "dhai dhaai adhai ढाई",
    3.0: "teen तीन",
    4.0: "char chaar चार",
    5.0: "panch paanch पांच पाँच",
    6.0: "chhe chhah chhai cheh छह छः छे",
    7.0: "saat सात",
    8.0: "aath आठ",
    9.0: "nau नौ",
    10.0: "das dus दस",
    11.0: "gyarah gyaarah ग्यारह",
    12.0: "barah baarah बारह",
    13.0: "terah तेरह",
    14.0: "chaudah चौदह",
    15.0: "pandrah pandra पंद्रह पन्द्रह",
    16.0: "solah सोलह",
    17.0: "satrah सत्रह",
    18.0: "atharah athaarah अठारह",
    19.0: "unnees unnis उन्नीस",
    20.0: "bees बीस",
    21.0: "ikkees ikkis इक्कीस",
    22.0: "baees bais बाईस",
    23.0: "teis तेईस",
    24.0: "chaubees chaubis चौबीस",
    25.0: "pachees pachis pachchees pacchis पच्चीस",
    26.0: "chhabbees chhabbis छब्बीस",
    27.0: "sattaees sattais सत्ताईस",
    28.0: "atthaees atthais अट्ठाईस",
    29.0: "untees उनतीस",
    30.0: "tees तीस",
    35.0: "paintees पैंतीस",
    40.0: "chalis chaalis chalees चालीस",
    45.0: "paintalis पैंतालीस",
    50.0: "pachas pachaas पचास",
    55.0: "pachpan पचपन",
    60.0: "saath साठ",
    65.0: "painsath पैंसठ",
    70.0: "sattar सत्तर",
    75.0: "pachhattar पचहत्तर",
    80.0: "assi अस्सी",
    90.0: "nabbe नब्बे",
}


_SHIFTS = {
    0.5: "sadhe saadhe sade saade sarhe saarhe sadhey saadhey साढे",
    0.25: "sava sawa savaa sawaa सवा",
    -0.25: "paune pauney pone poune पौने",
}
FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
"""Fractions of one character, as they stand after digits."""


def _table() -> dict[str, NumberWord]:
    table: dict[str, NumberWord] = {}
    for size, word in enumerate(_ENGLISH.split()):
        table[word] = (Role.SMALL, float(size))
    for size, word in enumerate(_ENGLISH_TENS.split(), start=2):
        table[word] = (Role.TENS, 10.0 * size)
    for value, words in _HINDI.items():
        table |= dict.fromkeys(words.split(), (Role.SMALL, value))
    table |= dict.fromkeys(("hundred", "sau", "सौ"), (Role.HUNDRED, 100.0))
    for value, words in _SHIFTS.items():
        table |= dict.fromkeys(words.split(), (Role.SHIFT, value))
    table |= dict.fromkeys(("point", "dashamlav", "दशमलव"), (Role.POINT, 0.0))
    return table


NUMBER_WORDS = _table()
"""Lower-case word to its role and size. Devanagari is kept without the dot below (nukta)."""


def read_number_words(words: Sequence[NumberWord]) -> tuple[float, int] | None:
    """Return the number at the start of `words` and how many words it takes; None where there is none.

    "twenty five" is (25, 2), "sadhe barah" (12.5, 2), "one hundred twenty five" (125, 4), "twelve point five"
    (12.5, 3). Values lie in [0, 9999]; at most eight words are taken, whatever the length of the input.
    """
    at = 0
    shift = 0.0
    if words and words[0][0] is Role.SHIFT:
        shift, at = words[0][1], 1
    value, at = _below_hundred(words, at)
    if at < len(words) and words[at][0] is Role.HUNDRED:
        value = (1.0 if value is None else value) * 100.0
        rest, at = _below_hundred(words, at + 1)
        value += rest or 0.0
    if value is None and abs(shift) == 0.25:
        value = 1.0  # "sava lakh" alone is one and a quarter, "paune lakh" three quarters
    if value is None:
        return None
    decimals, at = _decimals(words, at)
    return value + shift + decimals, at


def _below_hundred(words: Sequence[NumberWord], at: int) -> tuple[float | None, int]:
    if at >= len(words) or words[at][0] not in (Role.SMALL, Role.TENS):
        return None, at
    role, value = words[at]
    at += 1
    if role is Role.TENS and at < len(words) and words[at][0] is Role.SMALL and words[at][1] < 10:
        return value + words[at][1], at + 1
    return value, at


def _decimals(words: Sequence[NumberWord], at: int) -> tuple[float, int]:
    if at + 1 >= len(words) or words[at][0] is not Role.POINT:
        return 0.0, at
    value, weight, start = 0.0, 0.1, at + 1
    at = start
    while at < len(words) and at < start + 3 and words[at][0] is Role.SMALL and words[at][1] < 10:
        value += weight * words[at][1]
        weight /= 10
        at += 1
    return (round(value, 3), at) if at > start else (0.0, start - 1)
