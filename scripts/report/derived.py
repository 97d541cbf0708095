"""Rows that the paper prints and a result does not hold: means over axes with their tests and intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, TypeAlias

import numpy as np

from rupeebias.metric import Result, fairness_effect
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.concordance import benjamini_hochberg, fisher_combined
from rupeebias.metric.constants import LANGUAGES, USE_CASES
from rupeebias.metric.layout import N_PROMPTS, prompt_rows
from rupeebias.metric.outcomes import Outcomes, outcomes_from_values
from rupeebias.metric.tables import Row

from .data import Answers, ReportRun

Tables: TypeAlias = dict[str, list[Row]]

DERIVED_TABLES: Final = ("kendall_w_mean", "kendall_w_use_case", "question_robustness_mean", "fairness")
"""kendall_w_mean (language): the headline mean W, Fisher's p over the axes. kendall_w_use_case (language,
use_case): mean W over axes, Fisher's p. Both: kendall_w, p_value, p_bh. question_robustness_mean
(language): mean over axes, mean_min_rho, ci_low, ci_high. fairness (use_case), in the standard run of a model
that has a fairness run too: standard_pct, fair_pct, change_points, change_pct."""


def report_tables(runs: Sequence[ReportRun]) -> list[Tables]:
    """Return each run's tables: those of its result, `headline` (one row) and DERIVED_TABLES.

    p-values of a derived table are adjusted (Benjamini-Hochberg) over all its rows of all runs, both
    languages together: one family is what one figure shows.
    """
    tables = [{**run.result["tables"], "headline": [run.result], **_derived(run)} for run in runs]
    for run, table in zip(runs, tables, strict=True):
        fair = _fairness_run(run, runs)
        table["fairness"] = list(_fairness_rows(run, fair)) if fair else []
    for name in ("kendall_w_mean", "kendall_w_use_case"):
        family = [row for table in tables for row in table[name]]
        p_values = np.array([_number(row["p_value"]) for row in family], dtype=float)
        for row, p_bh in zip(family, benjamini_hochberg(p_values), strict=True):
            row["p_bh"] = _known(p_bh)
    return tables


def _derived(run: ReportRun) -> Tables:
    result = run.result
    return {
        "kendall_w_mean": list(_mean_rows(result)),
        "kendall_w_use_case": list(_use_case_rows(result["tables"]["kendall_w"])),
        "question_robustness_mean": list(_robustness_rows(run)),
    }


def _mean_rows(result: Mapping[str, Any]) -> Iterable[Row]:
    for row in result["tables"]["kendall_w_axis"]:
        if row["axis"] == "all":
            yield {name: row[name] for name in ("language", "kendall_w", "p_value")}


def _use_case_rows(rows: Sequence[Row]) -> Iterable[Row]:
    for language in LANGUAGES:
        for use_case in USE_CASES:
            found = [row for row in rows if (row["language"], row["use_case"]) == (language, use_case)]
            defined = [float(row["kendall_w"]) for row in found if row["kendall_w"] is not None]
            if defined:
                mean = float(np.mean(defined))
                keys = {"language": language, "use_case": use_case}
                yield {**keys, "kendall_w": mean, "p_value": _fisher(found)}


def _fisher(rows: Sequence[Row]) -> float | None:
    return _known(fisher_combined(np.array([_number(row["p_value"]) for row in rows], dtype=float)))


def _robustness_rows(run: ReportRun) -> Iterable[Row]:
    for row in run.result["tables"]["question_robustness"]:
        if row["axis"] == "all":
            yield {name: value for name, value in row.items() if name != "axis"}


def _fairness_run(run: ReportRun, runs: Sequence[ReportRun]) -> ReportRun | None:
    """Return the fairness run of a standard run's model, asked with the same settings; None without one."""
    if run.arm != "standard" or run.manifest is None or run.ignores_arm:
        return None
    settings = run.manifest.identity.settings
    same = (other for other in runs if other.arm == "fairness" and other.model == run.model)
    return next((x for x in same if x.manifest and x.manifest.identity.settings == settings), None)


def _fairness_rows(standard: ReportRun, fair: ReportRun) -> Iterable[Row]:
    """Yield the effect in each use case in which both runs were asked the same prompts."""
    for use_case in USE_CASES:
        before, after = (_axes_of(run.result, use_case) for run in (standard, fair))
        axes = [[row["axis"] for row in result["tables"]["axis"]] for result in (before, after)]
        same = _asked(standard, use_case) == _asked(fair, use_case)
        if same and axes[0] and axes[0] == axes[1]:
            yield {"use_case": use_case, **asdict(fairness_effect(before, after))}


def _asked(run: ReportRun, use_case: str) -> set[str]:
    return {prompt_id for prompt_id in run.answers.prompt_ids if prompt_id.startswith(f"{use_case}:")}


def _axes_of(result: Result, use_case: str) -> dict[str, Any]:
    rows = result["tables"]["use_case_axis"]
    return {"tables": {"axis": [row for row in rows if row["use_case"] == use_case]}}


def answer_outcomes(answers: Answers, outcome: Any = "markup") -> Outcomes:
    """Return the outcomes of a run's answers, as `score` compares them."""
    rows = np.array([prompt_rows()[prompt_id] for prompt_id in answers.prompt_ids])
    numbers, columns = np.unique(np.array(answers.repeats, dtype=np.int64), return_inverse=True)
    dense = np.full((N_PROMPTS, len(numbers)), np.nan)
    dense[rows, columns] = [_number(value) for value in answers.values]
    return outcomes_from_values(dense, outcome, DESIGN)


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
