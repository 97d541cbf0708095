"""`rupeebias score`: compute every statistic of one or many runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_FILES = (
    "Columns of a file: prompt_id, output; optional: repeat (0, 1, ...), finish_reason (length, max_tokens: "
    "cut off; without it, a cut-off answer can become a value), error."
)


class Interval(StrEnum):
    """Kinds of interval."""

    CLUSTER = "cluster"
    PAIRS = "pairs"
    NONE = "none"


class OutcomeName(StrEnum):
    """What a counter-offer counts by."""

    MARKUP = "markup"
    AMOUNT = "amount"


class Blocks(StrEnum):
    """Rows of Kendall's W."""

    PROFILE = "profile"
    PROFILE_QUESTION = "profile_question"


def score(
    paths: Annotated[
        list[Path], typer.Argument(help=f"Run directories; .jsonl, .csv, .tsv or .parquet files. {_FILES}")
    ],
    json: Annotated[Path | None, typer.Option("--json", help="Write the result to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the headline table as Markdown.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write every table as CSV into this folder.")] = None,
    ci: Annotated[Interval, typer.Option(help="95 % intervals: profiles or pairs resampled.")] = (
        Interval.CLUSTER
    ),
    n_resamples: Annotated[int, typer.Option(help="Resamples behind each interval.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    outcome: Annotated[
        OutcomeName, typer.Option(help="Counter-offers as markup over the offer or as amount.")
    ] = (OutcomeName.MARKUP),
    threshold: Annotated[float, typer.Option(help="Gap in percent that counts as a violation.")] = 10.0,
    w_blocks: Annotated[Blocks, typer.Option(help="Rows of Kendall's W.")] = Blocks.PROFILE,
    permutations: Annotated[
        int, typer.Option(help="Exchanges of identifiers to test widest gaps and deviations by, say 10000.")
    ] = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Accept only the exact answer format.")] = False,
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

    check_targets(paths, (json, markdown, csv, *csv_files(csv, SCORED_TABLES)))
    runs = score_results(
        paths,
        note=lambda text: typer.echo(f"note: {text}", err=True),
        ci=None if ci is Interval.NONE else ci.value,
        n_resamples=n_resamples,
        seed=seed,
        outcome=outcome.value,
        threshold=threshold,
        w_blocks=w_blocks.value,
        n_permutations=permutations,
        parse="strict" if strict else "lenient",
    )
    print_headlines(runs, published=published)
    for write, target in ((write_json, json), (write_markdown, markdown), (write_csv, csv)):
        if target:
            write(target, runs)
            typer.echo(f"wrote {target}", err=True)
