"""What `rupeebias batch` and `generate --batch` can be told about batches alone."""

from dataclasses import dataclass
from typing import Annotated

from typer import Option

from ..errors import UsageError

Batch = Annotated[
    bool,
    Option("--batch", help="Through the provider's batch interface: half the price, within a day."),
]


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

    def __post_init__(self) -> None:
        """Raise UsageError for a bound that lets nothing through."""
        if self.tokens is not None and not 1 <= self.tokens < 2**63:
            raise UsageError(f"--batch-tokens {self.tokens}: expected 1 or more, of at most 64 bits")
