"""What a table is: as it is described, and as it is filled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rupeebias.metric.tables import Cell, Row

Extreme: TypeAlias = Literal["lowest", "highest"]
Order: TypeAlias = Literal["gap", "concordance", "name"]
"""Runs by overall mean gap (lowest first), by mean W (highest first) or by name."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A symbol that says something about a number."""

    symbol: str
    meaning: str
    """What the note below the table says."""
    applies: Callable[[Row], bool]
    """Whether a row of the result carries it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One number of each run: a column where runs are rows, a row where runs are columns."""

    labels: tuple[str, ...]
    table: str
    """A table of the result, `headline` or a derived one."""
    key: Mapping[str, Cell]
    """The row of that table."""
    value: str
    """Its column."""
    digits: int
    interval: tuple[str, str] | None = None
    """Columns with the ends of the 95 % interval."""
    interval_digits: int = 2
    marks: tuple[Mark, ...] = ()
    """The first that applies is printed."""
    remark: Callable[[Row], str] | None = None
    """Text after the number."""
    published: str | None = None
    """Column of the published values."""


@dataclass(frozen=True, slots=True)
class Description:
    """One table of the paper."""

    name: str
    """File name without its suffix."""
    caption: str
    items: tuple[Item, ...]
    headings: tuple[str, ...] = ("Model",)
    """Headings of the label columns."""
    runs_are: Literal["rows", "columns"] = "rows"
    order: Order = "gap"
    marked: Extreme | None = None
    """Which value of an item is marked, where at least two runs have one."""
    published: str | None = None
    """Number of the paper's table, where its values are printed beside."""


@dataclass(frozen=True, slots=True)
class Number:
    """A filled cell."""

    value: float
    digits: int
    low: float | None = None
    high: float | None = None
    interval_digits: int = 2
    mark: Mark | None = None
    remark: str = ""
    extreme: Extreme | None = None
    """Set on the lowest or highest value of an item, as the description asks."""


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row as it is printed."""

    labels: tuple[str, ...]
    cells: tuple[Number | None, ...]
    """None: the run does not cover it."""
    published: bool = False
    """Printed in the paper, not computed here."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, filled: what every format prints."""

    name: str
    caption: str
    headings: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    notes: tuple[str, ...]
