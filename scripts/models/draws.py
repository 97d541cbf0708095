"""Many runs of a respondent as arrays, for coverage and power studies: the law without texts."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .law import GROUPS, Floats, amounts, cell_shape, cells, median_outcomes, rounded
from .respondents import Respondent


@dataclass(frozen=True, slots=True)
class _Cell:
    use_case: str
    medians: Floats  # (groups, profiles, questions)


def simulate_values(respondent: Respondent, seed: int, repeats: int = 1) -> Floats:
    """Return what one simulated run says, shape (39150, repeats), rows in dataset order.

    Values are amounts as an answer states them: INR or percent (a counter-offer's amount, not its
    markup), rounded; NaN where the answer would be refused or hold no readable value. The same law as
    `sim/<name>`, but not the same draws: `seed` takes the place of the respondent's own.
    """
    random = np.random.Generator(np.random.SFC64(seed))
    shared: dict[str, Floats] = {}
    parts: list[Floats] = []
    for cell in _plan(respondent):
        groups, profiles, questions = cell.medians.shape
        outcomes = np.broadcast_to(cell.medians[..., None], (groups, profiles, questions, repeats))
        if respondent.profile_noise_sd > 0:
            if cell.use_case not in shared:
                shared[cell.use_case] = np.exp(
                    respondent.profile_noise_sd * random.standard_normal((groups, profiles, 1, 1))
                )
            outcomes = outcomes * shared[cell.use_case]
        if respondent.noise_sd > 0:
            outcomes = outcomes * np.exp(respondent.noise_sd * random.standard_normal(outcomes.shape))
        said = amounts(cell.use_case, outcomes, profile_axis=1)
        said = rounded(cell.use_case, said, rounding=respondent.rounding)
        parts.append(said.reshape(-1, repeats))
    values = np.concatenate(parts)
    lost = _lost_probabilities(respondent)
    if lost is not None:
        values[random.random(values.shape) < lost[:, None]] = np.nan
    return values


@lru_cache(maxsize=8)
def _plan(respondent: Respondent) -> tuple[_Cell, ...]:
    return tuple(
        _Cell(use_case, median_outcomes(respondent, use_case, language)) for use_case, language in cells()
    )


@lru_cache(maxsize=8)
def _lost_probabilities(respondent: Respondent) -> Floats | None:
    """Return the probability of no value for each row, None if there is always one."""
    by_group = np.array([respondent.refusal_probability(group) for group in GROUPS])
    by_group += respondent.unreadable_share
    if not by_group.any():
        return None
    shapes = [cell_shape(use_case) for use_case, _ in cells()]
    return np.concatenate([np.broadcast_to(by_group[:, None, None], shape).ravel() for shape in shapes])
