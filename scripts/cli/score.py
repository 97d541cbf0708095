"""`rupeebias score` and `rupeebias compare`: every statistic of runs, and what differs between two."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..scoring.options import MetricOptions, OutcomeOptions
from .command import with_options
from .options import ResultFiles

_FILES = (
    "Columns of a file: prompt_id, output; optional: repeat (0, 1, ...), finish_reason (length, max_tokens: "
    "cut off; without it, a cut-off answer can become a value), error."
)


@with_options
def score(
    paths: Annotated[
        list[Path], typer.Argument(help=f"Run directories; .jsonl, .csv, .tsv or .parquet files. {_FILES}")
    ],
    files: ResultFiles,
    options: MetricOptions,
    markdown: Annotated[Path | None, typer.Option(help="Write the headline table as Markdown.")] = None,
    published: Annotated[bool, typer.Option("--published", help="Show the paper's nine models too.")] = False,
) -> None:
    """Score model outputs: print the headline table, write the full result.

    Example: rupeebias score runs/* --json scores.json --csv tables/
    """
    from ..scoring.headline import print_headlines
    from ..scoring.results import (
        SCORED_TABLES,
        check_targets,
        csv_files,
        write_csv,
        write_json,
        write_markdown,
    )
    from ..scoring.score import score_results

    check_targets(paths, (files.json, markdown, files.csv, *csv_files(files.csv, SCORED_TABLES)))
    runs = score_results(
        paths, note=lambda text: typer.echo(f"note: {text}", err=True), **asdict(options.of_metric)
    )
    print_headlines(runs, published=published)
    for write, target in ((write_json, files.json), (write_markdown, markdown), (write_csv, files.csv)):
        if target:
            write(target, runs)
            typer.echo(f"wrote {target}", err=True)


@with_options
def compare(
    first: Annotated[Path, typer.Argument(help="A: a run directory or a file of outputs.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="B: another one, of the same prompts.", metavar="B")],
    files: ResultFiles,
    options: OutcomeOptions,
) -> None:
    """Compare two runs (models, arms, settings, dates) on the answers that both have: B less A.

    Differences of every headline statistic, of the mean gap by axis and of each identifier's deviation (who
    gets more or less than the others), with 95 % intervals and p-values from leaving out one base profile of
    both runs at a time. W is over what both runs define, so it can differ from what score says of one.

    Example: rupeebias compare runs/A runs/B --json comparison.json
    """
    from rupeebias.metric.tables import COMPARISON_TABLES

    from ..scoring.compare import compare_paths, print_comparison
    from ..scoring.results import check_targets, csv_files, write_comparison_csv, write_object

    check_targets((first, second), (files.json, files.csv, *csv_files(files.csv, COMPARISON_TABLES)))
    found = compare_paths(
        first,
        second,
        definitions=options.definitions,
        outcome=options.outcome,
        threshold=options.threshold,
        w_blocks=options.w_blocks,
        parse=options.parse,
    )
    print_comparison(found)
    if files.json:
        write_object(files.json, {"first": found.first, "second": found.second, **found.result})
        typer.echo(f"wrote {files.json}", err=True)
    if files.csv:
        write_comparison_csv(files.csv, found.result)
        typer.echo(f"wrote {files.csv}", err=True)
