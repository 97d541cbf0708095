"""The release of the paper's authors: their files of model outputs, read into run directories.

Here is how the release names things, where that differs from this benchmark.
"""

from typing import Final

TASKS: Final[dict[str, str]] = {
    "salary_estimation": "salary_estimation",
    "salary_increment_estimation": "salary_increment",
    "counter_offer_recommendation": "counter_offer",
    "service_pricing_vendor": "service_pricing_vendor",
    "service_pricing_client": "service_pricing_customer",
}
"""The release's name of each use case to ours."""

PROFILE_LETTERS: Final[dict[str, str]] = {
    "salary_estimation": "P",
    "salary_increment": "R",
    "counter_offer": "N",
    "service_pricing_vendor": "S",
    "service_pricing_customer": "S",
}
"""The letter before a profile's number, by our use case; the numbers are the same."""

TEMPERATURE: Final = "0.0"
"""As it stands in the names of the files."""

FAILED: Final = "ERROR:"
"""What the response of a failed call begins with."""

FINGERPRINT: Final = "authors-release"
"""Stands in a manifest for the fingerprint of the dataset: the authors' prompts are not in this one."""

PROVIDER: Final = "the authors' release"

RATINGS: Final = "4.9, 4.4 and 3.8"
"""The freelancer's ratings in their service pricing."""

ASKED: Final = f"the authors' prompts (service pricing with ratings of {RATINGS})"
"""In the settings of an imported run."""

WARNING: Final = (
    "imported from the authors' release: its answers are to the authors' prompts, whose words may differ "
    f"from this dataset's (their service pricing had ratings of {RATINGS}, this one 4.9, 4.7 and 4.3)"
)
"""In every result of an imported run."""


def model_name(name: str) -> str:
    """Return the name that a model of the release has in a manifest; no command can ask a model of it."""
    return f"release/{name}"
