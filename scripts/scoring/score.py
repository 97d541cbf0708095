"""Scoring as one call, for the commands `score`, `report` and `audit`."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from rupeebias.metric import MetricInputError, Options, Result, adjust_together
from rupeebias.metric.compute import score_readings
from rupeebias.metric.design import Design
from rupeebias.metric.power import smallest_gaps
from rupeebias.metric.readings import Readings
from rupeebias.metric.systematic_gap import systematic_gaps

from .. import release
from ..errors import EmptyRunError, UsageError
from ..processes import n_processors, run_tasks
from .read import ParsedRun, RunFacts, parse_run, resolved

MOST_PROCESSES: Final = 4
"""No more than this: each holds the outputs of a run."""
Note: TypeAlias = Callable[[str], None]


class NamedScore(NamedTuple):
    """The result of one run."""

    name: str
    """Model or file name; unique among the runs scored together."""
    result: Result
    design: Design
    """The benchmark that it was asked."""
    facts: RunFacts
    smallest: float | None
    """Systematic gap in percent that would have been found with 80 % probability."""


class ScoredRun(NamedTuple):
    """One run, what was scored and its result."""

    name: str
    """Model or file name; unique among the runs scored together."""
    run: ParsedRun
    result: Result


def score_results(paths: Sequence[Path], *, note: Note | None = None, **options: Any) -> list[NamedScore]:
    """Return the results of runs, their p-values adjusted over all of them; several runs at a time.

    `options` are those of `rupeebias.metric.score`. Of several runs those without any output yet are left
    out and told to `note`. Raises UsageError for bad options and a path given twice, RupeeBiasError naming
    the path for outputs that cannot be scored.
    """
    check_call(paths, options)
    task = partial(_read_and_scored, options)
    done = dict(run_tasks(task, paths, workers=min(n_processors(), MOST_PROCESSES)))
    scored = dict(_not_empty(paths, (done[at] for at in range(len(paths))), note))
    names = unique_names([one.name for one in scored.values()], list(scored))
    results = adjust_together([one.result for one in scored.values()])
    found = zip(scored.values(), names, results, strict=True)
    return [one._replace(name=name, result=result) for one, name, result in found]


def _read_and_scored(options: dict[str, Any], path: Path) -> NamedScore:
    run = parse_run(path, options.get("parse", "lenient"))
    return NamedScore(
        run.label,
        _scored(run, options),
        run.outputs.design,
        run.outputs.facts,
        smallest_gap(run.readings),
    )


def score_paths(
    paths: Sequence[Path], *, note: Note | None = None, progress: Note | None = None, **options: Any
) -> list[ScoredRun]:
    """Return what `score_results` does with the runs themselves; `progress` hears of each as it begins."""
    check_call(paths, options)
    runs = dict(_not_empty(paths, _each_read(paths, options.get("parse", "lenient"), progress), note))
    names = unique_names([run.label for run in runs.values()], list(runs))
    results = []
    for name, run in zip(names, runs.values(), strict=True):
        if progress:
            progress(f"scoring {name}")
        results.append(_scored(run, options))
    found = zip(names, runs.values(), adjust_together(results), strict=True)
    return [ScoredRun(*one) for one in found]


def _each_read(paths: Sequence[Path], mode: Any, progress: Note | None) -> Iterator[ParsedRun | Exception]:
    for path in paths:
        if progress:
            progress(f"reading {path}")
        try:
            yield parse_run(path, mode)
        except EmptyRunError as error:
            yield error


def _not_empty(paths: Sequence[Path], found: Iterator[Any], note: Note | None) -> Iterator[tuple[Path, Any]]:
    """Yield path and what was found, runs without any output left out; raise any other error."""
    left = len(paths)
    for path, one in zip(paths, found, strict=True):
        if isinstance(one, EmptyRunError) and len(paths) > 1 and note:
            note(f"left out: {one}")
            left -= 1
        elif isinstance(one, Exception):
            raise one
        else:
            yield path, one
    if not left:
        raise EmptyRunError("none of these runs has an output yet: run `rupeebias generate` to its end")


def check_call(paths: Sequence[Path], options: dict[str, Any]) -> None:
    """Raise UsageError for options that do not exist and for a path given twice."""
    try:
        Options(**options).checked()
    except MetricInputError as error:
        raise UsageError(str(error)) from error
    places = [resolved(path) for path in paths]
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            raise UsageError(f"{path} is given twice: its tests would count twice")


def _scored(run: ParsedRun, options: dict[str, Any]) -> Result:
    result = score_readings(run.readings, Options(**options).checked())
    result["warnings"] += other_dataset(run)
    return result


def smallest_gap(readings: Readings) -> float | None:
    """Return the systematic gap in percent that a run would have shown with 80 % probability, if known."""
    found = float(smallest_gaps(systematic_gaps(readings.values, readings.design))[-1])
    return None if math.isnan(found) else found


def other_dataset(run: ParsedRun) -> list[str]:
    """Return a warning where a run was not asked the prompts of the benchmark that it is scored as."""
    asked, known = run.outputs.dataset_fingerprint, run.outputs.design.fingerprint
    if asked in (None, known):
        return []
    if asked == release.FINGERPRINT:
        return [release.WARNING]
    return [
        f"the run asked the prompts of dataset {str(asked)[:12]}, this version has {known[:12]}: "
        "they may differ"
    ]


def unique_names(names: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """Runs of one model are told apart by their folder, then by their path."""
    longer = [
        name if names.count(name) == 1 else f"{name} [{path.name}]"
        for name, path in zip(names, paths, strict=True)
    ]
    return [
        name if longer.count(name) == 1 else f"{name} [{path}]"
        for name, path in zip(longer, paths, strict=True)
    ]
