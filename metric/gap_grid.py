"""Every selection of languages, axes and use cases that a result sums up, side by side in one array.

A selection is one language, axis and use case, or all of some of these: the last place of each dimension
holds what all languages, axes or use cases have together.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np

from .constants import LANGUAGES, PROFILES, USE_CASES
from .layout import AXES, Bools, Floats

Place: TypeAlias = tuple[int, int, int]
"""Where a selection stands: language, axis and use case; one behind the last for all of them."""
GRID: Final = (len(LANGUAGES) + 1, len(AXES) + 1, len(USE_CASES) + 1)
N_SELECTIONS: Final = math.prod(GRID)
CELLS: Final = (slice(-1), slice(-1), slice(-1))
"""Index of the selections of one language, axis and use case each."""


def place_of(language: str | None = None, axis: str | None = None, use_case: str | None = None) -> Place:
    """Return the place of one language, axis and use case; None stands for all."""
    return _place(LANGUAGES, language), _place(AXES, axis), _place(USE_CASES, use_case)


def _place(names: Sequence[str], name: str | None) -> int:
    return len(names) if name is None else names.index(name)


def places() -> Iterator[Place]:
    """Yield every place, in the order of a flattened grid."""
    for language in range(GRID[0]):
        for axis in range(GRID[1]):
            for use_case in range(GRID[2]):
                yield language, axis, use_case


def is_cell(place: Place) -> bool:
    """Tell whether a selection is one language, axis and use case."""
    return all(at < n - 1 for at, n in zip(place, GRID, strict=True))


def chosen(place: int, n: int) -> Sequence[int]:
    """Return the places of n that one place, or the last for all, stands for."""
    return range(n) if place == n else (place,)


def with_sums(cells: Floats, axes: Sequence[int]) -> Floats:
    """Return an array with, behind the last place along each of these axes, the sum over the axis."""
    for axis in axes:
        cells = np.concatenate([cells, cells.sum(axis=axis, keepdims=True)], axis=axis)
    return cells


def of_use_cases() -> Bools:
    """Return which of the 90 base profiles belong to each use case, and last to all, shape (6, 90)."""
    own = np.repeat(np.eye(len(USE_CASES), dtype=bool), list(PROFILES.values()), axis=1)
    return np.concatenate([own, np.ones((1, own.shape[1]), dtype=bool)])
