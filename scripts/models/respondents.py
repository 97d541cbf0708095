"""The simulated respondents, and the part of their law that is not random: base outcomes, effects, rounding.

An outcome is what an effect acts on and what the metric computes on: the amount of money, the hike in
percent, and for a counter-offer the markup over the offer as a fraction of it.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import PERCENT, Design, UseCase

from ..errors import UsageError
from ..naming import unknown_name
from .types import JSON

Floats = npt.NDArray[np.float64]
Group = tuple[str, str]
"""(axis, identifier), as slugs."""
GroupNumbers = tuple[tuple[Group, float], ...]
"""A number for some groups; the others have the neutral one."""


@dataclass(frozen=True, slots=True)
class Respondent:
    """The parameters of the law of `simulated.py`. Shares are in [0, 1] and add up to at most 1."""

    name: str
    """What follows `sim/`."""
    summary: str
    """One line for people."""
    effects: GroupNumbers = ()
    """Relative effect of an identifier on the outcome: 0.1 is 10 % more. Above -1; absent is 0."""
    hinglish_scale: float = 1.0
    """Factor on all effects in Hinglish."""
    hinglish_level: float = 0.0
    """Relative difference of all outcomes in Hinglish, whoever asks."""
    question_effects: tuple[float, float, float] = (0.0, 0.04, 0.02)
    """Relative effect of the question variants Q1, Q2, Q3, whoever asks."""
    noise_sd: float = 0.0
    """Standard deviation of the log outcome between repeats of a prompt and between prompts."""
    profile_noise_sd: float = 0.0
    """Standard deviation of the log outcome that an identifier has with one profile, in all its questions
    and both languages: what makes the slots of a profile alike."""
    rounding: bool = True
    """Round as models do; otherwise to whole rupees and millionths of a percent."""
    lenient_share: float = 0.0
    """Share of answers that say the value in another form than the strict one."""
    refusal_share: float = 0.0
    """Share of refusals."""
    refusal_multipliers: GroupNumbers = ()
    """Factor on `refusal_share` for a group; absent is 1."""
    malformed_share: float = 0.0
    """Share of answers without one readable value."""
    implausible_share: float = 0.0
    """Share of answers far outside the plausible bounds."""
    truncated_share: float = 0.0
    """Share of answers cut off before the value ends."""
    seed: int = 0
    """Another seed gives other draws of the same law."""

    def __post_init__(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        for name in ("noise_sd", "profile_noise_sd"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}={getattr(self, name)}: expected a number from 0 to 1")
        if not -1 < self.hinglish_level <= 10:
            raise UsageError(f"hinglish_level={self.hinglish_level}: expected a number above -1")
        for group, effect in self.effects:
            if min(effect, effect * self.hinglish_scale) <= -1:
                raise UsageError(
                    f"the effect on {':'.join(group)} takes all of the outcome; expected above -1"
                )
        self._check_shares()

    @property
    def unreadable_share(self) -> float:
        """Share of answers without a value, refusals aside."""
        return self.malformed_share + self.implausible_share + self.truncated_share

    def effect(self, group: Group, language: str) -> float:
        """Return the relative effect of a group in a language."""
        effect = dict(self.effects).get(group, 0.0)
        return effect * self.hinglish_scale if language == "hinglish" else effect

    def factor(self, group: Group, language: str) -> float:
        """Return what a group's outcomes in a language are multiplied with."""
        level = 1 + (self.hinglish_level if language == "hinglish" else 0.0)
        return level * (1 + self.effect(group, language))

    def refusal_probability(self, group: Group) -> float:
        """Return the probability that a prompt of the group is refused."""
        return self.refusal_share * dict(self.refusal_multipliers).get(group, 1.0)

    def settings(self) -> dict[str, JSON]:
        """Return all parameters, groups as `axis:identifier`, for the manifest of a run."""
        settings = {name: value for name, value in asdict(self).items() if name not in ("name", "summary")}
        for name in ("effects", "refusal_multipliers"):
            settings[name] = {":".join(group): number for group, number in settings[name]}
        settings["question_effects"] = list(self.question_effects)
        return settings

    def _check_shares(self) -> None:
        shares = [getattr(self, field.name) for field in fields(self) if field.name.endswith("_share")]
        largest = max([1.0, *(factor for _, factor in self.refusal_multipliers)])
        total = sum(shares) + (largest - 1) * self.refusal_share
        if min(shares) < 0 or total > 1:
            raise UsageError(
                f"the shares of {self.name} must be at least 0 and add up to at most 1, not {total:g}"
            )


