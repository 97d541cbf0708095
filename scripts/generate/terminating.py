"""SIGTERM, as a system sends it that shuts down: the run ends as with Ctrl-C, saved and to be resumed."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
