"""Splitting requests into batches by count, bytes and tokens."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ..errors import RupeeBiasError
from ..models.types import Request
from ..runs.outputs import Key
from .ids import custom_id
from .wire import Limits

_BYTES_PER_TOKEN: Final = 3
_MESSAGE_TOKENS: Final = 12
_SEPARATOR_BYTES: Final = 1
_ENVELOPE_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Packed:
    """The content of one batch."""

    chunk: str
    """Our id for it."""
    keys: tuple[Key, ...]
    """Its requests."""
    lines: tuple[bytes, ...]
    """A line for each."""
    tokens: int
    """Estimated tokens of the prompts."""
    worst_usd: float
    """The most that it can cost, 0 where nobody asked."""

    @property
    def content_bytes(self) -> int:
        """Size of what is uploaded."""
        return sum(map(len, self.lines)) + len(self.lines) * _SEPARATOR_BYTES + _ENVELOPE_BYTES


@dataclass(frozen=True, slots=True)
class Room:
    """What the next batch may take up at most, beside the provider's own limits."""

    tokens: float = math.inf
    """Estimated tokens."""
    usd: float = math.inf
    """Worst-case cost."""


class Packer:
    """Takes requests from one stream and packs batch after batch."""

    def __init__(
        self,
        requests: Iterator[Request],
        encode: Callable[[str, Request], bytes],
        limits: Limits,
        worst_usd: Callable[[Request], float] = lambda _: 0.0,
    ) -> None:
        self._requests = requests
        self._encode = encode
        self._limits = limits
        self._worst_usd = worst_usd
        self._held: Request | None = None

    def is_empty(self) -> bool:
        """Return True if no request is left, False if there is one that did not fit."""
        self._held = self._next()
        return self._held is None

    def pack(self, chunk: str, room: Room) -> Packed | None:
        """Return the next batch, as full as `room` and the provider's limits let it be.

        None if no request is left or not even one fits into `room`. Raises RupeeBiasError if a single
        request is larger than the provider takes, or comes twice.
        """
        lines: dict[Key, bytes] = {}
        size, tokens, usd = _ENVELOPE_BYTES, 0, 0.0
        while len(lines) < self._limits.requests and (request := self._next()) is not None:
            key = (request.prompt_id, request.repeat)
            line = self._encode(custom_id(chunk, key), request)
            size += len(line) + _SEPARATOR_BYTES
            tokens_after = tokens + estimated_tokens(request)
            usd_after = usd + self._worst_usd(request)
            if size > self._limits.content_bytes or tokens_after > room.tokens or usd_after > room.usd:
                self._held = request
                if not lines and size > self._limits.content_bytes:
                    raise RupeeBiasError(f"{key[0]}: its {len(line):,} bytes are too many for a batch")
                break
            if key in lines:
                raise RupeeBiasError(f"{key[0]} (repeat {key[1]}) stands twice in one batch")
            tokens, usd, lines[key] = tokens_after, usd_after, line
        return Packed(chunk, tuple(lines), tuple(lines.values()), tokens, usd) if lines else None

    def _next(self) -> Request | None:
        held, self._held = self._held, None
        return held if held is not None else next(self._requests, None)


def estimated_tokens(request: Request) -> int:
    """Return about how many tokens a queue counts for a request: one per three bytes of text, and 12."""
    size = len(request.system_prompt.encode()) + len(request.prompt.encode())
    return math.ceil(size / _BYTES_PER_TOKEN) + _MESSAGE_TOKENS
