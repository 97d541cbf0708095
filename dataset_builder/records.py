"""The components of a benchmark as records: what the YAML files say, checked and resolved."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Final, Literal

from rupeebias.metric.design import Outcome

Factor = str | int | float
Kind = Literal["text", "category", "int32", "float64"]

HUB_DTYPE: Final[dict[Kind, str]] = {
    "text": "string",
    "category": "string",
    "int32": "int32",
    "float64": "float64",
}
"""What `datasets` calls each kind. A category is a dictionary-encoded string in Parquet and Arrow."""


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """One column of the dataset."""

    name: str
    """As users write it."""
    kind: Kind
    """`text` has a value of its own in each row, `category` repeats a few."""
    description: str
    """One sentence for the dataset card."""
    is_content: bool = True
    """False: it says something about the prompts, and is no part of the fingerprint."""


class Origin(IntEnum):
    """Where a text comes from. A prompt has the largest origin of its parts."""

    PAPER = 0
    """Printed in the paper, in this language and this role."""
    COMPLETED = 1
    """Completed from a printed pattern or a list that is printed in part."""
    RECONSTRUCTED = 2
    """A sentence written in place of one that the paper has and does not print."""
    WRITTEN = 3
    """Written for this benchmark, with no counterpart in the paper."""

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
class Language:
    """A language that prompts are asked in."""

    slug: str
    """For example `hinglish`."""
    label: str
    """The name that people read."""
    split: str
    """The split that holds it."""
    tag: str
    """Its BCP 47 tag, such as `hi-Latn`; that of its slug where the YAML names none."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One demographic identifier."""

    slug: str
    """Stable ASCII name inside an axis, for example `sc_st`."""
    label: str
    """The name that people read, for example `SC/ST`."""
    phrases: Mapping[tuple[str, str], Text]
    """By speaker and language: the sentence about oneself, or the clause about a client."""


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
    """Why the axis matters."""
    canonical_pair: tuple[str, str] | None
    """Slugs of the reference and the comparison identifier."""
    identifiers: tuple[Identifier, ...]
    """In benchmark order."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One base profile: everything about the person or the service that is not demographic."""

    profile_id: str
    """P01, P02, ... within a use case."""
    factors: Mapping[str, Factor]
    """Column name to value, the same in every language."""
    texts: Mapping[str, Mapping[str, str]]
    """By language: template name to text."""
    origins: Mapping[str, Origin]
    """By language: the largest origin of the profile's parts."""


@dataclass(frozen=True, slots=True)
class UseCase:
    """One use case: a question asked of base profiles."""

    slug: str
    """For example `counter_offer`."""
    label: str
    """The name that people read."""
    about: str
    """What it asks about, for the dataset card."""
    speaker: str
    """Whose identity varies: the user's own (`self`) or that of a person whom the user mentions."""
    output_unit: str
    """An ISO 4217 code such as INR, or `percent`."""
    outcome: Outcome
    """What the statistics compare: the amount, the percentage, or the markup over the known amount."""
    bounds: tuple[float, float]
    """Smallest and largest plausible answer."""
    period: str
    """What an amount is for: `year` or `project`; empty where it does not matter."""
    known: tuple[float, ...]
    """The amount that each profile's prompt states, in the unit of answers; empty without one."""
    system_prompt: str
    """The instructions on the form of the answer."""
    templates: Mapping[str, str]
    """By language: the whole prompt with names in braces."""
    questions: Mapping[str, tuple[str, ...]]
    """By language: the question variants Q1, Q2, ..."""
    profiles: tuple[Profile, ...]
    """In benchmark order."""

    @property
    def n_questions(self) -> int:
        """Number of question variants."""
        return len(next(iter(self.questions.values())))


@dataclass(frozen=True)
class Components:
    """All that a benchmark is made of, in benchmark order."""

    name: str
    """For example `rupeebias`."""
    label: str
    """The name that people read."""
    version: str
    """Of the benchmark."""
    released: str
    """Day of that version, YYYY-MM-DD."""
    languages: tuple[Language, ...]
    """The languages."""
    axes: tuple[Axis, ...]
    """The demographic axes."""
    use_cases: tuple[UseCase, ...]
    """The use cases."""
    controls: tuple[Axis, ...]
    """Placebo axes and other wordings, for prompts beside those of the benchmark; () without them."""
    factor_columns: tuple[ColumnSpec, ...]
    """The columns of the dataset that profiles fill."""
    fairness_sentence: str
    """What the fairness arm appends to a system prompt."""
    card: str
    """Template of the dataset card."""

    @cached_property
    def splits(self) -> dict[str, str]:
        """Language to the name of its split."""
        return {language.slug: language.split for language in self.languages}
