"""The whole report as one call, for the commands `report` and `audit`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rupeebias.errors import DatasetFolderError

from ..errors import RupeeBiasError, UsageError
from ..files import replaced_folder
from .data import ReportRun, load_report_runs

PAGE: Final = "report.html"
FOLDERS: Final = ("tables", "figures")
"""What a report's folder holds beside the page."""


def write_report(paths: Sequence[Path], out: Path, **options: Any) -> Path:
    """Write the report of runs, or of files of outputs, into the folder `out`; return its page.

    `options` are those of `rupeebias.metric.score`. An older report in `out` is replaced as a whole.
    Raises UsageError where `out` holds anything else, before any run is read.
    """
    check_folder(out)
    return write_report_of(load_report_runs(paths, **options), out)


def write_report_of(runs: Sequence[ReportRun], out: Path) -> Path:
    """Write the report of runs that are already loaded; otherwise as `write_report`."""
    from .figures import write_figures
    from .page.render import write_page
    from .tables import write_tables

    check_folder(out)
    try:
        with replaced_folder(out, foreign_files) as folder:
            write_tables(runs, folder / "tables")
            figures = write_figures(runs, folder / "figures")
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
        shown = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
        raise UsageError(f"{out} holds files that are not a report ({shown}); choose another --out")


def foreign_files(out: Path) -> list[str]:
    """Return what a folder holds beside a report; everything in it where it has no page."""
    names = [path.name for path in out.iterdir()]
    return [name for name in names if PAGE not in names or name not in (PAGE, *FOLDERS)]