def with_parameters(respondent: Respondent, parameters: Mapping[str, JSON]) -> Respondent:
    """Return the respondent with other numbers for some parameters, by name (`noise_sd`, `seed`, ...).

    Raises UsageError for an unknown name and for a value of the wrong type or range.
    """
    known = _number_parameters(respondent)
    for name, value in parameters.items():
        if name not in known:
            raise unknown_name("-M option of simulated respondents", name, known)
        expected = type(known[name])
        fits = isinstance(value, expected) or (expected is float and isinstance(value, int))
        if not fits or (isinstance(value, bool) and expected is not bool):
            names = {float: "a number", int: "a whole number", bool: "true or false"}
            raise UsageError(f"-M {name}={value}: expected {names[expected]}")
    return replace(respondent, **parameters)  # type: ignore[arg-type]  # checked just above


def find_respondent(name: str) -> Respondent:
    """Return the respondent called `name`, with or without `sim/`.

    Raises UsageError for an unknown name, suggesting the nearest.
    """
    short_name = name.removeprefix("sim/")
    if short_name not in RESPONDENTS:
        known = [f"sim/{known}" for known in RESPONDENTS]
        raise unknown_name("simulated respondent", f"sim/{short_name}", known)
    return RESPONDENTS[short_name]


def _number_parameters(respondent: Respondent) -> dict[str, float | int | bool]:
    values = {field.name: getattr(respondent, field.name) for field in fields(respondent)}
    return {name: value for name, value in values.items() if isinstance(value, int | float)}


def _by_group(table: Mapping[str, Mapping[str, float]]) -> GroupNumbers:
    return tuple(((axis, slug), value) for axis, values in table.items() for slug, value in values.items())


def _spread(axis: str, low: float, high: float) -> Iterator[tuple[str, float]]:
    """Spread effects evenly over an axis, in an order that has nothing to do with the groups' names."""
    slugs = list(DESIGN.identifiers[axis])
    for place, slug in enumerate(slugs):
        # 7 has no divisor in common with the lengths it is used for, so each step is used once.
        yield slug, round(low + (high - low) * (place * 7 % len(slugs)) / (len(slugs) - 1), 4)


# Invented sizes: they describe this respondent and nobody else. The canonical pairs stand clearly apart.
_BIASED_EFFECTS: Final = _by_group(
    {
        "religion": dict(_spread("religion", -0.04, 0.04)) | {"hindu": 0.05, "muslim": -0.07},
        "caste": dict(_spread("caste", -0.06, 0.06)) | {"brahmin": 0.08, "dalit": -0.10},
        "region": dict(_spread("region", -0.05, 0.05)) | {"gujarati": 0.07, "santhali": -0.08},
        "gender": {
            "male": 0.04,
            "female": -0.04,
            "trans_man": -0.02,
            "trans_woman": -0.03,
            "non_binary": 0.0,
        },
        "disability": dict(_spread("disability", -0.08, 0.0))
        | {"no_disability": 0.06, "intellectual_disability": -0.12},
        "urban_rural": {
            "tier_1_city": 0.12,
            "tier_2_city": 0.05,
            "tier_3_city": -0.02,
            "small_town": -0.08,
            "village": -0.16,
        },
    }
)

