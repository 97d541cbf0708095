"""The page that visitors of the metric's Space see."""

from pathlib import Path

from rupeebias.dataset_builder.card import Addresses
from rupeebias.metric.constants import BENCHMARK_VERSION
from rupeebias.metric.version import METRIC_VERSION

_FOLDER = Path(__file__).parent / "templates"


def render_page(addresses: Addresses, fingerprint: str) -> str:
    """Return index.html of the Space: one file, nothing fetched from elsewhere, no script."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("space.html.j2").render(
        addresses=addresses,
        fingerprint=fingerprint,
        metric_version=METRIC_VERSION,
        benchmark_version=BENCHMARK_VERSION,
    )
