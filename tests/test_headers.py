"""How long a server asks to wait, in every form that servers use."""

from datetime import UTC, datetime

import pytest

from rupeebias.models.errors import lower_case, moment_s, wait_s

NOW = datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3.0),
        ("2.5", 2.5),
        ("0", 0.0),
        ("-5", 0.0),
        ("86400", 86_400.0),
        ("1m30s", 90.0),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("250ms", 0.25),
        ("1d", 86_400.0),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 29.5),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Sunday, 01-Mar-26 12:00:30 GMT", 29.5),
        ("2026-03-01T12:01:00Z", 59.5),
        ("2026-03-01T17:31:00+05:30", 59.5),
        ("2026-03-01T12:01:00", 59.5),
        (str(int(NOW.timestamp()) + 10), 9.5),
        (str(int(NOW.timestamp() * 1000) + 10_000), 10.0),
    ],
)
def test_every_form_of_a_moment(text: str, seconds: float) -> None:
    assert moment_s(text, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "nan", "inf", "1m30", "m", "2026-13-45", "99999-01-01"])
def test_what_names_no_moment(text: str) -> None:
    assert moment_s(text, NOW) is None


def test_milliseconds_come_first() -> None:
    assert wait_s({"retry-after-ms": "1500", "retry-after": "2"}, NOW, throttled=True) == 1.5
    assert wait_s({"retry-after-ms": "soon", "retry-after": "2"}, NOW, throttled=True) == 2.0


def test_the_latest_reset_of_a_used_up_limit_counts() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "12s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "1m30s",
        "x-ratelimit-remaining-images": "5",
        "x-ratelimit-reset-images": "8h",
    }
    assert wait_s(headers, NOW, throttled=True) == 90.0


def test_if_no_limit_is_told_to_be_used_up_the_earliest_reset_counts() -> None:
    headers = {
        "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:20Z",
        "anthropic-ratelimit-input-tokens-reset": "2026-03-01T12:00:05Z",
    }
    assert wait_s(headers, NOW, throttled=True) == 4.5


def test_a_named_wait_counts_before_resets_and_resets_only_for_429() -> None:
    resets = {"x-ratelimit-reset-requests": "30s"}
    assert wait_s({**resets, "retry-after": "1"}, NOW, throttled=True) == 1.0
    assert wait_s(resets, NOW, throttled=False) is None
    assert wait_s({"retry-after": "7"}, NOW, throttled=False) == 7.0


def test_moments_are_told_by_the_servers_clock() -> None:
    # This machine's clock is an hour behind the server's, and ahead of it in the second case.
    served = {"date": "Sun, 01 Mar 2026 13:00:00 GMT", "retry-after": "Sun, 01 Mar 2026 13:00:30 GMT"}
    assert wait_s(served, NOW, throttled=True) == pytest.approx(30.0)
    early = {"date": "Sun, 01 Mar 2026 11:00:00 GMT", "x-ratelimit-reset": "Sun, 01 Mar 2026 11:02:00 GMT"}
    assert wait_s(early, NOW, throttled=True) == pytest.approx(120.0)
    assert wait_s({"date": "?", "retry-after": "7"}, NOW, throttled=True) == 7.0


def test_no_header_no_wait() -> None:
    assert wait_s({}, NOW, throttled=True) is None
    assert wait_s({"retry-after": "later"}, NOW, throttled=True) is None


def test_names_are_read_in_any_case_and_later_sources_win() -> None:
    assert lower_case({"Retry-After": "1", "A": 2}, None, {"retry-after": "3"}) == {
        "retry-after": "3",
        "a": "2",
    }
