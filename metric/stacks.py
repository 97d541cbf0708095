"""A statistic of every block, from stacks of blocks of one shape.

A statistic that is made so has two forms: of a stack of matrices without a gap, and of one matrix with
gaps. Both give the same value for a matrix without one.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from .layout import Floats
from .outcomes import Key, Stack

_Found = TypeVar("_Found")


def of_each(
    stacks: Iterable[Stack],
    of_complete: Callable[[Floats], Sequence[_Found]],
    of_one: Callable[[Floats], _Found],
) -> dict[Key, _Found]:
    """Return a statistic of each block: `of_complete` takes a stack without NaN, `of_one` any one array."""
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
