"""The tables of a result: the one source for their names, keys and values."""

import math
from typing import Final, NamedTuple, TypeAlias

from .benchmark import DESIGN
from .design import Design

Cell: TypeAlias = str | float | int | bool | None
Row: TypeAlias = dict[str, Cell]


class Table(NamedTuple):
    """One table: a row for each combination of keys that the run covers."""

    name: str
    keys: tuple[str, ...]
    """Columns that identify a row."""
    values: tuple[str, ...]
    """Columns that hold its numbers; None where a number cannot be computed."""
    about: str
    """What a row says."""

    def row(self, keys: tuple[Cell, ...], *values: Cell) -> Row:
        """Return a row, checked to have exactly this table's columns."""
        return dict(zip(self.keys + self.values, keys + values, strict=True))


_GAP_VALUES = ("mean_delta_pct", "ci_low", "ci_high", "violation_at_10_pct", "n_pairs")
_TEST_VALUES = ("largest", "chance_95_pct", "p_value", "p_bh")
_EITHER = 'language is also "all" (all pooled).'

TABLES: Final = {
    table.name: table
    for table in (
        Table(
            "systematic_gap",
            ("language", "use_case", "axis"),
            (
                "systematic_gap_pct",
                "systematic_gap_squared",
                "ci_low",
                "ci_high",
                "scatter_gap_pct",
                "p_value",
                "p_bh",
                "n_profiles",
            ),
            'How far two groups lie apart in every profile, chance removed; each key is also "all".',
        ),
        Table(
            "group_effect",
            ("language", "use_case", "axis", "identifier"),
            ("effect_pct", "ci_low", "ci_high", "confirmed_pct"),
            "What a group gets beyond the mean of its axis; intervals hold for the whole axis at once.",
        ),
        Table(
            "group_range",
            ("language", "axis"),
            ("fair_within_pct", "impact_ratio", "ci_low", "ci_high", "lowest", "highest"),
            "No two groups differ by more than fair_within_pct; lowest over highest group, with interval.",
        ),
        Table(
            "control_gap",
            ("control", "language"),
            (
                "mean_delta_pct",
                "mean_delta_pct_ci_low",
                "mean_delta_pct_ci_high",
                "systematic_gap_pct",
                "systematic_gap_squared_ci_low",
                "systematic_gap_squared_ci_high",
                "n_pairs",
            ),
            "Gaps between facts or wordings that should not matter; needs control answers.",
        ),
        Table(
            "excess_over_control",
            ("axis", "control", "language"),
            (
                "identity_mean_delta_pct",
                "control_mean_delta_pct",
                "excess_mean_delta_pct",
                "excess_mean_delta_pct_ci_low",
                "excess_mean_delta_pct_ci_high",
                "identity_systematic_squared",
                "control_systematic_squared",
                "excess_systematic_squared",
                "excess_systematic_squared_ci_low",
                "excess_systematic_squared_ci_high",
                "p_value",
            ),
            "Gaps of identities beyond those of a control, on the prompts that both have.",
        ),
        Table(
            "magnitude_slips",
            ("axis", "identifier"),
            ("n", "share_pct", "p_value", "p_bh"),
            "Amounts with a zero too many or too few, suspected; tested as failures are.",
        ),
        Table(
            "sensitivity",
            ("choice", "language"),
            ("mean_delta_pct", "systematic_gap_pct"),
            "The headlines under other choices than ours.",
        ),
        Table(
            "worst_case",
            ("axis", "language"),
            ("systematic_gap_pct", "mean_delta_pct", "identifiers"),
            "Gaps if answers that uneven groups lack were the slot's lowest, or highest: the worse of both.",
        ),
        Table(
            "completeness",
            ("what",),
            ("n_used", "n_expected", "missing"),
            "Identifiers, profiles, questions and languages of what is covered; who is missing altogether.",
        ),
        Table("axis", ("language", "axis"), _GAP_VALUES, f"Gaps by axis; {_EITHER}"),
        Table("use_case", ("language", "use_case"), _GAP_VALUES, f"Gaps by use case; {_EITHER}"),
        Table(
            "use_case_axis",
            ("language", "use_case", "axis"),
            _GAP_VALUES,
            f"Gaps by use case and axis; {_EITHER}",
        ),
        Table(
            "kendall_w",
            ("language", "use_case", "axis"),
            ("kendall_w", "chi2", "p_value", "p_bh", "n_blocks", "n_identifiers"),
            "Concordance of the identifiers' ranks over profiles.",
        ),
        Table(
            "kendall_w_axis",
            ("language", "axis"),
            ("kendall_w", "p_value", "p_bh"),
            'Mean W over use cases, with Fisher\'s combined p-value; axis is also "all" (mean over axes).',
        ),
        Table(
            "kendall_w_use_case",
            ("language", "use_case"),
            ("kendall_w", "p_value", "p_bh"),
            "Mean W over axes, with Fisher's combined p-value.",
        ),
        Table(
            "identifier_deviation",
            ("axis", "identifier"),
            ("deviation_pct",),
            "How far an identifier lies from its axis, over use cases and languages.",
        ),
        Table(
            "canonical_pair_gap",
            ("use_case", "axis"),
            (
                "reference",
                "comparison",
                "cpg_pct",
                "ci_low",
                "ci_high",
                "fair_within_pct",
                "sign_consistency_pct",
                "ties_pct",
                "n_slots",
            ),
            "Signed gap of a canonical pair; positive = the reference gets more.",
        ),
        Table(
            "maximum_observed_gap",
            ("use_case", "axis"),
            ("highest", "lowest", "mog_pct", "ci_low", "ci_high"),
            "The widest gap of identifier means: a searched maximum, above 0 even without bias.",
        ),
        Table(
            "maximum_observed_gap_test",
            ("axis",),
            _TEST_VALUES,
            "The widest gap of an axis against that of exchanged identifiers; needs permutations.",
        ),
        Table(
            "identifier_deviation_test",
            ("axis",),
            _TEST_VALUES,
            "The largest deviation of an axis against that of exchanged identifiers; needs permutations.",
        ),
        Table(
            "language_moderation",
            ("axis",),
            (
                "spearman_rho",
                "p_value",
                "spearman_rho_normalised",
                "delta_mean_delta_pct",
                "ci_low",
                "ci_high",
            ),
            "First against second language: order of the identifiers, and change of the mean gap.",
        ),
        Table(
            "noise_floor",
            ("language",),
            ("noise_floor_pct", "excess_pct", "ci_low", "ci_high", "p_value", "n_pairs"),
            "Mean gap between answers to one prompt, and what the mean gap has beyond it; needs repeats.",
        ),
        Table(
            "question_robustness",
            ("language", "axis"),
            ("mean_min_rho", "ci_low", "ci_high"),
            'Smallest rank correlation between question variants, over use cases; axis is also "all".',
        ),
        Table(
            "merit_sensitivity",
            ("language", "use_case"),
            ("merit_sensitivity_pct", "ci_low", "ci_high"),
            "Mean gap between base profiles for the same identifier; random answers have one too.",
        ),
        Table(
            "responsiveness",
            ("language", "use_case"),
            ("responsiveness_pct", "ci_low", "ci_high"),
            "Mean gap between base profiles' means over all identifiers: whether answers follow them.",
        ),
        Table(
            "profile_rank_agreement",
            ("language", "use_case"),
            ("mean_rho", "ci_low", "ci_high"),
            "Mean rank correlation of the profiles' order between identifiers.",
        ),
        Table("parse_status", ("language", "use_case", "status"), ("n",), "How answers were read."),
        Table(
            "parse_status_identifier",
            ("axis", "identifier", "status"),
            ("n",),
            "How answers were read, by identifier: failures of one group are a finding too.",
        ),
        Table(
            "differential_failure",
            ("axis", "identifier"),
            ("n_failed", "n_expected", "failed_pct", "axis_failed_pct", "p_value", "p_bh"),
            "Answers without a value by identifier, tested by permuting identifiers within profiles.",
        ),
    )
}

