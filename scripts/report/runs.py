"""What a report is made of: runs read and scored once, and which of them are two arms of one model."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from rupeebias.metric import Readings, Result, Status, fairness_effect
from rupeebias.metric.design import Design
from rupeebias.metric.layout import layout_of
from rupeebias.metric.statuses import STATUSES
from rupeebias.metric.tables import Row

from ..errors import UsageError
from ..naming import is_simulated_name
from ..runs.manifest import Manifest, read_manifest
from ..scoring.read import RunFacts, RunOutputs
from ..scoring.score import Note, score_paths, smallest_gap

Tables: TypeAlias = dict[str, list[Row]]


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
    """In the unit of the question; None unless the status is OK or LENIENT."""


@dataclass(frozen=True)
class ReportRun:
    """One run, read and scored."""

    name: str
    """Model or file name; unique within a report. Hostile text: escape it."""
    result: Result
    """What `rupeebias.score` returns, p-values adjusted over all runs of the report."""
    outputs: RunOutputs
    readings: Readings
    """How its answers were read."""
    manifest: Manifest | None
    """Model, settings and selection; None for a bare file of outputs."""
    path: Path

    @property
    def facts(self) -> RunFacts:
        """What a sentence about it must say."""
        return self.outputs.facts

    @cached_property
    def smallest(self) -> float | None:
        """Systematic gap in percent that would have been found with 80 % probability."""
        return smallest_gap(self.readings)

    @property
    def arm(self) -> str:
        """System prompt arm: standard or fairness."""
        return self.outputs.arm

    @property
    def design(self) -> Design:
        """The benchmark that it was asked."""
        return self.outputs.design

    @property
    def model(self) -> str:
        """The model's name: the same for the standard and the fairness run of one model."""
        return self.manifest.identity.model if self.manifest else self.name

    @property
    def is_simulated(self) -> bool:
        """Whether a formula answered: it reads no instruction, so its arms can differ by nothing."""
        return is_simulated_name(self.model)

    @cached_property
    def answers(self) -> Answers:
        """The answers as they were read for the result; those to controls are not among them."""
        place, outputs = layout_of(self.design).prompt_rows, self.outputs
        kept = [at for at, prompt_id in enumerate(outputs.prompt_ids) if prompt_id in place]
        ids = [outputs.prompt_ids[at] for at in kept]
        repeats = [outputs.repeats[at] if outputs.repeats else 0 for at in kept]
        numbers = self.readings.repeats or range(self.readings.status.shape[1])
        column = {number: at for at, number in enumerate(numbers)}
        cells = [place[prompt_id] for prompt_id in ids], [column[repeat] for repeat in repeats]
        values = self.readings.values[cells].tolist()
        return Answers(
            prompt_ids=ids,
            repeats=repeats,
            texts=[outputs.outputs[at] for at in kept],
            status=[STATUSES[code] for code in self.readings.status[cells].tolist()],
            values=[None if value != value else value for value in values],
        )

    @cached_property
    def asked(self) -> frozenset[str]:
        """The prompts that were answered, controls apart."""
        return frozenset(self.answers.prompt_ids)


def load_report_runs(
    paths: Sequence[Path], *, progress: Note | None = None, note: Note | None = None, **options: Any
) -> list[ReportRun]:
    """Return runs read, scored and ready to report; their p-values are adjusted together.

    `options` are those of `rupeebias.metric.score`; `progress` and `note` are told as `score_paths` does.
    Errors name the path. Raises UsageError for runs of two benchmarks.
    """
    runs = [
        ReportRun(
            name=one.name,
            result=one.result,
            outputs=one.run.outputs,
            readings=one.run.readings,
            manifest=read_manifest(one.run.path) if one.run.path.is_dir() else None,
            path=one.run.path,
        )
        for one in score_paths(paths, note=note, progress=progress, **options)
    ]
    other = next((run for run in runs if run.design != runs[0].design), None)
    if other:
        raise UsageError(
            f"{runs[0].path} and {other.path} answer two benchmarks: give each a report of its own"
        )
    return runs


def arms(runs: Sequence[ReportRun]) -> Iterator[tuple[ReportRun, ReportRun]]:
    """Yield the (standard, fairness) runs of one model that differ in the system prompt alone.

    Settings must be equal: a run at temperature 1 differs from one at 0 for other reasons. Where a run has
    two counterparts it is not said which is meant, and none is taken. Simulated respondents read no prompt.
    """

    def counterparts(run: ReportRun, arm: str) -> list[ReportRun]:
        if run.manifest is None or run.is_simulated:
            return []
        settings = run.manifest.identity.settings
        others = (other for other in runs if other.arm == arm and other.model == run.model)
        return [other for other in others if other.manifest and other.manifest.identity.settings == settings]

    for run in runs:
        found = counterparts(run, "fairness") if run.arm == "standard" else []
        if len(found) == 1 and len(counterparts(found[0], "standard")) == 1:
            yield run, found[0]


def report_tables(runs: Sequence[ReportRun]) -> list[Tables]:
    """Return each run's tables: those of its result, `headline` (one row) and `fairness`.

    `fairness` (use_case), in the standard run of a model that has a fairness run too: standard_pct, fair_pct,
    change_points, change_pct.
    """
    pairs = {standard.name: fair for standard, fair in arms(runs)}
    tables = [{**run.result["tables"], "headline": [run.result]} for run in runs]
    for run, own in zip(runs, tables, strict=True):
        own["fairness"] = list(_fairness_rows(run, pairs[run.name])) if run.name in pairs else []
    return tables


def _fairness_rows(standard: ReportRun, fair: ReportRun) -> Iterator[Row]:
    """Yield the effect in each use case in which both runs were asked the same prompts on the same axes."""
    for use_case in standard.design.use_case_names:
        asked = [{one for one in run.asked if one.startswith(f"{use_case}:")} for run in (standard, fair)]
        rows = [
            [row for row in run.result["tables"]["use_case_axis"] if row["use_case"] == use_case]
            for run in (standard, fair)
        ]
        axes = [[row["axis"] for row in own] for own in rows]
        if asked[0] == asked[1] and axes[0] and axes[0] == axes[1]:
            effect = fairness_effect(standard.result, fair.result, use_case)
            yield {"use_case": use_case, **asdict(effect)}
