"""What the release holds of each model, and what its models say where all of them have answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rupeebias.metric import Options, score_readings
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of
from rupeebias.metric.readings import Readings
from rupeebias.metric.slips import magnitude_slips

from ..scoring.read import RunOutputs, read_run, readings_of
from ..words import number
from .files import ReleaseFile
from .records import Answer

COLUMNS = (
    "model",
    "task",
    "language",
    "rows",
    "profiles",
    "twice",
    "flagged",
    "reasoning",
    "other id",
    "slips",
)
"""Heads of the table of completeness."""
COMMON_COLUMNS = ("model", "systematic gap %", "mean Δ%", "paper mean Δ%", "answers")
"""Heads of the table of headlines on the profiles that all models have."""


@dataclass(slots=True)
class Completeness:
    """What the files of one model, arm, task and language hold."""

    model: str
    arm: str
    use_case: str
    language: str
    rows: int = 0
    """Records that stand for a prompt."""
    prompts: set[str] = field(default_factory=set)
    flagged: int = 0
    """Records whose validation did not say `valid`."""
    reasoning: int = 0
    """Records with a text of reasoning."""
    other_id: int = 0
    """Records left out: their id is not that of the first record of their prompt."""
    slips: int = 0
    """Imported answers that look like an amount with a zero lost or added."""

    def add(self, answer: Answer) -> None:
        """Count one record."""
        self.rows += 1
        self.prompts.add(answer.prompt_id)
        self.flagged += answer.is_flagged
        self.reasoning += answer.has_reasoning

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        profiles = {prompt_id.split(":")[4] for prompt_id in self.prompts}
        case, arm = DESIGN.use_case[self.use_case], "" if self.arm == "standard" else f" ({self.arm})"
        counts = (self.rows - len(self.prompts), self.flagged, self.reasoning, self.other_id, self.slips)
        covered = f"{len(profiles)} of {case.n_profiles}"
        return (
            f"{self.model}{arm}",
            self.use_case,
            self.language,
            f"{self.rows:,}",
            covered,
            *(f"{count:,}" for count in counts),
        )


class Counted:
    """The completeness of every task and language, collected while files are read."""

    def __init__(self) -> None:
        self.rows: list[Completeness] = []
        self._first_ids: dict[tuple[str, str, str], str] = {}

    def of_file(self, file: ReleaseFile) -> Completeness:
        """Return the row that a file belongs to: a retried file to that of its base file."""
        key = (file.model, file.arm, file.use_case, file.language)
        for row in self.rows:
            if (row.model, row.arm, row.use_case, row.language) == key:
                return row
        self.rows.append(Completeness(*key))
        return self.rows[-1]

    def takes(self, file: ReleaseFile, answer: Answer) -> bool:
        """Count a record; tell whether it may count as an answer.

        Records of one prompt under different ids are no repeats of it: a file of the release holds one prompt
        under a thousand ids. Its first record counts. A retried file names its requests anew.
        """
        row = self.of_file(file)
        row.add(answer)
        if answer.own_id is None or file.is_retried:
            return True
        key = (file.model, file.arm, answer.prompt_id)
        if self._first_ids.setdefault(key, answer.own_id) == answer.own_id:
            return True
        row.other_id += 1
        return False


def count_slips(rows: Sequence[Completeness], model: str, arm: str, folder: Path) -> None:
    """Fill in the suspected slips of one imported run."""
    readings = readings_of(read_run(folder))
    implausible = readings.implausible
    nothing = np.full_like(readings.values, np.nan)
    is_slip = magnitude_slips(readings.values, nothing if implausible is None else implausible, DESIGN)
    layout = layout_of(DESIGN)
    for row in rows:
        if (row.model, row.arm) == (model, arm):
            is_own = layout.use_case_codes == DESIGN.use_case_names.index(row.use_case)
            is_own &= layout.language_codes == DESIGN.language_names.index(row.language)
            row.slips = int(is_slip[is_own].sum())


def common_headlines(folders: Sequence[tuple[str, Path]]) -> tuple[int, list[tuple[str, ...]]]:
    """Return how many profiles (by use case and language) all runs have, and the headlines on those."""
    runs = [(name, read_run(folder)) for name, folder in folders]
    readings = [readings_of(run) for _, run in runs]
    places = [set(_places(run, read)) for (_, run), read in zip(runs, readings, strict=True)]
    common = set.intersection(*places)
    rows = []
    for name, run in runs:
        kept = _cut(run, common)
        if not kept.prompt_ids:
            continue
        result = score_readings(readings_of(kept), Options(ci=None))
        values = (result[x] for x in ("systematic_gap_pct", "mean_delta_pct", "paper_mean_delta_pct"))
        rows.append((name, *map(number, values), f"{result['n_scored']:,} of {result['n_expected']:,}"))
    return len(common), rows


class Place(NamedTuple):
    """A base profile in one language."""

    use_case: str
    language: str
    profile: str


def _place(prompt_id: str) -> Place:
    use_case, language, _, _, profile, _ = prompt_id.split(":")
    return Place(use_case, language, profile)


def _places(run: RunOutputs, readings: Readings) -> Iterator[Place]:
    """Yield the places of the answers with a value."""
    rows = layout_of(run.design).prompt_rows
    has_value: list[bool] = np.asarray((~np.isnan(readings.values)).any(axis=1)).tolist()
    for prompt_id in run.prompt_ids:
        if has_value[rows[prompt_id]]:
            yield _place(prompt_id)


def _cut(run: RunOutputs, places: set[Place]) -> RunOutputs:
    """Return the answers of a run at these places."""
    kept = [at for at, prompt_id in enumerate(run.prompt_ids) if _place(prompt_id) in places]

    def chosen(items: Sequence[Any] | None) -> list[Any] | None:
        return None if items is None else [items[at] for at in kept]

    return run._replace(
        prompt_ids=[run.prompt_ids[at] for at in kept],
        outputs=[run.outputs[at] for at in kept],
        repeats=chosen(run.repeats),
        finish_reasons=chosen(run.finish_reasons),
        errors=chosen(run.errors),
        expected=[one for one in run.expected or () if _place(one) in places],
    )
