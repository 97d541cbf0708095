"""When a failed call is tried again: the only retry layer there is, for live calls and for batches."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from typer import Option

from ..models.types import CallError

CHANCE: Final = random.Random()  # noqa: S311 - jitter only spreads calls over time
LONGEST_WAIT_S: Final = 86_400.0
"""No command waits longer than the day that a batch may take."""

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class RetryRules:
    """How often and how soon."""

    max_retries: Annotated[int, Option(help="Retries of one request.")] = 8
    """Further attempts after the first failed one of a request."""
    first_wait_s: float = 1.0
    """Wait before the first retry where the server names none; it doubles each time."""
    longest_wait_s: float = 60.0
    """Bound of that doubling; a server may ask for longer."""

    def wait_s(self, error: CallError, attempt: int, chance: random.Random = CHANCE) -> float | None:
        """Return the seconds to wait after the failed `attempt` (1, 2, ...), None to give up.

        A server that names a time is never asked before it, and up to a tenth later, so that many
        waiting calls do not come back at the same moment. Otherwise, and where waiting as told has
        failed before, the wait is between a half and the whole of first_wait_s x 2^(attempt - 1), at
        most of longest_wait_s.
        """
        if error.fatal or not error.retryable or attempt > self.max_retries:
            return None
        # The exponent is bounded: 2.0 ** 1024 overflows, and --max-retries may be anything.
        longest = min(self.first_wait_s * 2.0 ** min(attempt - 1, 60), self.longest_wait_s)
        own = longest * chance.uniform(0.5, 1.0)
        if error.retry_after_s is None:
            return own
        named = error.retry_after_s * chance.uniform(1.0, 1.1)
        return named if attempt == 1 else max(named, own)


def too_late(error: CallError, wait_s: float, timeout_s: float) -> CallError:
    """Return the final error for a wait that would end after the request's deadline.

    If the provider throttles for that long, it does so for every request: the run stops.
    """
    asked = f", asked to wait {error.retry_after_s:.0f} s" if error.retry_after_s else ""
    needed = f"; --timeout {wait_s + 60:.0f} would wait for it" if wait_s > timeout_s else ""
    message = f"{error.message} (gave up{asked}: --timeout is {timeout_s:.0f} s{needed})"
    return CallError(message, retryable=False, stops_run=error.throttled and wait_s > timeout_s)


async def with_retries(
    call: Callable[[], Awaitable[_Result]],
    rules: RetryRules,
    notice: Callable[[CallError, float], None] = lambda _error, _wait: None,
) -> _Result:
    """Return what `call` returns, calling again after passing faults. It must be harmless to repeat.

    `notice` gets each error with the wait that follows. Raises the CallError that does not pass or is the
    last, also where the server asks for more than LONGEST_WAIT_S.
    """
    for attempt in itertools.count(1):
        try:
            return await call()
        except CallError as error:
            wait = rules.wait_s(error, attempt)
            if wait is None or wait > LONGEST_WAIT_S:
                raise
            notice(error, wait)
        await asyncio.sleep(wait)
    raise AssertionError  # for the type checker: the loop has no end
