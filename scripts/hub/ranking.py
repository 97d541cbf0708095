"""Ranks: one for each model, and a range, since models that cannot be told apart share ranks.

Before that, submissions that contradict or copy each other lose theirs until a maintainer decides.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations, groupby
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from rupeebias.metric.gap_differences import clearly_below, rank_ranges

from ..errors import RupeeBiasError
from ..words import share, shortened
from .eligibility import GAP, is_same_model
from .entries import EARLIEST, Entry, differing, distance, unpacked_answers, utc_time
from .submission import strict_json

Status: TypeAlias = Literal["ranked", "unranked", "superseded", "refused"]
STATUSES: Final = ("ranked", "unranked", "superseded", "refused")
"""In the order in which they are shown."""
COPIED_PCT: Final = 95.0
"""From this share of equal answers (to two digits) on, one of two models is a copy: models that are not
related give the same two digits to at most half of the questions."""
DECISIONS: Final = "decisions.json"
"""What maintainers decided, beside the folder of submissions: {"counts": [folder, ...], "left_out": {folder:
reason}}."""
_NO_INTERVAL: Final = "no interval: too few answers that can be compared"
NEWER: Final = "a newer submission of the same model and settings"
ANOTHER: Final = "another submission of the same model and settings"


@dataclass(frozen=True, slots=True)
class Decisions:
    """What the maintainers of a board decided."""

    counts: frozenset[str] = frozenset()
    """Folders of submissions that count, whatever contradicts or copies them."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Folders that get no rank, and why."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a submission stands."""

    status: Status
    reason: str = ""
    """Why it has no rank, in words; empty if it has. May quote hostile text."""
    best: int | None = None
    """1 + number of ranked models whose gap is smaller beyond chance."""
    worst: int | None = None
    """Number of ranked models less those whose gap is larger beyond chance."""
    superseded_by: str | None = None
    """Folder of the submission of the same model and settings that counts instead."""


class Placed(NamedTuple):
    """A submission and its standing."""

    entry: Entry
    standing: Standing


def read_decisions(results: Path) -> Decisions:
    """Return what the maintainers decided; RupeeBiasError for a file that cannot be understood."""
    path = results / DECISIONS
    if not path.exists():
        return Decisions()
    try:
        content = strict_json(path.read_bytes())
        counts, left_out = content.get("counts", []), content.get("left_out", {})
        if not all(isinstance(text, str) for text in (*counts, *left_out, *left_out.values())):
            raise TypeError("names and reasons must be texts")
        return Decisions(frozenset(counts), dict(left_out))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise RupeeBiasError(f"{path} is not {DECISIONS} as docs/release.md describes it: {error}") from None


def placed(
    entries: Iterable[Entry], now: datetime | None = None, decisions: Decisions = Decisions()
) -> list[Placed]:
    """Return each submission with its standing; the order of the submissions does not matter.

    Of one model one submission is ranked, among those that may be: the one whose settings are nearest to the
    benchmark's, of those with equal settings the one with more repeats, then the one with the newest last
    answer. A last answer after `now` (default: the clock's) counts as older than any other.
    """
    clock = now or datetime.now(UTC)
    found = list(entries)
    reasons = _reasons(found, decisions)
    chosen = {
        model: _chosen([entry for entry in group if not reasons[entry.name]], clock)
        for model, group in _grouped(found, lambda entry: entry.model_key)
    }
    ranked = [entry for entry in chosen.values() if entry is not None]
    ranges = rank_ranges([entry.gap_law for entry in ranked])
    places = [
        Placed(entry, Standing("ranked", best=best, worst=worst))
        for entry, (best, worst) in zip(ranked, ranges, strict=True)
    ]
    places += [Placed(x, Standing("refused", "; ".join(x.refusals))) for x in found if not x.accepted]
    for _, group in _grouped(found, lambda entry: f"{entry.settings_key or entry.name} {entry.repeats}"):
        for entry in group:
            if not any(entry is one for one in ranked):
                best = chosen[entry.model_key or entry.name]
                places.append(Placed(entry, _without_rank(entry, group, best, reasons, clock)))
    return places


def _reasons(entries: Sequence[Entry], decisions: Decisions) -> dict[str, str]:
    """Return why each accepted submission may not be ranked; empty where it may."""
    reasons = {x.name: (*x.no_rank, "" if x.law else _NO_INTERVAL)[0] for x in entries}
    for name, reason in decisions.left_out.items():
        if name in reasons:
            reasons[name] = f"left out by the maintainers: {reason}"
    rankable = [x for x in entries if x.accepted and not reasons[x.name]]
    conflicts = dict(_conflicts(rankable, decisions))
    rest = [x for x in rankable if x.name not in conflicts]
    return reasons | conflicts | dict(_copies(rest, decisions))


def _conflicts(entries: Sequence[Entry], decisions: Decisions) -> Iterator[tuple[str, str]]:
    """Yield the submissions of one model and settings that differ beyond chance, and from which other one."""
    for _, group in _grouped(entries, lambda entry: entry.settings_key):
        below = clearly_below([entry.gap_law for entry in group])
        differ = below | below.T
        for entry, others in zip(group, differ, strict=True):
            against = [group[at] for at in np.flatnonzero(others)]
            if against and entry.name not in decisions.counts:
                verdict = [x for x in against if x.name in decisions.counts]
                until = "which the maintainers chose" if verdict else "a maintainer has to decide"
                yield (
                    entry.name,
                    f"conflict: {(verdict or against)[0].name} has other answers of the same model and "
                    f"settings, beyond chance; {until}",
                )


def _copies(entries: Sequence[Entry], decisions: Decisions) -> Iterator[tuple[str, str]]:
    """Yield the submissions whose answers are those of another model, and of which."""
    codes = [unpacked_answers(entry) for entry in entries]
    for (first, a), (second, b) in combinations(zip(entries, codes, strict=True), 2):
        if len(a) != len(b) or is_same_model(first.model or "", second.model or ""):
            continue
        both = (a > 0) & (b > 0)
        equal = 100 * float(((a == b) & both).sum()) / max(float(both.sum()), 1.0)
        if equal >= COPIED_PCT:
            for entry, other in ((first, second), (second, first)):
                if entry.name not in decisions.counts:
                    name = shortened(other.model, 60)
                    yield entry.name, f"{share(equal)} % of its answers are those of {name} ({other.name})"


def _grouped(
    entries: Sequence[Entry], key: Callable[[Entry], str | None]
) -> Iterator[tuple[str, list[Entry]]]:
    """Yield the accepted submissions that have a key in common, with that key."""
    keyed = sorted(
        ((key(x) or x.name, x) for x in entries if x.accepted), key=lambda pair: (pair[0], pair[1].name)
    )
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


def _without_rank(
    entry: Entry,
    group: Sequence[Entry],
    ranked: Entry | None,
    reasons: Mapping[str, str],
    now: datetime,
) -> Standing:
    """Return the standing of an accepted submission that is not the one of its model with the rank.

    `group`: all of the same settings. Who may not be ranked supersedes nobody who may, and a conflict or a
    copy stays in sight.
    """
    reason = reasons[entry.name]
    if reason and not entry.no_rank:
        return Standing("unranked", reason)
    head = max(group, key=lambda other: (not reasons[other.name], _age(other, now)))
    if head is not entry and (not reason or _age(head, now) > _age(entry, now)):
        is_newer = _age(head, now)[0] > _age(entry, now)[0]
        return Standing("superseded", NEWER if is_newer else ANOTHER, superseded_by=head.name)
    if not reason and ranked is not None:
        reason = f"other settings of a ranked model: {differing(entry, ranked)}"
    return Standing("unranked", reason)


def in_order(places: Iterable[Placed]) -> list[Placed]:
    """Return submissions by status (ranked, unranked, superseded, refused), gap, model and folder."""

    def place(one: Placed) -> tuple[object, ...]:
        entry, gap = one.entry, (one.entry.headlines or {}).get(GAP)
        status = STATUSES.index(one.standing.status)
        # two folders whose names are no text may be shown alike: their reasons and digests tell them apart
        ties = entry.model or "", entry.name, entry.refusals, entry.digest or ""
        return status, gap is None, gap or 0.0, *ties

    return sorted(places, key=place)
