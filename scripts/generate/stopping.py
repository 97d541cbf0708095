"""The one place that says that a session is to end before its last request."""

import asyncio


class Stopping:
    """A stop with its reason; the first reason counts."""

    def __init__(self) -> None:
        self.reason: str | None = None
        """None: the session goes on."""
        self.fatal = False
        """True if going on is pointless until the cause is removed."""
        self._event = asyncio.Event()

    def stop(self, reason: str, *, fatal: bool = False) -> None:
        """Stop the session."""
        if self.reason is None:
            self.reason = reason
            self.fatal = fatal
        self._event.set()

    @property
    def is_set(self) -> bool:
        """True once the session stops."""
        return self.reason is not None

    async def wait(self) -> None:
        """Return when the session stops."""
        await self._event.wait()

    async def within(self, seconds: float) -> bool:
        """Wait `seconds` and return False, or True as soon as the session stops."""
        try:
            async with asyncio.timeout(seconds):
                return await self._event.wait()
        except TimeoutError:
            return False
