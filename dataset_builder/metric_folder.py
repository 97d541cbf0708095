"""The loadable metric: a copy of the package's metric folder that `evaluate.load` takes by name."""

import re
import shutil
from pathlib import Path
from typing import Final

from rupeebias.errors import DatasetFolderError
from rupeebias.files import replaced_folder

METRIC_SOURCE: Final = Path(__file__).resolve().parent.with_name("metric")
"""Beside this package, both in the repository and installed."""

_ENTRY: Final = "rupeebias_metric.py"
_COPIED: Final = (".py", ".md", ".txt")
_OWNER: Final = re.compile(rb'(?<=evaluate\.load\(")[A-Za-z0-9][A-Za-z0-9._-]{0,95}/(rupeebias_metric"\))')


def build_metric(out: Path) -> None:
    """Write the loadable metric into `out`, replacing an older one.

    Raises DatasetFolderError where `out` cannot be written or holds other files.
    """
    with replaced_folder(out, _foreign_files) as folder:
        for source in _sources():
            shutil.copyfile(source, folder / source.name)


def check_metric(out: Path) -> None:
    """Verify that `out` is a copy of the package's metric; DatasetFolderError names what differs.

    The card of a published copy names its owner in `evaluate.load`: that is no difference.
    """
    for source in _sources():
        copy = out / source.name
        if not copy.is_file() or _as_local(copy) != source.read_bytes():
            raise DatasetFolderError(
                f"{copy} is missing or is not the installed version; run `rupeebias build`"
            )


def _as_local(copy: Path) -> bytes:
    content = copy.read_bytes()
    return _OWNER.sub(rb"\1", content) if copy.suffix == ".md" else content


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
