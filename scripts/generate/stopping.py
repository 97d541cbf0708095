"""How a session ends before its last request: for a reason of its own, or by SIGTERM."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


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


EXIT_STATUS = 128 + signal.SIGTERM


@contextmanager
def terminable() -> Iterator[None]:
    """Until the context ends, treat SIGTERM as Ctrl-C; the process then exits with status 143."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_terminated = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal is_terminated
        is_terminated = True
        on_interrupt = signal.getsignal(signal.SIGINT)  # asyncio has its own while its loop runs
        if callable(on_interrupt):
            on_interrupt(signal.SIGINT, frame)
        else:  # a shell starts background jobs with Ctrl-C ignored
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except KeyboardInterrupt:
        if is_terminated:
            raise SystemExit(EXIT_STATUS) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
