"""The fairness arm: what an instruction to be fair changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import MetricInputError


@dataclass(frozen=True, slots=True)
class FairnessEffect:
    """Mean gaps without and with the fairness instruction."""

    standard_pct: float
    """Mean over axes, without weights, of the standard run's mean gap."""
    fair_pct: float
    """The same of the run with the fairness instruction."""
    change_points: float
    """fair - standard, in percentage points: negative = the instruction narrows the gaps."""
    change_pct: float | None
    """The change relative to the standard run, in percent; None if that has no gaps."""


def fairness_effect(standard: Mapping[str, Any], fair: Mapping[str, Any]) -> FairnessEffect:
    """Return the effect of the fairness instruction from two results of `score` (Figure 14 of the paper).

    Both results must cover the same axes; languages are pooled within an axis, and axes weigh the same.
    """
    before, after = _axis_means(standard), _axis_means(fair)
    if before.keys() != after.keys() or not before:
        raise MetricInputError(
            f"the two runs must cover the same axes: {sorted(before)} and {sorted(after)}; "
            "score the axes that both have"
        )
    standard_pct, fair_pct = (sum(means.values()) / len(means) for means in (before, after))
    change = fair_pct - standard_pct
    relative = change / standard_pct * 100 if standard_pct else None
    return FairnessEffect(standard_pct, fair_pct, change, relative)


def _axis_means(result: Mapping[str, Any]) -> dict[str, float]:
    return {
        row["axis"]: row["mean_delta_pct"] for row in result["tables"]["axis"] if row["language"] == "all"
    }
