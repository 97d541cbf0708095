"""The loadable metric: a copy of the package's metric folder that `evaluate.load` takes by name."""

import shutil
from pathlib import Path
from typing import Final

from .errors import DatasetFolderError
from .swap import replaced_folder

METRIC_SOURCE: Final = Path(__file__).resolve().parent.with_name("metric")
"""Beside this package, both in the repository and installed."""

_ENTRY: Final = "rupeebias_metric.py"
_COPIED: Final = (".py", ".md", ".txt")


def build_metric(out: Path) -> None:
    """Write the loadable metric into `out`, replacing an older one.

    Raises DatasetFolderError where `out` cannot be written or holds other files.
    """
    with replaced_folder(out, _foreign_files) as folder:
        for source in _sources():
            shutil.copyfile(source, folder / source.name)


def check_metric(out: Path) -> None:
    """Verify that `out` is a copy of the package's metric; DatasetFolderError names what differs."""
    for source in _sources():
        copy = out / source.name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            raise DatasetFolderError(
                f"{copy} is missing or is not the installed version; run `rupeebias build`"
            )


def _sources() -> list[Path]:
    return sorted(
        path for path in METRIC_SOURCE.iterdir() if path.suffix in _COPIED and path.name != "__init__.py"
    )


def _foreign_files(out: Path) -> list[str]:
    """Return what a folder holds beside a copy of the metric (of any version) and its caches."""
    names = [path.name for path in out.iterdir() if path.name != "__pycache__"]
    if _ENTRY not in names:
        return names
    return [name for name in names if Path(name).suffix not in _COPIED]
