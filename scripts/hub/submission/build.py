"""Making a submission of a run."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from rupeebias.errors import DatasetFolderError
from rupeebias.metric.constants import BENCHMARK_VERSION, DATASET_FINGERPRINT
from rupeebias.metric.layout import N_PROMPTS
from rupeebias.metric.version import METRIC_VERSION

from ... import release
from ...errors import RupeeBiasError, UsageError
from ...files import replaced_folder
from ...models.secrets import check_no_secret
from ...runs.manifest import Manifest, PromptSet, read_manifest
from ...runs.outputs import Record, latest_valid, read_outputs
from ...runs.resuming import resuming_command
from .answers import Answers, in_memory, write_answers
from .check import default_score, run_outputs
from .identity import submission_name
from .limits import MAX_BYTES, MAX_CHARACTERS, MAX_IN_MEMORY, MAX_REPEATS, MAX_UNPACKED
from .manifest import manifest_bytes, plain_selection
from .public import public_counts, public_model, public_settings
from .records import FILES, FOLDER, MANIFEST, OUTPUTS, SCORES, SubmissionManifest
from .texts import fault_in_name, fault_in_repo, fault_in_time, without_zone

_JOURNAL: Final = "outputs.jsonl"
_CUT: Final = "length"


def build_submission(run: Path, out: Path, *, model_repo: str | None = None) -> Path:
    """Write the submission of a run directory into `out/submissions/<name>/` and return that folder.

    The name holds a hash of what was asked and of every answer: the same run gives the same name and, with
    the same versions, the same bytes. An older folder of that name is replaced as a whole. The file of a
    local model is named without its path, a private server without its address.

    Raises UsageError for what is not a run directory, RupeeBiasError for a run that is unfinished, asked
    another dataset or cannot be submitted for another reason. Nothing is written then.
    """
    manifest = read_manifest(run)
    ids = _prompts(run, manifest)
    records = _records(run, manifest, ids)
    answers = _answers(records)
    declared = _declared(run, manifest, ids, records, model_repo)
    outputs = _packed(run, answers)
    declared = replace(declared, outputs_sha256=sha256(outputs).hexdigest())
    scores = orjson.dumps(default_score(run_outputs(declared, answers)), option=orjson.OPT_INDENT_2) + b"\n"
    content = {MANIFEST: manifest_bytes(declared), OUTPUTS: outputs, SCORES: scores}
    folder = out / FOLDER / submission_name(declared, answers)
    _write(folder, content)
    return folder


def _prompts(run: Path, manifest: Manifest) -> list[str]:
    fingerprint = manifest.identity.dataset_fingerprint
    if fingerprint == release.FINGERPRINT:
        raise RupeeBiasError(
            f"{run} was imported from the authors' release, whose prompts are not this dataset's: "
            "it cannot be submitted; ask the model with `rupeebias generate`"
        )
    if fingerprint != DATASET_FINGERPRINT:
        raise RupeeBiasError(
            f"{run} asked the prompts of dataset {fingerprint[:12]}, this version has "
            f"{DATASET_FINGERPRINT[:12]}: submit it with the version that made it, or run the benchmark again"
        )
    ids = manifest.prompt_ids()
    if ids is None:
        raise RupeeBiasError(
            f"{run} was begun by a version whose selection meant other prompts: submit it with that version"
        )
    if manifest.repeats > MAX_REPEATS:
        raise RupeeBiasError(
            f"{run} asks each prompt {manifest.repeats:,} times; at most {MAX_REPEATS} can be sent"
        )
    return ids


def _records(run: Path, manifest: Manifest, ids: list[str]) -> list[Record]:
    """Return one record for each prompt and repeat of the run, in dataset order."""
    path = run / _JOURNAL
    latest = latest_valid(read_outputs(path)) if path.exists() else {}
    found = [latest.get((name, repeat)) for name in ids for repeat in range(manifest.repeats)]
    records = [record for record in found if record is not None]
    if left := len(found) - len(records):
        raise RupeeBiasError(
            f"{run} is unfinished: {left:,} of {len(found):,} requests are left; finish it with "
            f"`{resuming_command(run, manifest)}` and the other options that it began with, "
            "or run a part (`rupeebias generate --limit`, `--axis`)"
        )
    return records


def _answers(records: list[Record]) -> Answers:
    failed = [record.get("error") is not None for record in records]
    texts = [None if record.get("error") is not None else _text(record.get("output")) for record in records]
    return Answers(
        prompt_ids=[record["prompt_id"] for record in records],
        repeats=[record["repeat"] for record in records],
        outputs=[text if text is None else text[:MAX_CHARACTERS] for text in texts],
        finish_reasons=[
            None if error else _CUT if _is_cut(text) else _text(record.get("finish_reason"))
            for error, text, record in zip(failed, texts, records, strict=True)
        ],
        errors=failed,
    )


def _is_cut(text: str | None) -> bool:
    return text is not None and len(text) > MAX_CHARACTERS


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _declared(
    run: Path, manifest: Manifest, ids: list[str], records: list[Record], model_repo: str | None
) -> SubmissionManifest:
    identity, prompts = manifest.identity, PromptSet.of(ids)
    model, settings = public_model(identity.model), public_settings(identity.settings)
    _check(run, model, settings, model_repo)
    first, last = _times(manifest, records)
    return SubmissionManifest(
        model=model,
        model_repo=model_repo,
        provider=identity.provider,
        settings=settings,
        arm=identity.arm,
        repeats=manifest.repeats,
        complete=len(ids) == N_PROMPTS,
        selection=plain_selection(identity.selection).to_json(),
        n_prompts=prompts.count,
        prompts_sha256=prompts.sha256,
        dataset_fingerprint=identity.dataset_fingerprint,
        outputs_sha256="",
        created_at=first,
        updated_at=last,
        versions={
            "rupeebias": manifest.versions.get("rupeebias", "unknown"),
            "metric": METRIC_VERSION,
            "benchmark": BENCHMARK_VERSION,
        },
        response_models=public_counts(r.get("response_model") for r in records if r.get("error") is None),
    )


def _times(manifest: Manifest, records: list[Record]) -> tuple[str, str]:
    """Return when the first and the last answer came.

    Not the times of the run: it may have taken over older answers, and be looked at again later.
    """
    found = {text for record in records if (text := _text(record.get("created_at"))) is not None}
    times = sorted((t for t in found if fault_in_time(t) is None), key=without_zone)
    return (times[0], times[-1]) if times else (manifest.created_at, manifest.updated_at)


def _check(run: Path, model: str, settings: dict[str, Any], model_repo: str | None) -> None:
    if fault := fault_in_name(model):
        raise RupeeBiasError(f"{run}: the name of its model {fault}, so it cannot be submitted")
    if model_repo is not None and (fault := fault_in_repo(model_repo)):
        raise UsageError(f"--repo {model_repo[:100]!r} {fault}; expected owner/name")
    check_no_secret("settings", settings)


def _packed(run: Path, answers: Answers) -> bytes:
    unpacked = sum(len(text.encode()) for text in answers.outputs if text is not None)
    decoded = sum(in_memory(text) for text in set(answers.outputs) if text is not None)
    packed = write_answers(answers) if unpacked <= MAX_UNPACKED and decoded <= MAX_IN_MEMORY else b""
    if not packed or len(packed) > MAX_BYTES[OUTPUTS]:
        raise RupeeBiasError(
            f"{run} has {unpacked >> 20:,} MB of answers, more than can be submitted: ask with --max-tokens, "
            "or with fewer --repeats"
        )
    return packed


def _write(folder: Path, content: Mapping[str, bytes]) -> None:
    try:
        with replaced_folder(folder, _foreign_files) as new:
            for name, data in content.items():
                (new / name).write_bytes(data)
    except DatasetFolderError as error:
        raise RupeeBiasError(str(error)) from None


def _foreign_files(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name not in FILES]
