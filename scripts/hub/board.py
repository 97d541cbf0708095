"""The board as one call: the same submissions give the same bytes, unchanged ones are not computed again.

What was computed of a submission is kept by its content: one file with the SHA-256 of its name and all that
follows, a line of JSON (the `Entry`), then its page. Whatever does not match its hash counts as absent.
"""

import os
import re
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Final

import orjson

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design

from .. import __version__, dataset_builder, metric
from ..errors import RupeeBiasError, UsageError
from ..files import replaced_folder, write_file
from ..processes import ProcessDiedError, run_tasks
from .check import find_submissions, is_plain_name, read_file, submission_digest
from .entries import EARLIEST, Entry, utc_time
from .ranking import Placed, in_order, placed, read_decisions
from .recompute import entry_and_page
from .site import PAGES, foreign_files, write_site
from .submission import FOLDER, MANIFEST, strict_json

MAX_WORKERS: Final = 2
"""What a build starts at most, unless told otherwise: each takes some 200 MB."""
JOBS_A_PROCESS: Final = 25
"""A worker is replaced after so many submissions: memory that libraries keep does not add up."""
TIME_LIMIT_S: Final = 300.0
"""A submission that takes longer is refused; an honest one takes two seconds."""
START_LIMIT_S: Final = 60.0
"""Longest time in which a process that does nothing starts and ends."""
MAX_AGE_DAYS: Final = 90
"""Entries that no build used for so long are deleted."""
SUFFIX: Final = ".entry"
_URL: Final = re.compile(r"https?://[A-Za-z0-9._~:/@!$&'()*+,;=%-]+")
_LIBRARIES: Final = ("numpy", "scipy", "jinja2", "orjson")
Progress = Callable[[int, int, str], None]
"""Called with submissions done, submissions to compute, and the folder's name."""


@dataclass(frozen=True, slots=True)
class Board:
    """What was built."""

    folder: Path
    n_ranked: int
    n_unranked: int
    n_superseded: int
    n_refused: int
    n_recomputed: int
    """Submissions that no cache knew."""
    refused: tuple[tuple[str, str], ...] = ()
    """Folder and first reason of each refused submission. Hostile text."""


@dataclass(frozen=True, slots=True)
class Job:
    """One submission to compute."""

    folder: Path
    digest: str | None
    """Of its content; None if it has none."""
    files_url: str | None
    """Address of its files, for the link on its page."""
    target: Path
    """Where its entry goes."""
    design: Design


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job gave no entry."""

    message: str
    is_ours: bool = False
    """True: the disk, or files that change; nothing that the submission is to be blamed for."""


def build_leaderboard(
    results: Path,
    out: Path,
    *,
    cache: Path | None = None,
    files_url: str | None = None,
    workers: int = MAX_WORKERS,
    progress: Progress = lambda done, total, name: None,
    design: Design = DESIGN,
    commit: str | None = None,
    submitters: Mapping[str, str] | None = None,
) -> Board:
    """Build the site of the submissions in `results`/submissions into the folder `out`.

    An older board in `out` is replaced as a whole at the end; nothing of it is used. `cache` holds what was
    computed before (default: a folder of the user's). `files_url` is the address of the folder that
    holds the submissions' folders, for links; `commit` that of the results, and `submitters` who brought each
    folder there. What maintainers decided (`decisions.json` beside submissions/)
    holds. Raises UsageError for a folder without submissions/ and folders inside each other, and
    RupeeBiasError for an `out` that holds anything else than a board as it was built.
    """
    find_submissions(results)
    decisions = read_decisions(results)
    kept = cache or default_cache()
    _check_paths(results, out, kept)
    if files_url is not None and not _URL.fullmatch(files_url):
        raise UsageError(
            f"--files-url {files_url[:60]!r} is no http or https address to which a folder's name can be "
            "added: leave out spaces, ? and #"
        )
    with replaced_folder(out, foreign_files) as site:
        entries, n_computed = computed_entries(
            results, site, kept, files_url=files_url, workers=workers, progress=progress, design=design
        )
        brought = submitters or {}
        named = [replace(entry, submitter=brought.get(entry.name)) for entry in entries]
        places = in_order(placed(named, decisions=decisions))
        write_site(site, places, design, commit)
    return _board(out, places, n_computed)


def computed_entries(
    results: Path,
    site: Path,
    cache: Path,
    *,
    files_url: str | None = None,
    workers: int = MAX_WORKERS,
    progress: Progress = lambda done, total, name: None,
    design: Design = DESIGN,
) -> tuple[list[Entry], int]:
    """Return an entry of each submission, its page written to `site`, and how many no cache knew."""
    (site / PAGES).mkdir(parents=True)
    folders = find_submissions(results)
    entries = [_unreadable(folder) for folder in folders if not _is_text(folder.name)]
    jobs = list(_jobs([x for x in folders if _is_text(x.name)], site, cache, files_url, design))
    known = [entry for job in jobs if (entry := _placed(job, site))]
    names = {entry.name for entry in known}
    new = [job for job in jobs if job.folder.name not in names]
    entries += [*known, *_computed(new, site, workers, progress)]
    _forget_unused(cache, {job.target.name for job in jobs})
    return entries, len(new)


def default_cache() -> Path:
    """Return the user's folder for what can be made again."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "rupeebias" / "leaderboard"


def _check_paths(results: Path, out: Path, cache: Path) -> None:
    if out.resolve().is_relative_to((results / FOLDER).resolve()) or results.resolve() == out.resolve():
        raise UsageError(f"--out {out} lies in the results: choose a folder of its own")
    if results.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"--out {out} holds the results, which it would replace: choose a folder of its own")
    for name, folder in (("--out", out), ("RESULTS_DIR", results)):
        if cache.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"--cache {cache} lies in {name} {folder}: choose a folder outside of it")


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(folder: Path) -> Entry:
    shown = folder.name.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return Entry(shown, refusals=("the folder's name is not UTF-8",))


