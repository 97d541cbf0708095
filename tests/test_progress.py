"""What a user sees of a session, with a clock that the tests turn."""

import io
import time
from typing import Any

import pytest
from rich.console import Console

from rupeebias.generate.progress import Progress, duration, live_lines, plain_lines
from rupeebias.models.types import Reply, Request
from rupeebias.runs.journal import error_record, reply_record

ASK = Request("p", 0, "s", "q", "counter_offer")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def progress(**fields: Any) -> tuple[Progress, Clock]:
    clock = Clock()
    return Progress(**{"total": 100, "done_before": 40, "limit": 16, **fields}, clock=clock), clock


def replied(text: str | None = "### 850000 INR", cost: float | None = None, **fields: Any) -> dict[str, Any]:
    return reply_record(ASK, Reply(text, cost_usd=cost, **fields), 0.1, 1)


def test_counts_rate_and_time_left() -> None:
    state, clock = progress()
    for _ in range(9):
        state.finished(replied(), "counter_offer")
    state.finished(error_record(ASK, "HTTP 400", 0.1, 1), "counter_offer")
    clock.now += 5
    # 10 in 5 s, 50 left: 25 s more
    assert state.line() == "50 of 100 (2.0/s, 0 min 25 s left), 1 failed, 100.0% readable"


def test_a_hanging_call_shows_by_its_age_and_waits_by_their_reason() -> None:
    state, clock = progress()
    state.sent(("a", 0))
    clock.now += 30
    state.sent(("b", 0))
    state.waits(("c", 0), 12.0, "HTTP 503: busy")
    state.waits(("d", 0), 60.0, "HTTP 429")
    clock.now += 2
    shown = state.line()
    assert "2 of 16 calls in flight, oldest 32 s" in shown
    assert "2 waiting to retry, the next in 10 s (HTTP 429)" in shown
    state.ended(("a", 0))
    state.goes_on(("c", 0))
    state.goes_on(("d", 0))
    assert "1 of 16 calls in flight, oldest 2 s" in state.line()
    assert "waiting" not in state.line()


def test_cost_is_projected_from_what_is_known() -> None:
    state, _ = progress(cost_usd=8.0)
    state.finished(replied(cost=0.1), "counter_offer")
    state.finished(replied(cost=0.3), "counter_offer")
    state.finished(replied(cost=None), "counter_offer")
    # 8.4 so far, 57 left at 0.2 each: 19.8
    assert "8.40 of about 19.80 USD" in state.line()


def test_an_unknown_cost_is_not_shown_as_free() -> None:
    state, _ = progress()
    state.finished(replied(cost=None), "counter_offer")
    assert state.projected_usd is None
    assert "USD" not in state.line()


def test_replies_that_cannot_be_read_show() -> None:
    state, _ = progress()
    state.finished(replied(), "counter_offer")
    state.finished(replied("I cannot say."), "counter_offer")
    state.finished(replied(None, has_reasoning=True), "counter_offer")
    state.finished(replied("The", finish_reason="length"), "counter_offer")
    assert state.line().endswith("25.0% readable, 1 reasoning only, 1 truncated")


def test_plain_lines_come_while_nothing_happens() -> None:
    state, _ = progress()
    stream = io.StringIO()
    with plain_lines(state, stream, every_s=0.02):
        deadline = time.monotonic() + 5
        while stream.getvalue().count("\n") < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    lines = stream.getvalue().splitlines()
    assert len(lines) >= 4
    assert all(line.startswith("40 of 100") for line in lines)


def test_the_live_lines_show_a_bar_and_fit_the_terminal() -> None:
    state, _ = progress()
    state.finished(replied(), "counter_offer")
    for number in range(8):
        state.waits((str(number), 0), 5.0, "HTTP 503: " + "very busy " * 20)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, highlight=False)
    with live_lines(state, console):
        pass
    assert "41 of 100" in stream.getvalue()
    assert "8 waiting to retry, the next in 5 s (HTTP 503" in stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "0 min 05 s"), (65.4, "1 min 05 s"), (7800, "2 h 10 min")]
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words
