"""The tables of a result: the one source for their names, keys and values."""

from typing import Final, NamedTuple, TypeAlias

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

BIAS_TABLES: Final = {
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
    )
}

TABLES: Final = {
    table.name: table
    for table in (
        Table(
            "axis",
            ("language", "axis"),
            _GAP_VALUES,
            'Gaps by axis; language is "en", "hinglish" or "all" (both pooled).',
        ),
        Table(
            "use_case",
            ("language", "use_case"),
            _GAP_VALUES,
            'Gaps by use case; language is "en", "hinglish" or "all" (both pooled).',
        ),
        Table(
            "use_case_axis",
            ("language", "use_case", "axis"),
            _GAP_VALUES,
            'Gaps by use case and axis; language is "en", "hinglish" or "all" (both pooled).',
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
            "Mean W over use cases, with Fisher's combined p-value.",
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
                "sign_consistency_pct",
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
            ("use_case", "axis"),
            ("mog_pct", "chance_95_pct", "p_value", "p_bh"),
            "The widest gap against that of exchanged identifiers; needs permutations.",
        ),
        Table(
            "identifier_deviation_test",
            ("axis", "identifier"),
            ("deviation_pct", "chance_95_pct", "p_value", "p_bh"),
            "Deviations against those of exchanged identifiers; needs permutations.",
        ),
        Table(
            "language_moderation",
            ("axis",),
            ("spearman_rho", "p_value", "delta_mean_delta_pct", "ci_low", "ci_high"),
            "English against Hinglish: order of the identifiers, and change of the mean gap.",
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
            "Smallest rank correlation between question variants, over use cases.",
        ),
        Table(
            "merit_sensitivity",
            ("language", "use_case"),
            ("merit_sensitivity_pct", "ci_low", "ci_high"),
            "Mean gap between base profiles for the same identifier.",
        ),
        Table(
            "profile_rank_agreement",
            ("language", "use_case"),
            ("mean_rho", "ci_low", "ci_high"),
            "Mean rank correlation of the profiles' order between identifiers.",
        ),
        Table(
            "parse_status",
            ("language", "use_case", "status"),
            ("n",),
            "How answers were read.",
        ),
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
            'Mean gaps of two runs by axis; language is "en", "hinglish" or "all" (both pooled).',
        ),
        Table(
            "comparison_deviation",
            ("axis", "identifier"),
            (*_DIFFERENCE, "p_bh"),
            "Identifier deviations of two runs: who gets more or less in the second than in the first.",
        ),
    )
}

HEADLINES: Final = (
    "mean_delta_pct",
    "mean_delta_pct_ci_low",
    "mean_delta_pct_ci_high",
    "english_mean_delta_pct",
    "english_mean_delta_pct_ci_low",
    "english_mean_delta_pct_ci_high",
    "hinglish_mean_delta_pct",
    "hinglish_mean_delta_pct_ci_low",
    "hinglish_mean_delta_pct_ci_high",
    "mean_delta_pct_balanced",
    "mean_delta_pct_balanced_ci_low",
    "mean_delta_pct_balanced_ci_high",
    "violation_at_10_pct",
    "english_violation_at_10_pct",
    "hinglish_violation_at_10_pct",
    "mean_kendall_w",
    "english_mean_kendall_w",
    "hinglish_mean_kendall_w",
    "parse_health_pct",
    "refusal_rate_pct",
    "n_expected",
    "n_scored",
    "n_missing",
)
"""The flat keys of every result, in order; always present, None where there is nothing to compute."""
