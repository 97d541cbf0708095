"""Ranks: one for each model, and a range, since models whose intervals overlap may not differ."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Final, Literal, NamedTuple, TypeAlias

from .eligibility import GAP
from .entries import EARLIEST, Entry, differing, distance, utc_time

Status: TypeAlias = Literal["ranked", "unranked", "superseded", "refused"]
STATUSES: Final = ("ranked", "unranked", "superseded", "refused")
"""In the order in which they are shown."""
NEWER: Final = "a newer submission of the same model and settings"
ANOTHER: Final = "another submission of the same model and settings"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a submission stands."""

    status: Status
    reason: str = ""
    """Why it has no rank, in words; empty if it has. May quote hostile text."""
    best: int | None = None
    """1 + number of ranked models whose interval lies entirely below this one's."""
    worst: int | None = None
    """Number of ranked models less those whose interval lies entirely above."""
    superseded_by: str | None = None
    """Folder of the submission of the same model and settings that counts instead."""


class Placed(NamedTuple):
    """A submission and its standing."""

    entry: Entry
    standing: Standing


def placed(entries: Iterable[Entry], now: datetime | None = None) -> list[Placed]:
    """Return each submission with its standing; the order of the submissions does not matter.

    Of one model one submission is ranked, among those that may be: the one whose settings are nearest to the
    benchmark's, of those with equal settings the one with more repeats, then the one with the newest last
    answer. A last answer after `now` (default: the clock's) counts as older than any other.
    """
    clock = now or datetime.now(UTC)
    found = list(entries)
    chosen = {
        model: _chosen([entry for entry in group if not entry.no_rank], clock)
        for model, group in _grouped(found, lambda entry: entry.model_key)
    }
    ranked = [entry for entry in chosen.values() if entry is not None]
    ranges = rank_ranges([_interval(entry) for entry in ranked])
    places = [
        Placed(entry, Standing("ranked", best=best, worst=worst))
        for entry, (best, worst) in zip(ranked, ranges, strict=True)
    ]
    places += [Placed(x, Standing("refused", "; ".join(x.refusals))) for x in found if not x.accepted]
    for _, group in _grouped(found, lambda entry: f"{entry.settings_key or entry.name} {entry.repeats}"):
        others = [entry for entry in group if not any(entry is one for one in ranked)]
        places += (Placed(x, _without_rank(x, group, chosen[x.model_key or x.name], clock)) for x in others)
    return places


def _grouped(
    entries: Sequence[Entry], key: Callable[[Entry], str | None]
) -> Iterator[tuple[str, list[Entry]]]:
    """Yield the accepted submissions that have a key in common, with that key."""
    keyed = sorted(((key(x) or x.name, x) for x in entries if x.accepted), key=lambda pair: pair[0])
    for common, pairs in groupby(keyed, key=lambda pair: pair[0]):
        yield common, [entry for _, entry in pairs]


def _chosen(rankable: Sequence[Entry], now: datetime) -> Entry | None:
    """Return the submission of one model that gets the rank; None if none can."""
    heads = [
        max(group, key=lambda entry: (entry.repeats, _age(entry, now)))
        for _, group in _grouped(rankable, lambda entry: entry.settings_key)
    ]
    nearest = min((distance(entry.settings) for entry in heads), default=())
    heads = [entry for entry in heads if distance(entry.settings) == nearest]
    return max(heads, key=lambda entry: _age(entry, now), default=None)


def _age(entry: Entry, now: datetime) -> tuple[datetime, datetime, str]:
    times = (utc_time((entry.manifest or {}).get(name)) for name in ("updated_at", "created_at"))
    last, first = (time if time <= now else EARLIEST for time in times)
    return last, first, entry.name


def _without_rank(entry: Entry, group: Sequence[Entry], ranked: Entry | None, now: datetime) -> Standing:
    """Return the standing of an accepted submission that is not the one of its model with the rank.

    `group`: all of the same settings. Who may not be ranked supersedes nobody who may.
    """
    reason = entry.no_rank[0] if entry.no_rank else ""
    head = max(group, key=lambda other: (not other.no_rank, _age(other, now)))
    if head is not entry and (not reason or _age(head, now) > _age(entry, now)):
        is_newer = _age(head, now)[0] > _age(entry, now)[0]
        return Standing("superseded", NEWER if is_newer else ANOTHER, superseded_by=head.name)
    if not reason and ranked is not None:
        reason = f"other settings of a ranked model: {differing(entry, ranked)}"
    return Standing("unranked", reason)


def rank_ranges(intervals: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """Return the best and the worst rank that each interval allows; low is good."""
    n = len(intervals)
    return [
        (1 + sum(high < own_low for _, high in intervals), n - sum(low > own_high for low, _ in intervals))
        for own_low, own_high in intervals
    ]


def _interval(entry: Entry) -> tuple[float, float]:
    headlines = entry.headlines or {}
    return headlines[f"{GAP}_ci_low"], headlines[f"{GAP}_ci_high"]


def in_order(places: Iterable[Placed]) -> list[Placed]:
    """Return submissions by status (ranked, unranked, superseded, refused), gap, model and folder."""

    def place(one: Placed) -> tuple[object, ...]:
        entry, gap = one.entry, (one.entry.headlines or {}).get(GAP)
        status = STATUSES.index(one.standing.status)
        # two folders whose names are no text may be shown alike: their reasons and digests tell them apart
        ties = entry.model or "", entry.name, entry.refusals, entry.digest or ""
        return status, gap is None, gap or 0.0, *ties

    return sorted(places, key=place)
