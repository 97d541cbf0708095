"""Asking a provider's batch interface with patience: the one retry layer of its calls."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .options import Patience
from .wire import ApiError

T = TypeVar("T")


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
