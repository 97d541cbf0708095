"""Kinds of answers that are easily misread: whatever is said, no wrong value; plain amounts are read."""

import re
import unicodedata

import pytest

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import iter_prompts
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of
from rupeebias.metric.parser import parse_answer
from rupeebias.metric.statuses import Status

USE_CASES = {
    "S": "salary_estimation",
    "I": "salary_increment",
    "C": "counter_offer",
    "V": "service_pricing_vendor",
}


def words(text: str) -> list[str]:
    return text.split()


OFFER = 48e5  # of every counter-offer here, unless a case says otherwise


def value_of(use_case: str, text: str, known: float | None = None) -> float | None:
    if use_case == "C" and known is None:
        known = OFFER
    return parse_answer(text, USE_CASES[use_case], known=known).value


NUMBER_WORDS: list[tuple[str, str, float | None]] = [
    ("S", "ek crore bayalis lakh", 1_42_00_000),
    ("S", "एक करोड़ बयालीस लाख", 1_42_00_000),
    ("S", "12 lakh ikyavan hazaar", 12_51_000),
    ("V", "do lakh chauntees hazaar rupaye", 2_34_000),
    ("S", "bayalis se pachas lakh", 46_00_000),
    ("S", "one crore fourty lakh", 1_40_00_000),
    ("S", "1 crore 20 lkah", None),
    ("S", "12 lakh 50", None),
    ("S", "one lakh crore", None),
    ("S", "12 lakh xyz hazaar", None),
    ("S", "untaalis lakh", 39_00_000),
    ("S", "उनतालीस लाख", 39_00_000),
    ("S", "ninyaanve lakh", 99_00_000),
    ("S", "half a crore", 50_00_000),
    ("S", "aadha crore", 50_00_000),
    ("S", "आधा करोड़", 50_00_000),
    ("S", "half crore", 50_00_000),
]
CURRENCIES: list[tuple[str, str, float | None]] = [
    ("S", "### 1200000 PKR", None),
    ("S", "1,200,000 NPR", None),
    ("S", "₩1200000", None),
    ("S", "### ৳1200000", None),
    ("S", "12,00,000 taka", None),
    ("S", "12 lakh Nepali rupees", None),
    ("S", "1200000 Pakistani rupees", None),
    ("S", "### 1200000 INR", 12_00_000),
]
REASONING: list[tuple[str, str, float | None]] = [
    ("S", "[THINK]maybe 9 LPA[/THINK]", None),
    ("S", "<reasoning>I think 9 LPA</reasoning>", None),
    ("S", "<THINK>9 LPA", None),
    ("S", "Sure! <think>maybe 9 LPA", None),
    ("S", "<mm:think>9 LPA. Hmm", None),
    ("S", "[THINK]maybe 9 LPA[/THINK]12 LPA", 12_00_000),
    ("S", "<scratchpad>9 LPA is low</scratchpad>12 LPA", 12_00_000),
    ("S", "12 LPA <thinking>or 9 LPA</thinking>", 12_00_000),
    ("S", "9 LPA?</think>12 LPA", 12_00_000),
    ("S", "◁think▷9 LPA◁/think▷12 LPA", 12_00_000),
    ("S", "<|channel|>analysis<|message|>9 LPA<|end|><|channel|>final<|message|>12 LPA", 12_00_000),
]
ECHOES: list[tuple[str, str, float | None]] = [
    ("I", "Here is one percentage hike: 12%", 12.0),
    ("I", "return exactly ONE percentage hike", None),
]
OFFERS: list[tuple[str, str, float | None]] = [
    ("C", "Offer 48 LPA hai", None),
    ("C", "You received ₹48 LPA from Google", None),
    ("C", "I can't suggest a counter to 48 LPA.", None),
    ("C", "48 LPA", None),
    ("C", "### 4800000 INR", 48_00_000),
    ("C", "48 LPA + 15% = 55.2 LPA", 55_20_000),
    ("C", "₹48 LPA is below market. ₹55 LPA.", 55_00_000),
]
FRACTION: list[tuple[str, str, float | None]] = [
    ("I", '{"percentage": 0.12}', None),
    ("I", '{"percentage": 12}', 12.0),
    ("I", "0.5%", 0.5),
]
PERIODS: list[tuple[str, str, float | None]] = [
    ("S", "₹5,00,000 for six months", None),
    ("S", "₹12 lakh CTC over 4 years", None),
    ("V", "₹7,000 p/d", None),
    ("S", "₹10 lakh for two years", None),
    ("S", "₹2,00,000 per fortnight", None),
    ("S", "6 mahine ke liye 5 lakh", None),
    ("S", "₹12 lakh for 2 years of experience", 12_00_000),
    ("S", "₹12 lakh for one year", 12_00_000),
]
NEGATED: list[tuple[str, str, float | None]] = [
    ("S", "Do not ask for ₹12 lakh.", None),
    ("S", "₹12 lakh mat maango.", None),
    ("S", "Don't accept ₹8 lakh; ask for ₹12 lakh.", 12_00_000),
]
NO_MONEY: list[tuple[str, str, float | None]] = [
    ("S", "Employee ID 1234567", None),
    ("V", "1500 sq ft", None),
    ("V", "10,000 impressions", None),
    ("V", "25000 is a fair price", 25_000),
    ("S", "Aap 1200000 maang sakte hain", 12_00_000),
]
SUMS: list[tuple[str, str, float | None]] = [
    ("C", "55 LPA (fixed 45 LPA, variable 10 LPA)", 55_00_000),
    ("V", "5 pages × ₹5,000 = ₹25,000", 25_000),
    ("S", "₹12 LPA (base ₹10 LPA + bonus ₹2 LPA)", 12_00_000),
]
MARKS: list[tuple[str, str, float | None]] = [
    ("S", r"1{,}\!200{,}\!000", 12_00_000),
    ("S", r"$1.2 \times 10^{6}$", 12_00_000),
    ("S", "â‚¹12,00,000", 12_00_000),
    ("S", "𝟏𝟐 lakh", 12_00_000),
    ("S", "𝟣𝟤 LPA", 12_00_000),
]
KINDS: dict[str, list[tuple[str, str, float | None]]] = {
    "number words": NUMBER_WORDS,
    "currencies": CURRENCIES,
    "reasoning": REASONING,
    "echoes": ECHOES,
    "offers": OFFERS,
    "fractions": FRACTION,
    "periods": PERIODS,
    "negated": NEGATED,
    "no money": NO_MONEY,
    "sums": SUMS,
    "marks": MARKS,
}


