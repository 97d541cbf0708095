"""From the results of an ended batch to the records of the run.

Everything here may be done twice: a reply that the journal has is not taken again, so a collection that was
interrupted is simply repeated.
"""

import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ..models.errors import redacted
from ..models.prices import Price, cost_of
from ..models.types import CallError, Reply, Request
from ..runs.batches import BatchRecord, Entry, hash_in
from ..runs.journal import EMPTY, Journal, Key, Record, error_record, reply_record
from ..runs.ledger import Ledger
from .types import LineResult, Remote

UNREAD: Final = "batch-unread.jsonl"
_FEW: Final = 3


@dataclass(slots=True)
class Harvest:
    """What the lines of a batch said, its replies aside: those are in the journal already."""

    faults: dict[str, CallError] = field(default_factory=dict)
    """Errors by hash."""
    unhandled: set[str] = field(default_factory=set)
    """Hashes of the lines that the provider never got to."""
    unread: list[bytes] = field(default_factory=list)
    """Lines that make no sense."""
    strays: int = 0
    """Lines for requests that were not in the batch."""
    repeated: int = 0
    """Replies to requests that had one."""
    empty: set[str] = field(default_factory=set)
    """Hashes of the lines with an empty reply."""
    ours: int = 0
    """Lines for requests of the batch."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of the requests of a batch that got no reply."""

    final: Mapping[str, str]
    """Error texts by hash, for those that are not asked again."""
    again: frozenset[str]
    """Those that are."""
    reason: str
    """The commonest cause with its count, "" if every request got a reply."""
    fatal: str | None
    """Why the run must stop, None if it need not."""


@dataclass(frozen=True, slots=True)
class Collector:
    """Takes the results of batches into the journal of a run."""

    journal: Journal
    """The run's journal."""
    ledger: Ledger
    """What its replies cost."""
    by_hash: Mapping[str, Key]
    """The run's requests."""
    price: Price | None
    """What tokens cost in a batch, None if unknown."""
    unknown_usd: float | None
    """What a reply counts whose cost is unknown, None if that is so as well."""
    max_tries: int
    """Attempts at a request whose errors may pass, before they count as final."""

    async def gather(
        self,
        entry: Entry,
        remote: Remote,
        results: AsyncIterator[LineResult | bytes],
        tries: Mapping[str, int],
    ) -> Harvest:
        """Append a record for each reply among `results`, and return the rest of what they said.

        A result that could not be read comes as its line.
        """
        members = frozenset(entry.members)
        harvest = Harvest()
        async for result in results:
            if isinstance(result, bytes):
                harvest.unread.append(result)
                continue
            name = hash_in(entry.chunk, result.custom_id)
            if name is None or name not in members:
                harvest.strays += 1
                continue
            harvest.ours += 1
            self._note(name, result, harvest, remote, tries)
        return harvest

    def judge(self, entry: Entry, harvest: Harvest, batches: BatchRecord) -> Verdict:
        """Decide about the requests of a batch that got no reply."""
        final: dict[str, str] = {}
        again: set[str] = set()
        causes: Counter[str] = Counter()
        for name in entry.members:
            if self.by_hash[name] in self.journal.done:
                continue
            text, is_final = self._fate(name, harvest, batches.tries)
            causes[text] += 1
            if is_final:
                final[name] = text
            else:
                again.add(name)
        fatal = next((fault.message for fault in harvest.faults.values() if fault.fatal), None)
        nothing = len(final) + len(again) == len(entry.members)
        if fatal is None and len(final) >= _FEW and nothing and not batches.has_replies:
            # A failure of everything says nothing about a single prompt, so it leaves no record.
            fatal = f"no request succeeded: {causes.most_common(1)[0][0]}"
            again, final = again | final.keys(), {}
        reason = "".join(f"{text} ({count:,})" for text, count in causes.most_common(1))
        return Verdict(final, frozenset(again), reason, fatal)

    def settle(self, verdict: Verdict, harvest: Harvest, remote: Remote, batches: BatchRecord) -> None:
        """Write the error records and what could not be read, and have the journal on the disk."""
        if harvest.unread:
            keep_unread(self.journal.path.with_name(UNREAD), harvest.unread)
        for name, text in verdict.final.items():
            if name not in harvest.faults and name not in harvest.unhandled:  # paid for and not understood
                self.ledger.record(self.by_hash[name], None, self.unknown_usd)
            self._append(error_record(self._request(name), text, 0.0, batches.tries.get(name, 0) + 1), remote)
            batches.tries.pop(name, None)
        for name in verdict.again & harvest.faults.keys():
            batches.tries[name] = batches.tries.get(name, 0) + (not harvest.faults[name].fatal)
        self.journal.flush()

    def _note(
        self, name: str, result: LineResult, harvest: Harvest, remote: Remote, tries: Mapping[str, int]
    ) -> None:
        key = self.by_hash[name]
        # An empty reply may have been asked again; a second line for it in one batch is a repetition.
        is_new = key not in self.journal.done or (key in self.journal.empty and name not in harvest.empty)
        if result.reply is not None and is_new:
            reply = self._priced(result.reply)
            # Before the reply is kept: a kill in between counts it twice, never not at all.
            self.ledger.record(key, reply.cost_usd, self.unknown_usd)
            record = reply_record(self._request(name), reply, 0.0, tries.get(name, 0) + 1)
            self._append(record, remote)
            if record["status"] == EMPTY:
                harvest.empty.add(name)
        elif result.reply is not None:
            harvest.repeated += 1
        elif result.error is not None:
            harvest.faults[name] = result.error
        else:
            harvest.unhandled.add(name)

    def _fate(self, name: str, harvest: Harvest, tries: Mapping[str, int]) -> tuple[str, bool]:
        """Return why a request has no reply, and whether that is final."""
        fault = harvest.faults.get(name)
        if fault is not None:
            used_up = tries.get(name, 0) + 1 >= self.max_tries
            return fault.message, not fault.fatal and (not fault.retryable or used_up)
        if name not in harvest.unhandled and harvest.unread:
            return f"its result could not be read; the lines are in {UNREAD}", True
        return "not asked before the batch ended", False

    def _priced(self, reply: Reply) -> Reply:
        cost = cost_of(reply, self.price) if self.price is not None else None
        return replace(reply, cost_usd=cost)

    def _request(self, name: str) -> Request:
        prompt_id, repeat = self.by_hash[name]
        return Request(prompt_id, repeat, "", "", "")

    def _append(self, record: Record, remote: Remote) -> None:
        # A batch does not tell how long a request took.
        self.journal.append({**record, "latency_s": None, "batch_id": remote.id})


def keep_unread(path: Path, lines: list[bytes]) -> None:
    """Append lines that were paid for and not understood to a file, for a person to look at."""
    with path.open("ab") as file:
        for line in lines:
            file.write(redacted(line.decode("utf-8", "replace").rstrip("\n")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
