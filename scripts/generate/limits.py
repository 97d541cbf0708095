"""What every call passes before it is sent: the budget, the calls at once, and those a minute.

The number of calls at once adapts itself, as TCP does: it grows while the provider keeps up and shrinks when
it says 429. Errors of the server and timeouts do not shrink it, since fewer calls would not mend them.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..models.prices import likely_tokens
from ..models.types import CallError, Reply, Request
from ..runs.ledger import Ledger
from .options import Bounds
from .stopping import Stopping

Clock = Callable[[], float]
_FIRST: Final = 16
_SHRINK: Final = 0.7
_COOLDOWN_S: Final = 10.0


class AdaptiveLimit:
    """At most `limit` calls at once, between 1 and `most`.

    It starts at 16, doubles with each round of calls until the first 429, and from then on grows by
    one a round. A 429 takes 30 % off, once per episode: further ones count only if their call was
    sent after the cut and a cooldown is over.
    """

    def __init__(
        self, most: int, clock: Clock, *, first: int = _FIRST, cooldown_s: float = _COOLDOWN_S
    ) -> None:
        self.most = most
        self.limit = float(min(first, most))
        self.in_flight = 0
        self.cuts = 0
        """How often it has shrunk."""
        self._clock = clock
        self._cooldown_s = cooldown_s
        self._cut_at = self._quiet_until = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Take a place, in the order of asking; `release` gives it back."""
        if self.in_flight < int(self.limit) and not self._waiting:
            self.in_flight += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # it was given at the moment of cancelling
                self.release()
            raise

    def release(self) -> None:
        """Give a place back."""
        self.in_flight -= 1
        self._hand_out()

    def succeeded(self) -> None:
        """Grow, if the limit is what held calls back."""
        if self.in_flight >= int(self.limit) and self.limit < self.most:
            step = 1.0 / self.limit if self.cuts else 1.0
            self.limit = min(self.limit + step, float(self.most))
            self._hand_out()

    def throttled(self, sent_at: float, retry_after_s: float | None = None) -> None:
        """Shrink for a 429 to a call sent at `sent_at`, unless the episode has been answered already."""
        now = self._clock()
        if sent_at <= self._cut_at or now < self._quiet_until:
            return
        self.limit = max(self.limit * _SHRINK, 1.0)
        self.cuts += 1
        self._cut_at = now
        self._quiet_until = now + max(self._cooldown_s, min(retry_after_s or 0.0, 60.0))

    def _hand_out(self) -> None:
        while self._waiting and self.in_flight < int(self.limit):
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


class Pace:
    """No more than `per_minute` units in any minute, spread out; bursts last a second at most.

    Units are requests or tokens. What an estimate took too much or too little is corrected later
    and only moves the following calls.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._burst = max(per_minute / 60, 1.0)
        # The burst may come first in a minute, so the steady part must leave room for it.
        steady = per_minute - self._burst if per_minute > 60 else per_minute
        self._per_second = steady / 60
        self._clock = clock
        self._level = self._burst
        self._at = clock()

    def take(self, units: float) -> float:
        """Reserve `units` now and return the seconds after which they may be used."""
        now = self._clock()
        self._level = min(self._level + (now - self._at) * self._per_second, self._burst)
        self._at = now
        wait = max(min(units, self._burst) - self._level, 0.0) / self._per_second
        self._level -= units
        return wait

    def correct(self, units: float) -> None:
        """Give back `units` that were reserved and not used, or take (below 0) what was used beyond."""
        self._level = min(self._level + units, self._burst)


class Budget:
    """Writes each call into the run's ledger before it is sent, and holds it back while a cap leaves no room.

    A reply settles its reservation at its real cost, a refusal frees it. A call whose end or cost is not
    known keeps its worst case, since it may have been paid.
    """

    def __init__(
        self, ledger: Ledger, worst_usd: Callable[[Request], float | None], cap_usd: float | None = None
    ) -> None:
        self._ledger = ledger
        self._worst_usd = worst_usd
        self._cap_usd = cap_usd
        self._change = asyncio.Event()

    async def reserve(self, request: Request) -> str | None:
        """Return a ticket once the worst case of `request` fits, None if it never will."""
        worst = self._worst_usd(request)
        while self._cap_usd is not None and self._ledger.spent_usd + (worst or 0.0) > self._cap_usd:
            if not self._ledger.has_open:
                return None
            self._change.clear()
            await self._change.wait()
        return self._ledger.reserve((request.prompt_id, request.repeat), worst)

    def settle(self, ticket: str, cost_usd: float | None) -> None:
        """Turn a reservation into the cost that it had; None: unknown, so the worst case."""
        self._ledger.settle(ticket, cost_usd)
        self._change.set()

    def __str__(self) -> str:
        spent = f"{self._ledger.spent_usd:.4f} USD spent"
        return f"--max-cost {self._cap_usd:g} USD leaves no room for another call ({spent})"


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave to send one call."""

    sent_at: float
    """When it was given, by the gate's clock."""
    ticket: str | None
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

        A call that may have been paid keeps its worst case in the budget.
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
        self._give_back(call.ticket, None if outcome is None else outcome.cost_usd)

    def _wait_s(self, tokens: float) -> float:
        waits = [0.0]
        if self._requests is not None:
            waits.append(self._requests.take(1))
        if self._tokens is not None:
            waits.append(self._tokens.take(tokens))
        return max(waits)

    def _give_back(self, ticket: str | None, cost_usd: float | None) -> None:
        self.limit.release()
        if ticket is not None and self._budget is not None:
            self._budget.settle(ticket, cost_usd)


def _pace(per_minute: float | None, clock: Clock) -> Pace | None:
    return None if per_minute is None else Pace(per_minute, clock)
