"""The runner: asks a model for every request of a run, with one retry layer, and journals each
outcome.

A fixed pool of workers pulls from one iterator, so memory does not grow with the number of prompts.
Before the pool starts, requests go out one at a time until one is answered: a wrong key or model
name costs a handful of calls at most. What fails in the end becomes an error record, never an empty
answer.
"""

import asyncio
import itertools
import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .journal import Journal
from .outputs import Record
from .progress import Progress
from .types import CallError, Complete, Reply, Request

_PROBES = 3
_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How hard to try. None of it changes an answer, so all of it may change when a run is resumed."""

    max_connections: int = 16
    """Calls at once."""
    max_retries: int = 8
    """Further attempts after the first failed one of a request."""
    timeout_s: float = 1800.0
    """Deadline of one request, all its attempts and waits included."""
    attempt_timeout_s: float = 120.0
    """Deadline of one attempt, from the moment it is sent."""
    first_wait_s: float = 1.0
    """Wait before the first retry where the server names none; it doubles each time."""
    longest_wait_s: float = 60.0
    """Bound of that doubling; a server may ask for longer."""
    max_failures_in_a_row: int = 20
    """Requests that fail one after the other before the run stops."""
    max_failures: int | None = None
    """Failed requests of this session beyond which the run stops; None: no bound."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a session ended."""

    replied: int
    """Requests answered in this session."""
    failed: int
    """Requests that became error records in this session."""
    stopped: str | None
    """Why the session stopped before its end; None if every request was asked."""
    fatal: bool
    """True if going on is pointless until the cause is removed (key, model name, quota)."""


async def run(
    requests: Iterable[Request],
    complete: Complete,
    journal: Journal,
    options: RunOptions,
    progress: Progress,
) -> RunResult:
    """Ask `complete` every one of `requests` and append one record for each to `journal`.

    A request whose outcome is not final when the run stops or is cancelled has no record, so that
    the next session asks it again. Raises RupeeBiasError if the journal cannot be written.
    """
    session = _Session(requests, complete, journal, options, progress)
    await session.probe()
    if session.stopped is None:
        await session.run_pool()
    return RunResult(session.replied, session.failed, session.stopped, session.fatal)


