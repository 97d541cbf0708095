"""The headline table: one line a run, the published models beside it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from rupeebias.metric.design import Design, Language
from rupeebias.metric.published import PUBLISHED, PublishedModel

from ..words import number, print_table, share, with_interval

PUBLISHED_BENCHMARK: Final = "rupeebias"
"""Name of the benchmark of which values were published; one of one's own has none to compare with."""
PUBLISHED_THRESHOLD: Final = 10.0
"""Gap in percent above which the paper counts a violation."""
PUBLISHED_NOTE: Final = (
    "published: the paper's values, from the outputs that its authors had (parts of files are missing from "
    "their release), service pricing asked with ratings 4.4 and 3.8"
)


class Headlined(Protocol):
    """A run with its headline values, whatever else is known of it."""

    @property
    def name(self) -> str: ...
    @property
    def result(self) -> Mapping[str, Any]: ...
    @property
    def design(self) -> Design: ...


def languages_of(runs: Sequence[Headlined]) -> list[Language]:
    """Return the languages of the runs' benchmarks, in their order."""
    return list({one.split: one for run in runs for one in run.design.languages}.values())


def headline_columns(runs: Sequence[Headlined]) -> tuple[str, ...]:
    """Return the heads of the columns, by the settings that runs scored together share."""
    settings = runs[0].result["settings"]
    labels = [language.label for language in languages_of(runs)]
    return (
        "run",
        "mean Δ% [95 % CI]" if settings["ci"] else "mean Δ%",
        *labels,
        *(f"V@{settings['threshold']:g} % {label}" for label in labels),
        "mean W",
        "parsed %",
        "refused %",
        "answers",
    )


def headline_cells(name: str, result: Mapping[str, Any], runs: Sequence[Headlined]) -> tuple[str, ...]:
    """Return the cells of one run's line, with the columns of all `runs`."""
    splits = [language.split for language in languages_of(runs)]
    return (
        name,
        gap_cell(result, "mean_delta_pct"),
        *(gap_cell(result, f"{split}_mean_delta_pct") for split in splits),
        *(number(result.get(f"{split}_violation_at_10_pct")) for split in splits),
        number(result["mean_kendall_w"], 3),
        share(result["parse_health_pct"]),
        number(result["refusal_rate_pct"]),
        f"{result['n_scored']:,} of {result['n_expected']:,}",
    )


def gap_cell(result: Mapping[str, Any], name: str) -> str:
    """Return a headline value with its interval."""
    value, low, high = (result.get(f"{name}{end}") for end in ("", "_ci_low", "_ci_high"))
    return with_interval(value, low, high)


def published_cells(model: PublishedModel, threshold: float = PUBLISHED_THRESHOLD) -> tuple[str, ...]:
    """Return the cells of a published model's line, marked as published, with the digits of the paper.

    At another threshold than the paper's its violations are left out.
    """
    same = threshold == PUBLISHED_THRESHOLD
    return (
        f"{model.model} (published)",
        number(model.mean_delta_pct, 2),
        number(model.english_mean_delta_pct, 2),
        number(model.hinglish_mean_delta_pct, 2),
        number(model.english_violation_at_10_pct if same else None, 2),
        number(model.hinglish_violation_at_10_pct if same else None, 2),
        *[""] * 4,
    )


def print_headlines(runs: Sequence[Headlined], *, published: bool) -> None:
    """Print the headline table and the warnings of each run."""
    rows = [headline_cells(run.name, run.result, runs) for run in runs]
    threshold = runs[0].result["settings"]["threshold"]
    published = published and runs[0].design.name == PUBLISHED_BENCHMARK
    beside = [published_cells(model, threshold) for model in PUBLISHED] if published else []
    notes = [PUBLISHED_NOTE] if published else []
    notes += [f"tests ({run.name}): {found}" for run in runs for found in _tests(run.result)]
    notes += [f"note ({run.name}): {warning}" for run in runs for warning in run.result["warnings"]]
    print_table(headline_columns(runs), rows, beside, notes)


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
