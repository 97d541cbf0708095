"""Kendall's W, Fisher's method and Benjamini-Hochberg, against scipy and by hand."""

import numpy as np
import pytest
from scipy import stats

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.concordance import benjamini_hochberg, concordances, fisher_combined, kendall_w
from rupeebias.metric.layout import Floats, layout_of
from rupeebias.metric.options import DEFINITIONS
from rupeebias.metric.outcomes import Outcomes


def test_equal_rankings_agree_completely() -> None:
    # three rows rank 1, 2, 3: rank sums 3, 6, 9, their squares 126;
    # chi2 = 12 / (3 * 3 * 4) * 126 - 3 * 3 * 4 = 42 - 36 = 6; W = 6 / (3 * 2)
    found = kendall_w(np.array([[1.0, 2, 3], [10, 20, 30], [5, 6, 7]]))
    assert found.chi2 == pytest.approx(6)
    assert found.kendall_w == pytest.approx(1)
    assert (found.n_blocks, found.n_identifiers) == (3, 3)


def test_opposite_rankings_do_not_agree() -> None:
    found = kendall_w(np.array([[1.0, 2, 3], [3, 2, 1]]))
    assert found.kendall_w == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_ties_are_corrected_as_in_scipy(seed: int) -> None:
    matrix = np.random.default_rng(seed).integers(0, 4, (9, 6)).astype(float)
    expected = stats.friedmanchisquare(*matrix.T)
    found = kendall_w(matrix)
    assert found.chi2 == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.kendall_w == pytest.approx(expected.statistic / (9 * 5))


def test_incomplete_rows_and_empty_columns_are_left_out() -> None:
    complete = np.array([[1.0, 3, 2], [2, 3, 1], [1, 2, 3]])
    with_gaps = np.column_stack([complete, np.full(3, np.nan)])
    with_gaps = np.vstack([with_gaps, [5, np.nan, 1, np.nan]])
    assert kendall_w(with_gaps)[:5] == kendall_w(complete)[:5]


@pytest.mark.parametrize("matrix", [np.ones((3, 4)), np.ones((1, 4)), np.arange(3.0)[:, None]])
def test_all_ties_one_row_or_one_column_have_no_w(matrix: np.ndarray) -> None:
    assert np.isnan(kendall_w(matrix).kendall_w)


def outcomes(block: Floats) -> Outcomes:
    """Return outcomes of one salary block by gender, shape (identifiers, profiles, questions)."""
    values = np.full((DESIGN.n_prompts, 1), np.nan)
    (gender,) = (x for x in layout_of(DESIGN).blocks if x[:3] == ("salary_estimation", "en", "gender"))
    padded = np.full(gender.shape, np.nan)
    padded[tuple(map(slice, block.shape))] = block
    values[gender.rows, 0] = padded.ravel()
    return Outcomes(values, DESIGN)


def test_blocks_are_profiles_or_profiles_and_questions() -> None:
    rng = np.random.default_rng(3)
    block = rng.normal(10, 1, (5, 6, 3))
    (of_profiles,), (of_both,) = (
        concordances(outcomes(block), blocking).values() for blocking in ("profile", "profile_question")
    )
    assert of_profiles[:5] == pytest.approx(kendall_w(block.mean(axis=2).T)[:5])
    assert of_both[:5] == pytest.approx(kendall_w(block.reshape(5, -1).T)[:5])
    assert (of_profiles.n_blocks, of_both.n_blocks) == (6, 18)


def test_w_is_known_without_each_profile() -> None:
    matrix = np.random.default_rng(4).normal(size=(12, 5))
    matrix[3, 2] = np.nan
    found = kendall_w(matrix, n_profiles=6)  # two rows a profile
    assert found.used.all()
    for at in range(6):
        assert found.without[at] == pytest.approx(
            kendall_w(np.delete(matrix, [2 * at, 2 * at + 1], axis=0)).kendall_w
        )


def test_means_of_a_profile_are_matched_by_question() -> None:
    # Q2 is answered 10 higher by all; who lacks it is not ranked last for that, but in the paper's numbers
    block = np.array([[[1.0 + at, 11.0 + at]] * 3 for at in range(5)])
    block[4, 0, 1] = np.nan
    (ours,), (papers,) = (
        concordances(outcomes(block), "profile", definitions).values() for definitions in DEFINITIONS
    )
    assert ours.kendall_w == pytest.approx(1)
    assert papers.kendall_w < 0.9


def test_fisher_agrees_with_scipy() -> None:
    p_values = np.array([0.01, 0.2, 0.7, np.nan])
    assert fisher_combined(p_values) == pytest.approx(stats.combine_pvalues(p_values[:3]).pvalue)
    assert np.isnan(fisher_combined(np.array([np.nan])))
    assert fisher_combined(np.array([0.0, 0.5])) == 0


def test_benjamini_hochberg_agrees_with_scipy_and_passes_over_missing() -> None:
    p_values = np.array([0.04, np.nan, 0.001, 0.5, 0.03, 0.04])
    known = ~np.isnan(p_values)
    adjusted = benjamini_hochberg(p_values)
    assert adjusted[known] == pytest.approx(stats.false_discovery_control(p_values[known]))
    assert np.isnan(adjusted[1])


def test_benjamini_hochberg_by_hand() -> None:
    # sorted .01 .02 .03 of 3: .01 * 3 = .03, .02 * 3 / 2 = .03, .03 * 3 / 3 = .03
    assert benjamini_hochberg(np.array([0.03, 0.01, 0.02])) == pytest.approx([0.03, 0.03, 0.03])


def test_the_same_answers_in_another_order_are_a_tie() -> None:
    # means of 8.1, 8.2 and 8.3 differ in the last digit by the order in which they are summed
    orders = [[8.1, 8.2, 8.3], [8.3, 8.2, 8.1], [8.2, 8.3, 8.1], [8.1, 8.3, 8.2], [8.3, 8.1, 8.2]]
    assert len({sum(order) / 3 for order in orders}) > 1
    block = np.array(orders)[:, None, :].repeat(4, axis=1)
    (found,) = concordances(outcomes(block), "profile", "paper").values()
    assert np.isnan(found.kendall_w)
