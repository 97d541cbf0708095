"""Every table of the paper, described once: which numbers, where from, how they are marked."""

from collections.abc import Iterator, Sequence
from typing import Final

from rupeebias.metric.constants import CANONICAL_PAIRS, IDENTIFIERS, LANGUAGES, USE_CASES
from rupeebias.metric.tables import Row

from ...words import AXIS_LABELS, LANGUAGE_LABELS, USE_CASE_LABELS, identifier_label
from .marks import CHECKED, CORRELATED, SIGNIFICANT, STARRED
from .records import Description, Extreme, Item

_CI: Final = ("ci_low", "ci_high")
_BEST_BY_USE_CASE: Final[dict[str, Extreme]] = {
    "mean_delta_pct": "lowest",
    "kendall_w": "highest",
    "mean_rho": "highest",
}
_ROBUSTNESS_ORDER: Final = ("caste", "religion", "region", "gender", "disability", "urban_rural")


def _headline(label: str, value: str, *, interval: bool = False, digits: int = 1) -> Item:
    ends = (f"{value}_ci_low", f"{value}_ci_high") if interval else None
    return Item((label,), "headline", {}, value, digits, ends, digits, published=value)


def _mean_gap() -> Description:
    return Description(
        "table-02-mean-gap",
        "Mean Δ% and share of gaps above 10 % (V@10%), by model and language.",
        (
            _headline("Overall Mean Δ%", "mean_delta_pct", interval=True),
            _headline("English Mean Δ%", "english_mean_delta_pct", interval=True),
            _headline("Hinglish Mean Δ%", "hinglish_mean_delta_pct", interval=True),
            _headline("English V@10%", "english_violation_at_10_pct"),
            _headline("Hinglish V@10%", "hinglish_violation_at_10_pct"),
        ),
        marked="lowest",
        published="2",
    )


def _axis_gaps(number: str, language: str) -> Description:
    return Description(
        f"table-0{number}-axis-gap-{LANGUAGE_LABELS[language].lower()}",
        f"Mean Δ% by axis, {LANGUAGE_LABELS[language]} prompts.",
        tuple(
            Item(
                (label,),
                "axis",
                {"language": language, "axis": axis},
                "mean_delta_pct",
                2,
                _CI,
                published=axis,
            )
            for axis, label in AXIS_LABELS.items()
        ),
        marked="lowest",
        published=number,
    )


def _axis_concordance(number: str, language: str) -> Description:
    by_axis = tuple(
        Item(
            (label,),
            "kendall_w_axis",
            {"language": language, "axis": axis},
            "kendall_w",
            3,
            marks=SIGNIFICANT,
            published=axis,
        )
        for axis, label in AXIS_LABELS.items()
    )
    mean = Item(
        ("Mean W",),
        "kendall_w_mean",
        {"language": language},
        "kendall_w",
        3,
        marks=SIGNIFICANT,
        published="mean",
    )
    return Description(
        f"table-0{number}-axis-concordance-{LANGUAGE_LABELS[language].lower()}",
        f"Kendall's W by axis, {LANGUAGE_LABELS[language]} prompts.",
        (*by_axis, mean),
        order="concordance",
        marked="highest",
        published=number,
    )


def _question_robustness(number: str, language: str) -> Description:
    by_axis = tuple(
        Item(
            (AXIS_LABELS[axis],),
            "question_robustness",
            {"language": language, "axis": axis},
            "mean_min_rho",
            3,
            _CI,
            marks=CHECKED,
            published=axis,
        )
        for axis in _ROBUSTNESS_ORDER
    )
    mean = Item(
        ("Mean min ρ",),
        "question_robustness_mean",
        {"language": language},
        "mean_min_rho",
        3,
        _CI,
        marks=CHECKED,
        published="mean",
    )
    return Description(
        f"table-0{number}-question-robustness-{LANGUAGE_LABELS[language].lower()}",
        f"Smallest rank correlation between question variants, {LANGUAGE_LABELS[language]} prompts.",
        (*by_axis, mean),
        order="name",
        marked="highest",
        published=number,
    )


def _parse_health() -> Description:
    return Description(
        "table-22-parse-health",
        "Answers that could be read, and refusals, in percent of the answers expected.",
        (
            _headline("Parse health (%)", "parse_health_pct", digits=2),
            _headline("Refusal rate (%)", "refusal_rate_pct", digits=2),
        ),
        published="22",
    )


def _by_use_case(
    language: str, name: str, caption: str, table: str, value: str, digits: int, *, tested: bool = False
) -> Description:
    word = LANGUAGE_LABELS[language]
    items = tuple(
        Item(
            (label,),
            table,
            {"language": language, "use_case": use_case},
            value,
            digits,
            None if tested else _CI,
            marks=SIGNIFICANT if tested else (),
        )
        for use_case, label in USE_CASE_LABELS.items()
    )
    return Description(
        f"use-case-{name}-{word.lower()}",
        f"{caption}, {word} prompts.",
        items,
        order="concordance" if tested else "gap",
        marked=_BEST_BY_USE_CASE.get(value),
    )


