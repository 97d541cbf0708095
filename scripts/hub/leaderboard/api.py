"""The board as one call: the same submissions give the same bytes, unchanged ones are not recomputed."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rupeebias.dataset_builder.errors import DatasetFolderError
from rupeebias.dataset_builder.swap import replaced_folder

from ...errors import RupeeBiasError, UsageError
from ..submission.folders import find_submissions
from ..submission.records import FOLDER
from .cache import default_cache
from .collect import PAGES, Collector, Progress
from .data import board_csv, board_json
from .pool import MAX_WORKERS
from .ranking import Standing, standings
from .records import Entry
from .rows import in_order
from .site import index_page, readme, refused_page

MARK: Final = "leaderboard.json"
"""The file that tells a board's folder from others."""
FILES: Final = ("index.html", "refused.html", MARK, "leaderboard.csv", "README.md", PAGES)
"""What the folder of a board holds."""
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
    folders = find_submissions(results)
    _check_paths(results, out)
    if files_url is not None and not _URL.fullmatch(files_url):
        raise UsageError(f"--files-url {files_url[:60]!r} is no http or https address")
    try:
        with replaced_folder(out, foreign_files) as site:
            (site / PAGES).mkdir()
            collector = Collector(site, cache or default_cache(), files_url, workers, progress)
            entries = collector.entries(folders)
            places = standings(entries)
            _write_site(site, in_order(entries, places), places)
    except DatasetFolderError as error:
        raise RupeeBiasError(str(error)) from None
    return _board(out, list(places.values()), collector.n_recomputed)


def _check_paths(results: Path, out: Path) -> None:
    if out.resolve().is_relative_to((results / FOLDER).resolve()) or results.resolve() == out.resolve():
        raise UsageError(f"--out {out} lies in the results: choose a folder of its own")


def foreign_files(out: Path) -> list[str]:
    """Return what a folder holds beside a board; everything in it where there is no board."""
    names = [path.name for path in out.iterdir()]
    return [name for name in names if MARK not in names or name not in FILES]


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
