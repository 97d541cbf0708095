"""The headline table: one line a run, the published models beside it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rupeebias.metric.published import PUBLISHED, PublishedModel

from .text_table import print_table

NOT_COMPUTED: Final = "–"
PUBLISHED_THRESHOLD: Final = 10.0
"""Gap in percent above which the paper counts a violation."""
PUBLISHED_NOTE: Final = (
    "published: the paper's values, all 39,150 prompts, service pricing asked with ratings 4.4 and 3.8"
)


def headline_columns(result: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the heads of the columns, by the settings that runs scored together share."""
    settings = result["settings"]
    violations = f"V@{settings['threshold']:g} %"
    return (
        "run",
        "mean Δ% [95 % CI]" if settings["ci"] else "mean Δ%",
        "English",
        "Hinglish",
        f"{violations} English",
        f"{violations} Hinglish",
        "mean W",
        "parsed %",
        "refused %",
        "answers",
    )


def headline_cells(name: str, result: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cells of one run's line."""
    return (
        name,
        _with_interval(result, "mean_delta_pct"),
        _with_interval(result, "english_mean_delta_pct"),
        _with_interval(result, "hinglish_mean_delta_pct"),
        _number(result["english_violation_at_10_pct"], 1),
        _number(result["hinglish_violation_at_10_pct"], 1),
        _number(result["mean_kendall_w"], 3),
        _number(result["parse_health_pct"], 1),
        _number(result["refusal_rate_pct"], 1),
        f"{result['n_scored']:,} of {result['n_expected']:,}",
    )


def published_cells(model: PublishedModel, threshold: float = PUBLISHED_THRESHOLD) -> tuple[str, ...]:
    """Return the cells of a published model's line, marked as published.

    At another threshold than the paper's its violations are left out.
    """
    same = threshold == PUBLISHED_THRESHOLD
    return (
        f"{model.model} (published)",
        _number(model.mean_delta_pct, 1),
        _number(model.english_mean_delta_pct, 1),
        _number(model.hinglish_mean_delta_pct, 1),
        _number(model.english_violation_at_10_pct if same else None, 1),
        _number(model.hinglish_violation_at_10_pct if same else None, 1),
        *[""] * 4,
    )


def print_headlines(runs: Sequence[tuple[str, Mapping[str, Any]]], *, published: bool) -> None:
    """Print the headline table and the warnings of each run."""
    first = runs[0][1]
    rows = [headline_cells(name, result) for name, result in runs]
    threshold = first["settings"]["threshold"]
    beside = [published_cells(model, threshold) for model in PUBLISHED] if published else []
    notes = [PUBLISHED_NOTE] if published else []
    notes += [f"tests ({name}): {found}" for name, result in runs for found in _tests(result)]
    notes += [f"note ({name}): {warning}" for name, result in runs for warning in result["warnings"]]
    print_table(headline_columns(first), rows, beside, notes)


def _tests(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the permutation tests found, where they were asked for."""
    tables = result["tables"]
    gaps, deviations = (tables[f"{name}_test"] for name in ("maximum_observed_gap", "identifier_deviation"))
    if result["settings"]["n_permutations"]:
        beyond = [sum(row["p_bh"] < 0.05 for row in table) for table in (gaps, deviations)]
        yield (
            f"{beyond[0]} of {len(gaps)} widest gaps and {beyond[1]} of {len(deviations)} deviations are "
            "beyond chance (p_bh < 0.05): the tables *_test of --json and --csv have them"
        )


def _with_interval(result: Mapping[str, Any], name: str) -> str:
    low, high = result[f"{name}_ci_low"], result[f"{name}_ci_high"]
    interval = "" if low is None else f" [{_number(low, 1)}, {_number(high, 1)}]"
    return _number(result[name], 1) + interval


def _number(value: float | None, digits: int) -> str:
    return NOT_COMPUTED if value is None else f"{value:.{digits}f}"
