"""The symbols of the tables."""

from typing import Final

from rupeebias.metric.robustness import ROBUST_RHO
from rupeebias.metric.tables import Row

from .records import Mark


def _below(column: str, level: float) -> Mark:
    symbol = {0.05: "†", 0.01: "‡"}[level]
    name = {"p_bh": "p (Benjamini-Hochberg)", "p_value": "p"}[column]

    def applies(row: Row) -> bool:
        p = row[column]
        return p is not None and float(p) < level

    return Mark(symbol, f"{name} < {level}", applies)


def _excludes_zero(row: Row) -> bool:
    low, high = row["ci_low"], row["ci_high"]
    return low is not None and high is not None and not float(low) <= 0 <= float(high)


def _robust(row: Row) -> bool:
    rho = row["mean_min_rho"]
    return rho is not None and float(rho) >= ROBUST_RHO


SIGNIFICANT: Final = (_below("p_bh", 0.05),)
CORRELATED: Final = (_below("p_value", 0.01), _below("p_value", 0.05))
STARRED: Final = (Mark("*", "the 95 % interval excludes 0", _excludes_zero),)
CHECKED: Final = (Mark("✓", f"mean minimum ρ at or above {ROBUST_RHO}", _robust),)
