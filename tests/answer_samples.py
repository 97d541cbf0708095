"""Answers put together from amounts, frames and distractors, with the value that each must be read as.

Everything is written here for its meaning, and nothing of the parser is used. A text has at most one answer;
around it stand figures that are none: counts, years, facts of the market, the offer, other currencies.
"""

from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

CTC, HIKE, COUNTER, VENDOR, CUSTOMER = (
    "salary_estimation",
    "salary_increment",
    "counter_offer",
    "service_pricing_vendor",
    "service_pricing_customer",
)
USE_CASES: Final = (CTC, HIKE, COUNTER, VENDOR, CUSTOMER)


class Sample(NamedTuple):
    """One answer with its meaning."""

    text: str
    use_case: str
    language: str
    """`english` or `hinglish`."""
    script: str
    """`latin` or `devanagari`."""
    known: float | None
    """The offer of a counter-offer."""
    value: float | None
    """None: there is no answer in it."""


Style = tuple[str, str]
"""Language and script."""
ENGLISH: Final[Style] = ("english", "latin")
HINGLISH: Final[Style] = ("hinglish", "latin")
HINDI: Final[Style] = ("hinglish", "devanagari")
STYLES: Final = (ENGLISH, HINGLISH, HINDI)


def indian(amount: int) -> str:
    """Group digits as in India: 12,00,000."""
    head, tail = str(amount)[:-3], str(amount)[-3:]
    groups: list[str] = []
    while head:
        groups.insert(0, head[-2:])
        head = head[:-2]
    return ",".join([*groups, tail])


def plain(number: float) -> str:
    """Write a number without zeros at its end."""
    return f"{number:.4f}".rstrip("0").rstrip(".")


def devanagari(text: str) -> str:
    """Write digits in Devanagari."""
    return "".join(chr(0x966 + int(mark)) if mark in "0123456789" else mark for mark in text)


def words_of(text: str) -> list[str]:
    return text.split()


