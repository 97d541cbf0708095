"""One task for many items on all cores, in forked processes: what is loaded already is shared by all."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
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
        children.extend(_start(task, items[at::n]) for at in range(1, n))
        results[::n] = [_tried(task, item) for item in items[::n]]
        for at, child in enumerate(children, start=1):
            results[at::n] = _collected(child) or [None] * len(items[at::n])
    finally:
        for child in children:
            _end(child)
    return results


def _tried(task: Callable[[_Item], Any], item: _Item) -> Any:
    try:
        return task(item)
    except Exception:
        return None


def _start(task: Callable[[_Item], Any], items: Sequence[_Item]) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(pid, reading)
    status = 1
    try:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(orjson.dumps([_tried(task, item) for item in items]))
        status = 0
    finally:
        os._exit(status)  # nothing that the parent set up is ended twice


def _collected(child: _Child) -> list[Any] | None:
    """Return a child's results, None if it was ended before it had all of them."""
    with os.fdopen(os.dup(child.results), "rb") as pipe:
        told = pipe.read()
    try:
        return list(orjson.loads(told))
    except orjson.JSONDecodeError:
        return None


def _end(child: _Child) -> None:
    os.close(child.results)
    os.kill(child.pid, signal.SIGKILL)  # it has told its results, or they are not wanted any more
    os.waitpid(child.pid, 0)
