"""Run directories: `manifest.json`, which says what the run is, and `outputs.jsonl`, the replies."""

import os
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ..errors import RupeeBiasError, UsageError
from ..files import sync_folder
from .journal import EMPTY, Journal, Key, latest_valid, read_outputs
from .ledger import Ledger, Spending
from .manifest import (
    DESIGN_FILE,
    FILE,
    Counts,
    Manifest,
    is_manifest,
    read_manifest,
    shortened,
    write_manifest,
)

OUTPUTS: Final = "outputs.jsonl"
RUNS: Final = Path("runs")
_LOCK: Final = ".lock"


@dataclass(frozen=True, slots=True)
class RunState:
    """Which requests of a run have an outcome."""

    done: AbstractSet[Key]
    """Those with a valid record."""
    failed: AbstractSet[Key]
    """Those with error records only."""
    cost_usd: float = 0.0
    """Sum of the known costs."""
    unknown_costs: int = 0
    """Valid records whose cost is unknown."""
    empty: AbstractSet[Key] = frozenset()
    """Those of `done` whose last reply is empty."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run directory that this process holds."""

    folder: Path
    manifest: Manifest
    """What it is; `save` writes its later states."""
    journal: Journal
    """Its replies."""
    ledger: Ledger
    """What they cost."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run directory for this process; the system lets go of it when the process ends, however it ends.

    Raises UsageError if another process holds it.
    """
    from filelock import FileLock, Timeout

    path = folder / _LOCK
    lock = FileLock(path, timeout=0, mode=0o644, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(
            f"{folder} is in use by another process (id {_holder(path) or 'unknown'}); "
            "wait for it, or use another --run directory"
        ) from None
    try:
        # Where the file system has no locks, the file holds filelock's own mark instead.
        if (holder := _holder(path)).isdecimal() or not holder:
            path.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        lock.release()


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()[:20]
    except OSError:  # Windows lets nobody read a locked file
        return ""


@contextmanager
def open_run(folder: Path, planned: Manifest, *, fresh: bool = False) -> Iterator[OpenRun]:
    """Hold a run directory, new or to be resumed, until the context ends.

    Raises UsageError if the directory is in use, is something else, or holds a run that differs in
    the model, a setting, the selection, the dataset or (downwards) the repeats: each difference is
    named. `fresh` moves an old run aside, under its name with the time, and starts a new one.
    """
    if fresh:
        move_aside(folder)
    check_same_run(folder, planned)  # before anything is put into a folder that is not ours
    folder.mkdir(parents=True, exist_ok=True)
    sync_folder(folder.parent)
    with locked(folder):
        old = check_same_run(folder, planned)
        manifest = planned if old is None else _resumed(old, planned)
        write_manifest(folder, manifest)  # before the first reply: no reply without its settings
        with Journal(folder / OUTPUTS) as journal:
            before = Spending(journal.cost_usd, 0.0, journal.unknown_costs)
            with Ledger(folder, before) as ledger:
                yield OpenRun(folder, manifest, journal, ledger)


def run_state(folder: Path) -> RunState:
    """Return how far the run in `folder` is, changing nothing."""
    path = folder / OUTPUTS
    latest = latest_valid(read_outputs(path)) if path.exists() else {}
    failed = {key for key, record in latest.items() if record.get("error") is not None}
    costs = [record.get("cost_usd") for key, record in latest.items() if key not in failed]
    known = [cost for cost in costs if cost is not None]
    empty = {key for key, record in latest.items() if record.get("status") == EMPTY}
    return RunState(latest.keys() - failed, failed, sum(known), len(costs) - len(known), empty)


def check_same_run(folder: Path, planned: Manifest) -> Manifest | None:
    """Return the manifest of the run in `folder`, None if there is no run; see `open_run` for
    errors.
    """
    _check_folder(folder)
    if not (folder / FILE).exists():
        if (folder / OUTPUTS).exists():
            raise RupeeBiasError(
                f"{folder} has {OUTPUTS} but no {FILE}: restore it, or choose another --run directory"
            )
        return None
    old = read_manifest(folder)
    differences = old.identity.differences(planned.identity)
    if planned.repeats < old.repeats:
        differences.append(f"repeats: {old.repeats} -> {planned.repeats} (may only grow)")
    if old.identity.selection.controls == "with" and planned.identity.selection.controls == "none":
        differences.append("controls: with -> none (may only be added)")
    if differences:
        raise UsageError(
            f"{folder} holds another run; {shortened(differences)}\n"
            "Use the old settings, another --run directory, or --fresh to move the old run aside."
        )
    _check_prompts(folder, old, planned)
    if old.counts.done and not (folder / OUTPUTS).exists():
        raise RupeeBiasError(
            f"{folder} has no {OUTPUTS}, though its {FILE} counts {old.counts.done:,} replies: restore it, "
            "or start again with --fresh"
        )
    return old


def _check_prompts(folder: Path, old: Manifest, planned: Manifest) -> None:
    if planned.prompts in (None, old.prompts) or old.prompt_ids() is not None:
        return
    version = old.versions.get("rupeebias", "another version")
    raise UsageError(
        f"{folder} was begun by rupeebias {version}, for which its selection "
        f"({old.identity.selection.describe()}) meant other "
        "prompts than now: it can be scored as it is, and resumed with that version only\n"
        "Use another --run directory, or --fresh to move the old run aside."
    )


def move_aside(folder: Path) -> Path | None:
    """Rename a run directory to `<name>.<UTC time>` and return that; None if there is none.

    Nothing is ever deleted. Raises UsageError if the run is in use or the folder is not a run.
    """
    if not folder.exists():
        return None
    _check_folder(folder)
    if not is_manifest(folder / FILE):
        if {path.name for path in folder.iterdir()} <= {_LOCK}:
            return None
        raise UsageError(
            f"--fresh: {folder} is left alone, since it has no {FILE} of a run; "
            "move it yourself, or choose another --run directory"
        )
    with locked(folder):
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        return folder.rename(folder.with_name(f"{folder.name}.{stamp}"))


def list_runs(root: Path) -> list[tuple[Path, Manifest | RupeeBiasError]]:
    """Return the runs in `root`, or `root` itself if it is one, by name; a damaged one with its
    error.

    Counts and costs are those of the replies on the disk, so they hold for a running and a killed run
    too.
    """
    folders = [root] if (root / FILE).exists() else sorted(p.parent for p in root.glob(f"*/{FILE}"))
    found: list[tuple[Path, Manifest | RupeeBiasError]] = []
    for folder in folders:
        try:
            manifest, state = read_manifest(folder), run_state(folder)
        except RupeeBiasError as error:
            found.append((folder, error))
        else:
            is_known = len(state.done) > state.unknown_costs
            on_disk = replace(
                manifest,
                counts=counts_on_disk(manifest, state),
                cost_usd=state.cost_usd if is_known else None,
                unknown_costs=state.unknown_costs,
            )
            found.append((folder, on_disk))
    return found


def counts_on_disk(manifest: Manifest, state: RunState) -> Counts:
    """Return how far a run is; records of other prompts or repeats than the run's do not count."""
    ids = manifest.prompt_ids()
    chosen = None if ids is None else set(ids)

    def number(keys: AbstractSet[Key]) -> int:
        return sum((chosen is None or name in chosen) and n < manifest.repeats for name, n in keys)

    return Counts(manifest.counts.requests, number(state.done), number(state.failed))


def _resumed(old: Manifest, planned: Manifest) -> Manifest:
    """Return the old run's manifest with what may have grown: repeats and controls."""
    return replace(
        old,
        identity=replace(old.identity, selection=planned.identity.selection),
        repeats=planned.repeats,
        counts=replace(old.counts, requests=planned.counts.requests),
        prompts=planned.prompts or old.prompts,
        versions=planned.versions,
        options=planned.options,
    )


def _check_folder(folder: Path) -> None:
    """Refuse what is neither absent, nor empty, nor a run."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; --run needs a directory")
    names = {path.name for path in folder.iterdir()}
    # A kill at the very beginning leaves the lock, a design, or a manifest under a temporary name.
    strange = {name for name in names if not name.startswith((".lock", f".{FILE}-", f".{DESIGN_FILE}-"))}
    if strange - {DESIGN_FILE} and not names & {FILE, OUTPUTS}:
        raise UsageError(f"{folder} is not empty and not a run; choose another --run directory")