def _use_case_tables() -> Iterator[Description]:
    for language in LANGUAGES:
        yield _by_use_case(language, "gap", "Mean Δ% by use case", "use_case", "mean_delta_pct", 2)
        yield _by_use_case(
            language,
            "concordance",
            "Kendall's W by use case, mean over axes",
            "kendall_w_use_case",
            "kendall_w",
            3,
            tested=True,
        )
        yield _by_use_case(
            language,
            "merit-sensitivity",
            "Mean Δ% between base profiles with the identifier fixed",
            "merit_sensitivity",
            "merit_sensitivity_pct",
            1,
        )
        yield _by_use_case(
            language,
            "profile-rank-agreement",
            "Rank correlation of the profiles' order between identifiers",
            "profile_rank_agreement",
            "mean_rho",
            3,
        )


def _use_case_axis_gaps(use_case: str) -> Description:
    return Description(
        f"use-case-axis-gap-{use_case.replace('_', '-')}",
        f"Mean Δ% by axis, {USE_CASE_LABELS[use_case].lower()}, both languages.",
        tuple(
            Item(
                (label,),
                "use_case_axis",
                {"language": "all", "use_case": use_case, "axis": axis},
                "mean_delta_pct",
                2,
                _CI,
            )
            for axis, label in AXIS_LABELS.items()
        ),
        marked="lowest",
    )


def _deviations(axis: str) -> Description:
    return Description(
        f"deviation-{axis.replace('_', '-')}",
        f"Deviation of identifiers from the mean of their axis in percent: {AXIS_LABELS[axis].lower()}.",
        tuple(
            Item((label,), "identifier_deviation", {"axis": axis, "identifier": name}, "deviation_pct", 2)
            for name, label in IDENTIFIERS[axis].items()
        ),
        headings=("Identifier",),
        runs_are="columns",
    )


def _language_moderation(name: str, caption: str, value: str) -> Description:
    correlation = value == "spearman_rho"
    return Description(
        f"language-{name}",
        caption,
        tuple(
            Item(
                (label,),
                "language_moderation",
                {"axis": axis},
                value,
                2,
                None if correlation else _CI,
                marks=CORRELATED if correlation else STARRED,
            )
            for axis, label in AXIS_LABELS.items()
        ),
    )


def _pair_label(axis: str) -> str:
    return " – ".join(identifier_label(axis, name) for name in CANONICAL_PAIRS[axis])


def _sign_consistency(row: Row) -> str:
    consistency = row["sign_consistency_pct"]
    return "" if consistency is None else f"({float(consistency):.0f} % of slots)"


def _ends(row: Row) -> str:
    axis = str(row["axis"])
    return f"{identifier_label(axis, row['highest'])} > {identifier_label(axis, row['lowest'])}"


def _canonical_pairs() -> Description:
    return Description(
        "canonical-pair-gap",
        "Canonical pair gap in percent; positive where the first of the pair gets more.",
        tuple(
            Item(
                (USE_CASE_LABELS[use_case], _pair_label(axis)),
                "canonical_pair_gap",
                {"use_case": use_case, "axis": axis},
                "cpg_pct",
                1,
                _CI,
                1,
                STARRED,
                _sign_consistency,
            )
            for use_case in USE_CASES
            for axis in AXIS_LABELS
        ),
        headings=("Use case", "Pair"),
        runs_are="columns",
    )


def _maximum_gaps() -> Description:
    return Description(
        "maximum-observed-gap",
        "Widest gap between the means of two identifiers in percent, and their names. "
        "A searched maximum is above 0 even without bias.",
        tuple(
            Item(
                (USE_CASE_LABELS[use_case], AXIS_LABELS[axis]),
                "maximum_observed_gap",
                {"use_case": use_case, "axis": axis},
                "mog_pct",
                1,
                _CI,
                1,
                remark=_ends,
            )
            for use_case in USE_CASES
            for axis in AXIS_LABELS
        ),
        headings=("Use case", "Axis"),
        runs_are="columns",
    )


def _fairness(use_case: str) -> Description:
    values = {
        "Standard": ("standard_pct", 2),
        "Fair": ("fair_pct", 2),
        "Change (points)": ("change_points", 2),
        "Change (%)": ("change_pct", 1),
    }
    return Description(
        f"fairness-{use_case.replace('_', '-')}",
        "Mean Δ% without and with an instruction to be fair, averaged over axes: "
        f"{USE_CASE_LABELS[use_case].lower()}.",
        tuple(
            Item((label,), "fairness", {"use_case": use_case}, value, digits)
            for label, (value, digits) in values.items()
        ),
    )


def descriptions() -> Sequence[Description]:
    """Return every table that is filled from runs, in the order of the paper."""
    return (
        _mean_gap(),
        _axis_gaps("3", "en"),
        _axis_gaps("4", "hinglish"),
        _axis_concordance("5", "en"),
        _axis_concordance("6", "hinglish"),
        _question_robustness("7", "en"),
        _question_robustness("8", "hinglish"),
        _parse_health(),
        *_use_case_tables(),
        *map(_use_case_axis_gaps, USE_CASES),
        *map(_deviations, AXIS_LABELS),
        _language_moderation(
            "order",
            "Spearman's ρ between the English and the Hinglish means of the identifiers.",
            "spearman_rho",
        ),
        _language_moderation(
            "gap-change", "Mean Δ% in Hinglish minus English, in points.", "delta_mean_delta_pct"
        ),
        _canonical_pairs(),
        _maximum_gaps(),
        *map(_fairness, USE_CASES),
    )
