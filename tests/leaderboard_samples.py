"""Submissions and entries for tests of the leaderboard."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from report_runs import answer

from rupeebias.generate.manifest import PromptSet
from rupeebias.hub.leaderboard.records import Entry
from rupeebias.hub.submission.answers import Answers, write_answers
from rupeebias.hub.submission.check import default_score, run_outputs
from rupeebias.hub.submission.manifest import manifest_bytes
from rupeebias.hub.submission.records import FOLDER, MANIFEST, OUTPUTS, SCORES, SubmissionManifest
from rupeebias.metric import HEADLINES
from rupeebias.metric.design import BENCHMARK_VERSION, DATASET_FINGERPRINT
from rupeebias.metric.layout import N_PROMPTS
from rupeebias.metric.version import METRIC_VERSION
from rupeebias.selection import Selection, expected_prompt_ids

SMALL = Selection.parse(use_cases=["salary_increment"], axes=["gender"])
"""A part of the benchmark that is scored in no time: 180 prompts."""
HOSTILE = "<script>window.owned = 1</script> \"'&"
"""Text of settings and answers that must do nothing."""
SETTINGS = {"provider": "acme", "temperature": 0.0, "reasoning_effort": "none"}


def write_submission(
    results: Path,
    name: str,
    *,
    selection: Selection = SMALL,
    effect: float = 0.2,
    wording: Callable[[str], str | None] | None = None,
    change_scores: Callable[[dict[str, Any]], None] = lambda scores: None,
    **declared: Any,
) -> Path:
    """Write a submission that is accepted, unless `declared` or `change_scores` spoil it."""
    ids = expected_prompt_ids(selection)
    texts = [wording(x) if wording else answer(x, 0, effect) for x in ids]
    size = len(ids)
    answers = Answers(ids, [0] * size, texts, ["stop"] * size, [False] * size)
    outputs = write_answers(answers)
    manifest = _manifest(selection, outputs, declared)
    scores = default_score(run_outputs(manifest, answers))
    change_scores(scores)
    folder = results / FOLDER / name
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_bytes(manifest_bytes(manifest))
    (folder / OUTPUTS).write_bytes(outputs)
    (folder / SCORES).write_bytes(orjson.dumps(scores))
    return folder


def _manifest(selection: Selection, outputs: bytes, declared: dict[str, Any]) -> SubmissionManifest:
    prompts = PromptSet.of(expected_prompt_ids(selection))
    usual: dict[str, Any] = {
        "model": "acme/one",
        "model_repo": None,
        "provider": "acme",
        "settings": SETTINGS,
        "arm": "standard",
        "repeats": 1,
        "complete": prompts.count == N_PROMPTS,
        "selection": selection.to_json(),
        "n_prompts": prompts.count,
        "prompts_sha256": prompts.sha256,
        "dataset_fingerprint": DATASET_FINGERPRINT,
        "outputs_sha256": sha256(outputs).hexdigest(),
        "created_at": "2026-11-01T00:00:00Z",
        "updated_at": "2026-11-01T01:00:00Z",
    }
    return SubmissionManifest(**(usual | declared))


def entry(
    name: str,
    interval: tuple[float, float] | None = (1.0, 2.0),
    *,
    refusals: tuple[str, ...] = (),
    identity: str | None = None,
    **declared: Any,
) -> Entry:
    """Return an entry of a complete run whose gap is the middle of its interval."""
    headlines: dict[str, float | None] = dict.fromkeys(HEADLINES)
    if interval:
        ends = {"mean_delta_pct_ci_low": interval[0], "mean_delta_pct_ci_high": interval[1]}
        headlines |= {"mean_delta_pct": sum(interval) / 2, "n_scored": 5, "n_expected": 7, **ends}
    usual: dict[str, Any] = {
        "model": f"acme/{name}",
        "model_repo": None,
        "provider": "acme",
        "settings": SETTINGS,
        "arm": "standard",
        "complete": True,
        "n_prompts": N_PROMPTS,
        "dataset_fingerprint": DATASET_FINGERPRINT,
        "created_at": "2026-11-01T00:00:00Z",
        "updated_at": "2026-11-01T01:00:00Z",
    }
    return Entry(
        name=name,
        digest="d" * 64,
        refusals=refusals,
        notes=(),
        manifest=usual | declared,
        identity=identity or f"identity of {name}",
        headlines=headlines,
        tables={},
        warnings=(),
        scored_with={
            "metric_version": METRIC_VERSION,
            "benchmark_version": BENCHMARK_VERSION,
            "dataset_fingerprint": DATASET_FINGERPRINT,
        },
        has_page=not refusals,
    )