class _Session:
    """The shared state of the workers."""

    def __init__(
        self,
        requests: Iterable[Request],
        complete: Complete,
        journal: Journal,
        options: RunOptions,
        progress: Progress,
    ) -> None:
        self._requests = iter(requests)
        self._complete = complete
        self._journal = journal
        self._options = options
        self._progress = progress
        self._stopping = asyncio.Event()
        self._in_a_row = 0
        self._time = asyncio.get_running_loop().time
        # Jitter only spreads calls over time; it has no part in any result.
        self._random = random.Random()  # noqa: S311
        self.replied = 0
        self.failed = 0
        self.stopped: str | None = None
        self.fatal = False

    async def probe(self) -> None:
        """Ask one request after the other until one is answered; stop if none of the first few is.

        The failed ones get their records only once another was answered: a failure of everything
        says nothing about a single prompt.
        """
        failures: list[Record] = []
        for request in itertools.islice(self._requests, _PROBES):
            record = await self._ask(request)
            if record is None:
                return
            if record["error"] is None:
                for failure in failures:
                    self._keep(failure)
                self._keep(record)
                return
            failures.append(record)
            if record["attempts"] > 1:  # it was worth retrying and yet failed: so would the next
                break
        if failures:
            self._stop(f"no request succeeded: {failures[-1]['error']}", fatal=True)

    async def run_pool(self) -> None:
        """Let the workers empty the iterator; when the run stops, give calls in flight a short
        grace.
        """
        workers = [asyncio.create_task(self._work()) for _ in range(self._options.max_connections)]
        everything: asyncio.Future[Any] = asyncio.gather(*workers)
        stopping: asyncio.Future[Any] = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((everything, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not everything.done():
                await asyncio.wait(workers, timeout=_GRACE_S)
        finally:
            for task in (*workers, stopping):
                task.cancel()
            outcomes = await asyncio.gather(*workers, return_exceptions=True)
            await asyncio.gather(everything, stopping, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome

    async def _work(self) -> None:
        for request in self._requests:
            if self._stopping.is_set():
                return
            record = await self._ask(request)
            if record is None:
                return
            self._keep(record)
            # A model that answers without waiting would otherwise keep the loop from seeing Ctrl-C.
            await asyncio.sleep(0)

    async def _ask(self, request: Request) -> Record | None:
        """Return the record of `request` once its outcome is final, None if the run stops before
        that.
        """
        deadline = self._time() + self._options.timeout_s
        for attempt in itertools.count(1):
            sent = self._time()
            limit = min(sent + self._options.attempt_timeout_s, deadline)
            try:
                async with asyncio.timeout_at(limit):
                    reply = await self._complete(request)
            except TimeoutError:
                error = CallError(f"no answer within {limit - sent:.0f} s", retryable=True)
            except CallError as caught:
                error = caught
            else:
                return _reply_record(request, reply, self._time() - sent, attempt)
            latency = self._time() - sent
            if error.fatal:
                self._stop(error.message, fatal=True)
                return None
            wait = self._wait(error, attempt)
            too_late = wait is not None and self._time() + wait >= deadline
            if wait is None or too_late:
                return _error_record(request, self._reason(error, late=too_late), latency, attempt)
            if await self._stops_within(wait, error.message):
                return None
        raise AssertionError("unreachable")

    def _wait(self, error: CallError, attempt: int) -> float | None:
        """Return the seconds to wait before the next attempt, None if there is to be none."""
        if not error.retryable or attempt > self._options.max_retries:
            return None
        if error.retry_after_s is not None:
            return error.retry_after_s * self._random.uniform(1.0, 1.1)
        longest = min(self._options.first_wait_s * 2.0 ** (attempt - 1), self._options.longest_wait_s)
        return longest * self._random.uniform(0.5, 1.0)

    def _reason(self, error: CallError, *, late: bool) -> str:
        if not late:
            return error.message
        asked = f", asked to wait {error.retry_after_s:.0f} s" if error.retry_after_s else ""
        return f"{error.message} (gave up{asked}: --timeout is {self._options.timeout_s:.0f} s)"

    async def _stops_within(self, seconds: float, reason: str) -> bool:
        """Wait `seconds`; return True at once if the run stops."""
        self._progress.waiting(1, reason)
        try:
            async with asyncio.timeout(seconds):
                return await self._stopping.wait()
        except TimeoutError:
            return False
        finally:
            self._progress.waiting(-1)

    def _keep(self, record: Record) -> None:
        self._journal.append(record)
        failed = record["error"] is not None
        self._progress.finished(failed=failed)
        if not failed:
            self.replied += 1
            self._in_a_row = 0
            return
        self.failed += 1
        self._in_a_row += 1
        bound = self._options.max_failures
        if self._in_a_row >= self._options.max_failures_in_a_row:
            self._stop(f"{self._in_a_row} requests in a row failed, the last: {record['error']}")
        elif bound is not None and self.failed > bound:
            self._stop(f"too many requests failed ({self.failed:,}), the last: {record['error']}")

    def _stop(self, reason: str, *, fatal: bool = False) -> None:
        if self.stopped is None:
            self.stopped = reason
            self.fatal = fatal
        self._stopping.set()


def _reply_record(request: Request, reply: Reply, latency_s: float, attempts: int) -> Record:
    return {
        "prompt_id": request.prompt_id,
        "repeat": request.repeat,
        "output": reply.text,
        "finish_reason": reply.finish_reason,
        "error": None,
        "usage": reply.usage,
        "cost_usd": reply.cost_usd,
        "latency_s": round(latency_s, 4),
        "attempts": attempts,
        "created_at": _now(),
        "response_model": reply.response_model,
    }


def _error_record(request: Request, error: str, latency_s: float, attempts: int) -> Record:
    record = _reply_record(request, Reply(None), latency_s, attempts)
    record["error"] = error or "unknown error"
    return record


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
