"""Checking a submission: its files found and read within limits, every problem told, its result computed.

The same code runs where a submission is made and where it is received. Nothing in a folder is trusted.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from rupeebias.metric import MetricInputError, Options, Result
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.compute import score_readings
from rupeebias.metric.design import Design
from rupeebias.metric.layout import layout_of
from rupeebias.metric.readings import Readings

from ..errors import UsageError
from ..runs.selection import Selection, expected_prompt_ids
from ..scoring.read import RunOutputs, readings_of
from ..words import shown
from .answers import Answers, read_answers, submission_name
from .eligibility import reasons_without_rank
from .submission import (
    FILES,
    FOLDER,
    MANIFEST,
    MAX_BYTES,
    MAX_ENTRIES,
    OUTPUTS,
    CheckedSubmission,
    Problem,
    SubmissionManifest,
    parse_manifest,
)

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_NO_HARM: Final = ("README.md", ".gitattributes")
_OPEN: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


# --- the folder


def find_submissions(results: Path) -> list[Path]:
    """Return the folders in `results/submissions`, by name, whatever is in them.

    Raises UsageError if there is no such folder.
    """
    folder = results / FOLDER
    if not folder.is_dir():
        raise UsageError(f"{results} has no folder {FOLDER}/: give a copy of a results dataset")
    return sorted(path for path in folder.iterdir() if path.is_dir() or path.is_symlink())


def stray_problems(results: Path) -> list[Problem]:
    """Return what lies in `results/submissions` beside folders: a page and git's settings are no harm."""
    with os.scandir(results / FOLDER) as entries:
        strays = sorted(each.name for each in entries if not each.is_symlink() and not each.is_dir())
    problems = [
        Problem(f"{FOLDER}/ holds {shown(name)}, which is no folder", name not in _NO_HARM)
        for name in strays[:MAX_ENTRIES]
    ]
    if (more := len(strays) - MAX_ENTRIES) > 0:
        problems.append(Problem(f"{FOLDER}/ holds {more:,} more that are no folders"))
    return problems


def is_plain_name(name: str) -> bool:
    """Tell whether a folder's name is one of a submission: safe on any system and in any address."""
    return _NAME.fullmatch(name) is not None


def folder_problems(folder: Path) -> Iterator[Problem]:
    """Yield what is wrong with the name of a submission and with what lies in it, unread."""
    if not is_plain_name(folder.name):
        yield Problem(
            f"the name {shown(folder.name)} is not made of at most 100 of a-z, 0-9, '.', '_' and '-', "
            "the first a letter or digit"
        )
    if folder.is_symlink() or not folder.is_dir():
        yield Problem("it is not a folder: give one with " + ", ".join(FILES))
        return
    try:
        with os.scandir(folder) as entries:  # at most so many: a folder may hold millions
            names = sorted(entry.name for entry in islice(entries, MAX_ENTRIES))
    except OSError as error:
        yield Problem(f"its files cannot be listed: {error.strerror}")
        return
    if more := [name for name in names if name not in FILES]:
        yield Problem(f"it holds {', '.join(shown(name) for name in more[:5])}: only {', '.join(FILES)} may")


def read_file(folder: Path, name: str) -> bytes:
    """Return the content of one file of a submission.

    Raises ValueError, with a message for people, if it is missing, is no regular file or is too large.
    """
    try:
        fd = os.open(folder / name, _OPEN)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise ValueError(f"{name} is not a regular file")
        with os.fdopen(fd, "rb") as file:
            size = os.fstat(fd).st_size
            data = file.read(MAX_BYTES[name] + 1) if size <= MAX_BYTES[name] else b""
    except FileNotFoundError:
        raise ValueError(f"{name} is missing") from None
    except OSError as error:
        fault = "a link" if (folder / name).is_symlink() else error.strerror
        raise ValueError(f"{name} cannot be read: it must be a regular file ({fault})") from None
    if max(size, len(data)) > MAX_BYTES[name]:
        raise ValueError(f"{name} is larger than {MAX_BYTES[name] >> 20} MB")
    return data


