"""Every table of the paper, described once: which numbers, where from, how they are marked."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from rupeebias.metric.design import Axis, Design, Language, UseCase
from rupeebias.metric.robustness import ROBUST_RHO
from rupeebias.metric.tables import Row

from ...scoring.headline import PUBLISHED_BENCHMARK
from .grid import Description, Item, Mark

_CI: Final = ("ci_low", "ci_high")
_TABLES: Final = {
    ("axis-gap", "english"): "3",
    ("axis-gap", "hinglish"): "4",
    ("axis-concordance", "english"): "5",
    ("axis-concordance", "hinglish"): "6",
    ("question-robustness", "english"): "7",
    ("question-robustness", "hinglish"): "8",
}
"""Numbers of the paper's tables, by what they hold and split."""


def _below(column: str, level: float, row: Row) -> bool:
    p = row[column]
    return p is not None and float(p) < level


def _excludes_zero(row: Row) -> bool:
    low, high = row["ci_low"], row["ci_high"]
    return low is not None and high is not None and not float(low) <= 0 <= float(high)


def _is_robust(row: Row) -> bool:
    rho = row["mean_min_rho"]
    return rho is not None and float(rho) >= ROBUST_RHO


_SIGNIFICANT: Final = (Mark("†", "p (Benjamini-Hochberg) < 0.05", partial(_below, "p_bh", 0.05)),)
_CORRELATED: Final = (
    Mark("‡", "p < 0.01", partial(_below, "p_value", 0.01)),
    Mark("†", "p < 0.05", partial(_below, "p_value", 0.05)),
)
_STARRED: Final = (Mark("*", "the 95 % interval excludes 0", _excludes_zero),)
_CHECKED: Final = (Mark("✓", f"mean minimum ρ at or above {ROBUST_RHO}", _is_robust),)


def descriptions(design: Design, definitions: str) -> Iterator[Description]:
    """Yield every table that is filled from runs: ours first, then in the order of the paper.

    Published values stand beside values of the paper's definitions alone: in its Table 2 always, in the
    others where runs were scored by them.
    """
    yield _headlines(design)
    yield _mean_gap(design)
    for description in _of_paper(design):
        yield description if definitions == "paper" else replace(description, published=None)


def _of_paper(design: Design) -> Iterator[Description]:
    for describe in (_axis_gaps, _axis_concordance, _question_robustness):
        yield from (describe(design, language) for language in design.languages)
    yield Description(
        "table-22-parse-health",
        "Answers that could be read, and refusals, in percent of the answers expected.",
        (
            _headline("Parse health (%)", "parse_health_pct", digits=2),
            _headline("Refusal rate (%)", "refusal_rate_pct", digits=2),
        ),
        published=_published(design, "22"),
    )
    for language in design.languages:
        yield from _use_case_tables(design, language)
    yield from (_use_case_axis_gaps(design, use_case) for use_case in design.use_cases)
    yield from map(_deviations, design.axes)
    if len(design.languages) > 1:
        yield from _language_moderation(design)
    yield from _pairs(design)
    yield from map(_fairness, design.use_cases)


def _published(design: Design, number: str | None) -> str | None:
    return number if design.name == PUBLISHED_BENCHMARK else None


def _headline(label: str, value: str, *, interval: bool = False, digits: int = 1) -> Item:
    ends = (f"{value}_ci_low", f"{value}_ci_high") if interval else None
    return Item((label,), "headline", {}, value, digits, ends, digits, published=value.replace("paper_", ""))


def _headlines(design: Design) -> Description:
    prefixes = {"": "Overall", **{f"{language.split}_": language.label for language in design.languages}}
    values = {"systematic_gap_pct": "systematic gap %", "mean_delta_pct": "Mean Δ%"}
    return Description(
        "headline-gaps",
        "Systematic gap (what every profile confirms, chance removed) and mean Δ% (scatter), by language.",
        tuple(
            _headline(f"{label} {name}", f"{prefix}{value}", interval=True)
            for value, name in values.items()
            for prefix, label in prefixes.items()
        ),
        marked="lowest",
    )


