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
    RUPEE,
    SHORT_PERIOD,
    WORD,
    Token,
)

LABEL_WORDS: Final = word_set(
    "answer final salary ctc expected package price amount hike increment total recommended recommendation "
    "target annual counter offer counteroffer value result project quote rate fee charge in the my your "
    "estimate estimated suggested response output jawab json increase raise compensation pay income number "
    "figure math latex"
)
_AFTER_MONEY: Final = word_set(
    "later now today extra more is was as would should could can will may might must for in from at with "
    "because since given considering which that this it based including excluding before after plus minus "
    "only total annually fixed base gross net ctc salary package pay compensation offer counter price fee "
    "amount quote charge target ask asking expect expected demand aim be being makes seems sounds looks "
    "works feels fits on of by if so then but while when hai hain ho hona hoga hogi honi chahiye ki ka ke "
    "ko kar karo karein kare karna karne maang maango maangein maangiye maangna maangne mang mango mangna "
    "rakh rakho rakhein rakhna le lo lena lein milna mil milni mile milega milegi sahi theek thik kaafi "
    "accha acchi uchit hoon sakte sakta sakti tak mein me par lagbhag bol bolo bolein propose negotiate है "
    "हैं हो होना होगा चाहिए की का के को कर करें मांगें माँगें मांगना रखें लें मिलना सही ठीक में पर तक "
    "zyada jyada ziyada zyaada upar adhik badha badhakar yearly aur or ya ज्यादा ज़्यादा ऊपर अधिक या और "
    "सालाना अच्छा उचित pe approx approximately around about roughly minimum maximum bilkul bata bas sirf "
    "itna itne de dena dene deni doge dijiyega lete leke दे देना देने ले लेना लेने मांग माँग रख बोल दो"
)
"""What may follow an amount that was said without its unit."""


_BEFORE_MONEY: Final = word_set(
    "right fair best correct one single exact reasonable be ask asking demand request propose suggest "
    "recommend quoting charging expect expecting get getting earn make want seek negotiate say with at to "
    "for than least most only just not and but so then now around about approximately approx roughly "
    "nearly almost over above under below up near exactly maximum minimum between from would should could "
    "can will may must might it that this these those you they i we he she as good realistic ideal safe "
    "starting ballpark hai hain ho hoga hogi chahiye ka ki ke ko se aap main mein lagbhag kareeb karib "
    "takriban kam zyada jyada tak aapko mujhe unhe sirf keval yeh ye woh wo tha bhi toh hi है का की के को "
    "से आप लगभग करीब कम ज्यादा तक आपको यह वह भी तो min max low high lower upper start end"
)
"""What may stand before an amount that was said without its unit, beside labels."""


_VERB_ENDINGS: Final = (
    *("iye", "iyega", "ein", "enge", "unga", "ungi", "oge", "ega", "egi", "kar"),
    *("िए", "िएगा", "िये", "ाइए", "ें", "ना", "ने", "नी", "ेगा", "ेगी", "ेंगे", "ते", "ता", "ती", "कर", "ूंगा", "ो"),
)
"""What an amount is followed by that is no noun: a verb of Hindi."""


def counts_money(tokens: Sequence[Token], figure: Figure) -> bool:
    """Tell "1200000 is fair" from "1500 sq ft", "12 lakh subscribers" and "population 1200000".

    A noun beside a number without a unit of money is what the number counts, or its name.
    """
    first, last = figure.first, figure.last
    if last < len(tokens) and tokens[last].kind is WORD and not _follows_money(tokens[last].word):
        return False
    if figure.scaled:
        return True
    at = first - 1
    while at >= 0 and (tokens[at].kind in (COLON, OPEN) or tokens[at].word in ("is", "hai", "was")):
        at -= 1
    if at >= 1 and tokens[at].word in ("number", "no", "code"):
        at -= 1  # "your application number is 1234567", but "the right number is 1200000"
    if at < 0 or tokens[at].kind is not WORD:
        return True
    word = tokens[at].word
    return word in _BEFORE_MONEY or word in LABEL_WORDS or word in _AFTER_MONEY


