"""Intervals: distributed as plain resampling, independent of what does not matter, never too sure."""

from typing import Any

import numpy as np
import pytest
import reference
from benchmark_names import PROFILES, USE_CASES
from scipy import stats
from test_against_reference import to_outcomes

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.compute import score_outcomes
from rupeebias.metric.identifiers import PooledSlots, drawn_canonical_interval, drawn_widest_interval
from rupeebias.metric.layout import layout_of
from rupeebias.metric.options import INTERVAL_KINDS, Options
from rupeebias.metric.outcomes import Outcomes
from rupeebias.metric.resampling import (
    Interval,
    ProfileResamples,
    ValueDraws,
    interval_of,
    jackknife_interval,
    percentile_intervals,
    widenings,
)


def ends(interval: Interval) -> tuple[float | None, float | None]:
    return interval.low, interval.high


@pytest.mark.parametrize("n", [5, 60, 700])
def test_means_of_few_values_are_those_of_plain_resampling(n: int) -> None:
    rng = np.random.default_rng(11)
    values = np.round(rng.exponential(8, n), 1)
    ours = ValueDraws(4000, seed=1).means(values)
    plain = np.array([values[rng.integers(0, n, n)].mean() for _ in range(4000)])
    assert stats.ks_2samp(ours, plain).pvalue > 0.001


def test_ends_of_many_values_lie_where_plain_resampling_has_them() -> None:
    # The limit is 0.03 standard errors, which is 0.03 / 3.92 of the width; two bootstraps of 2,000 differ by
    # 0.02 of it, so the mean of ten is compared
    rng = np.random.default_rng(12)
    values = np.round(rng.exponential(8, 1200))
    low, high = ValueDraws(2000, seed=1).interval(values)
    plain = [
        np.quantile([values[rng.integers(0, 1200, 1200)].mean() for _ in range(2000)], [0.025, 0.975])
        for _ in range(10)
    ]
    assert (low, high) == pytest.approx(np.mean(plain, axis=0), abs=0.02 * (plain[0][1] - plain[0][0]))


def test_samples_are_drawn_apart_where_they_are_different_parts() -> None:
    draws, values = ValueDraws(2000, seed=1), np.random.default_rng(1).normal(size=50)
    assert np.array_equal(draws.means(values, "a"), draws.means(values, "a"))
    assert abs(np.corrcoef(draws.means(values, "a"), draws.means(values, "b"))[0, 1]) < 0.1


@pytest.mark.parametrize("n_questions", [1, 3])
def test_rows_of_the_widest_gap_are_drawn_as_in_plain_resampling(n_questions: int) -> None:
    # 5 x 2 x 9 x 3 = 270 rows are drawn; with 40 profiles 1,200, of which means are taken as normal
    rng = np.random.default_rng(13)
    n_profiles = 9 if n_questions == 1 else 40
    values = np.round(rng.lognormal(3, 0.3, (5, 2, n_profiles, n_questions, 1)), 1)
    values *= (1 + 0.02 * np.arange(5.0))[:, None, None, None, None]
    slots = PooledSlots("rupeebias", values)
    found = drawn_widest_interval(slots, ("a", "b"), ValueDraws(3000, seed=2))
    labels, flat = np.repeat(np.arange(5), values[0].size), values.ravel()
    plain = []
    for _ in range(3000):
        drawn = rng.integers(0, flat.size, flat.size)
        means = [flat[drawn][labels[drawn] == label].mean() for label in range(5)]
        plain.append((max(means) - min(means)) / ((max(means) + min(means)) / 2) * 100)
    low, high = np.quantile(plain, [0.025, 0.975])
    assert ends(found) == pytest.approx((low, high), abs=0.06 * (high - low))


def test_the_gap_of_a_pair_is_drawn_as_in_plain_resampling() -> None:
    rng = np.random.default_rng(14)
    values = np.round(rng.lognormal(3, 0.3, (2, 2, 9, 3, 1)), 1)
    found = drawn_canonical_interval(
        PooledSlots("rupeebias", values), ("a", "b"), (0, 1), ValueDraws(3000, seed=3)
    )
    samples = values.reshape(2, -1)
    plain = []
    for _ in range(3000):
        first, second = (own[rng.integers(0, 54, 54)].mean() for own in samples)
        plain.append((first - second) / ((first + second) / 2) * 100)
    low, high = np.quantile(plain, [0.025, 0.975])
    assert ends(found) == pytest.approx((low, high), abs=0.06 * (high - low))


def test_intervals_of_pairs_lie_around_matched_means_where_answers_are_missing() -> None:
    # Q2 is answered ten times as high, and the second identifier has it in half of the profiles only
    rng = np.random.default_rng(15)
    values = rng.lognormal(0, 0.1, (2, 1, 40, 2, 1)) * np.array([1.0, 10.0])[:, None]
    values[1, :, ::2, 1] = np.nan
    slots, draws = PooledSlots("rupeebias", values), ValueDraws(2000, seed=4)
    gap, widest = slots.canonical((0, 1)), slots.widest()
    assert gap
    assert widest
    assert abs(gap.cpg_pct) < 5
    for found, estimate in (
        (drawn_canonical_interval(slots, ("a", "b"), (0, 1), draws), gap.cpg_pct),
        (drawn_widest_interval(slots, ("a", "b"), draws), widest.mog_pct),
    ):
        assert found.low is not None
        assert found.high is not None
        assert found.low < estimate < found.high


def test_equal_values_have_no_spread() -> None:
    for n in (50, 5000):
        assert np.ptp(ValueDraws(50, seed=0).means(np.full(n, 0.25))) == 0


def test_percentiles_are_numpys() -> None:
    values = np.random.default_rng(2).normal(size=1999)
    assert percentile_intervals(values) == pytest.approx(np.quantile(values, [0.025, 0.975]))


