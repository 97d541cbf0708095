"""Words around an amount that keep it from being the answer.

Words that make it a part or another quantity ("in-hand monthly", "per page", "upfront", "7 LPA more") leave
it ambiguous. Who the text is about is never looked at.
"""

import re
from typing import Final

from .number_words import word_set
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
    r"\b(?:half[\s-]?year(?:ly)?|semi-?annual(?:ly)?|bi-?annual(?:ly)?|bi-?yearly|bienn(?:ial|ium)(?:ly)?|six[\s-]month(?:ly|s)?)\b"
    r"|(?<!not\ )\b(?:(?:bi-?)?monthly|fortnight(?:ly)?|quarterly|month-?wise|timahi|ma?asik)\b"
    r"|(?<!not\ )\b(?:biweekly|weekly|daily|hourly)"
    r"(?:\s(?:rate|wage|pay|salary|fee|stipend|income|earning|ctc)|\W*$)"
    r"|\b(?:pcm|pm|p\.m|p/[dhmw]|p\.?q|day\ rate|every\ [0-9]+\ days)\b"
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
    "p/d|p/h|p/w|p.q|sem|bienn|half|decade|biannual|bi-annual|year|yrs|saal|sal |"
    "महीन|मासिक|माह|तिमाही|दिन|घंट|हफ|सप्ताह|साल|वर्ष"
)
_PRICE_STEMS: Final = _alternatives(
    "per |per-|each|every|har |prati|hourly|day|daily|weekly|monthly|unit | ek |हर|प्रति|एक|upfront|up-front|"
    "advance|deposit|payment|installment|instalment|emi|kist|kisht|delivery|milestone|half|token|"
    "pehle|pahle|पहले| an |for |p/d|p/h|p/w|किस्त|एडवांस"
)


def needs_a_look(low: str, question: Question) -> bool:
    """Tell whether the lower-case surroundings of an amount hold a stem at all."""
    by_time = question.annual or question.percent
    return any(map(low.__contains__, _PERIOD_STEMS if by_time else _PRICE_STEMS))


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
    rf"[\s*_`]*(?:pd\b|for\s(?:one|an?|each|every)\s(?:single\s)?{_MANY}|/\s?(?!project|work|job)[a-z]|each\b|apiece\b|(?:an?|ek)\s{_MANY})",
    re.IGNORECASE,
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


_PARTS: Final = (
    r"bonus(?:es)?|variable|esops?|stocks?|shares|rsus?|equity|stipend|allowance|gratuity|e?pf|hra"
)
_PART = re.compile(rf"\b(?:{_PARTS})\b", re.IGNORECASE)
_OTHERS: Final = (
    r"loans?|karz|tax(?:es)?|tds|gst|rent|kiraya|(?:course|tuition|college)?\s?fees?|emis?|revenue|turnover|funding|valuation"
    r"|investments?|savings|deposit|fine|penalty|scholarship|fellowship|insurance|premium|profits?|raised|inflation"
    r"|mehn?gai|mahangai|attrition|attendance|chances?|probability|interest|gdp|discount|confidence|growth|marks|score"
)
_OTHER_THING_BEFORE = re.compile(
    rf"\b(?:{_PARTS}|{_OTHERS})(?:\s(?:rate|pay|of|is|was|are|will|be|worth|about|around|up|to|hai|ka|ki|ke|by|at|the|for))*"
    r"[\s:=₹*_`]*(?:rs\.?\s?|inr\s)?$",
    re.IGNORECASE,
)
_PEOPLE: Final = (
    r"(?:people|persons?|employees|workers|candidates|engineers|professionals|staff|firms|companies|teams?|women|men"
    r"|students|colleagues|graduates|freshers|users|applicants|respondents|log|logon|karmchari\w*|लोग|लोगों|कर्मचारि\w*)"
)
_OTHER_THING_AFTER = re.compile(
    r"[ *_`]*(?:(?:as|in|of|ka|ki|ke|a|an|का|की|के|(?<!be)for)\s){0,3}"
    rf"(?:(?:joining|signing|annual|performance|retention|one-time|variable)\s)?(?:{_PARTS}|{_OTHERS})\b"
    r"|[ *_`]*(?:sure|certain|confiden\w+|certainty|percentile"
    rf"|of\s(?:(?:the|all|our|its|their)\s){{0,2}}{_PEOPLE}|{_PEOPLE})\b",
    re.IGNORECASE,
)


def is_remark(before: str, after: str, question: Question) -> bool:
    """Tell whether the words that touch a figure make it one of another thing or an addition."""
    if question.known is not None and _MORE_AFTER.match(after):
        return True
    other = _OTHER_THING_BEFORE.search(before.rpartition("\n")[2]) or _OTHER_THING_AFTER.match(after)
    return other is not None and not _PART.search(other[0])


