"""The board as one call: the same submissions give the same bytes, unchanged ones are not recomputed."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rupeebias.errors import DatasetFolderError

from ...errors import RupeeBiasError, UsageError
from ...files import replaced_folder
from ..submission.folders import find_submissions
from ..submission.records import FOLDER
from .cache import default_cache
from .collect import PAGES, Collector, Progress
from .data import board_csv, board_json
from .pool import MAX_WORKERS
from .ranking import Placed, placed
from .rows import in_order
from .site import index_page, readme, refused_page
from .site_files import foreign_files, write_site_list

_URL: Final = re.compile(r"https?://[A-Za-z0-9._~:/@!$&'()*+,;=%-]+")


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
    holds the submissions' folders, for links. Raises UsageError for a folder without submissions/, folders
    inside each other, and RupeeBiasError for an `out` that holds anything else than a board as it was built.
    """
    folders = find_submissions(results)
    kept = cache or default_cache()
    _check_paths(results, out, kept)
    if files_url is not None:
        _check_url(files_url)
    try:
        with replaced_folder(out, foreign_files) as site:
            (site / PAGES).mkdir()
            collector = Collector(site, kept, files_url, workers, progress)
            places = in_order(placed(collector.entries(folders)))
            _write_site(site, places)
    except DatasetFolderError as error:
        raise RupeeBiasError(str(error)) from None
    return _board(out, places, collector.n_recomputed)


def _check_paths(results: Path, out: Path, cache: Path) -> None:
    if out.resolve().is_relative_to((results / FOLDER).resolve()) or results.resolve() == out.resolve():
        raise UsageError(f"--out {out} lies in the results: choose a folder of its own")
    if results.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"--out {out} holds the results, which it would replace: choose a folder of its own")
    for name, folder in (("--out", out), ("RESULTS_DIR", results)):
        if cache.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"--cache {cache} lies in {name} {folder}: choose a folder outside of it")


def _check_url(url: str) -> None:
    if not _URL.fullmatch(url):
        raise UsageError(
            f"--files-url {url[:60]!r} is no http or https address to which a folder's name can be added: "
            "leave out spaces, ? and #"
        )


def _write_site(site: Path, places: Sequence[Placed]) -> None:
    files = {
        "index.html": index_page(places).encode(),
        "refused.html": refused_page(places).encode(),
        "leaderboard.json": board_json(places),
        "leaderboard.csv": board_csv(places),
        "README.md": readme().encode(),
    }
    for name, content in files.items():
        (site / name).write_bytes(content)
    write_site_list(site)


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
