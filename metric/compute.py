"""From outputs, or from outcomes, to the result: every statistic, and what was left out and why."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeAlias

import numpy as np

from .benchmark import DESIGN
from .caveats import result_warnings
from .controls import control_groups, control_rows
from .design import Design
from .failures import health_headlines, health_tables
from .options import IntervalKind, Options
from .outcomes import Outcomes, outcomes_from_values
from .readings import Readings, read_outputs
from .sensitivity import robustness_tables
from .statistics import Scored, Statistics, mean_w
from .tables import headline_names, number, prefixes
from .version import METRIC_VERSION

Result: TypeAlias = dict[str, Any]
"""Headline values by name, then `warnings`, `settings` and `tables`; ready for JSON."""


def score(
    prompt_ids: Iterable[str],
    outputs: Iterable[str | None],
    *,
    repeats: Iterable[int] | None = None,
    finish_reasons: Sequence[str | None] | None = None,
    errors: Sequence[bool] | None = None,
    expected: Iterable[str] | None = None,
    n_repeats: int | None = None,
    design: Design = DESIGN,
    **options: Any,
) -> Result:
    """Return every statistic of the benchmark for (prompt_id, output) pairs.

    `repeats` numbers several outputs of one prompt (0, 1, ...); `finish_reasons` and `errors` say which
    outputs were cut off or never came; `expected` names the prompts the run was to answer and `n_repeats` how
    often, so that missing ones are counted. `design` is the benchmark. `options` are the fields of `Options`.

    The result is a flat dict of headline values (HEADLINES; None where nothing can be computed), then
    `warnings`, `settings` and `tables` (TABLES). Raises MetricInputError (a ValueError) for an unknown
    prompt_id, a prompt_id with two different outputs, outputs that are not text, or nothing at all.
    """
    chosen = Options.of(options)
    readings = read_outputs(
        prompt_ids,
        outputs,
        repeats=repeats,
        finish_reasons=finish_reasons,
        errors=errors,
        expected=expected,
        n_repeats=n_repeats,
        mode=chosen.parse,
        design=design,
    )
    return score_readings(readings, chosen)


def score_readings(readings: Readings, options: Options) -> Result:
    """Return the result of answers that have been read."""
    return score_readings_by_kind(readings, options, [options.ci])[options.ci]


def score_readings_by_kind(
    readings: Readings, options: Options, kinds: Iterable[IntervalKind | None]
) -> dict[IntervalKind | None, Result]:
    """Return a result for each kind of interval; everything but the intervals is computed once."""
    statistics = statistics_of(readings, options)
    paper = _paper_headlines(readings, statistics)
    return {kind: _result(readings, statistics, paper, replace(options, ci=kind)) for kind in kinds}


def statistics_of(readings: Readings, options: Options) -> Statistics:
    """Return the statistics of answers, read as the definitions have it."""
    values = readings.paper_values if options.definitions == "paper" else readings.values
    return Statistics(outcomes_from_values(values, options.outcome, readings.design), options)


def _result(
    readings: Readings, statistics: Statistics, paper: dict[str, float | None], options: Options
) -> Result:
    scored, design = statistics.with_intervals(options.ci), statistics.design
    found = {**scored.headlines, **paper, **health_headlines(readings)}
    headlines = {name: found[name] for name in headline_names(design)}
    health = health_tables(readings)
    bias = control_rows(control_groups(readings, options))
    tables = scored.tables | bias | robustness_tables(readings, statistics, health) | health
    return {
        **headlines,
        "warnings": result_warnings(headlines, readings, statistics, tables, options),
        "settings": {
            **asdict(options),
            "parse": readings.mode,
            "metric_version": METRIC_VERSION,
            "benchmark_version": design.version,
            "dataset_fingerprint": design.fingerprint,
        },
        "tables": tables,
    }


def _paper_headlines(readings: Readings, own: Statistics) -> dict[str, float | None]:
    """Return mean gap, violations and mean W by the paper's definitions, of the first repeat.

    A statistic that is the same by both definitions is not made twice.
    """
    options = replace(own.options, definitions="paper", outcome="markup")
    outcomes = outcomes_from_values(readings.paper_values[:, :1], options.outcome, own.design)
    same = np.array_equal(outcomes.values, own.outcomes.values, equal_nan=True)
    paper = own if same and own.options == options else Statistics(outcomes, options)
    is_amount_above_0 = same and not (outcomes.values <= 0).any()
    gaps = own.gaps if is_amount_above_0 else paper.gaps
    found: dict[str, float | None] = {}
    means_of_w: list[float] = []
    for prefix, language in prefixes(own.design).items():
        place, name = gaps.place(language), f"{prefix}paper_"
        count, _, violations = gaps.cells[:, *place].tolist()
        found[f"{name}mean_delta_pct"] = number(float(gaps.means[place]))
        found[f"{name}violation_at_10_pct"] = violations / count * 100 if count else None
        if language:
            w = mean_w(paper.concordances, language)
            found[f"{name}mean_kendall_w"] = number(w)
            means_of_w += [] if np.isnan(w) else [w]
    found["paper_mean_kendall_w"] = float(np.mean(means_of_w)) if means_of_w else None
    return found


def score_outcomes(outcomes: Outcomes, options: Options) -> Scored:
    """Return every statistic of an array of outcomes; a pure function of it and the options."""
    return Statistics(outcomes, options).with_intervals(options.ci)
