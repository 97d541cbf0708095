"""Laws of resampled means: the same intervals as from plain draws, for a fraction of them."""

import numpy as np
import pytest
from scipy import stats

from rupeebias.metric.layout import Floats
from rupeebias.metric.mean_laws import MeanLaw, combined
from rupeebias.metric.resampled_means import Cumulants, Sample
from rupeebias.metric.resampling import percentile_interval

BENT = MeanLaw(mean=10.0, deviation=2.0, skewness=0.2, kurtosis=0.1)


def plain_means(values: Floats, n: int, rng: np.random.Generator) -> Floats:
    return np.array([rng.choice(values, len(values)).mean() for _ in range(n)])


@pytest.mark.parametrize("n_resamples", [2, 3, 40, 200])
def test_ends_are_distributed_as_percentiles_of_all_draws(n_resamples: int) -> None:
    rng = np.random.default_rng(n_resamples)
    quick = np.array([BENT.percentile_interval(n_resamples, rng).low for _ in range(1500)], dtype=float)
    drawn = [percentile_interval(BENT.draws(n_resamples, rng)) for _ in range(1500)]
    plain = np.array([interval.low for interval in drawn], dtype=float)
    assert stats.ks_2samp(quick, plain).pvalue > 0.001
    pairs = [BENT.percentile_interval(n_resamples, rng) for _ in range(1500)]
    ours, theirs = (np.array([(x.low, x.high) for x in found], dtype=float) for found in (pairs, drawn))
    assert stats.ks_2samp(ours[:, 1] - ours[:, 0], theirs[:, 1] - theirs[:, 0]).pvalue > 0.001


def test_a_law_without_skewness_is_normal() -> None:
    interval = MeanLaw(5.0, 2.0, 0.0, 0.0).percentile_interval(10_000_000, np.random.default_rng(1))
    # 5 -+ 1.96 x 2
    assert (interval.low, interval.high) == pytest.approx((1.08, 8.92), abs=0.02)


def test_draws_have_the_cumulants_of_the_law() -> None:
    drawn = BENT.draws(2_000_000, np.random.default_rng(2))
    assert drawn.mean() == pytest.approx(10.0, abs=0.01)
    assert drawn.std() == pytest.approx(2.0, rel=0.01)
    assert stats.skew(drawn) == pytest.approx(0.2, abs=0.02)
    assert stats.kurtosis(drawn) == pytest.approx(0.1, abs=0.05)


def test_cumulants_of_a_difference_add() -> None:
    # variances 9 + 16; third cumulants 0.5 x 27 - 0.25 x 64; fourth 1 x 81 + 0.5 x 256
    found = MeanLaw(7.0, 3.0, 0.5, 1.0).minus(MeanLaw(3.0, 4.0, 0.25, 0.5))
    assert tuple(found) == pytest.approx((4.0, 5.0, -2.5 / 125, 209 / 625))
    still = MeanLaw(7.0, 0.0, 0.0, 0.0)
    assert still.minus(still) == MeanLaw(0.0, 0.0, 0.0, 0.0)


def test_a_difference_is_distributed_as_that_of_plain_resamples() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.exponential(5, 150), rng.gamma(2, 2, 120)
    laws = [Cumulants.of_rows(values[None])[0].law() for values in (first, second)]
    plain = plain_means(first, 4000, rng) - plain_means(second, 4000, rng)
    assert stats.ks_2samp(laws[0].minus(laws[1]).draws(4000, rng), plain).pvalue > 0.001


@pytest.mark.parametrize("n", [30, 36, 108, 500])
def test_ends_of_the_law_are_those_of_plain_resampling(n: int) -> None:
    rng = np.random.default_rng(4)
    values = np.round(rng.lognormal(10, 0.5, n), -2)
    law = Cumulants.of_rows(values[None])[0].law()
    ours = law.percentile_interval(1_000_000, rng)
    drawn = np.concatenate([rng.choice(values, (10_000, n)).mean(axis=1) for _ in range(20)])
    plain = percentile_interval(drawn)
    assert plain.low is not None
    assert plain.high is not None
    # one standard error of an end with 2,000 resamples is 0.015 of the width
    assert (ours.low, ours.high) == pytest.approx(
        (plain.low, plain.high), abs=0.012 * (plain.high - plain.low)
    )


def test_the_mean_of_some_rows_of_a_table_varies_with_their_number() -> None:
    rng = np.random.default_rng(5)
    values, n_rows = rng.exponential(5, 36), 720
    law = Cumulants.of_rows(values[None])[0].law_among(n_rows)
    plain = np.array(
        [
            rng.choice(values, max(1, int((rng.integers(0, n_rows, n_rows) < 36).sum()))).mean()
            for _ in range(20_000)
        ]
    )
    assert law.deviation == pytest.approx(plain.std(), rel=0.02)
    assert law.kurtosis == pytest.approx(stats.kurtosis(plain), abs=0.15)
    assert stats.ks_2samp(law.draws(20_000, rng), plain).pvalue > 0.001


def test_a_small_sample_of_two_values_is_drawn_value_by_value() -> None:
    two_values = np.repeat([1.0, 2.0], 20)
    assert Sample.of(two_values).law() is None
    means = Sample.of(two_values).resampled_means(300, np.random.default_rng(6))
    # every mean is 1 + k / 40
    assert (means - 1) * 40 == pytest.approx(np.round((means - 1) * 40), abs=1e-9)
    prices = np.random.default_rng(7).lognormal(9, 0.4, 36)
    assert Sample.of(np.round(prices, -2)).law() is not None


def test_rows_have_the_cumulants_of_the_values_that_they_have() -> None:
    rows = np.random.default_rng(8).lognormal(size=(3, 50))
    rows[0, 3:9] = np.nan
    rows[2] = np.nan
    first, second, empty = Cumulants.of_rows(rows)
    values = np.delete(rows[0], range(3, 9))
    assert (first.n, second.n, empty.n) == (44, 50, 0)
    assert first.mean == pytest.approx(values.mean())
    assert first.deviation == pytest.approx(values.std())
    assert first.skewness == pytest.approx(stats.skew(values))
    assert first.kurtosis == pytest.approx(stats.kurtosis(values))
    assert not empty.expands
    assert np.isnan(empty.mean)


def test_the_law_of_a_mean_of_means_is_that_of_plain_resamples() -> None:
    rng = np.random.default_rng(9)
    samples = [rng.exponential(5, 150), rng.gamma(2, 2, 120), rng.exponential(9, 200)]
    laws = [Cumulants.of_rows(values[None])[0].law() for values in samples]
    plain = np.mean([plain_means(values, 4000, rng) for values in samples], axis=0)
    ours = combined(laws, [1 / 3] * 3)
    assert stats.ks_2samp(ours.draws(4000, rng), plain).pvalue > 0.001
    assert ours.deviation == pytest.approx(plain.std(), rel=0.04)
