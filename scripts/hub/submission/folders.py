"""The files of a submission: listed, and read within limits. Nothing in the folder is trusted."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from ...errors import UsageError
from .limits import MAX_BYTES, MAX_ENTRIES
from .records import FILES, FOLDER, Problem
from .texts import shown

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_NO_HARM: Final = ("README.md", ".gitattributes")
_OPEN: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def find_submissions(results: Path) -> list[Path]:
    """Return the folders in `results/submissions`, by name, whatever is in them.

    Raises UsageError if there is no such folder.
    """
    folder = results / FOLDER
    if not folder.is_dir():
        raise UsageError(f"{results} has no folder {FOLDER}/: give a copy of a results dataset")
    return sorted(path for path in folder.iterdir() if path.is_dir() or path.is_symlink())


def stray_problems(results: Path) -> list[Problem]:
    """Return what lies in `results/submissions` beside folders: a page and git's settings are no harm."""
    with os.scandir(results / FOLDER) as entries:
        strays = sorted(each.name for each in entries if not each.is_symlink() and not each.is_dir())
    problems = [
        Problem(f"{FOLDER}/ holds {shown(name)}, which is no folder", name not in _NO_HARM)
        for name in strays[:MAX_ENTRIES]
    ]
    if (more := len(strays) - MAX_ENTRIES) > 0:
        problems.append(Problem(f"{FOLDER}/ holds {more:,} more that are no folders"))
    return problems


def folder_problems(folder: Path) -> Iterator[Problem]:
    """Yield what is wrong with the name of a submission and with what lies in it, unread."""
    if not _NAME.fullmatch(folder.name):
        yield Problem(
            f"the name {shown(folder.name)} is not made of at most 100 of a-z, 0-9, '.', '_' and '-', "
            "the first a letter or digit"
        )
    if folder.is_symlink() or not folder.is_dir():
        yield Problem("it is not a folder: give one with " + ", ".join(FILES))
        return
    try:
        names = _entries(folder)
    except OSError as error:
        yield Problem(f"its files cannot be listed: {error.strerror}")
        return
    if more := [name for name in names if name not in FILES]:
        yield Problem(f"it holds {', '.join(shown(name) for name in more[:5])}: only {', '.join(FILES)} may")


def read_file(folder: Path, name: str) -> bytes:
    """Return the content of one file of a submission.

    Raises ValueError, with a message for people, if it is missing, is no regular file or is too large.
    """
    try:
        fd = os.open(folder / name, _OPEN)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise ValueError(f"{name} is not a regular file")
        with os.fdopen(fd, "rb") as file:
            _check_size(name, os.fstat(fd).st_size)
            data = file.read(MAX_BYTES[name] + 1)
    except FileNotFoundError:
        raise ValueError(f"{name} is missing") from None
    except OSError as error:
        fault = "a link" if (folder / name).is_symlink() else error.strerror
        raise ValueError(f"{name} cannot be read: it must be a regular file ({fault})") from None
    _check_size(name, len(data))
    return data


def submission_digest(folder: Path) -> str:
    """Return a SHA-256, in hexadecimal, of all that `check_submission` looks at in a folder.

    This is the content of the three files, and what is wrong with the folder's name or with what else lies
    in it. A file that would be refused unread stands in for itself by the reason, so that even a hostile
    folder has a digest. A copy under another name has the same one: whoever remembers verdicts by digest
    must do so by name, too.
    """
    digest = hashlib.sha256()
    for problem in folder_problems(folder):
        digest.update(problem.message.encode() + b"/")
    for name in FILES:
        try:
            content = b"content:" + hashlib.sha256(read_file(folder, name)).digest()
        except ValueError as error:
            content = b"refused:" + os.fsencode(str(error))
        digest.update(len(content).to_bytes(8) + content)
    return digest.hexdigest()


def _entries(folder: Path) -> list[str]:
    """Return the names in a folder, sorted; of a crowded one only so many."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in islice(entries, MAX_ENTRIES))


def _check_size(name: str, size: int) -> None:
    if size > MAX_BYTES[name]:
        raise ValueError(f"{name} is larger than {MAX_BYTES[name] >> 20} MB")
