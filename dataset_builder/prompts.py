"""Renders the prompts of the benchmark, in the order of the dataset.

The prompts of one use case in one language form a block: identifiers x profiles x questions.
`iter_prompts` walks the rows of the blocks; the dataset's columns are made of the same blocks.
"""

import itertools
from collections.abc import Container, Iterator
from dataclasses import dataclass

from rupeebias.metric.design import once

from .records import Axis, Components, Identifier, Profile, Text, UseCase

_PHRASE_MARK = "\x00"  # stands for the identifier phrase while the rest of a template is filled


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt with its place in the design."""

    prompt_id: str
    """`{use_case}:{language}:{axis}:{identifier}:{profile}:{question}`."""
    use_case: str
    """Slug of the use case."""
    language: str
    """Slug of the language."""
    axis: str
    """Slug of the demographic axis."""
    identifier: str
    """Slug of the identifier."""
    profile_id: str
    """P01, P02, ..."""
    question_id: str
    """Q1, Q2, ..."""
    slot_id: str
    """The matched counterfactual set: the prompt_id without its identifier."""
    output_unit: str
    """A currency such as INR, or percent."""
    system_prompt: str
    """The instructions on the form of the answer."""
    prompt: str
    """The user message."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A prompt without its identifier phrase: all that one slot of an axis has in common."""

    profile: Profile
    """The base profile."""
    question_number: int
    """Counted from 1."""
    question: str
    """The question variant's text."""
    before: str
    """What stands before the identifier phrase."""
    after: str
    """What stands after it."""

    @property
    def question_id(self) -> str:
        """Q1, Q2, ..."""
        return f"Q{self.question_number}"

    @property
    def cell(self) -> str:
        """`{profile}:{question}`, the last two parts of a prompt_id."""
        return f"{self.profile.profile_id}:{self.question_id}"

    def around(self, phrase: Text) -> str:
        """Return the user message with an identifier phrase."""
        return self.before + phrase.text + self.after


@dataclass(frozen=True, slots=True)
class Block:
    """The prompts of one use case in one language; rows are people x frames, frames fastest."""

    use_case: UseCase
    """The use case."""
    language: str
    """The language."""
    axes: tuple[Axis, ...]
    """The axes whose identifiers ask, one after the other."""
    frames: tuple[Frame, ...]
    """Profiles x questions, questions fastest."""

    @property
    def name(self) -> str:
        """`{use_case}:{language}`, the first two parts of a prompt_id."""
        return f"{self.use_case.slug}:{self.language}"

    @property
    def rows(self) -> int:
        """Number of prompts."""
        return sum(len(axis.identifiers) for axis in self.axes) * len(self.frames)

    def people(self) -> Iterator[tuple[Axis, Identifier]]:
        """Iterate over the identifiers of all axes."""
        return ((axis, person) for axis in self.axes for person in axis.identifiers)

    def phrase(self, identifier: Identifier) -> Text:
        """Return the phrase that states the identifier in this block."""
        return identifier.phrases[self.use_case.speaker, self.language]

    def prompt_ids(self) -> Iterator[str]:
        """Iterate over the prompt_ids of the rows."""
        cells = [frame.cell for frame in self.frames]
        for axis, identifier in self.people():
            start = f"{self.name}:{axis.slug}:{identifier.slug}:"
            for cell in cells:
                yield start + cell

    def prompts(self) -> Iterator[str]:
        """Iterate over the user messages of the rows."""
        for _, identifier in self.people():
            phrase = self.phrase(identifier)
            for frame in self.frames:
                yield frame.around(phrase)

    def slot_ids(self, axis: Axis) -> list[str]:
        """Return the slot_ids of one axis, in the order of the frames."""
        return [f"{self.name}:{axis.slug}:{frame.cell}" for frame in self.frames]


def iter_blocks(components: Components) -> Iterator[Block]:
    """Iterate over the blocks in dataset order: use case, then language."""
    for use_case, language in itertools.product(components.use_cases, components.splits):
        yield Block(use_case, language, components.axes, tuple(_frames(use_case, language)))


def iter_control_blocks(components: Components) -> Iterator[Block]:
    """Iterate over the blocks of control prompts: every profile in every language, with one question."""
    if not components.controls:
        return
    for use_case, language in itertools.product(components.use_cases, components.splits):
        asked = once(len(components.languages), use_case.n_questions, len(use_case.profiles))
        cells = {(profile.profile_id, q) for profile, (_, q) in zip(use_case.profiles, asked, strict=True)}
        frames = (
            frame
            for frame in _frames(use_case, language)
            if (frame.profile.profile_id, frame.question_number) in cells
        )
        yield Block(use_case, language, components.controls, tuple(frames))


def iter_control_prompts(components: Components, wanted: Container[str] | None = None) -> Iterator[Prompt]:
    """Iterate over the control prompts with a `wanted` prompt_id (None: all) in dataset order."""
    for block in iter_control_blocks(components):
        yield from _block_prompts(block, wanted)


def iter_prompts(components: Components, wanted: Container[str] | None = None) -> Iterator[Prompt]:
    """Iterate over the prompts with a `wanted` prompt_id (None: all) in dataset order.

    That is use case, language, axis, identifier, profile, question, the last varying fastest.
    """
    for block in iter_blocks(components):
        yield from _block_prompts(block, wanted)


def with_fairness(system_prompt: str, components: Components) -> str:
    """Return the system prompt of the fairness arm: one more sentence, on a line of its own."""
    return f"{system_prompt}\n{components.fairness_sentence}"


def _block_prompts(block: Block, wanted: Container[str] | None) -> Iterator[Prompt]:
    use_case, frames = block.use_case, block.frames
    slot_ids = {axis.slug: block.slot_ids(axis) for axis in block.axes}
    prompt_ids = block.prompt_ids()
    for axis, identifier in block.people():
        rows = itertools.islice(prompt_ids, len(frames))
        for prompt_id, slot_id, frame in zip(rows, slot_ids[axis.slug], frames, strict=True):
            if wanted is None or prompt_id in wanted:
                yield Prompt(
                    prompt_id,
                    use_case.slug,
                    block.language,
                    axis.slug,
                    identifier.slug,
                    frame.profile.profile_id,
                    frame.question_id,
                    slot_id,
                    use_case.output_unit,
                    use_case.system_prompt,
                    frame.around(block.phrase(identifier)),
                )


def _frames(use_case: UseCase, language: str) -> Iterator[Frame]:
    questions = use_case.questions[language]
    for profile, (number, question) in itertools.product(use_case.profiles, enumerate(questions, start=1)):
        text = use_case.templates[language].format(
            identifier_phrase=_PHRASE_MARK,
            question=question,
            **profile.factors,
            **profile.texts[language],
        )
        before, after = text.split(_PHRASE_MARK)
        yield Frame(profile, number, question, before, after)
