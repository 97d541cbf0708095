"""Numbers written as words: English, Hinglish (Hindi in Latin letters) and Hindi.

Only what is below one thousand lives here; lakh, crore and thousand are units (`amounts.py`), so
that "twelve lakh fifty thousand" and "12 lakh 50 thousand" are one production. A word is never an
amount by itself: a unit must follow, because "do", "ek" and "das" are also everyday words and names.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from unicodedata import normalize


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
_SLIPS = {"fourty": 40.0, "fourtey": 40.0, "ninty": 90.0, "fourtteen": 14.0}
"""Common misspellings; a TENS word but for the last."""
# Every spelling of one number on one line; Latin spellings vary by writer.
_HINDI = {
    0.0: "shunya शून्य",
    0.25: "paav pav पाव",
    0.75: "paun pauna पौन पौना",
    0.5: "half aadha adha aadhaa aadhe adhe आधा आधे",
    1.0: "ek एक",
    1.5: "dedh derh डेढ़",
    2.0: "do दो",
    2.5: "dhai dhaai adhai ढाई",
    3.0: "teen तीन",
    4.0: "char chaar चार",
    5.0: "panch paanch पांच पाँच",
    6.0: "chhe chhah chhai cheh छह छः छे छ",
    7.0: "saat सात",
    8.0: "aath आठ",
    9.0: "nau नौ",
    10.0: "das dus दस",
    11.0: "gyarah gyaarah gyara gyaara ग्यारह",
    12.0: "barah baarah baara बारह",
    13.0: "terah तेरह",
    14.0: "chaudah चौदह",
    15.0: "pandrah pandra पंद्रह पन्द्रह",
    16.0: "solah sola सोलह",
    17.0: "satrah सत्रह",
    18.0: "atharah athaarah अठारह",
    19.0: "unnees unnis उन्नीस",
    20.0: "bees बीस",
    21.0: "ikkees ikkis इक्कीस",
    22.0: "baees bais baaees बाईस बाइस",
    23.0: "teis teees तेईस तेइस",
    24.0: "chaubees chaubis चौबीस",
    25.0: "pachees pachis pachchees pacchis पच्चीस",
    26.0: "chhabbees chhabbis छब्बीस",
    27.0: "sattaees sattais सत्ताईस सत्ताइस",
    28.0: "atthaees atthais athais अट्ठाईस अट्ठाइस अठाईस",
    29.0: "untees unatees उनतीस उन्तीस",
    30.0: "tees तीस",
    31.0: "ikattees ikatees iktees ikattis इकतीस इकत्तीस",
    32.0: "battees battis batees बत्तीस",
    33.0: "taintees tentis taintis tetees तैंतीस तेंतीस",
    34.0: "chauntees chautees chauntis चौंतीस चौतीस",
    35.0: "paintees paintis पैंतीस",
    36.0: "chhattees chhattis chhatees छत्तीस",
    37.0: "saintees saintis सैंतीस",
    38.0: "adtees artees adtis अड़तीस",
    39.0: "untalis untaalis untaalees unchalis उनतालीस उन्तालीस",
    40.0: "chalis chaalis chalees चालीस",
    41.0: "iktalis iktaalis ektalis इकतालीस",
    42.0: "bayalis bayaalis byalis bayalees बयालीस",
    43.0: "taintalis tentalis taintaalis तैंतालीस तेंतालीस",
    44.0: "chavalis chauvalis chawalis chavaalis चवालीस चौवालीस",
    45.0: "paintalis paintaalis पैंतालीस",
    46.0: "chhiyalis chhiyaalis chiyalis छियालीस",
    47.0: "saintalis saintaalis सैंतालीस",
    48.0: "adtalis artalis adtaalis अड़तालीस",
    49.0: "unchas unchaas उनचास",
    50.0: "pachas pachaas पचास",
    51.0: "ikyavan ikyawan ikyaavan ikkyavan इक्यावन",
    52.0: "bavan bawan baavan बावन",
    53.0: "tirpan tirepan tirppan तिरपन तिरेपन",
    54.0: "chauvan chauwan chavvan चौवन चव्वन",
    55.0: "pachpan पचपन",
    56.0: "chhappan chappan छप्पन",
    57.0: "sattavan sattawan sataavan सत्तावन",
    58.0: "atthavan atthawan athavan अट्ठावन अठावन",
    59.0: "unsath उनसठ",
    60.0: "saath साठ",
    61.0: "iksath इकसठ",
    62.0: "basath baasath बासठ",
    63.0: "tirsath tresath तिरसठ तिरेसठ",
    64.0: "chausath chaunsath चौंसठ चौसठ",
    65.0: "painsath पैंसठ",
    66.0: "chhiyasath chiyasath chhiyaasath छियासठ",
    67.0: "sadsath sarsath sadasath सड़सठ",
    68.0: "adsath arsath adasath अड़सठ",
    69.0: "unhattar उनहत्तर",
    70.0: "sattar सत्तर",
    71.0: "ikhattar ikahattar इकहत्तर",
    72.0: "bahattar bahatar बहत्तर",
    73.0: "tihattar tihatar तिहत्तर",
    74.0: "chauhattar chauhatar चौहत्तर",
    75.0: "pachhattar pachattar पचहत्तर",
    76.0: "chhihattar chihattar छिहत्तर",
    77.0: "satattar sathattar satahattar सतहत्तर",
    78.0: "athattar athahattar अठहत्तर",
    79.0: "unasi unaasi unnasi उनासी उन्नासी",
    80.0: "assi अस्सी",
    81.0: "ikyasi ikyaasi इक्यासी",
    82.0: "bayasi bayaasi बयासी",
    83.0: "tirasi tiraasi तिरासी",
    84.0: "chaurasi chauraasi चौरासी",
    85.0: "pachasi pachaasi पचासी",
    86.0: "chhiyasi chiyasi chhiyaasi छियासी",
    87.0: "sattasi sataasi सत्तासी",
    88.0: "athasi atthasi athaasi अठासी अट्ठासी",
    89.0: "navasi nawasi navaasi नवासी",
    90.0: "nabbe nabbey नब्बे",
    91.0: "ikyanve ikyanave ikyaanve इक्यानवे इक्यानबे",
    92.0: "banve banave baanve बानवे बानबे",
    93.0: "tiranve tiranave tiraanve तिरानवे तिरानबे",
    94.0: "chauranve chauranave chauraanve चौरानवे चौरानबे",
    95.0: "pachanve pachanave pachaanve पचानवे पंचानवे पंचानबे",
    96.0: "chhiyanve chiyanve chhiyaanve छियानवे छियानबे",
    97.0: "sattanve sattanave sattaanve सत्तानवे सत्तानबे",
    98.0: "atthanve athanve atthaanve अट्ठानवे अठानवे अट्ठानबे",
    99.0: "ninyanve ninyaanve ninyanave निन्यानवे निन्यानबे",
}


_SHIFTS = {
    0.5: "sadhe saadhe sade saade sarhe saarhe sadhey saadhey साढे",
    0.25: "sava sawa savaa sawaa सवा",
    -0.25: "paune pauney pone poune पौने",
}
FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
"""Fractions of one character, as they stand after digits."""


def _without_nukta(words: str) -> str:
    return normalize("NFD", words).replace("\u093c", "")


def _table() -> dict[str, NumberWord]:
    table: dict[str, NumberWord] = {}
    for size, word in enumerate(_ENGLISH.split()):
        table[word] = (Role.SMALL, float(size))
    for size, word in enumerate(_ENGLISH_TENS.split(), start=2):
        table[word] = (Role.TENS, 10.0 * size)
    for word, size_ in _SLIPS.items():
        table[word] = (Role.TENS if size_ >= 20 else Role.SMALL, size_)
    for value, words in _HINDI.items():
        table |= dict.fromkeys(_without_nukta(words).split(), (Role.SMALL, value))
    table |= dict.fromkeys(("hundred", "sau", "सौ"), (Role.HUNDRED, 100.0))
    for value, words in _SHIFTS.items():
        table |= dict.fromkeys(words.split(), (Role.SHIFT, value))
    table |= dict.fromkeys(("point", "dashamlav", "दशमलव"), (Role.POINT, 0.0))
    return table


NUMBER_WORDS = _table()
"""Lower-case word to its role and size. Devanagari is kept without the dot below (nukta)."""

_SOUNDS = (
    *(("aa", "a"), ("ee", "i"), ("oo", "u"), ("y", "i"), ("w", "v"), ("z", "j"), ("h", ""), ("cc", "c")),
    *(("tt", "t"), ("kk", "k"), ("pp", "p"), ("nn", "n"), ("ss", "s"), ("dd", "d"), ("vv", "v"), ("rr", "r")),
    *(("ँ", "ं"), ("न्", "ं"), ("ी", "ि"), ("ू", "ु"), ("ई", "इ"), ("ट्ठ", "ठ"), ("त्त", "त"), ("ः", ""), ("ह", "")),
)


def sound(word: str) -> str:
    """Return a word as it sounds: "baara" and "barah", "pandhra" and "pandrah" are one."""
    for spelt, heard in _SOUNDS:
        word = word.replace(spelt, heard)
    return word


def by_sound(words: Iterable[str]) -> dict[str, str]:
    """Return Hindi words by their sound, without sounds of two numbers (saat 7, saath 60).

    Short words sound like words of everyday: "this" as "tees", "tree" as "three".
    """
    heard: dict[str, str] = {}
    english = {*_ENGLISH.split(), *_ENGLISH_TENS.split(), *_SLIPS}
    for word in words:
        if word in english or (word.isascii() and len(sound(word)) < 5):
            continue
        same = heard.setdefault(sound(word), word)
        if NUMBER_WORDS.get(same) != NUMBER_WORDS.get(word):
            heard[sound(word)] = ""
    return heard


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
