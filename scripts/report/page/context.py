"""What the templates say: every number and word of the page that depends on the runs."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from rupeebias.metric import Result, fairness_effect
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.published import PUBLISHED
from rupeebias.metric.version import METRIC_VERSION

from ... import __version__, release
from ...scoring.findings import Finding
from ...scoring.headline import (
    PAPER_HEADLINES,
    PUBLISHED_BENCHMARK,
    finding_of,
    headline_cells,
    headline_columns,
    published_cells,
)
from ...words import number
from ..runs import Answers, ReportRun, arms
from .answers import repeats_shown
from .tables import STATUS_LABELS, by_identifier, by_use_case, failures, statuses_seen

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
    partial: bool
    """Whether the run covers a part of the benchmark."""
    value: float | None
    """Systematic gap in percent."""
    low: float | None
    high: float | None
    cells: tuple[str, ...]
    """All numbers after the name."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One line of values by the paper's definitions."""

    name: str
    ours: bool
    """False for a published model."""
    mean: float | None
    cells: tuple[str, ...]


def page_context(runs: Sequence[ReportRun]) -> dict[str, Any]:
    """Return what the templates need, but for what is embedded."""
    design = runs[0].design
    findings = [finding_of(run) for run in runs]
    results = [run.result for run in runs]
    headline = headline_rows(runs)
    return {
        "title": runs[0].name if len(runs) == 1 else f"{len(runs)} runs",
        "design": design,
        "findings": findings,
        "ranked": sorted(findings, key=_by_gap),
        "covered_axes": _covered_axes(runs),
        "n_prompts": _common_prompts(findings),
        "noise": [row | {"run": run.name} for run in runs for row in _noise(run.result)],
        "partial": _partial(runs),
        "fairness": fairness_effects(runs),
        "unheard": list(
            dict.fromkeys(run.model for run in runs if run.arm == "fairness" and run.is_simulated)
        ),
        "hidden_repeats": list(_hidden_repeats(findings, len(runs), design.n_prompts)),
        "headline": headline,
        "columns": headline_columns(runs)[1:],
        "published": published_rows(runs),
        "scale": _scale(row.high or row.value for row in headline),
        "findings_scale": _scale(row.high or row.value for row in headline),
        "statuses": statuses_seen(results),
        "status_labels": STATUS_LABELS,
        "qualities": [_quality(run) for run in runs],
        "provenance": [{"name": run.name, "facts": list(_facts(run))} for run in runs],
        "citation": CITATION,
        "version": __version__,
        "metric_version": METRIC_VERSION,
        **{
            key: results[0]["settings"][key]
            for key in ("threshold", "outcome", "ci", "n_resamples", "w_blocks", "definitions")
        },
    }


def _hidden_repeats(
    findings: Sequence[Finding], n_runs: int, n_prompts: int
) -> Iterator[tuple[str, int, int]]:
    """Yield the runs of which the page cannot show every repeat: name, repeats shown, repeats asked."""
    for found in findings:
        n_repeats = found.facts.n_repeats
        shown = repeats_shown(n_repeats, n_runs, n_prompts)
        if shown < n_repeats:
            yield found.run, shown, n_repeats


def _by_gap(found: Finding) -> float:
    return found.systematic.value if found.systematic else float("inf")


def _scale(ends: Iterable[float | None]) -> float:
    """Return the end of an axis from 0 that holds all bars and intervals."""
    return max((end or 0.0 for end in ends), default=0.0) * 1.02 or 1.0


def _covered_axes(runs: Sequence[ReportRun]) -> list[str]:
    """Return the labels of the axes that some run was asked, in lower case."""
    asked = {prompt_id.split(":")[2] for run in runs for prompt_id in run.asked}
    return [axis.label.lower() for axis in runs[0].design.axes if axis.name in asked]


def _noise(result: Result) -> list[dict[str, Any]]:
    return [row for row in result["tables"]["noise_floor"] if row["language"] == "all"]


def _common_prompts(findings: Sequence[Finding]) -> int | None:
    sizes = {found.facts.n_prompts for found in findings}
    return sizes.pop() if len(sizes) == 1 else None


def _covers_all(run: ReportRun) -> bool:
    return len(run.asked) == run.design.n_prompts