_DIFFERENCE = ("first", "second", "difference", "ci_low", "ci_high", "p_value")

COMPARISON_TABLES: Final = {
    table.name: table
    for table in (
        Table(
            "comparison",
            ("statistic",),
            _DIFFERENCE,
            "Headline statistics of two runs on the answers that both have; difference = second - first.",
        ),
        Table(
            "comparison_axis",
            ("language", "axis"),
            (*_DIFFERENCE, "p_bh"),
            f"Mean gaps of two runs by axis; {_EITHER}",
        ),
        Table(
            "comparison_systematic_gap",
            ("language", "axis"),
            (*_DIFFERENCE, "p_bh"),
            f"Systematic gaps of two runs by axis, difference in points; {_EITHER}",
        ),
        Table(
            "comparison_deviation",
            ("axis", "identifier"),
            (*_DIFFERENCE, "p_bh"),
            "Identifier deviations of two runs: who gets more or less in the second than in the first.",
        ),
    )
}


class Headline(NamedTuple):
    """A flat value at the top of every result."""

    name: str
    about: str
    """What it says."""
    has_interval: bool = False
    """Whether `_ci_low` and `_ci_high` stand beside it."""
    by_language: bool = False
    """Whether it also stands there for each language, with the language's split in front."""


HEADLINE_VALUES: Final = (
    Headline(
        "systematic_gap_pct",
        "mean difference of two groups that every profile confirms, in percent; 0 = none found",
        True,
        True,
    ),
    Headline("worst_group", "axis:identifier of the largest confirmed disadvantage; None = nobody named"),
    Headline("worst_group_language", 'language in which it is confirmed; "all" = all together'),
    Headline("worst_group_confirmed_pct", "what that group gets at least less, in percent of its axis"),
    Headline("mean_delta_pct", "mean gap of all pairs, in percent; 0 = all alike", True, True),
    Headline("mean_delta_pct_balanced", "mean gap with languages, axes and use cases weighing alike", True),
    Headline("violation_at_10_pct", "share of pairs with a gap above 10 %, in percent", by_language=True),
    Headline("mean_kendall_w", "mean Kendall's W, 0 to 1; 1 = all profiles rank alike", by_language=True),
    Headline(
        "responsiveness_pct",
        "mean gap between base profiles' means; below 5 % answers do not follow qualifications",
    ),
    Headline("paper_mean_delta_pct", "mean gap by the paper's definitions", by_language=True),
    Headline("paper_violation_at_10_pct", "share of violations by the paper's definitions", by_language=True),
    Headline("paper_mean_kendall_w", "mean Kendall's W by the paper's definitions", by_language=True),
    Headline("parse_health_pct", "answers with a value, in percent of the expected"),
    Headline("refusal_rate_pct", "refusals, in percent of the expected answers"),
    Headline("n_expected", "answers that the run was to give"),
    Headline("n_scored", "answers with a value"),
    Headline("n_missing", "expected answers that were not given"),
)
"""The flat values of every result, in order."""


def prefixes(design: Design) -> dict[str, str | None]:
    """Return what stands before the name of a headline, and the language it is then of; None for all."""
    return {"": None, **{f"{language.split}_": language.name for language in design.languages}}


def headline_names(design: Design) -> tuple[str, ...]:
    """Return the flat keys of every result, in order; always present, None where there is none."""
    return tuple(
        f"{prefix}{headline.name}{end}"
        for headline in HEADLINE_VALUES
        for prefix in (prefixes(design) if headline.by_language else ("",))
        for end in (("", "_ci_low", "_ci_high") if headline.has_interval else ("",))
    )


HEADLINES: Final = headline_names(DESIGN)
"""`headline_names` of the metric's own benchmark."""


def number(value: float) -> float | None:
    """Return a number for a result: None for one that cannot be computed."""
    return None if math.isnan(value) else float(value)
