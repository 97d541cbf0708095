"""Asking a provider's batch interface with patience: the one retry layer of its calls."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from .wire import ApiError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How hard to try one call of the interface."""

    retries: int = 6
    """Further attempts after the first."""
    first_wait_s: float = 2.0
    """Wait before the first retry where the server names none; it doubles each time."""
    longest_wait_s: float = 300.0
    """Longest wait, also where the server asks for more."""

    def wait_s(self, error: ApiError, attempt: int) -> float:
        """Return the seconds to wait after the given attempt (1, 2, ...)."""
        if error.retry_after_s is not None:
            return min(error.retry_after_s, self.longest_wait_s)
        wait = min(self.first_wait_s * 2.0 ** (attempt - 1), self.longest_wait_s)
        return wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret


async def patiently(call: Callable[[], Awaitable[T]], patience: Patience) -> T:
    """Return what `call` returns, calling again after passing faults. It must be harmless to repeat.

    Raises ApiError at once for a fault that does not pass, and for any other after the last retry.
    """
    for attempt in range(1, patience.retries + 1):
        try:
            return await call()
        except ApiError as error:
            if not error.retryable:
                raise
            await asyncio.sleep(patience.wait_s(error, attempt))
    return await call()
