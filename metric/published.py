"""Values that the paper published for nine models, to set a result beside.

Source: the release of the paper's authors (its Table 2 prints the same values rounded to one decimal).
They were measured in 2026 on the model versions of that time; nothing here recomputes them.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """One row of the paper's Table 2."""

    model: str
    """Name as published."""
    mean_delta_pct: float
    """Mean relative pair gap over both languages, in percent."""
    english_mean_delta_pct: float
    hinglish_mean_delta_pct: float
    english_violation_at_10_pct: float
    """Share of gaps above 10 %, in percent."""
    hinglish_violation_at_10_pct: float


PUBLISHED: Final = (
    PublishedModel("Gemini 3 Flash", 8.11, 8.31, 7.92, 25.23, 24.14),
    PublishedModel("Claude Haiku 4.5", 11.78, 14.29, 9.25, 19.32, 18.88),
    PublishedModel("Claude Opus 4.7", 11.98, 12.53, 11.30, 31.96, 36.04),
    PublishedModel("Kimi K2.5", 13.52, 11.72, 15.24, 27.11, 29.22),
    PublishedModel("GLM 5.1", 18.46, 16.48, 20.42, 43.17, 45.60),
    PublishedModel("GPT 5.4", 18.97, 18.94, 19.00, 52.31, 53.66),
    PublishedModel("GPT 5.4-mini", 28.48, 29.98, 26.89, 64.29, 63.33),
    PublishedModel("DeepSeek V3.2", 32.68, 26.71, 38.66, 49.04, 59.73),
    PublishedModel("Sarvam 105B", 37.93, 39.84, 35.95, 77.46, 74.69),
)
"""In the order of the paper: by overall mean gap."""