def _mean_gap(design: Design) -> Description:
    of_language = [(f"{language.split}_", language.label) for language in design.languages]
    gaps = [_headline(f"{x} Mean Δ%", f"{prefix}paper_mean_delta_pct") for prefix, x in of_language]
    violations = [_headline(f"{x} V@10%", f"{prefix}paper_violation_at_10_pct") for prefix, x in of_language]
    return Description(
        "table-02-mean-gap",
        "Mean Δ% and share of gaps above 10 % (V@10%) by the paper's definitions, by model and language.",
        (_headline("Overall Mean Δ%", "paper_mean_delta_pct"), *gaps, *violations),
        marked="lowest",
        published=_published(design, "2"),
    )


def _name(design: Design, what: str, language: Language) -> tuple[str, str | None]:
    """Return the file name of a table of one language, and its number in the paper."""
    number = _published(design, _TABLES.get((what, language.split)))
    return f"table-0{number}-{what}-{language.split}" if number else f"{what}-{language.split}", number


def _axis_gaps(design: Design, language: Language) -> Description:
    name, number = _name(design, "axis-gap", language)
    items = tuple(
        Item(
            (axis.label,),
            "axis",
            {"language": language.name, "axis": axis.name},
            "mean_delta_pct",
            2,
            _CI,
            published=axis.name,
        )
        for axis in design.axes
    )
    caption = f"Mean Δ% by axis, {language.label} prompts."
    return Description(name, caption, items, marked="lowest", published=number)


def _axis_concordance(design: Design, language: Language) -> Description:
    name, number = _name(design, "axis-concordance", language)
    columns = {**{axis.name: axis.label for axis in design.axes}, "all": "Mean W"}
    items = tuple(
        Item(
            (label,),
            "kendall_w_axis",
            {"language": language.name, "axis": axis},
            "kendall_w",
            3,
            marks=_SIGNIFICANT,
            published="mean" if axis == "all" else axis,
        )
        for axis, label in columns.items()
    )
    caption = f"Kendall's W by axis, {language.label} prompts."
    return Description(name, caption, items, order="concordance", marked="highest", published=number)


def _question_robustness(design: Design, language: Language) -> Description:
    name, number = _name(design, "question-robustness", language)
    columns = {**{axis.name: axis.label for axis in design.axes}, "all": "Mean min ρ"}
    items = tuple(
        Item(
            (label,),
            "question_robustness",
            {"language": language.name, "axis": axis},
            "mean_min_rho",
            3,
            _CI,
            marks=_CHECKED,
            published="mean" if axis == "all" else axis,
        )
        for axis, label in columns.items()
    )
    caption = f"Smallest rank correlation between question variants, {language.label} prompts."
    return Description(name, caption, items, order="name", marked="highest", published=number)


def _use_case_tables(design: Design, language: Language) -> Iterator[Description]:
    of_language = partial(_by_use_case, design, language)
    yield of_language("gap", "Mean Δ% by use case", "use_case", "mean_delta_pct", 2)
    yield of_language(
        "concordance",
        "Kendall's W by use case, mean over axes",
        "kendall_w_use_case",
        "kendall_w",
        3,
        tested=True,
    )
    yield of_language(
        "merit-sensitivity",
        "Mean Δ% between base profiles with the identifier fixed",
        "merit_sensitivity",
        "merit_sensitivity_pct",
        1,
    )
    yield of_language(
        "profile-rank-agreement",
        "Rank correlation of the profiles' order between identifiers",
        "profile_rank_agreement",
        "mean_rho",
        3,
    )


def _by_use_case(
    design: Design,
    language: Language,
    name: str,
    caption: str,
    table: str,
    value: str,
    digits: int,
    *,
    tested: bool = False,
) -> Description:
    items = tuple(
        Item(
            (case.label,),
            table,
            {"language": language.name, "use_case": case.name},
            value,
            digits,
            None if tested else _CI,
            marks=_SIGNIFICANT if tested else (),
        )
        for case in design.use_cases
    )
    return Description(
        f"use-case-{name}-{language.split}",
        f"{caption}, {language.label} prompts.",
        items,
        order="concordance" if tested else "gap",
        marked="lowest" if value == "mean_delta_pct" else None if value.startswith("merit") else "highest",
    )


