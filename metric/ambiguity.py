"""Words around an amount that keep it from being the answer.

Words that make it a part or another quantity ("in-hand monthly", "per page", "upfront", "7 LPA more") leave
it ambiguous. Who the text is about is never looked at.
"""

import re
from typing import Final

from .statuses import Question

OTHER_PERIOD_NOTE: Final = "The amount is for another period than the one asked for."
REACH: Final = 160
"""A sentence is followed for so many characters to each side of an amount."""
NEAR: Final = 48
"""Words that touch an amount lie in so many."""
_SENTENCE_END = re.compile(r"[.!?।\n](?:(?<=[।\n])|(?=\s+(?!Rs|INR)[A-Z\u0900-\u097f]))")
_NOTHING_BUT_MARKUP = re.compile(r"[\s*_`#>|:(),.-]*")


def preceding_words(lead: str, *, marked: bool) -> str:
    """Return the start of a sentence or line; where there is none, the line before it too."""
    *earlier, own = _SENTENCE_END.split(lead)
    while earlier and not marked and _NOTHING_BUT_MARKUP.fullmatch(own):
        own = f"{earlier.pop()} {own}"
    return own


_TAKES_UP = re.compile(
    r"[\s*_`(]*(?:/|(?:per|an?|each|every|har|prati|monthly|quarterly|mahine|in[- ]hand|as|which|yeh|ye)\b"
    r"|(?:this|that|it)\sis\b|प्रति|हर)",
    re.IGNORECASE,
)


def following_words(rest: str) -> str:
    """Return the rest of a sentence or line; where there is none, the next line if it goes on about it."""
    own, *later = _SENTENCE_END.split(rest)
    while later and _NOTHING_BUT_MARKUP.fullmatch(own):
        following = later.pop(0)
        if not _NOTHING_BUT_MARKUP.fullmatch(following) and not _TAKES_UP.match(following):
            break
        own = f"{own} {following}"
    return own


_SHORT_PERIODS = re.compile(
    # "Months" are a duration, and so are "3 mahine" and "next month"; a month alone is what pay is for.
    r"\b(?:half[\s-]?year(?:ly)?|semi-?annual(?:ly)?|bi-?annual(?:ly)?|six[\s-]month(?:ly|s)?)\b"
    r"|(?<!not\ )\b(?:(?:bi-?)?monthly|fortnight(?:ly)?|quarterly|month-?wise|timahi|ma?asik)\b"
    r"|(?<!not\ )\b(?:biweekly|weekly|daily|hourly)"
    r"(?:\s(?:rate|wage|pay|salary|fee|stipend|income|earning|ctc)|\W*$)"
    r"|\b(?:pcm|pm|p\.m|p/[dhmw]|day\ rate|every\ [0-9]+\ days)\b"
    r"|(?<!next\ )(?<!last\ )(?<!this\ )(?<![0-9][ -])\b(?:month|quarter|hour|week)\b"
    r"|(?:\b(?:per|an?|each|every|har|prati)|/)[\s-]?(?:mo|mth|mah|maah|qtr|hr|day|shift|ghant[ae]|hafte|din)\b"
    r"|(?<![0-9][ -])\bmah(?:i|ee)n[a-z]*"
    r"|(?<![0-9] )(?:महीन|मासिक|माह|तिमाही)|(?:हर|प्रति)\ ?(?:दिन|घंट|हफ|सप्ताह)",
    re.IGNORECASE,
)


