"""What an exception of LiteLLM means for the run: ask again, give this prompt up, or stop.

LiteLLM's classes do not tell these apart (a spent quota is a rate limit to it), so the HTTP status
and the words of the provider decide.
"""

import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Final

from . import headers
from .secrets import Secrets
from .types import CallError

_NO_QUOTA: Final = re.compile(
    r"insufficient_quota|billing_hard_limit|billing_not_active|exceeded your current quota"
    r"|credit balance is too low|insufficient (?:balance|credit|funds)|purchase more credits",
    re.I,
)
_SPENT_FOR_TODAY: Final = re.compile(r"quotaId\W+\w*PerDay")  # Google's; it names a wait that does not help
_WAIT_IN_WORDS: Final = re.compile(
    r"retryDelay\W+(\d[\d.]*(?:ms|[hms]))|try again in (\d[\d.hms]*[hms])", re.I
)
_ABOUT_ONE_PROMPT: Final = re.compile(r"moderation|flagged|content.?(?:policy|filter)|safety", re.I)
_NOT_CONNECTED: Final = re.compile(r"Connection error|Cannot connect to host|connection refused", re.I)
_PREFIX: Final = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)(?::| -) )+")
_NOT_TAKEN: Final = re.compile(
    r"unsupported|not support|n.t support|not (?:allowed|permitted|recognized|available|valid)|unknown"
    r"|unrecognized|unexpected|invalid|deprecated|only the default|extra inputs|must be|should be",
    re.I,
)
_PASSING: Final = frozenset({408, 409, 425, 429})
_OTHER_NAMES: Final = {
    "reasoning_effort": ("reasoning_effort", "reasoning.effort", "reasoning", "thinking"),
    "max_tokens": (),  # without it the worst case of a call has no bound: it is never left out
}


def call_error(
    error: Exception, *, parameters: Collection[str] = (), hint: Callable[[object], str] = lambda _: ""
) -> CallError:
    """Return what `error` means; its message holds no key.

    `parameters` are those that were sent: a refusal that names one of them says so in `rejected`.
    `hint` returns what to add to the message for an HTTP status.
    """
    text = f"{error} {getattr(error, 'body', None) or ''}"
    status = getattr(error, "status_code", None)
    fatal = _is_fatal(status, text)
    is_over = status == 429 and bool(_SPENT_FOR_TODAY.search(text))
    return CallError(
        _message(error, status) + hint(status),
        retryable=not fatal and not is_over and _is_retryable(status, text),
        retry_after_s=_asked_wait_s(error, status, text),
        fatal=fatal,
        throttled=status == 429 and not fatal,
        rejected=_rejected(status, text, parameters),
        stops_run=is_over,
        about_prompt=status in (400, 403) and bool(_ABOUT_ONE_PROMPT.search(text)),
        # LiteLLM calls its own time limit a 408: the server may have been at work.
        unpaid=isinstance(status, int) and 400 <= status < 500 and status != 408,
    )


def is_not_connected(error: Exception) -> bool:
    """Return True if no server took the call."""
    return bool(_NOT_CONNECTED.search(str(error)))


def redacted(text: str) -> str:
    """Return `text` without the values of the environment's keys, tokens and passwords."""
    return Secrets().mask(text)


def _is_fatal(status: object, text: str) -> bool:
    if status == 403:
        return not _ABOUT_ONE_PROMPT.search(text)
    return status in (401, 402, 404) or bool(_NO_QUOTA.search(text))


def _is_retryable(status: object, text: str) -> bool:
    if "Invalid response object" in text:  # an answer in a form that LiteLLM cannot read
        return False
    if not isinstance(status, int):
        return True  # no HTTP answer at all: the network
    return status == 200 or status in _PASSING or status >= 500


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
    found = headers.lower_case(
        getattr(getattr(error, "response", None), "headers", None),
        getattr(error, "litellm_response_headers", None),
    )
    now = datetime.now(UTC)
    seconds = headers.wait_s(found, now, throttled=status == 429)
    if seconds is None and status == 429 and (words := _WAIT_IN_WORDS.search(text)) is not None:
        return headers.moment_s(words[1] or words[2], now)
    return seconds
