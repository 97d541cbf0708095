"""`rupeebias audit`: build, generate, score and report in one go."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from ..batch.options import Batch, BatchOptions
from ..generate.options import GenerateOptions, Model
from ..scoring.options import ReportOptions
from .command import with_options
from .generate import ask
from .options import SelectionOptions


@with_options
def audit(
    model: Model,
    selection: SelectionOptions,
    options: GenerateOptions,
    batch_options: BatchOptions,
    batch: Batch = False,
    dataset: Annotated[
        Path | None,
        typer.Option(help="Dataset folder, built if it is missing. [default: rupeebias]"),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Write the result here. [default: scores.json in the run]")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Folder of the report. [default: report in the run]")
    ] = None,
) -> None:
    """Build the dataset if needed, ask a model, score its answers, print the headline table, write a report.

    Example: rupeebias audit --model sim/biased

    The same command resumes a run. It takes every option of `rupeebias generate`; the run can be scored
    again with `rupeebias score`.
    """
    from ..generate.api import check_error_share, check_model
    from ..generate.stopping import terminable
    from ..report.folder import check_folder

    options, chosen = replace(options, model=model), selection.selection(options.components)
    if report:
        check_folder(report)
    if not options.dry_run:
        check_model(options)
        _build_if_needed(dataset, options.components, (lambda _: None) if options.quiet else typer.echo)
    with terminable():
        summary = ask(options, chosen, batch_options if batch else None)
    if options.dry_run:
        return
    folder = summary.folder
    _score(folder, json or folder / "scores.json", report or folder / "report", quiet=options.quiet)
    check_error_share(summary, options.fail_on_error)


def _build_if_needed(folder: Path | None, own: Path | None, say: Callable[[str], None]) -> None:
    from rupeebias.dataset_builder.components import load_components
    from rupeebias.dataset_builder.folder import build_dataset, is_current

    components = None if own is None else load_components(own)
    folder = folder or Path(load_components(own).name)
    if not is_current(folder, components):
        built = build_dataset(folder, components)
        say(f"{folder}: {built.rows:,} prompts built")


def _score(folder: Path, target: Path, report: Path, *, quiet: bool) -> None:
    from ..report.folder import write_report_of
    from ..report.runs import load_report_runs
    from ..scoring.headline import print_headlines
    from ..scoring.results import write_json

    runs = load_report_runs([folder], **asdict(ReportOptions().of_metric))
    write_json(target, runs)
    written = write_report_of(runs, report)
    if quiet:
        return
    typer.echo()
    print_headlines(runs, published=True)
    typer.echo(f"\nfull result: {target}")
    typer.echo(f"report: {written}")
