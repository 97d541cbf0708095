"""`sim/<respondent>`: models with known disparities that answer from a formula.

    outcome = base(use case, profile) x (1 + question effect) x (1 + Hinglish level, in Hinglish)
              x (1 + effect(group), times the Hinglish scale in Hinglish)
              x exp(profile_noise_sd * z(use case, profile, group)) x exp(noise_sd * z(prompt, repeat))

with independent standard normal z. The first is shared by all questions and both languages of a
profile; the second is new for each prompt and repeat. The outcome is the amount in INR, the hike in
percent, or, for a counter-offer, the markup over the offer: effects act on the markup, so that they mean
the same as in the metric. The answer says the amount (offer x (1 + markup)), rounded to steps as models
round, or with the respondent's shares something else: another form of the value, a refusal, an
answer without a value, an implausible or a truncated one. Shares apply to each answer independently.
Controls are words without effect: a placebo changes nothing but the draws, another wording of a group keeps
that group's effect. No text of a prompt is read: the instruction of the fairness arm would change nothing, so
that arm is refused.

All randomness of an answer comes from a keyed hash of (seed, prompt_id, repeat): neither order nor
concurrency nor resuming changes it, and temperature has no meaning. The respondent's name is no part of the
key: `sim/fair` and `sim/biased` share their noise, so they differ by the effects alone.
"""

from collections.abc import Callable
from hashlib import blake2b
from math import exp
from statistics import NormalDist
from typing import Final

from rupeebias.metric.design import PERCENT, Design, UseCase

from ..errors import UsageError
from .respondents import (
    RESPONDENTS,
    Group,
    Respondent,
    bases,
    find_respondent,
    groups,
    question_factors,
    rounded_amount,
    with_parameters,
)
from .types import JSON, ModelOptions, Reply, Request

_LAW_VERSION: Final = 1  # a change of the formula or of the base figures makes another respondent
_normal_quantile: Final = NormalDist().inv_cdf


class SimulatedModel:
    """A respondent where a provider's model would be."""

    max_connections: int = 1
    """Nothing is waited for, so more calls at once would bring nothing."""

    def __init__(self, respondent: Respondent, design: Design) -> None:
        """Compute what each group has in each language."""
        self.name = f"sim/{respondent.name}"
        self._respondent = respondent
        self._design = design
        self._key = str(respondent.seed).encode()[:64]
        people = {group: group for group in groups(design)} | _people_of_controls(design)
        self._effects = {
            (language, *words): respondent.factor(group, language)
            for language in design.language_names
            for words, group in people.items()
        }
        self._bases = {use_case.name: bases(use_case) for use_case in design.use_cases}
        self._questions = {
            use_case.name: question_factors(respondent, use_case) for use_case in design.use_cases
        }
        self._refusal = {words: respondent.refusal_probability(group) for words, group in people.items()}
        self._profile_noise: dict[str, float] = {}

    @property
    def settings(self) -> dict[str, JSON]:
        """Return the parameters of the law."""
        return {"provider": "simulated", "law": _LAW_VERSION, **self._respondent.settings()}

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    async def complete(self, request: Request) -> Reply:
        """Return `reply` of the request."""
        return self.reply(request.prompt_id, request.repeat)

    def reply(self, prompt_id: str, repeat: int = 0) -> Reply:
        """Return the answer to a prompt, a control too; KeyError for an unknown prompt_id."""
        use_case_name, language, axis, identifier, profile, question = prompt_id.split(":")
        use_case = self._design.use_case[use_case_name]
        place, asked = _place(profile, use_case.n_profiles), _place(question, use_case.n_questions)
        noise, kind, choice = _uniforms(self._key, f"{prompt_id}:{repeat}")
        outcome = self._effects[language, axis, identifier] * self._bases[use_case_name][place]
        outcome *= self._questions[use_case_name][asked]
        if self._respondent.profile_noise_sd > 0:
            outcome *= self._shared_factor(f"{use_case_name}:{profile}:{axis}:{identifier}")
        if self._respondent.noise_sd > 0:
            outcome *= exp(self._respondent.noise_sd * _normal_quantile(noise))
        amount = use_case.known[place] * (1 + outcome) if use_case.outcome == "markup" else outcome
        amount = rounded_amount(use_case, amount, rounding=self._respondent.rounding)
        text, reason = self._text(use_case, self._refusal[axis, identifier], amount, kind, choice)
        return Reply(text, finish_reason=reason, cost_usd=0.0, response_model=self.name)

    def _shared_factor(self, place: str) -> float:
        factor = self._profile_noise.get(place)
        if factor is None:
            z = _normal_quantile(_uniforms(self._key, place)[0])
            factor = exp(self._respondent.profile_noise_sd * z)
            self._profile_noise[place] = factor
        return factor

    def _text(
        self, use_case: UseCase, refused: float, amount: float, kind: float, choice: float
    ) -> tuple[str, str]:
        """Return the text and the finish reason; `kind` is compared with the summed shares."""
        who = self._respondent
        if (kind := kind - refused) < 0:
            return refusal(choice), "stop"
        if (kind := kind - who.malformed_share) < 0:
            return malformed(use_case, amount, choice), "stop"
        if (kind := kind - who.implausible_share) < 0:
            return implausible(use_case), "stop"
        if (kind := kind - who.truncated_share) < 0:
            return truncated(amount), "length"
        if kind < who.lenient_share:
            return lenient(use_case, amount, choice), "stop"
        return strict(use_case, amount), "stop"


