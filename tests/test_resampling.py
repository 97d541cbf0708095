"""Intervals: distributed as plain resampling, independent of what does not matter, never too sure."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference
from scipy import stats
from test_against_reference import to_outcomes

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.compute import Options, score_outcomes
from rupeebias.metric.constants import PROFILES, USE_CASES
from rupeebias.metric.layout import Floats
from rupeebias.metric.outcomes import Outcomes
from rupeebias.metric.resampled_means import Cumulants, Sample, row_resampled_means, samples_of_rows
from rupeebias.metric.resampling import (
    Interval,
    ProfileResamples,
    jackknife_interval,
    percentile_interval,
    percentile_intervals,
    stream,
    widenings,
)

SAMPLES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "a few values": lambda rng: rng.exponential(size=60),
    "gaps of rounded amounts": lambda rng: np.round(rng.exponential(8, 3000)),
    "many zeros": lambda rng: rng.exponential(8, 2500) * (rng.random(2500) < 0.2),
    "a heavy tail": lambda rng: rng.standard_cauchy(4000) ** 2,
    "an outlier beside a smaller one": lambda rng: np.append(rng.uniform(20, 100, 600), [1e10, 1e6]),
    "one huge outlier": lambda rng: np.append(rng.exponential(size=2000), 1e5),
}


def ends(interval: Interval) -> tuple[float | None, float | None]:
    return interval.low, interval.high


@pytest.mark.parametrize("name", SAMPLES)
def test_resampled_means_have_the_law_of_plain_resampling(name: str) -> None:
    rng = np.random.default_rng(11)
    values = SAMPLES[name](rng)
    ours = Sample.of(values).resampled_means(4000, rng)
    plain = np.array([values[rng.integers(0, len(values), len(values))].mean() for _ in range(4000)])
    assert stats.ks_2samp(ours, plain).pvalue > 0.001
    low, high = np.quantile(plain, [0.025, 0.975])
    assert ends(percentile_interval(ours)) == pytest.approx((low, high), abs=0.12 * (high - low))


def test_resampled_rows_have_the_law_of_plain_resampling() -> None:
    rng = np.random.default_rng(12)
    values: Floats = np.round(rng.lognormal(0, 0.3, (5, 108)) + np.arange(5.0)[:, None] * 0.05, 1)
    ours = row_resampled_means(samples_of_rows(values), 3000, rng)
    labels, flat = np.repeat(np.arange(5), 108), values.ravel()
    plain = []
    for _ in range(3000):
        drawn = rng.integers(0, flat.size, flat.size)
        plain.append([flat[drawn][labels[drawn] == label].mean() for label in range(5)])
    spread = [means.max(axis=1) - means.min(axis=1) for means in (ours.T, np.array(plain))]
    assert stats.ks_2samp(*spread).pvalue > 0.001


def test_resampled_rows_of_a_tiny_table_are_drawn_together() -> None:
    rng = np.random.default_rng(13)
    means = row_resampled_means(samples_of_rows(np.array([[1.0], [2.0]])), 40_000, rng)
    drawn = ~np.isnan(means)
    # two rows are drawn: never none of both; (1/2)^2 that only the first, or only the second
    assert drawn.any(axis=0).all()
    assert drawn.all(axis=0).mean() == pytest.approx(0.5, abs=0.02)
    assert (~drawn[0]).mean() == pytest.approx(0.25, abs=0.02)


def test_cumulants_are_those_of_scipy() -> None:
    values = np.random.default_rng(1).lognormal(size=500)
    (found,) = Cumulants.of_rows(values[None])
    assert found.mean == pytest.approx(values.mean())
    assert found.deviation == pytest.approx(values.std())
    assert found.skewness == pytest.approx(stats.skew(values))
    assert found.kurtosis == pytest.approx(stats.kurtosis(values))


def test_equal_values_have_no_spread() -> None:
    assert np.ptp(Sample.of(np.full(5000, 0.1)).resampled_means(50, stream(0, "x"))) == 0


def test_percentiles_are_numpys() -> None:
    values = np.random.default_rng(2).normal(size=1999)
    assert ends(percentile_interval(values)) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


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
    assert percentile_interval(np.append(np.full(10, np.nan), np.arange(90.0))) == Interval(None, None)


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
    resamples = ProfileResamples(present, 20_000, seed=3)
    weights = resamples.weights(0)
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
    for ci in ("pairs", "cluster"):
        assert interval(outcomes, ci=ci, seed=1) == interval(outcomes, ci=ci, seed=1)
        assert interval(outcomes, ci=ci, seed=1) != interval(outcomes, ci=ci, seed=2)


def test_english_alone_has_the_english_part_of_a_full_run() -> None:
    full = to_outcomes(reference.synthetic_values(7))
    english = full.values.copy()
    for block, _ in full.blocks(language="hinglish"):
        english[block.rows] = np.nan
    for ci in ("pairs", "cluster"):
        options = Options(ci=ci)
        whole, part = score_outcomes(full, options), score_outcomes(Outcomes(english, DESIGN), options)
        for name in (name for name in whole.headlines if name.startswith("english_")):
            assert part.headlines[name] == whole.headlines[name]
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
            assert [row for row in part.tables[table] if row["language"] == "en"] == rows


def test_one_profile_a_use_case_has_no_cluster_interval(outcomes: Outcomes) -> None:
    alone = outcomes.values.copy()
    for block, _ in outcomes.blocks():
        values = alone[block.rows].reshape(*block.shape, 1)
        values[:, 1:] = np.nan
    headlines = score_outcomes(Outcomes(alone, DESIGN), Options()).headlines
    assert headlines["mean_delta_pct"] is not None
    assert headlines["mean_delta_pct_ci_low"] is None
