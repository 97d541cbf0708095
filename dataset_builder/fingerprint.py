"""The fingerprint of the dataset: a hash of its content, whatever file holds it.

It is the SHA-256 of the columns' names, kinds and values, use case by use case and language by
language in row order. A column counts as its distinct values in order of first appearance and
each row's position among them, so it does not depend on how a file encodes it.
"""

import hashlib
from collections.abc import Iterable

import numpy as np
import orjson

from .columns import BlockTable, Column, iter_tables
from .records import Components
from .schema import COLUMNS


def dataset_fingerprint(components: Components) -> str:
    """Return the fingerprint of the dataset that the components give, 64 hexadecimal digits."""
    return fingerprint(iter_tables(components))


def fingerprint(tables: Iterable[BlockTable]) -> str:
    """Return the fingerprint of these tables, 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(orjson.dumps([table.use_case, table.language, table.rows]))
        for spec in COLUMNS:
            digest.update(orjson.dumps([spec.name, spec.kind]))
            _update(digest, table.columns[spec.name])
    return digest.hexdigest()


def _update(digest: "hashlib._Hash", column: Column) -> None:
    digest.update(orjson.dumps(list(column.values)))
    if column.codes is not None:
        digest.update(column.codes.astype(np.dtype("<i4")).tobytes())
