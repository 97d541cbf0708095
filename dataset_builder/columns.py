"""Turns a block of prompts into the columns of the dataset."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .prompts import Block, iter_blocks
from .records import Axis, Components, Factor, Identifier, Language, Origin
from .schema import COLUMNS

Value = Factor | None
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of one column: row i holds `values[codes[i]]`, or `values[i]` without codes."""

    values: Sequence[Value]
    """Distinct values in order of first appearance; every row's value if there are no codes."""
    codes: Codes | None
    """Position in `values` of each row; None for a text column."""

    def __iter__(self) -> Iterator[Value]:
        if self.codes is None:
            return iter(self.values)
        return map(self.values.__getitem__, self.codes.tolist())

    def equals(self, other: "Column") -> bool:
        """Return whether the other column holds the same values in the same rows."""
        if list(self.values) != list(other.values):
            return False
        return np.array_equal(
            np.array([]) if self.codes is None else self.codes,
            np.array([]) if other.codes is None else other.codes,
        )

    def counts(self) -> dict[str, int]:
        """Return how many rows hold each value, as text."""
        if self.codes is None:
            return Counter(map(str, self.values))
        return dict(zip(map(str, self.values), np.bincount(self.codes).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class BlockTable:
    """The rows of one use case in one language."""

    use_case: str
    """Slug of the use case."""
    language: Language
    """`en` or `hinglish`."""
    axis_rows: Sequence[int]
    """Number of rows of each axis; rows of one axis are neighbours."""
    columns: Mapping[str, Column]
    """By name, in the order of the schema."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.axis_rows)


def iter_tables(components: Components) -> Iterator[BlockTable]:
    """Iterate over the blocks of the dataset as tables, in dataset order."""
    return (block_table(block) for block in iter_blocks(components))


def block_table(block: Block) -> BlockTable:
    """Return a block's rows, ordered by identifier, profile, question."""
    columns = _columns(block)
    return BlockTable(
        use_case=block.use_case.slug,
        language=block.language,
        axis_rows=[len(axis.identifiers) * len(block.frames) for axis in block.axes],
        columns={spec.name: columns.get(spec.name) or _factor(block, spec.name) for spec in COLUMNS},
    )


def _columns(block: Block) -> dict[str, Column]:
    """Return all columns but the profile's factors."""
    use_case, people = block.use_case, list(block.people())
    persons = [person for _, person in people]
    return {
        "prompt_id": Column(list(block.prompt_ids()), None),
        "use_case": _constant(block, use_case.slug),
        "language": _constant(block, block.language),
        "axis": _by_person(block, [axis.slug for axis, _ in people]),
        "identifier": _by_person(block, [person.slug for person in persons]),
        "identifier_label": _by_person(block, [person.label for person in persons]),
        "identifier_phrase": _by_person(block, [block.phrase(person).text for person in persons]),
        "slot_id": _slot_ids(block),
        "profile_id": _by_frame(block, [frame.profile.profile_id for frame in block.frames]),
        "question_id": _by_frame(block, [frame.question_id for frame in block.frames]),
        "question": _by_frame(block, [frame.question for frame in block.frames]),
        "system_prompt": _constant(block, use_case.system_prompt),
        "prompt": Column(list(block.prompts()), None),
        "output_unit": _constant(block, use_case.output_unit),
        "pair_role": _by_person(block, [_pair_role(axis, person) for axis, person in people]),
        "text_origin": _text_origins(block),
    }


def _factor(block: Block, name: str) -> Column:
    """Return a factor of the profile, null in the use cases that do not have it."""
    profiles = [frame.profile for frame in block.frames]
    return _by_frame(
        block,
        [profile.texts[block.language].get(name, profile.factors.get(name)) for profile in profiles],
    )


def _slot_ids(block: Block) -> Column:
    slots = [slot for axis in block.axes for slot in block.slot_ids(axis)]
    axis_of_person = np.repeat(np.arange(len(block.axes)), [len(axis.identifiers) for axis in block.axes])
    rows = axis_of_person[_person_rows(block)] * len(block.frames) + _frame_rows(block)
    return Column(slots, rows.astype(np.int32))


def _text_origins(block: Block) -> Column:
    """A prompt's origin is the larger of its phrase's and its profile's."""
    phrases = np.array([block.phrase(person).origin for _, person in block.people()])
    profiles = np.array([frame.profile.origins[block.language] for frame in block.frames])
    rows = np.maximum(phrases[_person_rows(block)], profiles[_frame_rows(block)])
    used, first = np.unique(rows, return_index=True)
    by_appearance = used[np.argsort(first)]
    code = np.zeros(len(Origin), dtype=np.int32)
    code[by_appearance] = np.arange(len(by_appearance))
    return Column([Origin(origin).label for origin in by_appearance], code[rows])


def _pair_role(axis: Axis, person: Identifier) -> str | None:
    roles = dict(zip(axis.canonical_pair, ("reference", "comparison"), strict=True))
    return roles.get(person.slug)


def _constant(block: Block, value: Value) -> Column:
    return Column([value], np.zeros(block.rows, dtype=np.int32))


def _by_person(block: Block, values: Sequence[Value]) -> Column:
    return _coded(values, _person_rows(block))


def _by_frame(block: Block, values: Sequence[Value]) -> Column:
    return _coded(values, _frame_rows(block))


def _coded(values: Sequence[Value], rows: Codes) -> Column:
    """Return the column `values[rows]`, where rows first use the values in their order."""
    distinct = {value: code for code, value in enumerate(dict.fromkeys(values))}
    codes = np.array([distinct[value] for value in values], dtype=np.int32)
    return Column(list(distinct), codes[rows])


def _person_rows(block: Block) -> Codes:
    people = np.arange(sum(len(axis.identifiers) for axis in block.axes), dtype=np.int32)
    return np.repeat(people, len(block.frames))


def _frame_rows(block: Block) -> Codes:
    return np.arange(block.rows, dtype=np.int32) % np.int32(len(block.frames))
