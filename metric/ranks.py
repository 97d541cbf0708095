"""Ranks and rank correlations, vectorised over whole arrays."""

import math

import numpy as np
from scipy.special import stdtr

from .layout import Floats, Ints


def comparable(means: Floats) -> Floats:
    """Return means that can be ranked: equal ones are equal to the last digit.

    Sums of the same answers in another order differ by rounding, and ranks would take that for an order. Six
    decimals lie far above it (1e-8 for crores of rupees) and far below any difference that answers can make.
    """
    return np.round(means, 6)


def average_ranks(values: Floats) -> Floats:
    """Return ranks 1 to k along the last axis; ties share the mean of their ranks.

    Equal to `scipy.stats.rankdata(values, axis=-1)` for values without NaN.
    """
    return ranks_and_ties(values)[0]


def ranks_and_ties(values: Floats) -> tuple[Floats, Ints]:
    """Return `average_ranks`, and how many values along the last axis equal each (itself included).

    Every value is compared with every other, which for k up to 90 is as fast as sorting. The rows come last:
    comparisons then run along memory, whatever k is.
    """
    own = np.ascontiguousarray(values.reshape(math.prod(values.shape[:-1]), values.shape[-1]).T)
    theirs = own[:, None]
    below, up_to = (
        passed.view(np.int8).sum(axis=0, dtype=np.int16) for passed in (theirs < own, theirs <= own)
    )
    ranks, ties = (below + up_to + 1) / 2, (up_to - below).astype(np.int64)
    return ranks.T.reshape(values.shape), ties.T.reshape(values.shape)


def spearman_columns(matrix: Floats) -> Floats:
    """Return Spearman's rho between all columns, shape (rows, k) to (k, k).

    NaN where a column is constant. Missing values (NaN): a pair of columns is correlated over the rows
    where both have a value.
    """
    matrix = matrix[~np.isnan(matrix).all(axis=1)]  # a row that nobody has, of a part of the benchmark
    if np.isnan(matrix).any():
        return _spearman_where_both(matrix)
    return rank_correlations(average_ranks(matrix.T))


def rank_correlations(ranks: Floats) -> Floats:
    """Return the correlations of complete ranks, shape (..., k, rows) to (..., k, k).

    NaN where all ranks are ties. Halves add up without rounding, so the order of the sums does not matter.
    """
    centred = ranks - (ranks.shape[-1] + 1) / 2
    products = centred @ centred.swapaxes(-1, -2)
    squares = np.diagonal(products, axis1=-2, axis2=-1)
    return _clipped(products, np.sqrt(squares[..., :, None] * squares[..., None, :]))


def _clipped(products: Floats, scale: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.clip(products / scale, -1, 1)
    return np.asarray(np.where(scale > 0, rho, np.nan), dtype=float)


def _spearman_where_both(matrix: Floats) -> Floats:
    """Rank each column anew for each other one, among the rows that both have."""
    there = ~np.isnan(matrix)
    theirs, own = matrix.T[:, None, :], matrix.T[:, :, None]
    adds = (theirs < own) + (theirs == own) / 2  # what a row's value adds to the rank of another's
    both = there.T[:, None, :] & there.T[None, :, :]
    ranks = np.einsum("crs,cds->cdr", adds, both.astype(float)) + 0.5
    centre = (both.sum(axis=2, keepdims=True) + 1) / 2
    return _correlations(np.where(both, ranks, centre), centre)


def _correlations(ranks: Floats, centre: Floats) -> Floats:
    """Correlate ranks[c, d] with ranks[d, c]."""
    own = ranks - centre
    other = own.transpose(1, 0, 2)
    scale = np.sqrt((own**2).sum(axis=2) * (other**2).sum(axis=2))
    return _clipped(np.einsum("cdr,cdr->cd", own, other), scale)


def spearman(a: Floats, b: Floats) -> tuple[float, float]:
    """Return Spearman's rho of two sequences and its two-sided p-value.

    The p-value is from Student's t with n - 2 degrees of freedom, as in `scipy.stats.spearmanr`: 0 at a
    perfect correlation. Both are NaN with fewer than three values or a constant sequence.
    """
    both = ~(np.isnan(a) | np.isnan(b))
    n = int(both.sum())
    rho = float(spearman_columns(np.stack([a[both], b[both]], axis=1))[0, 1]) if n >= 3 else np.nan
    if np.isnan(rho):
        return np.nan, np.nan
    with np.errstate(divide="ignore"):
        t = rho * np.sqrt(np.divide(n - 2, (1 - rho) * (1 + rho)))
    return rho, float(2 * stdtr(n - 2, -np.abs(t)))
