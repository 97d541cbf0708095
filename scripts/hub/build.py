"""Making a submission of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design
from rupeebias.metric.version import METRIC_VERSION

from .. import release
from ..errors import RupeeBiasError, UsageError
from ..files import replaced_folder
from ..models.secrets import check_no_secret
from ..runs.journal import Record, latest_valid, read_outputs
from ..runs.manifest import Manifest, PromptSet, read_manifest, resuming_command
from ..runs.selection import Selection, expected_prompt_ids
from .answers import Answers, in_memory, submission_name, write_answers
from .public import public_model, public_settings
from .submission import (
    FILES,
    FOLDER,
    MANIFEST,
    MAX_BYTES,
    MAX_CHARACTERS,
    MAX_ENTRIES,
    MAX_IN_MEMORY,
    MAX_REPEATS,
    MAX_UNPACKED,
    OUTPUTS,
    SubmissionManifest,
    name_fault,
    plain_selection,
    repo_fault,
    time_fault,
    without_zone,
)

_JOURNAL: Final = "outputs.jsonl"
_ROW_BYTES: Final = 200
"""What a row takes beside its text and the model's name."""


def build_submission(run: Path, out: Path, *, model_repo: str | None = None, design: Design = DESIGN) -> Path:
    """Write the submission of a run directory into `out/submissions/<name>/` and return that folder.

    The name holds a hash of what was asked and of every answer: the same run gives the same name and, with
    the same versions, the same bytes. An older folder of that name is replaced as a whole. The file of a
    local model is named without its path, a private server without its address.

    Raises UsageError for what is not a run directory, RupeeBiasError for a run that is unfinished, asked
    another dataset or cannot be submitted for another reason. Nothing is written then.
    """
    manifest = read_manifest(run)
    ids = _prompts(run, manifest, design)
    records = _records(run, manifest, ids)
    answers = _answers(records)
    model = public_model(manifest.identity.model)
    _check_public(run, model, public_settings(manifest.identity.settings), model_repo)
    outputs = _packed(run, answers, model)
    declared = _declared(manifest, ids, records, model_repo, design, sha256(outputs).hexdigest())
    folder = out / FOLDER / submission_name(declared, answers)
    _write(folder, {MANIFEST: declared.content, OUTPUTS: outputs})
    return folder


def _prompts(run: Path, manifest: Manifest, design: Design) -> list[str]:
    fingerprint = manifest.identity.dataset_fingerprint
    if fingerprint == release.FINGERPRINT:
        raise RupeeBiasError(
            f"{run} was imported from the authors' release, whose prompts are not this dataset's: "
            "it cannot be submitted; ask the model with `rupeebias generate`"
        )
    if fingerprint != design.fingerprint:
        raise RupeeBiasError(
            f"{run} asked the prompts of dataset {fingerprint[:12]}, this version has "
            f"{design.fingerprint[:12]}: submit it with the version that made it, or run the benchmark again"
        )
    if manifest.prompt_ids() is None:
        raise RupeeBiasError(
            f"{run} was begun by a version whose selection meant other prompts: submit it with that version"
        )
    if manifest.repeats > MAX_REPEATS:
        raise RupeeBiasError(
            f"{run} asks each prompt {manifest.repeats:,} times; at most {MAX_REPEATS} can be sent"
        )
    if manifest.identity.selection.controls == "only":
        raise RupeeBiasError(f"{run} asked control prompts only, which are no part of a submission")
    return expected_prompt_ids(_submitted(manifest.identity.selection))


def _submitted(selection: Selection) -> Selection:
    """Return a selection without its control prompts: a board compares models by what all were asked."""
    return replace(selection, controls="none")


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
    answers = Answers([], [], [], [], [])
    for record in records:
        is_error = record.get("error") is not None
        text = None if is_error else _text(record.get("output"))
        is_cut = text is not None and len(text) > MAX_CHARACTERS
        reason = None if is_error else "length" if is_cut else _text(record.get("finish_reason"))
        answers.prompt_ids.append(record["prompt_id"])
        answers.repeats.append(record["repeat"])
        answers.outputs.append(text if text is None else text[:MAX_CHARACTERS])
        answers.finish_reasons.append(reason)
        answers.errors.append(is_error)
    return answers


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _check_public(run: Path, model: str, settings: dict[str, Any], model_repo: str | None) -> None:
    if fault := name_fault(model):
        raise RupeeBiasError(f"{run}: the name of its model {fault}, so it cannot be submitted")
    if model_repo is not None and (fault := repo_fault(model_repo)):
        raise UsageError(f"--repo {model_repo[:100]!r} {fault}; expected owner/name")
    check_no_secret("settings", settings)


def _packed(run: Path, answers: Answers, model: str) -> bytes:
    texts = [text for text in answers.outputs if text is not None]
    unpacked = sum(len(text.encode()) for text in texts) + (_ROW_BYTES + len(model)) * len(answers.outputs)
    decoded = sum(map(in_memory, set(texts)))
    packed = write_answers(answers, model) if unpacked <= MAX_UNPACKED and decoded <= MAX_IN_MEMORY else b""
    if not packed or len(packed) > MAX_BYTES[OUTPUTS]:
        raise RupeeBiasError(
            f"{run} has {unpacked >> 20:,} MB of answers, more than can be submitted: ask with --max-tokens, "
            "or with fewer --repeats"
        )
    return packed


def _declared(
    manifest: Manifest,
    ids: list[str],
    records: list[Record],
    model_repo: str | None,
    design: Design,
    outputs_sha256: str,
) -> SubmissionManifest:
    identity, prompts = manifest.identity, PromptSet.of(ids)
    first, last = _times(manifest, records)
    # not validated here: `check_submission` looks at what was written, and says what is wrong with it
    return SubmissionManifest.model_construct(
        model=public_model(identity.model),
        model_repo=model_repo,
        provider=identity.provider,
        settings=public_settings(identity.settings),
        arm=identity.arm,
        repeats=manifest.repeats,
        complete=len(ids) == design.n_prompts,
        selection=plain_selection(_submitted(identity.selection)).to_json(),
        n_prompts=prompts.count,
        prompts_sha256=prompts.sha256,
        dataset_fingerprint=identity.dataset_fingerprint,
        outputs_sha256=outputs_sha256,
        created_at=first,
        updated_at=last,
        versions={
            "rupeebias": manifest.versions.get("rupeebias", "unknown"),
            "metric": METRIC_VERSION,
            "benchmark": design.version,
        },
        response_models=_served(r.get("response_model") for r in records if r.get("error") is None),
    )


def _times(manifest: Manifest, records: list[Record]) -> tuple[str, str]:
    """Return when the first and the last answer came.

    Not the times of the run: it may have taken over older answers, and be looked at again later.
    """
    found = {text for record in records if (text := _text(record.get("created_at"))) is not None}
    times = sorted((t for t in found if time_fault(t) is None), key=without_zone)
    return (times[0], times[-1]) if times else (manifest.created_at, manifest.updated_at)


def _served(names: Iterable[Any]) -> dict[str, int]:
    """Return how often each name of a served model occurs, without those that cannot be shown."""
    counts = Counter(public_model(name) for name in names if isinstance(name, str))
    usable = [(name, count) for name, count in counts.most_common() if name_fault(name) is None]
    return dict(sorted(usable[:MAX_ENTRIES]))


def _write(folder: Path, content: Mapping[str, bytes]) -> None:
    def foreign(old: Path) -> list[str]:
        return [path.name for path in old.iterdir() if path.name not in FILES]

    with replaced_folder(folder, foreign) as new:
        for name, data in content.items():
            (new / name).write_bytes(data)
