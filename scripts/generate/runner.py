"""The runner: asks a model for every request of a run, with one retry layer, and journals each
outcome.

A fixed pool of workers pulls from one iterator, so memory does not grow with the number of prompts.
Before the pool starts, requests go out one at a time until one is answered: a wrong key or model
name costs a handful of calls at most, and a parameter that the provider turns down is found. What
fails in the end becomes an error record, never an empty answer.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..models.types import CallError, Complete, Reply, Request
from ..runs.journal import ANSWER, Journal, Record, error_record, reply_record
from .limits import Budget, Gate, Pass
from .options import RunOptions
from .progress import Progress
from .retry import too_late
from .stopping import Stopping

_PROBES = 3
_GRACE_S = 5.0
"""How long calls in flight are waited for when the run stops, and after a time in which it stood still."""
_LATE_S = 1.0
"""A deadline that is noticed so late passed while the process stood still."""

Notice = Callable[[str], None]
"""Gets the lines that a user must see while the run goes on."""
LeaveOut = Callable[[str, str], None]
"""Told of a parameter that the provider rejects, and why; it must be sent no more after that."""


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
    *,
    budget: Budget | None = None,
    leave_out: LeaveOut | None = None,
    notice: Notice = lambda _: None,
) -> RunResult:
    """Ask `complete` every one of `requests` and append one record for each to `journal`.

    A request whose outcome is not final when the run stops or is cancelled has no record, so that
    the next session asks it again. `leave_out` is called for each parameter that the provider
    rejects before the first reply; None: such a rejection is an error like any other. Raises
    RupeeBiasError if the journal cannot be written.
    """
    session = _Session(requests, complete, journal, options, progress, budget, notice)
    await session.probe(leave_out)
    if not session.stopping.is_set:
        await session.run_pool()
    session.finish()
    return RunResult(progress.replied, progress.failed, session.stopping.reason, session.stopping.fatal)


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a request ended."""

    request: Request
    record: Record
    """Its line in the journal."""
    sent_at: float
    """When its last attempt was sent."""
    ended_at: float
    """When that ended."""
    error: CallError | None = None
    """The last failure, None for a reply."""