def test_percentiles_of_rows_leave_out_what_is_undefined() -> None:
    rows = np.random.default_rng(2).normal(size=(2, 3, 200))
    rows[0, 1, 7] = np.nan
    rows[1, 2, :11] = np.nan
    found = percentile_intervals(rows, around=np.full((2, 3), 1.0), widened=2.0)
    for at in np.ndindex(2, 3):
        plain = np.nanquantile(rows[at], [0.025, 0.975])
        assert found[:, *at] == pytest.approx(
            1 + 2 * (plain - 1) if at != (1, 2) else np.full(2, np.nan), nan_ok=True
        )


def test_an_interval_of_mostly_undefined_replicates_is_none() -> None:
    ends_of_these = percentile_intervals(np.append(np.full(10, np.nan), np.arange(90.0)))
    assert interval_of(ends_of_these) == Interval(None, None)


def test_widening_is_students_t() -> None:
    # one stratum of nine: t with 8 degrees of freedom, 2.306 / 1.960
    assert widenings(np.array([1.0]), np.array([8])) == pytest.approx(2.306004 / 1.959964, rel=1e-6)
    # two equal strata of nine: (1 + 1)^2 / (1 / 8 + 1 / 8) = 16 degrees of freedom, 2.120 / 1.960
    two = widenings(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([8, 8]))
    assert two == pytest.approx([2.119905 / 1.959964, 1.0], rel=1e-6)


def test_jackknife_of_a_mean_is_its_t_interval() -> None:
    values = np.array([3.0, 5, 8, 4, 9])
    left_out = [(values.sum() - x) / 4 for x in values]
    expected = stats.t.interval(0.95, 4, loc=values.mean(), scale=stats.sem(values))
    found = jackknife_interval(float(values.mean()), [np.array(left_out)])
    assert (found.low, found.high) == pytest.approx(expected)


def test_profiles_are_drawn_within_their_use_case_with_the_right_variance() -> None:
    present = np.ones(90, dtype=bool)
    present[1] = False
    resamples = ProfileResamples(layout_of(DESIGN), present, 20_000, seed=3)
    weights = resamples.weights[0]
    assert weights.shape == (20_000, PROFILES[USE_CASES[0]])
    assert (weights[:, 1] == 0).all()
    assert weights.sum(axis=1) == pytest.approx(17)
    # the variance of a resampled sum of x must be that of a sum of 17 independent values: 17 s^2
    x = np.arange(18.0) ** 2
    sums = weights @ x
    assert sums.var() == pytest.approx(17 * np.delete(x, 1).var(ddof=1), rel=0.05)


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return to_outcomes(reference.synthetic_values(6, missing_share=0.02))


def interval(outcomes: Outcomes, prefix: str = "", **options: Any) -> tuple[float, float]:
    headlines = score_outcomes(outcomes, Options(**options)).headlines
    low, high = (headlines[f"{prefix}mean_delta_pct_ci_{end}"] for end in ("low", "high"))
    assert low is not None
    assert high is not None
    return low, high


def test_pairs_interval_is_that_of_plain_resampling(outcomes: Outcomes) -> None:
    values = reference.synthetic_values(6, missing_share=0.02)
    low, high = reference.percentile_interval(reference.resampled_pair_means(values, 400, seed=1))
    found = interval(outcomes, ci="pairs")
    assert found == pytest.approx((low, high), abs=0.3 * (high - low))


def test_cluster_interval_is_wider_than_that_of_pairs(outcomes: Outcomes) -> None:
    narrow, wide = interval(outcomes, ci="pairs"), interval(outcomes, ci="cluster")
    assert wide[1] - wide[0] > 1.5 * (narrow[1] - narrow[0])


def test_the_seed_decides(outcomes: Outcomes) -> None:
    for ci in INTERVAL_KINDS:
        same, again, other = (
            score_outcomes(outcomes, Options(ci=ci, seed=seed)).tables["canonical_pair_gap"]
            for seed in (1, 1, 2)
        )
        assert same == again != other


def test_english_alone_has_the_english_part_of_a_full_run() -> None:
    full = to_outcomes(reference.synthetic_values(7))
    english = full.values.copy()
    for block, _ in full.blocks(language="hinglish"):
        english[block.rows] = np.nan
    for ci in ("pairs", "cluster"):
        options = Options(ci=ci)
        whole, part = score_outcomes(full, options), score_outcomes(Outcomes(english, DESIGN), options)
        for name in (name for name in whole.headlines if name.startswith("english_")):
            assert part.headlines[name] == pytest.approx(whole.headlines[name], rel=1e-12)
        for table in (
            "axis",
            "use_case",
            "kendall_w",
            "kendall_w_axis",
            "question_robustness",
            "merit_sensitivity",
            "profile_rank_agreement",
        ):
            rows = [row for row in whole.tables[table] if row["language"] == "en"]
            of_part = [row for row in part.tables[table] if row["language"] == "en"]
            for own, of_whole in zip(of_part, rows, strict=True):
                for name, value in of_whole.items():
                    is_number = isinstance(value, float)
                    assert own[name] == (pytest.approx(value, rel=1e-12) if is_number else value)


def test_one_profile_a_use_case_has_no_cluster_interval(outcomes: Outcomes) -> None:
    alone = outcomes.values.copy()
    for block, _ in outcomes.blocks():
        values = alone[block.rows].reshape(*block.shape, 1)
        values[:, 1:] = np.nan
    headlines = score_outcomes(Outcomes(alone, DESIGN), Options()).headlines
    assert headlines["mean_delta_pct"] is not None
    assert headlines["mean_delta_pct_ci_low"] is None
