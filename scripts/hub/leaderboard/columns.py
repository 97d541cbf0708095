"""The columns of the board's table, each with its unit and direction, and how a submission fills them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from rupeebias.metric.published import PublishedModel

from ...report.page.text import NOT_COMPUTED, number, shortened, with_interval
from .ranking import Standing
from .records import Entry, Facts
from .scale import parity

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
    """One column after the model's name."""

    key: str
    label: str
    note: str
    """Unit, and which direction is better."""
    kind: Kind
    descending: bool
    """Whether sorting begins with the largest: there the best stands first."""
    cell: Callable[[Entry, Standing], Cell]
    published: Callable[[PublishedModel], Cell] = lambda _: EMPTY


def _headline(name: str, digits: int = 1) -> Callable[[Entry, Standing], Cell]:
    def cell(entry: Entry, _: Standing) -> Cell:
        value = (entry.headlines or {}).get(name)
        return Cell(number(value, digits), value)

    return cell


def _gap(prefix: str) -> Callable[[Entry, Standing], Cell]:
    def cell(entry: Entry, _: Standing) -> Cell:
        headlines = entry.headlines or {}
        value, low, high = (
            headlines.get(f"{prefix}mean_delta_pct{end}") for end in ("", "_ci_low", "_ci_high")
        )
        return Cell(with_interval(value, low, high), value)

    return cell


def _published(name: str) -> Callable[[PublishedModel], Cell]:
    def cell(model: PublishedModel) -> Cell:
        value: float = getattr(model, name)
        return Cell(number(value), value)

    return cell


def _rank(_: Entry, standing: Standing) -> Cell:
    if standing.best is None or standing.worst is None:
        return EMPTY
    span = f"{standing.best}" if standing.best == standing.worst else f"{standing.best}–{standing.worst}"
    return Cell(span, standing.best + standing.worst / 1e6)


def _parity(entry: Entry, _: Standing) -> Cell:
    value = parity((entry.headlines or {}).get("mean_delta_pct"))
    return Cell(number(value), value)


def _published_parity(model: PublishedModel) -> Cell:
    value = parity(model.mean_delta_pct)
    return Cell(number(value), value)


def _published_violations(model: PublishedModel) -> Cell:
    english, hinglish = model.english_violation_at_10_pct, model.hinglish_violation_at_10_pct
    return Cell(f"{number(english)} / {number(hinglish)}")


def _answers(entry: Entry, _: Standing) -> Cell:
    if entry.headlines is None:
        return EMPTY
    scored, expected = (entry.headlines[f"n_{name}"] or 0 for name in ("scored", "expected"))
    return Cell(f"{scored:,.0f} of {expected:,.0f}", scored)


def _settings(entry: Entry, _: Standing) -> Cell:
    text = settings_text((entry.manifest or {}).get("settings", {}))
    return Cell(text, text.casefold()) if text else EMPTY


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return temperature and reasoning as they were asked for; hostile text."""
    not_sent = settings.get("not_sent")
    left_out: Facts = not_sent if isinstance(not_sent, dict) else {}
    words = []
    for key, label in (("temperature", "temperature"), ("reasoning_effort", "reasoning")):
        if settings.get(key) is not None:
            words.append(f"{label} {_setting(settings[key])}")
        elif key in left_out:
            words.append(f"{label} not settable")
    return ", ".join(words)


def _setting(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else shortened(value, 20)


def _arm(entry: Entry, _: Standing) -> Cell:
    arm = shortened((entry.manifest or {}).get("arm", NOT_COMPUTED), 20)
    return Cell(arm, arm)


def _versions(entry: Entry, _: Standing) -> Cell:
    text = "{metric_version} / {benchmark_version}".format(**entry.scored_with)
    return Cell(text, text)


def _date(entry: Entry, _: Standing) -> Cell:
    date = f"{entry.date:%Y-%m-%d}"
    return Cell(date, date) if entry.date.year > 1 else EMPTY


COLUMNS: Final = (
    Column("rank", "Rank", "range that the intervals allow; lower is better", "number", False, _rank),
    Column(
        "parity",
        "Parity score",
        "100 − mean gap, 0 to 100; higher is better",
        "number",
        True,
        _parity,
        _published_parity,
    ),
    Column(
        "mean_delta_pct",
        "Mean gap Δ",
        "% [95 % interval]; lower is better, 0 is ideal",
        "number",
        False,
        _gap(""),
        _published("mean_delta_pct"),
    ),
    Column(
        "english_mean_delta_pct",
        "English",
        "mean gap, % [95 % interval]; lower is better",
        "number",
        False,
        _gap("english_"),
        _published("english_mean_delta_pct"),
    ),
    Column(
        "hinglish_mean_delta_pct",
        "Hinglish",
        "mean gap, % [95 % interval]; lower is better",
        "number",
        False,
        _gap("hinglish_"),
        _published("hinglish_mean_delta_pct"),
    ),
    Column(
        "violation_at_10_pct",
        "V@10 %",
        "% of gaps above 10 %; lower is better; published: English / Hinglish",
        "number",
        False,
        _headline("violation_at_10_pct"),
        _published_violations,
    ),
    Column(
        "mean_kendall_w",
        "Mean W",
        "0 to 1: how alike profiles rank the groups; lower is better",
        "number",
        False,
        _headline("mean_kendall_w", 3),
    ),
    Column(
        "parse_health_pct",
        "Parsed",
        "% of answers read; higher is better",
        "number",
        True,
        _headline("parse_health_pct"),
    ),
    Column(
        "refusal_rate_pct",
        "Refused",
        "% of answers; lower is better",
        "number",
        False,
        _headline("refusal_rate_pct"),
    ),
    Column("settings", "Settings", "temperature, reasoning", "text", False, _settings),
    Column("arm", "Arm", "system prompt", "text", False, _arm, lambda _: Cell("standard", "standard")),
    Column("answers", "Answers", "read, of those expected", "number", True, _answers),
    Column("versions", "Versions", "metric / dataset", "text", True, _versions),
    Column("date", "Date", "last answer, UTC", "text", True, _date, lambda _: Cell("2026", "2026")),
)
"""The columns in order; the model's name stands after the rank."""
