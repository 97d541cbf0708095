"""From parsed values to the dense array of outcomes: what the statistics compare."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from .design import Design
from .layout import Block, Bools, Floats, Layout, layout_of
from .options import OutcomeChoice

Factor: TypeAlias = Literal["use_case", "language", "axis"]

Key: TypeAlias = tuple[str, str, str]
"""Language, use case and axis of a block."""
_Found = TypeVar("_Found")


class Stack(NamedTuple):
    """Arrays of one shape, one a block: a statistic of sixty small blocks takes few calls so."""

    keys: tuple[Key, ...]
    arrays: Floats
    """Shape (blocks, ...)."""

    def mean(self, axes: tuple[int, ...]) -> "Stack":
        """Return means over axes of the stack, NaN where there is no value."""
        return Stack(self.keys, mean_where_any(self.arrays, axes))

    def only(self, chosen: Sequence[bool]) -> "Stack":
        """Return the stack of the chosen blocks."""
        return Stack(tuple(compress(self.keys, chosen)), self.arrays[np.array(chosen, dtype=bool)])


@dataclass(frozen=True)
class Outcomes:
    """One outcome for every prompt and repeat."""

    values: Floats
    """Shape (prompts, repeats), NaN where there is none; amounts, percent, or percent over a known amount."""
    design: Design
    """The benchmark whose prompts the rows are."""
    outcome: OutcomeChoice = "markup"
    """"amount": values are amounts even in use cases whose outcome is a markup."""

    @property
    def layout(self) -> Layout:
        """Where each prompt stands."""
        return layout_of(self.design)

    @property
    def markups(self) -> frozenset[str]:
        """The use cases whose values are markups over a known amount, in percent."""
        found = (one.name for one in self.design.use_cases if one.outcome == "markup")
        return frozenset(found if self.outcome == "markup" else ())

    @cached_property
    def as_amounts(self) -> "Outcomes":
        """The same answers as amounts: markups turned back."""
        values = self.values.copy()
        for block in self.layout.blocks:
            if block.use_case in self.markups:
                known = self.layout.known_amounts[block.rows][:, None]
                values[block.rows] = np.round(known * (1 + values[block.rows] / 100), 6)
        return Outcomes(values, self.design, "amount")

    @property
    def n_repeats(self) -> int:
        """Number of repeats of the run."""
        return int(self.values.shape[1])

    def block(self, block: Block) -> Floats:
        """Return one block, shape (identifiers, profiles, questions, repeats); a view."""
        return self.values[block.rows].reshape(*block.shape, self.n_repeats)

    @cached_property
    def covered_blocks(self) -> tuple[tuple[Block, Floats], ...]:
        """The blocks that hold at least one value, in benchmark order."""
        blocks = ((block, self.block(block)) for block in self.layout.blocks)
        return tuple((block, values) for block, values in blocks if not np.isnan(values).all())

    @property
    def keys(self) -> list[Key]:
        """The covered blocks' keys, in benchmark order."""
        return [(block.language, block.use_case, block.axis) for block, _ in self.covered_blocks]

    def blocks(
        self,
        *,
        use_case: str | None = None,
        language: str | None = None,
        axis: str | None = None,
    ) -> Iterator[tuple[Block, Floats]]:
        """Yield the blocks of a use case, language or axis that hold at least one value."""
        covered, design = self._covered_by_key, self.design
        for name in (use_case,) if use_case else design.use_case_names:
            for of_language in (language,) if language else design.language_names:
                for of_axis in (axis,) if axis else design.axis_names:
                    if (found := covered.get((of_language, name, of_axis))) is not None:
                        yield found

    @cached_property
    def _covered_by_key(self) -> dict[Key, tuple[Block, Floats]]:
        return dict(zip(self.keys, self.covered_blocks, strict=True))

    @cached_property
    def stacks(self) -> list[Stack]:
        """The covered blocks by shape: (blocks, identifiers, profiles, questions, repeats) a stack."""
        by_shape: dict[tuple[int, ...], list[tuple[Key, Floats]]] = {}
        for block, values in self.covered_blocks:
            key = (block.language, block.use_case, block.axis)
            by_shape.setdefault(values.shape, []).append((key, values))
        return [
            Stack(tuple(key for key, _ in found), np.stack([values for _, values in found]))
            for found in by_shape.values()
        ]

    @cached_property
    def profile_means(self) -> list[Stack]:
        """Means over questions and repeats, (blocks, identifiers, profiles) a stack."""
        return [stack.mean((3, 4)) for stack in self.stacks]

    def covered(self, factor: Factor) -> tuple[str, ...]:
        """Return the use cases, languages or axes that hold at least one value, in benchmark order."""
        found = {getattr(block, factor) for block, _ in self.covered_blocks}
        names: tuple[str, ...] = getattr(self.design, f"{factor}_names")
        return tuple(name for name in names if name in found)

    @cached_property
    def profiles_with_values(self) -> Bools:
        """Which of all base profiles, numbered through the use cases, hold at least one value."""
        present = {one.name: np.zeros(one.n_profiles, dtype=bool) for one in self.design.use_cases}
        for block, values in self.covered_blocks:
            present[block.use_case] |= ~np.isnan(values).all(axis=(0, 2, 3))
        return np.concatenate(list(present.values()))


def outcomes_from_values(values: Floats, outcome: OutcomeChoice, design: Design) -> Outcomes:
    """Return the outcomes of parsed values, shape (prompts, repeats).

    The outcome is the amount or the percentage that was answered. In a use case whose design says `markup`
    an answer counts by its markup over the amount that its prompt states, (answer - known) / known x 100 in
    percent, as counter-offers do in the paper's numbers; `outcome="amount"` keeps the amount.
    """
    if values.shape[0] != design.n_prompts:
        raise ValueError(f"values must have {design.n_prompts:,} rows, not {values.shape[0]:,}")
    found = Outcomes(values, design, outcome)
    if not found.markups:
        return found
    values, layout = values.copy(), found.layout
    for block in layout.blocks:
        if block.use_case in found.markups:
            known = layout.known_amounts[block.rows][:, None]
            values[block.rows] = (values[block.rows] - known) / known * 100
    return Outcomes(values, design, outcome)


def mean_where_any(values: Floats, axes: tuple[int, ...]) -> Floats:
    """Return the mean of the values that are there, NaN where there is none."""
    there = ~np.isnan(values)
    if there.all() and values.size:
        sums = np.asarray(values.sum(axis=axes))
        return np.asarray(sums / (values.size // sums.size), dtype=float)
    with np.errstate(invalid="ignore"):
        means = np.where(there, values, 0).sum(axis=axes) / there.sum(axis=axes)
    return np.asarray(means, dtype=float)


def of_each(
    stacks: Iterable[Stack],
    of_complete: Callable[[Floats], Sequence[_Found]],
    of_one: Callable[[Floats], _Found],
) -> dict[Key, _Found]:
    """Return a statistic of each block: `of_complete` takes a stack without NaN, `of_one` any one array.

    Both give the same value for an array without NaN; the first takes few calls for many blocks.
    """
    found: dict[Key, _Found] = {}
    for stack in stacks:
        arrays = stack.arrays
        has_gap = np.isnan(arrays).any(axis=tuple(range(1, arrays.ndim)))
        complete = np.flatnonzero(~has_gap).tolist()
        if complete:
            of_these = of_complete(arrays if len(complete) == len(arrays) else arrays[complete])
            found.update(zip((stack.keys[at] for at in complete), of_these, strict=True))
        for at in np.flatnonzero(has_gap).tolist():
            found[stack.keys[at]] = of_one(arrays[at])
    return found
