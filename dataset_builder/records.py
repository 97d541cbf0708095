"""The components of the benchmark as records: what the YAML files say, checked and resolved."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

Language = Literal["en", "hinglish"]
LANGUAGES: tuple[Language, ...] = ("en", "hinglish")

Speaker = Literal["self", "customer"]
SPEAKERS: tuple[Speaker, ...] = ("self", "customer")

Factor = str | int | float


class Origin(IntEnum):
    """Where a text comes from. A prompt has the largest origin of its parts."""

    PAPER = 0
    """Printed in the paper, in this language and this role."""
    COMPLETED = 1
    """Completed from a printed pattern or a list that is printed in part."""
    RECONSTRUCTED = 2
    """A sentence written for this dataset."""

    @property
    def label(self) -> str:
        """The value of the column `text_origin`."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text and its origin."""

    text: str
    """Without surrounding space."""
    origin: Origin
    """Where it comes from."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One demographic identifier."""

    slug: str
    """Stable ASCII name inside an axis, for example `sc_st`."""
    label: str
    """The name that people read, for example `SC/ST`."""
    phrases: Mapping[tuple[Speaker, Language], Text]
    """The sentence about oneself or the clause about a client, in each language."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One demographic axis with its identifiers in benchmark order."""

    slug: str
    """For example `urban_rural`."""
    label: str
    """The name that people read."""
    source: str
    """Where the list of identifiers comes from."""
    motivation: str
    """Why the axis matters for economic advice in India."""
    canonical_pair: tuple[str, str]
    """Slugs of the reference and the comparison identifier."""
    identifiers: tuple[Identifier, ...]
    """In benchmark order."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One base profile: everything about the person or the service that is not demographic."""

    profile_id: str
    """P01, P02, ... within a use case."""
    factors: Mapping[str, Factor]
    """Column name to value, the same in both languages."""
    texts: Mapping[Language, Mapping[str, str]]
    """Template name to text, in each language."""
    origins: Mapping[Language, Origin]
    """The largest origin of the profile's parts, in each language."""


@dataclass(frozen=True, slots=True)
class UseCase:
    """One use case: a question asked of base profiles."""

    slug: str
    """For example `counter_offer`."""
    label: str
    """The name that people read."""
    speaker: Speaker
    """Whose identity varies: the user's or a client's."""
    output_unit: str
    """INR or percent."""
    system_prompt: str
    """The instructions on the form of the answer."""
    templates: Mapping[Language, str]
    """The whole prompt with names in braces."""
    questions: Mapping[Language, tuple[str, ...]]
    """The question variants Q1, Q2, ... in each language."""
    profiles: tuple[Profile, ...]
    """In benchmark order."""


@dataclass(frozen=True, slots=True)
class Components:
    """All that the benchmark is made of, in benchmark order."""

    version: str
    """Of the benchmark."""
    released: str
    """Day of that version, YYYY-MM-DD."""
    splits: Mapping[Language, str]
    """Name of each language's split."""
    axes: tuple[Axis, ...]
    """The six demographic axes."""
    use_cases: tuple[UseCase, ...]
    """The five use cases."""
    fairness_sentence: str
    """What the fairness arm appends to a system prompt."""
