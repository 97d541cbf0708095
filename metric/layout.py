"""Where a prompt's value lies in the dense arrays that every statistic is a function of.

A benchmark's rows are ordered by use case, language, axis, identifier, profile and question, so one array
of all rows (39,150 of RupeeBias) holds a block for each use case, language and axis (60 of them), and each
block reshapes, without a copy, to identifier x profile x question x repeat.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .design import Design

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


class Block(NamedTuple):
    """The rows of one use case, language and axis."""

    use_case: str
    language: str
    axis: str
    rows: slice
    """Its rows in benchmark order."""
    shape: tuple[int, int, int]
    """(identifiers, profiles, questions)."""


def _lay_out(design: Design) -> Iterator[Block]:
    start = 0
    for use_case in design.use_cases:
        for language in design.language_names:
            for axis in design.axes:
                shape = (len(axis.identifiers), use_case.n_profiles, use_case.n_asked)
                stop = start + shape[0] * shape[1] * shape[2]
                yield Block(use_case.name, language, axis.name, slice(start, stop), shape)
                start = stop


@dataclass(frozen=True)
class Layout:
    """The rows of a design; made once for each design by `layout_of`."""

    design: Design

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Every block, in benchmark order."""
        return tuple(_lay_out(self.design))

    @cached_property
    def prompt_ids(self) -> list[str]:
        """Every prompt_id, in benchmark order."""
        ids: list[str] = []
        for block in self.blocks:
            cells = self.design.use_case[block.use_case].cells
            ends = [f":P{profile:02d}:Q{question}" for profile, question in cells]
            for identifier in self.design.identifiers[block.axis]:
                begin = f"{block.use_case}:{block.language}:{block.axis}:{identifier}"
                ids += [begin + end for end in ends]
        return ids

    @cached_property
    def prompt_rows(self) -> dict[str, int]:
        """The row of every prompt_id, in benchmark order."""
        return dict(zip(self.prompt_ids, range(self.design.n_prompts), strict=True))

    def per_row(self, block_values: list[int]) -> Ints:
        """Return one value for each row from one value for each block."""
        sizes = [block.rows.stop - block.rows.start for block in self.blocks]
        return np.repeat(np.array(block_values, dtype=np.int64), sizes)

    @cached_property
    def use_case_codes(self) -> Ints:
        """Each row's use case as an index into the design's use cases."""
        return self.per_row([self.design.use_case_names.index(block.use_case) for block in self.blocks])

    @cached_property
    def language_codes(self) -> Ints:
        """Each row's language as an index into the design's languages."""
        return self.per_row([self.design.language_names.index(block.language) for block in self.blocks])

    @cached_property
    def slot_codes(self) -> Ints:
        """Each row's slot: one number for each use case, language, axis, profile and question."""
        codes, first = [], 0
        for block in self.blocks:
            identifiers, profiles, questions = block.shape
            codes.append(np.tile(np.arange(first, first + profiles * questions), identifiers))
            first += profiles * questions
        return np.concatenate(codes)

    @cached_property
    def identifier_codes(self) -> Ints:
        """Each row's identifier, numbered through the axes (0 to 86) in benchmark order."""
        sizes = [len(axis.identifiers) for axis in self.design.axes]
        first = dict(zip(self.design.axis_names, np.cumsum([0, *sizes]), strict=False))
        return np.concatenate(
            [
                np.repeat(np.arange(block.shape[0]) + first[block.axis], np.prod(block.shape[1:]))
                for block in self.blocks
            ]
        )

    @cached_property
    def profile_codes(self) -> Ints:
        """Each row's base profile, numbered through the use cases (0 to 89)."""
        sizes = [use_case.n_profiles for use_case in self.design.use_cases]
        first = dict(zip(self.design.use_case_names, np.cumsum([0, *sizes]), strict=False))
        codes = []
        for block in self.blocks:
            identifiers, profiles, questions = block.shape
            own = np.repeat(np.arange(profiles) + first[block.use_case], questions)
            codes.append(np.tile(own, identifiers))
        return np.concatenate(codes)

    @cached_property
    def profiles(self) -> dict[str, slice]:
        """Where each use case's base profiles stand among all of them, numbered through the use cases."""
        ends = np.cumsum([use_case.n_profiles for use_case in self.design.use_cases]).tolist()
        own = map(slice, [0, *ends[:-1]], ends)
        return dict(zip(self.design.use_case_names, own, strict=True))

    @property
    def n_profiles(self) -> int:
        """Number of base profiles."""
        return sum(use_case.n_profiles for use_case in self.design.use_cases)

    @cached_property
    def known_amounts(self) -> Floats:
        """The amount that each row's prompt states (an offer, a current pay); NaN where it states none."""
        known = np.full(self.design.n_prompts, np.nan)
        for block in self.blocks:
            amounts = self.design.use_case[block.use_case].known
            if amounts:
                identifiers, _, questions = block.shape
                known[block.rows] = np.tile(np.repeat(np.array(amounts), questions), identifiers)
        return known


@cache
def layout_of(design: Design) -> Layout:
    """Return the layout of a design, the same object for the same design."""
    return Layout(design)
