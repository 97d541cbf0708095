"""The list of a site's files: it tells what a build wrote from what somebody else put beside it."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from .collect import PAGES

LIST: Final = "files.json"
"""Names every other file of the site with its SHA-256."""
_MADE_BY: Final = "rupeebias leaderboard"
_MAX_LIST: Final = 10_000_000
"""Bytes; a list of 10,000 submissions is smaller."""


def write_site_list(site: Path) -> None:
    """Write the list of the files that the site holds now."""
    content = {"made_by": _MADE_BY, "files": {name: _hash(path) for name, path in _files(site).items()}}
    (site / LIST).write_bytes(
        orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"
    )


def listed_files(content: bytes) -> dict[str, str]:
    """Return the SHA-256 of each file that a list names; none for anything that is no list of ours."""
    try:
        found: Any = orjson.loads(content) if len(content) <= _MAX_LIST else None
    except ValueError:
        return {}
    if not isinstance(found, dict) or found.get("made_by") != _MADE_BY:
        return {}
    files = found.get("files")
    return dict(files) if isinstance(files, dict) else {}


def foreign_files(out: Path) -> list[str]:
    """Return what a folder holds that no build wrote, or that was changed since, by relative name."""
    path = out / LIST
    listed = listed_files(path.read_bytes()) if path.is_file() and not path.is_symlink() else {}
    found = _files(out)
    if listed:
        del found[LIST]
    return list(_foreign(found, listed))


def _foreign(found: Mapping[str, Path], listed: Mapping[str, str]) -> Iterator[str]:
    for name, path in found.items():
        if not _is_plain(path) or name not in listed:
            yield name
        elif listed[name] != _hash(path):
            yield f"{name}, changed since"


def _files(folder: Path) -> dict[str, Path]:
    """Return everything in a folder by its relative name, but for the folder of the pages itself."""
    every = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
    pages = every.get(PAGES)
    if pages is not None and pages.is_dir() and not pages.is_symlink():
        del every[PAGES]
    return every


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
