"""The life of a run's batches: packed, planned, handed in, looked at, collected."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ..errors import RupeeBiasError
from ..generate.retry import RetryRules, with_retries
from ..models.types import CallError, Request
from ..runs.batches import FILE, BatchRecord, Entry, Stage, collected, custom_id, key_hash, new_id
from ..runs.journal import Key
from .collecting import Collector, Harvest
from .types import ApiError, BatchClient, Limits, LineResult, Remote, State, Tag, is_token_limit, told_limit

_BYTES_PER_TOKEN: Final = 3
_MESSAGE_TOKENS: Final = 12
_SEPARATOR_BYTES: Final = 1
_ENVELOPE_BYTES: Final = 64
_PATIENCE = 12
"""Batches in a row that may be turned down because the queue is full."""
_OTHER_WEIGHT = 4
"""As how many of those a batch counts that brought nothing for another reason."""
_LOOKS = 3


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


@dataclass(frozen=True, slots=True)
class Budget:
    """What may still be handed in."""

    max_cost_usd: float | None = None
    """Cap on what the run may cost; None: no cap."""
    worst_usd: Callable[[Request], float] = field(default=lambda _: 0.0)
    """The most that a request can cost in a batch."""


class Engine:
    """Works on the batches of one run, whose directory this process holds.

    After any method, `stopped` says why going on is pointless or was not wanted, None if nothing speaks
    against it; `fatal` tells a cause that must be removed first from a limit.
    """

    def __init__(
        self,
        batches: BatchRecord,
        client: BatchClient,
        collector: Collector,
        say: Callable[[str], None],
        *,
        rules: RetryRules,
        budget: Budget,
    ) -> None:
        self._batches = batches
        self._client = client
        self._collector = collector
        self._say = say
        self._rules = rules
        self._budget = budget
        self.collected = 0
        """Requests that got a record in this session."""
        self.ended_now: set[Key] = set()
        """Those requests."""
        self.stopped: str | None = None
        self.fatal = False

    async def attach(self) -> None:
        """Find out what became of batches of which it is not known whether the provider has them."""
        for entry in self._batches.open_entries:
            if entry.stage is not Stage.PLANNED:
                continue
            remote = await self._find(entry)
            if remote is None:
                self._batches.drop(entry)
            else:
                self._sent(entry, remote)
                self._say(f"batch {remote.id}: found at the provider again")

    async def submit(self, requests: Iterator[Request]) -> int:
        """Hand in as many of `requests` as limits let through, and return how many."""
        packer = Packer(requests, self._client.encode, self._client.limits, self._budget.worst_usd)
        count = 0
        while self.stopped is None:
            room = self._room()
            packed = packer.pack(new_id(), room)
            if packed is None:
                self._explain_standstill(packer, room)
                break
            if not await self._hand_in(packed):
                break
            count += len(packed.keys)
        return count

    async def refresh(self) -> list[tuple[Entry, Remote]]:
        """Look at every batch that the provider has, and return those that are over, oldest first."""
        over = []
        for entry in self._batches.open_entries:
            if entry.batch_id is None:
                continue
            remote = await self._retrieve(entry.batch_id)
            if remote.word != entry.word:
                self._say(
                    f"batch {remote.id}: {remote.word}, {remote.answered:,} of {entry.requests:,} handled"
                )
                entry = replace(entry, word=remote.word)
                self._batches.put(entry)
            if remote.state is not State.WORKING:
                over.append((entry, remote))
        return over

    async def collect(self, entry: Entry, remote: Remote) -> None:
        """Take in what a batch brought, and free the requests that it did not answer."""
        if remote.state is State.REFUSED:
            self._refused(entry, remote)
            return
        harvest = await with_retries(lambda: self._gather(entry, remote), self._rules)
        if harvest.strays and not harvest.ours:
            self._say(f"batch {remote.id}: not of this run, left alone")
            self._batches.drop(entry)
            return
        verdict = self._collector.judge(entry, harvest, self._batches)
        self._collector.settle(verdict, harvest, remote, self._batches)
        self.ended_now.update(
            self._collector.by_hash[name] for name in entry.members if name not in verdict.again
        )
        failed, again = len(verdict.final), len(verdict.again)
        done = entry.requests - failed - again
        self.collected += done + failed
        self._batches.fruitless = 0 if done + failed else self._batches.fruitless + _OTHER_WEIGHT
        self._batches.put(collected(entry, done=done, failed=failed, again=again, reason=verdict.reason))
        self._report(remote, (done, failed, again), verdict.reason, harvest)
        if verdict.fatal is not None:
            self._stop(verdict.fatal, fatal=True)
        elif remote.word == "cancelled":
            self._stop(f"batch {remote.id} was cancelled")
        self._check_progress(verdict.reason)

    async def _retrieve(self, batch_id: str) -> Remote:
        try:
            return await with_retries(lambda: self._client.retrieve(batch_id), self._rules)
        except ApiError as error:
            if error.status == 404:
                error.message += (
                    f"; the provider does not know batch {batch_id}: use the key of the project that made "
                    f"it, or delete its entry from {FILE} to have its requests asked again"
                )
            raise

    async def _gather(self, entry: Entry, remote: Remote) -> Harvest:
        return await self._collector.gather(entry, remote, self._results(remote), self._batches.tries)

    async def _results(self, remote: Remote) -> AsyncIterator[LineResult | bytes]:
        async for line in self._client.lines(remote):
            if line.strip():
                yield self._client.read(line) or line

    async def _hand_in(self, packed: Packed) -> bool:
        """Return whether the provider took it; if not, `stopped` or a lower token limit says why."""
        entry = Entry(
            chunk=packed.chunk,
            stage=Stage.PLANNED,
            requests=len(packed.keys),
            content_bytes=packed.content_bytes,
            tokens=packed.tokens,
            planned_at=time.time(),
            worst_usd=packed.worst_usd,
            members=tuple(key_hash(key) for key in packed.keys),
        )
        self._batches.put(entry)  # before anything is sent: a kill after this loses nothing
        try:
            remote = await with_retries(lambda: self._send(entry, packed), self._rules, self._say_retry)
        except ApiError as error:
            if not error.uncertain:
                self._batches.drop(entry)
            if error.is_queue_full:
                self._shrink(entry, error.message)
                return False
            raise
        self._sent(entry, remote)
        size = f"{entry.content_bytes / 1e6:.1f} MB, about {entry.tokens:,} tokens"
        self._say(f"batch {remote.id}: {entry.requests:,} requests handed in ({size})")
        return True

    async def _send(self, entry: Entry, packed: Packed) -> Remote:
        """Hand in a batch once: where it is not certain that the provider did not take it, look there."""
        try:
            return await self._client.submit(packed.lines, self._tag(entry))
        except ApiError as error:
            if error.uncertain and error.retryable and (remote := await self._look(entry)) is not None:
                return remote
            raise

    def _say_retry(self, error: CallError, wait: float) -> None:
        self._say(f"handing in a batch: {error.message}; trying again in {wait:.0f} s")

    async def _look(self, entry: Entry) -> Remote | None:
        """Look for a batch just handed in several times: a listing may lag behind."""
        for attempt in range(_LOOKS):
            if attempt:
                await asyncio.sleep(self._rules.first_wait_s)
            if (remote := await self._find(entry)) is not None:
                return remote
        return None

    async def _find(self, entry: Entry) -> Remote | None:
        return await with_retries(lambda: self._client.find(self._tag(entry)), self._rules)

    def _tag(self, entry: Entry) -> Tag:
        others = {e.batch_id for e in self._batches.entries.values() if e.batch_id is not None}
        return Tag(self._batches.run, entry.chunk, entry.requests, entry.planned_at, others)

    def _sent(self, entry: Entry, remote: Remote) -> None:
        known = replace(entry, stage=Stage.SENT, batch_id=remote.id, word=remote.word)
        self._batches.put(replace(known, is_certain=remote.is_certain))

    def _room(self) -> Room:
        limit, cap = self._batches.token_limit, self._budget.max_cost_usd
        return Room(
            tokens=math.inf if limit is None else limit - self._batches.queued_tokens,
            usd=math.inf if cap is None else cap - self._spent_usd() - self._batches.reserved_usd,
        )

    def _spent_usd(self) -> float:
        return self._collector.ledger.spent_usd

    def _explain_standstill(self, packer: Packer, room: Room) -> None:
        """Stop if requests are left that no end of a batch will make room for."""
        if packer.is_empty() or self._batches.open_entries:
            return
        cap = self._budget.max_cost_usd
        if cap is not None and packer.pack("-", replace(room, tokens=math.inf)) is None:
            spent = f"{self._spent_usd():.4f} USD spent"
            self._stop(f"--max-cost {cap:g} USD leaves no room for another request ({spent})")
        else:
            self._stop(
                f"not even one request fits into {self._batches.token_limit:,} queued tokens; "
                "raise --batch-tokens"
            )

    def _refused(self, entry: Entry, remote: Remote) -> None:
        text = remote.message or remote.code or "no reason given"
        over = collected(entry, done=0, failed=0, again=entry.requests, reason=text)
        self._batches.put(over)
        if is_token_limit(remote.code, remote.message):
            self._shrink(entry, remote.message)
        else:
            self._stop(f"the provider refused batch {remote.id}: {text}", fatal=True)

    def _shrink(self, entry: Entry, message: str) -> None:
        """Lower the number of tokens to queue to what the provider named, or halve it."""
        total = self._batches.queued_tokens + (0 if entry.chunk in self._open_chunks() else entry.tokens)
        told = told_limit(message)
        self._batches.token_limit = told if told is not None and told < total else max(total // 2, 1)
        self._batches.fruitless += 1
        self._batches.save()
        self._say(
            f"the provider's queue is full; from now on at most {self._batches.token_limit:,} tokens at once"
        )
        self._check_progress(message)

    def _open_chunks(self) -> set[str]:
        return {entry.chunk for entry in self._batches.open_entries}

    def _check_progress(self, reason: str) -> None:
        if self._batches.fruitless >= _PATIENCE:
            self._batches.fruitless = 0
            self._batches.save()
            self._stop(f"batch after batch brings nothing, the last: {reason}")

    def _report(self, remote: Remote, counts: tuple[int, int, int], reason: str, harvest: Harvest) -> None:
        done, failed, again = counts
        parts = [f"{done:,} replies"]
        parts += [f"{failed:,} failed"] if failed else []
        parts += [f"{again:,} to ask again"] if again else []
        parts += [f"{len(harvest.unread):,} lines could not be read"] if harvest.unread else []
        parts += [f"{harvest.strays:,} lines were not asked for"] if harvest.strays else []
        cause = f"; most often: {reason}" if reason else ""
        self._say(f"batch {remote.id}: {remote.word}, {', '.join(parts)}{cause}")

    def _stop(self, reason: str, *, fatal: bool = False) -> None:
        if self.stopped is None:
            self.stopped, self.fatal = reason, fatal
