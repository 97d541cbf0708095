"""`rupeebias build`: the dataset and the loadable metric as folders."""

import time
from pathlib import Path
from typing import Annotated

import typer

DATASET_FOLDER = Path("rupeebias")
METRIC_FOLDER = Path("rupeebias_metric")


def build(
    out: Annotated[Path | None, typer.Option(help="Folder of the dataset.", show_default="rupeebias")] = None,
    metric_out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the loadable metric.",
            show_default="rupeebias_metric; with --out none",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Verify the folders instead of writing them.")
    ] = False,
) -> None:
    """Write the dataset (Parquet, card, eval.yaml, croissant.json) and the metric that evaluate.load takes.

    Example: rupeebias build, then load_dataset("rupeebias") in Python. A folder is replaced as a
    whole and only if it holds nothing else. With --check every value is compared, and the first
    one that differs is named.
    """
    from rupeebias.dataset_builder.folder import build_dataset, check_dataset
    from rupeebias.dataset_builder.metric_design import build_metric, check_metric

    start = time.perf_counter()
    if metric_out is None and out is None:
        metric_out = METRIC_FOLDER
    out = out or DATASET_FOLDER
    summary = check_dataset(out) if check else build_dataset(out)
    if metric_out is not None:
        (check_metric if check else build_metric)(metric_out)
    controls = f" and {summary.control_rows:,} controls" if summary.control_rows else ""
    typer.echo(
        f"{out}: {'verified, ' if check else ''}{summary.rows:,} prompts{controls}, "
        f"{summary.configurations} configurations, {summary.file_bytes / 1e6:.1f} MB, "
        f"fingerprint {summary.fingerprint}, {time.perf_counter() - start:.1f} s"
    )
