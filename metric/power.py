"""What a run would find: smallest systematic gap, pair gap and group effect with 80 % power, by axis and
design.

From the noise of a pilot, a run or a simulated one. Power is that of the tests that a result has: p_value <
0.05 of the systematic gap, a canonical pair gap whose interval leaves out 0, a group effect that is
confirmed.
"""

from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from .design import Design
from .gap_law import TAIL
from .group_effects import group_effects
from .layout import Floats
from .profile_answers import use_case_arrays
from .systematic_gap import ALL, SystematicGaps, systematic_gaps

POWER: Final = 0.8
SHIFT: Final = float(ndtri(POWER))
"""Standard errors that an effect must lie beyond the critical value."""
FULL, ONCE = "full", "profiles-once"


class Smallest(NamedTuple):
    """Smallest effects, in percent, found with 80 % power; NaN where it cannot be told."""

    design: str
    """`full` or `profiles-once`."""
    axis: str
    """Also "all": the whole."""
    n_prompts: int
    systematic_gap_pct: float
    canonical_pair_gap_pct: float
    """Of a use case: the median over them."""
    group_effect_pct: float
    """Of all use cases and languages together: the mean over the groups."""


def smallest_effects(values: Floats, design: Design) -> list[Smallest]:
    """Return the smallest effects of the pilot's own design, and of profiles-once where the pilot can tell.

    `values` are amounts, shape (rows, repeats), of a pilot that asked whole profiles.
    """
    designs = {FULL: values}
    once = asked_once(values, design)
    if (~np.isnan(once)).any() and (~np.isnan(once)).sum() < (~np.isnan(values)).sum():
        designs[ONCE] = once
    else:
        designs = {ONCE: values}
    found = []
    for name, asked in designs.items():
        gaps = systematic_gaps(asked, design)
        smallest = smallest_gaps(gaps)
        for at, axis in enumerate((*design.axis_names, ALL)):
            if not np.isnan(smallest[at]):
                own = _rows_of(asked, design, axis)
                pair = _smallest_pair_gap(gaps, axis)
                found.append(
                    Smallest(name, axis, own, float(smallest[at]), pair, _smallest_effect(gaps, axis))
                )
    return found


def asked_once(values: Floats, design: Design) -> Floats:
    """Return the answers that profiles-once would have asked for; NaN elsewhere."""
    kept = np.full_like(values, np.nan)
    arrays = zip(use_case_arrays(values, design), use_case_arrays(kept, design), strict=True)
    for use_case, (whole, part) in zip(design.use_cases, arrays, strict=True):
        for profile, (language, question) in enumerate(design.once(use_case.name)):
            place = design.language_names.index(language), slice(None), profile, question - 1
            part[place] = whole[place]
    return kept


def smallest_gaps(gaps: SystematicGaps) -> Floats:
    """Return the smallest gap of each axis and of the whole, shape (axes + 1,), from the law of the pilot's
    noise.

    On the scale where the variance of D is constant, without effects that differ between profiles: sqrt(D +
    c), c = tau2 / (4 phi), has the standard error sqrt(phi).
    """
    laws = gaps.laws
    with np.errstate(divide="ignore", invalid="ignore"):
        c = laws.tau2 / (4 * laws.phi)
        squared = (np.sqrt(laws.critical() + c) + SHIFT * np.sqrt(laws.phi)) ** 2 - c
    found = np.where(laws.bounded & (laws.tau2 > 0), np.sqrt(squared), np.where(laws.bounded, 0.0, np.nan))
    return np.asarray(found[-1, -1])


def _rows_of(values: Floats, design: Design, axis: str) -> int:
    """Return how many prompts were asked of an axis."""
    ends = np.cumsum([0, *(len(one.identifiers) for one in design.axes)])
    at = slice(None) if axis == ALL else slice(*ends[design.axis_names.index(axis) :][:2].tolist())
    asked = (~np.isnan(array[:, at]) for array in use_case_arrays(values, design))
    return int(sum(cells.any(axis=-1).sum() for cells in asked))


def _smallest_pair_gap(gaps: SystematicGaps, axis: str) -> float:
    if axis == ALL or gaps.design.axis[axis].canonical_pair is None:
        return np.nan
    first = sum(len(one.identifiers) for one in gaps.design.axes[: gaps.design.axis_names.index(axis)])
    own = list(gaps.design.identifiers[axis])
    pair = [first + own.index(name) for name in gaps.design.axis[axis].canonical_pair or ()]
    found = []
    for answers in gaps.answers:
        both = answers.there[:, pair].all(axis=1)
        apart = np.where(both, answers.deviations[:, pair[0]] - answers.deviations[:, pair[1]], 0)
        n_languages = both.sum(axis=0)
        each = apart.sum(axis=0)[n_languages > 0] / n_languages[n_languages > 0]
        n = len(each)
        if n > 2:
            error = float(each.std(ddof=1)) / np.sqrt(n)
            found.append(error * float(stdtrit(n - 1, TAIL) + stdtrit(n - 1, POWER)))
    return float(np.median(found)) if found else np.nan


def _smallest_effect(gaps: SystematicGaps, axis: str) -> float:
    if axis == ALL:
        return np.nan
    effects = group_effects(gaps)
    sizes = [len(one.identifiers) for one in gaps.design.axes]
    at = gaps.design.axis_names.index(axis)
    own = slice(sum(sizes[:at]), sum(sizes[: at + 1]))
    reach = (effects.high - effects.effect + SHIFT * effects.error)[-1, -1, own]
    return float(np.nanmean(reach)) if not np.isnan(reach).all() else np.nan
