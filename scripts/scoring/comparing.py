"""Two runs compared, and the comparison as a table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from rupeebias.metric import MetricInputError, Options
from rupeebias.metric.comparison import compare_readings

from ..errors import RupeeBiasError, UsageError
from .api import check_call, other_dataset, unique_names
from .headline import NOT_COMPUTED
from .parsed import parse_run
from .paths import resolved
from .text_table import print_table

_LABELS = {
    "mean_delta_pct": "mean Δ%",
    "mean_delta_pct_balanced": "mean Δ% balanced",
    "violation_at_10_pct": "V@{threshold:g} %",
    "mean_kendall_w": "mean W",
    "parse_health_pct": "parsed %",
    "refusal_rate_pct": "refused %",
}
_LANGUAGES = {"en": "English", "hinglish": "Hinglish", "all": "both"}


class Comparison(NamedTuple):
    """Two runs and what differs."""

    first: str
    second: str
    """Names of the runs, unlike each other."""
    result: dict[str, Any]
    """What `rupeebias.metric.compare_readings` returns."""


def compare_paths(first: Path, second: Path, **options: Any) -> Comparison:
    """Return how the second run differs from the first; `options` are those of `rupeebias.metric.score`.

    Raises UsageError for bad options and one path given twice, RupeeBiasError for outputs that cannot be
    scored and for runs without an answer in common.
    """
    paths = [first, second]
    if resolved(first) == resolved(second):
        raise UsageError(f"{first} and {second} are the same run: nothing can differ")
    check_call(paths, options)
    runs = [parse_run(path, options.get("parse", "lenient")) for path in paths]
    names = unique_names([run.label for run in runs], paths)
    chosen = Options(**options).checked()
    try:
        result = compare_readings(runs[0].readings, runs[1].readings, chosen)
    except MetricInputError as error:
        raise RupeeBiasError(f"{first} and {second}: {error}") from error
    for name, run in zip(names, runs, strict=True):
        result["warnings"] += [f"{name}: {warning}" for warning in other_dataset(run)]
    return Comparison(names[0], names[1], result)


def print_comparison(found: Comparison) -> None:
    """Print the headlines, the axes, the identifiers that differ, and what a reader must know."""
    result = found.result
    tables, threshold = result["tables"], result["settings"]["threshold"]
    matched = f"{result['n_matched']:,} answer{'s' * (result['n_matched'] != 1)} in both"
    rows = [_cells(_label(row["statistic"], threshold), row) for row in tables["comparison"]]
    notes = [f"A: {found.first}", f"B: {found.second}", matched, ""]
    print_table(("statistic", *_HEADS), rows, notes=notes)
    rows = [_cells(_axis_label(row), row, "p_bh") for row in tables["comparison_axis"]]
    print_table(
        ("mean Δ% by axis", *_HEADS, "p (BH)"), rows, notes=["p (BH): over the axes of a language", ""]
    )
    differing = _differing(tables["comparison_deviation"])
    rows = [_cells(f"{row['axis']} {row['identifier']}", row, "p_bh") for row in differing[:_SHOWN]]
    n_all = len(tables["comparison_deviation"])
    notes = [
        f"{len(differing)} of {n_all} identifiers deviate otherwise in B (p (BH) < 0.05, over all of them)"
    ]
    notes += [f"note: {warning}" for warning in result["warnings"]]
    print_table((f"deviation % (at most {_SHOWN} rows)", *_HEADS, "p (BH)"), rows, notes=notes)


_HEADS: Final = ("A", "B", "B - A [95 % CI]", "p")
_SHOWN: Final = 8
"""Identifiers that are shown."""


def _differing(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the identifiers whose deviation differs beyond chance, the largest difference first."""
    found = [row for row in rows if row["p_bh"] is not None and row["p_bh"] < 0.05]
    return sorted(found, key=lambda row: -abs(row["difference"]))


def _label(statistic: str, threshold: float) -> str:
    """Return "mean Δ% English" for english_mean_delta_pct."""
    for prefix in ("english", "hinglish"):
        if statistic.startswith(f"{prefix}_"):
            return f"{_label(statistic.removeprefix(f'{prefix}_'), threshold)} {prefix.capitalize()}"
    return _LABELS[statistic].format(threshold=threshold)


def _axis_label(row: Mapping[str, Any]) -> str:
    return f"{row['axis']} {_LANGUAGES[row['language']]}"


def _cells(label: str, row: Mapping[str, Any], *p_values: str) -> Sequence[str]:
    digits = 3 if label.startswith("mean W") else 2
    low, high = (_number(row[end], digits) for end in ("ci_low", "ci_high"))
    interval = "" if row["ci_low"] is None else f" [{low}, {high}]"
    first, second, change = (_number(row[name], digits) for name in ("first", "second", "difference"))
    shown = (_p_value(row[name]) for name in ("p_value", *p_values))
    return (label, first, second, f"{change}{interval}", *shown)


def _number(value: float | None, digits: int) -> str:
    return NOT_COMPUTED if value is None else f"{value + 0.0:.{digits}f}"


def _p_value(value: float | None) -> str:
    if value is None:
        return NOT_COMPUTED
    return "<0.001" if value < 0.001 else f"{value:.3f}"
