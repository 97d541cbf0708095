"""Run directories and submissions for tests, made as `rupeebias generate` makes them."""

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import report_runs
from benchmark_names import DATASET_FINGERPRINT

from rupeebias.hub.answers import Answers, read_answers, submission_name, write_answers
from rupeebias.hub.submission import OUTPUTS, parse_manifest
from rupeebias.metric.benchmark import DESIGN
from rupeebias.models.types import JSON
from rupeebias.runs.manifest import Counts, Manifest, PromptSet, RunIdentity, write_manifest
from rupeebias.runs.selection import Selection, expected_prompt_ids

MODEL = "openai/gpt-test"
SMALL = Selection.parse(axes=["gender"], use_cases=["salary_estimation"], limit=8)
"""40 prompts: eight slots of five identifiers."""
SETTINGS: dict[str, JSON] = {"provider": "openai", "temperature": 0.0}
Record = dict[str, Any]


def write_run(
    folder: Path,
    *,
    model: str = MODEL,
    selection: Selection = SMALL,
    settings: dict[str, JSON] | None = None,
    arm: str = "standard",
    repeats: int = 1,
    change: Callable[[list[Record]], Sequence[Record]] = lambda records: records,
    fingerprint: str = DATASET_FINGERPRINT,
) -> Path:
    """Write a finished run; `change` may alter its records."""
    ids = expected_prompt_ids(selection)
    identity = RunIdentity(model, SETTINGS if settings is None else settings, arm, selection, fingerprint)
    manifest = Manifest(
        identity=identity,
        repeats=repeats,
        counts=Counts(len(ids) * repeats, len(ids) * repeats, 0),
        created_at="2026-03-01T10:00:00Z",
        updated_at="2026-03-01T11:00:00Z",
        versions={"rupeebias": "0.1.0", "python": "3.11.7"},
        prompts=PromptSet.of(ids),
    )
    folder.mkdir(parents=True)
    write_manifest(folder, manifest)
    records = change([record(prompt_id, repeat) for prompt_id in ids for repeat in range(repeats)])
    lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)
    (folder / "outputs.jsonl").write_text(lines, encoding="utf-8")
    return folder


def record(prompt_id: str, repeat: int = 0) -> Record:
    return {
        "prompt_id": prompt_id,
        "repeat": repeat,
        "output": report_runs.answer(prompt_id, repeat, 0.1),
        "finish_reason": "stop",
        "error": None,
        "latency_s": 0.5,
        "cost_usd": 0.001,
        "created_at": "2026-03-01T10:30:00.250Z",
        "response_model": "gpt-test-2026",
    }


def edit_json(path: Path, edit: Callable[[Any], Any]) -> None:
    """Change a JSON file in place."""
    content = json.loads(path.read_text(encoding="utf-8"))
    changed = edit(content)
    path.write_text(json.dumps(content if changed is None else changed), encoding="utf-8")


def edit_answers(folder: Path, edit: Callable[[Answers], Answers]) -> None:
    """Change the outputs of a submission in place, with the hash that belongs to them."""
    model = json.loads((folder / "manifest.json").read_bytes())["model"]
    answers = read_answers((folder / OUTPUTS).read_bytes(), model, 10**6)
    put_outputs(folder, write_answers(edit(answers), model))


def make_consistent(folder: Path) -> Path:
    """Let outputs and name follow from the manifest, as somebody who changed it would; return it."""
    manifest, _ = parse_manifest((folder / "manifest.json").read_bytes(), DESIGN)
    assert manifest is not None
    lines = gzip.decompress((folder / OUTPUTS).read_bytes()).splitlines()
    answers = read_answers((folder / OUTPUTS).read_bytes(), json.loads(lines[0])["model"], 10**6)
    put_outputs(folder, write_answers(answers, manifest.model))
    return folder.rename(folder.parent / submission_name(manifest, answers))


def put_outputs(folder: Path, data: bytes) -> None:
    """Replace the outputs of a submission, with the hash that belongs to them."""
    (folder / OUTPUTS).write_bytes(data)
    edit_json(folder / "manifest.json", lambda m: m.update(outputs_sha256=sha256(data).hexdigest()))


def keep_rows(answers: Answers, rows: Sequence[int]) -> Answers:
    """Return the rows of these numbers, in this order."""
    columns = {name: [getattr(answers, name)[row] for row in rows] for name in Answers.__slots__}
    return replace(answers, **columns)