def _alternatives(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


# Each expression below needs one of these: looking for them takes a tenth of the time.
_PERIOD_STEMS: Final = _alternatives(
    "month|week|quarter|hour|daily|fortnight|maah|mahi|maheen|asik|pcm|pm|p.m|p/m|per mo|/mo|-mo|mth|qtr|"
    " hr|/hr|-hr| day|/day|-day|shift|ghant|haft| din|/din|-din| mah|/mah|-mah|"
    "p/d|p/h|p/w|semi|biannual|bi-annual|year|yrs|saal|sal |महीन|मासिक|माह|तिमाही|दिन|घंट|हफ|सप्ताह|साल|वर्ष"
)
_PRICE_STEMS: Final = _alternatives(
    "per |per-|each|every|har |prati|hourly|day|daily|weekly|monthly|unit | ek |हर|प्रति|एक|upfront|up-front|"
    "advance|deposit|payment|installment|instalment|emi|kist|kisht|delivery|milestone|half|token|p/d|p/h|p/w|किस्त|एडवांस"
)


def needs_a_look(low: str, question: Question) -> bool:
    """Tell whether the lower-case surroundings of an amount hold a stem at all."""
    return any(map(low.__contains__, _PERIOD_STEMS if question.annual else _PRICE_STEMS))


_MANY: Final = (
    "(?:page|logo|design|post|video|reel|image|photo|article|word|screen|slide|banner|session|class|item|piece|"
    "unit|product|hour|ghant[ae]|day|din|week|hafte|month|mahine)"
)
"""What a project has many of."""
_UNIT_RATES = re.compile(
    # "As per your brief" is no rate.
    r"(?<!\bas\ )(?<!\bnot\ )\bper[\s-](?!(?:project|work|job|assignment|engagement|contract|gig|year|annum|"
    r"cent|your|the|our|my|market|usual|industry|this|that)\b)[a-z0-9]"
    rf"|\bek\s{_MANY}\sk[ae]\b(?!\sliye)|एक\ (?:पेज|लोगो|वीडियो|पोस्ट|घंट)[\u0900-\u097f]*\ क[ाे](?!\ लिए)"
    rf"|\b(?:each|every|har|prati)\s(?:single\s)?{_MANY}"
    r"|\bp/[dhmw]\b"
    r"|\b(?:hourly|(?:day|daily|weekly|monthly|unit)\s(?:rate|fee|charge|wage)s?|prati)\b"
    r"|(?:हर|प्रति)\ ?(?!शत)[\u0900-\u097f]",
    re.IGNORECASE,
)
_PART_PAYMENTS = re.compile(
    # "50% advance" says how a whole is paid.
    r"(?<!%)(?<!%\ )\b(?:upfront|up-front|advance|deposit|down\ ?payment|instal?lments?|emis?|kisto?n?|kisht"
    r"|on\ delivery|milestones?|half\ (?:now|first|before)|token\ amount|किस्त|एडवांस)",
    re.IGNORECASE,
)
_GLUED_RATE = re.compile(
    rf"[\s*_`]*(?:/\s?(?!project|work|job)[a-z]|each\b|apiece\b|(?:an?|ek)\s{_MANY})", re.IGNORECASE
)
_TIMES_BEFORE = re.compile(r"[×✕]\W*$|\w\s[x*]\s\W*$", re.IGNORECASE)
_TIMES_AFTER = re.compile(r"[\s*_`]*(?:[×✕]|\s[x*]\s\d)", re.IGNORECASE)
_MORE_AFTER = re.compile(
    r"[\s*_`]*(?:(?:a|per)\ (?:year|annum)\s*)?(?:k[aei]\ )?"
    r"(?:more|extra|additional(?:ly)?|higher|above|over|on\ top|in\ addition|increase|increment|hike|raise"
    r"|bump|jump|uplift|z[yi]a+da+|jya+da+|upar|badh|(?:aur|और)(?:\W*$|\ (?:m[a-z]*ng|jod|add|माँग|मांग))"
    r"|\u091c\u093c?\u094d\u092f\u093e\u0926\u093e|\u095b\u094d\u092f\u093e\u0926\u093e|अधिक|ऊपर"
    r"|(?:(?:joining|signing|sign-on|retention|one-time|performance)\s){0,2}bonus)",
    re.IGNORECASE,
)
_ABOUT_WORDS: Final = r"(?:(?:about|around|approx(?:imately)?\.?|at\ least|another|an?)\W+)*$"
_MORE_BEFORE = re.compile(
    r"(?:\+|\b(?:additional|extra|plus|add|another|by|bonus|(?:increase|increment|raise|hike|bump|jump|uplift|rise"
    rf"|difference|bonus)\s(?:of|is)))\W*{_ABOUT_WORDS}",
    re.IGNORECASE,
)
_CUT_AFTER = re.compile(
    r"[\s*_`]*(?:pay\ |salary\ )?(?:cut|decrease|reduction|drop|decline|less|lower|kam\b"
    r"|ki\ kami|कम|की\ कमी)",
    re.IGNORECASE,
)
_CUT_BEFORE = re.compile(
    rf"\b(?:cut|decrease|reduction|drop|decline|reduced?)\b(?:\s\w+){{0,3}}\s(?:of|by)\s{_ABOUT_WORDS}",
    re.IGNORECASE,
)


def doubt_beside(before: str, after: str, question: Question) -> str:
    """Return why the words that touch an amount leave it ambiguous, "" where they do not."""
    if question.percent:
        cut = _CUT_AFTER.match(after) or _CUT_BEFORE.search(before)
        return "The percentage is a cut, not a raise." if cut else ""
    if _TIMES_BEFORE.search(before[-8:]) or _TIMES_AFTER.match(after):
        return "The amount is a factor of another one."
    if question.states_amount and (_MORE_AFTER.match(after) or _MORE_BEFORE.search(before)):
        return "The amount is an addition, not the whole."
    if not question.annual and _GLUED_RATE.match(after):
        return _RATE_NOTE
    return ""


_RATE_NOTE: Final = "The amount is a rate, not a price of the whole."


_COUNT_WORD: Final = (
    r"([0-9]{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|ek|do|teen|char|chaar|panch|paanch|"
    r"chhah|chhe|cheh|aath|das|barah|एक|दो|तीन|चार|पांच|पाँच|छह|छः|दस)"
)
_DURATIONS = re.compile(
    rf"\b(?:for|over|across|within|during|in|after)\s(?:the\s)?(?:next\s|first\s|a\s(?:period|term)\sof\s)?"
    rf"{_COUNT_WORD}[\s-]?(year|yr|month|week|day|quarter)s?\b"
    r"(?!['’]?\s(?:(?:of|ka|work|relevant|total|professional|industry|software|overall|it)\s){0,3}exp)"
    rf"|{_COUNT_WORD}\s(saal|sal|mahin[aeo]n?|maheen[aeo]|hafte|din|साल|महीने|महीनों|हफ्ते|दिन)\s"
    r"(?:ke\sliye|mein|me|ke\sbaad|k\sliye|के\sलिए|में)(?!\w)",
    re.IGNORECASE,
)
_CONTRACTS = re.compile(
    rf"\b{_COUNT_WORD}[\s-](?:year|yr|month)s?[\s-](?:long\s)?"
    r"(?:contract|deal|term|period|total|bond|agreement|stint|engagement|tenure|package)\b",
    re.IGNORECASE,
)
_ONE_YEAR: Final = {
    ("1", "y"),
    ("one", "y"),
    ("12", "m"),
    ("twelve", "m"),
    ("1", "s"),
    ("ek", "s"),
    ("12", "म"),
}
_ONE_YEAR_HINDI: Final = {("एक", "स"), ("1", "स"), ("barah", "m"), ("बारह", "म")}


def _has_duration(part: str, *, touching: bool = False) -> bool:
    """Tell "for six months" and "over 4 years" from "for one year" and "for 2 years of experience".

    `touching` takes only one that the amount follows at once: "6 mahine ke liye 5 lakh".
    """
    for found in _DURATIONS.finditer(part):
        if touching and part[found.end() :].strip(" ,:*_`₹") != "":
            continue
        count, period = (found[1], found[2]) if found[1] else (found[3], found[4])
        if (count.lower(), period[0].lower()) not in _ONE_YEAR | _ONE_YEAR_HINDI:
            return True
    return False


def doubt_in_sentence(before: str, after: str, question: Question) -> str:
    """Return why words anywhere in the sentence of an amount leave it ambiguous, "" where they do not."""
    if question.annual:
        is_other = any(_SHORT_PERIODS.search(part) or _CONTRACTS.search(part) for part in (before, after))
        is_other = is_other or _has_duration(after) or _has_duration(before, touching=True)
        return OTHER_PERIOD_NOTE if is_other else ""
    if _UNIT_RATES.search(before) or _UNIT_RATES.search(after):
        return _RATE_NOTE
    if _PART_PAYMENTS.search(before) or _PART_PAYMENTS.search(after):
        return "The amount is a part of the payment."
    return ""


_NEXT_LINE_RATE = re.compile(r"[\s*_`(]*(?:/|(?:per|each)\b|(?:hourly|daily)\ rate)", re.IGNORECASE)


def doubt_before_marker(lead: str, question: Question) -> str:
    """Return why the words that lead up to a marked amount leave it ambiguous: "Your monthly salary is:"."""
    lead = lead[-REACH:].rstrip(" \t\r\n*_`#")
    if not question.annual or lead[-1:] != ":":
        return ""
    line = lead.rpartition("\n")[2]
    return OTHER_PERIOD_NOTE if _SHORT_PERIODS.search(line) else ""


def first_sentence(rest: str) -> str:
    """Return the sentence or line that `rest` begins with."""
    return _SENTENCE_END.split(rest[:REACH].lstrip(), 1)[0]


def doubt_in_next_line(after: str, question: Question) -> str:
    """Return why the sentence after a marked amount takes it back, "" where it does not."""
    if question.percent:
        return ""
    if not question.annual:
        return _RATE_NOTE if _NEXT_LINE_RATE.match(after) and _UNIT_RATES.search(after) else ""
    return OTHER_PERIOD_NOTE if _SHORT_PERIODS.search(after) else ""
