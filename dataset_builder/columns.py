"""The columns of a dataset: which there are, their values block by block, and the hash of them all.

The fingerprint is the SHA-256 of the columns' names, kinds and values, use case by use case and language by
language in row order. A column counts as its distinct values in order of first appearance and each row's
position among them, so it does not depend on how a file encodes it; what is said about the prompts (how far
their texts have been reviewed) is no part of it.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
import orjson

from .components import load_components
from .prompts import Block, iter_blocks, iter_control_blocks
from .records import Axis, ColumnSpec, Components, Factor, Identifier, Origin

Value = Factor | None
Codes = npt.NDArray[np.int32]

_BEFORE: Final[tuple[ColumnSpec, ...]] = (
    ColumnSpec(
        "prompt_id",
        "text",
        "Stable identity of the row: `use_case:language:axis:identifier:profile:question`.",
    ),
    ColumnSpec("use_case", "category", "What is asked."),
    ColumnSpec("language", "category", "Language of the prompt: {languages}."),
    ColumnSpec("axis", "category", "Demographic axis of the identifier."),
    ColumnSpec("identifier", "category", "Slug of the identifier, unique within its axis."),
    ColumnSpec("identifier_label", "category", "The identifier's name for readers."),
    ColumnSpec("identifier_phrase", "category", "The words by which the prompt states the identifier."),
    ColumnSpec(
        "slot_id",
        "category",
        "Matched counterfactual set: within a slot only the identifier differs.",
    ),
    ColumnSpec("profile_id", "category", "Base profile within the use case: P01, P02, ..."),
    ColumnSpec("question_id", "category", "Question variant: Q1, Q2, ..."),
    ColumnSpec("question", "category", "Text of the question variant."),
)
_AFTER: Final[tuple[ColumnSpec, ...]] = (
    ColumnSpec("system_prompt", "category", "Instructions on the form of the answer."),
    ColumnSpec("prompt", "text", "The user message."),
    ColumnSpec("output_unit", "category", "Unit of the answer: {units}."),
    ColumnSpec(
        "pair_role",
        "category",
        "`reference` or `comparison` in the axis' canonical pair, null outside it.",
    ),
    ColumnSpec(
        "text_origin",
        "category",
        "Where the prompt's wording comes from: `paper`, `completed`, `reconstructed` or `written`.",
    ),
    ColumnSpec(
        "text_review",
        "category",
        "How far speakers have reviewed the wording: `unvalidated`, `flagged` or `validated`.",
        is_content=False,
    ),
)


def columns_of(components: Components) -> tuple[ColumnSpec, ...]:
    """Return the columns of a benchmark's dataset: what all have, with its profiles' factors in between."""
    said = {
        "languages": " or ".join(f"`{each.slug}` ({each.label})" for each in components.languages),
        "units": " or ".join(
            f"`{unit}`" for unit in dict.fromkeys(c.output_unit for c in components.use_cases)
        ),
    }
    before, after = (
        tuple(replace(spec, description=spec.description.format_map(said)) for spec in specs)
        for specs in (_BEFORE, _AFTER)
    )
    return (*before, *components.factor_columns, *after)


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
    language: str
    """Slug of the language."""
    axis_rows: Sequence[int]
    """Number of rows of each axis; rows of one axis are neighbours."""
    specs: Sequence[ColumnSpec]
    """The dataset's columns."""
    columns: Mapping[str, Column]
    """By name, in that order."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.axis_rows)


def iter_tables(components: Components) -> Iterator[BlockTable]:
    """Iterate over the blocks of the dataset as tables, in dataset order."""
    return _tables(iter_blocks(components), components)


def iter_control_tables(components: Components) -> Iterator[BlockTable]:
    """Iterate over the blocks of control prompts as tables, small ones that are read whole."""
    tables = _tables(iter_control_blocks(components), components)
    return (replace(table, axis_rows=[table.rows]) for table in tables)


def _tables(blocks: Iterable[Block], components: Components) -> Iterator[BlockTable]:
    specs = columns_of(components)
    return (block_table(block, specs) for block in blocks)


def block_table(block: Block, specs: Sequence[ColumnSpec]) -> BlockTable:
    """Return a block's rows, ordered by identifier, profile, question."""
    columns = _columns(block)
    return BlockTable(
        use_case=block.use_case.slug,
        language=block.language,
        axis_rows=[len(axis.identifiers) * len(block.frames) for axis in block.axes],
        specs=specs,
        columns={spec.name: columns.get(spec.name) or _factor(block, spec.name) for spec in specs},
    )


def _columns(block: Block) -> dict[str, Column]:
    """Return all columns but the profile's factors."""
    use_case, people, origins = block.use_case, list(block.people()), _text_origins(block)
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
        "text_origin": _by_first_use(origins, [origin.label for origin in Origin]),
        "text_review": _by_first_use((origins > Origin.PAPER).astype(np.int32), ("validated", "unvalidated")),
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


def _text_origins(block: Block) -> Codes:
    """A prompt's origin is the larger of its phrase's and its profile's."""
    phrases = np.array([block.phrase(person).origin for _, person in block.people()], dtype=np.int32)
    frames = [frame.profile.origins[block.language] for frame in block.frames]
    profiles = np.array(frames, dtype=np.int32)
    rows: Codes = np.maximum(phrases[_person_rows(block)], profiles[_frame_rows(block)])
    return rows


def _by_first_use(rows: Codes, values: Sequence[str]) -> Column:
    """Return the column `values[rows]`, its distinct values in order of first appearance."""
    used, first = np.unique(rows, return_index=True)
    by_appearance = used[np.argsort(first)]
    code = np.zeros(len(values), dtype=np.int32)
    code[by_appearance] = np.arange(len(by_appearance))
    return Column([values[at] for at in by_appearance], code[rows])


def _pair_role(axis: Axis, person: Identifier) -> str | None:
    roles = dict(zip(axis.canonical_pair or (), ("reference", "comparison"), strict=False))
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


class Fingerprint:
    """Collects tables in dataset order."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, table: BlockTable) -> None:
        """Add the next table."""
        self._digest.update(orjson.dumps([table.use_case, table.language, table.rows]))
        for spec in table.specs:
            if not spec.is_content:
                continue
            column = table.columns[spec.name]
            self._digest.update(orjson.dumps([spec.name, spec.kind, list(column.values)]))
            if column.codes is not None:
                self._digest.update(column.codes.astype(np.dtype("<i4")).tobytes())

    def hexdigest(self) -> str:
        """Return the fingerprint of the tables so far, 64 hexadecimal digits."""
        return self._digest.hexdigest()


def dataset_fingerprint(components: Components | None = None) -> str:
    """Return the fingerprint of the dataset that the components give, 64 hexadecimal digits.

    That of the package's own, None, is computed once.
    """
    return _own() if components is None else _fingerprint(iter_tables(components))


@cache
def _own() -> str:
    return _fingerprint(iter_tables(load_components()))


def control_fingerprint(components: Components | None = None) -> str | None:
    """Return the fingerprint of the control prompts, None for a benchmark without them.

    That of the package's own, None, is computed once.
    """
    if components is None:
        return _own_controls()
    return _fingerprint(iter_control_tables(components)) if components.controls else None


@cache
def _own_controls() -> str | None:
    return control_fingerprint(load_components())


def _fingerprint(tables: Iterable[BlockTable]) -> str:
    fingerprint = Fingerprint()
    for table in tables:
        fingerprint.add(table)
    return fingerprint.hexdigest()
