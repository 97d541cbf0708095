"""The fingerprint of the dataset: a hash of its content, whatever file holds it.

It is the SHA-256 of the columns' names, kinds and values, use case by use case and language by
language in row order. A column counts as its distinct values in order of first appearance and
each row's position among them, so it does not depend on how a file encodes it.
"""

import hashlib
from functools import cache

import numpy as np
import orjson

from .columns import BlockTable, iter_tables
from .components import load_components
from .records import Components
from .schema import COLUMNS


class Fingerprint:
    """Collects tables in dataset order."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, table: BlockTable) -> None:
        """Add the next table."""
        self._digest.update(orjson.dumps([table.use_case, table.language, table.rows]))
        for spec in COLUMNS:
            column = table.columns[spec.name]
            self._digest.update(orjson.dumps([spec.name, spec.kind, list(column.values)]))
            if column.codes is not None:
                self._digest.update(column.codes.astype(np.dtype("<i4")).tobytes())

    def hexdigest(self) -> str:
        """Return the fingerprint of the tables so far, 64 hexadecimal digits."""
        return self._digest.hexdigest()


def dataset_fingerprint(components: Components | None = None) -> str:
    """Return the fingerprint of the dataset that the components give, 64 hexadecimal digits.

    That of the package's own, None, is computed once.
    """
    return _own() if components is None else _computed(components)


@cache
def _own() -> str:
    return _computed(load_components())


def _computed(components: Components) -> str:
    fingerprint = Fingerprint()
    for table in iter_tables(components):
        fingerprint.add(table)
    return fingerprint.hexdigest()
