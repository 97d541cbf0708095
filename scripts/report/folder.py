"""The whole report as one call, for the commands `report` and `audit`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..errors import DatasetFolderError, RupeeBiasError, UsageError
from ..files import replaced_folder
from ..scoring.score import Note
from ..words import listed
from .runs import ReportRun, load_report_runs

PAGE: Final = "report.html"
FOLDERS: Final = ("tables", "figures")
"""What a report's folder holds beside the page."""


def write_report(
    paths: Sequence[Path],
    out: Path,
    *,
    progress: Note | None = None,
    note: Note | None = None,
    **options: Any,
) -> Path:
    """Write the report of runs, or of files of outputs, into the folder `out`; return its page.

    `options` are those of `rupeebias.metric.score`. An older report in `out` is replaced as a whole.
    `progress` hears what is begun, `note` of runs that are left out. Raises UsageError where `out` holds
    anything else, before any run is read.
    """
    check_folder(out)
    runs = load_report_runs(paths, progress=progress, note=note, **options)
    return write_report_of(runs, out, progress=progress)


def write_report_of(runs: Sequence[ReportRun], out: Path, *, progress: Note | None = None) -> Path:
    """Write the report of runs that are already loaded; otherwise as `write_report`."""
    from .figures.catalogue import write_figures
    from .page.render import write_page
    from .tables import write_tables

    check_folder(out)
    say = progress or (lambda _: None)
    try:
        with replaced_folder(out, foreign_files) as folder:
            write_tables(runs, folder / "tables")
            say("drawing the figures")
            figures = write_figures(runs, folder / "figures")
            say("writing the page")
            write_page(runs, figures, folder / PAGE)
    except DatasetFolderError as error:
        raise RupeeBiasError(str(error)) from None
    return out / PAGE


def check_folder(out: Path) -> None:
    """Raise UsageError if `out` holds anything but a report."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder; choose another --out")
    names = foreign_files(out) if out.is_dir() else []
    if names:
        shown = listed(sorted(names), between=", ")
        raise UsageError(f"{out} holds files that are not a report ({shown}); choose another --out")


def foreign_files(out: Path) -> list[str]:
    """Return what a folder holds beside a report; everything in it where it has no page."""
    names = [path.name for path in out.iterdir()]
    return [name for name in names if PAGE not in names or name not in (PAGE, *FOLDERS)]
