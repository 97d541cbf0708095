"""How the state of a session is shown: a live line on a terminal, a plain line now and then elsewhere."""

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TextIO

from .sight import Sight, duration

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PLAIN_EVERY_S = 10.0
_LIVE_PER_S = 4.0
_BAR_WIDTH = 24


class Display(Protocol):
    """Shows a Sight while its context lasts."""

    def __enter__(self) -> object:
        """Begin to show."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> object:
        """Leave the last state visible."""


class Hidden:
    """Shows nothing."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Do nothing."""


class PlainLines:
    """A line every ten seconds and one at the end, for logs and pipes.

    A thread prints, so lines come while every call hangs too.
    """

    def __init__(self, sight: Sight, stream: TextIO | None = None, every_s: float = _PLAIN_EVERY_S) -> None:
        self._sight = sight
        self._stream = stream or sys.stderr
        self._every_s = every_s
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def __enter__(self) -> None:
        """Begin to print."""
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Print the last state."""
        self._closing.set()
        self._thread.join()
        self._print()

    def _run(self) -> None:
        while not self._closing.wait(self._every_s):
            self._print()

    def _print(self) -> None:
        print(self._sight.line(), file=self._stream, flush=True)


class LiveLines:
    """Two lines that stay where they are: a bar with the counts, and what goes on."""

    def __init__(self, sight: Sight, console: "Console | None" = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self._sight = sight
        self._live = Live(
            get_renderable=self._lines,
            console=console or Console(stderr=True, highlight=False),
            refresh_per_second=_LIVE_PER_S,
            redirect_stdout=True,
            redirect_stderr=True,
        )

    def __enter__(self) -> None:
        """Begin to show."""
        self._live.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the last state on the terminal."""
        self._live.stop()

    def _lines(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        lines = (
            Text(text, no_wrap=True, overflow="ellipsis") for text in (_bar(self._sight), self._sight.note())
        )
        return Group(*lines)


def _bar(sight: Sight) -> str:
    share = sight.finished_count / sight.total if sight.total else 0.0
    full = int(share * _BAR_WIDTH)
    left = sight.seconds_left
    when = "" if left is None else f", {duration(left)} left"
    counts = f"{sight.finished_count:,} of {sight.total:,}, {sight.rate:,.1f}/s{when}"
    return f"{'━' * full}{'╌' * (_BAR_WIDTH - full)} {share:4.0%}  {counts}"


def open_display(sight: Sight, *, quiet: bool) -> Display:
    """Return the display that suits standard error."""
    if quiet:
        return Hidden()
    return LiveLines(sight) if sys.stderr.isatty() else PlainLines(sight)