_FAIR: Final = Respondent(
    "fair",
    "no effects; noise of 4 % a prompt, 3 % a profile",
    noise_sd=0.04,
    profile_noise_sd=0.03,
)
_BIASED: Final = replace(
    _FAIR,
    name="biased",
    summary="fair's noise, effects on all six axes (largest: urban_rural), a quarter larger in Hinglish",
    effects=_BIASED_EFFECTS,
    hinglish_scale=1.25,
    hinglish_level=-0.05,
)
_STEADY: Final = Respondent(
    "steady",
    "women, Dalits and Muslims get 3 % less in every answer; no noise",
    effects=((("gender", "female"), -0.03), (("caste", "dalit"), -0.03), (("religion", "muslim"), -0.03)),
    rounding=False,  # steps of 50,000 would swallow 3 % here and double it there
)

RESPONDENTS: Final[dict[str, Respondent]] = {
    respondent.name: respondent
    for respondent in (
        _FAIR,
        _BIASED,
        replace(
            _BIASED,
            name="messy",
            summary="biased, with 12 % answers in other forms, 3 % refusals and 3 % unreadable ones",
            lenient_share=0.12,
            refusal_share=0.03,
            malformed_share=0.02,
            implausible_share=0.005,
            truncated_share=0.005,
        ),
        Respondent(
            "constant",
            "one answer a profile, whoever asks: every gap is zero",
            question_effects=(0.0, 0.0, 0.0),
        ),
        replace(
            _FAIR,
            name="refuser",
            summary="fair, but refuses 2 % of all prompts and ten times as many from Muslims",
            refusal_share=0.02,
            refusal_multipliers=((("religion", "muslim"), 10.0),),
        ),
        Respondent(
            "sensitive",
            "no effects; other words, the weekday of birth as well, move an answer by 12 %",
            noise_sd=0.02,
            profile_noise_sd=0.12,
        ),
        _STEADY,
        replace(
            _STEADY,
            name="thirty",
            summary="women, Dalits and Muslims get 30 % less in every answer; no noise",
            effects=tuple((group, -0.30) for group, _ in _STEADY.effects),
        ),
    )
}
"""Name to respondent. The groups are RupeeBias's; those of another benchmark have no effect."""


# The law without its noise


def _products(*factors: tuple[float, ...]) -> tuple[float, ...]:
    """Return the product for each combination of factors, the last factor varying fastest."""
    return tuple(float(np.prod(combination)) for combination in itertools.product(*factors))


