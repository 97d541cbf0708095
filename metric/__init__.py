"""Bias statistics of economic advice, from (prompt_id, output) pairs.

Each module holds one concern: `parser` reads an answer; `gaps`, `concordance`, `identifiers`, `language`,
`robustness` and `merit` are the statistics, which `points` gathers, `resampling` and `intervals` their
uncertainty; `compute` puts them together. All statistics are pure functions of the dense arrays of
`outcomes`. Names are loaded when they are first used, so that reading the design of the benchmark costs
nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import compare_readings
    from .compute import Options, Result, score, score_readings, score_readings_by_kind
    from .errors import MetricInputError
    from .fairness import FairnessEffect, fairness_effect
    from .families import adjust_together
    from .parser import parse_answer
    from .readings import Readings, read_outputs
    from .statuses import ParsedValue, Status
    from .tables import COMPARISON_TABLES, HEADLINES, TABLES

__all__ = [
    "COMPARISON_TABLES",
    "HEADLINES",
    "TABLES",
    "FairnessEffect",
    "MetricInputError",
    "Options",
    "ParsedValue",
    "Readings",
    "Result",
    "Status",
    "adjust_together",
    "compare_readings",
    "fairness_effect",
    "parse_answer",
    "read_outputs",
    "score",
    "score_readings",
    "score_readings_by_kind",
]

_HOMES = {
    "COMPARISON_TABLES": "tables",
    "HEADLINES": "tables",
    "TABLES": "tables",
    "FairnessEffect": "fairness",
    "MetricInputError": "errors",
    "Options": "compute",
    "ParsedValue": "statuses",
    "Readings": "readings",
    "Result": "compute",
    "Status": "statuses",
    "adjust_together": "families",
    "compare_readings": "comparison",
    "fairness_effect": "fairness",
    "parse_answer": "parser",
    "read_outputs": "readings",
    "score": "compute",
    "score_readings": "compute",
    "score_readings_by_kind": "compute",
}
"""The module of each name."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
