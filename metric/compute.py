"""From outputs, or from outcomes, to the result: every statistic, and what was left out and why."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from .benchmark import DESIGN
from .caveats import result_warnings
from .concordance import BLOCKINGS, Blocking
from .constants import BENCHMARK_VERSION, DATASET_FINGERPRINT
from .errors import MetricInputError
from .failures import failure_rows
from .gap_summaries import GapSummaries
from .gaps import SlotGaps
from .headlines import gap_headlines, kendall_headlines
from .health import Health, health_of
from .intervals import INTERVAL_KINDS, IntervalKind, Intervals
from .outcomes import OUTCOMES, Outcome, Outcomes, outcomes_from_values
from .parser import PARSE_MODES, ParseMode
from .points import Points
from .readings import Readings, read_outputs
from .table_rows import statistic_tables
from .tables import HEADLINES, Row
from .version import METRIC_VERSION

Result: TypeAlias = dict[str, Any]
"""Headline values by name, then `warnings`, `settings` and `tables`; ready for JSON."""

MAX_RESAMPLES: Final = 100_000
MAX_PERMUTATIONS: Final = 20_000
MAX_THRESHOLD: Final = 10**9
MAX_SEED: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen about a result; recorded in it as `settings`."""

    outcome: Outcome = "markup"
    """Counter-offers as percent over the offer ("markup", the paper's) or in rupees ("amount")."""
    threshold: float = 10.0
    """Gap in percent above which a pair counts as a violation."""
    ci: IntervalKind | None = "cluster"
    """Kind of the 95 % intervals; None leaves them out."""
    n_resamples: int = 2000
    """Resamples an interval is made of."""
    seed: int = 0
    """Seed of the resampling."""
    parse: ParseMode = "lenient"
    """"strict" accepts only the exact answer format."""
    w_blocks: Blocking = "profile"
    """Rows of Kendall's W: a profile each (the paper's numbers), or a profile and question (its text)."""
    n_permutations: int = 0
    """Exchanges behind the permutation tests of widest gaps and deviations; 0 leaves the tests out."""

    def checked(self) -> "Options":
        """Return these options as plain Python values; MetricInputError for one that does not exist."""
        _one_of("outcome", self.outcome, OUTCOMES)
        _one_of("ci", self.ci, (*INTERVAL_KINDS, None))
        _one_of("parse", self.parse, PARSE_MODES)
        _one_of("w_blocks", self.w_blocks, BLOCKINGS)
        return replace(
            self,
            threshold=_number("threshold", self.threshold),
            n_resamples=_whole("n_resamples", self.n_resamples, 2, MAX_RESAMPLES),
            seed=_whole("seed", self.seed, 0, MAX_SEED),
            n_permutations=_whole("n_permutations", self.n_permutations, 0, MAX_PERMUTATIONS),
        )


def _number(name: str, value: Any) -> float:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0 <= value < np.inf or value > MAX_THRESHOLD:
        raise MetricInputError(f"{name}={value!r:.40}: must be a percentage, 0 or more")
    return float(value)


def _whole(name: str, value: Any, low: int, high: int) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        raise MetricInputError(f"{name}={value!r:.40}: must be a whole number from {low} to {high:,}")
    return int(value)


