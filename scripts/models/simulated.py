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
No text of a prompt is read: the instruction of the fairness arm would change nothing, so that arm is refused.

All randomness of an answer comes from a keyed hash of (seed, prompt_id, repeat): neither order nor
concurrency nor resuming changes it, and temperature has no meaning. The respondent's name is no part of the
key: `sim/fair` and `sim/biased` share their noise, so they differ by the effects alone.
"""

from hashlib import blake2b
from math import exp
from statistics import NormalDist
from typing import Final

from rupeebias.metric.constants import LANGUAGES, PROFILES, QUESTIONS, USE_CASES

from ..errors import UsageError
from . import replies
from .law import GROUPS, OFFERS, median_outcomes, rounded_amount
from .respondents import RESPONDENTS, Respondent, find_respondent, with_parameters
from .types import JSON, ModelOptions, Reply, Request

_LAW_VERSION: Final = 1  # a change of the formula or of the base figures makes another respondent
_normal_quantile: Final = NormalDist().inv_cdf


class SimulatedModel:
    """A respondent where a provider's model would be."""

    max_connections: int = 1
    """Nothing is waited for, so more calls at once would bring nothing."""

    def __init__(self, respondent: Respondent) -> None:
        """Compute the medians of all prompts."""
        self._respondent = respondent
        self._key = str(respondent.seed).encode()[:64]
        self._medians = _medians(respondent)
        self._refusal = {group: respondent.refusal_probability(group) for group in GROUPS}
        self._profile_noise: dict[str, float] = {}

    @property
    def name(self) -> str:
        """The name given to `--model`."""
        return f"sim/{self._respondent.name}"

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
        """Return the answer to a prompt of the benchmark; KeyError for an unknown prompt_id."""
        use_case, _, axis, slug, profile, _ = prompt_id.split(":")
        noise, kind, choice = _uniforms(self._key, f"{prompt_id}:{repeat}")
        outcome = self._medians[prompt_id]
        if self._respondent.profile_noise_sd > 0:
            outcome *= self._shared_factor(f"{use_case}:{profile}:{axis}:{slug}")
        if self._respondent.noise_sd > 0:
            outcome *= exp(self._respondent.noise_sd * _normal_quantile(noise))
        amount = _amount(self._respondent, use_case, profile, outcome)
        text, reason = self._text(use_case, (axis, slug), amount, kind, choice)
        return Reply(text, finish_reason=reason, cost_usd=0.0, response_model=self.name)

    def _shared_factor(self, place: str) -> float:
        factor = self._profile_noise.get(place)
        if factor is None:
            z = _normal_quantile(_uniforms(self._key, place)[0])
            factor = exp(self._respondent.profile_noise_sd * z)
            self._profile_noise[place] = factor
        return factor

    def _text(
        self, use_case: str, group: tuple[str, str], amount: float, kind: float, choice: float
    ) -> tuple[str, str]:
        """Return the text and the finish reason; `kind` is compared with the summed shares."""
        who = self._respondent
        if (kind := kind - self._refusal[group]) < 0:
            return replies.refusal(choice), "stop"
        if (kind := kind - who.malformed_share) < 0:
            return replies.malformed(use_case, amount, choice), "stop"
        if (kind := kind - who.implausible_share) < 0:
            return replies.implausible(use_case), "stop"
        if (kind := kind - who.truncated_share) < 0:
            return replies.truncated(amount), "length"
        if kind < who.lenient_share:
            return replies.lenient(use_case, amount, choice), "stop"
        return replies.strict(use_case, amount), "stop"


def create_model(name: str, options: ModelOptions) -> SimulatedModel:
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
    return SimulatedModel(with_parameters(find_respondent(name), parameters))


def model_names() -> list[str]:
    """Return the names of all respondents."""
    return [f"sim/{name}" for name in RESPONDENTS]


def _medians(respondent: Respondent) -> dict[str, float]:
    medians: dict[str, float] = {}
    for use_case in USE_CASES:
        frames = [
            f"P{profile:02}:Q{question}"
            for profile in range(1, PROFILES[use_case] + 1)
            for question in range(1, QUESTIONS[use_case] + 1)
        ]
        for language in LANGUAGES:
            rows = median_outcomes(respondent, use_case, language).reshape(len(GROUPS), -1).tolist()
            for (axis, slug), row in zip(GROUPS, rows, strict=True):
                start = f"{use_case}:{language}:{axis}:{slug}:"
                medians.update({start + frame: value for frame, value in zip(frames, row, strict=True)})
    return medians


def _amount(respondent: Respondent, use_case: str, profile: str, outcome: float) -> float:
    if use_case == "counter_offer":
        outcome = OFFERS[int(profile[1:]) - 1] * (1 + outcome)
    return rounded_amount(use_case, outcome, rounding=respondent.rounding)


def _uniforms(key: bytes, text: str) -> tuple[float, float, float]:
    """Return three independent uniform numbers in (0, 1)."""
    bits = int.from_bytes(blake2b(text.encode(), key=key, digest_size=24).digest(), "little")
    mask = (1 << 52) - 1
    return (
        ((bits & mask) + 0.5) * 2.0**-52,
        ((bits >> 64 & mask) + 0.5) * 2.0**-52,
        ((bits >> 128 & mask) + 0.5) * 2.0**-52,
    )
