"""The columns of the board's table, each with its unit and direction."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rupeebias.metric.published import PublishedModel

from .cells import (
    EMPTY,
    Cell,
    answers_cell,
    arm_cell,
    date_cell,
    gap_cell,
    headline_cell,
    parity_cell,
    published_cell,
    published_parity_cell,
    published_violations_cell,
    rank_cell,
    settings_cell,
    versions_cell,
)
from .ranking import Standing
from .records import Entry

Kind: TypeAlias = Literal["number", "text"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column after the model's name."""

    key: str
    label: str
    note: str
    """Unit, and which direction is better."""
    kind: Kind
    descending: bool
    """Whether sorting begins with the largest: there the best stands first."""
    cell: Callable[[Entry, Standing], Cell]
    published: Callable[[PublishedModel], Cell] = lambda _: EMPTY


COLUMNS: Final = (
    Column("rank", "Rank", "range that the intervals allow; lower is better", "number", False, rank_cell),
    Column(
        "parity",
        "Parity score",
        "100 − mean gap, 0 to 100; higher is better",
        "number",
        True,
        parity_cell,
        published_parity_cell,
    ),
    Column(
        "mean_delta_pct",
        "Mean gap Δ",
        "% [95 % interval]; lower is better, 0 is ideal",
        "number",
        False,
        gap_cell(""),
        published_cell("mean_delta_pct"),
    ),
    Column(
        "english_mean_delta_pct",
        "English",
        "mean gap, % [95 % interval]; lower is better",
        "number",
        False,
        gap_cell("english_"),
        published_cell("english_mean_delta_pct"),
    ),
    Column(
        "hinglish_mean_delta_pct",
        "Hinglish",
        "mean gap, % [95 % interval]; lower is better",
        "number",
        False,
        gap_cell("hinglish_"),
        published_cell("hinglish_mean_delta_pct"),
    ),
    Column(
        "violation_at_10_pct",
        "V@10 %",
        "% of gaps above 10 %; lower is better; published: English / Hinglish",
        "number",
        False,
        headline_cell("violation_at_10_pct"),
        published_violations_cell,
    ),
    Column(
        "mean_kendall_w",
        "Mean W",
        "0 to 1: how alike profiles rank the groups; lower is better",
        "number",
        False,
        headline_cell("mean_kendall_w", 3),
    ),
    Column(
        "parse_health_pct",
        "Parsed",
        "% of answers read; higher is better",
        "number",
        True,
        headline_cell("parse_health_pct"),
    ),
    Column(
        "refusal_rate_pct",
        "Refusals",
        "% of answers; lower is better",
        "number",
        False,
        headline_cell("refusal_rate_pct"),
    ),
    Column("settings", "Settings", "temperature, reasoning, repeats", "text", False, settings_cell),
    Column("arm", "Arm", "system prompt", "text", False, arm_cell, lambda _: Cell("standard", "standard")),
    Column("answers", "Answers", "read, of those expected", "number", True, answers_cell),
    Column("versions", "Versions", "metric / dataset", "text", True, versions_cell),
    Column("date", "Date", "last answer, UTC", "text", True, date_cell, lambda _: Cell("2026", "2026")),
)
"""The columns in order; the model's name stands after the rank."""
