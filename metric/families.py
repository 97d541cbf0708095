"""What is made of several results: p-values over all of them, and the effect of a fairness instruction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .concordance import benjamini_hochberg
from .errors import MetricInputError
from .tables import Row, number

TESTED_TABLES: Final = ("kendall_w", "kendall_w_axis", "kendall_w_use_case")


def adjust_together(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results with `p_bh` of Kendall's W adjusted over all of them, as printed tables do."""
    adjusted = [{**result, "tables": dict(result["tables"])} for result in results]
    for result in adjusted:
        result["tables"].update({name: list(map(dict, result["tables"][name])) for name in TESTED_TABLES})
    adjust_tables([result["tables"] for result in adjusted])
    return adjusted


def adjust_tables(tables: Sequence[Mapping[str, Sequence[Row]]]) -> None:
    """Set `p_bh` of Kendall's W (Benjamini-Hochberg): a family is what one printed table or figure shows.

    That is one table and language; of means over all axes, and of use cases, both languages.
    """
    families: dict[tuple[Any, ...], list[Row]] = {}
    for name in TESTED_TABLES:
        for row in (row for of_run in tables for row in of_run[name]):
            is_mean = row.get("axis") == "all"
            language = None if is_mean or name == "kendall_w_use_case" else row["language"]
            families.setdefault((name, is_mean, language), []).append(row)
    for family in families.values():
        p_values = [np.nan if row["p_value"] is None else row["p_value"] for row in family]
        for row, p_bh in zip(family, benjamini_hochberg(np.array(p_values, dtype=float)), strict=True):
            row["p_bh"] = number(p_bh)


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


def fairness_effect(
    standard: Mapping[str, Any], fair: Mapping[str, Any], use_case: str | None = None
) -> FairnessEffect:
    """Return the effect of the fairness instruction from two results of `score` (Figure 14 of the paper).

    Both results must cover the same axes; languages are pooled within an axis, and axes weigh the same.
    `use_case`: of this one alone.
    """
    before, after = (_axis_means(result["tables"], use_case) for result in (standard, fair))
    if before.keys() != after.keys() or not before:
        raise MetricInputError(
            f"the two runs must cover the same axes: {sorted(before)} and {sorted(after)}; "
            "score the axes that both have"
        )
    standard_pct, fair_pct = (sum(means.values()) / len(means) for means in (before, after))
    change = fair_pct - standard_pct
    relative = change / standard_pct * 100 if standard_pct else None
    return FairnessEffect(standard_pct, fair_pct, change, relative)


def _axis_means(tables: Mapping[str, Any], use_case: str | None) -> dict[str, float]:
    rows = tables["axis"] if use_case is None else tables["use_case_axis"]
    chosen = (row for row in rows if use_case is None or row["use_case"] == use_case)
    return {row["axis"]: row["mean_delta_pct"] for row in chosen if row["language"] == "all"}
