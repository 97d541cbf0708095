"""Special functions: scipy's values, whether its compiled part was loaded alone or all of it."""

import subprocess
import sys

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


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_compiled_functions_load_alone_and_scipy_takes_them_over() -> None:
    script = (
        "import sys\n"
        "from rupeebias.scoring.quick_scipy import load_special_functions\n"
        "from rupeebias.metric.special import chi_square_tail\n"
        "loaded = load_special_functions()\n"
        "quick = chi_square_tail(3, 2.0)\n"
        "alone = 'scipy.special' not in sys.modules\n"
        "import scipy.special, scipy.stats\n"
        "print(loaded, alone, quick == scipy.special.chdtrc(3, 2.0), load_special_functions())\n"
    )
    assert run(script) == "True True True True"


def test_after_scipy_itself_nothing_is_loaded_anew() -> None:
    script = (
        "import scipy.special, sys\n"
        "there = sys.modules['scipy.special._ufuncs']\n"
        "from rupeebias.scoring.quick_scipy import load_special_functions\n"
        "print(load_special_functions(), sys.modules['scipy.special._ufuncs'] is there)\n"
    )
    assert run(script) == "True True"


def test_where_scipy_is_built_otherwise_the_metric_imports_it_whole() -> None:
    script = (
        "import sys\n"
        "from rupeebias.scoring import quick_scipy\n"
        "quick_scipy._MODULES = ('_ufuncs_cxx', '_renamed')\n"
        "loaded = quick_scipy.load_special_functions()\n"
        "left = [name for name in sys.modules if name.startswith('scipy.special')]\n"
        "from rupeebias.metric.special import chi_square_tail\n"
        "print(loaded, left, chi_square_tail(2, 0.0), 'scipy.special' in sys.modules)\n"
    )
    assert run(script) == "False [] 1.0 True"