ENGLISH_ONES: Final = words_of(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
ENGLISH_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
HINGLISH_TO_99: Final = words_of(
    "ek do teen char panch chhah saat aath nau das gyarah barah terah chaudah pandrah solah satrah "
    "atharah unnees bees ikkees baees teis chaubees pachees chhabbees sattaees atthaees untees tees "
    "ikattees battees taintees chauntees paintees chhattees saintees adtees untalis chalis iktalis "
    "bayalis taintalis chavalis paintalis chhiyalis saintalis adtalis unchas pachas ikyavan bavan tirpan "
    "chauvan pachpan chhappan sattavan atthavan unsath saath iksath basath tirsath chausath painsath "
    "chhiyasath sadsath adsath unhattar sattar ikhattar bahattar tihattar chauhattar pachhattar "
    "chhihattar satattar athattar unasi assi ikyasi bayasi tirasi chaurasi pachasi chhiyasi sattasi "
    "athasi navasi nabbe ikyanve banve tiranve chauranve pachanve chhiyanve sattanve atthanve ninyanve"
)
HINDI_TO_99: Final = words_of(
    "एक दो तीन चार पांच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस इक्कीस "
    "बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस "
    "सैंतीस अड़तीस उनतालीस चालीस इकतालीस बयालीस तैंतालीस चवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास "
    "पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ "
    "सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी अस्सी "
    "इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अठासी नवासी नब्बे इक्यानवे बानवे तिरानवे चौरानवे "
    "पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे"
)


def english_word(number: int) -> str:
    """Write 1 to 99."""
    if number < 20:
        return ENGLISH_ONES[number]
    tens, ones = divmod(number, 10)
    return ENGLISH_TENS[tens - 2] + (f" {ENGLISH_ONES[ones]}" if ones else "")


WORDS: Final[dict[Style, tuple[Callable[[int], str], dict[int, str]]]] = {
    ENGLISH: (english_word, {10**7: "crore", 10**5: "lakh", 1000: "thousand"}),
    HINGLISH: (lambda n: HINGLISH_TO_99[n - 1], {10**7: "crore", 10**5: "lakh", 1000: "hazaar"}),
    HINDI: (lambda n: HINDI_TO_99[n - 1], {10**7: "करोड़", 10**5: "लाख", 1000: "हजार"}),
}


def in_words(amount: int, style: Style) -> str:
    """Write whole thousands in words: "ek crore bayalis lakh"."""
    word, scales = WORDS[style]
    parts = []
    for size, name in scales.items():
        count, amount = divmod(amount, size)
        if count:
            parts.append(f"{word(count)} {name}")
    return " ".join(parts)


RUPEES: Final[dict[Style, str]] = {ENGLISH: "rupees", HINGLISH: "rupaye", HINDI: "रुपये"}
TO: Final[dict[Style, str]] = {ENGLISH: "to", HINGLISH: "se", HINDI: "से"}


def money(amount: int, style: Style, rng: Random) -> str:
    """Write an amount of rupees in one of many ways."""
    scales = WORDS[style][1]
    lakh = plain(amount / 1e5)
    forms = [
        f"₹{indian(amount)}",
        f"₹ {amount:,}",
        f"Rs. {indian(amount)}/-",
        f"Rs {indian(amount)}",
        f"INR {indian(amount)}",
        f"{indian(amount)} INR",
        f"{indian(amount)} {RUPEES[style]}",
        f"**₹{indian(amount)}**",
        f"{lakh} {scales[10**5]}",
        f"₹{lakh} {scales[10**5]}",
        f"{in_words(amount, style)} {RUPEES[style]}",
        in_words(amount, style),
    ]
    if amount < 10**5:
        forms += [
            f"{plain(amount / 1e3)}k",
            f"₹{plain(amount / 1e3)}K",
            f"{plain(amount / 1e3)} {scales[1000]}",
        ]
    if amount >= 10**7:
        forms += [f"{plain(amount / 1e7)} crore", f"₹{plain(amount / 1e7)} Cr"]
    if style is HINDI:
        forms += [f"₹{devanagari(indian(amount))}", f"{devanagari(lakh)} लाख {RUPEES[style]}"]
    return rng.choice(forms)


def annual(amount: int, style: Style, rng: Random) -> str:
    """Write annual pay."""
    lakh = plain(amount / 1e5)
    forms = [
        f"{lakh} LPA",
        f"₹{lakh} LPA",
        f"₹{indian(amount)} per annum",
        f"{lakh}L",
        f"₹{lakh} lakhs per year",
    ]
    return rng.choice([*forms, *(money(amount, style, rng) for _ in range(5))])


def money_range(low: int, high: int, style: Style, rng: Random) -> str:
    """Write a range of rupees."""
    a, b, lakh, to = plain(low / 1e5), plain(high / 1e5), WORDS[style][1][10**5], TO[style]
    forms = [
        f"{a}-{b} {lakh}",
        f"₹{a} {lakh} {to} ₹{b} {lakh}",
        f"{a} {to} {b} {lakh}",
        f"₹{indian(low)} {to} ₹{indian(high)}",
        f"₹{indian(low)} – ₹{indian(high)}",
    ]
    return rng.choice(forms)


def percent(value: float, style: Style, rng: Random) -> str:
    """Write a percentage."""
    names = {ENGLISH: ("percent", "per cent"), HINGLISH: ("pratishat", "percent"), HINDI: ("प्रतिशत", "फीसदी")}
    forms = [
        f"{plain(value)}%",
        f"{plain(value)} %",
        f"**{plain(value)}%**",
        f"{plain(value)} {names[style][0]}",
    ]
    if value == int(value) and 1 <= value <= 99:
        forms += [f"{WORDS[style][0](int(value))} {name}" for name in names[style]]
    return rng.choice(forms)


ANSWERS: Final[dict[Style, dict[str, tuple[str, ...]]]] = {
    ENGLISH: {
        "any": (
            "{}",
            "Answer: {}",
            "I would say {}.",
            "My estimate is {}.",
            "A fair figure is {}.",
            "I suggest {}.",
            "The right number here is {}.",
            "Around {} seems reasonable.",
        ),
        CTC: (
            "You should expect {}.",
            "Ask for {}.",
            "Your expected CTC should be {}.",
            "I'd recommend asking for {} as your CTC.",
            "Target {} in the interview.",
        ),
        COUNTER: (
            "Counter with {}.",
            "Ask for {}.",
            "Your counter-offer should be {}.",
            "I would counter at {}.",
            "Go back with {}.",
        ),
        HIKE: (
            "Ask for a {} hike.",
            "A raise of {} is fair.",
            "You should negotiate a {} increase.",
            "Expect {} this year.",
        ),
        VENDOR: (
            "Charge {}.",
            "Quote {} for the whole project.",
            "You can charge {} for this work.",
            "Your price should be {}.",
        ),
        CUSTOMER: (
            "Pay {}.",
            "You should offer {} for the whole project.",
            "A fair budget is {}.",
            "Expect to pay {}.",
        ),
    },
    HINGLISH: {
        "any": (
            "{}",
            "Jawab: {}",
            "Mere hisaab se {}.",
            "Mera sujhav {} hai.",
            "Sahi figure {} hai.",
            "Lagbhag {} theek rahega.",
            "{} sahi hai.",
        ),
        CTC: (
            "Aap {} maang sakte hain.",
            "Aapko {} maangna chahiye.",
            "Expected CTC {} rakhiye.",
            "{} maangiye.",
        ),
        COUNTER: (
            "Aap {} counter kijiye.",
            "{} maangiye.",
            "Counter offer {} rakhiye.",
            "Aapko {} maangne chahiye.",
        ),
        HIKE: (
            "{} ka hike maangiye.",
            "Aapko {} badhotari milni chahiye.",
            "{} hike sahi hai.",
            "{} maangiye.",
        ),
        VENDOR: ("{} charge kijiye.", "Poore project ke liye {} lijiye.", "Aap {} quote kar sakte hain."),
        CUSTOMER: (
            "{} dijiye.",
            "Poore kaam ke liye {} dena sahi hai.",
            "Aapko {} dene chahiye.",
            "Budget {} rakhiye.",
        ),
    },
    HINDI: {
        "any": ("{}", "जवाब: {}", "मेरे हिसाब से {}।", "मेरा सुझाव {} है।", "लगभग {} ठीक रहेगा।", "{} सही है।"),
        CTC: ("आप {} मांग सकते हैं।", "आपको {} मांगना चाहिए।", "{} मांगिए।"),
        COUNTER: ("{} मांगिए।", "आपको {} मांगने चाहिए।", "आप {} का काउंटर कीजिए।"),
        HIKE: ("{} की बढ़ोतरी मांगिए।", "आपको {} वृद्धि मिलनी चाहिए।", "{} मांगिए।"),
        VENDOR: ("{} लीजिए।", "पूरे काम के लिए {} लीजिए।", "आप {} ले सकते हैं।"),
        CUSTOMER: ("{} दीजिए।", "पूरे काम के लिए {} देना सही है।", "आपको {} देने चाहिए।"),
    },
}
WRITTEN_FORMS: Final = (
    "### {} INR",
    "Here is my answer:\n\n### {} INR",
    '{{"amount": {}}}',
    '{{"currency": "INR", "amount": {}}}',
    "```\n### {} INR\n```",
    "<think>It could be 9 LPA, or 14.</think>\n### {} INR",
    "[THINK]20 LPA is high, 25% too[/THINK]### {} INR",
    "The final answer is \\boxed{{{}}} INR.",
)
NO_ANSWERS: Final[dict[Style, tuple[str, ...]]] = {
    ENGLISH: (
        "You have 5 years of experience and a CGPA of 9.1.",
        "The market has changed since 2021.",
        "There are 3 rounds of interviews over 2 weeks.",
        "About 12,000 people work there.",
        "Your employee ID is 1234567.",
        "The office has 1500 sq ft.",
        "The college is in the top 50 of NIRF 2024.",
        "Step 1: research the market.",
        "Prepare well and know your worth.",
        "The plan needs 10 screens and 4 reviews.",
        "Call me at 98765 43210 if needed.",
        "Your identity should not matter here.",
        "It has a rating of 4.8/5 from 120 clients.",
        "Read section 12 of the handbook.",
        "<reasoning>9 LPA or 30% or ₹14,000?</reasoning>",
    ),
    HINGLISH: (
        "Aapke paas 5 saal ka experience aur 9.1 CGPA hai.",
        "2021 ke baad market badal gaya hai.",
        "Interview ke 3 rounds 2 hafte mein honge.",
        "Wahan 12,000 log kaam karte hain.",
        "Aapka employee ID 1234567 hai.",
        "Office 1500 sq ft ka hai.",
        "Aapke 4 saal ke experience ke saath market accha hai.",
        "Pehle market research kijiye.",
        "Acchi taiyari kijiye, do baar sochiye.",
        "Isme 10 screens aur 4 reviews hain.",
        "Aapki pehchaan se fark nahi padna chahiye.",
        "Rating 4.8/5 hai, 120 clients se.",
        "<think>9 LPA ya 30% ya ₹14,000?</think>",
    ),
    HINDI: (
        "आपके पास 5 साल का अनुभव है।",
        "2021 के बाद बाज़ार बदल गया है।",
        "इंटरव्यू के 3 राउंड 2 हफ्ते में होंगे।",
        "वहां 12,000 लोग काम करते हैं।",
        "आपका कर्मचारी नंबर 1234567 है।",
        "पहले बाज़ार को समझिए।",
        "अच्छी तैयारी कीजिए, दो बार सोचिए।",
        "इसमें 10 स्क्रीन हैं।",
        "आपकी पहचान से फर्क नहीं पड़ना चाहिए।",
        "<think>9 LPA या 30% या ₹14,000?</think>",
    ),
}
"""Sentences that hold no answer, for any question."""
MONEY_REMARKS: Final[dict[Style, tuple[str, ...]]] = {
    ENGLISH: (
        "Inflation is 6%.",
        "You can be 90% sure of that.",
        "Do not ask for ₹{low}.",
        "₹{low} is too low.",
        "₹{high} would be unrealistic.",
        "Nobody pays ₹{high}.",
        "About 80% of people do not negotiate.",
        "The company has a revenue of ₹900 crore.",
        "It has 2 lakh users.",
        "Tax is 30%.",
    ),
    HINGLISH: (
        "Mehngai 6% hai.",
        "₹{low} mat maangiye.",
        "₹{low} bahut kam hai.",
        "₹{high} nahi milega.",
        "₹{high} bahut zyada hai.",
        "80% log negotiate nahi karte.",
        "Company ka revenue ₹900 crore hai.",
        "Uske 2 lakh users hain.",
    ),
    HINDI: (
        "₹{low} मत मांगिए।",
        "₹{low} बहुत कम है।",
        "₹{high} नहीं मिलेगा।",
        "₹{high} बहुत ज्यादा है।",
        "80% लोग बात नहीं करते।",
    ),
}
"""Beside an amount of money: percentages, amounts of other things, amounts that are advised against."""
PERCENT_REMARKS: Final[dict[Style, tuple[str, ...]]] = {
    ENGLISH: (
        "Your current CTC is ₹{high}.",
        "Inflation is 6%.",
        "I am 100% sure.",
        "The tax rate is 30%.",
        "95% of people get something.",
        "Your chance is 50%.",
        "Do not ask for 60%.",
        "70% is too high.",
    ),
    HINGLISH: (
        "Aapki current CTC ₹{high} hai.",
        "Mehngai 6% hai.",
        "Main 100% sure hoon.",
        "95% logon ko kuch milta hai.",
        "60% mat maangiye.",
        "70% bahut zyada hai.",
    ),
    HINDI: ("आपका अभी का वेतन ₹{high} है।", "60% मत मांगिए।", "70% बहुत ज्यादा है।", "95% लोगों को कुछ मिलता है।"),
}
"""The same beside a percentage."""
REFUSALS: Final[dict[Style, tuple[str, ...]]] = {
    ENGLISH: (
        "I'm sorry, I can't give a number.",
        "I cannot answer that. TCS pays 3.5 LPA.",
        "N/A",
        "It depends.",
    ),
    HINGLISH: (
        "Maaf kijiye, main nahi bata sakta.",
        "Main nahi bata sakta. TCS 3.5 LPA deta hai.",
        "Depend karta hai.",
    ),
    HINDI: ("क्षमा करें, मैं नहीं बता सकता।", "मैं नहीं बता सकता। TCS 3.5 LPA देता है।", "यह निर्भर करता है।"),
}
OFFERED: Final[dict[Style, tuple[str, ...]]] = {
    ENGLISH: (
        "The offer is {}.",
        "You were offered {}.",
        "You have received an offer of {} from Google.",
        "{} is below the market.",
        "{} is a decent start.",
        "Compared with {}, you can do better.",
        "They offered {} to you.",
    ),
    HINGLISH: (
        "Offer {} hai.",
        "Aapko {} ka offer mila hai.",
        "{} market se kam hai.",
        "Google ne {} offer kiya hai.",
        "{} theek shuruaat hai.",
    ),
    HINDI: ("ऑफर {} है।", "आपको {} का ऑफर मिला है।", "{} बाज़ार से कम है।", "कंपनी ने {} का प्रस्ताव दिया है।"),
}
SPOILED: Final[dict[Style, tuple[str, ...]]] = {
    ENGLISH: (
        "{number} {code}",
        "### {number} {code}",
        "{sign}{number}",
        "Ask for {sign}{number}.",
        "Do not ask for ₹{number}.",
        "You should never take ₹{number}.",
        "₹{number} per month.",
        "₹{number} for six months.",
        "₹{number} over 3 years.",
        "₹{number} or ₹{other}.",
        "₹{number} + ₹{other}",
        "₹{number} a day.",
        "Either ₹{number} or ₹{other} would do.",
        "<think>₹{number}</think>",
        "[REASONING]Perhaps ₹{number}",
        "Population: {number}",
        "Invoice {number}",
        "{number} Nepali rupees",
        "{number} dollars",
    ),
    HINGLISH: (
        "₹{number} mat maangiye.",
        "₹{number} mahine ke.",
        "₹{number} har mahine.",
        "Chhah mahine ke liye ₹{number}.",
        "₹{number} ya ₹{other}.",
        "{number} {code} sahi hai.",
        "{number} Nepali rupaye.",
        "{sign}{number} maangiye.",
        "{number} log hain.",
        "₹{number} prati din.",
        "<think>₹{number} sahi hai",
        "₹{number} kabhi mat lijiye.",
    ),
    HINDI: (
        "₹{number} मत मांगिए।",
        "₹{number} प्रति माह।",
        "₹{number} महीने के।",
        "छह महीने के लिए ₹{number}।",
        "₹{number} या ₹{other}।",
        "{number} नेपाली रुपये।",
        "{number} डॉलर मांगिए।",
        "{number} लोग हैं।",
        "₹{number} हर दिन।",
    ),
}
"""Amounts that are no answer to a question about a year's pay."""
CODES: Final = words_of("USD EUR GBP NPR PKR BDT LKR AED SGD THB KRW JPY CNY ZAR BTN MYR")
SIGNS: Final = "$€£¥৳₩₽₺₫฿₦"


def sample(rng: Random) -> Sample:
    """Return one answer at random."""
    style = rng.choice(STYLES)
    use_case = rng.choice(USE_CASES)
    known = float(rng.randrange(10, 190) * 10**5) if use_case == COUNTER else None
    roll = rng.random()
    if roll < 0.15:
        text, value = _without_answer(use_case, style, rng), None
    elif roll < 0.25 and use_case != HIKE:
        written, value = _drawn(use_case, known, rng)
        text = rng.choice(WRITTEN_FORMS).format(written)
    else:
        text, value = _answer(use_case, style, known, rng)
    text = _surrounded(text, use_case, style, known, rng)
    return Sample(text, use_case, *style, known, value)


def _drawn(use_case: str, known: float | None, rng: Random) -> tuple[int, float]:
    """Return an amount as an answer to the use case, in rupees."""
    if known is not None:
        amount = int(known) + rng.randrange(1, 60) * 10**5 // rng.choice((1, 2))
    elif use_case == CTC:
        amount = rng.choice(
            (rng.randrange(3, 90) * 10**5, rng.randrange(30, 400) * 10**4, rng.randrange(100, 250) * 10**5)
        )
    else:
        amount = rng.choice((rng.randrange(8, 99) * 1000, rng.randrange(10, 60) * 5000))
    return amount, float(amount)


def _answer(use_case: str, style: Style, known: float | None, rng: Random) -> tuple[str, float]:
    frame = rng.choice(ANSWERS[style][rng.choice((use_case, use_case, "any"))])
    if use_case == HIKE:
        value = rng.choice((float(rng.randrange(1, 80)), rng.randrange(8, 120) / 2))
        return frame.format(percent(value, style, rng)), value
    amount, value = _drawn(use_case, known, rng)
    if rng.random() < 0.15:
        high = amount + rng.randrange(1, 5) * (10**5 if amount > 10**6 else 1000)
        return frame.format(money_range(amount, high, style, rng)), (amount + high) / 2
    write = annual if use_case in (CTC, COUNTER) else money
    return frame.format(write(amount, style, rng)), value


def _without_answer(use_case: str, style: Style, rng: Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(REFUSALS[style])
    if use_case == HIKE:
        return rng.choice(
            ("₹{} lakh", "{} LPA", "A pay cut of {}%", "{}% ya 90%", "<think>{}%", "{}/100")
        ).format(rng.randrange(5, 40))
    if use_case in (VENDOR, CUSTOMER):
        rates = {
            ENGLISH: (
                "₹{} per page.",
                "₹{} an hour.",
                "{} USD",
                "${}",
                "₹{} each.",
                "Do not pay ₹{}.",
                "₹{} p/d",
            ),
            HINGLISH: ("Har page ke ₹{}.", "₹{} prati ghanta.", "{} dollar", "₹{} mat dijiye.", "{} taka"),
            HINDI: ("हर पेज के ₹{}।", "₹{} प्रति घंटा।", "{} डॉलर", "₹{} मत दीजिए।", "{} टका"),
        }
        return rng.choice(rates[style]).format(indian(rng.randrange(2, 90) * 1000))
    number, other = (indian(rng.randrange(30, 900) * 10**4) for _ in range(2))
    spoiled = rng.choice(SPOILED[style])
    if number == other:
        spoiled = "N/A"
    return spoiled.format(number=number, other=other, code=rng.choice(CODES), sign=rng.choice(SIGNS))


def after_is_open(text: str) -> bool:
    """Tell whether what follows a text would be part of its reasoning."""
    return text.startswith(("<think>₹", "[REASONING]", "<think>")) and "</think>" not in text


def _surrounded(text: str, use_case: str, style: Style, known: float | None, rng: Random) -> str:
    before = rng.sample(NO_ANSWERS[style], rng.choice((0, 0, 1, 2)))
    after = rng.sample(NO_ANSWERS[style], rng.choice((0, 0, 0, 1)))
    after = [] if after_is_open(text) else after
    if known is not None and rng.random() < 0.4:
        stated = annual(int(known), style, rng)
        before.insert(rng.randrange(len(before) + 1), rng.choice(OFFERED[style]).format(stated))
    if rng.random() < 0.3:
        remark = rng.choice((PERCENT_REMARKS if use_case == HIKE else MONEY_REMARKS)[style])
        remark = remark.format(
            low=indian(rng.randrange(2, 5) * 10**5), high=indian(rng.randrange(190, 300) * 10**5)
        )
        (before if rng.random() < 0.5 or after_is_open(text) else after).append(remark)
    if text.startswith("{"):
        return text
    joiner = rng.choice((" ", "\n", "\n\n"))
    return joiner.join([*before, text, *after])
