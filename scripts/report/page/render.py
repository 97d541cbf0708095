"""Writes `report.html`: templates, style and scripts become one file under a strict security policy."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup

from rupeebias.metric.design import Design
from rupeebias.metric.statuses import STATUSES

from ...words import number, share, shortened, visible, with_interval
from ..figures.svg import FigureFile, svg_source
from ..runs import ReportRun, report_tables
from .answers import pack_answers, packed, packed_json
from .context import page_context
from .questions import questions
from .tables import STATUS_LABELS, pivot

MAX_PAGE: Final = 2_900_000
"""Size in bytes that a page of up to nine full runs stays below."""
PAGE_REST: Final = 150_000
"""What a page takes without runs: code, style, prompts, published values."""
RUN_REST: Final = 60_000
"""What a run takes beside its figures and answers: contrasts and tables."""
FEWEST_BYTES: Final = 50_000
"""What the answers of a run may take in any case: twenty runs make a larger page."""
FOLDER: Final = Path(__file__).parent
FIRST_CHARTS: Final = ("group-effects", "systematic-gap")
"""Names of the figure that the first screen shows: of one run, or of several."""
SCRIPTS: Final = ("unpack", "prompts", "gaps", "elements", "chart", "explorer")
"""The page's scripts in the order in which they use each other."""


@dataclass(frozen=True, slots=True)
class Section:
    """What a site that holds many pages adds to one of them."""

    heading: str
    content: Markup
    """Safe markup: whoever makes it has escaped what it holds."""
    home: str
    """Address of the site's first page, relative to this one."""
    home_label: str


def write_page(runs: Sequence[ReportRun], figures: Sequence[FigureFile], path: Path) -> None:
    """Write the page of some runs, with their figures, to `path`; the same input gives the same bytes."""
    path.write_text(render_page(runs, figures), encoding="utf-8", newline="\n")


def render_page(
    runs: Sequence[ReportRun],
    figures: Sequence[FigureFile],
    *,
    section: Section | None = None,
    max_page: int = MAX_PAGE,
) -> str:
    """Return the page: complete in itself, everything that comes from a run escaped or packed.

    `section` follows the summary; answers are cut so that the page stays below `max_page` bytes.
    """
    style = page_style()
    script = _page_script()
    context = page_context(runs)
    shown = list(_figures(runs, figures))
    budget = answers_budget(len(runs), sum(len(figure["source"]) for figure in shown), max_page)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            **context,
            first_chart=next((figure for figure in shown if figure["name"] in FIRST_CHARTS), None),
            figures=[figure for figure in shown if figure["name"] not in FIRST_CHARTS],
            section=section,
            style=Markup(style),  # noqa: S704 our own file
            script=Markup(script),  # noqa: S704 our own files
            embedded=list(_embedded(runs, budget)),
            policy=content_policy(style, script),
        )
    )


def answers_budget(n_runs: int, figures_size: int, max_page: int = MAX_PAGE) -> int:
    """Return how many bytes the packed answers of each run may take so that the page stays small."""
    rest = PAGE_REST + n_runs * RUN_REST + figures_size
    return max(FEWEST_BYTES, (max_page - rest) * 3 // 4 // n_runs)  # base64 turns 3 bytes into 4


def content_policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy that lets this style and this script run, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def page_style() -> str:
    """Return the style of the page."""
    return _asset("page.css")


@cache
def _page_script() -> str:
    return "".join(_asset(f"{name}.js") for name in SCRIPTS)


def _asset(name: str) -> str:
    return (FOLDER / "assets" / name).read_text(encoding="utf-8")


@cache
def environment(*folders: Path) -> jinja2.Environment:
    """Return the templates of these folders and of the page, kept compiled: a site renders many pages."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, FOLDER / "templates"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        number=number,
        share=share,
        visible=visible,
        shortened=shortened,
        interval=lambda ends: with_interval(*ends),
    )
    return made


@cache
def _design(design: Design) -> str:
    return packed_json(questions(design))


def _embedded(runs: Sequence[ReportRun], budget: int) -> Iterator[tuple[str, str]]:
    """Yield the page's data: names of script elements and their content."""
    yield "design", _design(runs[0].design)
    described = []
    for at, run in enumerate(runs):
        answers = pack_answers(run.answers, run.design, budget, len(runs))
        described.append(
            {
                "name": shortened(run.name),
                "arm": run.arm,
                "outcome": run.result["settings"]["outcome"],
                "repeats": len(answers.indexes),
                "cut": answers.cut,
            }
        )
        content = {"entries": answers.entries, "effects": _effects(run)}
        yield f"answers-{at}", packed_json(content)
        yield f"index-{at}", packed(answers.planes)
    labels = [STATUS_LABELS[str(status)] for status in STATUSES]
    yield "report", packed_json({"runs": described, "statuses": labels, "start": _start(runs)})


def _effects(run: ReportRun) -> list[Any]:
    """Return [effect, low, high] by use case, language, axis and identifier; what is over all comes last."""
    design = run.design
    keys = ("use_case", "language", "axis", "identifier")
    found = {
        tuple(row[key] for key in keys): [
            None if row[name] is None else round(row[name], 3) for name in ("effect_pct", "ci_low", "ci_high")
        ]
        for row in run.result["tables"]["group_effect"]
    }
    return [
        [
            [
                [found.get((use_case, language, axis, name)) for name in names]
                for axis, names in design.identifiers.items()
            ]
            for language in (*design.language_names, "all")
        ]
        for use_case in (*design.use_case_names, "all")
    ]


def _start(runs: Sequence[ReportRun]) -> dict[str, Any]:
    """Return what the explorer opens with: all use cases, and the axis with the largest systematic gap."""
    names, tables = runs[0].design.axis_names, runs[0].result["tables"]
    rows = [
        row
        for row in tables["systematic_gap"]
        if row["language"] == row["use_case"] == "all" and row["axis"] in names
    ] or [row for row in tables["axis"] if row["language"] == "all"]
    widest = max(rows, key=lambda row: row.get("systematic_gap_squared", 0), default={"axis": names[0]})
    return {"useCase": "all", "axis": names.index(widest["axis"])}


def _figures(runs: Sequence[ReportRun], figures: Sequence[FigureFile]) -> Iterator[dict[str, Any]]:
    """Yield the figures as images: an image runs no script, whatever its labels hold."""
    tables = report_tables(runs) if figures else []
    shown: dict[str, str] = {"headline": "compare", "parse_status": "quality"}
    for figure in figures:
        yield {
            "name": figure.name,
            "title": figure.title,
            "alt_text": figure.alt_text,
            "source": svg_source(figure.svg.read_text(encoding="utf-8")),
            "pivot": None if figure.table in shown else pivot(figure.table, runs, tables),
            "same_as": shown.get(figure.table),
        }
        shown.setdefault(figure.table, f"figure-{figure.name}")
