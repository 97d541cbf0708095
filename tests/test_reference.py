"""The plain-loop judge is judged itself: numbers derived by hand, and scipy where it has them."""

import math
from collections.abc import Callable
from statistics import fmean

import pytest
import reference as ref
from reference import Key, synthetic_values
from scipy import stats

from rupeebias.metric.options import DEFINITIONS

GENDERS = ("male", "female", "trans_man")


def one_slot(
    *outcomes: float,
    use_case: str = "salary_estimation",
    language: str = "en",
    profile: str = "P01",
    question: str = "Q1",
    repeat: int = 0,
) -> dict[Key, float]:
    """Return a gender slot with male, female and trans man, in this order."""
    return {
        Key(use_case, language, "gender", identifier, profile, question, repeat): value
        for identifier, value in zip(GENDERS, outcomes, strict=False)
    }


def rows_of(*rows: tuple[float, ...], language: str = "en") -> dict[Key, float]:
    """Return one gender slot a profile."""
    values: dict[Key, float] = {}
    for place, row in enumerate(rows, start=1):
        values |= one_slot(*row, language=language, profile=f"P{place:02d}")
    return values


# --- Gaps -----------------------------------------------------------------------------------------


def test_three_identifiers_pool_all_pairs() -> None:
    # 10-12: 2/11, 12-14: 2/13, 10-14: 4/12
    expected = 100 * (2 / 11 + 2 / 13 + 4 / 12) / 3
    assert ref.mean_delta_pct(one_slot(10, 12, 14)) == pytest.approx(expected)


def test_slots_do_not_pair_with_each_other() -> None:
    # Gaps 2/11 in the first slot and 0 in the second; across them nothing.
    assert ref.mean_delta_pct(rows_of((10, 12), (100, 100))) == pytest.approx(100 / 11)


def test_repeats_are_slots_of_their_own() -> None:
    values = one_slot(10, 12) | one_slot(100, 100, repeat=1)
    assert ref.mean_delta_pct(values) == pytest.approx(100 / 11)


def test_values_below_0_count_by_their_size_and_the_papers_have_a_sign() -> None:
    # -5 and 5: 10/5; -5 and -15: 10/10; 5 and -15: 20/10. The paper: none; 10/-10; 20/-5
    values = one_slot(-5, 5, -15)
    assert ref.mean_delta_pct(values) == pytest.approx(100 * (2 + 1 + 2) / 3)
    assert ref.mean_delta_pct(values, "paper") == pytest.approx(100 * (-1 - 4) / 2)
    assert (ref.n_zero_midpoints(values), ref.n_below_zero(values)) == (1, 3)
    assert ref.mean_delta_pct(one_slot(0, 0)) == 0
    assert ref.mean_delta_pct(one_slot(0, 0), "paper") is None


def test_violation_is_strict() -> None:
    # 95 and 105 are exactly 10 % apart; 95-120: 25/107.5, 105-120: 15/112.5, both above
    assert ref.violation_pct(one_slot(95, 105, 120)) == pytest.approx(200 / 3)


def test_nothing_to_compare_is_none() -> None:
    assert ref.mean_delta_pct(one_slot(10)) is None
    assert ref.violation_pct({}) is None
    assert ref.mean_kendall_w({}) is None


def test_fairness_change_weighs_axes_alike() -> None:
    # Gender has one pair, 2/11 and then 1/10.5; urban_rural's three pairs at 0 weigh no more
    urban = {
        Key("salary_estimation", "en", "urban_rural", name, "P01", "Q1", 0): 5.0
        for name in ("tier_1_city", "tier_2_city", "village")
    }
    standard, fair = one_slot(10, 12) | urban, one_slot(10, 11) | urban
    points = 100 * (1 / 10.5 - 2 / 11) / 2
    change = ref.fairness_change(standard, fair)
    assert change == pytest.approx((points, 100 * points / (100 / 11)))


# --- Ranks and concordance ------------------------------------------------------------------------


def test_ties_share_ranks() -> None:
    assert ref.average_ranks([3, 1, 3, 7]) == [2.5, 1, 2.5, 4]