def _people_of_controls(design: Design) -> dict[Group, Group]:
    """Return the group that the words of each control are about: a placebo's belong to none."""
    axes = design.controls.axes if design.controls is not None else ()
    return {
        (axis.name, words): (axis.name.removeprefix("wording_"), words.rpartition("_")[0])
        for axis in axes
        for words in axis.identifiers
    }


def create_model(name: str, options: ModelOptions, design: Design) -> SimulatedModel:
    """Return the respondent `sim/<name>` with the parameters of `-M` and `--seed`.

    Raises UsageError for an unknown respondent or parameter, suggesting the nearest, and for options
    that only a server can follow.
    """
    if options.base_url is not None or options.constrain:
        option = "--base-url" if options.base_url is not None else "--constrain"
        raise UsageError(f"{option} does not suit {name}, which asks no server")
    parameters = dict(options.extras)
    if options.seed is not None:
        parameters.setdefault("seed", options.seed)
    return SimulatedModel(with_parameters(find_respondent(name), parameters), design)


def model_names() -> list[str]:
    """Return the names of all respondents."""
    return [f"sim/{name}" for name in RESPONDENTS]


def _place(name: str, count: int) -> int:
    """Return 0 for P01 or Q1, and so on; KeyError for a name that there is not."""
    number = int(name[1:]) if name[1:].isdecimal() else 0
    if not 1 <= number <= count:
        raise KeyError(name)
    return number - 1


def _uniforms(key: bytes, text: str) -> tuple[float, float, float]:
    """Return three independent uniform numbers in (0, 1)."""
    bits = int.from_bytes(blake2b(text.encode(), key=key, digest_size=24).digest(), "little")
    mask = (1 << 52) - 1
    return (
        ((bits & mask) + 0.5) * 2.0**-52,
        ((bits >> 64 & mask) + 0.5) * 2.0**-52,
        ((bits >> 128 & mask) + 0.5) * 2.0**-52,
    )


# The texts of answers: the strict format, other forms of it, and what goes wrong. `choice`, a number in
# [0, 1), picks one of several forms.

_Forms = tuple[Callable[[float], str], ...]
_REFUSALS: Final = (
    "I'm sorry, but I can't help with that.",
    "I cannot give advice that depends on personal background.",
    "Sorry, I am unable to recommend a figure for this request.",
    "Maaf kijiye, main isme madad nahi kar sakta.",
)


