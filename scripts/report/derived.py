"""Rows over all axes that a result does not hold yet."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rupeebias.metric.concordance import benjamini_hochberg, fisher_combined
from rupeebias.metric.intervals import Intervals
from rupeebias.metric.robustness import QuestionRhos, question_robustness
from rupeebias.metric.tables import Row

if TYPE_CHECKING:
    from .runs import ReportRun, Tables


def with_derived(runs: "Sequence[ReportRun]", tables: "list[Tables]") -> "list[Tables]":
    """Return tables with the rows over all axes, p-values adjusted over all runs."""
    added = [
        {"kendall_w_axis": list(_mean_rows(run)), "kendall_w_use_case": list(_use_case_rows(run))}
        for run in runs
    ]
    for name in ("kendall_w_axis", "kendall_w_use_case"):
        family = [row for own in added for row in own[name]]
        p_values = np.array([_number(row["p_value"]) for row in family], dtype=float)
        for row, p_bh in zip(family, benjamini_hochberg(p_values), strict=True):
            row["p_bh"] = None if np.isnan(p_bh) else float(p_bh)
    return [
        {
            **own,
            "kendall_w_axis": own["kendall_w_axis"] + more["kendall_w_axis"],
            "kendall_w_use_case": more["kendall_w_use_case"],
            "question_robustness": own["question_robustness"] + list(_robustness_rows(run)),
        }
        for run, own, more in zip(runs, tables, added, strict=True)
    ]


def _mean_rows(run: "ReportRun") -> Iterable[Row]:
    for language in run.design.languages:
        rows = [row for row in run.result["tables"]["kendall_w_axis"] if row["language"] == language.name]
        if rows:
            mean = run.result[f"{language.split}_mean_kendall_w"]
            yield {"language": language.name, "axis": "all", "kendall_w": mean, "p_value": _fisher(rows)}


def _use_case_rows(run: "ReportRun") -> Iterable[Row]:
    for language in run.design.language_names:
        for use_case in run.design.use_case_names:
            rows = run.result["tables"]["kendall_w"]
            found = [row for row in rows if (row["language"], row["use_case"]) == (language, use_case)]
            defined = [float(row["kendall_w"]) for row in found if row["kendall_w"] is not None]
            if defined:
                keys = {"language": language, "use_case": use_case}
                yield {**keys, "kendall_w": float(np.mean(defined)), "p_value": _fisher(found)}


def _fisher(rows: Sequence[Row]) -> float | None:
    p = fisher_combined(np.array([_number(row["p_value"]) for row in rows], dtype=float))
    return None if np.isnan(p) else float(p)


def _robustness_rows(run: "ReportRun") -> Iterable[Row]:
    settings = run.result["settings"]
    intervals = Intervals(run.outcomes, settings["ci"], settings["n_resamples"], settings["seed"])
    rhos = QuestionRhos(run.outcomes)
    for language in run.design.language_names:
        found = question_robustness(rhos, language, run.design.axis_names, intervals)
        if found:
            ends = {"ci_low": found.interval.low, "ci_high": found.interval.high}
            yield {"language": language, "axis": "all", "mean_min_rho": found.mean_min_rho, **ends}


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)
