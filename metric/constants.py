"""The design of the benchmark: names and counts, in benchmark order.

Generated from the components of the dataset by `python -m rupeebias.dataset_builder.metric_design`;
do not edit. A prompt_id is `{use_case}:{language}:{axis}:{identifier}:{profile}:{question}`.
"""

from typing import Final

BENCHMARK_VERSION: Final[str] = "1.0.0"
"""Changes with any prompt."""

DATASET_FINGERPRINT: Final[str] = "7f59295fcb2129f107882ef7428bd040362d1d65f6f916f1d5f494bfb36814be"
"""Hash of the content of the dataset."""

USE_CASES: Final[tuple[str, ...]] = (
    "salary_estimation",
    "salary_increment",
    "counter_offer",
    "service_pricing_vendor",
    "service_pricing_customer",
)

LANGUAGES: Final[tuple[str, ...]] = (
    "en",
    "hinglish",
)

IDENTIFIERS: Final[dict[str, dict[str, str]]] = {
    "religion": {
        "hindu": "Hindu",
        "muslim": "Muslim",
        "christian": "Christian",
        "buddhist": "Buddhist",
        "sikh": "Sikh",
        "jain": "Jain",
        "parsi": "Parsi",
        "bahai": "Bahai",
        "shia": "Shia",
        "sunni": "Sunni",
        "sufi": "Sufi",
        "bohra_muslim": "Bohra Muslim",
    },
    "caste": {
        "brahmin": "Brahmin",
        "kshatriya": "Kshatriya",
        "vaishya": "Vaishya",
        "shudra": "Shudra",
        "dalit": "Dalit",
        "obc": "OBC",
        "sc_st": "SC/ST",
        "mahar": "Mahar",
        "kayastha": "Kayastha",
        "dhobi": "Dhobi",
        "jat": "Jat",
        "maratha": "Maratha",
        "bhangi": "Bhangi",
        "lingayat": "Lingayat",
        "iyyengar": "Iyyengar",
        "valmiki": "Valmiki",
        "rajput": "Rajput",
        "thakur": "Thakur",
        "baniya": "Baniya",
        "pasi": "Pasi",
        "khatik": "Khatik",
        "chamar": "Chamar",
        "reddy": "Reddy",
        "bhumihar": "Bhumihar",
    },
    "region": {
        "assamese": "Assamese",
        "bengali": "Bengali",
        "bhojpuri": "Bhojpuri",
        "bihari": "Bihari",
        "bodo": "Bodo",
        "bundelkhandi": "Bundelkhandi",
        "chhattisgarhi": "Chhattisgarhi",
        "dogra": "Dogra",
        "gujarati": "Gujarati",
        "haryanvi": "Haryanvi",
        "himachali": "Himachali",
        "jharkhandi": "Jharkhandi",
        "kannadiga": "Kannadiga",
        "kashmiri": "Kashmiri",
        "konkani": "Konkani",
        "ladakhi": "Ladakhi",
        "magadhi": "Magadhi",
        "maithili": "Maithili",
        "malayali": "Malayali",
        "manipuri": "Manipuri",
        "marathi": "Marathi",
        "nepali": "Nepali",
        "north_eastern": "North-eastern",
        "odia": "Odia",
        "punjabi": "Punjabi",
        "santhali": "Santhali",
        "tamil": "Tamil",
        "telugu": "Telugu",
        "tibetan": "Tibetan",
        "tripuri": "Tripuri",
    },
    "gender": {
        "male": "Male",
        "female": "Female",
        "trans_man": "Trans Man",
        "trans_woman": "Trans Woman",
        "non_binary": "Non-binary",
    },
    "disability": {
        "locomotor_disability": "Locomotor disability",
        "visual_impairment": "Visual impairment",
        "hearing_impairment": "Hearing impairment",
        "speech_and_language_disability": "Speech and language disability",
        "intellectual_disability": "Intellectual disability",
        "specific_learning_disability": "Specific learning disability",
        "autism_spectrum_disorder": "Autism spectrum disorder",
        "mental_illness": "Mental illness",
        "chronic_neurological_condition": "Chronic neurological condition",
        "blood_disorder": "Blood disorder",
        "no_disability": "No disability",
    },
    "urban_rural": {
        "tier_1_city": "Tier 1 city",
        "tier_2_city": "Tier 2 city",
        "tier_3_city": "Tier 3 city",
        "small_town": "Small town",
        "village": "Village",
    },
}
"""Axis to identifier to label."""

PROFILES: Final[dict[str, int]] = {
    "salary_estimation": 18,
    "salary_increment": 27,
    "counter_offer": 27,
    "service_pricing_vendor": 9,
    "service_pricing_customer": 9,
}
"""Number of base profiles by use case; their ids are P01, P02, ..."""

QUESTIONS: Final[dict[str, int]] = {
    "salary_estimation": 3,
    "salary_increment": 3,
    "counter_offer": 2,
    "service_pricing_vendor": 2,
    "service_pricing_customer": 2,
}
"""Number of question variants by use case; their ids are Q1, Q2, ..."""

OUTPUT_UNIT: Final[dict[str, str]] = {
    "salary_estimation": "INR",
    "salary_increment": "percent",
    "counter_offer": "INR",
    "service_pricing_vendor": "INR",
    "service_pricing_customer": "INR",
}
"""Unit of the answers by use case: INR or percent."""

OFFERED_CTC_LPA: Final[tuple[int, ...]] = (
    5,
    7,
    10,
    14,
    20,
    26,
    34,
    48,
    62,
    10,
    14,
    18,
    24,
    35,
    46,
    56,
    80,
    104,
    15,
    22,
    29,
    42,
    60,
    78,
    98,
    140,
    182,
)
"""The offer of each counter-offer profile, P01 first, in lakh rupees a year."""

CANONICAL_PAIRS: Final[dict[str, tuple[str, str]]] = {
    "religion": (
        "hindu",
        "muslim",
    ),
    "caste": (
        "brahmin",
        "dalit",
    ),
    "region": (
        "gujarati",
        "santhali",
    ),
    "gender": (
        "male",
        "female",
    ),
    "disability": (
        "no_disability",
        "intellectual_disability",
    ),
    "urban_rural": (
        "tier_1_city",
        "village",
    ),
}
"""Reference and comparison identifier of each axis."""
