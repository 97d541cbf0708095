"""One run is read in another process while this one still loads the statistics."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from .forked import begun

if TYPE_CHECKING:
    from rupeebias.metric.parser import ParseMode

    from .parsed import ParsedRun

Reader: TypeAlias = "Callable[[Path], ParsedRun]"
"""Returns a run with its answers read; raises RupeeBiasError for one that cannot be scored."""


@contextmanager
def reading(paths: Sequence[Path], mode: "ParseMode") -> Iterator[Reader]:
    """Begin to read a single run; of several, each process reads its own.

    What the other process cannot read is read again here, so that its error is told here.
    """

    def parse(path: Path) -> "ParsedRun":
        from .parsed import parse_run

        return parse_run(path, mode)

    if len(paths) != 1:
        yield parse
        return
    with begun(lambda: pickle.dumps(parse(paths[0]))) as told:

        def received(path: Path) -> "ParsedRun":
            parsed = told()
            return pickle.loads(parsed) if parsed else parse(path)  # noqa: S301  # of our own child

        yield received
