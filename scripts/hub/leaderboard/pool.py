"""Workers that recompute submissions: processes of their own, so that none can end or bloat the build."""

import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson

from ...children import start_module

MAX_WORKERS: Final = 2
"""What a build starts at most, unless told otherwise: each takes some 200 MB."""
JOBS_A_PROCESS: Final = 25
"""A worker is replaced after so many submissions: memory that libraries keep does not add up."""
TIME_LIMIT_S: Final = 600.0
"""A submission that takes longer is refused; an honest one takes two seconds."""

_LAST_WORDS_S: Final = 10.0
_MODULE: Final = "rupeebias.hub.leaderboard.worker"
_ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""The processes share the cores already."""


@dataclass(frozen=True, slots=True)
class Job:
    """One submission to recompute; see `worker`."""

    folder: str
    digest: str | None
    files_url: str | None
    target: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job gave no entry."""

    message: str
    is_ours: bool = False
    """True: the disk, or files that change; nothing that the submission is to be blamed for."""


class _Worker:
    """One process; it starts with its first job and is replaced when it has done enough, or died."""

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._jobs_left = 0
        self._is_ended = False

    def do(self, job: Job) -> Failure | None:
        """Do a job; return why it failed, None if it did not.

        A process that a signal ends gets a second chance: memory may have been short for a moment.
        """
        found = self._tried(job)
        if isinstance(found, int) and found < 0 and not self._is_ended:
            found = self._tried(job)
        self._is_ended = False
        if isinstance(found, int):
            if found > 0:  # what a submission does cannot end a process with a status of its own
                text = f"a process that checks submissions ended with status {found}: Python does not start"
                return Failure(text, is_ours=True)
            return Failure(
                f"its check ended with status {found}: too much memory or time, or malformed files"
            )
        return found

    def _tried(self, job: Job) -> Failure | int | None:
        """Do a job; return how it ended, or the status of a process that ended instead."""
        process = self._ready()
        timer = threading.Timer(self._time_limit, self.kill)
        timer.start()
        try:
            answer = _asked(process, job)
        finally:
            timer.cancel()
        self._jobs_left -= 1
        if answer is None:
            status = _status(process)
            self.stop()
            return status
        return Failure(**answer) if answer["message"] is not None else None

    def _ready(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._jobs_left == 0:
            self.stop()
            self._process = start_module(_MODULE, **_ONE_THREAD)
            self._jobs_left = JOBS_A_PROCESS
        return self._process

    def stop(self) -> None:
        """End the process: between jobs it holds nothing."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def kill(self) -> None:
        """End a job at work, from another thread; its `do` returns."""
        self._is_ended = True
        if (process := self._process) is not None:
            process.kill()


def _status(process: "subprocess.Popen[bytes]") -> int:
    """Return the status of a process that says nothing more: its own, if it ends by itself."""
    try:
        return process.wait(_LAST_WORDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _asked(process: "subprocess.Popen[bytes]", job: Job) -> dict[str, Any] | None:
    """Return the answer to a job; None if the process ended without one."""
    assert process.stdin is not None  # noqa: S101 - made with pipes
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(orjson.dumps(asdict(job)) + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        return None
    answer: dict[str, Any] | None = orjson.loads(line) if line.endswith(b"\n") else None
    return answer


def run_jobs(
    jobs: Sequence[Job],
    done: Callable[[Job, Failure | None], None],
    *,
    workers: int = MAX_WORKERS,
    time_limit: float = TIME_LIMIT_S,
) -> None:
    """Do all jobs, calling `done(job, why it failed or None)` in this thread as each ends.

    An interrupt, or an error of `done`, stops the workers and is raised.
    """
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[Job, Failure | None]] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    started = [_Worker(time_limit) for _ in range(min(workers, len(jobs)))]
    threads = [threading.Thread(target=_work, args=(worker, waiting, answers)) for worker in started]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            done(*answers.get())
    finally:
        while not waiting.empty():
            _taken(waiting)
        for worker in started:
            worker.kill()
        for thread in threads:
            thread.join()


def _work(
    worker: _Worker,
    waiting: "queue.SimpleQueue[Job]",
    answers: "queue.SimpleQueue[tuple[Job, Failure | None]]",
) -> None:
    while (job := _taken(waiting)) is not None:
        try:
            answers.put((job, worker.do(job)))
        except Exception as error:  # the thread must answer, or the build would wait for ever
            answers.put(
                (job, Failure(f"no worker could take it ({type(error).__name__}: {error})", is_ours=True))
            )
    worker.stop()


def _taken(waiting: "queue.SimpleQueue[Job]") -> Job | None:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None
