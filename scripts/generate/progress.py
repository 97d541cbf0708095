"""The state of a running session in one line of words, and how it is shown.

The runner notes each event; whoever shows the state reads it when it likes, so a run in which nothing happens
shows that too: as a live line on a terminal, as a plain line now and then elsewhere.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design
from rupeebias.metric.parser import parse_answer

from ..runs.journal import ANSWER, Key, Record

if TYPE_CHECKING:
    from rich.console import Console

_PLAIN_EVERY_S = 10.0
_LIVE_PER_S = 4.0
_BAR_WIDTH = 24
Clock = Callable[[], float]


@dataclass(slots=True)
class Progress:
    """Counts and times of a session; every method is cheap."""

    total: int = 0
    """Requests of the run."""
    done_before: int = 0
    """Requests that had their record before this session."""
    cost_usd: float = 0.0
    """Known costs of the whole run."""
    design: Design = DESIGN
    """The benchmark that is asked: it says what can be read."""
    clock: Clock = time.monotonic
    replied: int = 0
    failed: int = 0
    """Requests of this session with a reply, and those that failed for good."""
    readable: int = 0
    """Replies in which a value was found."""
    statuses: dict[str, int] = field(default_factory=dict)
    """Replies that are no whole answer, by kind: truncated, empty, reasoning only."""
    limit: int = 0
    """Calls at once that are allowed now."""
    reason: str = ""
    """The last error that was retried."""
    _known_costs: int = 0
    _session_cost: float = 0.0
    _sent: dict[Key, float] = field(default_factory=dict)
    _waiting: dict[Key, float] = field(default_factory=dict)
    _started: float = 0.0

    def __post_init__(self) -> None:
        self._started = self.clock()

    def sent(self, key: Key) -> None:
        """A call is on its way."""
        self._sent[key] = self.clock()

    def ended(self, key: Key) -> None:
        """The call has come back, or was given up."""
        self._sent.pop(key, None)

    def waits(self, key: Key, seconds: float, reason: str) -> None:
        """A request waits for its next attempt."""
        self.reason = reason
        self._waiting[key] = self.clock() + seconds

    def goes_on(self, key: Key) -> None:
        """The wait is over."""
        self._waiting.pop(key, None)

    def finished(self, record: Record, use_case: str) -> None:
        """A request has its record."""
        if record["error"] is not None:
            self.failed += 1
            return
        self.replied += 1
        self.readable += _is_readable(record, use_case, self.design)
        status = record["status"]
        if status != ANSWER:
            self.statuses[status] = self.statuses.get(status, 0) + 1
        if record["cost_usd"] is not None:
            self._known_costs += 1
            self._session_cost += record["cost_usd"]
            self.cost_usd += record["cost_usd"]

    @property
    def finished_count(self) -> int:
        """Requests of the run that have a record."""
        return self.done_before + self.replied + self.failed

    @property
    def rate(self) -> float:
        """Requests a second since the session began."""
        return (self.replied + self.failed) / max(self.clock() - self._started, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """Time until the end at this rate, None if it cannot be told."""
        rate = self.rate
        return (self.total - self.finished_count) / rate if rate > 0 else None

    @property
    def projected_usd(self) -> float | None:
        """Cost of the whole run if the rest costs what this session's replies did; None if unknown."""
        if not self._known_costs or not self._session_cost:
            return None
        mean = self._session_cost / self._known_costs
        return self.cost_usd + mean * (self.total - self.finished_count)

    def note(self) -> str:
        """Return everything but the counts of done and left, shortest words first to be cut last."""
        parts = (self._failures(), self._retries(), self._calls(), self._cost(), self._health())
        return ", ".join(part for part in parts if part)

    def line(self) -> str:
        """Return the whole state in one line."""
        left = self.seconds_left
        when = f", {duration(left)} left" if left is not None else ""
        note = self.note()
        counts = f"{self.finished_count:,} of {self.total:,} ({self.rate:,.1f}/s{when})"
        return f"{counts}, {note}" if note else counts

    def _failures(self) -> str:
        return f"{self.failed:,} failed" if self.failed else ""

    def _retries(self) -> str:
        waiting = list(self._waiting.values())  # a copy: the display's thread reads while the run writes
        if not waiting:
            return ""
        seconds = max(min(waiting) - self.clock(), 0.0)
        return f"{len(waiting)} waiting to retry, the next in {seconds:.0f} s ({self.reason[:60]})"

    def _calls(self) -> str:
        sent = list(self._sent.values())
        if not sent:
            return ""
        oldest = self.clock() - sent[0]
        age = f", oldest {oldest:.0f} s" if oldest >= 1 else ""
        return f"{len(sent)} of {self.limit} calls in flight{age}"

    def _cost(self) -> str:
        if self.projected_usd is None:
            return ""
        return f"{usd(self.cost_usd)} of about {usd(self.projected_usd)} USD"

    def _health(self) -> str:
        if not self.replied:
            return ""
        kinds = "".join(f", {n:,} {kind.replace('_', ' ')}" for kind, n in sorted(self.statuses.items()))
        return f"{self.readable / self.replied:.1%} readable{kinds}"


def usd(amount: float) -> str:
    """Return an amount of money with two decimals, or two digits if it is less than a dollar."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.2g}"


def duration(seconds: float) -> str:
    """Return a time in words: `4 min 05 s`, `2 h 10 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def _is_readable(record: Record, use_case: str, design: Design) -> bool:
    if not record["output"] or use_case not in design.use_case:
        return False
    read = parse_answer(record["output"], use_case, finish_reason=record["finish_reason"], design=design)
    return read.value is not None


@contextmanager
def plain_lines(
    progress: Progress, stream: TextIO | None = None, every_s: float = _PLAIN_EVERY_S
) -> Iterator[None]:
    """Print a line every ten seconds and one at the end, for logs and pipes.

    A thread prints, so lines come while every call hangs too.
    """
    closing = threading.Event()

    def show() -> None:
        print(progress.line(), file=stream or sys.stderr, flush=True)

    def keep_showing() -> None:
        while not closing.wait(every_s):
            show()

    thread = threading.Thread(target=keep_showing, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        closing.set()
        thread.join()
        show()


@contextmanager
def live_lines(progress: Progress, console: "Console | None" = None) -> Iterator[None]:
    """Show two lines that stay where they are: a bar with the counts, and what goes on."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    def lines() -> Group:
        texts = (_bar(progress), progress.note())
        return Group(*(Text(text, no_wrap=True, overflow="ellipsis") for text in texts))

    with Live(
        get_renderable=lines,
        console=console or Console(stderr=True, highlight=False),
        refresh_per_second=_LIVE_PER_S,
        redirect_stdout=True,
        redirect_stderr=True,
    ):
        yield


def _bar(progress: Progress) -> str:
    share = progress.finished_count / progress.total if progress.total else 0.0
    full = int(share * _BAR_WIDTH)
    left = progress.seconds_left
    when = "" if left is None else f", {duration(left)} left"
    counts = f"{progress.finished_count:,} of {progress.total:,}, {progress.rate:,.1f}/s{when}"
    return f"{'━' * full}{'╌' * (_BAR_WIDTH - full)} {share:4.0%}  {counts}"


def open_display(progress: Progress, *, quiet: bool) -> AbstractContextManager[None]:
    """Return what shows `progress` on standard error until its context ends, the last state included."""
    if quiet:
        return nullcontext()
    return live_lines(progress) if sys.stderr.isatty() else plain_lines(progress)
