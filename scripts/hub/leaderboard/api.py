"""The board as one call: the same submissions give the same bytes, unchanged ones are not recomputed."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rupeebias.dataset_builder.errors import DatasetFolderError
from rupeebias.dataset_builder.swap import replaced_folder

from ...errors import RupeeBiasError, UsageError
from ..submission.records import FOLDER
from .cache import SUFFIX, default_cache, entry_key, forget_unused, read_entry
from .data import board_csv, board_json
from .pool import MAX_WORKERS, Failure, Job, run_jobs
from .ranking import Standing, standings
from .records import Entry, is_page_name, refused_entry, utc_time
from .rows import in_order
from .site import index_page, readme, refused_page

PAGES: Final = "models"
MARK: Final = "leaderboard.json"
"""The file that tells a board's folder from others."""
FILES: Final = ("index.html", "refused.html", MARK, "leaderboard.csv", "README.md", PAGES)
"""What the folder of a board holds."""
Progress = Callable[[int, int, str], None]
"""Called with submissions done, submissions to recompute, and the folder's name."""
_URL: Final = re.compile(r"https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+")


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


def build_leaderboard(
    results: Path,
    out: Path,
    *,
    cache: Path | None = None,
    files_url: str | None = None,
    workers: int = MAX_WORKERS,
    progress: Progress = lambda done, total, name: None,
) -> Board:
    """Build the site of the submissions in `results`/submissions into the folder `out`.

    An older board in `out` is replaced as a whole at the end; nothing of it is used. `cache` holds what was
    recomputed before (default: a folder of the user's). `files_url` is the address of the folder that
    holds the submissions' folders, for links. Raises UsageError for a folder without submissions/ or an
    `out` that holds anything else.
    """
    folders = submission_folders(results)
    _check_paths(results, out)
    if files_url is not None and not _URL.fullmatch(files_url):
        raise UsageError(f"--files-url {files_url[:60]!r} is no http or https address")
    try:
        with replaced_folder(out, foreign_files) as site:
            (site / PAGES).mkdir()
            builder = _Builder(site, cache or default_cache(), files_url, workers, progress)
            entries = builder.entries(folders)
            places = standings(entries)
            _write_site(site, in_order(entries, places), places)
    except DatasetFolderError as error:
        raise RupeeBiasError(str(error)) from None
    return _board(out, list(places.values()), builder.n_recomputed)


def submission_folders(results: Path) -> list[Path]:
    """Return the folders of submissions, sorted; UsageError where `results` is no folder of results."""
    from ..submission.folders import find_submissions

    return find_submissions(results)


def _check_paths(results: Path, out: Path) -> None:
    if out.resolve().is_relative_to((results / FOLDER).resolve()) or results.resolve() == out.resolve():
        raise UsageError(f"--out {out} lies in the results: choose a folder of its own")


def foreign_files(out: Path) -> list[str]:
    """Return what a folder holds beside a board; everything in it where there is no board."""
    names = [path.name for path in out.iterdir()]
    return [name for name in names if MARK not in names or name not in FILES]


class _Builder:
    """Collects the entries of all submissions, from the cache or recomputed, and writes their pages."""

    def __init__(
        self, site: Path, cache: Path, files_url: str | None, workers: int, progress: Progress
    ) -> None:
        self._site = site
        self._cache = cache
        self._files_url = files_url
        self._workers = workers
        self._progress = progress
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
        """Return what to do for a folder: with a digest its entry goes to the cache, else elsewhere."""
        digest = _digest(folder)
        link = f"{self._files_url.rstrip('/')}/{folder.name}" if self._files_url else None
        target = elsewhere
        if digest is not None:
            target = self._cache / f"{entry_key(folder.name, digest, link)}{SUFFIX}"
            self._used.add(target.name)
        return Job(str(folder), digest, link, str(target))

    def _collected(self, job: Job, failure: Failure | None) -> Entry:
        """Return the entry that a worker made; one that could not be made is a refusal."""
        if failure is not None and failure.is_ours:
            raise RupeeBiasError(f"{failure.message}; nothing was changed, run the same command again")
        entry = self._placed(job) if failure is None else None
        if entry is None:
            reason = failure.message if failure else "its entry in the cache cannot be read"
            return refused_entry(Path(job.folder).name, reason, job.digest)
        if not entry.accepted and _is_ahead(entry):
            Path(job.target).unlink(missing_ok=True)  # time may put it right: ask again in the next build
        return entry

    def _placed(self, job: Job) -> Entry | None:
        """Return the entry of a job's target, its page written to the site; None if there is none."""
        name = Path(job.folder).name
        found = read_entry(Path(job.target))
        if found is None or found[0].name != name:
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
    from ..submission.folders import submission_digest

    try:
        return submission_digest(folder)
    except OSError:  # checking says what is wrong with it
        return None


def _is_ahead(entry: Entry) -> bool:
    """Tell whether a submission claims to come from the future."""
    times = (entry.manifest or {}).get("created_at"), (entry.manifest or {}).get("updated_at")
    return any(utc_time(time) > datetime.now(UTC) for time in times)


def _write_site(site: Path, entries: Sequence[Entry], places: Mapping[str, Standing]) -> None:
    files = {
        "index.html": index_page(entries, places).encode(),
        "refused.html": refused_page(entries, places).encode(),
        MARK: board_json(entries, places),
        "leaderboard.csv": board_csv(entries, places),
        "README.md": readme().encode(),
    }
    for name, content in files.items():
        (site / name).write_bytes(content)


def _board(out: Path, places: Sequence[Standing], n_recomputed: int) -> Board:
    counts = Counter(standing.status for standing in places)
    return Board(
        folder=out,
        n_ranked=counts["ranked"],
        n_unranked=counts["unranked"],
        n_superseded=counts["superseded"],
        n_refused=counts["refused"],
        n_recomputed=n_recomputed,
    )
