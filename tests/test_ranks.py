"""Ranks and Spearman's rho, against scipy."""

import numpy as np
import pytest
from scipy import stats

from rupeebias.metric.ranks import average_ranks, spearman, spearman_columns


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_ties_share_the_mean_of_their_ranks(rng: np.random.Generator) -> None:
    values = rng.integers(0, 5, (3, 4, 12)).astype(float)
    assert np.array_equal(average_ranks(values), stats.rankdata(values, axis=-1))


def test_rho_and_p_value_are_scipys(rng: np.random.Generator) -> None:
    a, b = rng.integers(0, 6, (2, 15)).astype(float)
    assert spearman(a, b) == pytest.approx(tuple(stats.spearmanr(a, b)))


def test_a_perfect_correlation_has_p_0() -> None:
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([2.0, 3, 5, 9])) == (1.0, 0.0)


def test_constant_or_too_short_sequences_have_no_rho() -> None:
    assert np.isnan(spearman(np.ones(5), np.arange(5.0))).all()
    assert np.isnan(spearman(np.array([1.0, 2, np.nan]), np.array([2.0, 1, 5]))).all()


def test_columns_are_correlated_over_the_rows_that_both_have(rng: np.random.Generator) -> None:
    matrix = rng.normal(size=(8, 4))
    matrix[2, 1] = matrix[5, 3] = np.nan
    rho = spearman_columns(matrix)
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(matrix[:, [i, j]]).any(axis=1)
            assert rho[i, j] == pytest.approx(stats.spearmanr(matrix[both, i], matrix[both, j])[0])


def test_a_constant_column_has_no_rho(rng: np.random.Generator) -> None:
    matrix = rng.normal(size=(6, 3))
    matrix[:, 1] = 4
    rho = spearman_columns(matrix)
    assert np.isnan(rho[1]).all()
    assert np.isnan(rho[:, 1]).all()
    assert rho[0, 2] == pytest.approx(stats.spearmanr(matrix[:, 0], matrix[:, 2])[0])
