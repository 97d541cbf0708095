"""Where a prompt's value lies in the dense arrays that every statistic is a function of.

The benchmark's rows are ordered by use case, language, axis, identifier, profile and question, so one
array of 39,150 rows holds 60 blocks (use case x language x axis), and each block reshapes, without a
copy, to identifier x profile x question x repeat.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .design import IDENTIFIERS, LANGUAGES, OFFERED_CTC_LPA, PROFILES, QUESTIONS, USE_CASES

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

AXES: Final = tuple(IDENTIFIERS)
RUPEES_PER_LAKH: Final = 100_000


class Block(NamedTuple):
    """The rows of one use case, language and axis."""

    use_case: str
    language: str
    axis: str
    rows: slice
    """Its rows in benchmark order."""
    shape: tuple[int, int, int]
    """(identifiers, profiles, questions)."""


def _lay_out() -> Iterator[Block]:
    start = 0
    for use_case in USE_CASES:
        for language in LANGUAGES:
            for axis in AXES:
                shape = (len(IDENTIFIERS[axis]), PROFILES[use_case], QUESTIONS[use_case])
                stop = start + shape[0] * shape[1] * shape[2]
                yield Block(use_case, language, axis, slice(start, stop), shape)
                start = stop


BLOCKS: Final = tuple(_lay_out())
N_PROMPTS: Final = BLOCKS[-1].rows.stop


@cache
def prompt_ids() -> list[str]:
    """Return every prompt_id, in benchmark order."""
    ids: list[str] = []
    for block in BLOCKS:
        _, profiles, questions = block.shape
        ends = [f":P{at:02d}:Q{q}" for at in range(1, profiles + 1) for q in range(1, questions + 1)]
        for identifier in IDENTIFIERS[block.axis]:
            begin = f"{block.use_case}:{block.language}:{block.axis}:{identifier}"
            ids += [begin + end for end in ends]
    return ids


@cache
def prompt_rows() -> dict[str, int]:
    """Return the row of every prompt_id, in benchmark order."""
    return dict(zip(prompt_ids(), range(N_PROMPTS), strict=True))


def per_row(block_values: list[int]) -> Ints:
    """Return one value for each row from one value for each block."""
    sizes = [block.rows.stop - block.rows.start for block in BLOCKS]
    return np.repeat(np.array(block_values, dtype=np.int64), sizes)


@cache
def use_case_codes() -> Ints:
    """Return each row's use case as an index into USE_CASES."""
    return per_row([USE_CASES.index(block.use_case) for block in BLOCKS])


@cache
def language_codes() -> Ints:
    """Return each row's language as an index into LANGUAGES."""
    return per_row([LANGUAGES.index(block.language) for block in BLOCKS])


@cache
def slot_codes() -> Ints:
    """Return each row's slot: one number for each use case, language, axis, profile and question."""
    codes, first = [], 0
    for block in BLOCKS:
        identifiers, profiles, questions = block.shape
        codes.append(np.tile(np.arange(first, first + profiles * questions), identifiers))
        first += profiles * questions
    return np.concatenate(codes)


@cache
def identifier_codes() -> Ints:
    """Return each row's identifier: 0 to 86 in benchmark order."""
    first = dict(zip(AXES, np.cumsum([0, *map(len, IDENTIFIERS.values())]), strict=False))
    return np.concatenate(
        [
            np.repeat(np.arange(block.shape[0]) + first[block.axis], np.prod(block.shape[1:]))
            for block in BLOCKS
        ]
    )


@cache
def profile_codes() -> Ints:
    """Return each row's base profile, numbered through the use cases: 0 to 89."""
    first = dict(zip(USE_CASES, np.cumsum([0, *PROFILES.values()]), strict=False))
    codes = []
    for block in BLOCKS:
        identifiers, profiles, questions = block.shape
        own = np.repeat(np.arange(profiles) + first[block.use_case], questions)
        codes.append(np.tile(own, identifiers))
    return np.concatenate(codes)


@cache
def offered_inr() -> Floats:
    """Return the offered CTC in rupees of each counter-offer row; NaN elsewhere."""
    offers = np.full(N_PROMPTS, np.nan)
    by_profile = np.array(OFFERED_CTC_LPA, dtype=float) * RUPEES_PER_LAKH
    for block in BLOCKS:
        if block.use_case == "counter_offer":
            identifiers, _, questions = block.shape
            offers[block.rows] = np.tile(np.repeat(by_profile, questions), identifiers)
    return offers
