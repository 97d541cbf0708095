"""One submission: checked, recomputed, its page rendered. Runs in a worker process."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from ...errors import RupeeBiasError
from ...report.page.render import Section, environment, render_page
from ...report.runs import ReportRun
from ...runs.manifest import Counts, Manifest, RunIdentity
from ...runs.selection import Selection
from ...scoring.read import readings_of
from ...words import number, with_interval
from ..scale import FEWEST_READ_PCT
from ..submission.check import check_submission
from ..submission.folders import submission_digest
from ..submission.records import FILES, CheckedSubmission, SubmissionManifest
from .cache import write_entry
from .eligible import entry_parity
from .records import Entry, entry_of, is_page_name, manifest_facts, refused_entry

MAX_PAGE: Final = 1_000_000
"""Bytes of a submission's page: a Space holds hundreds of them, and the results hold every answer whole."""
TEMPLATES: Final = Path(__file__).parent.parent / "templates"


def recompute(folder: Path, digest: str | None, files_url: str | None, target: Path) -> None:
    """Check and recompute the submission in `folder` and write its entry to `target`.

    `digest` is that of the content that `target` stands for; None if it has none. `files_url` is the address
    of the folder's files for the page's link. RupeeBiasError if the files changed meanwhile.
    """
    entry, page = _recomputed(folder, digest, files_url)
    if digest is not None and submission_digest(folder) != digest:
        raise RupeeBiasError(f"{folder} changed while it was read")
    write_entry(target, entry, page.encode())


def _recomputed(folder: Path, digest: str | None, files_url: str | None) -> tuple[Entry, str]:
    checked = check_submission(folder)
    if not checked.accepted or not is_page_name(folder.name):
        return _refused(checked, digest), ""
    entry = entry_of(checked, digest, has_page=True)
    return entry, submission_page(checked, entry, files_url)


def _refused(checked: CheckedSubmission, digest: str | None) -> Entry:
    entry = entry_of(checked, digest, has_page=False)
    entry = replace(entry, refusals=(*entry.refusals, *_other_missing(checked, entry)))
    if entry.accepted:
        return refused_entry(entry.name, "the folder's name is not one of a submission", digest)
    return entry


def _other_missing(checked: CheckedSubmission, entry: Entry) -> Iterator[str]:
    """Yield the files that are missing and that the check did not come to, as one without a manifest ends."""
    if checked.folder.is_dir():
        for name in FILES:
            path = checked.folder / name
            if not (path.exists() or path.is_symlink() or f"{name} is missing" in entry.refusals):
                yield f"{name} is missing"


def submission_page(checked: CheckedSubmission, entry: Entry, files_url: str | None) -> str:
    """Return the page of an accepted submission."""
    if checked.manifest is None or checked.outputs is None or checked.result is None:
        raise RupeeBiasError(f"{checked.folder} was accepted without manifest, outputs or result")
    manifest = checked.manifest
    run = ReportRun(
        name=manifest.model if manifest.arm == "standard" else f"{manifest.model} ({manifest.arm})",
        result=checked.result,
        outputs=checked.outputs,
        readings=readings_of(checked.outputs),
        manifest=run_manifest(manifest),
        path=checked.folder,
    )
    content = about(entry, manifest, files_url)
    section = Section("Submission", content, home="../index.html", home_label="Leaderboard")
    return render_page([run], [], section=section, max_page=MAX_PAGE)


def about(entry: Entry, manifest: SubmissionManifest, files_url: str | None) -> Any:
    """Return what the page says about the submission itself, as safe markup."""
    headlines = entry.headlines or {}
    gap, low, high = (headlines.get(f"mean_delta_pct{end}") for end in ("", "_ci_low", "_ci_high"))
    facts = manifest_facts(manifest)
    template = environment(TEMPLATES).get_template("about.html.j2").module
    markup: Any = template
    return markup.about(
        entry=entry,
        manifest=facts,
        settings=sorted((str(name), _json(value)) for name, value in facts["settings"].items()),
        served=sorted((str(name), str(count)) for name, count in facts["response_models"].items()),
        parity=number(entry_parity(entry)),
        fewest_read=f"{FEWEST_READ_PCT:.0f}",
        gap=with_interval(gap, low, high),
        files_url=files_url,
    )


def _json(value: Any) -> str:
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def run_manifest(manifest: SubmissionManifest) -> Manifest:
    """Return a submission's manifest as that of a run, which the report reads."""
    return Manifest(
        identity=RunIdentity(
            model=manifest.model,
            settings={**manifest.settings, "provider": manifest.provider},
            arm=manifest.arm,
            selection=Selection.from_json(manifest.selection),
            dataset_fingerprint=manifest.dataset_fingerprint,
        ),
        repeats=manifest.repeats,
        counts=Counts(0, 0, 0),
        created_at=manifest.created_at,
        updated_at=manifest.updated_at,
        response_models=manifest.response_models,
        versions=manifest.versions,
    )
