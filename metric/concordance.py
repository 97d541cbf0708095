"""Kendall's W: whether the same identifiers are ranked high and low again and again."""

from functools import partial
from typing import Final, NamedTuple

import numpy as np
from scipy.special import chdtrc

from .layout import Bools, Floats
from .options import Blocking, Definitions
from .outcomes import Key, Outcomes, Stack, mean_where_any, of_each
from .profile_answers import fit_inside_profiles
from .ranks import comparable, ranks_and_ties
from .resampling import leaving_one_out

ONE_AXIS: Final = np.zeros(1, dtype=np.int64)
"""Where axes begin in an array of one."""


class Concordance(NamedTuple):
    """Friedman's test of one matrix, and Kendall's W."""

    kendall_w: float
    """0 (no agreement between rows) to 1 (all rows rank alike); NaN where every row is all ties."""
    chi2: float
    """Friedman's chi-square with tie correction."""
    p_value: float
    """Upper tail of chi-square with k - 1 degrees of freedom."""
    n_blocks: int
    """Complete rows used."""
    n_identifiers: int
    """Columns, k."""
    without: Floats
    """W with each base profile left out, shape (profiles,)."""
    used: Bools
    """Which profiles have a complete row, the same shape."""


def kendall_w(matrix: Floats, n_profiles: int | None = None) -> Concordance:
    """Return W = chi2 / (n (k - 1)) of the complete rows of a matrix, shape (rows, identifiers).

    chi2 is Friedman's statistic, (12 / (n k (k + 1)) sum_j R_j^2 - 3 n (k + 1)) / c, with R_j the rank sums
    and c = 1 - sum (t^3 - t) / (n k (k^2 - 1)) over groups of t ties; equal to
    `scipy.stats.friedmanchisquare`. Rows with a missing value are left out, as are identifiers without any
    value. NaN with fewer than two rows or columns, or where all rows are all ties. Rows belong in order to
    `n_profiles` profiles (default: one each).
    """
    n_profiles = n_profiles or len(matrix)
    weights = np.repeat(leaving_one_out(n_profiles), len(matrix) // n_profiles, axis=1)
    matrix = matrix[:, ~np.isnan(matrix).all(axis=0)]
    complete = ~np.isnan(matrix).any(axis=1)
    used = np.asarray(complete.reshape(n_profiles, -1).any(axis=1))
    return _of_complete(matrix[None, complete], weights[:, complete], used)[0]


def _of_complete(matrices: Floats, weights: Floats, used: Bools) -> list[Concordance]:
    """Return the concordance of each matrix of a stack, shape (matrices, rows, identifiers).

    `weights` has shape (1 + profiles, rows): all rows, then those without each profile.
    """
    _, n, k = matrices.shape
    if n < 2 or k < 2:
        nothing = Concordance(np.nan, np.nan, np.nan, n, k, np.full(len(used), np.nan), used)
        return [nothing] * len(matrices)
    ranks, equal = ranks_and_ties(matrices)
    found = _weighted_w(ranks, (equal**2 - 1).sum(axis=-1), weights)
    chi2 = n * (k - 1) * found[:, 0]
    numbers = zip(found[:, 0].tolist(), chi2.tolist(), chdtrc(k - 1, chi2).tolist(), strict=True)
    return [Concordance(*three, n, k, w[1:], used) for three, w in zip(numbers, found, strict=True)]


def _weighted_w(ranks: Floats, ties: Floats, weights: Floats) -> Floats:
    """Return W of each matrix under each row of weights: (m, n, k), (m, n) and (r, n) to (m, r).

    `ties` holds sum (t^3 - t) of each row: a group holds t values, each of which equals t.
    """
    n, k = weights.sum(axis=1), ranks.shape[-1]
    squares = ((weights @ ranks) ** 2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        uncorrected = 12 / (n * k * (k + 1)) * squares - 3 * n * (k + 1)
        correction = 1 - ties @ weights.T / (n * k * (k**2 - 1))
        w = np.maximum(uncorrected, 0) / correction / (n * (k - 1))
    return np.where((n > 1) & (correction > 0), w, np.nan)


def concordances(
    outcomes: Outcomes, blocking: Blocking, definitions: Definitions = "rupeebias"
) -> dict[Key, Concordance]:
    """Return the concordance of every covered block.

    Rows are profiles (values averaged over question variants and repeats: the paper's printed numbers; where
    answers are missing, from a fit inside the profile, but in the paper's definitions), or profiles and
    questions (the paper's text).
    """
    if blocking == "profile_question":
        stacks = [stack.mean((4,)) for stack in outcomes.stacks]
    elif definitions == "paper":
        stacks = outcomes.profile_means
    else:
        stacks = [Stack(stack.keys, _fitted(stack.arrays)) for stack in outcomes.stacks]
    found: dict[Key, Concordance] = {}
    for stack in stacks:
        n_profiles = stack.arrays.shape[2]
        rows = stack.arrays.reshape(*stack.arrays.shape[:2], -1).swapaxes(1, 2)
        matrices = Stack(stack.keys, comparable(np.ascontiguousarray(rows)))
        weights = np.repeat(leaving_one_out(n_profiles), rows.shape[1] // n_profiles, axis=1)
        of_complete = partial(_of_complete, weights=weights, used=np.ones(n_profiles, dtype=bool))
        found |= of_each([matrices], of_complete, partial(kendall_w, n_profiles=n_profiles))
    return found


def _fitted(arrays: Floats) -> Floats:
    """Return means over questions and repeats, fitted inside the profiles in which an answer is missing."""
    found = mean_where_any(arrays, (3, 4))
    block, profile = np.nonzero(np.isnan(arrays).any(axis=(1, 3, 4)))
    if len(block):
        incomplete = arrays[block, :, profile].swapaxes(0, 1)[None]
        found[block, :, profile] = fit_inside_profiles(incomplete, ONE_AXIS)[0].T
    return found


def fisher_combined(p_values: Floats) -> float:
    """Return Fisher's combined p-value: chi-square of -2 sum ln p with 2 m degrees of freedom.

    NaN where there is no p-value; 0 where one of them is 0.
    """
    p_values = p_values[~np.isnan(p_values)]
    if not len(p_values):
        return np.nan
    with np.errstate(divide="ignore"):
        return float(chdtrc(2 * len(p_values), -2 * np.log(p_values).sum()))


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Return p-values adjusted for the false discovery rate over one family; NaN stays NaN.

    Adjusted p of the i-th smallest of m: the minimum over j >= i of p_j m / j, at most 1.
    """
    adjusted = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    scaled = p_values[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return adjusted