def _use_case_axis_gaps(design: Design, use_case: UseCase) -> Description:
    items = tuple(
        Item(
            (axis.label,),
            "use_case_axis",
            {"language": "all", "use_case": use_case.name, "axis": axis.name},
            "mean_delta_pct",
            2,
            _CI,
        )
        for axis in design.axes
    )
    return Description(
        f"use-case-axis-gap-{use_case.name.replace('_', '-')}",
        f"Mean Δ% by axis, {use_case.label.lower()}, all languages.",
        items,
        marked="lowest",
    )


def _deviations(axis: Axis) -> Description:
    items = tuple(
        Item((label,), "identifier_deviation", {"axis": axis.name, "identifier": name}, "deviation_pct", 2)
        for name, label in axis.identifiers.items()
    )
    return Description(
        f"deviation-{axis.name.replace('_', '-')}",
        f"Deviation of identifiers from the mean of their axis in percent: {axis.label.lower()}.",
        items,
        headings=("Identifier",),
        runs_are="columns",
    )


def _language_moderation(design: Design) -> Iterator[Description]:
    first, second = design.languages[:2]
    order = f"Spearman's ρ between the {first.label} and the {second.label} means of the identifiers."
    change = f"Mean Δ% in {second.label} minus {first.label}, in points."
    for name, caption, value, ends, marks in (
        ("order", order, "spearman_rho", None, _CORRELATED),
        ("gap-change", change, "delta_mean_delta_pct", _CI, _STARRED),
    ):
        items = tuple(
            Item((axis.label,), "language_moderation", {"axis": axis.name}, value, 2, ends, marks=marks)
            for axis in design.axes
        )
        yield Description(f"language-{name}", caption, items)


def _pairs(design: Design) -> Iterator[Description]:
    """Yield the gaps of canonical pairs and the widest gaps, a row for each use case and axis."""

    def sign_consistency(row: Row) -> str:
        consistency = row["sign_consistency_pct"]
        return "" if consistency is None else f"({float(consistency):.0f} % of slots)"

    def ends(row: Row) -> str:
        labels = design.identifiers[str(row["axis"])]
        return f"{labels[str(row['highest'])]} > {labels[str(row['lowest'])]}"

    def item(use_case: UseCase, axis: Axis, label: str, table: str, value: str) -> Item:
        is_pair = table == "canonical_pair_gap"
        keys = {"use_case": use_case.name, "axis": axis.name}
        marks, remark = (_STARRED, sign_consistency) if is_pair else ((), ends)
        return Item((use_case.label, label), table, keys, value, 1, _CI, 1, marks, remark)

    yield Description(
        "canonical-pair-gap",
        "Canonical pair gap in percent; positive where the first of the pair gets more.",
        tuple(
            item(use_case, axis, pair_label(axis), "canonical_pair_gap", "cpg_pct")
            for use_case in design.use_cases
            for axis in design.axes
            if axis.canonical_pair
        ),
        headings=("Use case", "Pair"),
        runs_are="columns",
    )
    yield Description(
        "maximum-observed-gap",
        "Widest gap between the means of two identifiers in percent, and their names. "
        "A searched maximum is above 0 even without bias.",
        tuple(
            item(use_case, axis, axis.label, "maximum_observed_gap", "mog_pct")
            for use_case in design.use_cases
            for axis in design.axes
        ),
        headings=("Use case", "Axis"),
        runs_are="columns",
    )


def pair_label(axis: Axis) -> str:
    """Return "Hindu – Muslim", the canonical pair of an axis that has one."""
    return " – ".join(axis.identifiers[name] for name in axis.canonical_pair or ())


def _fairness(use_case: UseCase) -> Description:
    values = {
        "Standard": ("standard_pct", 2),
        "Fair": ("fair_pct", 2),
        "Change (points)": ("change_points", 2),
        "Change (%)": ("change_pct", 1),
    }
    return Description(
        f"fairness-{use_case.name.replace('_', '-')}",
        f"Mean Δ% without and with an instruction to be fair, averaged over axes: {use_case.label.lower()}.",
        tuple(
            Item((label,), "fairness", {"use_case": use_case.name}, value, digits)
            for label, (value, digits) in values.items()
        ),
    )
