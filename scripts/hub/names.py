"""Names of the benchmark's repositories on the Hub: fixed, since users and stored results refer to them."""

import re
from typing import Final

from ..errors import UsageError

DATASET: Final = "rupeebias"
"""The dataset repository."""
METRIC: Final = "rupeebias_metric"
"""The Space that `evaluate.load` reads."""
RESULTS: Final = "rupeebias-results"
"""The dataset repository that collects submissions."""
LEADERBOARD: Final = "rupeebias-leaderboard"
"""The static Space that shows them."""

_ORG: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?")


def repository(org: str, name: str) -> str:
    """Return `org/name`; UsageError for what cannot be the name of a user or organisation."""
    if not _ORG.fullmatch(org) or "--" in org or ".." in org:
        raise UsageError(f"--org {org[:60]!r} is not the name of a user or organisation on the Hub")
    return f"{org}/{name}"
