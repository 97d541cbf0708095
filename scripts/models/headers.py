"""How long a server asks to wait, from the headers of its answer, in every form in use.

`Retry-After` comes as whole or decimal seconds, as an HTTP date and in the wild as a duration or an ISO time;
`retry-after-ms` is OpenAI's. A server that only says when its limits are full again does so in
`x-ratelimit-reset-*` (OpenAI and those who copy it) or `anthropic-ratelimit-*-reset`.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|us|µs|ns|[dhms]))+", re.ASCII)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])", re.ASCII)
_SECONDS: Final = {
    "d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9,
}  # fmt: skip
_EPOCH_FROM_S: Final = 1e9
"""Larger numbers are times since 1970, not waits of more than thirty years."""
_EPOCH_FROM_MS: Final = 1e11
_RESET: Final = re.compile(r"(?:x-)?ratelimit-reset(?:-.+)?|anthropic-ratelimit-.+-reset")


def wait_s(headers: Mapping[str, str], now: datetime, *, throttled: bool) -> float | None:
    """Return the seconds that the server asks to wait, at least 0; None if it does not say.

    `headers` have lower-case names. A wait that is named outright counts first. The reset times of
    rate limits count only if `throttled`, since some servers send them with every answer: the
    latest of the used-up limits, or the earliest reset if none is told to be used up. A header that cannot be
    understood counts as absent.
    """
    # Moments are the server's: a machine whose clock is an hour behind would wait an hour too long.
    now += timedelta(seconds=_http_date(headers.get("date", ""), now) or 0.0)
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None and milliseconds >= 0:
        return milliseconds / 1000
    named = moment_s(headers.get("retry-after", ""), now)
    if named is not None or not throttled:
        return named
    return _until_reset(headers, now)


def moment_s(text: str, now: datetime) -> float | None:
    """Return the seconds from `now` to the moment that `text` names, 0 for the past, None if it names none.

    Seconds ("2", "2.5"), durations ("1m30s", "250ms"), times since 1970 in seconds or milliseconds,
    HTTP dates and ISO 8601 times; a time without a zone is UTC.
    """
    text = text.strip()
    for reader in (_seconds, _duration, _http_date, _iso_time):
        seconds = reader(text, now)
        if seconds is not None:
            return max(seconds, 0.0)
    return None


def _until_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    resets = {
        name: seconds
        for name, text in headers.items()
        if _RESET.fullmatch(name) and (seconds := moment_s(text, now)) is not None
    }
    used_up = [seconds for name, seconds in resets.items() if _is_used_up(name, headers)]
    if used_up:
        return max(used_up)
    return min(resets.values(), default=None)


def _is_used_up(reset: str, headers: Mapping[str, str]) -> bool:
    remaining = _number(headers.get(reset.replace("reset", "remaining"), ""))
    return remaining is not None and remaining <= 0


def _seconds(text: str, now: datetime) -> float | None:
    number = _number(text)
    if number is None or number < _EPOCH_FROM_S:
        return number
    since_1970 = number / 1000 if number >= _EPOCH_FROM_MS else number
    return since_1970 - now.timestamp()


def _duration(text: str, _: datetime) -> float | None:
    if not _DURATION.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))


def _http_date(text: str, now: datetime) -> float | None:
    return _from_now(parsedate_to_datetime, text, now)


def _iso_time(text: str, now: datetime) -> float | None:
    return _from_now(datetime.fromisoformat, text, now)


def _from_now(read: Callable[[str], datetime], text: str, now: datetime) -> float | None:
    try:
        moment = read(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def lower_case(*sources: Mapping[str, object] | None) -> dict[str, str]:
    """Return the headers of all `sources` under lower-case names; later sources win."""
    return dict(_pairs(sources))


def _pairs(sources: tuple[Mapping[str, object] | None, ...]) -> Iterator[tuple[str, str]]:
    for source in sources:
        for name, value in (source or {}).items():
            yield str(name).lower(), str(value)
