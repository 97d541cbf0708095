"""The one way to work in several processes: a task for many items, each result as it comes."""

import faulthandler
import multiprocessing
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Final, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_ONE_THREAD: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Libraries of linear algebra start a thread a core in each process, which share the cores already."""


class ProcessDiedError(Exception):
    """The process that did a task ended in the middle: too much memory or time, or a fault of a library."""


def n_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(
    task: Callable[[_Item], _Result],
    items: Sequence[_Item],
    *,
    workers: int | None = None,
    tasks_a_process: int | None = None,
    time_limit_s: float | None = None,
) -> Iterator[tuple[int, _Result | Exception]]:
    """Yield (index of the item, the task's result or the error it raised), in the order in which tasks end.

    The task is a function of a module, its items and results can be pickled. With one worker (the default: as
    many as processors and items) it runs here. A process that a task ends, or that is at it for longer than
    `time_limit_s`, costs that item alone: it is yielded as ProcessDiedError, the others are done again. After
    `tasks_a_process` tasks each, processes are replaced: memory that libraries keep does not add up.
    """
    n = min(workers or n_processors(), len(items))
    if n == 0 or (n == 1 and time_limit_s is None):
        yield from ((at, _tried(task, item)) for at, item in enumerate(items))
        return
    # A pool of its own for each round: `max_tasks_per_child` can dead-lock in Python 3.11.
    size = n * tasks_a_process if tasks_a_process else len(items)
    for first in range(0, len(items), size):
        yield from _round(task, items, range(first, min(first + size, len(items))), n, time_limit_s)


def _round(
    task: Callable[[_Item], _Result],
    items: Sequence[_Item],
    places: Sequence[int],
    workers: int,
    time_limit_s: float | None,
) -> Iterator[tuple[int, _Result | Exception]]:
    lost: list[int] = []
    with _pool(min(workers, len(places))) as pool:
        futures: dict[Future[_Result | Exception], int] = {}
        for at in places:
            try:
                futures[pool.submit(_limited, task, items[at], time_limit_s)] = at
            except (BrokenProcessPool, OSError):  # the pipe of a pool that is breaking is closed first
                lost.append(at)
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:  # every item under way fails with the one that ended its process
                lost.append(futures[future])
    if len(places) == 1:
        yield from ((at, ProcessDiedError("the process ended before it had a result")) for at in lost)
        return
    for at in sorted(lost):
        yield from _round(task, items, (at,), 1, time_limit_s)


def _limited(
    task: Callable[[_Item], _Result], item: _Item, time_limit_s: float | None
) -> _Result | Exception:
    if time_limit_s is None:
        return _tried(task, item)
    # The watchdog needs no Python to run: a task inside a library's loop ends as well.
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a device
        faulthandler.dump_traceback_later(time_limit_s, exit=True, file=nowhere)
        try:
            return _tried(task, item)
        finally:
            faulthandler.cancel_dump_traceback_later()


def _tried(task: Callable[[_Item], _Result], item: _Item) -> _Result | Exception:
    try:
        return task(item)
    except Exception as error:
        return error


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of fresh processes; one that is left by an error or an interrupt ends at once."""
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    main = sys.modules["__main__"]
    # A process that is spawned runs the caller's script first: an unguarded one would audit a second time.
    sys.modules["__main__"] = types.ModuleType("__main__")
    unset = [name for name in _ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        sys.modules["__main__"] = main
        for name in unset:
            del os.environ[name]
