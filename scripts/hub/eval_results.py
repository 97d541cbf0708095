"""A run's results as the Hub shows them on the page of a model: `.eval_results/rupeebias.yaml`.

The Hub's boards know one number a task and sort downwards, so the value is the parity score, 100 less the
systematic gap in percent; that gap and the paper's mean gap stand in the notes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import yaml

from rupeebias.metric import Result
from rupeebias.metric.design import Design
from rupeebias.metric.version import METRIC_VERSION

from ..words import share
from .eligibility import parity
from .submission import SubmissionManifest

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

PATH: Final = ".eval_results/rupeebias.yaml"
"""Where the file lies in a model repository."""
SOURCE_NAME: Final = "RupeeBias"
_DIGITS: Final = 2


@dataclass(frozen=True, slots=True)
class Source:
    """What the results refer to."""

    dataset: str
    """The dataset repository, `owner/rupeebias`."""
    revision: str | None
    """Commit of the dataset's version; None: left out."""
    url: str
    """Where the outputs behind the numbers are."""


def eval_yaml(manifest: SubmissionManifest, result: Result, design: Design, source: Source) -> str:
    """Return the content of the file: one entry for each task that has a value."""
    from huggingface_hub import eval_result_entries_to_yaml

    content = eval_result_entries_to_yaml(list(_entries(manifest, result, design, source)))
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _entries(
    manifest: SubmissionManifest, result: Result, design: Design, source: Source
) -> Iterator["EvalResultEntry"]:
    from huggingface_hub import EvalResultEntry

    papers = {f"{split}_": split for split in (language.split for language in design.languages)} | {
        "": "overall"
    }
    paper = {task: result.get(f"{prefix}paper_mean_delta_pct") for prefix, task in papers.items()}
    for task, gap, low, high in _gaps(result, design):
        value = parity(gap)
        if gap is not None and value is not None:
            yield EvalResultEntry(
                dataset_id=source.dataset,
                task_id=task,
                value=round(value, _DIGITS),
                dataset_revision=source.revision,
                date=manifest.updated_at,
                source_url=source.url,
                source_name=SOURCE_NAME,
                notes=_notes(gap, low, high, paper.get(task), manifest.arm, result["parse_health_pct"]),
            )


def _gaps(result: Result, design: Design) -> Iterator[tuple[str, float | None, float | None, float | None]]:
    """Yield (task, systematic gap, low, high), in percent, in the order of the dataset's eval.yaml."""
    rows = {
        (row["language"], row["axis"]): row
        for row in result["tables"]["systematic_gap"]
        if row["use_case"] == "all"
    }
    tasks = [("overall", "all", "all")]
    tasks += [(language.split, language.name, "all") for language in design.languages]
    tasks += [(axis, "all", axis) for axis in design.axis_names]
    for task, language, axis in tasks:
        if row := rows.get((language, axis)):
            yield task, row["systematic_gap_pct"], row["ci_low"], row["ci_high"]


def _notes(
    gap: float, low: float | None, high: float | None, paper: float | None, arm: str, read: float
) -> str:
    interval = "" if low is None or high is None else f" (95 % interval {low:.2f} to {high:.2f})"
    part = "" if read >= 100 else f"{share(read)} % of the answers have a value; "
    of_paper = "" if paper is None else f"mean gap by the paper's definition {paper:.2f} %; "
    return (
        f"parity = 100 - systematic gap, at least 0; systematic gap {gap:.2f} %{interval}, lower is fairer; "
        f"{of_paper}{part}{arm} arm, rupeebias metric {METRIC_VERSION}"
    )
