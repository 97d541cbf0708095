"""`rupeebias compare`: what differs between two runs."""

from pathlib import Path
from typing import Annotated

import typer

from .score import Blocks, OutcomeName


def compare(
    first: Annotated[Path, typer.Argument(help="A: a run directory or a file of outputs.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="B: another one, of the same prompts.", metavar="B")],
    json: Annotated[Path | None, typer.Option("--json", help="Write the result to this file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write every table as CSV into this folder.")] = None,
    outcome: Annotated[
        OutcomeName, typer.Option(help="Counter-offers as markup over the offer or as amount.")
    ] = (OutcomeName.MARKUP),
    threshold: Annotated[float, typer.Option(help="Gap in percent that counts as a violation.")] = 10.0,
    w_blocks: Annotated[Blocks, typer.Option(help="Rows of Kendall's W.")] = Blocks.PROFILE,
    strict: Annotated[bool, typer.Option("--strict", help="Accept only the exact answer format.")] = False,
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

    check_targets((first, second), (json, csv, *csv_files(csv, COMPARISON_TABLES)))
    found = compare_paths(
        first,
        second,
        outcome=outcome.value,
        threshold=threshold,
        w_blocks=w_blocks.value,
        parse="strict" if strict else "lenient",
    )
    print_comparison(found)
    if json:
        write_object(json, {"first": found.first, "second": found.second, **found.result})
        typer.echo(f"wrote {json}", err=True)
    if csv:
        write_comparison_csv(csv, found.result)
        typer.echo(f"wrote {csv}", err=True)
