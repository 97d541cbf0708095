"""The entries of all submissions: known ones from the cache, the others recomputed by workers."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ...errors import RupeeBiasError
from ..submission.folders import read_file, submission_digest
from ..submission.records import MANIFEST
from ..submission.strict_json import strict_json
from .cache import SUFFIX, entry_key, forget_unused, read_entry
from .pool import Failure, Job, run_jobs
from .records import EARLIEST, Entry, is_page_name, refused_entry, utc_time

PAGES: Final = "models"
"""Folder of the site that holds the submissions' pages."""
Progress = Callable[[int, int, str], None]
"""Called with submissions done, submissions to recompute, and the folder's name."""


class Collector:
    """Collects the entries of all submissions, from the cache or recomputed, and writes their pages."""

    def __init__(
        self, site: Path, cache: Path, files_url: str | None, workers: int, progress: Progress
    ) -> None:
        self._site = site
        self._cache = cache
        self._files_url = files_url
        self._workers = workers
        self._progress = progress
        self._began = datetime.now(UTC)
        self._used: set[str] = set()
        self.n_recomputed = 0

    def entries(self, folders: Sequence[Path]) -> list[Entry]:
        """Return one entry a folder, in any order."""
        uncached = self._site.parent / "uncached"  # goes with the folder in which the site is made
        readable = [folder for folder in folders if _is_text(folder.name)]
        jobs = [self._job(folder, uncached / f"{at}{SUFFIX}") for at, folder in enumerate(readable)]
        known = {job.folder: self._placed(job) for job in jobs}
        new = [job for job in jobs if known[job.folder] is None]
        entries = [entry for entry in known.values() if entry]
        entries += [_unreadable(folder) for folder in folders if not _is_text(folder.name)]
        self._recompute(new, entries)
        forget_unused(self._cache, self._used)
        return entries

    def _recompute(self, jobs: Sequence[Job], entries: list[Entry]) -> None:
        def done(job: Job, failure: Failure | None) -> None:
            entries.append(self._collected(job, failure))
            self.n_recomputed += 1
            self._progress(self.n_recomputed, len(jobs), Path(job.folder).name)

        run_jobs(jobs, done, workers=self._workers)

    def _job(self, folder: Path, elsewhere: Path) -> Job:
        """Return what to do for a folder: with a digest its entry goes to the cache, else elsewhere.

        What is said of a date ahead of the clock is true for a while only: no cache may hold it.
        """
        digest = _digest(folder)
        link = f"{self._files_url.rstrip('/')}/{folder.name}" if self._files_url else None
        target = elsewhere
        if digest is not None and _latest(folder) <= self._began:
            target = self._cache / f"{entry_key(folder.name, digest, link)}{SUFFIX}"
            self._used.add(target.name)
        return Job(str(folder), digest, link, str(target))

    def _collected(self, job: Job, failure: Failure | None) -> Entry:
        """Return the entry that a worker made; one that could not be made is a refusal."""
        if failure is not None and failure.is_ours:
            raise RupeeBiasError(f"{failure.message}; no site was written, run the same command again")
        if failure is not None:
            return refused_entry(Path(job.folder).name, failure.message, job.digest)
        entry = self._placed(job)
        if entry is None:
            raise RupeeBiasError(f"{job.target} was written but cannot be read; run the same command again")
        return entry

    def _placed(self, job: Job) -> Entry | None:
        """Return the entry of a job's target, its page written to the site; None if there is none."""
        name = Path(job.folder).name
        found = read_entry(Path(job.target))
        if found is None or (found[0].name, found[0].digest) != (name, job.digest):
            return None
        entry, page = found
        if entry.has_page and is_page_name(name):
            (self._site / PAGES / f"{name}.html").write_bytes(page)
        return entry


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(folder: Path) -> Entry:
    shown = folder.name.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return refused_entry(shown, "the folder's name is not UTF-8")


def _digest(folder: Path) -> str | None:
    try:
        return submission_digest(folder)
    except OSError:  # checking says what is wrong with it
        return None


def _latest(folder: Path) -> datetime:
    """Return the latest time that a manifest names, even one that is refused; the earliest one if none."""
    try:
        manifest = strict_json(read_file(folder, MANIFEST))
    except ValueError:
        return EARLIEST
    named = manifest if isinstance(manifest, dict) else {}
    return max(utc_time(named.get(name)) for name in ("created_at", "updated_at"))
