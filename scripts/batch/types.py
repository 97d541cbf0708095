"""What passes between the batch engine and a provider's batch interface, its errors included."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, Protocol

from ..models.errors import redacted, wait_s
from ..models.types import CallError, Reply, Request

_NO_QUOTA: Final = re.compile(
    r"insufficient_quota|billing|credit balance is too low|insufficient (balance|credit)", re.I
)
_FATAL_CODES: Final = {"authentication_error", "permission_error", "not_found_error", "billing_error"}
_LATER_CODES: Final = {"api_error", "overloaded_error", "rate_limit_error", "timeout_error"}
_TOKEN_LIMIT: Final = re.compile(r"token_limit_exceeded|enqueued token", re.I)
_TOLD_LIMIT: Final = re.compile(r"limit:\s*([\d,]+)", re.I)
_LONGEST: Final = 300


class State(StrEnum):
    """What can be done about a batch that the provider has."""

    WORKING = "working"
    """Wait."""
    ENDED = "ended"
    """Collect what it brought, be it everything or not."""
    REFUSED = "refused"
    """It was turned down as a whole after being accepted: no line was asked."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a provider takes in one batch."""

    requests: int
    """Lines."""
    content_bytes: int
    """Size of what is uploaded."""


@dataclass(frozen=True, slots=True)
class Tag:
    """What a batch is known by before the provider has given it an id."""

    run: str
    """Id of the run."""
    chunk: str
    """Id of the batch within the run; every custom id of it begins with this."""
    requests: int
    """How many lines it has."""
    planned_at: float
    """Seconds since 1970 by this machine's clock: the batch was not made before."""
    others: AbstractSet[str]
    """The provider's ids of the run's other batches."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A batch as the provider shows it."""

    id: str
    """The provider's name for it."""
    word: str
    """The provider's word for its state."""
    state: State
    """What that means for us."""
    answered: int = 0
    """Lines with an outcome so far, errors included."""
    results: tuple[str, ...] = ()
    """What to ask for to get the results; empty if there are none."""
    code: str = ""
    """Short reason of a batch that was refused."""
    message: str = ""
    """The same in words, without any key."""
    is_certain: bool = True
    """False for a batch that was found and may be a stranger's: its results will tell."""


@dataclass(frozen=True, slots=True)
class LineResult:
    """The outcome of one line: a reply, an error, or neither if the provider never got to it."""

    custom_id: str
    """The id that was sent with the line."""
    reply: Reply | None = None
    """The answer."""
    error: CallError | None = None
    """Why there is none."""


class ApiError(CallError):
    """A request to the batch interface itself failed."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        retry_after_s: float | None = None,
        fatal: bool = False,
        uncertain: bool = False,
        code: str = "",
        status: int | None = None,
        is_queue_full: bool = False,
    ) -> None:
        """Describe it as CallError does.

        `uncertain`: the provider may have done what was asked all the same (the connection broke, or a
        server error). `code`: the provider's short reason. `status`: that of HTTP, None without an answer.
        `is_queue_full`: too many tokens are queued already; a smaller batch may be taken at once.
        """
        super().__init__(message, retryable=retryable, retry_after_s=retry_after_s, fatal=fatal)
        self.uncertain = uncertain
        self.code = code
        self.status = status
        self.is_queue_full = is_queue_full


class BatchClient(Protocol):
    """One provider's batch interface. Every coroutine raises ApiError; none of them retries."""

    @property
    def limits(self) -> Limits:
        """Return how much fits into one batch."""

    def encode(self, custom_id: str, request: Request) -> bytes:
        """Return the line of one request."""

    async def submit(self, lines: Sequence[bytes], tag: Tag) -> Remote:
        """Hand in a batch."""

    async def find(self, tag: Tag) -> Remote | None:
        """Return the batch that was handed in with `tag`, None if the provider has none."""

    async def retrieve(self, batch_id: str) -> Remote:
        """Return the present state of a batch."""

    async def cancel(self, batch_id: str) -> Remote:
        """Have the provider stop a batch; what it has answered by then is kept."""

    def lines(self, remote: Remote) -> AsyncIterator[bytes]:
        """Yield the lines of the results of an ended batch, in no particular order."""

    def read(self, line: bytes) -> LineResult | None:
        """Return what one of these lines says, None if it cannot be understood."""

    async def close(self) -> None:
        """Release the connections."""


def api_error(status: int | None, text: str, headers: Mapping[str, str], code: str = "") -> ApiError:
    """Return the error for an answer of the interface; `status` is None if none came.

    Header names are in lower case.
    """
    fatal = status in (401, 402, 403, 404) or bool(_NO_QUOTA.search(f"{code} {text}"))
    is_queue_full = is_token_limit(code, text)
    return ApiError(
        described(status, text),
        retryable=not (fatal or is_queue_full) and _later(status),
        retry_after_s=wait_s(headers, datetime.now(UTC), throttled=status == 429),
        fatal=fatal,
        uncertain=status is None or status >= 500,
        code=code,
        status=status,
        is_queue_full=is_queue_full,
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
