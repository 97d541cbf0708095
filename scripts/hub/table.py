"""The board's table: its columns with unit and direction, and how a row fills each of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from rupeebias.metric.design import Design
from rupeebias.metric.published import PUBLISHED, PublishedModel

from ..words import NOT_COMPUTED, number, share, shortened, with_interval
from .eligibility import parity, parity_of
from .entries import Entry, Facts, setting_text
from .ranking import Placed, Standing

Kind: TypeAlias = Literal["number", "text"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as people and as sorting see it."""

    text: str
    """May hold hostile text: to be escaped."""
    sort: float | str | None = None
    """What the column is sorted by; None sorts last in both directions."""


EMPTY: Final = Cell(NOT_COMPUTED)


@dataclass(frozen=True, slots=True)
class Column:
    """One column beside the model's name."""

    key: str
    label: str
    note: str
    """Unit, and which direction is better."""
    kind: Kind
    descending: bool
    """Whether sorting begins with the largest: there the best stands first."""
    cell: Callable[[Entry, Standing], Cell]
    published: Callable[[PublishedModel], Cell] = lambda _: EMPTY


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. All texts are hostile but for `link`."""

    model: str
    link: str | None
    """Address of its page relative to the board; None without one."""
    cells: tuple[Cell, ...]
    """In the order of the columns."""
    reason: str
    """Why it has no rank; empty if it has."""
    arm: str
    provider: str
    is_complete: bool
    is_published: bool
    words: str
    """What the search box looks in, lower case."""


def columns_of(design: Design) -> tuple[Column, ...]:
    """Return the columns in order; the model's name stands after the rank."""
    lower = "% [95 % interval]; lower is better"
    return (
        Column(
            "rank", "Rank", "range that the intervals allow; lower is better", "number", False, _rank_cell
        ),
        Column(
            "parity",
            "Parity score",
            "100 − mean gap, 0 to 100; higher is better",
            "number",
            True,
            lambda entry, _: _number_cell(parity_of(entry.headlines) if entry.accepted else None),
            lambda model: _number_cell(parity(model.mean_delta_pct)),
        ),
        Column(
            "mean_delta_pct",
            "Mean gap Δ",
            f"{lower}, 0 is ideal",
            "number",
            False,
            partial(_gap_cell, "mean_delta_pct"),
            lambda model: _number_cell(model.mean_delta_pct, None),
        ),
        *(
            Column(
                f"{language.split}_mean_delta_pct",
                language.label,
                f"mean gap, {lower}",
                "number",
                False,
                partial(_gap_cell, f"{language.split}_mean_delta_pct"),
                partial(_published_cell, f"{language.split}_mean_delta_pct"),
            )
            for language in design.languages
        ),
        Column(
            "violation_at_10_pct",
            "V@10 %",
            "% of gaps above 10 %; lower is better; published: English / Hinglish",
            "number",
            False,
            lambda entry, _: _number_cell(_headline(entry, "violation_at_10_pct")),
            _published_violations_cell,
        ),
        Column(
            "mean_kendall_w",
            "Mean W",
            "0 to 1: how alike profiles rank the groups; lower is better",
            "number",
            False,
            lambda entry, _: _number_cell(_headline(entry, "mean_kendall_w"), 3),
        ),
        Column(
            "parse_health_pct", "Parsed", "% of answers read; higher is better", "number", True, _read_cell
        ),
        Column(
            "refusal_rate_pct",
            "Refusals",
            "% of answers; lower is better",
            "number",
            False,
            lambda entry, _: _number_cell(_headline(entry, "refusal_rate_pct")),
        ),
        Column("settings", "Settings", "temperature, reasoning, repeats", "text", False, _settings_cell),
        Column(
            "arm", "Arm", "system prompt", "text", False, _arm_cell, lambda _: Cell("standard", "standard")
        ),
        Column("answers", "Answers", "read, of those expected", "number", True, _answers_cell),
        Column("date", "Date", "last answer, UTC", "text", True, _date_cell, lambda _: Cell("2026", "2026")),
    )


def _headline(entry: Entry, name: str) -> float | None:
    value: float | None = (entry.headlines or {}).get(name)
    return value


def _number_cell(value: float | None, digits: int | None = 1) -> Cell:
    return Cell(number(value, digits), value)


def _gap_cell(name: str, entry: Entry, _: Standing) -> Cell:
    value, low, high = (_headline(entry, f"{name}{end}") for end in ("", "_ci_low", "_ci_high"))
    return Cell(with_interval(value, low, high), value)


def _published_cell(name: str, model: PublishedModel) -> Cell:
    return _number_cell(getattr(model, name, None), None)


def _published_violations_cell(model: PublishedModel) -> Cell:
    """Return the published values of both languages, without a common one to sort by."""
    values = (model.english_violation_at_10_pct, model.hinglish_violation_at_10_pct)
    return Cell(" / ".join(number(value, None) for value in values))


def _rank_cell(_: Entry, standing: Standing) -> Cell:
    """Return the range of ranks, "2–4", sorted by its best and then its worst; empty without a rank."""
    if standing.best is None or standing.worst is None:
        return EMPTY
    span = f"{standing.best}" if standing.best == standing.worst else f"{standing.best}–{standing.worst}"
    return Cell(span, standing.best + standing.worst / 1e6)


def _read_cell(entry: Entry, _: Standing) -> Cell:
    read = _headline(entry, "parse_health_pct")
    return Cell(share(read), read)


def _answers_cell(entry: Entry, _: Standing) -> Cell:
    if entry.headlines is None:
        return EMPTY
    scored, expected = (entry.headlines[f"n_{name}"] or 0 for name in ("scored", "expected"))
    return Cell(f"{scored:,.0f} of {expected:,.0f}", scored)


def _settings_cell(entry: Entry, _: Standing) -> Cell:
    text = ", ".join(filter(None, [settings_text(entry.settings), f"repeats {entry.repeats}"]))
    return Cell(text, text.casefold())


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


def _arm_cell(entry: Entry, _: Standing) -> Cell:
    arm = shortened((entry.manifest or {}).get("arm", NOT_COMPUTED), 20)
    return Cell(arm, arm)


def _date_cell(entry: Entry, _: Standing) -> Cell:
    date = f"{entry.date:%Y-%m-%d}"
    return Cell(date, date) if entry.date.year > 1 else EMPTY


# --- rows

_SHOWN: Final = ("ranked", "unranked")
_AS_PUBLISHED: Final = "as published, 2026"


def page_link(entry: Entry) -> str | None:
    """Return the address of a submission's page relative to the board."""
    return f"models/{entry.name}.html" if entry.has_page else None


def board_rows(places: Sequence[Placed], columns: Sequence[Column]) -> list[Row]:
    """Return the rows of the table: ranked by gap, the published models, then what has no rank.

    `places` in the order of `in_order`; superseded and refused ones are no rows of it.
    """
    ranked, unranked = (
        [_row(*one, columns) for one in places if one.standing.status == status] for status in _SHOWN
    )
    return [*ranked, *(_published_row(model, columns) for model in PUBLISHED), *unranked]


def _row(entry: Entry, standing: Standing, columns: Sequence[Column]) -> Row:
    manifest = entry.manifest or {}
    words = (entry.model, manifest.get("provider"), manifest.get("model_repo"), entry.name, standing.reason)
    cells = tuple(column.cell(entry, standing) for column in columns)
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


def _published_row(model: PublishedModel, columns: Sequence[Column]) -> Row:
    cells = tuple(column.published(model) for column in columns)
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
