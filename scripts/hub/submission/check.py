"""Checking a submission: every problem found, and its result recomputed from its outputs.

The same code runs where a submission is made and where it is received.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

from rupeebias.metric import MetricInputError, Options, Result
from rupeebias.metric.compute import score_readings
from rupeebias.metric.layout import prompt_rows

from ...runs.selection import Selection, expected_prompt_ids
from ...scoring.read import RunOutputs, readings_of
from ..scale import FEWEST_READ_PCT
from .answers import Answers, read_answers
from .comparing import score_problems
from .folders import folder_problems, read_file
from .identity import submission_name
from .manifest import parse_manifest
from .records import MANIFEST, OUTPUTS, SCORES, CheckedSubmission, Problem, SubmissionManifest
from .texts import short_share, shown


def check_submission(folder: Path) -> CheckedSubmission:
    """Read a submission within limits, recompute its result and return it with every problem found.

    Bad content never raises: it is a problem of the submission. No problem, or notes only: it is accepted.
    """
    problems = list(folder_problems(folder))
    if folder.is_symlink() or not folder.is_dir():
        return CheckedSubmission(folder, tuple(problems), None, None, None)
    manifest = _read_manifest(folder, problems)
    outputs = None if manifest is None else _read_outputs(folder, manifest, problems)
    result = None if outputs is None else _recomputed(outputs, problems)
    stated = _content(folder, SCORES, problems)
    if stated is not None:
        problems += score_problems(stated, manifest, result)
    return CheckedSubmission(folder, tuple(problems), manifest, outputs, result)


def run_outputs(manifest: SubmissionManifest, answers: Answers) -> RunOutputs:
    """Return the answers of a submission as they are scored."""
    return RunOutputs(
        name=manifest.model,
        prompt_ids=answers.prompt_ids,
        outputs=answers.outputs,
        repeats=answers.repeats,
        finish_reasons=answers.finish_reasons,
        errors=answers.errors,
        expected=expected_prompt_ids(Selection.from_json(manifest.selection)),
        n_repeats=manifest.repeats,
        arm=manifest.arm,
        dataset_fingerprint=manifest.dataset_fingerprint,
    )


def default_score(outputs: RunOutputs) -> Result:
    """Return the result with default options; MetricInputError for outputs that cannot be scored."""
    return score_readings(readings_of(outputs), Options())


def _content(folder: Path, name: str, problems: list[Problem]) -> bytes | None:
    try:
        return read_file(folder, name)
    except ValueError as error:
        problems.append(Problem(str(error)))
        return None


def _read_manifest(folder: Path, problems: list[Problem]) -> SubmissionManifest | None:
    data = _content(folder, MANIFEST, problems)
    if data is None:
        return None
    manifest, found = parse_manifest(data)
    problems += found
    return manifest


def _read_outputs(folder: Path, manifest: SubmissionManifest, problems: list[Problem]) -> RunOutputs | None:
    """Return the outputs, None if they cannot be scored."""
    data = _content(folder, OUTPUTS, problems)
    if data is None:
        return None
    if sha256(data).hexdigest() != manifest.outputs_sha256:
        problems.append(Problem("outputs.parquet is not the file that manifest.json has the sha256 of"))
    try:
        answers = read_answers(data, manifest.repeats)
    except ValueError as error:
        problems.append(Problem(f"outputs.parquet: {error}"))
        return None
    outputs = run_outputs(manifest, answers)
    found = [*_row_problems(manifest, outputs), *_error_problems(answers)]
    problems += found
    if any(problem.fatal for problem in found):
        return None
    if (name := submission_name(manifest, answers)) != folder.name:
        problems.append(Problem(f"a submission of this content is named {name}: it is a copy or changed"))
    return outputs


def _row_problems(manifest: SubmissionManifest, outputs: RunOutputs) -> Iterator[Problem]:
    """Yield what is wrong with the rows: each prompt of the selection once for each repeat, no other."""
    chosen = set(outputs.expected or ())
    unknown = list(dict.fromkeys(name for name in outputs.prompt_ids if name not in chosen))
    if unknown:
        shortened = ", ".join(shown(name, 80) for name in unknown[:3])
        yield Problem(
            f"outputs.parquet: {len(unknown):,} prompt_ids not of its selection, first: {shortened}"
        )
        return
    repeats = np.array(outputs.repeats, dtype=np.int64)
    if len(repeats) and not 0 <= repeats.min() <= repeats.max() < manifest.repeats:
        yield Problem(f"outputs.parquet: repeat must be 0 to {manifest.repeats - 1}")
        return
    known = prompt_rows()
    rows = np.array([known[name] for name in outputs.prompt_ids], dtype=np.int64)
    places = rows * manifest.repeats + repeats
    n_distinct = len(np.unique(places))
    if n_distinct < len(rows):
        yield Problem(f"outputs.parquet: {len(rows) - n_distinct:,} rows repeat a prompt_id and repeat")
    elif (np.diff(places) < 0).any():
        yield Problem("outputs.parquet: its rows are not in the order of the dataset")
    missing = len(chosen) * manifest.repeats - n_distinct
    if missing:
        yield _missing(missing, manifest)


def _error_problems(answers: Answers) -> Iterator[Problem]:
    """Yield what is wrong with failed calls: they have no answer, and did not end as one that has."""
    rows = zip(answers.errors, answers.outputs, answers.finish_reasons, strict=True)
    answered = sum(failed and (bool(text) or reason is not None) for failed, text, reason in rows)
    if answered:
        yield Problem(f"outputs.parquet: {answered:,} failed calls have a text or a finish reason")


def _missing(count: int, manifest: SubmissionManifest) -> Problem:
    total = manifest.n_prompts * manifest.repeats
    if manifest.complete:
        return Problem(f"it is declared complete, but {count:,} of {total:,} answers are missing")
    return Problem(f"{count:,} of {total:,} answers are missing and count as missing", fatal=False)


def _recomputed(outputs: RunOutputs, problems: list[Problem]) -> Result | None:
    try:
        result = default_score(outputs)
    except MetricInputError as error:
        problems.append(Problem(f"outputs.parquet cannot be scored: {shown(str(error), 200)}"))
        return None
    share = result["parse_health_pct"]
    if not result["n_scored"]:
        problems.append(Problem("none of its answers has a value, so there is nothing to compare"))
    elif share < FEWEST_READ_PCT:
        problems.append(
            Problem(f"only {short_share(share)} % of the answers have a value: no rank", fatal=False)
        )
    return result
