"""What the words right beside a figure make of it: repeated, advised against, monthly, or no money at all."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from .amounts import Figure
from .number_words import word_set
from .tokens import (
    BREAK,
    CLOSE,
    COLON,
    COMMA,
    DASH,
    NUMBER,
    OPEN,
    OTHER_PERIOD,
    PER,
    PERCENT,
    SHORT_PERIOD,
    WORD,
    Token,
)

LABEL_WORDS: Final = word_set(
    "answer final salary ctc expected package price amount hike increment total recommended "
    "recommendation target annual counter offer counteroffer value result project quote rate "
    "fee charge in the my your estimate estimated suggested response output jawab json "
    "increase raise compensation pay income number figure math latex"
)
_AFTER_MONEY: Final = word_set(
    "later now today extra more is was as would should could can will may might must for in from at "
    "with because since given considering which that this it based including excluding before after "
    "plus minus only total annually fixed base gross net ctc salary package pay compensation offer "
    "counter price fee amount quote charge target ask asking expect expected demand aim be being makes "
    "seems sounds looks works feels fits on of by if so then but while when hai hain ho hona hoga hogi "
    "honi chahiye ki ka ke ko kar karo karein kare karna karne maang maango maangein maangiye maangna "
    "maangne mang mango mangna rakh rakho rakhein rakhna le lo lena lein milna mil milni mile milega "
    "milegi sahi theek thik kaafi accha acchi uchit hoon sakte sakta sakti tak mein me par lagbhag bol "
    "bolo bolein propose negotiate है हैं हो होना होगा चाहिए की का के को कर करें मांगें माँगें मांगना "
    "रखें लें मिलना सही ठीक में पर तक"
)
"""What may follow an amount that was said without its unit."""


_BEFORE_MONEY: Final = word_set(
    "be ask asking demand request propose suggest recommend quoting charging expect expecting get "
    "getting earn make want seek negotiate say with at to for than least most only just not and but so "
    "then now around about approximately approx roughly nearly almost over above under below up near "
    "exactly maximum minimum between from would should could can will may must might it that this these "
    "those you they i we he she as good fair reasonable realistic ideal safe starting ballpark hai hain "
    "ho hoga hogi chahiye ka ki ke ko se aap main mein lagbhag kareeb karib takriban kam zyada jyada "
    "tak aapko mujhe unhe sirf keval yeh ye woh wo tha bhi toh hi है का की के को से आप लगभग करीब कम "
    "ज्यादा तक आपको यह वह भी तो"
)
"""What may stand before an amount that was said without its unit, beside labels."""


def counts_money(tokens: Sequence[Token], figure: Figure) -> bool:
    """Tell "1200000 is fair" from "1500 sq ft" and "population 1200000".

    A noun beside a number without a unit that is no word of money is what the number counts, or its name.
    """
    first, last = figure.first, figure.last
    if last < len(tokens) and tokens[last].kind is WORD and tokens[last].word not in _AFTER_MONEY:
        return False
    if first == 0 or tokens[first - 1].kind is not WORD:
        return True
    word = tokens[first - 1].word
    return word in _BEFORE_MONEY or word in LABEL_WORDS or word in _AFTER_MONEY


_NOT: Final = word_set("not never avoid reject refuse decline dont")
_ENCOURAGES: Final = word_set("hesitate worry fear afraid shy only just less below under")
_NOT_AFTER: Final = word_set("mat na nahi nahin मत न नहीं")
_ASKS_STEMS: Final = (
    "maang",
    "mang",
    "kah",
    "bol",
    "kar",
    "le",
    "accept",
    "charge",
    "quote",
    "माँग",
    "मांग",
    "ले",
    "कर",
)


def is_negated(tokens: Sequence[Token], figure: Figure) -> bool:
    """Read "do not ask for ₹12 lakh", "never accept 8 lakh" and "₹12 lakh mat maango"."""
    words: list[str] = []
    at = figure.first - 1
    while at >= 0 and len(words) < 6 and tokens[at].kind not in (BREAK, COMMA, COLON, CLOSE, NUMBER):
        words.append(tokens[at].word)
        at -= 1
    denied = bool(_NOT.intersection(words)) or any(
        after == "t" and before in ("don", "shouldn", "won", "can", "couldn", "wouldn", "didn")
        for after, before in pairwise(words)
    )
    if denied and not _ENCOURAGES.intersection(words) and "but" not in words:
        return True
    after = [token.word for token in tokens[figure.last : figure.last + 4]]
    if (
        after[:1]
        and after[0] in _NOT_AFTER
        and (len(after) == 1 or tokens[figure.last + 1].kind in (COMMA, BREAK))
    ):
        return True  # "₹10 lakh nahi, ₹12 lakh maangiye"
    return any(
        word in _NOT_AFTER and following.startswith(_ASKS_STEMS) for word, following in pairwise(after)
    )


_PERIOD_FILLERS: Final = word_set(
    "salary income pay payment in hand inhand take home gross net of is ka ki ke around about ctc hai the"
)


def is_monthly_before(tokens: Sequence[Token], figure: Figure) -> bool:
    """Read "monthly salary of 50,000", "per month: 50,000" and "mahine ka 50,000"."""
    at = figure.first - 1
    while at >= 0 and figure.first - at <= 6:
        token = tokens[at]
        if token.kind is OTHER_PERIOD:
            return True
        if token.kind is SHORT_PERIOD:
            return at > 0 and tokens[at - 1].kind is PER
        if token.kind not in (COLON, DASH, OPEN) and token.word not in _PERIOD_FILLERS:
            return False
        at -= 1
    return False


_REPEATS: Final = word_set("current currently existing present offered earning earn drawing maujooda abhi")
_FILLERS: Final = word_set(
    "ctc salary package compensation pay of is was at the a an your aapka aapki aapke tumhara "
    "mera meri my hai ka ki ke mein me approx around about which annual job for from by "
    "google india flipkart tcs base total you were are have been being = : ( fixed position "
    "role"
)
_NEW_OFFER: Final = word_set(
    "counter counteroffer new revised better higher final improved updated target - ‑ –"
)
_TRAILING: Final = word_set(
    "ka ki ke job ctc the they you were have been that is already initial original wala"
)


def is_repeated(tokens: Sequence[Token], figure: Figure) -> bool:
    return _is_repeated_before(tokens, figure.first) or _is_repeated_after(tokens, figure.last)


def _is_repeated_before(tokens: Sequence[Token], first: int) -> bool:
    """Read "current CTC of 20 LPA", "offered ₹98 LPA", "the offer from Google India of 98 LPA"."""
    at = first - 1
    while at >= 0 and first - at <= 9:
        word = tokens[at].word
        if word in _REPEATS or _is_compared(tokens, at):
            return True
        if word == "offer":
            # "offer 55 LPA" proposes, "counter-offer of 55 LPA" answers.
            return at < first - 1 and not (at > 0 and tokens[at - 1].word in _NEW_OFFER)
        if word not in _FILLERS:
            return False
        at -= 1
    return False


def _is_compared(tokens: Sequence[Token], at: int) -> bool:
    """Read what an answer is compared with: "15% over 48 LPA", "instead of 48 LPA"."""
    if at == 0:
        return False
    before, word = tokens[at - 1], tokens[at].word
    if word in ("over", "above"):
        return before.kind is PERCENT
    return (before.word, word) in (("instead", "of"), ("rather", "than"))


def _is_repeated_after(tokens: Sequence[Token], last: int) -> bool:
    """Read "the 48 LPA offer", "48 LPA ka job offer", "48 LPA you were offered", "20 LPA current CTC"."""
    at = last
    while at < len(tokens) and at - last <= 5:
        word = tokens[at].word
        if word in ("offer", "offered", "current", "existing"):
            return at == last or word in ("offer", "offered")
        if word not in _TRAILING:
            return False
        at += 1
    return False
