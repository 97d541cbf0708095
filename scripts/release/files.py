"""The files of the release: which hold results, what their names say, and the lines in them.

runs/{model}/{task}/{task}_{language}[_fairness]_{model}_0.0[_retried].jsonl
"""

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from rupeebias.metric.benchmark import DESIGN

from ..errors import UsageError
from ..naming import slug
from ..words import listed, printable, shown
from . import TASKS, TEMPERATURE

NAMED: Final = 5
"""Lines and files that a message names, of those that cannot be imported."""
MAX_LINE: Final = 16 << 20
"""Bytes; a longer line is no record."""
_NAME: Final = re.compile(
    rf"(?P<task>{'|'.join(TASKS)})_(?P<language>{'|'.join(DESIGN.language_names)})_(?P<model>.+)_{re.escape(TEMPERATURE)}"
    r"(?P<retried>_retried)?\.jsonl",
    re.IGNORECASE | re.DOTALL,
)
_FAIRNESS: Final = re.compile("_fairness(?=_)", re.IGNORECASE)
_NO_RESULTS: Final = ("revalidated", "smoke")
_PATTERN: Final = f"{{task}}_{{language}}[_fairness]_{{model}}_{TEMPERATURE}[_retried].jsonl"


class UnmappedError(Exception):
    """A line that stands for no answer to a prompt of the benchmark; its message says why."""


class Unmapped:
    """The lines that could not be mapped: how many, and where the first ones are."""

    def __init__(self) -> None:
        self.count = 0
        """Of all files."""
        self._first: list[str] = []

    def add(self, path: Path, line: int, reason: str) -> None:
        """Count one line of a file."""
        self.count += 1
        if len(self._first) < NAMED:
            self._first.append(f"{path} line {line} {reason}")

    def __str__(self) -> str:
        be = "record cannot be mapped" if self.count == 1 else "records cannot be mapped"
        return f"{self.count:,} {be}, first: {listed(self._first, NAMED, self.count)}"


class ReleaseFile(NamedTuple):
    """One file of results."""

    path: Path
    model: str
    """Its folder's name where it lies in `{model}/{task}/`, else as its own name says. Hostile text."""
    named: str
    """The model as the file's name has it. Hostile text."""
    arm: str
    """`standard` or `fairness`."""
    use_case: str
    """Our slug."""
    language: str
    """`en` or `hinglish`."""
    is_retried: bool
    """It holds answers to prompts whose request had failed."""


class Found(NamedTuple):
    """The files below a path."""

    results: list[ReleaseFile]
    """In the order of their paths."""
    left_out: list[str]
    """The other `.jsonl` files and the links, each with the reason."""


def find_files(path: Path) -> Found:
    """Return the files of results in `path`: the repository, its `runs/`, a folder in that, or one file.

    Symbolic links below `path` are not followed. Raises UsageError if there are none, and for two files that
    claim to hold the same results, since their answers would be taken for repeats.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist: give a folder of the authors' release or one of its files")
    found = Found([], [])
    runs = path / "runs"
    root = runs if runs.is_dir() and not runs.is_symlink() else path
    for each in _candidates(root):
        _sort_in(each, root, found)
    if not found.results:
        raise UsageError(_nothing(path, found.left_out))
    _check(found.results)
    return found


def _candidates(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        yield root
        return
    for folder, folders, names in os.walk(root, onerror=_raise):
        folders.sort()
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        yield from (Path(folder) / name for name in sorted([*names, *links]))


def _raise(error: OSError) -> None:
    raise error


def _sort_in(path: Path, root: Path, found: Found) -> None:
    is_link = path.is_symlink() and path != root  # whoever names a link means what it leads to
    if not is_link and path.suffix.casefold() != ".jsonl":
        return
    within = printable(str(path.relative_to(root)) if path != root else path.name)
    if is_link:
        found.left_out.append(f"{within} (a symbolic link)")
    elif mark := next((word for word in _NO_RESULTS if word in within.casefold()), None):
        found.left_out.append(f"{within} ({mark})")
    elif not stat.S_ISREG(path.stat().st_mode):
        found.left_out.append(f"{within} (not a regular file)")
    elif result := _read_name(path):
        found.results.append(result)
    else:
        found.left_out.append(f"{within} (not named as results are)")


def _read_name(path: Path) -> ReleaseFile | None:
    name, is_fair = _FAIRNESS.subn("", path.name)
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    task, named = match["task"].casefold(), printable(match["model"])
    folder = path.parent.resolve()
    is_in_place = slug(folder.name) == task and folder.parent.name
    return ReleaseFile(
        path=path,
        model=printable(folder.parent.name) if is_in_place else named,
        named=named,
        arm="fairness" if is_fair else "standard",
        use_case=TASKS[task],
        language=match["language"].casefold(),
        is_retried=match["retried"] is not None,
    )


def _check(files: list[ReleaseFile]) -> None:
    named: dict[str, str] = {}
    seen: dict[tuple[object, ...], Path] = {}
    for file in files:
        first = named.setdefault(file.model, file.named)
        if first.casefold() != file.named.casefold():
            raise UsageError(
                f"files of {file.model} are named after two models, {first} and {file.named}: "
                "move those of one into a folder of its own"
            )
        key = (file.model, file.arm, file.use_case, file.language, file.is_retried)
        if key in seen:
            raise UsageError(
                f"{seen[key]} and {file.path} claim to hold the same results: give PATH only one of them"
            )
        seen[key] = file.path


def _nothing(path: Path, left_out: list[str]) -> str:
    why = f"; left out: {listed(left_out, NAMED)}" if left_out else ""
    return (
        f"nothing to import in {path}{why}\n"
        f"Give the repository of the authors' release, its runs/, a folder in that, or a file {_PATTERN}"
    )


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, numbered from 1; of one too long only its beginning."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            rest = line
            while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
                rest = file.readline(MAX_LINE + 1)
            if line.strip():
                yield number, line


def parse_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object that a line holds, NaN allowed as Python writes it; raises UnmappedError."""
    if len(line) > MAX_LINE:
        raise UnmappedError(f"is longer than {MAX_LINE >> 20} MB")
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        found = _loads(line)
    if not isinstance(found, dict):
        raise UnmappedError(f"is {shown(found)}, not a JSON object")
    return found


def _loads(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        fault = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise UnmappedError(f"is not valid JSON ({fault})") from None
