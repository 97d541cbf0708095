"""`rupeebias audit`: build, generate, score and report in one go."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options as opt
from .told import options_of, selection_of

if TYPE_CHECKING:
    from collections.abc import Callable

JsonOption = Annotated[
    Path | None, typer.Option("--json", help="Write the result here. [default: scores.json in the run]")
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Folder of the report. [default: report in the run]")
]
DatasetOption = Annotated[Path, typer.Option("--dataset", help="Dataset folder, built if it is missing.")]


def audit(
    model: opt.Model,
    use_case: opt.UseCase = None,
    language: opt.Language = None,
    axis: opt.Axis = None,
    identifier: opt.Identifier = None,
    profile: opt.Profile = None,
    question: opt.Question = None,
    limit: opt.Limit = None,
    run: opt.Run = None,
    base_url: opt.BaseUrl = None,
    extra: opt.Extra = None,
    max_tokens: opt.MaxTokens = None,
    seed: opt.Seed = None,
    arm: opt.Arm = "standard",
    repeats: opt.Repeats = 1,
    constrain: opt.Constrain = None,
    max_connections: opt.Connections = None,
    max_cost: opt.MaxCost = None,
    price_in: opt.PriceIn = None,
    price_out: opt.PriceOut = None,
    retry_errors: opt.RetryErrors = False,
    fresh: opt.Fresh = False,
    dry_run: opt.DryRun = False,
    quiet: opt.Quiet = False,
    dataset: DatasetOption = Path("rupeebias"),
    json: JsonOption = None,
    report: ReportOption = None,
) -> None:
    """Build the dataset if needed, ask a model, score its answers, print the headline table, write a report.

    Example: rupeebias audit --model sim/biased

    The same command resumes a run. `rupeebias generate` has more options; its runs are scored with
    `rupeebias score`.
    """
    told = locals()
    from ..generate.api import check_error_share, check_model, generate_outputs
    from ..generate.terminating import terminable
    from ..report.api import check_folder

    options = options_of(told)
    selection = selection_of(told)
    if report:
        check_folder(report)
    say = _silent if quiet else typer.echo
    if not dry_run:
        check_model(options)
        _build_if_needed(dataset, say)
    with terminable():
        summary = generate_outputs(options, selection, say=typer.echo)
    if dry_run:
        return
    folder = summary.folder
    _score(folder, json or folder / "scores.json", report or folder / "report", quiet=quiet)
    check_error_share(summary, None)


def _build_if_needed(folder: Path, say: "Callable[[str], None]") -> None:
    from rupeebias.dataset_builder.folder import build_dataset, is_current

    if not is_current(folder):
        built = build_dataset(folder)
        say(f"{folder}: {built.rows:,} prompts built")


def _score(folder: Path, target: Path, report: Path, *, quiet: bool) -> None:
    from ..report.api import write_report_of
    from ..report.data import load_report_runs
    from ..scoring.headline import print_headlines
    from ..scoring.results import write_json

    runs = load_report_runs([folder])
    write_json(target, runs)
    written = write_report_of(runs, report)
    if quiet:
        return
    typer.echo()
    print_headlines(runs, published=True)
    typer.echo(f"\nfull result: {target}")
    typer.echo(f"report: {written}")


def _silent(_: str) -> None:
    pass