def doubt_beside(before: str, after: str, question: Question) -> str:
    """Return why the words that touch an amount leave it ambiguous, "" where they do not."""
    other = _OTHER_THING_BEFORE.search(before.rpartition("\n")[2]) or _OTHER_THING_AFTER.match(after)
    if other and (question.annual or question.percent):
        return "The amount is one of another thing."
    if question.percent:
        cut = _CUT_AFTER.match(after) or _CUT_BEFORE.search(before)
        return "The percentage is a cut, not a raise." if cut else ""
    if _TIMES_BEFORE.search(before[-8:]) or _TIMES_AFTER.match(after):
        return "The amount is a factor of another one."
    if (question.states_amount or question.annual) and (
        _MORE_AFTER.match(after) or _MORE_BEFORE.search(before)
    ):
        return "The amount is an addition, not the whole."
    if not question.annual and _GLUED_RATE.match(after):
        return _RATE_NOTE
    return ""


_RATE_NOTE: Final = "The amount is a rate, not a price of the whole."


_UNITS_OF_TIME: Final = r"(?:years?|yrs?|months?|weeks?|days?|quarters?|semesters?|decades?)"
_UNITS_HINDI: Final = r"(?:saal|sal|varsh|mahin[aeo]n?|maheen[aeo]n?|hafte|din|साल|वर्ष|महीने|महीनों|हफ्ते|दिन)"
_NO_EXPERIENCE: Final = (
    r"(?!['’]?\s(?:(?:of|ka|ke|ki|work|relevant|total|professional|industry|software|overall|it|का|के|की)\s){0,3}"
    r"(?:exp|anubhav|tajurb|work|kaam|अनुभव|काम|old|mark|ago|pehle))"
)
_DURATIONS = re.compile(
    r"(?:\b(?:for|over|across|within|during|in|after|per|every|each)\s|/\s?)"
    r"(?:(?:the|next|first|last|initial|a|an|period|term|of|total|full|entire|whole|coming)\s){0,4}"
    rf"([^\s,;:()]+)[\s-]?\b({_UNITS_OF_TIME})\b{_NO_EXPERIENCE}"
    rf"|([^\s,;:()]+)[\s-]({_UNITS_OF_TIME}|{_UNITS_HINDI})\s"
    rf"(?:ke\sliye|ke|ka|ki|mein|me|k\sliye|tak|के\sलिए|के|का|की|में|तक)(?!\w){_NO_EXPERIENCE}",
    re.IGNORECASE,
)
_CONTRACTS = re.compile(
    r"\b([\w.]+)[\s-](year|yr|month)s?[\s-](?:long\s)?"
    r"(?:contract|deal|term|period|total|bond|agreement|stint|engagement|tenure|package)\b",
    re.IGNORECASE,
)
_PERIOD_NOUNS = re.compile(
    r"\b(?:in|over|per|every|each|har|prati)\s(?:an?\s)?(?:half|sem|decade|semester|six\smonths)\b"
)
_ONE: Final = word_set(
    "1 one a an the this next per each every first last current full whole entire ek एक my your"
)
_TWELVE: Final = word_set("12 twelve barah बारह")
_TOUCHING = re.compile(
    r"[\s,:*_`₹]*(?:(?:ka|ki|ke|का|की|के|package|total|kul|ctc|salary|contract|rs\.?|inr)[\s,:*_`₹]+)*"
)


def _has_duration(part: str, *, touching: bool = False) -> bool:
    """Tell "for six months" and "over 4 years" from "for one year" and "for 2 years of experience".

    `touching` takes only one that the amount follows at once: "6 mahine ke liye 5 lakh", "4 saal ka 48 lakh".
    """
    for found in [*_DURATIONS.finditer(part), *_CONTRACTS.finditer(part)]:
        if touching and found.re is _DURATIONS and not _TOUCHING.fullmatch(part, found.end()):
            continue
        count, period = (found[1], found[2]) if found[1] else (found[3], found[4])
        months = period[0].lower() == "m" or period.startswith("म")
        if count.lower() not in (_TWELVE if months else _ONE):
            return True
    return _PERIOD_NOUNS.search(part) is not None


def doubt_in_sentence(before: str, after: str, question: Question) -> str:
    """Return why words anywhere in the sentence of an amount leave it ambiguous, "" where they do not."""
    if question.percent:
        is_other = _has_duration(after) or _RECURS.match(after) is not None
        return OTHER_PERIOD_NOTE if is_other else ""
    if question.annual:
        is_other = any(_SHORT_PERIODS.search(part) for part in (before, after))
        is_other = is_other or _has_duration(after) or _has_duration(before, touching=True)
        return OTHER_PERIOD_NOTE if is_other else ""
    if _UNIT_RATES.search(before) or _UNIT_RATES.search(after):
        return _RATE_NOTE
    if _PART_PAYMENTS.search(before) or _PART_PAYMENTS.search(after) or _FIRST_PART.match(after):
        return "The amount is a part of the payment."
    return ""


_RECURS = re.compile(
    r"[\s*_`]*(?:\w+\s)?(?:(?:per|each|every|a|har|prati)\s(?:month|quarter|week|mahine|tim?ahi)|monthly|quarterly)",
    re.IGNORECASE,
)
_FIRST_PART = re.compile(r"[\s*_`]*(?:पहले|pehle|pahle)(?!\w)", re.IGNORECASE)

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
