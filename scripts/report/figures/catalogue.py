"""Which figures there are, and how they become files: drawn by several processes, in the paper's order."""

import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG

from ...processes import n_processors, run_tasks
from ..runs import ReportRun
from .bars import BarFigure, fairness_effects, mean_concordance_bars, use_case_bars
from .deviations import identifier_deviations
from .effects import group_effects, systematic_gaps
from .heat import canonical_pairs, language_moderation, maximum_gaps
from .radar import radars
from .scatter import gap_against_consistency
from .style import Drawing, FigureRun, figure_runs, house_style, lay_out
from .svg import FigureFile, embeddable

Draw: TypeAlias = Callable[[Sequence[FigureRun]], list[Drawing]]

_PNG_DPI: Final = 150
_MOST_PROCESSES: Final = 6
_INTERVALS: Final = "Lines: 95 % intervals."
GAPS: Final = BarFigure(
    "use-case-gap",
    "Mean gap by use case",
    f"Mean Δ% between identifiers in otherwise identical prompts. {_INTERVALS}",
    "use_case",
    "mean_delta_pct",
    1,
    " %",
)
CONCORDANCE: Final = BarFigure(
    "use-case-concordance",
    "How consistently identifiers are ranked, by use case",
    "Mean Kendall's W over axes, 0 to 1: higher means the same identifiers are favoured again and again.",
    "kendall_w_use_case",
    "kendall_w",
    3,
    tested=True,
)
MERIT: Final = BarFigure(
    "merit-sensitivity",
    "How much the answers follow the profile",
    f"Mean Δ% between base profiles with the identifier fixed: higher means more responsive. {_INTERVALS}",
    "merit_sensitivity",
    "merit_sensitivity_pct",
    1,
    " %",
)
AGREEMENT: Final = BarFigure(
    "profile-rank-agreement",
    "Whether identifiers agree on which profiles are better",
    f"Mean Spearman's ρ of the profiles' order between identifiers; dashed: perfect agreement. {_INTERVALS}",
    "profile_rank_agreement",
    "mean_rho",
    3,
    reference=1.0,
)


def catalogue(axes: Sequence[str]) -> dict[str, Draw]:
    """Return what draws each figure of a benchmark with these axes, by name: those of the first screen, then
    in the order of the paper.

    Each draws no, one or several figures from runs.
    """
    return {
        "group-effects": group_effects,
        "systematic-gap": systematic_gaps,
        "radar": radars,
        "mean-concordance": mean_concordance_bars,
        "scatter": gap_against_consistency,
        **{f"deviation-{axis}": partial(identifier_deviations, axis=axis) for axis in axes},
        "language": language_moderation,
        "use-case-gap": partial(use_case_bars, what=GAPS),
        "use-case-concordance": partial(use_case_bars, what=CONCORDANCE),
        "canonical-pairs": canonical_pairs,
        "maximum-gaps": maximum_gaps,
        "merit": partial(use_case_bars, what=MERIT),
        "agreement": partial(use_case_bars, what=AGREEMENT),
        "fairness": fairness_effects,
    }


def write_figures(runs: Sequence[ReportRun], out: Path) -> list[FigureFile]:
    """Draw every figure that the runs cover into the folder `out`, as SVG and PNG, in the paper's order.

    A figure without data is left out. The same runs give the same files.
    """
    out.mkdir(parents=True, exist_ok=True)
    ready = figure_runs(runs)
    names = list(catalogue(runs[0].design.axis_names))
    task = partial(draw_and_write, runs=ready, out=out)
    files: dict[int, list[FigureFile]] = {}
    for at, found in run_tasks(task, names, workers=min(n_processors(), _MOST_PROCESSES)):
        if isinstance(found, Exception):
            raise found
        files[at] = found
    return [file for at in range(len(names)) for file in files[at]]


def draw_and_write(name: str, runs: Sequence[FigureRun], out: Path) -> list[FigureFile]:
    """Draw and write the figures of one entry of the catalogue."""
    with house_style(name):
        return [_write(drawing, out) for drawing in catalogue(runs[0].design.axis_names)[name](runs)]


def _write(drawing: Drawing, out: Path) -> FigureFile:
    svg, png = out / f"{drawing.name}.svg", out / f"{drawing.name}.png"
    figure = drawing.figure
    lay_out(figure)
    text = io.StringIO()
    figure.dpi = 72  # savefig would lay out and draw twice for each format
    svg_canvas: Any = FigureCanvasSVG(figure)
    svg_canvas.print_svg(text, metadata={"Date": None})
    content = embeddable(text.getvalue(), drawing.name, drawing.title, drawing.alt_text)
    svg.write_text(content, encoding="utf-8", newline="\n")
    figure.dpi = _PNG_DPI
    png_canvas: Any = FigureCanvasAgg(figure)
    png_canvas.print_png(png, metadata={"Software": None})
    return FigureFile(drawing.name, drawing.title, drawing.alt_text, svg, png, drawing.table)
