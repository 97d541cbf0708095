"""Bias statistics of economic advice, from (prompt_id, output) pairs.

Each module holds one concern: `parser` reads an answer, `gaps`, `concordance`, `identifiers`, `language`,
`robustness` and `merit` are the statistics, `resampling` and `intervals` their uncertainty, `score` puts
them together. All statistics are pure functions of the dense arrays of `outcomes`.
"""

from .errors import MetricInputError
from .fairness import FairnessEffect, fairness_effect
from .parser import ParsedValue, Status, parse_answer
from .score import Options, Result, score
from .tables import HEADLINES, TABLES

__all__ = [
    "HEADLINES",
    "TABLES",
    "FairnessEffect",
    "MetricInputError",
    "Options",
    "ParsedValue",
    "Result",
    "Status",
    "fairness_effect",
    "parse_answer",
    "score",
]
