"""Several results together: p-values adjusted over every test that one table reports."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .concordance import benjamini_hochberg
from .constants import LANGUAGES
from .tables import Row

TESTED_TABLES: Final = ("kendall_w", "kendall_w_axis")


def adjust_together(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results with `p_bh` adjusted over all of them: a family is one table and language.

    The paper adjusts over all models and axes of a printed table, and prints a table a language.
    """
    adjusted = [{**result, "tables": dict(result["tables"])} for result in results]
    for name in TESTED_TABLES:
        tables = [[dict(row) for row in result["tables"][name]] for result in results]
        for language in LANGUAGES:
            _adjust([row for table in tables for row in table if row["language"] == language])
        for result, table in zip(adjusted, tables, strict=True):
            result["tables"][name] = table
    return adjusted


def _adjust(family: list[Row]) -> None:
    p_values = np.array([np.nan if row["p_value"] is None else row["p_value"] for row in family], dtype=float)
    for row, p_bh in zip(family, benjamini_hochberg(p_values), strict=True):
        row["p_bh"] = None if np.isnan(p_bh) else float(p_bh)
