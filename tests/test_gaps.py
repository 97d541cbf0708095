"""Relative pair gaps, on numbers small enough to check on paper."""

import numpy as np
import pytest
from benchmark_names import BLOCKS, N_PROMPTS

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.gaps import pairwise_gaps_pct, relative_gap_pct, slot_gaps
from rupeebias.metric.layout import Floats
from rupeebias.metric.options import Definitions
from rupeebias.metric.outcomes import Outcomes


def gap(a: float, b: float, definitions: Definitions = "rupeebias") -> float:
    return float(relative_gap_pct(np.array([a]), np.array([b]), definitions)[0])


def test_gap_is_the_difference_over_the_midpoint() -> None:
    # |10 - 12| / 11 = 2 / 11
    assert gap(10, 12) == pytest.approx(200 / 11)


def test_gap_of_equal_values_is_0_and_of_a_value_and_0_is_200() -> None:
    assert gap(7, 7) == 0
    assert gap(0, 5) == 200


def test_gap_has_no_unit() -> None:
    assert gap(1_200_000, 1_500_000) == pytest.approx(gap(12, 15))


def test_two_zeros_are_alike() -> None:
    assert gap(0, 0) == 0


def test_sizes_count_where_values_lie_below_0() -> None:
    # |-10 - -30| / 20 = 1; |20 - -20| / 20 = 2, |1 - -3| / 2 = 2: opposite signs are as far as can be
    assert gap(-10, -30) == pytest.approx(100)
    assert gap(20, -20) == pytest.approx(200)
    assert gap(1, -3) == pytest.approx(200)


def test_the_papers_midpoint_has_a_sign() -> None:
    # |-10 - -30| / -20 = -1; |1 - -3| / -1 = -4
    assert gap(-10, -30, "paper") == pytest.approx(-100)
    assert gap(1, -3, "paper") == pytest.approx(-400)
    assert np.isnan(gap(0, 0, "paper"))


def test_a_zero_midpoint_of_the_paper_has_no_gap_even_when_rounding_hides_it() -> None:
    # 0.1 + 0.2 is 0.30000000000000004: its sum with -0.3 is 5.6e-17, not 0
    assert np.isnan(gap(20, -20, "paper"))
    assert np.isnan(gap(0.1 + 0.2, -0.3, "paper"))


def test_missing_value_has_no_gap() -> None:
    assert np.isnan(gap(np.nan, 5))


def test_three_identifiers_give_three_pairs() -> None:
    # 10-12: 2/11, 10-14: 4/12, 12-14: 2/13
    gaps = pairwise_gaps_pct(np.array([[10.0], [12.0], [14.0]]), "rupeebias")
    assert gaps[:, 0] == pytest.approx([200 / 11, 400 / 12, 200 / 13])


def dense(fill: float) -> Floats:
    values = np.full((N_PROMPTS, 1), np.nan)
    values[BLOCKS[0].rows] = fill
    return values


def test_a_full_benchmark_has_383_400_pairs() -> None:
    # 852 pairs (66 + 276 + 435 + 10 + 55 + 10) in each of 225 slots and 2 languages
    gaps = slot_gaps(Outcomes(np.ones((N_PROMPTS, 1)), DESIGN))
    assert gaps.count.sum() == 852 * 225 * 2 == 383_400
    assert gaps.total.sum() == 0


def test_pairs_are_formed_within_one_repeat() -> None:
    # 12 religions in 54 slots; the second repeat doubles all amounts: no gap crosses repeats
    values = np.concatenate([dense(10), dense(20)], axis=1)
    gaps = slot_gaps(Outcomes(values, DESIGN))
    assert gaps.count.sum() == 66 * 54 * 2
    assert gaps.total.sum() == 0


def test_a_gap_at_the_threshold_is_no_violation() -> None:
    values = dense(np.nan)
    rows = values[BLOCKS[0].rows].reshape(*BLOCKS[0].shape)
    rows[0, 0, 0], rows[1, 0, 0] = 95.0, 105.0  # 10 / 100: exactly 10 %
    rows[0, 0, 1], rows[1, 0, 1] = 94.0, 106.0  # 12 %
    gaps = slot_gaps(Outcomes(values, DESIGN), threshold_pct=10)
    assert gaps.count.sum() == 2
    assert gaps.violations.sum() == 1
