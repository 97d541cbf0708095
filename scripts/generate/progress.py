"""What a user sees of a run: a live line on a terminal, a plain line now and then elsewhere, or
nothing.
"""

import sys
import time
from typing import Protocol, TextIO

from tqdm import tqdm

_PLAIN_EVERY_S = 10.0
_NOTE_EVERY_S = 0.2


class Progress(Protocol):
    """Told of every event of a run; cheap to call."""

    def finished(self, *, failed: bool) -> None:
        """One request has its record."""

    def waiting(self, change: int, reason: str = "") -> None:
        """`change` (1 or -1) requests wait for another attempt; `reason` is the last error."""

    def close(self) -> None:
        """The run ends; the last state stays visible."""


class Quiet:
    """Shows nothing."""

    def finished(self, *, failed: bool) -> None:
        """Ignore it."""

    def waiting(self, change: int, reason: str = "") -> None:
        """Ignore it."""

    def close(self) -> None:
        """Do nothing."""


class _Counts:
    """The state that both displays show."""

    def __init__(self) -> None:
        self.failed = 0
        self.retrying = 0
        self.reason = ""

    def finished(self, *, failed: bool) -> None:
        self.failed += failed

    def waiting(self, change: int, reason: str = "") -> None:
        self.retrying += change
        self.reason = reason or self.reason

    def note(self) -> str:
        parts = [f"{self.failed:,} failed"] if self.failed else []
        if self.retrying:
            parts.append(f"{self.retrying} waiting to retry: {self.reason[:60]}")
        return ", ".join(parts)


class Bar(_Counts):
    """A live line on a terminal: done, rate, time left, failures, retries and their reason."""

    def __init__(self, total: int, done: int, stream: TextIO | None = None) -> None:
        """Show `done` of `total` requests as done before this session."""
        super().__init__()
        self._bar = tqdm(
            total=total,
            initial=done,
            unit=" replies",
            file=stream or sys.stderr,
            dynamic_ncols=True,
            smoothing=0.05,
            mininterval=_NOTE_EVERY_S,
        )
        self._noted_at = 0.0

    def finished(self, *, failed: bool) -> None:
        """Count it."""
        super().finished(failed=failed)
        self._bar.update()
        self._show_note()

    def waiting(self, change: int, reason: str = "") -> None:
        """Count it."""
        super().waiting(change, reason)
        self._show_note()

    def close(self) -> None:
        """Leave the last state on the terminal."""
        self._bar.set_postfix_str(self.note(), refresh=False)
        self._bar.close()

    def _show_note(self) -> None:
        now = time.monotonic()
        if now - self._noted_at >= _NOTE_EVERY_S:
            self._noted_at = now
            self._bar.set_postfix_str(self.note())


class PlainLines(_Counts):
    """A line every ten seconds, for logs and pipes."""

    def __init__(self, total: int, done: int, stream: TextIO | None = None) -> None:
        """Show `done` of `total` requests as done before this session."""
        super().__init__()
        self._total = total
        self._done = done
        self._session = 0
        self._stream = stream or sys.stderr
        self._started = self._printed = time.monotonic()

    def finished(self, *, failed: bool) -> None:
        """Count it, and print when it is time to."""
        super().finished(failed=failed)
        self._session += 1
        self._maybe_print()

    def waiting(self, change: int, reason: str = "") -> None:
        """Count it, and print when it is time to."""
        super().waiting(change, reason)
        self._maybe_print()

    def close(self) -> None:
        """Print the last state, if anything happened."""
        if self._session or self.reason:
            self._print(time.monotonic())

    def _maybe_print(self) -> None:
        now = time.monotonic()
        if now - self._printed >= _PLAIN_EVERY_S:
            self._print(now)

    def _print(self, now: float) -> None:
        self._printed = now
        rate = self._session / max(now - self._started, 1e-9)
        finished = self._done + self._session
        left = f", {_duration((self._total - finished) / rate)} left" if rate else ""
        note = f", {self.note()}" if self.note() else ""
        print(
            f"{finished:,} of {self._total:,} ({rate:,.1f}/s{left}){note}",
            file=self._stream,
            flush=True,
        )


def open_progress(total: int, done: int, *, quiet: bool) -> Progress:
    """Return the display that suits standard error."""
    if quiet:
        return Quiet()
    return Bar(total, done) if sys.stderr.isatty() else PlainLines(total, done)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