def test_spearman_by_hand_and_by_scipy() -> None:
    # Differences of ranks 0, 1, -1: rho = 1 - 6 x 2 / (3 x 8)
    assert ref.spearman([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    x, y = [1, 2, 2, 5, 4, 9], [3, 3, 1, 8, 7, 7]
    rho = ref.spearman(x, y)
    assert rho == pytest.approx(float(stats.spearmanr(x, y).statistic))
    assert ref.spearman([1, 1, 1], [1, 2, 3]) is None


def test_concordance_by_hand() -> None:
    # Rank sums 4, 5, 9 around 6, n = 3, k = 3: S = 4 + 1 + 9 = 14, W = 12 S / (n^2 (k^3 - k))
    found = ref.kendall_w(rows_of((1, 2, 3), (2, 1, 3), (1, 2, 3)), "salary_estimation", "en", "gender")
    assert found is not None
    assert found.kendall_w == pytest.approx(14 * 12 / 216)
    # chi2 with 2 degrees of freedom: the tail is exp(-x / 2)
    assert found.p_value == pytest.approx(math.exp(-found.chi2 / 2))
    assert (found.n_blocks, found.n_identifiers) == (3, 3)


def test_concordance_with_ties_is_scipys() -> None:
    rows = [(1.0, 2, 2), (5, 5, 7), (3, 1, 4), (2, 2, 2), (9, 7, 9)]
    found = ref.friedman(rows)
    judge = stats.friedmanchisquare(*zip(*rows, strict=True))
    assert found is not None
    assert (found.chi2, found.p_value) == pytest.approx((judge.statistic, judge.pvalue))
    assert found.kendall_w == pytest.approx(judge.statistic / (5 * 2))


def test_concordance_uses_complete_rows_of_question_means() -> None:
    # P03 lacks trans man; Q2 moves P02's male mean from 1 to 3, above female at 2, in the paper's numbers.
    # Matched by question it says nothing of the others: Q1 is 1, 2, 4 and Q2 4 higher, half of it for all.
    values = rows_of((1, 2, 3), (1, 2, 4), (9, 1)) | one_slot(5, profile="P02", question="Q2")
    assert ref.complete_rows(values, "gender", "profile", "paper") == [[1, 2, 3], [3, 2, 4]]
    rows = ref.complete_rows(values, "gender", "profile")
    assert rows == [[1, 2, 3], pytest.approx([3, 4, 6])]


def test_profile_question_blocks_keep_questions_apart() -> None:
    values = one_slot(1, 2, 3) | one_slot(3, 2, 1, question="Q2") | rows_of((1, 2, 3), (1, 2, 3))
    assert len(ref.complete_rows(values, "gender", "profile")) == 2
    assert len(ref.complete_rows(values, "gender", "profile_question")) == 3


def test_constant_answers_have_no_concordance() -> None:
    assert ref.friedman([(4, 4, 4), (7, 7, 7)]) is None
    assert ref.friedman([(1, 2, 3)]) is None


def test_axis_w_is_the_mean_and_its_p_fishers() -> None:
    # salary: W = 1 over two blocks, chi2 = 4, p = e^-2; increment: rank sums 4, 4, 4, W = 0, p = 1
    opposite = one_slot(1, 2, 3, use_case="salary_increment") | one_slot(
        3, 2, 1, use_case="salary_increment", profile="P02"
    )
    found = ref.kendall_w_axis(rows_of((1, 2, 3), (4, 5, 6)) | opposite, "en", "gender")
    # Fisher: -2 ln(p1 p2) = 4 with 4 degrees of freedom has the tail e^-2 (1 + 2)
    assert found == pytest.approx((0.5, 3 * math.exp(-2)))


def test_mean_w_over_languages_is_the_mean_of_their_means() -> None:
    english = rows_of((1, 2, 3), (1, 2, 3))
    hinglish = rows_of((1, 2, 3), (3, 2, 1), language="hinglish")
    assert ref.mean_kendall_w(english | hinglish) == pytest.approx(0.5)
    assert ref.mean_kendall_w(english) == pytest.approx(1)


def test_benjamini_hochberg_by_hand_and_by_scipy() -> None:
    # sorted .01 .02 .03 .5: times 4/1, 4/2, 4/3, 1 gives .04 .04 .04 .5 after the running minimum
    assert ref.benjamini_hochberg([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.04, 0.04])
    p_values = [0.2, 0.9, 0.04, 0.04, 0.001, 0.7]
    judge = stats.false_discovery_control(p_values)
    assert ref.benjamini_hochberg(p_values) == pytest.approx(list(judge))


# --- Identifiers ----------------------------------------------------------------------------------


def test_deviation_averages_use_cases_and_languages() -> None:
    # English: means 8, 10, 12, so male -20 %; Hinglish: 10, 10, 10, so 0 %
    values = rows_of((7, 10, 13), (9, 10, 11)) | rows_of((10, 10, 10), language="hinglish")
    found = ref.identifier_deviation(values)
    assert found["gender", "male"] == pytest.approx(-10)
    assert found["gender", "trans_man"] == pytest.approx(10)


def test_canonical_gap_is_signed_and_counts_strictly_higher_slots() -> None:
    # Means 12 and 10: 2/11; male is strictly higher in two of four matched slots, one is a tie
    values = rows_of((16, 10), (10, 10), (10, 12)) | rows_of((12, 8), language="hinglish")
    found = ref.canonical_pair_gap(values, "salary_estimation", "gender")
    assert found is not None
    assert found.cpg_pct == pytest.approx(100 * 2 / 11)
    assert (found.sign_consistency_pct, found.ties_pct, found.n_slots) == (50, 25, 4)


def test_canonical_gap_without_the_comparison_is_none() -> None:
    assert ref.canonical_pair_gap(one_slot(3), "salary_estimation", "gender") is None


def test_canonical_gap_around_zero_keeps_its_sign_consistency() -> None:
    expected = {"paper": (None, 100, 0, 1), "rupeebias": (200, 100, 0, 1)}
    for definitions in DEFINITIONS:
        found = ref.canonical_pair_gap(one_slot(4, -4), "salary_estimation", "gender", definitions)
        assert tuple(found or ()) == expected[definitions]


def test_means_are_matched_by_slots() -> None:
    # male and female differ by 2 in Q1; male alone has Q2, which is 10 higher: 6 and 4 over both
    values = one_slot(1, -1) | one_slot(11, question="Q2")
    assert ref.means_of_identifiers(values, "gender", "paper") == {"male": 6, "female": -1}
    found = ref.means_of_identifiers(values, "gender", "rupeebias")
    assert found == pytest.approx({"male": 6, "female": 4})


def test_identifiers_that_share_no_slot_are_not_compared() -> None:
    values = one_slot(1, 2) | {
        Key("salary_estimation", "en", "gender", "trans_man", "P01", "Q2", 0): 9.0,
    }
    assert ref.means_of_identifiers(values, "gender", "rupeebias") == pytest.approx({"male": 1, "female": 2})


def test_maximum_gap_names_both_ends() -> None:
    # Means over both slots: male 10, female 14, trans man 6: 8/10
    values = rows_of((8, 15, 5), (12, 13, 7))
    found = ref.maximum_observed_gap(values, "salary_estimation", "gender")
    assert found is not None
    assert (found.highest, found.lowest) == ("female", "trans_man")
    assert found.mog_pct == pytest.approx(80)


# --- Languages, questions, profiles ---------------------------------------------------------------


def test_moderation_pools_in_the_papers_units() -> None:
    # In lakh and rupees: English 12 and 100 (mean 56), 10 and 300 (155), 8 and 200 (104): 1 3 2.
    # In rupees alone the salaries would decide, and give 3 2 1.
    english = one_slot(12e5, 10e5, 8e5) | one_slot(100, 300, 200, use_case="service_pricing_vendor")
    hinglish = one_slot(1e5, 3e5, 2e5, language="hinglish")
    found = ref.language_moderation(english | hinglish, "gender")
    assert found is not None
    assert found.spearman_rho == pytest.approx(1)
    # English gaps 2/11, 2/9, 4/10 and 200/200, 100/250, 100/150; Hinglish 2/2, 1/2.5, 1/1.5
    english_gap = (2 / 11 + 2 / 9 + 4 / 10 + 1 + 0.4 + 2 / 3) / 6
    expected = 100 * ((1 + 0.4 + 2 / 3) / 3 - english_gap)
    assert found.delta_mean_delta_pct == pytest.approx(expected)


def test_moderation_needs_both_languages() -> None:
    assert ref.language_moderation(one_slot(1, 2, 3), "gender") is None


def test_robustness_takes_the_smallest_rho_and_averages_use_cases() -> None:
    # salary: Q1-Q2 rho 1, Q1-Q3 and Q2-Q3 rho 0.5; increment: Q1-Q2 rho -1, Q3 constant and skipped
    values: dict[Key, float] = {}
    for use_case, *columns in (
        ("salary_estimation", (1, 2, 3), (4, 5, 6), (1, 3, 2)),
        ("salary_increment", (1, 2, 3), (3, 2, 1), (2, 2, 2)),
    ):
        for place, column in enumerate(columns, start=1):
            values |= one_slot(*column, use_case=use_case, question=f"Q{place}")
    assert ref.question_robustness(values, "en", "gender") == pytest.approx((0.5 - 1) / 2)
    assert ref.question_robustness(values, "en") == pytest.approx(-0.25)


def test_merit_compares_profiles_of_one_identifier_and_question() -> None:
    # male 10-30: 20/20; female 10-10: 0; the other question stands alone
    values = rows_of((10, 10), (30, 10)) | one_slot(99, question="Q2")
    assert ref.merit_sensitivity(values, "salary_estimation", "en") == pytest.approx(50)


def test_responsiveness_compares_means_over_identifiers() -> None:
    # Q1: means 10 and 30: 20/20; Q2: 20 and 20
    values = rows_of((8, 12), (35, 25)) | one_slot(20, question="Q2")
    values |= one_slot(20, 20, profile="P02", question="Q2")
    assert ref.responsiveness(values, "salary_estimation", "en") == pytest.approx(50)


def test_rank_agreement_pools_pairs_of_columns() -> None:
    # male and female rank the three profiles alike, trans man with two swapped: 1, 0.5, 0.5
    values = rows_of((1, 4, 1), (2, 5, 3), (3, 6, 2))
    found = ref.profile_rank_agreement(values, "salary_estimation", "en")
    assert found == pytest.approx(2 / 3)


# --- Answers and intervals ------------------------------------------------------------------------


def test_shares_count_missing_answers() -> None:
    statuses = ["ok", "lenient", "refusal", "ambiguous"]
    assert ref.parse_health_pct(statuses, 5) == pytest.approx(40)
    assert ref.refusal_rate_pct(statuses, 5) == pytest.approx(20)


def test_percentiles_interpolate() -> None:
    # 0..40: the 2.5 % point lies at place 1, the 97.5 % point at place 39
    assert ref.percentile_interval(list(range(41))) == pytest.approx((1, 39))


@pytest.mark.parametrize("resample", [ref.resampled_pair_means, ref.resampled_profile_means])
def test_resampling_centres_on_the_mean(
    resample: Callable[[ref.Values, int, int], list[float]],
) -> None:
    values = synthetic_values(3)
    means = resample(values, 60, 1)
    spread = math.sqrt(fmean((m - fmean(means)) ** 2 for m in means))
    assert abs(fmean(means) - (ref.mean_delta_pct(values) or 0)) < 5 * spread / math.sqrt(60)


def test_profiles_are_drawn_within_their_use_case() -> None:
    # One profile a use case leaves nothing to draw: every resample is the data itself.
    values = one_slot(10, 12) | one_slot(10, 14, use_case="salary_increment")
    draws = ref.resampled_profile_means(values, 5, 0)
    assert draws == pytest.approx([ref.mean_delta_pct(values)] * 5)


# --- Synthetic values -----------------------------------------------------------------------------


def test_full_values_are_the_whole_design() -> None:
    values = synthetic_values(1, full=True)
    assert len(values) == 39_150
    assert len(ref.slot_pairs(values)) == 450 * 852


def test_values_are_seeded_and_repeats_differ() -> None:
    values = synthetic_values(5, repeats=2)
    assert values == synthetic_values(5, repeats=2) != synthetic_values(6, repeats=2)
    assert any(values[key] != values[key._replace(repeat=1)] for key in values)


def test_missing_share_drops_answers() -> None:
    share = len(synthetic_values(1, missing_share=0.2)) / len(synthetic_values(1))
    assert share == pytest.approx(0.8, abs=0.03)


def test_coarse_values_hold_the_awkward_cases() -> None:
    values = synthetic_values(1, ties=True)
    assert ref.n_zero_midpoints(values) > 0
    assert ref.n_below_zero(values) > 0
    assert any(a == b for a, b in ref.slot_pairs(values))
