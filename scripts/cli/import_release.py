"""`rupeebias import-release`: the authors' model outputs as run directories."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..release.importing import Import, ImportedRun


def import_release(
    path: Annotated[
        Path,
        typer.Argument(help="The release's repository, its runs/, a folder in that, or one .jsonl file."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the run directories.")] = Path("runs"),
    repeats: Annotated[
        int, typer.Option("--repeats", help="Most answers to take of each prompt, the first ones.")
    ] = 1,
    skip_unmapped: Annotated[
        bool,
        typer.Option("--skip-unmapped", help="Leave out the records that cannot be mapped, and count them."),
    ] = False,
) -> None:
    """Import the outputs that the paper's authors published: a run directory for each model and arm.

    Example: rupeebias import-release PATH_OF_THEIR_REPOSITORY --out runs, then rupeebias score runs/release-*

    Files: runs/MODEL/TASK/TASK_LANGUAGE[_fairness]_MODEL_0.0[_retried].jsonl, one record a line with
    identifier_value, profile_id, question_variant_id, response and finish_reason.

    A record goes to the prompt of the same task, language, label, profile and question. Of several records of
    a prompt the first counts, as in the paper; with --repeats 2 a second is a repeat, unless all second
    records are copies. Records of one prompt under different ids are no repeats. Answers in a _retried file
    stand for failed (ERROR:) and empty ones. Files named _revalidated or smoke are no results. If one record
    cannot be mapped, nothing is written and the first ones are named. What is in --out already is kept.

    These are answers to the authors' prompts (service pricing with ratings of 4.9, 4.4 and 3.8), which every
    score says; such a run can be neither resumed nor submitted.
    """
    from ..generate.stopping import terminable
    from ..release.importing import import_release as imported

    def say(text: str) -> None:
        typer.echo(text, err=True)

    with terminable():
        done = imported(path, out, repeats=repeats, skip_unmapped=skip_unmapped, say=say)
    for run in done.runs:
        typer.echo(_line(run))
    typer.echo()
    _print_completeness(done)
    for note in _notes(done):
        say(f"note: {note}")


def _print_completeness(done: "Import") -> None:
    """Print what the files hold, and of several models the headlines on the profiles that all have."""
    from ..release.completeness import COLUMNS, COMMON_COLUMNS, common_headlines, count_slips
    from ..words import print_table, printable

    standard = []
    for run in done.runs:
        name, arm = run.manifest.identity.model.removeprefix("release/"), run.manifest.identity.arm
        count_slips(done.counted.rows, name, arm, run.folder)
        if arm == "standard":
            standard.append((printable(name), run.folder))
    rows = [[printable(cell) for cell in row.cells] for row in done.counted.rows]
    print_table(COLUMNS, rows, notes=["twice: more than one record of a prompt; slips: a zero lost or added"])
    if len(standard) > 1:
        n_profiles, headlines = common_headlines(standard)
        if headlines:
            typer.echo()
            print_table(
                COMMON_COLUMNS, headlines, notes=[f"on {n_profiles} profiles, by language, that all have"]
            )


def _line(run: "ImportedRun") -> str:
    counts, name = run.manifest.counts, run.manifest.identity.model.removeprefix("release/")
    arm = "" if run.manifest.identity.arm == "standard" else f" ({run.manifest.identity.arm})"
    state = "" if run.is_new else ", there already and the same"
    times = f" in {run.manifest.repeats} repeats" if run.manifest.repeats > 1 else ""
    return (
        f"{run.folder}: {name}{arm}, {counts.done:,} answers{times}, {counts.failed:,} failed, "
        f"{counts.left:,} missing{state}"
    )


def _notes(done: "Import") -> list[str]:
    """Return what was left out, and of which run."""
    from ..words import listed, printable

    notes = [note for run in done.runs for note in _notes_of(run)]
    if done.left_out:
        n_files = len(done.left_out)
        told = "1 file is no result" if n_files == 1 else f"{n_files:,} files are no results"
        notes.append(f"{told} and left out: {listed(done.left_out, 5)}")
    if done.unmapped.count:
        notes.append(f"{done.unmapped}; left out")
    return [printable(note) for note in notes]


def _notes_of(run: "ImportedRun") -> list[str]:
    settled = run.settled
    told = (
        (settled.replaced, "failed or empty responses replaced by retried ones"),
        (settled.copies, "copies of records left out"),
        (settled.failures, "failed or empty responses left out, since their prompts have their answers"),
        (settled.surplus, "answers left out, beyond the repeats or retried without need"),
    )
    notes = [f"{run.folder}: {count:,} {what}" for count, what in told if count]
    n_fewer = sum(len(answers) < settled.repeats for answers in settled.by_prompt.values())
    if n_fewer:
        notes.append(
            f"{run.folder}: {n_fewer:,} of {len(settled.by_prompt):,} prompts have fewer than "
            f"{settled.repeats} answers, and the rest counts as missing; --repeats 1 takes one of each"
        )
    return notes
