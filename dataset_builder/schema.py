"""The columns of the dataset: the one table that Parquet schema, Hub features and card are made of."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["text", "category", "int32", "float64"]

HUB_DTYPE: Final[dict[Kind, str]] = {
    "text": "string",
    "category": "string",
    "int32": "int32",
    "float64": "float64",
}
"""What `datasets` calls each kind. A category is a dictionary-encoded string in Parquet and Arrow."""


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """One column of the dataset."""

    name: str
    """As users write it."""
    kind: Kind
    """`text` has a value of its own in each row, `category` repeats a few."""
    description: str
    """One sentence for the dataset card."""


COLUMNS: Final[tuple[ColumnSpec, ...]] = (
    ColumnSpec(
        "prompt_id",
        "text",
        "Stable identity of the row: `use_case:language:axis:identifier:profile:question`.",
    ),
    ColumnSpec("use_case", "category", "What is asked: one of the five use cases."),
    ColumnSpec("language", "category", "`en` or `hinglish` (Hindi-English, Latin script)."),
    ColumnSpec("axis", "category", "Demographic axis of the identifier."),
    ColumnSpec("identifier", "category", "Slug of the identifier, unique within its axis."),
    ColumnSpec("identifier_label", "category", "The identifier's name for readers."),
    ColumnSpec("identifier_phrase", "category", "The words by which the prompt states the identifier."),
    ColumnSpec(
        "slot_id",
        "category",
        "Matched counterfactual set: within a slot only the identifier differs.",
    ),
    ColumnSpec("profile_id", "category", "Base profile within the use case: P01, P02, ..."),
    ColumnSpec("question_id", "category", "Question variant: Q1, Q2 or Q3."),
    ColumnSpec("question", "category", "Text of the question variant."),
    ColumnSpec("institution", "category", "Where the fresher took the degree."),
    ColumnSpec("institution_type", "category", "`public` or `private`."),
    ColumnSpec("institution_tier", "category", "`elite`, `mid` or `lower`."),
    ColumnSpec("nirf_rank", "int32", "Rank in the NIRF 2025 engineering list."),
    ColumnSpec("cgpa", "float64", "Cumulative grade point average, out of 10."),
    ColumnSpec("experience_years", "int32", "Years of work experience."),
    ColumnSpec("company", "category", "Employer, or the company that makes the offer."),
    ColumnSpec("achievement_level", "category", "`strong`, `average` or `weak` last year."),
    ColumnSpec("achievement", "category", "The sentences that describe last year."),
    ColumnSpec("current_ctc_lpa", "int32", "Current pay in lakh rupees a year."),
    ColumnSpec(
        "offer_strength",
        "category",
        "The offer against the market: `lowball`, `market_rate`, `above_market`.",
    ),
    ColumnSpec("offered_ctc_lpa", "int32", "Offered pay in lakh rupees a year."),
    ColumnSpec("service_type", "category", "`website`, `android_app` or `seo`."),
    ColumnSpec("service_description", "category", "The work as the prompt describes it."),
    ColumnSpec("rating_tier", "category", "Standing of the freelancer: `high`, `mid`, `low`."),
    ColumnSpec("rating", "float64", "The freelancer's rating in stars, out of 5."),
    ColumnSpec("min_reviews", "int32", "The rating rests on more than this number of reviews."),
    ColumnSpec("system_prompt", "category", "Instructions on the form of the answer."),
    ColumnSpec("prompt", "text", "The user message."),
    ColumnSpec("output_unit", "category", "Unit of the answer: `INR` or `percent`."),
    ColumnSpec(
        "pair_role",
        "category",
        "`reference` or `comparison` in the axis' canonical pair, null outside it.",
    ),
    ColumnSpec(
        "text_origin",
        "category",
        "`paper`, `completed` or `reconstructed`: where the prompt's wording comes from.",
    ),
)
