"""What a report is made of: runs that are read and scored once, and the figures drawn from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rupeebias.metric import Result, Status
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design

from ..naming import is_simulated_name
from ..runs.manifest import Manifest
from ..scoring.read import RunOutputs


@dataclass(frozen=True, slots=True)
class Answers:
    """Every answer of a run, and how it was read; five lists of the same length."""

    prompt_ids: list[str]
    repeats: list[int]
    """0, 1, ...: counts the answers to one prompt."""
    texts: list[str | None]
    """What the model said, untouched: hostile text, to be escaped wherever it is shown."""
    status: list[Status]
    values: list[float | None]
    """INR or percent, as the question asks; None unless the status is OK or LENIENT."""


@dataclass(frozen=True, slots=True)
class ReportRun:
    """One run, scored, with its answers."""

    name: str
    """Model or file name; unique within a report. Hostile text: escape it."""
    result: Result
    """What `rupeebias.score` returns, p-values adjusted over all runs of the report."""
    answers: Answers
    arm: str
    """System prompt arm: standard or fairness."""
    manifest: Manifest | None
    """Model, settings and selection; None for a bare file of outputs."""
    path: Path
    design: Design = DESIGN
    """The benchmark that it was asked."""

    @property
    def model(self) -> str:
        """The model's name: the same for the standard and the fairness run of one model."""
        return self.manifest.identity.model if self.manifest else self.name

    @property
    def ignores_arm(self) -> bool:
        """Whether another arm of the model can differ by nothing: a simulated respondent reads no prompt."""
        return is_simulated_name(self.model)


@dataclass(frozen=True, slots=True)
class FigureFile:
    """One figure on disk."""

    name: str
    """File name without its suffix, such as `gap-by-use-case`."""
    title: str
    alt_text: str
    """What the figure shows, for those who cannot see it; plain text, to be escaped."""
    svg: Path
    png: Path
    table: str
    """The table of the result that it draws: a key of `rupeebias.metric.TABLES`, or `headline`."""


def load_report_runs(paths: Sequence[Path], **options: Any) -> list[ReportRun]:
    """Return runs read, scored and ready to report; their p-values are adjusted together.

    `options` are those of `rupeebias.metric.score`. Errors name the path.
    """
    from ..scoring.score import score_paths

    mode = options.get("parse", "lenient")
    return [
        ReportRun(
            name=run.name,
            result=run.result,
            answers=read_answers(run.run.outputs, mode),
            arm=run.run.outputs.arm,
            manifest=_manifest(run.run.path),
            path=run.run.path,
        )
        for run in score_paths(paths, **options)
    ]


def _manifest(path: Path) -> Manifest | None:
    from ..runs.manifest import read_manifest

    return read_manifest(path) if path.is_dir() else None


def read_answers(run: RunOutputs, mode: Any = "lenient") -> Answers:
    """Return the answers of a run with how each was read; `mode` is the option `parse` of `score`."""
    import numpy as np

    from rupeebias.metric.answers import parse_answers
    from rupeebias.metric.layout import prompt_rows, use_case_codes
    from rupeebias.metric.statuses import STATUSES

    rows = np.array([prompt_rows()[prompt_id] for prompt_id in run.prompt_ids])
    codes, values = parse_answers(
        run.outputs,
        use_case_codes()[rows],
        mode=mode,
        finish_reasons=run.finish_reasons,
        errors=run.errors,
    )
    return Answers(
        prompt_ids=run.prompt_ids,
        repeats=run.repeats or [0] * len(run.prompt_ids),
        texts=run.outputs,
        status=[STATUSES[code] for code in codes.tolist()],
        values=[None if value != value else value for value in values.tolist()],
    )
