"""The life of a run's batches: planned, handed in, looked at, collected."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace

from ..models.types import Request
from ..runs.outputs import Key
from .calling import patiently
from .collecting import Collector, Harvest
from .faults import is_token_limit, told_limit
from .ids import key_hash, new_id
from .options import Patience
from .packing import Packed, Packer, Room
from .record import FILE, Entry, Ledger, Stage, collected
from .wire import ApiError, BatchClient, LineResult, Remote, State, Tag

_PATIENCE = 12
"""Batches in a row that may be turned down because the queue is full."""
_OTHER_WEIGHT = 4
"""As how many of those a batch counts that brought nothing for another reason."""
_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Budget:
    """What may still be handed in."""

    max_cost_usd: float | None = None
    """Cap on what the run may cost; None: no cap."""
    unknown_usd: float = 0.0
    """What a reply counts whose cost is unknown."""
    worst_usd: Callable[[Request], float] = field(default=lambda _: 0.0)
    """The most that a request can cost in a batch."""


class Engine:
    """Works on the batches of one run, whose directory this process holds.

    After any method, `stopped` says why going on is pointless or was not wanted, None if nothing speaks
    against it; `fatal` tells a cause that must be removed first from a limit.
    """

    def __init__(
        self,
        ledger: Ledger,
        client: BatchClient,
        collector: Collector,
        say: Callable[[str], None],
        *,
        patience: Patience,
        budget: Budget,
    ) -> None:
        self._ledger = ledger
        self._client = client
        self._collector = collector
        self._say = say
        self._patience = patience
        self._budget = budget
        self.collected = 0
        """Requests that got a record in this session."""
        self.failed_now: set[Key] = set()
        """Those of them that failed for good."""
        self.stopped: str | None = None
        self.fatal = False

    async def attach(self) -> None:
        """Find out what became of batches of which it is not known whether the provider has them."""
        for entry in self._ledger.open_entries:
            if entry.stage is not Stage.PLANNED:
                continue
            remote = await self._find(entry)
            if remote is None:
                self._ledger.drop(entry)
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
        for entry in self._ledger.open_entries:
            if entry.batch_id is None:
                continue
            remote = await self._retrieve(entry.batch_id)
            if remote.word != entry.word:
                self._say(
                    f"batch {remote.id}: {remote.word}, {remote.answered:,} of {entry.requests:,} handled"
                )
                entry = replace(entry, word=remote.word)
                self._ledger.put(entry)
            if remote.state is not State.WORKING:
                over.append((entry, remote))
        return over

    async def collect(self, entry: Entry, remote: Remote) -> None:
        """Take in what a batch brought, and free the requests that it did not answer."""
        if remote.state is State.REFUSED:
            self._refused(entry, remote)
            return
        harvest = await patiently(lambda: self._gather(entry, remote), self._patience)
        if harvest.strays and not harvest.ours:
            self._say(f"batch {remote.id}: not of this run, left alone")
            self._ledger.drop(entry)
            return
        verdict = self._collector.judge(entry, harvest, self._ledger)
        self._collector.settle(verdict, harvest, remote, self._ledger)
        self.failed_now.update(self._collector.by_hash[name] for name in verdict.final)
        failed, again = len(verdict.final), len(verdict.again)
        done = entry.requests - failed - again
        self.collected += done + failed
        self._ledger.fruitless = 0 if done + failed else self._ledger.fruitless + _OTHER_WEIGHT
        self._ledger.put(collected(entry, done=done, failed=failed, again=again, reason=verdict.reason))
        self._report(remote, (done, failed, again), verdict.reason, harvest)
        if verdict.fatal is not None:
            self._stop(verdict.fatal, fatal=True)
        elif remote.word == "cancelled":
            self._stop(f"batch {remote.id} was cancelled")
        self._check_progress(verdict.reason)

    async def _retrieve(self, batch_id: str) -> Remote:
        try:
            return await patiently(lambda: self._client.retrieve(batch_id), self._patience)
        except ApiError as error:
            if error.status == 404:
                error.message += (
                    f"; the provider does not know batch {batch_id}: use the key of the project that made "
                    f"it, or delete its entry from {FILE} to have its requests asked again"
                )
            raise

    async def _gather(self, entry: Entry, remote: Remote) -> Harvest:
        return await self._collector.gather(entry, remote, self._results(remote), self._ledger.tries)

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
        self._ledger.put(entry)  # before anything is sent: a kill after this loses nothing
        try:
            remote = await self._send(entry, packed)
        except ApiError as error:
            if not error.uncertain:
                self._ledger.drop(entry)
            if is_token_limit(error.code, error.message):
                self._shrink(entry, error.message)
                return False
            raise
        self._sent(entry, remote)
        size = f"{entry.content_bytes / 1e6:.1f} MB, about {entry.tokens:,} tokens"
        self._say(f"batch {remote.id}: {entry.requests:,} requests handed in ({size})")
        return True

    async def _send(self, entry: Entry, packed: Packed) -> Remote:
        """Hand in a batch once: where it is not certain that the provider did not take it, look there before
        trying again.
        """
        for attempt in range(1, self._patience.retries + 2):
            try:
                return await self._client.submit(packed.lines, self._tag(entry))
            except ApiError as error:
                if not error.retryable or is_token_limit(error.code, error.message):
                    raise
                if error.uncertain and (remote := await self._look(entry)) is not None:
                    return remote
                if attempt > self._patience.retries:
                    raise
                wait = self._patience.wait_s(error, attempt)
                self._say(f"handing in a batch: {error.message}; trying again in {wait:.0f} s")
                await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def _look(self, entry: Entry) -> Remote | None:
        """Look for a batch just handed in several times: a listing may lag behind."""
        for attempt in range(_LOOKS):
            if attempt:
                await asyncio.sleep(self._patience.first_wait_s)
            if (remote := await self._find(entry)) is not None:
                return remote
        return None

    async def _find(self, entry: Entry) -> Remote | None:
        return await patiently(lambda: self._client.find(self._tag(entry)), self._patience)

    def _tag(self, entry: Entry) -> Tag:
        others = {e.batch_id for e in self._ledger.entries.values() if e.batch_id is not None}
        return Tag(self._ledger.run, entry.chunk, entry.requests, entry.planned_at, others)

    def _sent(self, entry: Entry, remote: Remote) -> None:
        known = replace(entry, stage=Stage.SENT, batch_id=remote.id, word=remote.word)
        self._ledger.put(replace(known, is_certain=remote.is_certain))

    def _room(self) -> Room:
        limit, cap = self._ledger.token_limit, self._budget.max_cost_usd
        return Room(
            tokens=math.inf if limit is None else limit - self._ledger.queued_tokens,
            usd=math.inf if cap is None else cap - self._spent_usd() - self._ledger.reserved_usd,
        )

    def _spent_usd(self) -> float:
        journal = self._collector.journal
        return journal.cost_usd + journal.unknown_costs * self._budget.unknown_usd

    def _explain_standstill(self, packer: Packer, room: Room) -> None:
        """Stop if requests are left that no end of a batch will make room for."""
        if packer.is_empty() or self._ledger.open_entries:
            return
        cap = self._budget.max_cost_usd
        if cap is not None and packer.pack("-", replace(room, tokens=math.inf)) is None:
            spent = f"{self._spent_usd():.4f} USD spent"
            self._stop(f"--max-cost {cap:g} USD leaves no room for another request ({spent})")
        else:
            self._stop(
                f"not even one request fits into {self._ledger.token_limit:,} queued tokens; "
                "raise --batch-tokens"
            )

    def _refused(self, entry: Entry, remote: Remote) -> None:
        text = remote.message or remote.code or "no reason given"
        over = collected(entry, done=0, failed=0, again=entry.requests, reason=text)
        self._ledger.put(over)
        if is_token_limit(remote.code, remote.message):
            self._shrink(entry, remote.message)
        else:
            self._stop(f"the provider refused batch {remote.id}: {text}", fatal=True)

    def _shrink(self, entry: Entry, message: str) -> None:
        """Lower the number of tokens to queue to what the provider named, or halve it."""
        total = self._ledger.queued_tokens + (0 if entry.chunk in self._open_chunks() else entry.tokens)
        told = told_limit(message)
        self._ledger.token_limit = told if told is not None and told < total else max(total // 2, 1)
        self._ledger.fruitless += 1
        self._ledger.save()
        self._say(
            f"the provider's queue is full; from now on at most {self._ledger.token_limit:,} tokens at once"
        )
        self._check_progress(message)

    def _open_chunks(self) -> set[str]:
        return {entry.chunk for entry in self._ledger.open_entries}

    def _check_progress(self, reason: str) -> None:
        if self._ledger.fruitless >= _PATIENCE:
            self._ledger.fruitless = 0
            self._ledger.save()
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
