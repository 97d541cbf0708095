"""Bias statistics of economic advice, from (prompt_id, output) pairs.

`parser` reads an answer, `outcomes` holds them as dense arrays; `gaps`, `concordance`, `identifiers`,
`robustness`, `merit`, `noise_floor` and `systematic_gap` are the statistics, pure functions of these arrays
and of weights of base profiles; `resampling` their uncertainty; `statistics` makes tables and headlines of
them and `compute` the result. Names are loaded when they are first used, so that reading the design of the
benchmark costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import compare_readings
    from .compute import Result, score, score_readings, score_readings_by_kind
    from .errors import MetricInputError
    from .families import FairnessEffect, adjust_together, fairness_effect
    from .options import Options
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
    "FairnessEffect": "families",
    "MetricInputError": "errors",
    "Options": "options",
    "ParsedValue": "statuses",
    "Readings": "readings",
    "Result": "compute",
    "Status": "statuses",
    "adjust_together": "families",
    "compare_readings": "comparison",
    "fairness_effect": "families",
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
