"""Writes a file or a folder whole or not at all, so that no reader meets a half-written one."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import DatasetFolderError


def write_file(path: Path, content: bytes | str, *, durable: bool = False) -> None:
    """Replace a file in one step: a full disk or a kill leaves the old one as it was. Text becomes UTF-8.

    `durable` brings it to the disk, its name included, before this returns. A link stays one: what it points
    to is replaced. Raises OSError as the system does.
    """
    place = path.resolve()
    data = content.encode() if isinstance(content, str) else content
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}-", suffix=".new", dir=place.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.chmod(_mode(place))
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(place.parent)


def _mode(place: Path) -> int:
    """Return the rights of the file that is replaced, or those of a new file: a temporary one is private."""
    try:
        return place.stat().st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def sync_folder(folder: Path) -> None:
    """Bring the names in `folder` to the disk: a new file survives a power failure only then."""
    if sys.platform == "win32":  # a folder cannot be opened there, and names are kept by the file system
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replaced_folder(out: Path, foreign: Callable[[Path], list[str]]) -> Iterator[Path]:
    """Yield an empty folder beside `out` that takes its place when the block ends without error.

    `foreign(out)` lists what an existing, non-empty `out` holds that is not ours to delete; if there is
    anything, `out` is left alone. What a process left that was killed before is cleared away first. Raises
    DatasetFolderError for foreign files and where nothing can be written.
    """
    out = out.resolve()
    _clear_left_behind(out)
    _refuse_foreign(out, foreign)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{out.name}-{os.getpid()}-", dir=out.parent))
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
            _put_back(staged, out)
            raise
    except OSError as error:
        raise _failed(out, staged, error) from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _put_back(staged: Path, out: Path) -> None:
    is_free = not out.exists() or (out.is_dir() and not any(out.iterdir()))
    if is_free and (staged / "old").exists():
        (staged / "old").rename(out)


def _clear_left_behind(out: Path) -> None:
    """Remove what dead processes left; one that died between two renames gets its old folder put back."""
    form = re.compile(rf"\.{re.escape(out.name)}-(\d+)-[a-z0-9_]{{8}}")
    try:
        found = [(path, form.fullmatch(path.name)) for path in out.parent.iterdir()]
        for path, match in found:
            if match and path.is_dir() and not path.is_symlink() and not _is_running(int(match[1])):
                _put_back(path, out)
                shutil.rmtree(path, ignore_errors=True)
    except OSError:  # no such folder yet, or not ours to tidy: writing will say what is wrong
        return


def _is_running(process: int) -> bool:
    if sys.platform == "win32":  # there, asking a process ends it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


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


def _failed(out: Path, staged: Path, error: OSError) -> DatasetFolderError:
    """Return what to say: the fault may lie with a file that was read for `out`, not with `out`."""
    named = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes | Path) else out
    if named == out or named.is_relative_to(staged):
        return _unwritable(out, error)
    return DatasetFolderError(f"{named}: {error.strerror or error}; {out} was not written")


def _unwritable(out: Path, error: OSError) -> DatasetFolderError:
    reason = error.strerror or str(error)
    return DatasetFolderError(f"cannot write {out}: {reason}; choose another folder")
