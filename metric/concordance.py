"""Kendall's W: whether the same identifiers are ranked high and low again and again."""

from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from .layout import Bools, Floats, Ints
from .outcomes import Key, Outcomes, Stack, mean_where_any
from .ranks import comparable, ranks_and_ties
from .special import chi_square_tail
from .stacks import of_each

Blocking: TypeAlias = Literal["profile", "profile_question"]
BLOCKINGS: Final[tuple[Blocking, ...]] = ("profile", "profile_question")


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


UNDEFINED: Final = Concordance(np.nan, np.nan, np.nan, 0, 0)


def kendall_w(matrix: Floats) -> Concordance:
    """Return W = chi2 / (n (k - 1)) of the complete rows of a matrix, shape (rows, identifiers).

    chi2 is Friedman's statistic, (12 / (n k (k + 1)) sum_j R_j^2 - 3 n (k + 1)) / c, with R_j the rank sums
    and c = 1 - sum (t^3 - t) / (n k (k^2 - 1)) over groups of t ties; equal to
    `scipy.stats.friedmanchisquare`. Rows with a missing value are left out, as are identifiers without any
    value. NaN with fewer than two rows or columns, or where all rows are all ties.
    """
    matrix = matrix[:, ~np.isnan(matrix).all(axis=0)]
    matrix = matrix[~np.isnan(matrix).any(axis=1)]
    return _of_complete(matrix[None])[0]


def _of_complete(matrices: Floats) -> list[Concordance]:
    """Return the concordance of each matrix of a stack, shape (matrices, rows, identifiers)."""
    _, n, k = matrices.shape
    if n < 2 or k < 2:
        return [Concordance(np.nan, np.nan, np.nan, n, k)] * len(matrices)
    ranks, equal = ranks_and_ties(matrices)
    ties, squares = _ties(equal).sum(axis=1), (ranks.sum(axis=1) ** 2).sum(axis=1)
    found = _w(ties, squares, np.full(len(matrices), n), k).tolist()
    return [Concordance(w, n * (k - 1) * w, chi_square_tail(k - 1, n * (k - 1) * w), n, k) for w in found]


def _ties(equal: Ints) -> Ints:
    """Return sum (t^3 - t) over the groups of t ties of each row, from how many values equal each."""
    return np.asarray((equal**2 - 1).sum(axis=-1))  # a group holds t values, each of which equals t


def _w(ties: Ints, squares: Floats, n: Ints, k: int) -> Floats:
    """Return W from summed ties, summed squares of rank sums, and numbers of rows and columns."""
    with np.errstate(divide="ignore", invalid="ignore"):
        uncorrected = 12 / (n * k * (k + 1)) * squares - 3 * n * (k + 1)
        correction = 1 - ties / (n * k * (k**2 - 1))
        w = np.maximum(uncorrected, 0) / correction / (n * (k - 1))
    return np.where((n > 1) & (correction > 0), w, np.nan)


class LeftOut(NamedTuple):
    """W of one block, and what remains of it without each of its base profiles."""

    kendall_w: float
    without: Floats
    """W with each profile left out, shape (profiles,)."""
    used: Bools
    """Which profiles have a complete row."""
    n_rows: int
    """Complete rows."""


def kendall_w_without_each_profile(block: Floats, blocking: Blocking) -> LeftOut:
    """Return W of a block (identifiers, profiles, questions, repeats), and without each of its profiles."""
    matrix, n_profiles = concordance_matrix(block, blocking), block.shape[1]
    profile = np.repeat(np.arange(n_profiles), len(matrix) // n_profiles)
    matrix = matrix[:, ~np.isnan(matrix).all(axis=0)]
    complete = ~np.isnan(matrix).any(axis=1)
    matrix, rows_of = matrix[complete], profile[complete] == np.arange(n_profiles)[:, None]
    used, k = rows_of.any(axis=1), matrix.shape[1]
    if k < 2:
        return LeftOut(np.nan, np.full(n_profiles, np.nan), used, len(matrix))
    ranks, equal = ranks_and_ties(matrix)
    # the whole, then without each profile
    kept = np.concatenate([np.ones((1, len(matrix)), dtype=np.int64), 1 - rows_of.astype(np.int64)])
    found = _w(kept @ _ties(equal), ((kept @ ranks) ** 2).sum(axis=1), kept.sum(axis=1), k)
    return LeftOut(float(found[0]), found[1:], used, len(matrix))


def concordances(outcomes: Outcomes, blocking: Blocking) -> dict[Key, Concordance]:
    """Return the concordance of every covered block."""
    by_profile = blocking == "profile"
    stacks = outcomes.profile_means if by_profile else [stack.mean((4,)) for stack in outcomes.stacks]
    matrices = (
        Stack(stack.keys, _rows(stack.arrays.reshape(*stack.arrays.shape[:2], -1))) for stack in stacks
    )
    return of_each(matrices, _of_complete, kendall_w)


def _rows(means: Floats) -> Floats:
    """Return (..., identifiers, rows) as (..., rows, identifiers), ready to be ranked."""
    return comparable(np.ascontiguousarray(means.swapaxes(-1, -2)))


def concordance_matrix(block: Floats, blocking: Blocking = "profile") -> Floats:
    """Return the matrix whose rows are ranked, from one block (identifiers, profiles, questions, repeats).

    "profile": a row a profile, values averaged over question variants and repeats: the paper's printed
    numbers. "profile_question": a row for each profile and question: the paper's text.
    """
    axes = (2, 3) if blocking == "profile" else (3,)
    return _rows(mean_where_any(block, axes).reshape(block.shape[0], -1))


def fisher_combined(p_values: Floats) -> float:
    """Return Fisher's combined p-value: chi-square of -2 sum ln p with 2 m degrees of freedom.

    NaN where there is no p-value; 0 where one of them is 0.
    """
    p_values = p_values[~np.isnan(p_values)]
    if not len(p_values):
        return np.nan
    with np.errstate(divide="ignore"):
        return chi_square_tail(2 * len(p_values), -2 * np.log(p_values).sum())


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
