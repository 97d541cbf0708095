"""Ranks and rank correlations, vectorised over whole arrays."""

import numpy as np
from scipy.special import stdtr

from .layout import Floats


def comparable(means: Floats) -> Floats:
    """Return means that can be ranked: equal ones are equal to the last digit.

    Sums of the same answers in another order differ by rounding, and ranks would take that for an order. Six
    decimals lie far above it (1e-8 for crores of rupees) and far below any difference that answers can make.
    """
    return np.round(means, 6)


def average_ranks(values: Floats) -> Floats:
    """Return ranks 1 to k along the last axis; ties share the mean of their ranks.

    Equal to `scipy.stats.rankdata(values, axis=-1)` for values without NaN. Every value is compared with
    every other, which for k up to 90 is as fast as sorting.
    """
    theirs, own = values[..., None, :], values[..., :, None]
    below = (theirs < own).sum(axis=-1)
    not_above = (theirs <= own).sum(axis=-1)
    return np.asarray((below + not_above + 1) / 2, dtype=float)


def spearman_columns(matrix: Floats) -> Floats:
    """Return Spearman's rho between all columns, shape (rows, k) to (k, k).

    NaN where a column is constant. Missing values (NaN): a pair of columns is correlated over the rows
    where both have a value.
    """
    matrix = matrix[~np.isnan(matrix).all(axis=1)]  # a row that nobody has, of a part of the benchmark
    if not len(matrix):
        return np.full((matrix.shape[1], matrix.shape[1]), np.nan)
    complete = ~np.isnan(matrix).any(axis=0)
    rho = _pearson_columns(average_ranks(matrix.T).T)
    for i in np.flatnonzero(~complete):
        for j in range(matrix.shape[1]):
            rho[i, j] = rho[j, i] = _spearman_where_both(matrix[:, i], matrix[:, j])
    return rho


def _pearson_columns(columns: Floats) -> Floats:
    centred = columns - columns.mean(axis=0)
    products = centred.T @ centred
    scale = np.sqrt(np.diag(products))
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.clip(products / scale[:, None] / scale, -1, 1)
    rho[scale == 0] = rho[:, scale == 0] = np.nan
    return np.asarray(rho, dtype=float)


def _spearman_where_both(a: Floats, b: Floats) -> float:
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < 2:
        return np.nan
    return float(_pearson_columns(average_ranks(np.stack([a[both], b[both]])).T)[0, 1])


def spearman(a: Floats, b: Floats) -> tuple[float, float]:
    """Return Spearman's rho of two sequences and its two-sided p-value.

    The p-value is from Student's t with n - 2 degrees of freedom, as in `scipy.stats.spearmanr`: 0 at a
    perfect correlation. Both are NaN with fewer than three values or a constant sequence.
    """
    both = ~(np.isnan(a) | np.isnan(b))
    n = int(both.sum())
    rho = _spearman_where_both(a, b) if n >= 3 else np.nan
    if np.isnan(rho):
        return np.nan, np.nan
    with np.errstate(divide="ignore"):
        t = rho * np.sqrt(np.divide(n - 2, (1 - rho) * (1 + rho)))
    return rho, float(2 * stdtr(n - 2, -np.abs(t)))
