"""How much is asked at once and per minute.

The number of calls at once adapts itself, as TCP does: it grows while the provider keeps up and shrinks when
it says 429. Errors of the server and timeouts do not shrink it, since fewer calls would not mend them.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

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
