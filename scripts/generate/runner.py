"""The runner: asks a model for every request of a run, with one retry layer, and journals each
outcome.

A fixed pool of workers pulls from one iterator, so memory does not grow with the number of prompts.
Before the pool starts, requests go out one at a time until one is answered: a wrong key or model
name costs a handful of calls at most, and a parameter that the provider turns down is found. What
fails in the end becomes an error record, never an empty answer.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..models.prices import Budget
from ..models.types import CallError, Complete, Reply, Request
from ..runs.journal import Journal
from ..runs.outputs import Record
from ..runs.records import ANSWER, error_record, reply_record
from .limits import Gate, Pass
from .options import RunOptions
from .progress import Progress
from .retry import too_late
from .stopping import Stopping

_PROBES = 3
_GRACE_S = 5.0

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
    return RunResult(progress.replied, progress.failed, session.stopping.reason, session.stopping.fatal)


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
        self._time = asyncio.get_running_loop().time
        self._gate = Gate(options.bounds, budget, self.stopping, self._time)
        progress.limit = int(self._gate.limit.limit)
        self._leave_out: LeaveOut | None = None

    async def probe(self, leave_out: LeaveOut | None) -> None:
        """Ask one request after the other until one is answered; stop if none of the first few is.

        The failed ones get their records only once another was answered: a failure of everything
        says nothing about a single prompt.
        """
        self._leave_out = leave_out
        outcomes: list[tuple[Record, Request]] = []
        for request in itertools.islice(self._requests, _PROBES):
            record = await self._ask(request)
            if record is None:
                return
            outcomes.append((record, request))
            if record["error"] is None:
                self._leave_out = None  # from here on all requests are sent alike
                for outcome in outcomes:
                    self._keep(*outcome)
                self._look_at_first(record)
                return
            if record["attempts"] > 1:  # it was worth retrying and yet failed: so would the next
                break
        if outcomes:
            self.stopping.stop(f"no request succeeded: {outcomes[-1][0]['error']}", fatal=True)

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
            record = await self._ask(request)
            if record is None:
                return
            self._keep(record, request)
            # A model that answers without waiting would otherwise keep the loop from seeing Ctrl-C.
            await asyncio.sleep(0)

    async def _ask(self, request: Request) -> Record | None:
        """Return the record of `request` once its outcome is final, None if the run stops before
        that.
        """
        deadline = float("inf")
        attempt = 0
        while (call := await self._gate.enter(request)) is not None:
            attempt += 1
            deadline = min(deadline, call.sent_at + self._options.timeout_s)
            outcome = await self._attempt(request, call, deadline)
            latency = self._time() - call.sent_at
            if isinstance(outcome, Reply):
                return reply_record(request, outcome, latency, attempt)
            if self._is_left_out(outcome):
                attempt = 0  # another question from here on
                continue
            wait = self._options.retries.wait_s(outcome, attempt)
            if wait is not None and self._time() + wait >= deadline:
                outcome, wait = too_late(outcome, wait, self._options.timeout_s), None
            if outcome.stops_run:
                self.stopping.stop(outcome.message, fatal=outcome.fatal)
                return None
            if wait is None:
                return error_record(request, outcome.message, latency, attempt)
            await self._pause(request, wait, outcome.message)
        return None

    async def _attempt(self, request: Request, call: Pass, deadline: float) -> Reply | CallError:
        """Make one call within its deadlines."""
        key = (request.prompt_id, request.repeat)
        limit = min(call.sent_at + self._options.attempt_timeout_s, deadline)
        outcome: Reply | CallError | None = None
        self._progress.sent(key)
        try:
            async with asyncio.timeout_at(limit):
                outcome = await self._complete(request)
        except TimeoutError:
            return CallError(f"no answer within {limit - call.sent_at:.0f} s", retryable=True)
        except CallError as error:
            outcome = error
        finally:
            self._progress.ended(key)
            self._gate.leave(call, outcome)
            self._progress.limit = int(self._gate.limit.limit)
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

    def _keep(self, record: Record, request: Request) -> None:
        record = self._journal.append(record)
        self._progress.finished(record, request.use_case)
        if record["error"] is None:
            self._in_a_row = 0
            self._watch_served_model(record)
            return
        self._in_a_row += 1
        failed, bound = self._progress.failed, self._options.max_failures
        if self._in_a_row >= self._options.max_failures_in_a_row:
            self.stopping.stop(f"{self._in_a_row} requests in a row failed, the last: {record['error']}")
        elif bound is not None and failed > bound:
            self.stopping.stop(f"too many requests failed ({failed:,}), the last: {record['error']}")

    def _watch_served_model(self, record: Record) -> None:
        """Say so when the provider serves another model than before: its answers may differ."""
        served = self._journal.response_models
        name = record["response_model"]
        if len(served) > 1 and served.get(name) == 1:
            others = ", ".join(f"{other} ({count:,})" for other, count in served.items() if other != name)
            self._notice(
                f"warning: the provider now says {name}, after {others}; each record names its model"
            )
