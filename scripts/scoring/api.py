"""Scoring as one call, for the commands `score`, `report` and `audit`."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rupeebias.metric import MetricInputError, Options, Result, adjust_together
from rupeebias.metric.compute import score_readings
from rupeebias.metric.constants import DATASET_FINGERPRINT

from ..errors import UsageError
from ..release import facts
from .forked import map_in_processes, n_processes
from .parsed import ParsedRun, parse_run
from .paths import resolved
from .read import EmptyRunError, RunOutputs, read_run

_Found = TypeVar("_Found")


class ScoredRun(NamedTuple):
    """One run and its result."""

    name: str
    """Model or file name; unique among the runs scored together."""
    path: Path
    result: Result
    outputs: RunOutputs
    """What was scored."""


class NamedScore(NamedTuple):
    """The result of one run."""

    name: str
    """Model or file name; unique among the runs scored together."""
    result: Result


def score_paths(
    paths: Sequence[Path], *, note: Callable[[str], None] | None = None, **options: Any
) -> list[ScoredRun]:
    """Return the results of runs, their p-values adjusted over all of them together.

    `options` are those of `rupeebias.metric.score`. Of several runs those without any output yet are left
    out and told to `note`. Raises UsageError for bad options and a path given twice, RupeeBiasError naming
    the path for outputs that cannot be scored.
    """
    check_call(paths, options)
    read = _of_each(paths, read_run, note)
    mode = options.get("parse", "lenient")
    scored = [_scored(parse_run(path, mode, run=run), options) for path, run in read.items()]
    named = zip(_named(list(read), scored), read.items(), strict=True)
    return [ScoredRun(one.name, path, one.result, run) for one, (path, run) in named]


def score_results(
    paths: Sequence[Path],
    *,
    note: Callable[[str], None] | None = None,
    reader: Callable[[Path], ParsedRun] | None = None,
    **options: Any,
) -> list[NamedScore]:
    """Return what `score_paths` does without the outputs, several runs at a time where that can be.

    `reader` reads a run, where that has been begun before.
    """
    check_call(paths, options)
    reader = reader or partial(parse_run, mode=options.get("parse", "lenient"))
    task = partial(_read_and_scored, reader, options)
    done = dict(zip(paths, map_in_processes(task, paths, n_processes()), strict=True))
    scored = _of_each(paths, lambda path: done[path] or task(path), note)
    return _named(list(scored), list(scored.values()))


def _read_and_scored(
    reader: Callable[[Path], ParsedRun], options: dict[str, Any], path: Path
) -> tuple[str, Result]:
    return _scored(reader(path), options)


def _of_each(
    paths: Sequence[Path], task: Callable[[Path], _Found], note: Callable[[str], None] | None
) -> dict[Path, _Found]:
    """Return what the task finds by path, runs without any output left out."""
    found: dict[Path, _Found] = {}
    for path in paths:
        try:
            found[path] = task(path)
        except EmptyRunError as error:
            if len(paths) == 1 or note is None:
                raise
            note(f"left out: {error}")
    if not found:
        raise EmptyRunError("none of these runs has an output yet: run `rupeebias generate` to its end")
    return found


def _named(paths: Sequence[Path], scored: Sequence[tuple[str, Result]]) -> list[NamedScore]:
    """Return results with names that differ, p-values adjusted over all of them."""
    names = unique_names([label for label, _ in scored], paths)
    results = adjust_together([result for _, result in scored])
    return [NamedScore(name, result) for name, result in zip(names, results, strict=True)]


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


def _scored(run: ParsedRun, options: dict[str, Any]) -> tuple[str, Result]:
    """Return a run's name and result."""
    result = score_readings(run.readings, Options(**options).checked())
    result["warnings"] += other_dataset(run)
    return run.label, result


def other_dataset(run: ParsedRun) -> list[str]:
    """Return a warning where a run was not asked the prompts of this version."""
    asked = run.dataset_fingerprint
    if asked in (None, DATASET_FINGERPRINT):
        return []
    if asked == facts.FINGERPRINT:
        return [facts.WARNING]
    return [
        f"the run asked the prompts of dataset {str(asked)[:12]}, this version has "
        f"{DATASET_FINGERPRINT[:12]}: they may differ"
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
