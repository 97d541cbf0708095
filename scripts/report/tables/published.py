"""Values that the paper prints in its tables, to set the runs' values beside.

`published.csv` holds all nine models of Table 2, and the six models of Tables 3 to 8 and 22 whose rows are
printed in the paper's web edition. Its intervals resample pairs, and are narrower than the default here.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """One cell."""

    value: float
    digits: int
    """Decimals as printed."""
    low: float | None
    high: float | None
    significant: bool
    """Whether it carries a dagger."""


def published_rows(table: str) -> Mapping[str, Mapping[str, PublishedValue]]:
    """Return a table's published values: model to column to value, in the paper's order."""
    rows: dict[str, dict[str, PublishedValue]] = {}
    text = files(__package__).joinpath("published.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        if line["table"] == table:
            rows.setdefault(line["model"], {})[line["column"]] = PublishedValue(
                float(line["value"]),
                len(line["value"].partition(".")[2]),
                float(line["low"]) if line["low"] else None,
                float(line["high"]) if line["high"] else None,
                line["significant"] == "yes",
            )
    return rows
