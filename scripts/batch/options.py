"""What `rupeebias batch` and `generate --batch` can be told about batches alone."""

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..errors import UsageError

if TYPE_CHECKING:
    from .wire import ApiError

Batch = Annotated[
    bool,
    Option("--batch", help="Through the provider's batch interface: half the price, within a day."),
]


@dataclass(frozen=True, slots=True)
class Patience:
    """How hard to try one call of the interface."""

    retries: int = 6
    """Further attempts after the first."""
    first_wait_s: float = 2.0
    """Wait before the first retry where the server names none; it doubles each time."""
    longest_wait_s: float = 300.0
    """Longest wait, also where the server asks for more."""

    def wait_s(self, error: "ApiError", attempt: int) -> float:
        """Return the seconds to wait after the given attempt (1, 2, ...)."""
        if error.retry_after_s is not None:
            return min(error.retry_after_s, self.longest_wait_s)
        wait = min(self.first_wait_s * 2.0 ** (attempt - 1), self.longest_wait_s)
        return wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What concerns batches alone; none of it changes an answer."""

    tokens: Annotated[
        int | None,
        Option("--batch-tokens", help="Most tokens queued in batches at once. [default: no bound]"),
    ] = None
    """Most estimated tokens to have queued at once; None: what the provider lets through."""
    poll_s: float = 60.0
    """Longest wait between two looks at the batches, in seconds."""
    max_tries: int = 4
    """Attempts at a request whose errors may pass."""
    patience: Patience = field(default_factory=Patience)
    """How hard to try each call of the interface."""

    def __post_init__(self) -> None:
        """Raise UsageError for a bound that lets nothing through."""
        if self.tokens is not None and not 1 <= self.tokens < 2**63:
            raise UsageError(f"--batch-tokens {self.tokens}: expected 1 or more, of at most 64 bits")
