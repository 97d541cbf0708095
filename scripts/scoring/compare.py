"""Two runs compared: one sentence that says what differs, and the tables behind it."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from rupeebias.metric import MetricInputError, Options
from rupeebias.metric.comparison import compare_readings
from rupeebias.metric.design import Design

from ..errors import RupeeBiasError, UsageError
from ..words import counted, joined, listed, number, p_value, print_table, with_interval
from .findings import ALL, ALPHA
from .headline import about
from .read import RunFacts, parse_run, resolved
from .score import check_call, other_dataset, unique_names

_LABELS: Final = {
    "systematic_gap_pct": "systematic gap %",
    "mean_delta_pct": "mean Δ%",
    "mean_delta_pct_balanced": "mean Δ% balanced",
    "violation_at_10_pct": "V@{threshold:g} %",
    "mean_kendall_w": "mean W",
    "parse_health_pct": "parsed %",
    "refusal_rate_pct": "refused %",
}
_HEADS: Final = ("A", "B", "B - A [95 % CI]", "p")
_SHOWN: Final = 8
"""Identifiers that are shown."""


class Comparison(NamedTuple):
    """Two runs and what differs."""

    first: str
    second: str
    """Names of the runs, unlike each other."""
    result: dict[str, Any]
    """What `rupeebias.metric.compare_readings` returns."""
    design: Design
    """The benchmark that both were asked."""
    facts: tuple[RunFacts, RunFacts]
    """Of both runs."""


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
    designs = [run.outputs.design for run in runs]
    if designs[0] != designs[1]:
        names = joined(f"{design.label} {design.version}" for design in designs)
        raise RupeeBiasError(f"{first} and {second} answer two benchmarks, {names}: nothing to compare")
    labels = unique_names([run.label for run in runs], paths)
    try:
        result = compare_readings(runs[0].readings, runs[1].readings, Options(**options).checked())
    except MetricInputError as error:
        raise RupeeBiasError(f"{first} and {second}: {error}") from error
    for name, run in zip(labels, runs, strict=True):
        result["warnings"] += [f"{name}: {warning}" for warning in other_dataset(run)]
    facts = (runs[0].outputs.facts, runs[1].outputs.facts)
    return Comparison(labels[0], labels[1], result, designs[0], facts)


def verdict_text(found: Comparison) -> str:
    """Return what the comparison says, in one sentence: whose systematic gap is larger, and by how much."""
    rows = found.result["tables"]["comparison"]
    row = next((row for row in rows if row["statistic"] == "systematic_gap_pct"), None)
    if row is None or row["difference"] is None:
        return "Systematic gaps cannot be compared: too few profiles have answers of both runs."
    points, low, high = row["difference"], row["ci_low"], row["ci_high"]
    gaps = f"{number(row['second'], 2)} % in B, {number(row['first'], 2)} % in A"
    if low is None or high is None:
        return f"Systematic gaps: {gaps}; too few profiles to tell whether they differ."
    ends = f"{number(low, 2, signed=True)} to {number(high, 2, signed=True)} points"
    if low <= 0 <= high:
        return (
            f"No difference of the systematic gaps was found ({gaps}); one of {ends} is not ruled out (95 %)."
        )
    which = "larger" if points > 0 else "smaller"
    axes = listed(_differing_axes(found), 4, between=", ")
    where = f" By axis: {axes}." if axes else ""
    size = f"{number(abs(points), 2)} points {which}"
    return f"B's systematic gap is {size} ({gaps}; between {ends}, 95 %).{where}"


def _differing_axes(found: Comparison) -> list[str]:
    """Return the axes whose systematic gaps differ beyond chance in all languages, the widest first."""
    rows = [
        row
        for row in found.result["tables"]["comparison_systematic_gap"]
        if row["language"] == ALL and row["axis"] != ALL and row["p_bh"] is not None and row["p_bh"] < ALPHA
    ]
    rows.sort(key=lambda row: -abs(row["difference"]))
    axis = found.design.axis
    return [f"{axis[row['axis']].label} {number(row['difference'], 2, signed=True)}" for row in rows]


def print_comparison(found: Comparison) -> None:
    """Print the verdict, the headlines, the axes, who differs, and what a reader must know."""
    tables, design = found.result["tables"], found.design
    threshold = found.result["settings"]["threshold"]
    head = [f"A: {found.first}: {about(found.facts[0])}", f"B: {found.second}: {about(found.facts[1])}"]
    matched = f"{counted(found.result['n_matched'], 'answer')} in both"
    print("\n".join([*head, matched, "", *textwrap.wrap(verdict_text(found), 80), ""]))  # noqa: T201 - its task
    rows = [_cells(_label(row["statistic"], threshold, design), row) for row in tables["comparison"]]
    print_table(("statistic", *_HEADS), rows, notes=[""])
    languages = {**{name: one.label for name, one in design.language.items()}, ALL: "both"}
    for name, title in (("comparison_systematic_gap", "systematic gap %"), ("comparison_axis", "mean Δ%")):
        rows = [
            _cells(f"{design.axis[row['axis']].label} {languages[row['language']]}", row, "p_bh")
            for row in tables[name]
            if row["axis"] != ALL and (name == "comparison_axis" or row["language"] == ALL)
        ]
        if rows:
            notes = ["p (BH): over the axes of a language", ""]
            print_table((f"{title} by axis", *_HEADS, "p (BH)"), rows, notes=notes)
    deviations = tables["comparison_deviation"]
    differing = [row for row in deviations if row["p_bh"] is not None and row["p_bh"] < ALPHA]
    differing.sort(key=lambda row: -abs(row["difference"]))
    rows = [
        _cells(design.identifiers[row["axis"]][row["identifier"]], row, "p_bh") for row in differing[:_SHOWN]
    ]
    notes = [
        f"{len(differing)} of {len(deviations)} identifiers differ in their deviation between A and B "
        "(p (BH) < 0.05, over all of them)",
        *(f"note: {warning}" for warning in found.result["warnings"]),
    ]
    print_table((f"deviation % (at most {_SHOWN})", *_HEADS, "p (BH)"), rows, notes=notes)


def _label(statistic: str, threshold: float, design: Design) -> str:
    """Return "mean Δ% English" for english_mean_delta_pct."""
    for language in design.languages:
        if statistic.startswith(f"{language.split}_"):
            rest = statistic.removeprefix(f"{language.split}_")
            return f"{_label(rest, threshold, design)} {language.label}"
    return _LABELS[statistic].format(threshold=threshold)


def _cells(label: str, row: Mapping[str, Any], *p_values: str) -> Sequence[str]:
    digits = 3 if label.startswith("mean W") else 2
    values = (number(row[name], digits) for name in ("first", "second"))
    change = with_interval(row["difference"], row["ci_low"], row["ci_high"], digits)
    return (label, *values, change, *(p_value(row[name]) for name in ("p_value", *p_values)))
