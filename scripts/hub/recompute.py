"""One submission for the board: checked, computed, its page rendered."""

from pathlib import Path
from typing import Any, Final

import orjson

from rupeebias.metric.design import Design

from ..errors import RupeeBiasError
from ..report.page.render import Section, environment, render_page
from ..report.runs import ReportRun
from ..runs.manifest import Counts, Manifest, RunIdentity
from ..runs.selection import Selection
from ..words import number, with_interval
from .check import check_submission
from .eligibility import FEWEST_READ_PCT, GAP, parity_of
from .entries import Entry, entry_of, manifest_facts
from .site import TEMPLATES
from .submission import CheckedSubmission, SubmissionManifest

MAX_PAGE: Final = 1_000_000
"""Bytes of a submission's page: a Space holds hundreds of them, and the results hold every answer whole."""


def entry_and_page(
    folder: Path, digest: str | None, files_url: str | None, design: Design
) -> tuple[Entry, str]:
    """Return what the board keeps of the submission in `folder`, and its page (empty if it is refused).

    `files_url` is the address of the folder's files for the page's link.
    """
    checked = check_submission(folder, design)
    entry = entry_of(checked, digest, design, has_page=checked.accepted)
    return entry, submission_page(checked, entry, files_url) if checked.accepted else ""


def submission_page(checked: CheckedSubmission, entry: Entry, files_url: str | None) -> str:
    """Return the page of an accepted submission."""
    manifest, outputs, readings, result = (
        checked.manifest,
        checked.outputs,
        checked.readings,
        checked.result,
    )
    if manifest is None or outputs is None or readings is None or result is None:
        raise RupeeBiasError(f"{checked.folder} was accepted without manifest, outputs or result")
    run = ReportRun(
        name=manifest.model if manifest.arm == "standard" else f"{manifest.model} ({manifest.arm})",
        result=result,
        outputs=outputs,
        readings=readings,
        manifest=run_manifest(manifest, outputs.design),
        path=checked.folder,
    )
    content = _about(entry, manifest, files_url)
    section = Section("Submission", content, home="../index.html", home_label="Leaderboard")
    return render_page([run], [], section=section, max_page=MAX_PAGE)


def _about(entry: Entry, manifest: SubmissionManifest, files_url: str | None) -> Any:
    """Return what the page says about the submission itself, as safe markup."""
    headlines = entry.headlines or {}
    gap, low, high = (headlines.get(f"{GAP}{end}") for end in ("", "_ci_low", "_ci_high"))
    facts = manifest_facts(manifest)
    template: Any = environment(TEMPLATES).get_template("about.html.j2").module
    return template.about(
        entry=entry,
        manifest=facts,
        settings=sorted((str(name), _json(value)) for name, value in facts["settings"].items()),
        served=sorted((str(name), str(count)) for name, count in facts["response_models"].items()),
        parity=number(parity_of(headlines)),
        fewest_read=f"{FEWEST_READ_PCT:.0f}",
        gap=with_interval(gap, low, high),
        files_url=files_url,
    )


def _json(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def run_manifest(manifest: SubmissionManifest, design: Design) -> Manifest:
    """Return a submission's manifest as that of a run, which the report reads."""
    return Manifest(
        identity=RunIdentity(
            model=manifest.model,
            settings={**manifest.settings, "provider": manifest.provider},
            arm=manifest.arm,
            selection=Selection.from_json(manifest.selection, design),
            dataset_fingerprint=manifest.dataset_fingerprint,
        ),
        repeats=manifest.repeats,
        counts=Counts(0, 0, 0),
        created_at=manifest.created_at,
        updated_at=manifest.updated_at,
        response_models=manifest.response_models,
        versions=manifest.versions,
    )
