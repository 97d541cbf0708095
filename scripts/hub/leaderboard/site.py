"""The pages of a board that are not a submission's: the table, the refused ones, the Space's card."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from markupsafe import Markup

from rupeebias.metric.design import BENCHMARK_VERSION, DATASET_FINGERPRINT
from rupeebias.metric.version import METRIC_VERSION

from ... import __version__
from ...report.page.render import content_policy, environment, page_style
from ...scoring.headline import PUBLISHED_NOTE
from .columns import COLUMNS
from .ranking import Standing
from .records import Entry
from .rows import board_rows, page_link

FOLDER: Final = Path(__file__).parent
_VERSIONS: Final = {
    "version": __version__,
    "metric_version": METRIC_VERSION,
    "benchmark_version": BENCHMARK_VERSION,
    "fingerprint": DATASET_FINGERPRINT,
}


def index_page(entries: Sequence[Entry], places: Mapping[str, Standing]) -> str:
    """Return the first page: the table, sorted; complete without JavaScript, with it also filtered."""
    rows = board_rows(entries, places)
    superseded = [entry for entry in entries if places[entry.name].status == "superseded"]
    return _page(
        "board.html.j2",
        script=_asset("board.js"),
        columns=COLUMNS,
        rows=rows,
        arms=sorted({row.arm for row in rows if row.arm}),
        providers=sorted({row.provider for row in rows if row.provider}),
        n_ranked=sum(standing.status == "ranked" for standing in places.values()),
        n_submissions=sum(not row.is_published for row in rows),
        n_refused=sum(standing.status == "refused" for standing in places.values()),
        superseded=[(x, page_link(x), places[x.name].superseded_by) for x in superseded],
        published_note=PUBLISHED_NOTE,
    )


def refused_page(entries: Sequence[Entry], places: Mapping[str, Standing]) -> str:
    """Return the page that lists the refused submissions and why."""
    refused = [entry for entry in entries if places[entry.name].status == "refused"]
    return _page("refused.html.j2", script="", refused=refused)


def readme() -> str:
    """Return the card of the static Space."""
    return environment(FOLDER / "templates").get_template("readme.md.j2").render(**_VERSIONS)


def _page(template: str, *, script: str, **values: object) -> str:
    style = page_style() + _asset("board.css")
    return (
        environment(FOLDER / "templates")
        .get_template(template)
        .render(
            **_VERSIONS,
            **values,
            style=Markup(style),  # noqa: S704 our own files
            script=Markup(script),  # noqa: S704 our own file
            policy=content_policy(style, script),
        )
    )


@cache
def _asset(name: str) -> str:
    return (FOLDER / "assets" / name).read_text(encoding="utf-8")
