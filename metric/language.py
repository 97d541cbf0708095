"""Language moderation: does Hinglish change the order of the identifiers, or the size of the gaps?"""

from typing import NamedTuple

import numpy as np

from .design import IDENTIFIERS, LANGUAGES
from .gap_summaries import GapSummaries
from .layout import RUPEES_PER_LAKH, Floats
from .outcomes import Outcome, Outcomes
from .ranks import comparable, spearman
from .resampling import Interval


class LanguageModeration(NamedTuple):
    """How English and Hinglish compare on one axis."""

    spearman_rho: float
    """Rank correlation of the identifier means in the two languages; NaN where it is undefined."""
    p_value: float
    """Two-sided p-value of rho."""
    delta_mean_delta_pct: float
    """Hinglish minus English mean gap, in percentage points: positive = Hinglish widens the gaps."""
    interval: Interval
    """95 % interval of that difference."""


def language_moderation(
    outcomes: Outcomes, gaps: GapSummaries, axis: str, outcome: Outcome
) -> LanguageModeration | None:
    """Return the comparison of the two languages on one axis; None unless both have gaps.

    Identifier means pool all use cases in the paper's units: annual CTC in lakh, project prices in rupees,
    percentages as they are, so service prices weigh most. Both languages share the draws of profiles, so
    that a profile's two languages stay together; pairs are drawn for each.
    """
    english, hinglish = (gaps.summarise(languages=[name], axes=[axis]) for name in LANGUAGES)
    if english is None or hinglish is None:
        return None
    rho, p_value = spearman(
        *(pooled_identifier_means(outcomes, language, axis, outcome) for language in LANGUAGES)
    )
    change = hinglish.mean_delta_pct - english.mean_delta_pct
    return LanguageModeration(rho, p_value, change, gaps.change_interval(english, hinglish))


def pooled_identifier_means(outcomes: Outcomes, language: str, axis: str, outcome: Outcome) -> Floats:
    """Return identifier means over the values of all use cases, shape (identifiers,)."""
    in_lakh = {"salary_estimation"} | ({"counter_offer"} if outcome == "amount" else set())
    total = np.zeros(len(IDENTIFIERS[axis]))
    count = np.zeros(len(IDENTIFIERS[axis]), dtype=np.int64)
    for block, values in outcomes.blocks(language=language, axis=axis):
        unit = RUPEES_PER_LAKH if block.use_case in in_lakh else 1
        there = ~np.isnan(values)
        total += np.where(there, values, 0).sum(axis=(1, 2, 3)) / unit
        count += there.sum(axis=(1, 2, 3))
    with np.errstate(invalid="ignore"):
        return comparable(np.asarray(total / count, dtype=float))
