"""The ids of lines: short enough for every provider (64 characters) and computable from the run alone.

A custom id is the chunk's id, `-`, and a hash of (prompt_id, repeat). The first part tells the batches of a
run apart, so that a batch found at the provider can be proved to be ours; the second says which request
it is.
"""

import secrets
from collections.abc import Iterable
from hashlib import blake2b

from ..errors import RupeeBiasError
from ..runs.outputs import Key

_CHUNK_BYTES = 6
_HASH_BYTES = 8


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
