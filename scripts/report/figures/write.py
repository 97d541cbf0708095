"""Figures as files, drawn by several processes where that pays."""

import io
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from ..data import FigureFile, ReportRun
from .catalogue import CATALOGUE
from .records import Drawing, FigureRun, figure_runs
from .style import house_style
from .svg import embeddable

_PNG_DPI: Final = 150
_MAX_PROCESSES: Final = 8


def write_figures(runs: Sequence[ReportRun], out: Path) -> list[FigureFile]:
    """Draw every figure that the runs cover into the folder `out`, as SVG and PNG, in the paper's order.

    A figure without data is left out. The same runs give the same files.
    """
    out.mkdir(parents=True, exist_ok=True)
    drawn = partial(_draw_and_write, runs=figure_runs(runs), out=out)
    n_processes = min(_n_processors(), _MAX_PROCESSES)
    if n_processes < 2:
        return [file for name in CATALOGUE for file in drawn(name)]
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
        return [file for files in pool.map(drawn, CATALOGUE) for file in files]


def _n_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _draw_and_write(name: str, runs: Sequence[FigureRun], out: Path) -> list[FigureFile]:
    with house_style(name):
        return [_write(drawing, out) for drawing in CATALOGUE[name](runs)]


def _write(drawing: Drawing, out: Path) -> FigureFile:
    svg, png = out / f"{drawing.name}.svg", out / f"{drawing.name}.png"
    text = io.StringIO()
    drawing.figure.savefig(text, format="svg", metadata={"Date": None})
    content = embeddable(text.getvalue(), drawing.name, drawing.title, drawing.alt_text)
    svg.write_text(content, encoding="utf-8", newline="\n")
    drawing.figure.savefig(png, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    return FigureFile(drawing.name, drawing.title, drawing.alt_text, svg, png, drawing.table)
