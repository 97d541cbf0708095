"""Prices, what a run will cost, and the cap on what it may cost.

Unknown is unknown: a price that nobody told is None, never 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Protocol, runtime_checkable

from .types import Complete, Reply, Request

_PER_MILLION: Final = 1e6
_MESSAGE_TOKENS: Final = 12
"""What a chat format adds to the texts of a request."""
_ANSWER_TOKENS: Final = 8
"""An answer in the asked format: "### 850000 INR"."""
_LONG_ANSWER_TOKENS: Final = 1000
RULE: Final = "4 to 2.5 characters a token in"
"""The rule by which tokens are estimated, for messages."""


@dataclass(frozen=True, slots=True)
class Price:
    """What tokens cost, in USD per million."""

    input: float
    output: float
    source: str
    """Who says so."""
    batch_input: float | None = None
    batch_output: float | None = None
    """Prices of the provider's batch interface; None: none known."""
    max_output_tokens: int | None = None
    """Longest answer that the model can give, if known."""

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """Return the price of a call in USD."""
        return (input_tokens * self.input + output_tokens * self.output) / _PER_MILLION

    def batch(self) -> "Price | None":
        """Return the price in batches, None if it is not known."""
        if self.batch_input is None or self.batch_output is None:
            return None
        return replace(self, input=self.batch_input, output=self.batch_output)


FREE: Final = Price(0.0, 0.0, "it runs on this machine")


@runtime_checkable
class Priced(Protocol):
    """A model that knows its price."""

    @property
    def price(self) -> Price | None:
        """Price of the model, None if it is not known."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of many requests, from a low and a high assumption."""

    input_low: int
    input_high: int
    output_low: int
    output_high: int
    is_bounded: bool
    """False if no --max-tokens bounds the answers: `output_high` then assumes 1,000 tokens each."""

    def cost_usd(self, price: Price) -> tuple[float, float]:
        """Return the low and the high cost."""
        return price.cost(self.input_low, self.output_low), price.cost(self.input_high, self.output_high)


def estimate(requests: Iterable[Request], max_tokens: int | None) -> Estimate:
    """Return the tokens of `requests`.

    In: a token per 4 characters (low) or 2.5 (high, Hinglish and digits), and 12 for the format of
    the messages. Out: 8 (the asked format) to `max_tokens`, or 1,000 if None.
    """
    count = low = high = 0
    for request in requests:
        characters = len(request.system_prompt) + len(request.prompt)
        count += 1
        low += characters // 4 + _MESSAGE_TOKENS
        high += characters * 2 // 5 + _MESSAGE_TOKENS
    longest = max_tokens or _LONG_ANSWER_TOKENS
    return Estimate(low, high, count * min(_ANSWER_TOKENS, longest), count * longest, max_tokens is not None)


def likely_tokens(request: Request, max_tokens: int | None) -> int:
    """Return the tokens that a provider's limit per minute is likely to count for a request."""
    characters = len(request.system_prompt) + len(request.prompt)
    return characters // 3 + _MESSAGE_TOKENS + (max_tokens or 64)


def worst_case_usd(request: Request, price: Price, max_tokens: int) -> float:
    """Return the most that one call can cost: a token per byte in, `max_tokens` out."""
    size = len(request.system_prompt.encode()) + len(request.prompt.encode())
    return price.cost(size + 64, max_tokens)


def priced(complete: Complete, price: Price, *, overrule: bool) -> Complete:
    """Return `complete` with costs from `price` and the tokens used, where none is told or to `overrule`."""

    async def ask(request: Request) -> Reply:
        reply = await complete(request)
        if reply.cost_usd is not None and not overrule:
            return reply
        return replace(reply, cost_usd=cost_of(reply, price))

    return ask


def cost_of(reply: Reply, price: Price) -> float | None:
    """Return the cost of a reply, None if it does not tell its tokens."""
    usage = reply.usage or {}
    if "input_tokens" not in usage or "output_tokens" not in usage:
        return None
    return price.cost(usage["input_tokens"], usage["output_tokens"])
