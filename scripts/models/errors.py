"""What a failed call means for the run: ask again and when, give this prompt up, or stop.

LiteLLM's classes do not tell these apart (a spent quota is a rate limit to it). The HTTP status decides
first, then the codes in the provider's JSON, and its prose only where those say nothing.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any, Final

from .secrets import Secrets
from .types import CallError


class _Cause(Enum):
    """What a provider says that its HTTP status does not."""

    NO_MONEY = auto()
    """Every call fails until somebody pays."""
    DAY_SPENT = auto()
    """The quota of the day is used up; a wait that is named beside it does not help."""
    SOME_DAYS_LIMIT = auto()
    """It speaks of a limit of the day; how long that lasts, the headers may say."""
    MINUTE_SPENT = auto()
    """The quota of the minute is used up: wait."""
    ONE_PROMPT = auto()
    """A filter does not like this prompt."""
    BROKEN_HERE = auto()
    """The fault lies on this machine."""
    UNREADABLE = auto()
    """An answer came, in a form that LiteLLM cannot read."""


_CODES: Final = (
    (_Cause.DAY_SPENT, re.compile(r"PerDay")),
    (_Cause.MINUTE_SPENT, re.compile(r"PerMinute")),
    (_Cause.NO_MONEY, re.compile(r"insufficient_(quota|balance|credit|fund)|billing_(hard|not)", re.I)),
    (_Cause.ONE_PROMPT, re.compile(r"content_?(filter|policy)|moderation", re.I)),
)  # fmt: skip
"""What codes mean; the first that fits counts. Google's quotaId names the window that is spent."""
_WINDOW: Final = re.compile(
    r"retryDelay\W+(\d[\d.]*(?:ms|[hms]))|(?:try again|retry) in (\d[\d.hms]*[hms])", re.I
)
_PROSE: Final = (
    (_Cause.BROKEN_HERE, re.compile(r"No module named")),
    (_Cause.UNREADABLE, re.compile(r"Invalid response object")),
    # A quota with a window that passes ("try again in 7m12s") is waited for, whatever it is called.
    (_Cause.MINUTE_SPENT, _WINDOW),
    (_Cause.SOME_DAYS_LIMIT, re.compile(r"\b(?:per|a|each)[- ]day\b|\bdaily (?:limit|quota)", re.I)),
    (
        _Cause.NO_MONEY,
        re.compile(
            r"insufficient_quota|billing_hard_limit|billing_not_active|exceeded your current quota"
            r"|credit balance is too low|insufficient (?:balance|credit|funds)|purchase more credits",
            re.I,
        ),
    ),
    (_Cause.ONE_PROMPT, re.compile(r"moderation|flagged|content.?(?:policy|filter)|safety", re.I)),
)
"""What words mean where no code says it."""
_BROKEN_OFF: Final = frozenset(
    {"error", "abort", "aborted", "insufficient_system_resource", "network_error", "malformed_response"}
)
_CUT_OFF: Final = frozenset({"model_length", "max_output_tokens"})
_CODE_KEYS: Final = ("code", "type", "status", "reason", "quotaId")
_PASSING: Final = frozenset({200, 408, 409, 425, 429})
_FOR_EVERY_CALL: Final = frozenset({401, 402, 403, 404, 410})
_NOT_CONNECTED: Final = re.compile(r"Connection error|Cannot connect to host|connection refused", re.I)
_PREFIX: Final = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)(?::| -) )+")
_NOT_TAKEN: Final = re.compile(
    r"unsupported|not support|n.t support|not (?:allowed|permitted|recognized|available|valid)|unknown"
    r"|unrecognized|unexpected|invalid|deprecated|only the default|extra inputs|must be|should be"
    r"|mandatory|out of range|cannot be disabled",
    re.I,
)
_OTHER_NAMES: Final = {
    "reasoning_effort": (
        "reasoning_effort", "reasoning.effort", "reasoning", "Reasoning", "thinking", "thinking_budget",
    ),
    # Without it the worst case of a call has no bound: it is sent under its other name, never left out.
    "max_tokens": ("max_completion_tokens",),
    "max_completion_tokens": (),
}  # fmt: skip