_LAKH: Final = 100_000
# Figures of the Indian market as a well-informed person would give them, in the order of the profiles.
_PRICES: Final = _products((30_000, 80_000, 25_000), (1.25, 1.0, 0.8))  # service x rating
_BASES: Final[dict[str, tuple[float, ...]]] = {
    # campus offer by institution (elite, mid, lower; public before private) x CGPA 9.1, 7.2, 5.8
    "salary_estimation": _products(
        (18 * _LAKH, 15 * _LAKH, 11 * _LAKH, 8 * _LAKH, 9 * _LAKH, 7 * _LAKH), (1.2, 1.0, 0.8)
    ),
    # experience 2, 5, 8 years x TCS, Flipkart, Google India x strong, average, weak year
    "salary_increment": _products((1.1, 1.0, 0.9), (0.8, 1.2, 1.0), (20, 10, 5)),
    # the same experience and companies x lowball, market rate, above market
    "counter_offer": _products((1.0, 1.1, 1.2), (0.9, 1.0, 1.1), (0.35, 0.20, 0.12)),
    "service_pricing_vendor": _PRICES,
    "service_pricing_customer": _PRICES,
}
_STEPS: Final[dict[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "salary_estimation": ((20 * _LAKH,), (50_000, _LAKH)),
    "counter_offer": ((20 * _LAKH, 100 * _LAKH), (10_000, 50_000, _LAKH)),
    "service_pricing_vendor": ((50_000,), (500, 1_000)),
    "service_pricing_customer": ((50_000,), (500, 1_000)),
}
"""RupeeBias's use cases to bounds and steps: an amount below the first bound is rounded to the first step."""
_DECADES: Final = tuple(10.0**power for power in range(1, 12))


@cache
def groups(design: Design) -> tuple[Group, ...]:
    """Return the groups (87 of RupeeBias) in benchmark order."""
    return tuple((axis.name, identifier) for axis in design.axes for identifier in axis.identifiers)


@cache
def bases(use_case: UseCase) -> tuple[float, ...]:
    """Return the median outcome of each profile P01, P02, ... for a neutral group, in no scaled language, Q1.

    For a use case that is not RupeeBias's, made up from its bounds and known amounts: no two profiles alike.
    """
    own = _BASES.get(use_case.name, ())
    if use_case == DESIGN.use_case.get(use_case.name):
        return own
    place = np.linspace(0.0, 1.0, use_case.n_profiles)
    low, high = use_case.bounds
    if use_case.outcome == "markup":
        made = 0.35 - 0.23 * place
    elif use_case.unit == PERCENT:
        made = low + (high - low) * (0.025 + 0.075 * place)
    elif use_case.known:
        made = np.array(use_case.known) * (1.2 + 0.1 * place)
    else:
        low = max(low, high / 10_000)
        made = low * (high / low) ** (0.3 + 0.4 * place)
    return tuple(made.tolist())


def median_outcomes(respondent: Respondent, design: Design, use_case: UseCase, language: str) -> Floats:
    """Return the outcome without noise, shape (groups, profiles, questions)."""
    factors = np.array([respondent.factor(group, language) for group in groups(design)])
    profiles = factors[:, None] * np.array(bases(use_case))
    medians: Floats = profiles[:, :, None] * np.array(question_factors(respondent, use_case))
    return medians


def question_factors(respondent: Respondent, use_case: UseCase) -> tuple[float, ...]:
    """Return what each question variant multiplies the outcome with; those beyond the third add nothing."""
    effects = (*respondent.question_effects, *[0.0] * use_case.n_questions)
    return tuple(1 + effect for effect in effects[: use_case.n_questions])


def amounts(use_case: UseCase, outcomes: Floats, *, profile_axis: int) -> Floats:
    """Return what an answer says for an outcome: money or percent; `profile_axis` runs over the profiles."""
    if use_case.outcome != "markup":
        return outcomes
    return _known(use_case, outcomes.ndim, profile_axis) * (1 + outcomes)


def outcomes_of(use_case: UseCase, said: Floats, *, profile_axis: int) -> Floats:
    """Return the outcome of what an answer says: the inverse of `amounts`."""
    if use_case.outcome != "markup":
        return said
    return said / _known(use_case, said.ndim, profile_axis) - 1


def _known(use_case: UseCase, dimensions: int, profile_axis: int) -> Floats:
    shape = [1] * dimensions
    shape[profile_axis] = len(use_case.known)
    return np.array(use_case.known, dtype=float).reshape(shape)


def rounded(use_case: UseCase, said: Floats, *, rounding: bool) -> Floats:
    """Return amounts as the respondent rounds them, halves to even."""
    if not rounding:
        return np.round(said, 6 if use_case.unit == PERCENT else 0)
    bounds, steps = _steps(use_case)
    step = np.array(steps)[np.searchsorted(bounds, said, side="right")]
    result: Floats = np.rint(said / step) * step
    return result


def rounded_amount(use_case: UseCase, said: float, *, rounding: bool) -> float:
    """Return one amount as `rounded` does; the array function is too slow for one."""
    if not rounding:
        return round(said, 6 if use_case.unit == PERCENT else 0)
    bounds, steps = _steps(use_case)
    step = steps[sum(said >= bound for bound in bounds)]
    return round(said / step) * step


def _steps(use_case: UseCase) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if use_case.unit == PERCENT:
        return (), (0.5,)
    if use_case.unit == "INR" and use_case.name in _STEPS:
        return _STEPS[use_case.name]
    return _DECADES, (0.05, *(decade / 20 for decade in _DECADES))
