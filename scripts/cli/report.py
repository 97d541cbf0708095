"""`rupeebias report`: tables, figures and a page of one or many runs."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    paths: Annotated[
        list[Path], typer.Argument(help="Run directories, .jsonl, .csv, .tsv or .parquet files.")
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Folder of the report; an older one is replaced.")
    ] = Path("report"),
) -> None:
    """Write report.html, one page to read, explore, print and send, with all tables and figures as files.

    Example: rupeebias report runs/* --out report
    """
    from ..report.api import FOLDERS, write_report

    page = write_report(paths, out)
    typer.echo(page)
    for name in FOLDERS:
        typer.echo(out / name)