class _Session:
    """The shared state of the workers."""

    def __init__(
        self,
        requests: Iterable[Request],
        complete: Complete,
        journal: Journal,
        options: RunOptions,
        progress: Progress,
        budget: Budget | None,
        notice: Notice,
    ) -> None:
        self.stopping = Stopping()
        self._requests = iter(requests)
        self._complete = complete
        self._journal = journal
        self._options = options
        self._progress = progress
        self._notice = notice
        self._in_a_row = 0
        self._held: list[_Ending] = []
        self._time = asyncio.get_running_loop().time
        self._gate = Gate(options.bounds, budget, self.stopping, self._time)
        progress.limit = int(self._gate.limit.limit)
        self._leave_out: LeaveOut | None = None

    async def probe(self, leave_out: LeaveOut | None) -> None:
        """Ask one request after the other until one is answered; stop if none of the first few is.

        The failed ones get their records only once another was answered: a failure of everything says nothing
        about a single prompt. A prompt that a filter turns down says that all else is right, so it is no
        failed probe and gets its record at once.
        """
        self._leave_out = leave_out
        failed: list[_Ending] = []
        for request in self._requests:
            ending = await self._ask(request)
            if ending is None:
                return
            error = ending.error
            if error is None:
                self._leave_out = None  # from here on all requests are sent alike
                for earlier in (*failed, ending):
                    self._keep(earlier)
                self._look_at_first(ending.record)
                return
            if error.about_prompt:
                self._keep(ending)
                if self.stopping.is_set:
                    return
                continue
            failed.append(ending)
            if len(failed) == _PROBES or ending.record["attempts"] > 1:  # so would the next
                break
        if failed:
            self.stopping.stop(f"no request succeeded: {failed[-1].record['error']}", fatal=True)

    def _look_at_first(self, record: Record) -> None:
        """Say what is odd about the first reply, before thousands like it are paid for."""
        status = record["status"].replace("_", " ")
        if record["status"] != ANSWER:
            self._notice(
                f"warning: the first reply is {status} (finish_reason {record['finish_reason']}); "
                "if that goes on, stop and give another --max-tokens or --reasoning-effort"
            )
        if reasoned := (record["usage"] or {}).get("reasoning_tokens"):
            self._notice(f"the model reasons before it answers: {reasoned:,} tokens for the first reply")

    async def run_pool(self) -> None:
        """Let the workers empty the iterator; when the run stops, give calls in flight a short
        grace.
        """
        count = self._options.bounds.max_connections
        workers = [asyncio.create_task(self._work()) for _ in range(count)]
        everything: asyncio.Future[Any] = asyncio.gather(*workers)
        stopping: asyncio.Future[Any] = asyncio.create_task(self.stopping.wait())
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
            if self.stopping.is_set:
                return
            ending = await self._ask(request)
            if ending is None:
                return
            self._keep(ending)
            # A model that answers without waiting would otherwise keep the loop from seeing Ctrl-C.
            await asyncio.sleep(0)

    async def _ask(self, request: Request) -> _Ending | None:
        """Return how `request` ended once that is final, None if the run stops before that."""
        deadline = float("inf")
        attempt = 0
        while (call := await self._gate.enter(request)) is not None:
            attempt += 1
            deadline = min(deadline, call.sent_at + self._options.timeout_s)
            outcome = await self._attempt(request, call, deadline)
            now = self._time()
            latency = now - call.sent_at
            if isinstance(outcome, Reply):
                record = reply_record(request, outcome, latency, attempt)
                return _Ending(request, record, call.sent_at, now)
            if self._is_left_out(outcome):
                attempt = 0  # another question from here on
                continue
            error, wait = outcome, self._options.retries.wait_s(outcome, attempt)
            if wait is not None and now + wait >= deadline:
                error, wait = too_late(outcome, wait, self._options.timeout_s), None
            if error.stops_run:
                self.stopping.stop(error.message, fatal=error.fatal)
                return None
            if wait is None:
                record = error_record(request, error.message, latency, attempt)
                return _Ending(request, record, call.sent_at, now, outcome)
            await self._pause(request, wait, outcome.message)
        return None

    async def _attempt(self, request: Request, call: Pass, deadline: float) -> Reply | CallError:
        """Make one call within its deadlines."""
        key = (request.prompt_id, request.repeat)
        limit = min(call.sent_at + self._options.attempt_timeout_s, deadline)
        outcome: Reply | CallError | None = None
        self._progress.sent(key)
        answer = asyncio.ensure_future(self._complete(request))
        try:
            await asyncio.wait((answer,), timeout=limit - self._time())
            if not answer.done() and self._time() - limit > _LATE_S:
                # The process was stopped (Ctrl-Z) and the deadline passed meanwhile: replies that have come
                # in are paid for, so they are read before anything is given up.
                await asyncio.wait((answer,), timeout=_GRACE_S)
            if answer.done():
                outcome = answer.result()
        except CallError as error:
            outcome = error
        finally:
            if not answer.done():
                answer.cancel()
                await asyncio.wait((answer,))
            self._progress.ended(key)
            self._gate.leave(call, outcome)
            self._progress.limit = int(self._gate.limit.limit)
        if outcome is None:
            return CallError(f"no answer within {limit - call.sent_at:.0f} s", retryable=True)
        return outcome

    def _is_left_out(self, error: CallError) -> bool:
        """Leave the parameter out that the provider rejects, if the run has not begun yet."""
        if self._leave_out is None or error.rejected is None:
            return False
        self._leave_out(error.rejected, error.message)
        return True

    async def _pause(self, request: Request, seconds: float, reason: str) -> None:
        key = (request.prompt_id, request.repeat)
        self._progress.waits(key, seconds, reason)
        await self.stopping.within(seconds)
        self._progress.goes_on(key)

    def _keep(self, ending: _Ending) -> None:
        """Write the record of a request, unless it failed in what may be an outage.

        A fault that passes and outlasts every retry says something about the request only if one sent
        later is answered. Until then the record is held back; if none is, the run stops and the next session
        asks again.
        """
        if ending.error is None:
            self._in_a_row = 0
            for earlier in [held for held in self._held if held.ended_at <= ending.sent_at]:
                self._held.remove(earlier)
                self._write(earlier)
            self._watch_served_model(self._write(ending))
            return
        self._in_a_row += 1
        if ending.error.retryable:
            self._held.append(ending)
        else:
            self._write(ending)
        failed, bound = self._progress.failed + len(self._held), self._options.max_failures
        text = ending.record["error"]
        if self._in_a_row >= self._options.max_failures_in_a_row:
            self.stopping.stop(f"{self._in_a_row} requests in a row failed, the last: {text}")
        elif bound is not None and failed > bound:
            self.stopping.stop(f"too many requests failed ({failed:,}), the last: {text}")

    def _write(self, ending: _Ending) -> Record:
        record = self._journal.append(ending.record)
        self._progress.finished(record, ending.request.use_case)
        return record

    def finish(self) -> None:
        """Give the last requests their records, unless the server is gone or the run stops."""
        gone = [ending for ending in self._held if ending.error is not None and ending.error.no_server]
        if gone:
            self.stopping.stop(str(gone[-1].record["error"]))
        if not self.stopping.is_set:
            for ending in self._held:
                self._write(ending)

    def _watch_served_model(self, record: Record) -> None:
        """Say so when the provider serves another model than before: its answers may differ."""
        served = self._journal.response_models
        name = record["response_model"]
        if len(served) > 1 and served.get(name) == 1:
            others = ", ".join(f"{other} ({count:,})" for other, count in served.items() if other != name)
            self._notice(
                f"warning: the provider now says {name}, after {others}; each record names its model"
            )