def _board(out: Path, places: Sequence[Placed], n_recomputed: int) -> Board:
    counts = Counter(one.standing.status for one in places)
    return Board(
        folder=out,
        n_ranked=counts["ranked"],
        n_unranked=counts["unranked"],
        n_superseded=counts["superseded"],
        n_refused=counts["refused"],
        n_recomputed=n_recomputed,
        refused=tuple((x.entry.name, x.entry.refusals[0]) for x in places if x.entry.refusals),
    )


# --- what is to be computed


def _jobs(
    folders: Sequence[Path], site: Path, cache: Path, files_url: str | None, design: Design
) -> Iterator[Job]:
    """Yield what there is to do for each folder: with a digest its entry goes to the cache, else elsewhere.

    What is said of a date ahead of the clock is true for a while only: no cache may hold it.
    """
    began = datetime.now(UTC)
    for at, folder in enumerate(folders):
        try:
            digest = submission_digest(folder)
        except OSError:  # checking says what is wrong with it
            digest = None
        link = f"{files_url.rstrip('/')}/{folder.name}" if files_url else None
        target = site.parent / "uncached" / f"{at}{SUFFIX}"  # goes with the folder in which the site is made
        if digest is not None and _latest(folder) <= began:
            depends_on = [folder.name, digest, link, design.fingerprint, code_fingerprint()]
            target = cache / f"{sha256(orjson.dumps(depends_on)).hexdigest()}{SUFFIX}"
        yield Job(folder, digest, link, target, design)


def _latest(folder: Path) -> datetime:
    """Return the latest time that a manifest names, even one that is refused; the earliest one if none."""
    try:
        manifest = strict_json(read_file(folder, MANIFEST))
    except ValueError:
        return EARLIEST
    named = manifest if isinstance(manifest, dict) else {}
    return max(utc_time(named.get(name)) for name in ("created_at", "updated_at"))


@cache
def code_fingerprint() -> str:
    """Return a hash of the code, templates and assets that make an entry, and of the versions they use."""
    versions = [__version__, sys.version, zlib.ZLIB_RUNTIME_VERSION, *map(metadata.version, _LIBRARIES)]
    digest = sha256(orjson.dumps(versions))
    package = Path(__file__).parent.parent
    for folder in (package, *(Path(str(one.__file__)).parent for one in (metric, dataset_builder))):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(folder).as_posix()
                digest.update(orjson.dumps([name, path.stat().st_size]) + path.read_bytes())
    return digest.hexdigest()


