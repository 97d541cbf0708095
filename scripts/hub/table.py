"""The board's tables: the columns of the ranking with unit and direction, and the paper's values beside ours.

Published values were computed by the paper's definitions: they stand beside values by those, in a table of
their own, and in no column with others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from rupeebias.metric.design import Design
from rupeebias.metric.published import PUBLISHED

from ..words import NOT_COMPUTED, number, shortened, with_interval
from .eligibility import GAP
from .entries import Entry, Facts, setting_text
from .ranking import Placed, Standing

Kind: TypeAlias = Literal["number", "text"]
_LONGEST_CAUTION: Final = 140


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as people and as sorting see it."""

    text: str
    """May hold hostile text: to be escaped."""
    sort: float | str | None = None
    """What the column is sorted by; None sorts last in both directions."""
    bar: tuple[float, float, float] | None = None
    """Interval to be drawn, in percent of the widest: lower end, value, upper end."""


EMPTY: Final = Cell(NOT_COMPUTED)


@dataclass(frozen=True, slots=True)
class Column:
    """One column beside the model's name."""

    key: str
    label: str
    note: str
    """Unit, and which direction is better."""
    kind: Kind
    cell: Callable[[Entry, Standing], Cell]
    descending: bool = False
    """Whether sorting begins with the largest."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the ranking. All texts are hostile but for `link`."""

    model: str
    link: str | None
    """Address of its page relative to the board; None without one."""
    cells: tuple[Cell, ...]
    """In the order of the columns."""
    reason: str
    """Why it has no rank; empty if it has."""
    settings: str
    """Temperature, reasoning, repeats and the date of the last answer."""
    submitter: str
    """Who brought it; empty where that is not known."""
    arm: str
    provider: str
    is_complete: bool
    words: str
    """What the search box looks in, lower case."""


def columns_of(design: Design, widest: float = 100.0) -> tuple[Column, ...]:
    """Return the columns in order; the model's name stands after the rank.

    `widest` is the largest upper end of an interval, which the bars are drawn to.
    """
    return (
        Column("rank", "Rank", "range: models that cannot be told apart share ranks", "number", _rank_cell),
        Column(
            GAP,
            "Systematic gap",
            "% between two groups, as profiles confirm it [95 % interval]; lower is better",
            "number",
            partial(_gap_cell, GAP, widest),
        ),
        Column(
            "worst_group", "Worst off", "group, % of the mean answer", "text", partial(_worst_cell, design)
        ),
        Column(
            "mean_delta_pct",
            "Mean gap",
            "% between all pairs, noise and all [95 % interval]",
            "number",
            partial(_gap_cell, "mean_delta_pct", None),
        ),
        Column("caution", "Caution", "first thing to know", "text", _caution_cell),
    )


def _headline(entry: Entry, name: str) -> float | None:
    value: float | None = (entry.headlines or {}).get(name)
    return value


def _gap_cell(name: str, widest: float | None, entry: Entry, _: Standing) -> Cell:
    value, low, high = (_headline(entry, f"{name}{end}") for end in ("", "_ci_low", "_ci_high"))
    bar = None
    if widest and value is not None and low is not None and high is not None:
        scale = 100 / widest
        bar = (round(low * scale, 1), round(value * scale, 1), round(min(high * scale, 100), 1))
    return Cell(with_interval(value, low, high), value, bar)


def widest_interval(places: Iterable[Placed]) -> float:
    """Return the largest upper end of a systematic gap that the board shows."""
    ends = [_headline(x.entry, f"{GAP}_ci_high") for x in places if x.standing.status in _SHOWN]
    return max((end for end in ends if end is not None), default=0.0) or 1.0


def _rank_cell(_: Entry, standing: Standing) -> Cell:
    """Return the range of ranks, "2–4", sorted by its best and then its worst; empty without a rank."""
    if standing.best is None or standing.worst is None:
        return EMPTY
    span = f"{standing.best}" if standing.best == standing.worst else f"{standing.best}–{standing.worst}"
    return Cell(span, standing.best + standing.worst / 1e6)


