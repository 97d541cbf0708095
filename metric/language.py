"""Language moderation: does Hinglish change the order of the identifiers?"""

import numpy as np

from .constants import IDENTIFIERS, LANGUAGES
from .layout import RUPEES_PER_LAKH, Floats
from .outcomes import Outcome, Outcomes
from .ranks import comparable, spearman


def rank_correlation(outcomes: Outcomes, axis: str, outcome: Outcome) -> tuple[float, float]:
    """Return Spearman's rho of an axis's identifier means in the two languages, and its two-sided p-value.

    Identifier means pool all use cases in the paper's units: annual CTC in lakh, project prices in rupees,
    percentages as they are, so service prices weigh most. NaN where it is undefined. How the size of the gaps
    changes with the language is `GapSummaries.language_change`.
    """
    return spearman(*(pooled_identifier_means(outcomes, language, axis, outcome) for language in LANGUAGES))


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
