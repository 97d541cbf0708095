"""From the responses of one model in one arm to a run directory, as `rupeebias generate` writes it."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from .. import __version__
from ..errors import UsageError
from ..models.types import JSON, Reply, Request
from ..runs.directory import OUTPUTS, open_run
from ..runs.join import with_totals
from ..runs.journal import Record, error_record, read_outputs, reply_record
from ..runs.manifest import Counts, Manifest, PromptSet, RunIdentity, now, read_manifest, write_manifest
from ..runs.selection import Selection, expected_prompt_ids
from ..words import printable
from . import ASKED, FINGERPRINT, PROVIDER, TEMPERATURE, model_name
from .files import ReleaseFile
from .records import Answer
from .repeats import Settled

_NOT_TOLD = {"latency_s": None, "attempts": None, "created_at": None}
"""What of a call the release does not tell."""


def planned_manifest(files: Sequence[ReleaseFile], settled: Settled, *, unmapped: int) -> Manifest:
    """Return the manifest of a run before it is written.

    Its selection is all prompts of the use cases and languages of its files, on the axes of its records: one
    without a response counts as missing. `unmapped` lines of its files were left out.
    """
    first, selection = files[0], _selection(files, settled)
    settings: dict[str, JSON] = {"provider": PROVIDER, "asked": ASKED, "temperature": float(TEMPERATURE)}
    prompts = PromptSet.of(expected_prompt_ids(selection))
    options: dict[str, JSON] = {
        "imported": [printable(file.path.name) for file in files],
        "left_out": {
            "unmapped": unmapped,
            "copies": settled.copies,
            "replaced": settled.replaced,
            "failures": settled.failures,
            "surplus": settled.surplus,
        },
    }
    return Manifest(
        identity=RunIdentity(model_name(first.model), settings, first.arm, selection, FINGERPRINT),
        repeats=settled.repeats,
        counts=Counts(prompts.count * settled.repeats, 0, 0),
        created_at=now(),
        updated_at=now(),
        versions={"rupeebias": __version__},
        options=options,
        prompts=prompts,
    )


def write_run(folder: Path, planned: Manifest, settled: Settled) -> Manifest:
    """Write a run into an empty folder and return its manifest."""
    with open_run(folder, planned) as opened:
        for record in _records(planned, settled):
            opened.journal.append(record)
        manifest = with_totals(planned, opened.journal)
        write_manifest(folder, manifest)
    return manifest


def check_same(folder: Path, planned: Manifest, settled: Settled) -> None:
    """Raise UsageError unless the run in `folder` is what an import of the same answers wrote."""
    is_same = read_manifest(folder).identity == planned.identity
    if not is_same or not _are_equal(folder / OUTPUTS, _records(planned, settled)):
        raise UsageError(
            f"{folder} holds other answers of {planned.identity.model}, imported before or changed since\n"
            "Move it away, or give another folder with --out; nothing was written."
        )


def _are_equal(path: Path, records: Iterator[Record]) -> bool:
    pairs = zip_longest(read_outputs(path) if path.is_file() else (), records)
    return all(old == new for old, new in pairs)


def _selection(files: Sequence[ReleaseFile], settled: Settled) -> Selection:
    axes = {prompt_id.split(":")[2] for prompt_id in settled.by_prompt}
    return Selection.parse(
        use_cases=[file.use_case for file in files],
        languages=[file.language for file in files],
        axes=sorted(axes),
    )


def _records(planned: Manifest, settled: Settled) -> Iterator[Record]:
    """Yield the records in dataset order: the same responses give the same file."""
    for prompt_id in expected_prompt_ids(planned.identity.selection):
        for repeat, answer in enumerate(settled.by_prompt.get(prompt_id, ())):
            yield _record(answer, repeat)


def _record(answer: Answer, repeat: int) -> Record:
    request = Request(answer.prompt_id, repeat, "", "", answer.prompt_id.split(":")[0])
    if answer.error is not None:
        return {**error_record(request, answer.error, 0, 0), **_NOT_TOLD}
    reply = Reply(answer.text, answer.finish_reason, has_reasoning=answer.has_reasoning)
    return {**reply_record(request, reply, 0, 0), **_NOT_TOLD}
