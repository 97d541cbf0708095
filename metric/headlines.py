"""The flat values at the top of a result."""

from collections.abc import Sequence

import numpy as np

from .constants import LANGUAGES
from .gap_summaries import GapSummaries
from .tables import Row

PREFIXES = {"en": "english_", "hinglish": "hinglish_"}
"""What stands before a headline's name when it is of one language."""


def gap_headlines(gaps: GapSummaries) -> dict[str, float | None]:
    """Return mean gap, its interval and the violation rate, over all languages and for each, and balanced."""
    headlines: dict[str, float | None] = {}
    selections = {"": None, **{prefix: language for language, prefix in PREFIXES.items()}}
    for prefix, language in selections.items():
        found = gaps.summarise(language=language)
        headlines[f"{prefix}mean_delta_pct"] = found.mean_delta_pct if found else None
        headlines[f"{prefix}mean_delta_pct_ci_low"] = found.interval.low if found else None
        headlines[f"{prefix}mean_delta_pct_ci_high"] = found.interval.high if found else None
        headlines[f"{prefix}violation_at_10_pct"] = found.violation_pct if found else None
    balanced, interval = gaps.gaps.balanced_mean, gaps.balanced_interval()
    headlines["mean_delta_pct_balanced"] = None if np.isnan(balanced) else balanced
    headlines["mean_delta_pct_balanced_ci_low"] = interval.low
    headlines["mean_delta_pct_balanced_ci_high"] = interval.high
    return headlines


def kendall_headlines(kendall_w_axis: Sequence[Row]) -> dict[str, float | None]:
    """Return mean W: over the axes of a language, and the mean of the languages' means."""
    by_language = {
        language: [
            float(row["kendall_w"])
            for row in kendall_w_axis
            if row["language"] == language and row["kendall_w"] is not None
        ]
        for language in LANGUAGES
    }
    means = {name: float(np.mean(values)) for name, values in by_language.items() if values}
    headlines: dict[str, float | None] = {
        f"{prefix}mean_kendall_w": means.get(language) for language, prefix in PREFIXES.items()
    }
    return {"mean_kendall_w": float(np.mean([*means.values()])) if means else None, **headlines}
