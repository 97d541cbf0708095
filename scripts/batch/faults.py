"""What an error of a batch interface, or of one line of a batch, means for the run."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from ..models.errors import redacted
from ..models.headers import wait_s
from ..models.types import CallError
from .wire import ApiError

_NO_QUOTA: Final = re.compile(
    r"insufficient_quota|billing|credit balance is too low|insufficient (balance|credit)", re.I
)
_FATAL_CODES: Final = {"authentication_error", "permission_error", "not_found_error", "billing_error"}
_LATER_CODES: Final = {"api_error", "overloaded_error", "rate_limit_error", "timeout_error"}
_TOKEN_LIMIT: Final = re.compile(r"token_limit_exceeded|enqueued token", re.I)
_TOLD_LIMIT: Final = re.compile(r"limit:\s*([\d,]+)", re.I)
_LONGEST: Final = 300


def api_error(status: int | None, text: str, headers: Mapping[str, str], code: str = "") -> ApiError:
    """Return the error for an answer of the interface; `status` is None if none came.

    Header names are in lower case.
    """
    fatal = status in (401, 402, 403, 404) or bool(_NO_QUOTA.search(f"{code} {text}"))
    return ApiError(
        described(status, text),
        retryable=not fatal and _later(status),
        retry_after_s=wait_s(headers, datetime.now(UTC), throttled=status == 429),
        fatal=fatal,
        uncertain=status is None or status >= 500,
        code=code,
        status=status,
    )


def line_error(status: int | None, code: str, text: str, *, unanswered: bool = False) -> CallError:
    """Return the error for one line: fatal if it would meet every line, retryable if it may pass.

    `unanswered`: the provider got no answer from its own model, whatever the reason.
    """
    fatal = status in (401, 402, 403, 404) or code in _FATAL_CODES or bool(_NO_QUOTA.search(f"{code} {text}"))
    later = unanswered or code in _LATER_CODES or (status is not None and _later(status))
    return CallError(described(status, text or code), retryable=later and not fatal, fatal=fatal)


def described(status: int | None, text: str) -> str:
    """Return one line without any key."""
    start = f"HTTP {status}: " if status is not None else ""
    return f"{start}{redacted(' '.join(text.split()))[:_LONGEST]}"


def is_token_limit(code: str, message: str) -> bool:
    """Whether a batch was turned down because too many tokens are queued already."""
    return bool(_TOKEN_LIMIT.search(f"{code} {message}"))


def told_limit(message: str) -> int | None:
    """Return the number of tokens that such a refusal names as the limit."""
    found = _TOLD_LIMIT.search(message)
    digits = found[1].replace(",", "") if found else ""
    return int(digits) if digits else None


def _later(status: int | None) -> bool:
    return status is None or status in (408, 409, 425, 429) or status >= 500
