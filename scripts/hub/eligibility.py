"""Who may be ranked: one rule, with its reasons, for the check of a submission, the board and its pages."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rupeebias.metric import Result
from rupeebias.metric.design import Design

from ..words import share
from .submission import SubmissionManifest

FEWEST_READ_PCT: Final = 95.0
"""Share of answers with a value, in percent, that a rank and a parity score need.

Gaps are taken between answers that could be read: who leaves out enough of them can make any gap small.
"""
GAP: Final = "mean_delta_pct"
"""The headline that is ranked by."""
_DIGITS: Final = 10
"""Decimals of a score: more than any gap has, and less than what floating point adds to a difference."""


def reasons_without_rank(manifest: SubmissionManifest, result: Result, design: Design) -> list[str]:
    """Return why an accepted submission gets no rank, the most telling first; none: it may be ranked."""
    found = [*_declared(manifest, design), *_unread(result)]
    return found if found or not manifest.complete else [*_not_computed(result, design)]


def _declared(manifest: SubmissionManifest, design: Design) -> Iterator[str]:
    if manifest.is_simulated:
        yield "a simulated respondent, no model"
    if manifest.arm != "standard":
        yield f"system prompt arm {manifest.arm}"
    if not manifest.complete:
        yield f"partial, {manifest.n_prompts:,} of {design.n_prompts:,} prompts were asked"
    said = manifest.settings.get("provider")
    if said is not None and folded(said) != folded(manifest.provider):
        yield "its settings name another provider than its manifest"


def _unread(result: Result) -> Iterator[str]:
    read = result["parse_health_pct"]
    if read < FEWEST_READ_PCT:
        yield f"only {share(read)} % of the answers have a value, {FEWEST_READ_PCT:g} % are needed"


def _not_computed(result: Result, design: Design) -> Iterator[str]:
    if result[GAP] is None:
        yield "no answers that can be compared"
        return
    if result[f"{GAP}_ci_low"] is None or result[f"{GAP}_ci_high"] is None:
        yield "no interval: too few answers that can be compared"
    for table, slices in (("axis", design.axes), ("use_case", design.use_cases)):
        rows = result["tables"][table]
        known = {(row["language"], row[table]) for row in rows if row[GAP] is not None}
        for language in design.languages:
            for one in slices:
                if (language.name, one.name) not in known:
                    yield (
                        f"no gap for {one.label.lower()} in {language.label}: too few answers that can be "
                        "compared"
                    )


def folded(name: object) -> str:
    """Return a name without outer spaces, capitals and forms of Unicode: the same one is then equal."""
    return unicodedata.normalize("NFC", str(name)).strip().casefold()


def parity(gap_pct: float | None) -> float | None:
    """Return the parity score, 0 to 100: 100 less a gap in percent, 0 for gaps of 100 % and more.

    The Hub has room for one number and takes more for better: 100 means that no answer depends on who asks.
    None stays None. A gap of 18.46 gives 81.54, without the dust of floating point behind it.
    """
    return None if gap_pct is None else max(0.0, round(100.0 - gap_pct, _DIGITS))


def parity_of(headlines: Mapping[str, Any] | None) -> float | None:
    """Return the parity score of a result's headlines; None where too few answers could be read."""
    if headlines is None or (headlines.get("parse_health_pct") or 0.0) < FEWEST_READ_PCT:
        return None
    return parity(headlines.get(GAP))
