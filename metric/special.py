"""Special functions, all scipy's; scipy is imported when the first is called.

Importing scipy.special takes longer than all statistics of a run, and nearly all of it goes into parts that
no statistic needs. Where its compiled functions are loaded already they are used as they are.
"""

import sys
from functools import cache
from typing import Any

import numpy as np

from .layout import Floats


@cache
def _scipy() -> Any:
    compiled = sys.modules.get("scipy.special._ufuncs")
    if compiled is not None:
        return compiled
    import scipy.special

    return scipy.special


def chi_square_tail(freedom: int, chi2: float) -> float:
    """Return the upper tail of chi-square beyond `chi2`; NaN for NaN."""
    return float(_scipy().chdtrc(freedom, chi2))


def student_t(freedom: float, t: float) -> float:
    """Return the probability that Student's t is at most `t`; NaN for NaN."""
    return float(_scipy().stdtr(freedom, t))


def student_t_quantile(freedom: Floats, share: float) -> Floats:
    """Return the values below which Student's t lies with probability `share`; NaN for NaN."""
    return np.asarray(_scipy().stdtrit(freedom, share), dtype=float)


def normal_quantile(share: float) -> float:
    """Return the value below which a standard normal variable lies with probability `share`."""
    return float(_scipy().ndtri(share))


def normal_quantiles(shares: Floats) -> Floats:
    """Return `normal_quantile` of each share."""
    return np.asarray(_scipy().ndtri(shares), dtype=float)