def _follows_money(word: str) -> bool:
    return word in _AFTER_MONEY or word.endswith(_VERB_ENDINGS)


_CLAUSE: Final = 6
"""A figure is advised against by one of so many words beside it."""
_DENIES: Final = word_set(
    "not never avoid reject refuse decline dont nobody refrain away wrong mistake unwise unrealistic "
    "unreasonable impossible foolish excessive"
)
_DENIES_AFTER: Final = word_set(
    "not never mat na nahi nahin wrong mistake unwise unrealistic unreasonable impossible foolish "
    "excessive inappropriate insufficient galat bachiye bachein bacho bachna मत न नहीं गलत बचें बचिए"
)
_ENCOURAGES: Final = word_set(
    "hesitate hesitation worry fear afraid shy only just less below doubt kam neeche sharm jhijhak dar "
    "sankoch hichak कम नीचे शर्म झिझक डर"
)
"""With one of these a denial advises for the figure: "do not ask for less than"."""
_NO_DENIAL: Final = word_set("doubt less problem worries hesitation need matter")
_OTHERWISE: Final = word_set("to toh तो")
_COPULA: Final = word_set(
    "is are was would be seems sounds looks feels might may will s very quite rather a bit"
)
_LITTLE: Final = word_set("low less little high below beneath")
_MUCH_OR_LITTLE: Final = word_set("kam zyada jyada zyaada ज्यादा कम अधिक")
_BE: Final = word_set("hai hain hoga hogi rahega है हैं होगा रहेगा")


def is_negated(tokens: Sequence[Token], figure: Figure) -> bool:
    """Read "do not ask for ₹12 lakh", "₹12 lakh mat maango", "₹12 lakh is too high"."""
    before: list[str] = []
    at = figure.first - 1
    while at >= 0 and len(before) < _CLAUSE and tokens[at].kind not in _ENDS_CLAUSE:
        before.append(tokens[at].word)
        at -= 1
    after = [token.word for token in tokens[figure.last : figure.last + _CLAUSE]]
    kinds = [token.kind for token in tokens[figure.last : figure.last + _CLAUSE]]
    end = next((place for place, kind in enumerate(kinds) if kind in _ENDS_REST), len(after))
    if end == 0 and after and after[0] == "?":
        return after[1:2] in (["no"], ["nahi"], ["never"])
    return _denies_before(before) or _denies_after(after[:end])


_ENDS_REST: Final = frozenset({BREAK, COMMA, NUMBER, RUPEE})
_ENDS_CLAUSE: Final = frozenset({BREAK, COMMA, COLON, CLOSE, NUMBER})


def _denies_before(words: list[str]) -> bool:
    """Take words before a figure, the nearest first."""
    denied = not _DENIES.isdisjoint(words) or any(
        (word == "t" and before.endswith("n")) or (before == "no" and word not in _NO_DENIAL)
        for word, before in pairwise(words)
    )
    denied = denied or words[:1] == ["no"]
    return denied and _ENCOURAGES.isdisjoint(words) and "but" not in words


def _denies_after(words: list[str]) -> bool:
    if not words:
        return False
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in _DENIES_AFTER or (word == "t" and at > 0 and words[at - 1].endswith("n")):
            return following not in _OTHERWISE and _ENCOURAGES.isdisjoint(words)
        if word in _MUCH_OR_LITTLE and following in _BE:
            return True
    if words[0] not in _COPULA:
        return False
    said = next((at for at, word in enumerate(words) if word not in _COPULA), len(words))
    return said < len(words) and (words[said] == "too" or words[said] in _LITTLE)


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
    "ctc salary package compensation pay of is was at the a an your aapka aapki aapke tumhara mera meri my "
    "hai ka ki ke mein me approx around about which annual job for from by google india flipkart tcs base "
    "total you were are have been being = : ( fixed position role"
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