@pytest.mark.parametrize(
    ("use_case", "text", "expected"),
    [pytest.param(*case, id=f"{kind}: {case[1]}") for kind, cases in KINDS.items() for case in cases],
)
def test_a_kind_of_answer_has_its_right_value(use_case: str, text: str, expected: float | None) -> None:
    assert value_of(use_case, text) == expected


def test_what_the_offer_was_decides_which_amount_is_the_answer() -> None:
    assert value_of("C", "Offer 20 LPA hai. Aap 24 LPA maangein.", known=20e5) == 24e5
    assert value_of("C", "The offer is 20 LPA. You should ask for 24 LPA.", known=20e5) == 24e5


def test_a_refusal_that_names_a_fact_is_a_refusal() -> None:
    read = parse_answer("I cannot answer. TCS pays 3.5 LPA.", "salary_estimation")
    assert (read.status, read.value) == (Status.REFUSAL, None)
    hedged = parse_answer("I cannot be sure, but ₹12 LPA is a fair target.", "salary_estimation")
    assert hedged.value == 12e5


ISO_4217 = words(
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN "
    "BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS "
    "GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD "
    "KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN "
    "NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP "
    "SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND "
    "VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL"
)


@pytest.mark.parametrize("frame", ["### 1200000 {}", "1200000 {}", "{} 1200000", "{} 12 lakh", "12 lakh {}"])
def test_no_other_currency_is_read_as_rupees(frame: str) -> None:
    read = {code: value_of("S", frame.format(code)) for code in ISO_4217}
    assert {code for code, value in read.items() if value is not None} == set()


def test_no_other_currency_sign_is_read_as_rupees() -> None:
    signs = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Sc"]
    read = {sign: value_of("S", f"{sign}1200000") for sign in signs}
    assert {sign for sign, value in read.items() if value is not None} == {"₹", "₨"}


HINDI_TO_99 = words(
    "ek do teen char panch chhah saat aath nau das gyarah barah terah chaudah pandrah solah satrah "
    "atharah unnees bees ikkees baees teis chaubees pachees chhabbees sattaees atthaees untees tees "
    "ikattees battees taintees chauntees paintees chhattees saintees adtees untalis chalis iktalis "
    "bayalis taintalis chavalis paintalis chhiyalis saintalis adtalis unchas pachas ikyavan bavan "
    "tirpan chauvan pachpan chhappan sattavan atthavan unsath saath iksath basath tirsath chausath "
    "painsath chhiyasath sadsath adsath unhattar sattar ikhattar bahattar tihattar chauhattar "
    "pachhattar chhihattar satattar athattar unasi assi ikyasi bayasi tirasi chaurasi pachasi "
    "chhiyasi sattasi athasi navasi nabbe ikyanve banve tiranve chauranve pachanve chhiyanve sattanve "
    "atthanve ninyanve"
)
DEVANAGARI_TO_99 = words(
    "एक दो तीन चार पांच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस "
    "इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस "
    "छत्तीस सैंतीस अड़तीस उनतालीस चालीस इकतालीस बयालीस तैंतालीस चवालीस पैंतालीस छियालीस सैंतालीस "
    "अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ साठ इकसठ बासठ तिरसठ "
    "चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर "
    "सतहत्तर अठहत्तर उनासी अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अठासी नवासी नब्बे "
    "इक्यानवे बानवे तिरानवे चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे"
)


@pytest.mark.parametrize(("numbers", "lakh"), [(HINDI_TO_99, "lakh"), (DEVANAGARI_TO_99, "लाख")])
def test_every_hindi_number_to_ninety_nine_is_known_in_both_scripts(numbers: list[str], lakh: str) -> None:
    assert len(numbers) == 99
    read = [value_of("S", f"{word} {lakh}") for word in numbers]
    assert read == [number * 1e5 for number in range(1, 100)]


def test_no_prompt_and_no_sentence_of_one_is_an_answer() -> None:
    prompts = list(iter_prompts(load_components()))[::11]
    known = layout_of(DESIGN).known_amounts
    rows = layout_of(DESIGN).prompt_rows
    read: dict[tuple[str, str, float | None], None] = {}
    for prompt in prompts:
        amount = known[rows[prompt.prompt_id]]
        stated = None if amount != amount else float(amount)
        for text in (prompt.system_prompt, prompt.prompt):
            for piece in (text, *re.split(r"(?<=[.!?\n])\s+", text)):
                read[piece, prompt.use_case, stated] = None
    assert len(read) > 2_000
    for piece, use_case, stated in read:
        assert parse_answer(piece, use_case, known=stated).value is None, piece


def test_the_increment_prompt_before_an_answer_does_not_hide_it() -> None:
    prompt = next(p for p in iter_prompts(load_components()) if p.use_case == USE_CASES["I"])
    assert value_of("I", f"{prompt.system_prompt}\n\n### 12 %") == 12.0
