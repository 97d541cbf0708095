"""Figures as files, drawn by several processes."""

import io
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import orjson

from ...children import n_processors, start_module
from ...errors import RupeeBiasError
from ..data import FigureFile, ReportRun
from .catalogue import CATALOGUE
from .records import Drawing, FigureRun, figure_runs
from .style import house_style
from .svg import embeddable

_PNG_DPI: Final = 150
_MAX_PROCESSES: Final = 6
_SLOWEST_FIRST: Final = ("maximum-gaps", "canonical-pairs", "deviation-region", "deviation-caste")


def write_figures(runs: Sequence[ReportRun], out: Path) -> list[FigureFile]:
    """Draw every figure that the runs cover into the folder `out`, as SVG and PNG, in the paper's order.

    A figure without data is left out. The same runs give the same files. This process draws a share and
    starts others for the rest, one a processor.
    """
    out.mkdir(parents=True, exist_ok=True)
    ready = figure_runs(runs)
    own, *others = shares(min(n_processors(), _MAX_PROCESSES))
    started = [_start(ready, names, out) for names in others]
    files = {name: draw_and_write(name, ready, out) for name in own}
    for process in started:
        files.update(_finished(process))
    return [file for name in CATALOGUE for file in files[name]]


def shares(n: int) -> list[list[str]]:
    """Return the names of the figures dealt to n processes."""
    order = [*_SLOWEST_FIRST, *(name for name in CATALOGUE if name not in _SLOWEST_FIRST)]
    return [order[at::n] for at in range(n)]


def draw_and_write(name: str, runs: Sequence[FigureRun], out: Path) -> list[FigureFile]:
    """Draw and write the figures of one entry of the catalogue."""
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


def _start(runs: Sequence[FigureRun], names: Sequence[str], out: Path) -> subprocess.Popen[bytes]:
    process = start_module("rupeebias.report.figures.worker")
    job = {"names": names, "out": str(out), "runs": [asdict(run) for run in runs]}
    if process.stdin:
        process.stdin.write(orjson.dumps(job))
        process.stdin.close()
        process.stdin = None
    return process


def _finished(process: subprocess.Popen[bytes]) -> dict[str, list[FigureFile]]:
    written, _ = process.communicate()
    if process.returncode:
        raise RupeeBiasError(
            f"a process that draws figures ended with status {process.returncode}: its message stands above"
        )
    return {name: [_file(**fields) for fields in files] for name, files in orjson.loads(written).items()}


def _file(svg: str, png: str, **fields: Any) -> FigureFile:
    return FigureFile(svg=Path(svg), png=Path(png), **fields)