def _one_of(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        choices = ", ".join(map(repr, allowed))
        raise MetricInputError(f"{name}={value!r} does not exist: choose from {choices}")


def score(
    prompt_ids: Iterable[str],
    outputs: Iterable[str | None],
    *,
    repeats: Iterable[int] | None = None,
    finish_reasons: Sequence[str | None] | None = None,
    errors: Sequence[bool] | None = None,
    expected: Iterable[str] | None = None,
    n_repeats: int | None = None,
    **options: Any,
) -> Result:
    """Return every statistic of the benchmark for (prompt_id, output) pairs.

    `repeats` numbers several outputs of one prompt (0, 1, ...); `finish_reasons` and `errors` say which
    outputs were cut off or never came; `expected` names the prompts the run was to answer and `n_repeats` how
    often, so that missing ones are counted. `options` are the fields of `Options`.

    The result is a flat dict of headline values (HEADLINES; None where nothing can be computed), then
    `warnings`, `settings` and `tables` (TABLES). Raises MetricInputError (a ValueError) for an unknown
    prompt_id, a prompt_id with two different outputs, outputs that are not text, or nothing at all.
    """
    chosen = _options(options)
    readings = read_outputs(
        prompt_ids,
        outputs,
        repeats=repeats,
        finish_reasons=finish_reasons,
        errors=errors,
        expected=expected,
        n_repeats=n_repeats,
        mode=chosen.parse,
    )
    return score_readings(readings, chosen)


def _options(options: dict[str, Any]) -> Options:
    unknown = sorted(set(options) - set(Options.__dataclass_fields__))
    if unknown:
        known = ", ".join(Options.__dataclass_fields__)
        raise MetricInputError(f"unknown option {unknown[0]!r}: choose from {known}")
    return Options(**options).checked()


def score_readings(readings: Readings, options: Options) -> Result:
    """Return the result of answers that have been read."""
    return score_readings_by_kind(readings, options, [options.ci])[options.ci]


def score_readings_by_kind(
    readings: Readings, options: Options, kinds: Iterable[IntervalKind | None]
) -> dict[IntervalKind | None, Result]:
    """Return a result for each kind of interval; everything but the intervals is computed once."""
    points = points_of(outcomes_from_values(readings.values, options.outcome, DESIGN), options)
    health = health_of(readings)
    health.tables["differential_failure"] = list(failure_rows(readings))
    return {kind: _result(readings, points, health, replace(options, ci=kind)) for kind in kinds}


def _result(readings: Readings, points: Points, health: Health, options: Options) -> Result:
    statistics = score_points(points, options)
    found = {**statistics.headlines, **health.headlines}
    headlines = {name: found[name] for name in HEADLINES}
    tables = statistics.tables | _own(health.tables)
    return {
        **headlines,
        "warnings": result_warnings(headlines, readings, points.outcomes, points.gaps, tables, options),
        "settings": {
            **asdict(options),
            "parse": readings.mode,
            "metric_version": METRIC_VERSION,
            "benchmark_version": BENCHMARK_VERSION,
            "dataset_fingerprint": DATASET_FINGERPRINT,
        },
        "tables": tables,
    }


def _own(tables: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Return tables with rows of their own: who changes a result must not change another one's."""
    return {name: list(map(dict, rows)) for name, rows in tables.items()}


class Statistics(NamedTuple):
    """All statistics of outcomes: what remains when nothing is known of the answers behind them."""

    gaps: SlotGaps
    """The pair gaps that the headlines sum up."""
    headlines: dict[str, float | None]
    """Flat values by name."""
    tables: dict[str, list[dict[str, Any]]]
    """Rows by table name."""


def points_of(outcomes: Outcomes, options: Options) -> Points:
    """Return the statistics without intervals of an array of outcomes."""
    return Points(
        outcomes, options.outcome, options.threshold, options.w_blocks, options.n_permutations, options.seed
    )


def score_outcomes(outcomes: Outcomes, options: Options) -> Statistics:
    """Return every statistic of an array of outcomes; a pure function of it and the options."""
    return score_points(points_of(outcomes, options), options)


def score_points(points: Points, options: Options) -> Statistics:
    """Return every statistic, with intervals around them."""
    intervals = Intervals(points.outcomes, options.ci, options.n_resamples, options.seed)
    summaries = GapSummaries(points.gaps, intervals.of_gaps(points.gaps))
    tables = statistic_tables(points, summaries, intervals) | _own(points.permutation_tests)
    headlines = {**gap_headlines(summaries), **kendall_headlines(tables["kendall_w_axis"])}
    return Statistics(points.gaps, headlines, tables)
