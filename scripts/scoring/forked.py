"""One task for many items on all cores, in forked processes: what is loaded already is shared by all."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import orjson

from ..children import n_processors

_Item = TypeVar("_Item")
MOST: Final = 4
"""No more processes than this: each holds the outputs of a run."""


class _Child(NamedTuple):
    pid: int
    results: int
    """Descriptor from which its results are read."""


def n_processes() -> int:
    """Return how many processes to work in: 1 where this one has threads, which a fork would cut off."""
    if sys.platform != "linux" or len(list(Path("/proc/self/task").iterdir())) > 1:
        return 1
    return min(n_processors(), MOST)


@contextmanager
def begun(task: Callable[[], bytes]) -> Iterator[Callable[[], bytes | None]]:
    """Begin a task in a process of its own; what is yielded waits for its result.

    The result is None where the task raised, and where there is but one process to work in.
    """
    child = _start(task) if n_processes() > 1 else None
    try:
        yield lambda: _told(child) if child else None
    finally:
        if child:
            _end(child)


def map_in_processes(task: Callable[[_Item], Any], items: Sequence[_Item], n: int) -> list[Any]:
    """Return the task's result for each item, in order; None where it raised, or was not tried.

    Results must be plain JSON values. An error is not told: who calls the task again for an item without a
    result gets it from there. With one process or one item nothing is tried.
    """
    n = min(n, len(items))
    if n < 2:
        return [None] * len(items)
    results: list[Any] = [None] * len(items)
    children: list[_Child] = []
    try:
        children.extend(_start(partial(_all_tried, task, items[at::n])) for at in range(1, n))
        results[::n] = [_tried(task, item) for item in items[::n]]
        for at, child in enumerate(children, start=1):
            told = _told(child)
            results[at::n] = orjson.loads(told) if told else [None] * len(items[at::n])
    finally:
        for child in children:
            _end(child)
    return results


def _tried(task: Callable[[_Item], Any], item: _Item) -> Any:
    try:
        return task(item)
    except Exception:
        return None


def _all_tried(task: Callable[[_Item], Any], items: Sequence[_Item]) -> bytes:
    return orjson.dumps([_tried(task, item) for item in items])


def _start(task: Callable[[], bytes]) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(pid, reading)
    status = 1
    try:
        os.close(reading)
        result = task()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(len(result).to_bytes(8, "big") + result)
        status = 0
    finally:
        os._exit(status)  # nothing that the parent set up is ended twice


def _told(child: _Child) -> bytes | None:
    """Return a child's result, None if it ended before it had told all of it."""
    with os.fdopen(os.dup(child.results), "rb") as pipe:
        told = pipe.read()
    result = told[8:]
    return result if len(told) >= 8 and len(result) == int.from_bytes(told[:8], "big") else None


def _end(child: _Child) -> None:
    os.close(child.results)
    os.kill(child.pid, signal.SIGKILL)  # it has told its result, or that is not wanted any more
    os.waitpid(child.pid, 0)