def strict(use_case: UseCase, amount: float) -> str:
    """Return the answer in the asked format."""
    return f"### {_number(amount)} {_unit(use_case)}"


def lenient(use_case: UseCase, amount: float, choice: float) -> str:
    """Return the same value in another form that people and models use."""
    if use_case.unit == PERCENT:
        forms = _PERCENT_FORMS
    elif use_case.unit == "INR":
        forms = _CTC_FORMS if use_case.period == "year" else _RUPEE_FORMS
    else:
        forms = _money_forms(use_case.unit)
    return forms[int(choice * len(forms))](amount)


def refusal(choice: float) -> str:
    """Return a refusal."""
    return _REFUSALS[int(choice * len(_REFUSALS))]


def malformed(use_case: UseCase, amount: float, choice: float) -> str:
    """Return an answer without one readable value."""
    unit = _unit(use_case)
    forms = (
        "It depends on the market and on how the conversation goes.",
        f"Start at {_number(amount)} {unit}, but you may settle for {_number(amount * 0.8)} {unit}.",
        f"### <NUMBER> {unit}",
    )
    return forms[int(choice * len(forms))]


def implausible(use_case: UseCase) -> str:
    """Return an answer in the right format far outside the plausible bounds."""
    low, high = use_case.bounds
    if use_case.unit == PERCENT:
        return strict(use_case, 2.25 * high)
    return strict(use_case, 4.5 * high if use_case.period == "year" or low <= 0 else low / 20)


def truncated(amount: float) -> str:
    """Return an answer that ends inside its number."""
    return (
        "Taking the market, the experience and the profile into account, I would say ### "
        + _number(amount)[:1]
    )


def _unit(use_case: UseCase) -> str:
    return "%" if use_case.unit == PERCENT else use_case.unit


def _number(amount: float) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def _lakh(amount: float) -> str:
    return _number(amount / 100_000)


def _indian(amount: float) -> str:
    """Return whole rupees in Indian grouping: 1234567 -> 12,34,567."""
    digits = str(round(amount))
    head, groups = digits[:-3], [digits[-3:]]
    while head:
        head, last = head[:-2], head[-2:]
        groups.insert(0, last)
    return ",".join(groups)


def _money_forms(unit: str) -> _Forms:
    return (
        lambda a: f"{unit} {_number(a)}",
        lambda a: f"**### {_number(a)} {unit}**",
        lambda a: f"You should ask for {_number(a)} {unit}.",
        lambda a: f'{{"amount": {_number(a)}}}',
        lambda a: f"`{_number(a)} {unit}`",
    )


_RUPEE_FORMS: Final[_Forms] = (
    lambda a: f"\N{INDIAN RUPEE SIGN}{_indian(a)}",
    lambda a: f"Rs. {_indian(a)}/-",
    lambda a: f"INR {round(a):,}",
    lambda a: f"**### {_number(a)} INR**",
    lambda a: f"You should quote \N{INDIAN RUPEE SIGN}{_indian(a)} for this.",
    lambda a: f'{{"amount": {_number(a)}}}',
    lambda a: f"`{_number(a)} INR`",
)
_CTC_FORMS: Final[_Forms] = (
    *_RUPEE_FORMS[:4],
    lambda a: f"{_lakh(a)} LPA",
    lambda a: f"### {_lakh(a)} lakh",
    lambda a: f"A fair figure is \N{INDIAN RUPEE SIGN}{_lakh(a)} lakhs per year.",
    lambda a: f"{_lakh(a - 50_000)}-{_lakh(a + 50_000)} lakh",  # a range whose midpoint is the amount
)
_PERCENT_FORMS: Final[_Forms] = (
    lambda a: f"{_number(a)}%",
    lambda a: f"{_number(a)} percent",
    lambda a: f"**{_number(a)} %**",
    lambda a: f"A hike of {_number(a)}% is reasonable.",
    lambda a: f"### {_number(a)} per cent",
)
