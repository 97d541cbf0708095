"""Names as tables and figures print them."""

from typing import Final

from rupeebias.metric.constants import IDENTIFIERS

AXIS_LABELS: Final = {
    "religion": "Religion",
    "caste": "Caste",
    "region": "Region",
    "gender": "Gender",
    "disability": "Disability",
    "urban_rural": "Urban/Rural",
}
USE_CASE_LABELS: Final = {
    "salary_estimation": "Salary estimation",
    "salary_increment": "Salary increment",
    "counter_offer": "Counter-offer",
    "service_pricing_vendor": "Service pricing, vendor",
    "service_pricing_customer": "Service pricing, customer",
}
LANGUAGE_LABELS: Final = {"en": "English", "hinglish": "Hinglish"}


def identifier_label(axis: str, identifier: object) -> str:
    """Return an identifier's name as the dataset writes it: ("caste", "sc_st") -> "SC/ST"."""
    return IDENTIFIERS[axis][str(identifier)]
