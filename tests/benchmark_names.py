"""RupeeBias's own names and counts, as the tests write them down."""

from typing import Final

import numpy as np

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of

BENCHMARK_VERSION: Final = DESIGN.version
DATASET_FINGERPRINT: Final = DESIGN.fingerprint
USE_CASES: Final = DESIGN.use_case_names
LANGUAGES: Final = DESIGN.language_names
AXES: Final = DESIGN.axis_names
IDENTIFIERS: Final = {axis: dict(people) for axis, people in DESIGN.identifiers.items()}
PROFILES: Final = {use_case.name: use_case.n_profiles for use_case in DESIGN.use_cases}
QUESTIONS: Final = {use_case.name: use_case.n_questions for use_case in DESIGN.use_cases}
OUTPUT_UNIT: Final = {use_case.name: use_case.unit for use_case in DESIGN.use_cases}
OFFERED_CTC_LPA: Final = tuple(round(amount / 1e5) for amount in DESIGN.use_case["counter_offer"].known)
CANONICAL_PAIRS: Final = {axis.name: axis.canonical_pair for axis in DESIGN.axes if axis.canonical_pair}
RUPEES_PER_LAKH: Final = 100_000
BLOCKS: Final = layout_of(DESIGN).blocks
N_PROMPTS: Final = DESIGN.n_prompts


def prompt_ids() -> list[str]:
    """Every prompt_id, in benchmark order."""
    return layout_of(DESIGN).prompt_ids


def prompt_rows() -> dict[str, int]:
    """The row of every prompt_id."""
    return layout_of(DESIGN).prompt_rows


def slot_codes() -> "np.typing.NDArray[np.int64]":
    """Each row's slot."""
    return layout_of(DESIGN).slot_codes


def offered_inr() -> "np.typing.NDArray[np.float64]":
    """The offered CTC in rupees of each counter-offer row; NaN elsewhere."""
    rows = layout_of(DESIGN)
    is_offer = rows.use_case_codes == USE_CASES.index("counter_offer")
    return np.where(is_offer, rows.known_amounts, np.nan)
