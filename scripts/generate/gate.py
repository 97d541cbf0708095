"""What every call passes before it is sent: the budget, the calls at once, and those a minute."""

from dataclasses import dataclass

from ..models.prices import Budget, likely_tokens
from ..models.types import CallError, Reply, Request
from .limits import AdaptiveLimit, Clock, Pace
from .options import Bounds
from .stopping import Stopping


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave to send one call."""

    sent_at: float
    """When it was given, by the gate's clock."""
    ticket: int | None
    """Reservation in the budget."""
    tokens: float
    """Tokens that were taken from the minute's."""


class Gate:
    """Lets calls through one by one; the wait for a first call counts towards no deadline."""

    def __init__(self, bounds: Bounds, budget: Budget | None, stopping: Stopping, clock: Clock) -> None:
        self.limit = AdaptiveLimit(bounds.max_connections, clock)
        self._budget = budget
        self._stopping = stopping
        self._clock = clock
        self._max_tokens = bounds.max_tokens
        self._requests = _pace(bounds.requests_per_minute, clock)
        self._tokens = _pace(bounds.tokens_per_minute, clock)

    async def enter(self, request: Request) -> Pass | None:
        """Return a pass once the call may be sent, None if the session stops, also for want of money."""
        ticket = None
        if self._budget is not None:
            ticket = await self._budget.reserve(request)
            if ticket is None:
                self._stopping.stop(str(self._budget))
                return None
        await self.limit.acquire()
        tokens = likely_tokens(request, self._max_tokens) if self._tokens is not None else 0
        wait = self._wait_s(tokens)
        if self._stopping.is_set or (wait > 0 and await self._stopping.within(wait)):
            self._give_back(ticket, 0.0)
            return None
        return Pass(self._clock(), ticket, tokens)

    def leave(self, call: Pass, outcome: Reply | CallError | None) -> None:
        """Take back a pass and learn from the outcome; None: it is not known how the call ended.

        Such a call may have been paid, so it keeps its worst case in the budget.
        """
        if isinstance(outcome, Reply):
            self.limit.succeeded()
            if self._tokens is not None and outcome.usage:
                used = outcome.usage.get("input_tokens", 0) + outcome.usage.get("output_tokens", 0)
                self._tokens.correct(call.tokens - used)
            self._give_back(call.ticket, outcome.cost_usd)
            return
        if outcome is not None and outcome.throttled:
            self.limit.throttled(call.sent_at, outcome.retry_after_s)
        self._give_back(call.ticket, None if outcome is None else 0.0)

    def _wait_s(self, tokens: float) -> float:
        waits = [0.0]
        if self._requests is not None:
            waits.append(self._requests.take(1))
        if self._tokens is not None:
            waits.append(self._tokens.take(tokens))
        return max(waits)

    def _give_back(self, ticket: int | None, cost_usd: float | None) -> None:
        self.limit.release()
        if ticket is not None and self._budget is not None:
            self._budget.settle(ticket, cost_usd)


def _pace(per_minute: float | None, clock: Clock) -> Pace | None:
    return None if per_minute is None else Pace(per_minute, clock)
