"""`rupeebias report`: tables, figures and a page of one or many runs."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..scoring.options import ReportOptions
from .command import with_options


@with_options
def report(
    paths: Annotated[
        list[Path], typer.Argument(help="Run directories, .jsonl, .csv, .tsv or .parquet files.")
    ],
    options: ReportOptions,
    out: Annotated[
        Path, typer.Option("--out", help="Folder of the report; an older one is replaced.")
    ] = Path("report"),
) -> None:
    """Write report.html, one page to read, explore, print and send, with all tables and figures as files.

    Example: rupeebias report runs/* --out report
    """
    from ..report.folder import FOLDERS, write_report

    def say(text: str) -> None:
        typer.echo(text, err=True)

    chosen = asdict(options.of_metric)
    page = write_report(paths, out, progress=say, note=lambda text: say(f"note: {text}"), **chosen)
    typer.echo(page)
    for name in FOLDERS:
        typer.echo(out / name)
