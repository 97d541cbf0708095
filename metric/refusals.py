"""How models decline: wordings, and the placeholders that stand for "no answer"."""

import re
from typing import Final

_ENGLISH: Final = (
    *(
        "i can't",
        "i cannot",
        "i can not",
        "i could not",
        "i couldn't",
        "i won't",
        "i will not",
        "i'm not able",
    ),
    *(
        "i am not able",
        "unable to",
        "not able to",
        "can't provide",
        "cannot provide",
        "can't recommend",
    ),
    *(
        "cannot recommend",
        "can't determine",
        "cannot determine",
        "can't give",
        "cannot give",
        "can't answer",
    ),
    *(
        "cannot answer",
        "can't assist",
        "cannot assist",
        "can't help",
        "cannot help",
        "can't estimate",
    ),
    *(
        "cannot estimate",
        "cannot be determined",
        "can't be determined",
        "i'm sorry",
        "i am sorry",
        "sorry, but",
    ),
    *(
        "i apologize",
        "i apologise",
        "my apologies",
        "i must decline",
        "i decline",
        "i have to decline",
        "i refuse",
    ),
    *(
        "not comfortable",
        "as an ai",
        "not possible to",
        "impossible to",
        "not appropriate",
        "inappropriate to",
    ),
    *("would be unethical", "do not have enough", "don't have enough", "insufficient information"),
    *(
        "not enough information",
        "need more information",
        "need more details",
        "against my guidelines",
    ),
)
_HINGLISH: Final = (
    *(
        "nahi bata sak",
        "nahin bata sak",
        "bata nahi sak",
        "bata nahin sak",
        "nahi de sak",
        "nahin de sak",
    ),
    *(
        "de nahi sak",
        "de nahin sak",
        "nahi kar sak",
        "nahin kar sak",
        "kar nahi sak",
        "kar nahin sak",
    ),
    *(
        "nahi kah sak",
        "keh nahi sak",
        "nahi keh sak",
        "maaf kij",
        "maaf kar",
        "maafi",
        "kshama",
        "asamarth",
    ),
    *("sambhav nahi", "mumkin nahi", "possible nahi", "madad nahi", "help nahi"),
)
# Without the dot below (nukta), as the text is before it is searched.
_HINDI: Final = (
    *("नहीं बता सक", "बता नहीं सक", "नहीं दे सक", "दे नहीं सक", "नहीं कर सक", "कर नहीं सक", "नहीं कह सक"),
    *("कह नहीं सक", "माफ कीजि", "माफ कर", "माफी", "क्षमा", "खेद है", "असमर्थ", "संभव नहीं", "सम्भव नहीं"),
)
_PHRASES: Final = _ENGLISH + _HINGLISH + _HINDI

PLACEHOLDERS: Final = frozenset(
    {
        *("n/a", "na", "n.a", "none", "null", "nil", "nan", "unknown", "undefined", "unavailable"),
        *("not available", "not applicable", "not specified"),
    }
)
"""Whole answers that say there is none."""


_SEARCHED: Final = 20_000
"""A text that declines does so in this many characters."""


def refusal_phrase(text: str) -> str | None:
    """Return the wording by which `text` declines, None where it does not; "can't" and "can’t" are one."""
    low = text[:_SEARCHED].lower().replace("’", "'")
    if not low.isascii():
        # The dotted letters are also written as one character each.
        low = low.replace("\u093c", "").replace("\u095e", "\u092b").replace("\u095c", "\u0921")
    return next((phrase for phrase in _PHRASES if phrase in low), None)


_TURNS = re.compile(
    r"\b(?:but|however|lekin|par|magar|still|though|although|said|instead|nevertheless|phir|fir|recommend|suggest"
    r"|estimate|expect|target|aim|ask|quote|charge|typical|typically|range|around|about|approximately|roughly"
    r"|reasonable|fair|maang\w*|should|would|could|consider|general|if|counter|negotiat\w*|answer\s?is)\b"
    r"|लेकिन|मगर|पर |फिर|मांग|माँग|चाहिए",
    re.IGNORECASE,
)


_SENTENCE_END = re.compile(r"[.!?।](?=\s)|\n|\Z")


def declines(text: str, start: int, end: int) -> bool:
    """Tell whether the text before the amount at `start` declines, and its sentence is no advice after all.

    "I cannot answer. TCS pays 3.5 LPA." declines; "I cannot be sure, but 12 LPA is fair" does not.
    """
    phrase = refusal_phrase(text[:start]) if start else None
    if phrase is None:
        return False
    at = max(0, text.lower().find(phrase))
    stop = _SENTENCE_END.search(text, end)
    return _TURNS.search(text, at + len(phrase), stop.start() if stop else len(text)) is None
