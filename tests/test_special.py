"""Special functions: scipy's values."""

import numpy as np
import pytest
from scipy import stats

from rupeebias.metric.special import (
    chi_square_tail,
    normal_quantile,
    normal_quantiles,
    student_t,
    student_t_quantile,
)


@pytest.mark.parametrize("freedom", [1, 2, 8, 29])
def test_values_are_those_of_the_distributions(freedom: int) -> None:
    assert chi_square_tail(freedom, 3.7) == pytest.approx(stats.chi2.sf(3.7, freedom), rel=1e-12)
    assert student_t(freedom, -1.3) == pytest.approx(stats.t.cdf(-1.3, freedom), rel=1e-12)
    several = np.array([freedom + 0.5, 100.0])
    assert student_t_quantile(several, 0.975) == pytest.approx(stats.t.ppf(0.975, several), rel=1e-9)
    assert normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975), rel=1e-12)
    assert normal_quantiles(np.array([0.1, 0.9])) == pytest.approx(stats.norm.ppf([0.1, 0.9]), rel=1e-12)
    assert np.isnan(chi_square_tail(freedom, np.nan))
