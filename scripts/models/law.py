"""The part of the respondents' law that is not random: base outcomes by profile, effects, rounding.

An outcome is what an effect acts on and what the metric computes on: the amount in INR, the hike in
percent, and for a counter-offer the markup over the offer as a fraction of it.
"""

import itertools
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from rupeebias.metric.constants import IDENTIFIERS, LANGUAGES, OFFERED_CTC_LPA, PROFILES, QUESTIONS, USE_CASES

from .respondents import Group, Respondent

Floats = npt.NDArray[np.float64]

LAKH: Final = 100_000
GROUPS: Final[tuple[Group, ...]] = tuple(
    (axis, slug) for axis, slugs in IDENTIFIERS.items() for slug in slugs
)
"""The 87 groups in benchmark order."""


def _products(*factors: tuple[float, ...]) -> tuple[float, ...]:
    """Return the product for each combination of factors, the last factor varying fastest."""
    return tuple(float(np.prod(combination)) for combination in itertools.product(*factors))


# Figures of the Indian market as a well-informed person would give them, in the order of the profiles.
_PRICES: Final = _products((30_000, 80_000, 25_000), (1.25, 1.0, 0.8))  # service x rating

BASES: Final[dict[str, tuple[float, ...]]] = {
    # campus offer by institution (elite, mid, lower; public before private) x CGPA 9.1, 7.2, 5.8
    "salary_estimation": _products(
        (18 * LAKH, 15 * LAKH, 11 * LAKH, 8 * LAKH, 9 * LAKH, 7 * LAKH), (1.2, 1.0, 0.8)
    ),
    # experience 2, 5, 8 years x TCS, Flipkart, Google India x strong, average, weak year
    "salary_increment": _products((1.1, 1.0, 0.9), (0.8, 1.2, 1.0), (20, 10, 5)),
    # the same experience and companies x lowball, market rate, above market
    "counter_offer": _products((1.0, 1.1, 1.2), (0.9, 1.0, 1.1), (0.35, 0.20, 0.12)),
    "service_pricing_vendor": _PRICES,
    "service_pricing_customer": _PRICES,
}
"""Use case to the median outcome of each profile P01, P02, ... for a neutral group, in English, asked Q1."""

OFFERS: Final[tuple[float, ...]] = tuple(float(lpa * LAKH) for lpa in OFFERED_CTC_LPA)
"""Offered CTC in INR of the counter-offer profiles."""

_STEPS: Final[dict[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "salary_estimation": ((20 * LAKH,), (50_000, LAKH)),
    "salary_increment": ((), (0.5,)),
    "counter_offer": ((20 * LAKH, 100 * LAKH), (10_000, 50_000, LAKH)),
    "service_pricing_vendor": ((50_000,), (500, 1_000)),
    "service_pricing_customer": ((50_000,), (500, 1_000)),
}
"""Use case to bounds and steps: an amount below the first bound is rounded to the first step, and so on."""


def median_outcomes(respondent: Respondent, use_case: str, language: str) -> Floats:
    """Return the outcome without noise, shape (groups, profiles, questions)."""
    level = 1 + (respondent.hinglish_level if language == "hinglish" else 0.0)
    effects = np.array([1 + respondent.effect(group, language) for group in GROUPS])
    questions = 1 + np.array(respondent.question_effects[: QUESTIONS[use_case]])
    bases = np.array(BASES[use_case])
    medians: Floats = level * effects[:, None, None] * bases[:, None] * questions
    return medians


def amounts(use_case: str, outcomes: Floats, *, profile_axis: int) -> Floats:
    """Return what an answer says for an outcome: INR or percent; `profile_axis` runs over the profiles."""
    if use_case != "counter_offer":
        return outcomes
    return _offers(outcomes.ndim, profile_axis) * (1 + outcomes)


def outcomes_of(use_case: str, said: Floats, *, profile_axis: int) -> Floats:
    """Return the outcome of what an answer says: the inverse of `amounts`."""
    if use_case != "counter_offer":
        return said
    return said / _offers(said.ndim, profile_axis) - 1


def rounded(use_case: str, said: Floats, *, rounding: bool) -> Floats:
    """Return amounts as the respondent rounds them, halves to even."""
    if not rounding:
        return np.round(said, 6 if use_case == "salary_increment" else 0)
    bounds, steps = _STEPS[use_case]
    step = np.array(steps)[np.searchsorted(bounds, said, side="right")]
    result: Floats = np.rint(said / step) * step
    return result


def rounded_amount(use_case: str, said: float, *, rounding: bool) -> float:
    """Return one amount as `rounded` does; the array function is too slow for one."""
    if not rounding:
        return round(said, 6 if use_case == "salary_increment" else 0)
    bounds, steps = _STEPS[use_case]
    step = steps[sum(said >= bound for bound in bounds)]
    return round(said / step) * step


def cells() -> Iterator[tuple[str, str]]:
    """Iterate over (use case, language) in dataset order."""
    return itertools.product(USE_CASES, LANGUAGES)


def cell_shape(use_case: str) -> tuple[int, int, int]:
    """Return (groups, profiles, questions) of one use case and language."""
    return len(GROUPS), PROFILES[use_case], QUESTIONS[use_case]


def _offers(dimensions: int, profile_axis: int) -> Floats:
    shape = [1] * dimensions
    shape[profile_axis] = len(OFFERS)
    return np.array(OFFERS).reshape(shape)
