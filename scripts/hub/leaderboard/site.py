"""The pages of a board that are not a submission's: the table, the refused ones, the Space's card."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from markupsafe import Markup

from rupeebias.metric.constants import BENCHMARK_VERSION, DATASET_FINGERPRINT
from rupeebias.metric.version import METRIC_VERSION

from ... import __version__
from ...report.page.render import content_policy, environment, page_style
from ...scoring.headline import PUBLISHED_NOTE
from ..scale import FEWEST_READ_PCT
from .columns import COLUMNS
from .eligible import GAP
from .ranking import Placed
from .rows import board_rows, page_link

_HUB: Final = Path(__file__).parent.parent
TEMPLATES: Final = _HUB / "templates"
ASSETS: Final = _HUB / "assets"
_VERSIONS: Final = {
    "version": __version__,
    "metric_version": METRIC_VERSION,
    "benchmark_version": BENCHMARK_VERSION,
    "fingerprint": DATASET_FINGERPRINT,
}


def index_page(places: Sequence[Placed]) -> str:
    """Return the first page: the table, sorted; complete without JavaScript, with it also filtered."""
    rows = board_rows(places)
    return _page(
        "board.html.j2",
        script=_asset("board.js"),
        columns=COLUMNS,
        sorted_by=GAP,
        rows=rows,
        arms=sorted({row.arm for row in rows if row.arm}),
        providers=sorted({row.provider for row in rows if row.provider}),
        n_ranked=len(_of(places, "ranked")),
        n_submissions=sum(not row.is_published for row in rows),
        n_refused=len(_of(places, "refused")),
        superseded=[(x.entry, page_link(x.entry), x.standing) for x in _of(places, "superseded")],
        published_note=PUBLISHED_NOTE,
        fewest_read=f"{FEWEST_READ_PCT:.0f}",
    )


def _of(places: Sequence[Placed], status: str) -> list[Placed]:
    return [one for one in places if one.standing.status == status]


def refused_page(places: Sequence[Placed]) -> str:
    """Return the page that lists the refused submissions and why."""
    refused = [one.entry for one in _of(places, "refused")]
    return _page("refused.html.j2", script="", refused=refused)


def readme() -> str:
    """Return the card of the static Space."""
    return environment(TEMPLATES).get_template("readme.md.j2").render(**_VERSIONS)


def _page(template: str, *, script: str, **values: object) -> str:
    style = page_style() + _asset("board.css")
    return (
        environment(TEMPLATES)
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
    return (ASSETS / name).read_text(encoding="utf-8")
