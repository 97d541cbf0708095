"""What the templates say: every number and word of the page that depends on the runs."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from rupeebias.metric import fairness_effect
from rupeebias.metric.constants import BENCHMARK_VERSION, DATASET_FINGERPRINT
from rupeebias.metric.layout import N_PROMPTS
from rupeebias.metric.published import PUBLISHED
from rupeebias.metric.version import METRIC_VERSION

from ... import __version__, release
from ...scoring.headline import published_cells
from ..data import Answers, ReportRun
from . import quality
from .answers import repeats_shown
from .findings import Finding, finding, ranked
from .text import number, with_interval

CITATION: Final = """@misc{rupeebias2026,
  title  = {RupeeBias: Auditing Demographic Bias in Indian Economic Guidance from Large Language Models},
  author = {Nair, Pavithra P M and Talaviya, Bhavik and Bhushan, Shourya and Pankajakshan, Rahul and
            Guruvadoo, Seema and Agarwal, Avinash and Gressel, Gilad and Achuthan, Krishnashree},
  year   = {2026}
}"""


@dataclass(frozen=True, slots=True)
class HeadlineRow:
    """One line of the headline table."""

    name: str
    """Model or run: hostile text."""
    ours: bool
    """False for a published model."""
    partial: bool
    """Whether the run covers a part of the benchmark."""
    mean: float | None
    low: float | None
    high: float | None
    cells: tuple[str, ...]
    """All numbers after the name."""


def page_context(runs: Sequence[ReportRun]) -> dict[str, Any]:
    """Return what the templates need, but for what is embedded."""
    findings = [finding(run) for run in runs]
    results = [run.result for run in runs]
    headline = headline_rows(runs)
    return {
        "title": runs[0].name if len(runs) == 1 else f"{len(runs)} runs",
        "findings": findings,
        "ranked": ranked(findings),
        "widest": _widest(findings),
        "n_prompts": _common_prompts(findings),
        "partial": _partial(runs),
        "fairness": fairness_effects(runs),
        "unheard": _unheard(runs),
        "hidden_repeats": [
            (found.run, repeats_shown(found.n_repeats, len(runs)), found.n_repeats)
            for found in findings
            if repeats_shown(found.n_repeats, len(runs)) < found.n_repeats
        ],
        "headline": headline,
        "scale": _scale(row.high or row.mean for row in headline),
        "findings_scale": _scale(found.high or found.mean for found in findings),
        "statuses": quality.statuses_seen(results),
        "status_labels": quality.STATUS_LABELS,
        "qualities": [_quality(run) for run in runs],
        "provenance": [{"name": run.name, "facts": list(_facts(run))} for run in runs],
        "citation": CITATION,
        "version": __version__,
        "metric_version": METRIC_VERSION,
        "benchmark_version": BENCHMARK_VERSION,
        "fingerprint": DATASET_FINGERPRINT,
        **{
            key: results[0]["settings"][key]
            for key in ("threshold", "outcome", "ci", "n_resamples", "w_blocks")
        },
    }


def _scale(ends: Iterable[float | None]) -> float:
    """Return the end of an axis from 0 that holds all bars and intervals."""
    return max((end or 0.0 for end in ends), default=0.0) * 1.02 or 1.0


def _widest(findings: Sequence[Finding]) -> Finding | None:
    """Return the run with the largest gap, among those with a lasting order of the identifiers."""
    found = [x for x in findings if x.order == "lasting" and x.largest]
    return max(found, key=lambda x: x.largest.pct if x.largest else 0.0, default=None)


def _common_prompts(findings: Sequence[Finding]) -> int | None:
    sizes = {found.n_prompts for found in findings}
    return sizes.pop() if len(sizes) == 1 else None


def _covers_all(run: ReportRun) -> bool:
    return bool(len(set(run.answers.prompt_ids)) == N_PROMPTS)


def _partial(runs: Sequence[ReportRun]) -> list[str]:
    """Return what each incomplete run covers, once for runs that cover the same."""
    notes: dict[str, list[str]] = {}
    for run in runs:
        if not _covers_all(run):
            selection = run.manifest.identity.selection.describe() if run.manifest else "unknown selection"
            covered = f"{len(set(run.answers.prompt_ids)):,} of {N_PROMPTS:,} prompts ({selection})"
            notes.setdefault(covered, []).append(run.name)
    if len(runs) == 1:
        return list(notes)
    return [f"{', '.join(names)}: {covered}" for covered, names in notes.items()]


def headline_rows(runs: Sequence[ReportRun]) -> list[HeadlineRow]:
    """Return the runs and the published models, smallest mean gap first, runs without one last."""
    rows = [_own_row(run) for run in runs]
    threshold = runs[0].result["settings"]["threshold"]
    for model in PUBLISHED:
        cells = (*published_cells(model, threshold)[1:6], "", "")
        rows.append(HeadlineRow(model.model, False, False, model.mean_delta_pct, None, None, cells))
    return sorted(rows, key=lambda row: float("inf") if row.mean is None else row.mean)


def _own_row(run: ReportRun) -> HeadlineRow:
    result = run.result
    gaps = [
        tuple(result[f"{language}mean_delta_pct{end}"] for end in ("", "_ci_low", "_ci_high"))
        for language in ("", "english_", "hinglish_")
    ]
    cells = (
        *(with_interval(*gap) for gap in gaps),
        number(result["english_violation_at_10_pct"]),
        number(result["hinglish_violation_at_10_pct"]),
        number(result["mean_kendall_w"], 3),
        f"{number(result['parse_health_pct'])} %",
    )
    mean, low, high = gaps[0]
    return HeadlineRow(run.name, True, not _covers_all(run), mean, low, high, cells)


@dataclass(frozen=True, slots=True)
class NamedEffect:
    """What the instruction to be fair changes for one model."""

    model: str
    """Hostile text."""
    standard_pct: float
    fair_pct: float


def fairness_effects(runs: Sequence[ReportRun]) -> list[NamedEffect]:
    """Return the effect for each fairness run whose model has one standard run on the same prompts.

    A simulated respondent has none: see `_unheard`.
    """
    effects = []
    for fair in (run for run in runs if run.arm == "fairness" and not run.ignores_arm):
        asked = set(fair.answers.prompt_ids)
        others = [run for run in runs if run.model == fair.model and run.arm == "standard"]
        same = [run for run in others if set(run.answers.prompt_ids) == asked]
        if len(same) == 1 and fair.result["tables"]["axis"] and same[0].result["tables"]["axis"]:
            effect = fairness_effect(same[0].result, fair.result)
            effects.append(NamedEffect(fair.model, effect.standard_pct, effect.fair_pct))
    return effects


def _unheard(runs: Sequence[ReportRun]) -> list[str]:
    """Return the models whose fairness arm says nothing, since they read no instruction."""
    return list(dict.fromkeys(run.model for run in runs if run.arm == "fairness" and run.ignores_arm))


def _quality(run: ReportRun) -> dict[str, Any]:
    result = run.result
    by_identifier = quality.by_identifier(result)
    totals = sorted({row.total for rows in by_identifier.values() for row in rows})
    return {
        "name": run.name,
        "read_pct": result["parse_health_pct"],
        "refused_pct": result["refusal_rate_pct"],
        "n_missing": result["n_missing"],
        "warnings": result["warnings"],
        "by_use_case": quality.by_use_case(result),
        "by_identifier": by_identifier,
        "failures": quality.failures(result),
        "has_failures": result["n_scored"] < result["n_expected"],
        "per_identifier": f"{totals[0]:,}" if len(totals) == 1 else f"{totals[0]:,} to {totals[-1]:,}",
    }


def _facts(run: ReportRun) -> Iterator[tuple[str, str]]:
    """Yield what identifies a run and its answers."""
    yield "Run", run.path.name
    yield "Answers, SHA-256", answers_fingerprint(run.answers)
    if run.manifest:
        identity = run.manifest.identity
        yield "Model", identity.model
        yield "Provider", identity.provider
        yield "Model served, as told", ", ".join(run.manifest.response_models) or "not told"
        yield "System prompt arm", identity.arm
        yield "Selection", identity.selection.describe()
        done = "Imported" if identity.dataset_fingerprint == release.FINGERPRINT else "Asked"
        yield done, f"{run.manifest.created_at} to {run.manifest.updated_at}"
        yield "Dataset fingerprint", _dataset(identity.dataset_fingerprint)
        yield "Settings", _json(identity.settings)
        yield "Software", _json(run.manifest.versions)
    yield "Scoring", _json(run.result["settings"])


def _dataset(fingerprint: str) -> str:
    if fingerprint == DATASET_FINGERPRINT:
        return fingerprint
    return f"{fingerprint}: not the installed dataset, whose prompts the explorer shows"


def _json(value: Any) -> str:
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return text.replace(',"', ', "')


def answers_fingerprint(answers: Answers) -> str:
    """Return a hash of all (prompt_id, repeat, text), whatever their order."""
    rows = sorted(zip(answers.prompt_ids, answers.repeats, answers.texts, strict=True), key=_place)
    lines = (
        "\0".join((prompt_id, str(repeat), text or ("\0" if text is None else "")))
        for prompt_id, repeat, text in rows
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _place(answer: tuple[str, int, str | None]) -> tuple[str, int]:
    return answer[:2]
