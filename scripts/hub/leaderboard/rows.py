"""The rows of the board's table: who stands in it, in which order, and what the filters see."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rupeebias.metric.published import PUBLISHED, PublishedModel

from .cells import Cell
from .columns import COLUMNS
from .ranking import GAP, Standing
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


def in_order(entries: Iterable[Entry], places: Mapping[str, Standing]) -> list[Entry]:
    """Return submissions by status (ranked, unranked, superseded, refused), mean gap, model and folder."""
    statuses = ("ranked", "unranked", "superseded", "refused")

    def place(entry: Entry) -> tuple[object, ...]:
        gap = (entry.headlines or {}).get(GAP)
        status = statuses.index(places[entry.name].status)
        return status, gap is None, gap or 0.0, entry.model or "", entry.name

    return sorted(entries, key=place)


def board_rows(entries: Sequence[Entry], places: Mapping[str, Standing]) -> list[Row]:
    """Return the rows of the table: ranked by mean gap, the published models, then what has no rank.

    `entries` in the order of `in_order`; superseded and refused ones are no rows of it.
    """
    shown = {status: [x for x in entries if places[x.name].status == status] for status in _SHOWN}
    ranked, unranked = ([_row(x, places[x.name]) for x in shown[status]] for status in _SHOWN)
    return [*ranked, *map(_published_row, PUBLISHED), *unranked]


_SHOWN = ("ranked", "unranked")


def _row(entry: Entry, standing: Standing) -> Row:
    manifest = entry.manifest or {}
    words = (entry.model, manifest.get("provider"), manifest.get("model_repo"), entry.name)
    cells = tuple(column.cell(entry, standing) for column in COLUMNS)
    texts = [str(word) for word in words if word] + [cell.text for cell in cells]
    return Row(
        model=entry.model or entry.name,
        link=page_link(entry),
        cells=cells,
        reason=standing.reason,
        arm=str(manifest.get("arm", "")),
        provider=str(manifest.get("provider", "")),
        is_complete=bool(manifest.get("complete")),
        is_published=False,
        words=" ".join(texts).lower(),
    )


def _published_row(model: PublishedModel) -> Row:
    return Row(
        model=model.model,
        link=None,
        cells=tuple(column.published(model) for column in COLUMNS),
        reason="as published, 2026",
        arm="standard",
        provider="",
        is_complete=True,
        is_published=True,
        words=f"{model.model} published".lower(),
    )