def _computed(jobs: Sequence[Job], site: Path, workers: int, progress: Progress) -> Iterator[Entry]:
    """Yield the entries of jobs as they end; RupeeBiasError for a failure that no submission is to blame for.

    A process that ended gets a second chance: memory may have been short for a moment.
    """
    n_done = 0
    died: list[Job] = []
    for last in (False, True):
        left = died if last else jobs
        for at, found in run_tasks(
            _do,
            left,
            workers=workers,
            tasks_a_process=JOBS_A_PROCESS,
            time_limit_s=TIME_LIMIT_S,
        ):
            if isinstance(found, ProcessDiedError) and not last:
                died.append(left[at])
                continue
            n_done += 1
            progress(n_done, len(jobs), left[at].folder.name)
            yield _collected(left[at], found, site)


def _collected(job: Job, found: Failure | Exception | None, site: Path) -> Entry:
    if isinstance(found, ProcessDiedError):
        [(_, alive)] = run_tasks(str, ("",), time_limit_s=START_LIMIT_S)
        if isinstance(alive, Exception):
            raise RupeeBiasError("the processes that check submissions end at once: Python does not start")
        found = Failure("its check was ended: too much memory or time, or malformed files")
    if isinstance(found, Exception):
        raise found
    if found is not None and found.is_ours:
        raise RupeeBiasError(f"{found.message}; no site was written, run the same command again")
    if found is not None:
        return Entry(job.folder.name, job.digest, refusals=(found.message,))
    entry = _placed(job, site)
    if entry is None:
        raise RupeeBiasError(f"{job.target} was written but cannot be read; run the same command again")
    return entry


def _do(job: Job) -> Failure | None:
    """Do a job, in a process of its own; return why it failed."""
    try:
        entry, page = entry_and_page(job.folder, job.digest, job.files_url, job.design)
        if job.digest is not None and submission_digest(job.folder) != job.digest:
            return Failure(f"{job.folder} changed while it was read", is_ours=True)
        _write_entry(job.target, entry, page.encode())
    except OSError as error:
        return Failure(f"{error.filename or job.target}: {error.strerror or error}", is_ours=True)
    except RupeeBiasError as error:
        return Failure(str(error), is_ours=True)
    except Exception as error:  # whatever a submission does, the next ones are still checked
        return Failure(f"it cannot be checked ({type(error).__name__}: {error})"[:1000])
    return None


# --- what was computed before


def _placed(job: Job, site: Path) -> Entry | None:
    """Return the entry of a job's target, its page written to the site; None if there is none."""
    found = _read_entry(job.target)
    if found is None or (found[0].name, found[0].digest) != (job.folder.name, job.digest):
        return None
    entry, page = found
    if entry.has_page and is_plain_name(entry.name):
        (site / PAGES / f"{entry.name}.html").write_bytes(page)
    return entry


def _write_entry(path: Path, entry: Entry, page: bytes) -> None:
    content = orjson.dumps(entry.to_json()) + b"\n" + page
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, _checksum(path, content) + b"\n" + content)


def _read_entry(path: Path) -> tuple[Entry, bytes] | None:
    """Return an entry and its page (empty if it has none); None if it is absent or damaged."""
    try:
        checksum, _, content = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    if _checksum(path, content) != checksum:
        return None
    head, _, page = content.partition(b"\n")
    return Entry.from_json(orjson.loads(head)), page


def _checksum(path: Path, content: bytes) -> bytes:
    """Return the hash of an entry; with its name, so that one put in the place of another is no entry."""
    return sha256(path.name.encode() + b"\n" + content).hexdigest().encode()


def _forget_unused(folder: Path, used: set[str]) -> None:
    """Mark the entries in use, and delete those that no build used for MAX_AGE_DAYS."""
    oldest = time.time() - MAX_AGE_DAYS * 86_400
    for path in folder.glob("*"):
        try:
            if path.name in used:
                os.utime(path)
            elif path.name.endswith((SUFFIX, ".new")) and path.stat().st_mtime < oldest:
                path.unlink()
        except OSError:  # another build was faster, or the folder is read-only
            continue
