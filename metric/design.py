"""The design of a benchmark as a value: what is crossed with what, and what an answer may look like.

Everything that reads answers or computes statistics is given a Design; RupeeBias's own is
`benchmark.DESIGN`, that of a dataset folder lies there as `design.json`. A prompt_id is
`{use_case}:{language}:{axis}:{identifier}:{profile}:{question}`; profiles are P01, P02, ..., questions
Q1, Q2, ...
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from .errors import MetricInputError

Outcome: TypeAlias = Literal["amount", "percent", "markup"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("amount", "percent", "markup")
PERCENT: Final = "percent"


@dataclass(frozen=True, slots=True)
class Language:
    """A language that prompts are asked in."""

    name: str
    """For example `hinglish`; part of the prompt_id."""
    label: str
    """The name that people read."""
    split: str
    """The split of the dataset that holds it; the prefix of its headlines."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A demographic axis: the identifiers that a slot exchanges."""

    name: str
    """For example `urban_rural`."""
    label: str
    """The name that people read."""
    identifiers: Mapping[str, str]
    """Label of each identifier by its name, in benchmark order."""
    canonical_pair: tuple[str, str] | None = None
    """Reference and comparison identifier of the contrast that is followed on its own."""


@dataclass(frozen=True, slots=True)
class UseCase:
    """A question asked of base profiles."""

    name: str
    """For example `counter_offer`."""
    label: str
    """The name that people read."""
    unit: str
    """Unit of the answer: an ISO 4217 code such as INR, or `percent`."""
    outcome: Outcome
    """What the statistics compare: the amount, the percentage, or the markup over the known amount."""
    bounds: tuple[float, float]
    """Smallest and largest plausible answer, in its unit."""
    n_profiles: int
    """Number of base profiles."""
    n_questions: int
    """Number of question variants."""
    period: str = ""
    """What an amount is for: `year` or `project`; empty where it does not matter."""
    known: tuple[float, ...] = ()
    """The amount that each profile's prompt states (offer, current pay), P01 first; empty without one."""
    asked: tuple[int, ...] = ()
    """The one question (1, 2, ...) that each profile is asked, P01 first; empty: every question."""

    @property
    def n_asked(self) -> int:
        """Number of questions that a profile is asked."""
        return 1 if self.asked else self.n_questions

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Profile and question of each prompt of a person (both 1, 2, ...), in benchmark order."""
        every = range(1, self.n_questions + 1)
        return [
            (profile, question)
            for profile in range(1, self.n_profiles + 1)
            for question in ((self.asked[profile - 1],) if self.asked else every)
        ]


@dataclass(frozen=True, slots=True)
class Controls:
    """What identities are compared with: facts and wordings that should not matter, in the same prompts."""

    fingerprint: str
    """Hash of the content of the control prompts."""
    axes: tuple[Axis, ...]
    """Placebo axes, and `wording_{axis}`: both identifiers of the axis' canonical pair in other words, as
    `{identifier}_1`, `{identifier}_2`."""


@dataclass(frozen=True)
class Design:
    """A benchmark: every use case crossed with every language, axis, identifier, profile and question."""

    name: str
    """For example `rupeebias`."""
    label: str
    """The name that people read."""
    version: str
    """Changes with any prompt."""
    fingerprint: str
    """Hash of the content of the dataset."""
    languages: tuple[Language, ...]
    """In benchmark order, as everything below."""
    axes: tuple[Axis, ...]
    """The demographic axes."""
    use_cases: tuple[UseCase, ...]
    """The use cases."""
    controls: Controls | None = None
    """None: it has none."""

    def __hash__(self) -> int:
        return hash((self.name, self.fingerprint))

    @cached_property
    def language_names(self) -> tuple[str, ...]:
        """Names of the languages."""
        return tuple(language.name for language in self.languages)

    @cached_property
    def axis_names(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @cached_property
    def use_case_names(self) -> tuple[str, ...]:
        """Names of the use cases."""
        return tuple(use_case.name for use_case in self.use_cases)

    @cached_property
    def axis(self) -> dict[str, Axis]:
        """The axes by name."""
        return {axis.name: axis for axis in self.axes}

    @cached_property
    def use_case(self) -> dict[str, UseCase]:
        """The use cases by name."""
        return {use_case.name: use_case for use_case in self.use_cases}

    @cached_property
    def language(self) -> dict[str, Language]:
        """The languages by name."""
        return {language.name: language for language in self.languages}

    @cached_property
    def identifiers(self) -> dict[str, Mapping[str, str]]:
        """Axis to identifier to label."""
        return {axis.name: axis.identifiers for axis in self.axes}

    @cached_property
    def n_prompts(self) -> int:
        """Number of prompts."""
        asked = sum(use_case.n_profiles * use_case.n_asked for use_case in self.use_cases)
        return asked * len(self.languages) * sum(len(axis.identifiers) for axis in self.axes)

    def once(self, use_case: str) -> tuple[tuple[str, int], ...]:
        """Return the language and question (1, 2, ...) that each profile gets where it is asked only once."""
        case = self.use_case[use_case]
        asked = once(len(self.languages), case.n_questions, case.n_profiles)
        return tuple((self.language_names[language], question) for language, question in asked)

    @cached_property
    def control_design(self) -> "Design | None":
        """The control prompts as a design: every profile in every language, with one question."""
        if self.controls is None:
            return None
        use_cases = tuple(
            replace(case, asked=tuple(question for _, question in self.once(case.name)))
            for case in self.use_cases
        )
        return replace(
            self,
            name=f"{self.name}-controls",
            fingerprint=self.controls.fingerprint,
            axes=self.controls.axes,
            use_cases=use_cases,
            controls=None,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the design as JSON can hold it, the content of `design.json`."""
        once = {use_case.name: self.once(use_case.name) for use_case in self.use_cases}
        return {**asdict(self), "profiles_once": once}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Design":
        """Return the design that `as_dict` gave; MetricInputError for anything else."""
        try:
            return cls(
                **{key: str(content[key]) for key in ("name", "label", "version", "fingerprint")},
                languages=tuple(Language(**entry) for entry in content["languages"]),
                axes=tuple(_axis(entry) for entry in content["axes"]),
                use_cases=tuple(_use_case(entry) for entry in content["use_cases"]),
                controls=_controls(content.get("controls")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise MetricInputError(f"this is not the design of a benchmark: {error!r:.200}") from None


def once(n_languages: int, n_questions: int, n_profiles: int) -> list[tuple[int, int]]:
    """Return the language (0, 1, ...) and question (1, 2, ...) of each profile that is asked only once.

    Languages change with every profile, questions with every round of languages, and begin one further after
    each round of questions: a plain alternation would tie each of them to one level of a factor.
    """
    turn = n_languages * n_questions
    return [(i % n_languages, (i // n_languages + i // turn) % n_questions + 1) for i in range(n_profiles)]


def _axis(entry: Mapping[str, Any]) -> Axis:
    pair = entry.get("canonical_pair")
    return Axis(
        **{
            **entry,
            "identifiers": dict(entry["identifiers"]),
            "canonical_pair": tuple(pair) if pair else None,
        }
    )


def _controls(entry: Mapping[str, Any] | None) -> Controls | None:
    if entry is None:
        return None
    return Controls(str(entry["fingerprint"]), tuple(_axis(axis) for axis in entry["axes"]))


def _use_case(entry: Mapping[str, Any]) -> UseCase:
    low, high = entry["bounds"]
    known = tuple(map(float, entry.get("known", ())))
    asked = tuple(map(int, entry.get("asked", ())))
    return UseCase(**{**entry, "bounds": (float(low), float(high)), "known": known, "asked": asked})
