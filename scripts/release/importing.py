"""The authors' release as run directories: all that a path holds, or nothing."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DatasetFolderError, RupeeBiasError, UsageError
from ..files import replaced_folder, sync_folder
from ..runs.manifest import Manifest, read_manifest
from ..words import listed
from .completeness import Counted
from .files import NAMED, ReleaseFile, Unmapped, find_files
from .records import Answer, read_answers
from .repeats import Settled, settle
from .run import check_same, planned_manifest, write_run


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One model in one arm."""

    folder: Path
    """Its run directory."""
    manifest: Manifest
    settled: Settled
    """Its responses, and how many were left out."""
    is_new: bool
    """False: the same run was there before."""


@dataclass(frozen=True, slots=True)
class Import:
    """What an import did."""

    runs: list[ImportedRun] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Files that are no results, with the reason."""
    counted: Counted = field(default_factory=Counted)
    """What the files hold of each model, task and language."""
    unmapped: Unmapped = field(default_factory=Unmapped)
    """Lines that stand for no prompt of the benchmark."""


def import_release(
    path: Path,
    out: Path,
    *,
    repeats: int | None = 1,
    skip_unmapped: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Import:
    """Write a run directory into `out` for each model and arm that `path` holds.

    `repeats` bounds the answers of a prompt that count, the first ones; None: all. `repeats.py` tells which.

    The directories appear when all of them are written, and none does after an error. One that is there
    with the same answers is left as it is. Raises UsageError for a path without results and where other
    answers are in the way, RupeeBiasError for lines that cannot be mapped, unless `skip_unmapped` leaves
    those out. `say` hears what is read.
    """
    if repeats is not None and repeats < 1:
        raise UsageError(f"--repeats {repeats}: give the most answers to take of each prompt, 1 or more")
    found = find_files(path)
    done = Import(left_out=found.left_out)
    try:
        with ExitStack() as staged:
            for files in _by_run(found.results):
                say(f"reading {files[0].model}, {files[0].arm} arm: {len(files)} files")
                _import_run(files, out, repeats, done, staged)
            _check(done, path, skip_unmapped)
        if any(run.is_new for run in done.runs):
            sync_folder(out)
    except DatasetFolderError as error:
        raise RupeeBiasError(str(error)) from None
    return done


def _by_run(results: list[ReleaseFile]) -> list[list[ReleaseFile]]:
    runs: dict[tuple[str, str], list[ReleaseFile]] = {}
    for file in results:
        runs.setdefault((file.model, file.arm), []).append(file)
    return list(runs.values())


def _import_run(
    files: list[ReleaseFile], out: Path, repeats: int | None, done: Import, staged: ExitStack
) -> None:
    """Write one run beside its place, which it takes when `staged` ends without error."""
    before = done.unmapped.count
    settled = settle(_answers(files, done), repeats)
    if not settled.by_prompt:
        done.left_out.extend(f"{file.path} (no records)" for file in files)
        return
    planned = planned_manifest(files, settled, unmapped=done.unmapped.count - before)
    folder = out / planned.identity.directory_name
    if folder.exists() or folder.is_symlink():
        check_same(folder, planned, settled)
        done.runs.append(ImportedRun(folder, read_manifest(folder), settled, is_new=False))
        return
    new = staged.enter_context(replaced_folder(folder, _everything))
    done.runs.append(ImportedRun(folder, write_run(new, planned, settled), settled, is_new=True))


def _answers(files: list[ReleaseFile], done: Import) -> Iterator[tuple[Answer, bool]]:
    for file in files:
        for answer in read_answers(file, done.unmapped):
            if done.counted.takes(file, answer):
                yield answer, file.is_retried


def _everything(folder: Path) -> list[str]:
    """Return what must not be replaced in a folder that came to be meanwhile."""
    return [path.name for path in folder.iterdir()]


def _check(done: Import, path: Path, skip_unmapped: bool) -> None:
    if done.unmapped.count and not skip_unmapped:
        raise RupeeBiasError(
            f"{done.unmapped}\nCorrect them, or leave them out with --skip-unmapped; nothing was written."
        )
    if not done.runs:
        why = str(done.unmapped) if done.unmapped.count else listed(done.left_out, NAMED)
        raise UsageError(f"nothing to import in {path}: its files hold no record of use; {why}")