def submission_digest(folder: Path) -> str:
    """Return a SHA-256, in hexadecimal, of all that `check_submission` looks at in a folder.

    This is the content of its files, and what is wrong with the folder's name or with what else lies in it.
    A file that cannot be read counts by its fault.
    """
    digest = hashlib.sha256()
    parts = [problem.message.encode() for problem in folder_problems(folder)]
    for name in FILES:
        try:
            parts.append(sha256(read_file(folder, name)).digest())
        except ValueError as error:
            parts.append(str(error).encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


# --- its content


def check_submission(folder: Path, design: Design = DESIGN) -> CheckedSubmission:
    """Read a submission within limits, compute its result and return it with every problem found.

    Bad content never raises: it is a problem of the submission. No problem, or notes only: it is accepted.
    """
    problems = list(folder_problems(folder))
    manifest = outputs = readings = result = None
    if folder.is_dir() and not folder.is_symlink():
        content = {name: _content(folder, name, problems) for name in FILES}
        if (data := content[MANIFEST]) is not None:
            manifest, found = parse_manifest(data, design)
            problems += found
        if manifest is not None and (data := content[OUTPUTS]) is not None:
            outputs = _read_outputs(folder.name, data, manifest, design, problems)
        if manifest is not None and outputs is not None:
            readings, result = _scored(manifest, outputs, design, problems)
    return CheckedSubmission(folder, tuple(problems), manifest, outputs, readings, result)


def run_outputs(manifest: SubmissionManifest, answers: Answers, design: Design = DESIGN) -> RunOutputs:
    """Return the answers of a submission as they are scored."""
    return RunOutputs(
        name=manifest.model,
        prompt_ids=answers.prompt_ids,
        outputs=answers.outputs,
        repeats=answers.repeats,
        finish_reasons=answers.finish_reasons,
        errors=answers.errors,
        expected=expected_prompt_ids(Selection.from_json(manifest.selection, design)),
        n_repeats=manifest.repeats,
        arm=manifest.arm,
        dataset_fingerprint=manifest.dataset_fingerprint,
        design=design,
    )


def _content(folder: Path, name: str, problems: list[Problem]) -> bytes | None:
    try:
        return read_file(folder, name)
    except ValueError as error:
        problems.append(Problem(str(error)))
        return None


def _read_outputs(
    name: str, data: bytes, manifest: SubmissionManifest, design: Design, problems: list[Problem]
) -> RunOutputs | None:
    """Return the outputs, None if they cannot be scored."""
    if sha256(data).hexdigest() != manifest.outputs_sha256:
        problems.append(Problem(f"{OUTPUTS} is not the file that {MANIFEST} has the sha256 of"))
    try:
        answers = read_answers(data, manifest.model, design.n_prompts * manifest.repeats)
    except ValueError as error:
        problems.append(Problem(f"{OUTPUTS}: {error}"))
        return None
    outputs = run_outputs(manifest, answers, design)
    found = [*_row_problems(manifest, outputs), *_error_problems(answers)]
    problems += found
    if any(problem.fatal for problem in found):
        return None
    if (right := submission_name(manifest, answers)) != name:
        problems.append(Problem(f"a submission of this content is named {right}: it is a copy or changed"))
    return outputs


def _row_problems(manifest: SubmissionManifest, outputs: RunOutputs) -> Iterator[Problem]:
    """Yield what is wrong with the rows: each prompt of the selection once for each repeat, no other."""
    chosen = set(outputs.expected or ())
    unknown = list(dict.fromkeys(name for name in outputs.prompt_ids if name not in chosen))
    if unknown:
        first = ", ".join(shown(name, 80) for name in unknown[:3])
        yield Problem(f"{OUTPUTS}: {len(unknown):,} prompt_ids not of its selection, first: {first}")
        return
    if not all(0 <= repeat < manifest.repeats for repeat in outputs.repeats or ()):
        yield Problem(f"{OUTPUTS}: repeat must be 0 to {manifest.repeats - 1}")
        return
    known = layout_of(outputs.design).prompt_rows
    rows = np.array([known[name] for name in outputs.prompt_ids], dtype=np.int64)
    places = rows * manifest.repeats + np.array(outputs.repeats, dtype=np.int64)
    n_distinct = len(np.unique(places))
    if n_distinct < len(rows):
        yield Problem(f"{OUTPUTS}: {len(rows) - n_distinct:,} rows repeat a prompt_id and repeat")
    elif (np.diff(places) < 0).any():
        yield Problem(f"{OUTPUTS}: its rows are not in the order of the dataset")
    total = len(chosen) * manifest.repeats
    if missing := total - n_distinct:
        text = f"{missing:,} of {total:,} answers are missing"
        if manifest.complete:
            yield Problem(f"it is declared complete, but {text}")
        else:
            yield Problem(f"{text} and count as missing", fatal=False)


def _error_problems(answers: Answers) -> Iterator[Problem]:
    """Yield what is wrong with failed calls: they have no answer, and did not end as one that has."""
    rows = zip(answers.errors, answers.outputs, answers.finish_reasons, strict=True)
    answered = sum(failed and (bool(text) or reason is not None) for failed, text, reason in rows)
    if answered:
        yield Problem(f"{OUTPUTS}: {answered:,} failed calls have a text or a finish reason")


def _scored(
    manifest: SubmissionManifest, outputs: RunOutputs, design: Design, problems: list[Problem]
) -> tuple[Readings | None, Result | None]:
    try:
        readings = readings_of(outputs)
        result = score_readings(readings, Options())
    except MetricInputError as error:
        problems.append(Problem(f"{OUTPUTS} cannot be scored: {shown(str(error), 200)}"))
        return None, None
    if not result["n_scored"]:
        problems.append(Problem("none of its answers has a value, so there is nothing to compare"))
    else:
        reasons = reasons_without_rank(manifest, readings, result, design)
        problems += [Problem(f"no rank: {reason}", fatal=False) for reason in reasons]
    return readings, result
