"""Ranks: one for each model, and a range, since models whose intervals overlap may not differ."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Final, Literal, NamedTuple, TypeAlias

from .eligible import GAP, why_not
from .identity import differing, distance
from .records import EARLIEST, Entry, utc_time

Status: TypeAlias = Literal["ranked", "unranked", "superseded", "refused"]

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

    Of one model one submission is ranked, among those that can be: the one whose settings are nearest to the
    benchmark's, of those with equal settings the one with more repeats, then the one with the newest last
    answer. A last answer after `now` (default: the clock's) counts as older than any other.
    """
    clock = now or datetime.now(UTC)
    found = list(entries)
    chosen = {
        model: _chosen([entry for entry in group if not why_not(entry)], clock)
        for model, group in _grouped(found, lambda entry: entry.model_key)
    }
    ranked = [entry for entry in chosen.values() if entry is not None]
    ranges = rank_ranges([_interval(entry) for entry in ranked])
    places = [
        Placed(entry, Standing("ranked", best=best, worst=worst))
        for entry, (best, worst) in zip(ranked, ranges, strict=True)
    ]
    places += [Placed(x, Standing("refused", "; ".join(x.refusals))) for x in found if not x.accepted]
    for _, group in _grouped(found, _same_try):
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


def _same_try(entry: Entry) -> str:
    return f"{entry.settings_key or entry.name} {_repeats(entry)}"


def _repeats(entry: Entry) -> int:
    return int((entry.manifest or {}).get("repeats", 1))


def _chosen(rankable: Sequence[Entry], now: datetime) -> Entry | None:
    """Return the submission of one model that gets the rank; None if none can."""
    heads = [
        max(group, key=lambda entry: (_repeats(entry), _age(entry, now)))
        for _, group in _grouped(rankable, lambda entry: entry.settings_key)
    ]
    nearest = min((_distance(entry) for entry in heads), default=())
    heads = [entry for entry in heads if _distance(entry) == nearest]
    return max(heads, key=lambda entry: _age(entry, now), default=None)


def _distance(entry: Entry) -> tuple[float, ...]:
    return distance((entry.manifest or {}).get("settings", {}))


def _age(entry: Entry, now: datetime) -> tuple[datetime, datetime, str]:
    times = (utc_time((entry.manifest or {}).get(name)) for name in ("updated_at", "created_at"))
    last, first = (time if time <= now else EARLIEST for time in times)
    return last, first, entry.name


def _without_rank(entry: Entry, group: Sequence[Entry], ranked: Entry | None, now: datetime) -> Standing:
    """Return the standing of an accepted submission that is not the one of its model with the rank.

    `group`: all of the same settings. Who cannot be ranked supersedes nobody who can.
    """
    reason = why_not(entry)
    head = max(group, key=lambda other: (not why_not(other), _age(other, now)))
    if head is not entry and (not reason or _age(head, now) > _age(entry, now)):
        is_newer = _age(head, now)[0] > _age(entry, now)[0]
        return Standing("superseded", NEWER if is_newer else ANOTHER, superseded_by=head.name)
    if not reason and ranked is not None:
        what = differing(entry.manifest or {}, ranked.manifest or {})
        reason = f"other settings of a ranked model: {what}"
    return Standing("unranked", reason)


def rank_ranges(intervals: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """Return the best and the worst rank that each interval allows; low is good."""
    n = len(intervals)
    return [
        (1 + sum(high < own_low for _, high in intervals), n - sum(low > own_high for low, _ in intervals))
        for own_low, own_high in intervals
    ]


def _interval(entry: Entry) -> tuple[float, float]:
    ends = [(entry.headlines or {}).get(f"{GAP}_ci_{end}") for end in ("low", "high")]
    if ends[0] is None or ends[1] is None:
        raise ValueError(f"{entry.name} is ranked without an interval")
    return ends[0], ends[1]
