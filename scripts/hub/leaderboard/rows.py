"""The rows of the board's table: who stands in it, in which order, and what the filters see."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rupeebias.metric.published import PUBLISHED, PublishedModel

from .cells import Cell
from .columns import COLUMNS
from .eligible import GAP
from .ranking import Placed, Standing
from .records import Entry


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. All texts are hostile but for `link`."""

    model: str
    link: str | None
    """Address of its page relative to the board; None without one."""
    cells: tuple[Cell, ...]
    """In the order of COLUMNS."""
    reason: str
    """Why it has no rank; empty if it has."""
    arm: str
    provider: str
    is_complete: bool
    is_published: bool
    words: str
    """What the search box looks in, lower case."""


def page_link(entry: Entry) -> str | None:
    """Return the address of a submission's page relative to the board."""
    return f"models/{entry.name}.html" if entry.has_page else None


def in_order(places: Iterable[Placed]) -> list[Placed]:
    """Return submissions by status (ranked, unranked, superseded, refused), mean gap, model and folder."""
    statuses = ("ranked", "unranked", "superseded", "refused")

    def place(one: Placed) -> tuple[object, ...]:
        entry = one.entry
        gap = (entry.headlines or {}).get(GAP)
        status = statuses.index(one.standing.status)
        # two folders whose names are no text may be shown alike: their reasons and digests tell them apart
        return (
            status,
            gap is None,
            gap or 0.0,
            entry.model or "",
            entry.name,
            entry.refusals,
            entry.digest or "",
        )

    return sorted(places, key=place)


def board_rows(places: Sequence[Placed]) -> list[Row]:
    """Return the rows of the table: ranked by mean gap, the published models, then what has no rank.

    `places` in the order of `in_order`; superseded and refused ones are no rows of it.
    """
    ranked, unranked = ([_row(*one) for one in places if one.standing.status == status] for status in _SHOWN)
    return [*ranked, *map(_published_row, PUBLISHED), *unranked]


_SHOWN: Final = ("ranked", "unranked")
_AS_PUBLISHED: Final = "as published, 2026"


def _row(entry: Entry, standing: Standing) -> Row:
    manifest = entry.manifest or {}
    words = (entry.model, manifest.get("provider"), manifest.get("model_repo"), entry.name, standing.reason)
    cells = tuple(column.cell(entry, standing) for column in COLUMNS)
    return Row(
        model=entry.model or entry.name,
        link=page_link(entry),
        cells=cells,
        reason=standing.reason,
        arm=str(manifest.get("arm", "")),
        provider=str(manifest.get("provider", "")),
        is_complete=bool(manifest.get("complete")),
        is_published=False,
        words=_words(words, cells),
    )


def _published_row(model: PublishedModel) -> Row:
    cells = tuple(column.published(model) for column in COLUMNS)
    return Row(
        model=model.model,
        link=None,
        cells=cells,
        reason=_AS_PUBLISHED,
        arm="standard",
        provider="",
        is_complete=True,
        is_published=True,
        words=_words((model.model, "published", _AS_PUBLISHED), cells),
    )


def _words(names: Iterable[object], cells: Iterable[Cell]) -> str:
    texts = [*(str(name) for name in names if name), *(cell.text for cell in cells)]
    return " ".join(texts).lower()