def _partial(runs: Sequence[ReportRun]) -> list[str]:
    """Return what each incomplete run covers, once for runs that cover the same."""
    notes: dict[str, list[str]] = {}
    for run in runs:
        if not _covers_all(run):
            selection = run.manifest.identity.selection.describe() if run.manifest else "unknown selection"
            covered = f"{len(run.asked):,} of {run.design.n_prompts:,} prompts ({selection})"
            notes.setdefault(covered, []).append(run.name)
    if len(runs) == 1:
        return list(notes)
    return [f"{', '.join(names)}: {covered}" for covered, names in notes.items()]


def headline_rows(runs: Sequence[ReportRun]) -> list[HeadlineRow]:
    """Return the runs, smallest systematic gap first, runs without one last."""
    rows = []
    for run in runs:
        value, low, high = (run.result[f"systematic_gap_pct{end}"] for end in ("", "_ci_low", "_ci_high"))
        rows.append(HeadlineRow(run.name, not _covers_all(run), value, low, high, headline_cells(run)[1:]))
    return sorted(rows, key=lambda row: float("inf") if row.value is None else row.value)


def published_rows(runs: Sequence[ReportRun]) -> list[PublishedRow]:
    """Return the runs by the paper's definitions and the published models, smallest mean gap first.

    Nothing was published of another benchmark, nor anything that compares with a part of this one.
    """
    own = [run for run in runs if run.design.name == PUBLISHED_BENCHMARK and _covers_all(run)]
    if not own:
        return []
    rows = []
    for run in own:
        values = [run.result[name] for name in PAPER_HEADLINES]
        rows.append(PublishedRow(run.name, True, values[0], tuple(map(number, values))))
    threshold = runs[0].result["settings"]["threshold"]
    rows += [
        PublishedRow(model.model, False, model.mean_delta_pct, published_cells(model, threshold)[1:])
        for model in PUBLISHED
    ]
    return sorted(rows, key=lambda row: float("inf") if row.mean is None else row.mean)


@dataclass(frozen=True, slots=True)
class NamedEffect:
    """What the instruction to be fair changes for one model."""

    model: str
    """Hostile text."""
    standard_pct: float
    fair_pct: float


def fairness_effects(runs: Sequence[ReportRun]) -> list[NamedEffect]:
    """Return the effect for each pair of arms that answered the same prompts."""
    effects = []
    for standard, fair in arms(runs):
        has_gaps = all(run.result["tables"]["axis"] for run in (standard, fair))
        if standard.asked == fair.asked and has_gaps:
            effect = fairness_effect(standard.result, fair.result)
            effects.append(NamedEffect(fair.model, effect.standard_pct, effect.fair_pct))
    return effects


def _quality(run: ReportRun) -> dict[str, Any]:
    result = run.result
    of_identifiers = by_identifier(result, run.design)
    totals = sorted({row.total for rows in of_identifiers.values() for row in rows})
    return {
        "name": run.name,
        "read_pct": result["parse_health_pct"],
        "refused_pct": result["refusal_rate_pct"],
        "n_missing": result["n_missing"],
        "warnings": result["warnings"],
        "by_use_case": by_use_case(result, run.design),
        "by_identifier": of_identifiers,
        "failures": failures(result, run.design),
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
        yield "Model that the server named", ", ".join(run.manifest.response_models) or "none named"
        yield "System prompt arm", identity.arm
        yield "Selection", identity.selection.describe()
        done = "Imported" if identity.dataset_fingerprint == release.FINGERPRINT else "Asked"
        yield done, f"{run.manifest.created_at} to {run.manifest.updated_at}"
        yield "Dataset fingerprint", _dataset(run)
        yield "Settings", _json(identity.settings)
        yield "Software", _json(run.manifest.versions)
    yield "Scoring", _json(run.result["settings"])


def _dataset(run: ReportRun) -> str:
    asked = str(run.outputs.dataset_fingerprint)
    if asked == DESIGN.fingerprint:
        return asked
    return f"{asked}: not the installed dataset, whose prompts the explorer shows"


def _json(value: Any) -> str:
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return text.replace(',"', ', "')


def answers_fingerprint(answers: Answers) -> str:
    """Return a hash of all (prompt_id, repeat, text), whatever their order."""
    rows = zip(answers.prompt_ids, answers.repeats, answers.texts, strict=True)
    lines = (
        "\0".join((prompt_id, str(repeat), text or ("\0" if text is None else "")))
        for prompt_id, repeat, text in sorted(rows, key=lambda row: row[:2])
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
