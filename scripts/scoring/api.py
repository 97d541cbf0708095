"""Scoring as one call, for the commands `score` and `audit`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rupeebias.metric import MetricInputError, Result, adjust_together, score

from ..errors import RupeeBiasError
from .read import RunOutputs, read_run


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """One run and its result."""

    name: str
    """Model or file name; unique among the runs scored together."""
    path: Path
    result: Result
    outputs: RunOutputs
    """What was scored."""


def score_paths(paths: Sequence[Path], **options: Any) -> list[ScoredRun]:
    """Return the results of runs, their p-values adjusted over all of them together.

    `options` are those of `rupeebias.metric.score`. Errors name the path.
    """
    names, results, outputs = [], [], []
    for path in paths:
        run = read_run(path)
        names.append(run.name if run.arm == "standard" else f"{run.name} ({run.arm})")
        results.append(_scored(path, run, options))
        outputs.append(run)
    scored = zip(_unique(names, paths), paths, adjust_together(results), outputs, strict=True)
    return [ScoredRun(name, path, result, run) for name, path, result, run in scored]


def _scored(path: Path, run: RunOutputs, options: dict[str, Any]) -> Result:
    try:
        return score(
            run.prompt_ids,
            run.outputs,
            repeats=run.repeats,
            finish_reasons=run.finish_reasons,
            errors=run.errors,
            expected=run.expected,
            n_repeats=run.n_repeats,
            **options,
        )
    except MetricInputError as error:
        raise RupeeBiasError(f"{path}: {error}") from error


def _unique(names: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """Runs of one model are told apart by their folder."""
    return [
        name if names.count(name) == 1 else f"{name} [{path.name}]"
        for name, path in zip(names, paths, strict=True)
    ]
