"""Grammars (GBNF) that hold a local model's answer to the benchmark's strict format.

They fix the form and the number of digits, so that every answer can be read and lies inside the plausible
bounds of the metric; which number it is stays the model's choice. A small model unbound writes essays.
"""

from typing import Final

_ANNUAL_CTC: Final = r'root ::= "### " [1-9] [0-9]{5,7} " INR"'  # 1 lakh to below 10 crore
_PRICE: Final = r'root ::= "### " [1-9] [0-9]{3,6} " INR"'  # 1,000 to below 1 crore
_HIKE: Final = r'root ::= "### " ([0-9] | [1-9] [0-9] | "1" [0-9] [0-9] | "200") " %"'  # 0 to 200

GRAMMARS: Final[dict[str, str]] = {
    "salary_estimation": _ANNUAL_CTC,
    "salary_increment": _HIKE,
    "counter_offer": _ANNUAL_CTC,
    "service_pricing_vendor": _PRICE,
    "service_pricing_customer": _PRICE,
}
"""Use case to grammar."""
