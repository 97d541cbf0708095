"""Submissions and entries for tests of the leaderboard."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from report_runs import answer

from rupeebias.hub.answers import Answers, submission_name, write_answers
from rupeebias.hub.eligibility import GAP, reasons_without_rank
from rupeebias.hub.entries import Entry, manifest_facts, model_key, packed_answers, settings_key
from rupeebias.hub.submission import FOLDER, MANIFEST, OUTPUTS, SubmissionManifest
from rupeebias.metric import HEADLINES
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.gap_law import GapLaw
from rupeebias.metric.layout import layout_of
from rupeebias.metric.readings import Readings, read_outputs
from rupeebias.runs.manifest import PromptSet
from rupeebias.runs.selection import Selection, expected_prompt_ids

SMALL = Selection.parse(use_cases=["salary_increment"], axes=["gender"])
"""A part of the benchmark that is scored in no time: 180 prompts."""
HOSTILE = "<script>window.owned = 1</script> \"'&"
"""Text of settings and answers that must do nothing."""
SETTINGS = {"provider": "acme", "temperature": 0.0, "reasoning_effort": "none"}


def write_submission(
    results: Path,
    *,
    name: str | None = None,
    selection: Selection = SMALL,
    effect: float = 0.2,
    wording: Callable[[str], str | None] | None = None,
    **declared: Any,
) -> Path:
    """Write a submission that is accepted, unless `declared` or another `name` spoil it.

    Its folder is named as `rupeebias submit` names it, for its content.
    """
    ids = expected_prompt_ids(selection)
    texts = [wording(x) if wording else answer(x, 0, effect) for x in ids]
    size = len(ids)
    answers = Answers(ids, [0] * size, texts, ["stop"] * size, [False] * size)
    outputs = write_answers(answers, declared.get("model", "acme/one"))
    manifest = _manifest(selection, outputs, declared)
    folder = results / FOLDER / (name or submission_name(manifest, answers))
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_bytes(manifest.content)
    (folder / OUTPUTS).write_bytes(outputs)
    return folder


def answer_unless(is_mute: Callable[[int], object]) -> Callable[[str], str]:
    """Return a wording that refuses at the places for which `is_mute` holds."""
    places = count()
    return lambda prompt_id: "I cannot say." if is_mute(next(places)) else answer(prompt_id, 0, 0.2)


def _manifest(selection: Selection, outputs: bytes, declared: dict[str, Any]) -> SubmissionManifest:
    prompts = PromptSet.of(expected_prompt_ids(selection))
    usual: dict[str, Any] = {
        "model": "acme/one",
        "model_repo": None,
        "provider": "acme",
        "settings": SETTINGS | {"provider": declared.get("provider", "acme")},
        "arm": "standard",
        "repeats": 1,
        "complete": prompts.count == DESIGN.n_prompts,
        "selection": selection.to_json(),
        "n_prompts": prompts.count,
        "prompts_sha256": prompts.sha256,
        "dataset_fingerprint": DESIGN.fingerprint,
        "outputs_sha256": sha256(outputs).hexdigest(),
        "created_at": "2026-11-01T00:00:00Z",
        "updated_at": "2026-11-01T01:00:00Z",
        "versions": {},
        "response_models": {},
    }
    return SubmissionManifest.model_construct(**(usual | declared))


def entry(
    name: str,
    interval: tuple[float, float] | None = (1.0, 2.0),
    *,
    refusals: tuple[str, ...] = (),
    read: float = 100.0,
    without: str | None = None,
    **declared: Any,
) -> Entry:
    """Return an entry of a complete run whose systematic gap is the middle of its interval.

    `read`: share of its answers that could be read; `without`: an axis or use case without a gap in Hinglish,
    "interval", or "merit" (unresponsive).
    """
    headlines: dict[str, Any] = dict.fromkeys([*HEADLINES, GAP, f"{GAP}_ci_low", f"{GAP}_ci_high"])
    headlines["parse_health_pct"] = read
    if interval:
        ends = {f"{GAP}_ci_low": interval[0], f"{GAP}_ci_high": interval[1]}
        headlines |= {GAP: sum(interval) / 2, "n_scored": 5, "n_expected": 7, **ends}
    if without == "interval":
        headlines[f"{GAP}_ci_high"] = None
    manifest = declaration(**({"model": f"acme/{name}"} | declared))
    tables = {
        "axis": _rows("axis", DESIGN.axis_names, without),
        "use_case": _rows("use_case", DESIGN.use_case_names, without),
        "responsiveness": [
            {"language": "en", "use_case": one, "responsiveness_pct": 4.9 if without == "merit" else 30.0}
            for one in DESIGN.use_case_names
        ],
    }
    result = {**headlines, "tables": tables}
    return Entry(
        name=name,
        digest="d" * 64,
        refusals=refusals,
        no_rank=tuple(reasons_without_rank(manifest, all_read(), result, DESIGN)),
        manifest=manifest_facts(manifest),
        model_key=model_key(manifest),
        settings_key=settings_key(manifest),
        headlines=headlines,
        tables=tables,
        has_page=not refusals,
        law=law(*interval) if interval else None,
        answers=packed_answers(np.random.default_rng(crc32(name.encode())).uniform(1, 99, (500, 1))),
    )


@cache
def all_read() -> Readings:
    """Return the readings of a run all of whose answers have a value."""
    ids = layout_of(DESIGN).prompt_ids
    return read_outputs(
        ids, ["### 5 %" if ":salary_increment:" in f":{x}" else "### 500000 INR" for x in ids]
    )


def law(low: float, high: float) -> dict[str, Any]:
    """Return what the board keeps of a systematic gap whose squared value has such an interval."""
    squared = (low**2 + high**2) / 2
    known = {
        "squared_gap": squared,
        "scatter": squared,
        "tau2": ((high**2 - low**2) / 2 / 1.96) ** 2,
        "phi": 0.0,
        "psi": 1e-7,
        "freedom": 1e6,
        "influence": [0.0],
        "bounded": True,
    }
    return {field.name: known.get(field.name, 1.0) for field in fields(GapLaw)}


def declaration(**declared: Any) -> SubmissionManifest:
    """Return the manifest of a complete run with the benchmark's own settings."""
    usual: dict[str, Any] = {
        "model": "acme/one",
        "model_repo": None,
        "provider": "acme",
        "settings": SETTINGS | {"provider": declared.get("provider", "acme")},
        "arm": "standard",
        "repeats": 1,
        "complete": True,
        "selection": {},
        "n_prompts": DESIGN.n_prompts,
        "prompts_sha256": "",
        "dataset_fingerprint": DESIGN.fingerprint,
        "outputs_sha256": "",
        "created_at": "2026-11-01T00:00:00Z",
        "updated_at": "2026-11-01T01:00:00Z",
        "versions": {},
        "response_models": {},
    }
    return SubmissionManifest.model_construct(**(usual | declared))


def _rows(table: str, slices: Iterable[str], without: str | None) -> list[dict[str, Any]]:
    return [
        {
            "language": language,
            table: name,
            "mean_delta_pct": None if (language, name) == ("hinglish", without) else 1.5,
            "ci_low": 1.0,
            "ci_high": 2.0,
            "violation_at_10_pct": 0.0,
        }
        for language in (*DESIGN.language_names, "all")
        for name in slices
    ]
