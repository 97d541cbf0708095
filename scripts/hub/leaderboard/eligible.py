"""Which submissions can be ranked: complete, of the standard arm, nearly all of whose answers were read."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rupeebias.metric.constants import LANGUAGES, USE_CASES
from rupeebias.metric.layout import AXES, N_PROMPTS

from ... import words
from ..scale import FEWEST_READ_PCT, parity
from .identity import names_another_provider
from .records import Entry

GAP: Final = "mean_delta_pct"


def why_not(entry: Entry) -> str:
    """Return why a submission cannot be ranked, in words; empty if it can."""
    if not entry.accepted:
        return "refused"
    if entry.is_simulated:
        return "a simulated respondent, no model"
    return _declared_fault(entry.manifest or {}) or _value_fault(entry)


def _declared_fault(manifest: Mapping[str, Any]) -> str:
    if manifest.get("arm") != "standard":
        return f"system prompt arm {str(manifest.get('arm'))[:40]}"
    if not manifest.get("complete"):
        return f"partial: {manifest.get('n_prompts', 0):,} of {N_PROMPTS:,} prompts"
    if names_another_provider(manifest):
        return "its settings name another provider than its manifest"
    return ""


def _value_fault(entry: Entry) -> str:
    headlines = entry.headlines or {}
    if not is_read(entry):
        read = min(headlines.get("parse_health_pct") or 0.0, FEWEST_READ_PCT - 0.1)  # 94.96 is not 95.0
        return f"only {read:.1f} % of its answers could be read; {FEWEST_READ_PCT:.0f} % are needed"
    if headlines.get(GAP) is None:
        return "no answers that can be compared"
    if headlines.get(f"{GAP}_ci_low") is None or headlines.get(f"{GAP}_ci_high") is None:
        return "no interval: too few answers that can be compared"
    if missing := next(_missing(entry), ""):
        return f"no gap for {missing}: too few answers that can be compared"
    return ""


def is_read(entry: Entry) -> bool:
    """Tell whether enough answers have a value for a rank and a parity score."""
    read = (entry.headlines or {}).get("parse_health_pct")
    return read is not None and read >= FEWEST_READ_PCT


def entry_parity(entry: Entry) -> float | None:
    """Return the parity score of a submission; None if it is refused or too few answers could be read."""
    return parity((entry.headlines or {}).get(GAP)) if entry.accepted and is_read(entry) else None


def _missing(entry: Entry) -> Iterator[str]:
    """Yield the axes and use cases that have no gap in a language."""
    for table, slices, labels in (
        ("axis", AXES, words.AXIS_LABELS),
        ("use_case", USE_CASES, words.USE_CASE_LABELS),
    ):
        known = {(row["language"], row[table]) for row in entry.tables.get(table, ()) if row[GAP] is not None}
        for language in LANGUAGES:
            for name in slices:
                if (language, name) not in known:
                    yield f"{labels[name].lower()} in {words.LANGUAGE_LABELS[language]}"
