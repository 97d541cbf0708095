"""Replaces a folder as a whole, so that no reader meets a half-written one."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import DatasetFolderError


@contextmanager
def replaced_folder(out: Path, foreign: Callable[[Path], list[str]]) -> Iterator[Path]:
    """Yield an empty folder beside `out` that takes its place when the block ends without error.

    `foreign(out)` lists what an existing, non-empty `out` holds that is not ours to delete; if there is
    anything, `out` is left alone. Raises DatasetFolderError for that and where nothing can be written.
    """
    out = out.resolve()
    _refuse_foreign(out, foreign)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise _unwritable(out, error) from None
    try:
        folder = staged / "new"
        folder.mkdir()
        yield folder
        if out.exists():
            out.rename(staged / "old")
        try:
            folder.rename(out)
        except BaseException:  # an interrupt, too, must not lose the old folder
            if (staged / "old").exists():
                (staged / "old").rename(out)
            raise
    except OSError as error:
        raise _unwritable(out, error) from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _refuse_foreign(out: Path, foreign: Callable[[Path], list[str]]) -> None:
    if out.exists() and not out.is_dir():
        raise DatasetFolderError(f"{out} is not a folder; choose another")
    if not out.is_dir() or not any(out.iterdir()):
        return
    if names := foreign(out):
        shown = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
        raise DatasetFolderError(
            f"{out} holds files that this command did not write ({shown}); "
            "move them away or choose another folder"
        )


def _unwritable(out: Path, error: OSError) -> DatasetFolderError:
    reason = error.strerror or str(error)
    return DatasetFolderError(f"cannot write {out}: {reason}; choose another folder")
