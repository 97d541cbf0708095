"""Recomputed submissions, kept by content: an unchanged one is never computed twice.

An entry is one file: the SHA-256 of its name and all that follows, a line of JSON (the `Entry`), then its
page. Whatever does not match its hash, or has another form, counts as absent.
"""

import os
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Final

import orjson

from rupeebias.metric.constants import DATASET_FINGERPRINT
from rupeebias.metric.version import METRIC_VERSION

from ... import __version__, dataset_builder, metric
from .records import Entry

MAX_AGE_DAYS: Final = 90
"""Entries that no build used for so long are deleted."""
SUFFIX: Final = ".entry"
_CODE: Final = ("report", "hub", "scoring", "generate")
"""Folders of the package, beside metric and dataset_builder, that decide what a page says."""
_LIBRARIES: Final = ("numpy", "scipy", "jinja2", "orjson", "pyarrow")


def default_cache() -> Path:
    """Return the user's folder for what can be made again."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "rupeebias" / "leaderboard"


def entry_key(name: str, digest: str, files_url: str | None) -> str:
    """Return the name of the entry of a submission: everything that its page depends on, hashed."""
    return sha256(orjson.dumps([name, digest, files_url, code_fingerprint()])).hexdigest()


@cache
def code_fingerprint() -> str:
    """Return a hash of the code, templates and assets that make an entry, and of the versions they use."""
    versions = [__version__, METRIC_VERSION, DATASET_FINGERPRINT, sys.version, zlib.ZLIB_RUNTIME_VERSION]
    digest = sha256(orjson.dumps(versions + [metadata.version(name) for name in _LIBRARIES]))
    for name, path in _sources():
        digest.update(orjson.dumps([name, path.stat().st_size]) + path.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterator[tuple[str, Path]]:
    package = Path(__file__).parent.parent.parent
    folders = {name: package / name for name in _CODE}
    for module in (metric, dataset_builder):
        folders[module.__name__] = Path(str(module.__file__)).parent
    for name, folder in folders.items():
        files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        yield from sorted((f"{name}/{path.relative_to(folder).as_posix()}", path) for path in files)


def write_entry(path: Path, entry: Entry, page: bytes) -> None:
    """Write an entry in one step: a reader sees all of it or nothing."""
    content = orjson.dumps(entry.to_json()) + b"\n" + page
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_checksum(path, content) + b"\n" + content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _checksum(path: Path, content: bytes) -> bytes:
    """Return the hash of an entry; with its name, so that one put in the place of another is no entry."""
    return sha256(path.name.encode() + b"\n" + content).hexdigest().encode()


def read_entry(path: Path) -> tuple[Entry, bytes] | None:
    """Return an entry and its page (empty if it has none); None if it is absent or damaged."""
    try:
        checksum, _, content = path.read_bytes().partition(b"\n")
        if _checksum(path, content) != checksum:
            return None
        head, _, page = content.partition(b"\n")
        return Entry.from_json(orjson.loads(head)), page
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def forget_unused(folder: Path, used: set[str]) -> None:
    """Mark the entries in use, and delete those that no build used for MAX_AGE_DAYS."""
    oldest = time.time() - MAX_AGE_DAYS * 86_400
    for path in folder.glob("*"):
        try:
            ours = path.name.endswith(SUFFIX) or path.name.startswith(".new-")
            if path.name in used:
                os.utime(path)
            elif ours and path.stat().st_mtime < oldest:
                path.unlink()
        except OSError:  # another build was faster, or the folder is read-only
            continue
