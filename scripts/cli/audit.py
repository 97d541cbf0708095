"""`rupeebias audit`: build, generate, score and report in one go."""

from pathlib import Path
from typing import Annotated

import typer

from ..selection import (
    AxisOption,
    IdentifierOption,
    LanguageOption,
    LimitOption,
    ProfileOption,
    QuestionOption,
    Selection,
    UseCaseOption,
)
from .generate import (
    BaseUrlOption,
    ConnectionsOption,
    ConstrainOption,
    ExtraOption,
    FreshOption,
    ModelOption,
    RepeatsOption,
    RetryErrorsOption,
    RunOption,
    parse_extras,
)

JsonOption = Annotated[
    Path | None, typer.Option("--json", help="Write the result here. [default: scores.json in the run]")
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Folder of the report. [default: report in the run]")
]
DatasetOption = Annotated[Path, typer.Option("--dataset", help="Dataset folder, built if it is missing.")]


def audit(
    model: ModelOption,
    use_case: UseCaseOption = None,
    language: LanguageOption = None,
    axis: AxisOption = None,
    identifier: IdentifierOption = None,
    profile: ProfileOption = None,
    question: QuestionOption = None,
    limit: LimitOption = None,
    run: RunOption = None,
    base_url: BaseUrlOption = None,
    extra: ExtraOption = None,
    repeats: RepeatsOption = 1,
    constrain: ConstrainOption = None,
    max_connections: ConnectionsOption = None,
    retry_errors: RetryErrorsOption = False,
    fresh: FreshOption = False,
    dataset: DatasetOption = Path("rupeebias"),
    json: JsonOption = None,
    report: ReportOption = None,
) -> None:
    """Build the dataset if needed, ask a model, score its answers, print the headline table, write a report.

    Example: rupeebias audit --model sim/biased

    The same command resumes a run. `rupeebias generate` has more options; its runs are scored with
    `rupeebias score`.
    """
    from ..generate.api import GenerateOptions, check_error_share, generate_outputs
    from ..generate.types import ModelOptions
    from ..report.api import check_folder

    selection = Selection.parse(use_case, language, axis, identifier, profile, question, limit)
    options = GenerateOptions(
        model=model,
        model_options=ModelOptions(base_url=base_url, extras=parse_extras(extra), constrain=constrain),
        max_connections=max_connections,
        repeats=repeats,
        run=run,
        retry_errors=retry_errors,
        fresh=fresh,
    )
    if report:
        check_folder(report)
    _build_if_needed(dataset)
    summary = generate_outputs(options, selection, say=typer.echo)
    _score(summary.folder, json or summary.folder / "scores.json", report or summary.folder / "report")
    check_error_share(summary, None)


def _build_if_needed(folder: Path) -> None:
    from rupeebias.dataset_builder.folder import build_dataset, is_current

    if not is_current(folder):
        built = build_dataset(folder)
        typer.echo(f"{folder}: {built.rows:,} prompts built")


def _score(folder: Path, target: Path, report: Path) -> None:
    from ..report.api import write_report_of
    from ..report.data import load_report_runs
    from ..scoring.files import write_json
    from ..scoring.headline import print_headlines

    runs = load_report_runs([folder])
    typer.echo()
    print_headlines([(run.name, run.result) for run in runs], published=True)
    write_json(target, runs)
    typer.echo(f"\nfull result: {target}")
    typer.echo(f"report: {write_report_of(runs, report)}")
