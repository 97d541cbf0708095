"""`batches.json`: the batches of a run, on the disk before and after the provider hears of them.

An entry is **planned** before anything is sent, **sent** once the provider's id for it is known, and
**collected** when its results are safe in outputs.jsonl. Only the first two hold requests back from
being asked again.

A line of a batch has a custom id: the chunk's id, `-`, and a hash of (prompt_id, repeat), short enough for
every provider (64 characters) and computable from the run alone. The first part tells the batches of a run
apart, so that a batch found at the provider can be proved to be ours; the second says which request it is.
"""

import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import orjson

from ..errors import RupeeBiasError
from ..files import write_file
from .journal import Key

FILE: Final = "batches.json"
_FORMAT: Final = 1
_CHUNK_BYTES: Final = 6
_HASH_BYTES: Final = 8


def new_id() -> str:
    """Return a random id for a run or a chunk, 12 characters."""
    return secrets.token_hex(_CHUNK_BYTES)


def key_hash(key: Key) -> str:
    """Return the 16 characters that stand for a request."""
    prompt_id, repeat = key
    return blake2b(f"{prompt_id}\n{repeat}".encode(), digest_size=_HASH_BYTES).hexdigest()


def custom_id(chunk: str, key: Key) -> str:
    """Return the id under which `key` is sent in `chunk`."""
    return f"{chunk}-{key_hash(key)}"


def hash_in(chunk: str, text: str) -> str | None:
    """Return the hash in a custom id of `chunk`; None for the id of another batch."""
    start, dash, rest = text.partition("-")
    return rest if dash and start == chunk else None


def keys_by_hash(keys: Iterable[Key]) -> dict[str, Key]:
    """Return the requests of a run by hash. Raises RupeeBiasError if two share one."""
    by_hash: dict[str, Key] = {}
    for key in keys:
        other = by_hash.setdefault(key_hash(key), key)
        if other != key:
            raise RupeeBiasError(f"{key} and {other} have the same id in a batch; ask one of them live")
    return by_hash


class Stage(StrEnum):
    """How far a batch is, from our side."""

    PLANNED = "planned"
    """About to be sent; whether the provider has it is unknown."""
    SENT = "sent"
    """The provider has it."""
    COLLECTED = "collected"
    """Over, and what it brought is in the journal."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch."""

    chunk: str
    """Our id for it."""
    stage: Stage
    """How far it is."""
    requests: int
    """Lines."""
    content_bytes: int
    """Size of all lines."""
    tokens: int
    """Estimated tokens of its prompts."""
    planned_at: float
    """Seconds since 1970."""
    worst_usd: float = 0.0
    """The most that it can cost, as far as that was asked."""
    members: tuple[str, ...] = ()
    """Hashes of its requests; dropped when it is collected."""
    batch_id: str | None = None
    """The provider's id, None until it is known."""
    word: str = ""
    """The provider's last word for its state."""
    is_certain: bool = True
    """False if `batch_id` was found at the provider and may be a stranger's."""
    done: int = 0
    """Replies that it brought."""
    failed: int = 0
    """Error records that it brought."""
    again: int = 0
    """Requests that it left to be asked again."""
    reason: str = ""
    """The commonest cause of what it did not bring."""


@dataclass(slots=True)
class BatchRecord:
    """The content of `batches.json`; every method that changes it writes it to the disk."""

    folder: Path
    """The run directory."""
    run: str = field(default_factory=new_id)
    """Random id of the run: the provider shows it to us with our batches."""
    token_limit: int | None = None
    """Most tokens that the provider has let us queue; None: no limit met."""
    fruitless: int = 0
    """Batches in a row that brought nothing."""
    tries: dict[str, int] = field(default_factory=dict)
    """Failed attempts by hash, for requests that are to be asked again."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """The batches by chunk id, oldest first."""

    @property
    def open_entries(self) -> list[Entry]:
        """Those that are not collected."""
        return [entry for entry in self.entries.values() if entry.stage is not Stage.COLLECTED]

    @property
    def has_replies(self) -> bool:
        """Whether any batch has brought a reply yet."""
        return any(entry.done for entry in self.entries.values())

    @property
    def queued_tokens(self) -> int:
        """Estimated tokens of the batches that are not collected."""
        return sum(entry.tokens for entry in self.open_entries)

    @property
    def reserved_usd(self) -> float:
        """Worst-case cost of the batches that are not collected."""
        return sum(entry.worst_usd for entry in self.open_entries)

    def held_back(self) -> set[str]:
        """Return the hashes of the requests that are in a batch which is not collected."""
        return {member for entry in self.open_entries for member in entry.members}

    def put(self, entry: Entry) -> None:
        """Add or replace an entry."""
        self.entries[entry.chunk] = entry
        self.save()

    def drop(self, entry: Entry) -> None:
        """Forget an entry that the provider never had."""
        del self.entries[entry.chunk]
        self.save()

    def save(self) -> None:
        """Write the file in one step; it is on the disk when this returns."""
        content = {
            "format": _FORMAT,
            "run": self.run,
            "token_limit": self.token_limit,
            "fruitless": self.fruitless,
            "tries": self.tries,
            "batches": [asdict(entry) for entry in self.entries.values()],
        }
        encoded = orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n"
        write_file(self.folder / FILE, encoded, durable=True)


def read_batches(folder: Path) -> BatchRecord | None:
    """Return the batches of a run, None if it never had a batch. Raises RupeeBiasError if it is damaged."""
    path = folder / FILE
    try:
        content = orjson.loads(path.read_bytes())
        return _batch_record(folder, content)
    except FileNotFoundError:
        return None
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise RupeeBiasError(
            f"{path} is damaged ({type(error).__name__}: {error}); restore it: "
            "it says which batches are under way"
        ) from None


def keys_in_flight(folder: Path, keys: Iterable[Key]) -> set[Key]:
    """Return those of `keys` that are in a batch under way: asking them live would buy them twice."""
    batches = read_batches(folder)
    held_back = batches.held_back() if batches is not None else set()
    return {key for key in keys if key_hash(key) in held_back} if held_back else set()


def collected(entry: Entry, *, done: int, failed: int, again: int, reason: str) -> Entry:
    """Return `entry` as it is after its results were taken in."""
    return replace(
        entry, stage=Stage.COLLECTED, members=(), done=done, failed=failed, again=again, reason=reason
    )


def _batch_record(folder: Path, content: dict[str, Any]) -> BatchRecord:
    if content["format"] != _FORMAT:
        raise ValueError(f"format {content['format']!r}, expected {_FORMAT}")
    entries = [_entry(item) for item in content["batches"]]
    return BatchRecord(
        folder=folder,
        run=str(content["run"]),
        token_limit=content["token_limit"],
        fruitless=int(content["fruitless"]),
        tries={str(name): int(count) for name, count in content["tries"].items()},
        entries={entry.chunk: entry for entry in entries},
    )


def _entry(item: dict[str, Any]) -> Entry:
    return Entry(**{**item, "stage": Stage(item["stage"]), "members": tuple(item["members"])})
