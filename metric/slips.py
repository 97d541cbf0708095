"""Magnitude slips: amounts with a zero too many or too few, counted and never corrected.

Real outputs hold them: an offer of 42 lakh answered with 520 lakh, one of 98 with 11.76. Correcting one would
be a guess; leaving it unmentioned lets slips decide who comes out ahead.
"""

from typing import Final

import numpy as np

from .design import PERCENT, Design
from .layout import Bools, Floats, layout_of

POWERS: Final = (10.0, 100.0, 0.1, 0.01)
"""Factors by which a slip is suspected to be off."""
SUSPECT: Final = 4.0
"""A value beyond a fourth to four times its reference is looked at."""
NEAR: Final = 2.0
"""A power of ten must bring it to within a half to twice its reference."""
FEWEST: Final = 20
"""Fewer values of a question make no reference."""


def magnitude_slips(values: Floats, implausible: Floats, design: Design) -> Bools:
    """Return which answers are suspected slips, shape (prompts, repeats).

    `values` are amounts in the unit of the use case, `implausible` those that lie outside its bounds (NaN
    elsewhere in both): a slip can carry an amount there. The reference of a counter-offer (a use case that is
    compared by its markup) is its offer; of other amounts of money the median of the values of the same use
    case, language, profile and question over all axes and repeats, if there are 20. Percentages are no money.
    """
    said = np.where(np.isnan(values), implausible, values)
    reference = _references(values, design)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = said / reference
        suspect = (ratio < 1 / SUSPECT) | (ratio > SUSPECT)
        mended = [(ratio / power >= 1 / NEAR) & (ratio / power <= NEAR) for power in POWERS]
    return np.asarray(suspect & np.logical_or.reduce(mended), dtype=bool)


def _references(values: Floats, design: Design) -> Floats:
    """Return what each answer is held against, shape (prompts, 1); NaN where there is nothing."""
    layout = layout_of(design)
    found = np.full((design.n_prompts, 1), np.nan)
    for use_case in design.use_cases:
        if use_case.unit == PERCENT:
            continue
        blocks = [block for block in layout.blocks if block.use_case == use_case.name]
        if use_case.outcome == "markup":
            for block in blocks:
                found[block.rows, 0] = layout.known_amounts[block.rows]
            continue
        for language in design.language_names:
            of_axes = [block for block in blocks if block.language == language]
            shaped = [values[block.rows].reshape(*block.shape, -1) for block in of_axes]
            everyone = np.concatenate(shaped)  # identifiers of all axes, profiles, questions, repeats
            flat = np.moveaxis(everyone, (1, 2), (0, 1)).reshape(*everyone.shape[1:3], -1)
            counts = (~np.isnan(flat)).sum(axis=-1)
            medians = np.full(counts.shape, np.nan)
            enough = counts >= FEWEST
            if enough.any():
                medians[enough] = np.nanmedian(flat[enough], axis=-1)
            for block in of_axes:
                found[block.rows, 0] = np.tile(medians.ravel(), block.shape[0])
    return found