def call_error(
    error: Exception, *, parameters: Collection[str] = (), hint: Callable[[object], str] = lambda _: ""
) -> CallError:
    """Return what `error` means; its message holds no key.

    `parameters` are those that were sent: a refusal that names one of them says so in `rejected`.
    `hint` returns what to add to the message for an HTTP status.
    """
    body = getattr(error, "body", None)
    text = f"{error} {body or ''}"
    status = getattr(error, "status_code", None)
    cause = _cause(body, text)
    wait = _asked_wait_s(error, status, text)
    is_day = status == 429 and (
        cause is _Cause.DAY_SPENT or (cause is _Cause.SOME_DAYS_LIMIT and wait is None)
    )
    fatal = cause in (_Cause.NO_MONEY, _Cause.BROKEN_HERE) or (
        status in _FOR_EVERY_CALL and not (status == 403 and cause is _Cause.ONE_PROMPT)
    )
    # Without a status there was no HTTP answer at all: the network.
    is_passing = not isinstance(status, int) or status in _PASSING or status >= 500
    return CallError(
        _message(error, status) + hint(status),
        retryable=is_passing and not (fatal or is_day or cause is _Cause.UNREADABLE),
        retry_after_s=wait,
        fatal=fatal,
        throttled=status == 429 and not fatal,
        rejected=_rejected(status, text, parameters),
        stops_run=is_day,
        about_prompt=status in (400, 403) and cause is _Cause.ONE_PROMPT,
        # LiteLLM calls its own time limit a 408: the server may have been at work.
        cost_usd=0.0 if isinstance(status, int) and 400 <= status < 500 and status != 408 else None,
    )


def plain_finish_reason(reason: str | None, cost_usd: float | None = None) -> str | None:
    """Return why a model stopped, in OpenAI's words where the provider's are others.

    Raises CallError for an answer that the provider itself broke off: what there is of it says nothing, also
    where it looks whole ("### 12" of "### 1250000 INR"). `cost_usd` is what it cost all the same.
    """
    if reason is not None and reason.lower() in _BROKEN_OFF:
        message = f"the provider broke the answer off (finish_reason {reason})"
        raise CallError(message, retryable=True, cost_usd=cost_usd)
    return "length" if reason in _CUT_OFF else reason


def is_not_connected(error: Exception) -> bool:
    """Return True if no server took the call."""
    return bool(_NOT_CONNECTED.search(str(error)))


def redacted(text: str) -> str:
    """Return `text` without the values of the environment's keys, tokens and passwords."""
    return Secrets().mask(text)


def _cause(body: object, text: str) -> _Cause | None:
    codes = " ".join(_codes(body if isinstance(body, dict | list) else _json_in(text)))
    for table, words in ((_CODES, codes or text), (_PROSE, text)):
        for cause, form in table:
            if form.search(words):
                return cause
    return None


