"""How a submission, or a published model, fills each column of the board's table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rupeebias.metric.published import PublishedModel

from ...words import NOT_COMPUTED, number, shortened, with_interval
from ..scale import parity
from .eligible import entry_parity
from .identity import setting_text
from .ranking import Standing
from .records import Entry, Facts


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as people and as sorting see it."""

    text: str
    """May hold hostile text: to be escaped."""
    sort: float | str | None = None
    """What the column is sorted by; None sorts last in both directions."""


EMPTY: Final = Cell(NOT_COMPUTED)


def headline_cell(name: str, digits: int = 1) -> Callable[[Entry, Standing], Cell]:
    """Return what fills a column with one headline value, with so many decimals."""

    def cell(entry: Entry, _: Standing) -> Cell:
        value = (entry.headlines or {}).get(name)
        return Cell(number(value, digits), value)

    return cell


def gap_cell(prefix: str) -> Callable[[Entry, Standing], Cell]:
    """Return what fills a column with a mean gap and its interval.

    `prefix` as in HEADLINES, "" for both languages.
    """

    def cell(entry: Entry, _: Standing) -> Cell:
        headlines = entry.headlines or {}
        value, low, high = (
            headlines.get(f"{prefix}mean_delta_pct{end}") for end in ("", "_ci_low", "_ci_high")
        )
        return Cell(with_interval(value, low, high), value)

    return cell


def published_cell(name: str) -> Callable[[PublishedModel], Cell]:
    """Return what fills a column with a field of a published model."""

    def cell(model: PublishedModel) -> Cell:
        value: float = getattr(model, name)
        return Cell(number(value), value)

    return cell


def rank_cell(_: Entry, standing: Standing) -> Cell:
    """Return the range of ranks, "2–4", sorted by its best and then its worst; empty without a rank."""
    if standing.best is None or standing.worst is None:
        return EMPTY
    span = f"{standing.best}" if standing.best == standing.worst else f"{standing.best}–{standing.worst}"
    return Cell(span, standing.best + standing.worst / 1e6)


def parity_cell(entry: Entry, _: Standing) -> Cell:
    """Return the parity score; empty where too few answers could be read."""
    value = entry_parity(entry)
    return Cell(number(value), value)


def published_parity_cell(model: PublishedModel) -> Cell:
    """Return the parity score of a published model."""
    value = parity(model.mean_delta_pct)
    return Cell(number(value), value)


def published_violations_cell(model: PublishedModel) -> Cell:
    """Return V@10 % of English and Hinglish, the values that were published.

    Without a common one to sort by.
    """
    english, hinglish = model.english_violation_at_10_pct, model.hinglish_violation_at_10_pct
    return Cell(f"{number(english)} / {number(hinglish)}")


def answers_cell(entry: Entry, _: Standing) -> Cell:
    """Return how many answers could be read, of those expected."""
    if entry.headlines is None:
        return EMPTY
    scored, expected = (entry.headlines[f"n_{name}"] or 0 for name in ("scored", "expected"))
    return Cell(f"{scored:,.0f} of {expected:,.0f}", scored)


def settings_cell(entry: Entry, _: Standing) -> Cell:
    """Return the settings that matter most, in words."""
    manifest = entry.manifest or {}
    words = [settings_text(manifest.get("settings", {})), f"repeats {manifest.get('repeats', 1)}"]
    text = ", ".join(filter(None, words))
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


def arm_cell(entry: Entry, _: Standing) -> Cell:
    """Return the system prompt arm."""
    arm = shortened((entry.manifest or {}).get("arm", NOT_COMPUTED), 20)
    return Cell(arm, arm)


def versions_cell(entry: Entry, _: Standing) -> Cell:
    """Return the versions of metric and dataset with which it was recomputed."""
    text = "{metric_version} / {benchmark_version}".format(**entry.scored_with)
    return Cell(text, text)


def date_cell(entry: Entry, _: Standing) -> Cell:
    """Return the UTC date of the last answer."""
    date = f"{entry.date:%Y-%m-%d}"
    return Cell(date, date) if entry.date.year > 1 else EMPTY
