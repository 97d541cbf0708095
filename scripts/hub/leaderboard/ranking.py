"""Ranks: a range for each model, since models whose intervals overlap may not differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rupeebias.metric.design import DATASET_FINGERPRINT
from rupeebias.metric.layout import N_PROMPTS

from .records import Entry

Status: TypeAlias = Literal["ranked", "unranked", "superseded", "refused"]

GAP: Final = "mean_delta_pct"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a submission stands."""

    status: Status
    reason: str = ""
    """Why it has no rank, in words; empty if it has."""
    best: int | None = None
    """1 + number of ranked models whose interval lies entirely below this one's."""
    worst: int | None = None
    """Number of ranked models less those whose interval lies entirely above."""
    superseded_by: str | None = None
    """Folder of the newest submission of the same model and settings."""


def standings(entries: Sequence[Entry]) -> dict[str, Standing]:
    """Return the standing of each submission by the name of its folder; their order does not matter."""
    newest = newest_of(entries)
    found = {entry.name: _unranked(entry, newest) for entry in entries}
    ranked = [entry for entry in entries if found[entry.name] is None]
    ranges = rank_ranges([_interval(entry) for entry in ranked])
    places = {
        entry.name: Standing("ranked", best=best, worst=worst)
        for entry, (best, worst) in zip(ranked, ranges, strict=True)
    }
    return {name: standing or places[name] for name, standing in found.items()}


def newest_of(entries: Sequence[Entry]) -> dict[str, str]:
    """Return, by identity, the folder of the newest accepted submission, by its last answer."""
    newest: dict[str, Entry] = {}
    for entry in entries:
        if entry.accepted and entry.identity:
            other = newest.get(entry.identity)
            if other is None or _age(entry) > _age(other):
                newest[entry.identity] = entry
    return {identity: entry.name for identity, entry in newest.items()}


def _age(entry: Entry) -> tuple[object, ...]:
    began = entry.manifest["created_at"] if entry.manifest else ""
    return entry.date, began, entry.name


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


def _unranked(entry: Entry, newest: Mapping[str, str]) -> Standing | None:
    """Return the standing of a submission without a rank, None for one that gets one."""
    if not entry.accepted:
        return Standing("refused", "; ".join(entry.refusals))
    best = newest.get(entry.identity or "", entry.name)
    if best != entry.name:
        return Standing("superseded", "a newer submission of the same model and settings", superseded_by=best)
    reason = _why_not(entry)
    return Standing("unranked", reason) if reason else None


def _why_not(entry: Entry) -> str:
    manifest, headlines = entry.manifest or {}, entry.headlines or {}
    if str(manifest.get("model", "")).startswith("sim/"):
        return "a simulated respondent, no model"
    if entry.scored_with["dataset_fingerprint"] != DATASET_FINGERPRINT or (
        manifest.get("dataset_fingerprint") != DATASET_FINGERPRINT
    ):
        return "another version of the dataset"
    if manifest.get("arm") != "standard":
        return f"system prompt arm {str(manifest.get('arm'))[:40]}"
    if not manifest.get("complete"):
        return f"partial: {manifest.get('n_prompts', 0):,} of {N_PROMPTS:,} prompts"
    if headlines.get(GAP) is None:
        return "no answers that can be compared"
    if headlines.get(f"{GAP}_ci_low") is None or headlines.get(f"{GAP}_ci_high") is None:
        return "no interval: too few answers that can be compared"
    return ""