def _codes(value: Any) -> Iterator[str]:
    """Yield what stands under a key for codes, however deep."""
    if isinstance(value, list):
        for item in value:
            yield from _codes(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in _CODE_KEYS and isinstance(item, str):
                yield item
            yield from _codes(item)


def _json_in(text: str) -> Any:
    """Return the JSON object that LiteLLM quotes in a message, None without one."""
    try:
        return json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    except (ValueError, RecursionError):
        return None


def _rejected(status: object, text: str, parameters: Collection[str]) -> str | None:
    if status not in (400, 422) or not _NOT_TAKEN.search(text):
        return None
    for name in parameters:
        words = "|".join(re.escape(word) for word in _OTHER_NAMES.get(name, (name,)))
        if words and re.search(rf"\b(?:{words})\b", text):
            return name
    return None


def _message(error: Exception, status: object) -> str:
    text = " ".join(_PREFIX.sub("", str(error)).split("Traceback")[0].split())
    code = f"HTTP {status}: " if isinstance(status, int) and status != 200 else ""
    return f"{code}{redacted(text)[:300]}"


def _asked_wait_s(error: Exception, status: object, text: str) -> float | None:
    """Return the wait that the headers name, or for a 429 without such a header the one in its text."""
    found = lower_case(
        getattr(getattr(error, "response", None), "headers", None),
        getattr(error, "litellm_response_headers", None),
    )
    now = datetime.now(UTC)
    seconds = wait_s(found, now, throttled=status == 429)
    if seconds is None and status == 429 and (words := _WINDOW.search(text)) is not None:
        return moment_s(words[1] or words[2], now)
    return seconds


# How long a server asks to wait. `Retry-After` comes as whole or decimal seconds, as an HTTP date and in the
# wild as a duration or an ISO time; `retry-after-ms` is OpenAI's. A server that only says when its limits are
# full again does so in `x-ratelimit-reset-*` (OpenAI and those who copy it) or `anthropic-ratelimit-*-reset`.

_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|us|µs|ns|[dhms]))+", re.ASCII)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])", re.ASCII)
_SECONDS: Final = {
    "d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9,
}  # fmt: skip
_EPOCH_FROM_S: Final = 1e9
"""Larger numbers are times since 1970, not waits of more than thirty years."""
_EPOCH_FROM_MS: Final = 1e11
_RESET: Final = re.compile(r"(?:x-)?ratelimit-reset(?:-.+)?|anthropic-ratelimit-.+-reset")


def lower_case(*sources: Mapping[str, object] | None) -> dict[str, str]:
    """Return the headers of all `sources` under lower-case names; later sources win."""
    return {str(name).lower(): str(value) for source in sources for name, value in (source or {}).items()}


def wait_s(headers: Mapping[str, str], now: datetime, *, throttled: bool) -> float | None:
    """Return the seconds that the server asks to wait, at least 0; None if it does not say.

    `headers` have lower-case names. A wait that is named outright counts first. The reset times of
    rate limits count only if `throttled`, since some servers send them with every answer: the
    latest of the used-up limits, or the earliest reset if none is told to be used up. A header that cannot be
    understood counts as absent.
    """
    # Moments are the server's: a machine whose clock is an hour behind would wait an hour too long.
    now += timedelta(seconds=_until(parsedate_to_datetime, headers.get("date", ""), now) or 0.0)
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None and milliseconds >= 0:
        return milliseconds / 1000
    named = moment_s(headers.get("retry-after", ""), now)
    if named is not None or not throttled:
        return named
    resets = {
        name: seconds
        for name, text in headers.items()
        if _RESET.fullmatch(name) and (seconds := moment_s(text, now)) is not None
    }
    used_up = [seconds for name, seconds in resets.items() if _is_used_up(name, headers)]
    return max(used_up) if used_up else min(resets.values(), default=None)


def moment_s(text: str, now: datetime) -> float | None:
    """Return the seconds from `now` to the moment that `text` names, 0 for the past, None if it names none.

    Seconds ("2", "2.5"), durations ("1m30s", "250ms"), times since 1970 in seconds or milliseconds,
    HTTP dates and ISO 8601 times; a time without a zone is UTC.
    """
    text = text.strip()
    seconds = _number(text)
    if seconds is not None and seconds >= _EPOCH_FROM_S:
        seconds = (seconds / 1000 if seconds >= _EPOCH_FROM_MS else seconds) - now.timestamp()
    if seconds is None and _DURATION.fullmatch(text):
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if seconds is None:
        seconds = _until(parsedate_to_datetime, text, now)
    if seconds is None:
        seconds = _until(datetime.fromisoformat, text, now)
    return None if seconds is None else max(seconds, 0.0)


def _is_used_up(reset: str, headers: Mapping[str, str]) -> bool:
    remaining = _number(headers.get(reset.replace("reset", "remaining"), ""))
    return remaining is not None and remaining <= 0


def _until(read: Callable[[str], datetime], text: str, now: datetime) -> float | None:
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