def _worst_cell(design: Design, entry: Entry, _: Standing) -> Cell:
    """Return who loses most, in words: "Village −16.0 %, at least 12.1 confirmed"."""
    headlines = entry.headlines or {}
    named, confirmed = headlines.get("worst_group"), headlines.get("worst_group_confirmed_pct")
    if headlines.get(GAP) is None:
        return EMPTY
    if named is None or confirmed is None:
        return Cell("none confirmed", 0.0)
    axis, _, identifier = named.partition(":")
    language = headlines.get("worst_group_language") or "all"
    effect = headlines.get("worst_group_effect_pct")
    where = "" if language == "all" else f" in {design.language[language].label}"
    label = design.identifiers[axis][identifier]
    text = f"{label} {number(effect)} %{where}, at least {number(abs(confirmed))} confirmed"
    return Cell(text, confirmed)


def _caution_cell(entry: Entry, _: Standing) -> Cell:
    found = [*entry.warnings, *entry.notes]
    text = shortened(found[0], _LONGEST_CAUTION) if found else ""
    return Cell(text, text.casefold() or None)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return temperature and reasoning as they were asked for; hostile text."""
    not_sent = settings.get("not_sent")
    left_out: Facts = not_sent if isinstance(not_sent, dict) else {}
    words = []
    for key, label in (("temperature", "temperature"), ("reasoning_effort", "reasoning")):
        if settings.get(key) is not None:
            words.append(f"{label} {shortened(setting_text(settings[key]), 20)}")
        elif key in left_out:
            words.append(f"{label} not settable")
    return ", ".join(words)


# --- rows

_SHOWN: Final = ("ranked", "unranked")


def page_link(entry: Entry) -> str | None:
    """Return the address of a submission's page relative to the board."""
    return f"models/{entry.name}.html" if entry.has_page else None


def board_rows(places: Sequence[Placed], columns: Sequence[Column]) -> list[Row]:
    """Return the rows of the ranking: by systematic gap, then what has no rank.

    `places` in the order of `in_order`; superseded and refused ones are no rows of it.
    """
    return [_row(*one, columns) for one in places if one.standing.status in _SHOWN]


def _row(entry: Entry, standing: Standing, columns: Sequence[Column]) -> Row:
    manifest = entry.manifest or {}
    cells = tuple(column.cell(entry, standing) for column in columns)
    date = f"{entry.date:%Y-%m-%d}" if entry.date.year > 1 else ""
    settings = ", ".join(filter(None, [settings_text(entry.settings), f"repeats {entry.repeats}", date]))
    names = (entry.model, manifest.get("provider"), manifest.get("model_repo"), entry.name, standing.reason)
    words = [*(str(name) for name in names if name), entry.submitter or "", *(cell.text for cell in cells)]
    return Row(
        model=entry.model or entry.name,
        link=page_link(entry),
        cells=cells,
        reason=standing.reason,
        settings=settings,
        submitter=entry.submitter or "",
        arm=str(manifest.get("arm", "")),
        provider=str(manifest.get("provider", "")),
        is_complete=bool(manifest.get("complete")),
        words=" ".join(words).lower(),
    )


def paper_rows(places: Sequence[Placed], design: Design) -> list[tuple[str, ...]]:
    """Return names and values by the paper's definitions: of ranked submissions, then as published.

    Columns: model, mean gap, mean gap by language, violations by language. Empty for other benchmarks.
    """
    splits = [language.split for language in design.languages]
    if splits != ["english", "hinglish"]:
        return []
    names = [f"{split}_{{}}mean_delta_pct" for split in splits] + [
        f"{split}_{{}}violation_at_10_pct" for split in splits
    ]
    own = [
        (
            x.entry.model or x.entry.name,
            *(number(_headline(x.entry, name.format("paper_")), 2) for name in ("{}mean_delta_pct", *names)),
        )
        for x in places
        if x.standing.status == "ranked"
    ]
    published = [
        (
            f"{model.model} (published)",
            *(number(getattr(model, name.format("")), None) for name in ("{}mean_delta_pct", *names)),
        )
        for model in PUBLISHED
    ]
    return [*own, *published]
