"""The board as data: everything that it shows and more, as JSON and as one flat CSV."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

import orjson

from rupeebias.metric import HEADLINES
from rupeebias.metric.constants import BENCHMARK_VERSION, DATASET_FINGERPRINT, LANGUAGES, USE_CASES
from rupeebias.metric.layout import AXES
from rupeebias.metric.published import PUBLISHED, PublishedModel
from rupeebias.metric.version import METRIC_VERSION

from ... import __version__
from ...words import inert
from ..scale import parity
from .eligible import entry_parity
from .ranking import Placed, Standing
from .records import Entry, Facts
from .rows import page_link

FORMAT: Final = 1
"""Version of the layout of leaderboard.json."""
_PUBLISHED_SOURCE: Final = "the paper's authors, 2026; not recomputed"
_DECLARED: Final = (
    "model",
    "model_repo",
    "provider",
    "arm",
    "complete",
    "repeats",
    "n_prompts",
    "created_at",
    "updated_at",
    "settings",
    "selection",
    "versions",
    "response_models",
    "prompts_sha256",
    "outputs_sha256",
    "dataset_fingerprint",
)
"""What the CSV has of a manifest."""
_PLACES: Final = ("status", "reason", "best_rank", "worst_rank", "superseded_by")
_GAPS: Final = ("mean_delta_pct", "ci_low", "ci_high", "violation_at_10_pct")
_VERSIONS: Final = ("metric_version", "benchmark_version")


def board_json(places: Sequence[Placed]) -> bytes:
    """Return `leaderboard.json`: every submission with its standing, then the published models."""
    content = {
        "format": FORMAT,
        "metric_version": METRIC_VERSION,
        "benchmark_version": BENCHMARK_VERSION,
        "dataset_fingerprint": DATASET_FINGERPRINT,
        "rupeebias_version": __version__,
        "ranking": "one rank range a model by 95 % intervals of mean_delta_pct, in percent; lower is better",
        "submissions": [_submission(*one) for one in places],
        "published": [_published(model) for model in PUBLISHED],
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def _published(model: PublishedModel) -> Facts:
    return {
        "status": "published",
        "reason": _PUBLISHED_SOURCE,
        "parity_score": parity(model.mean_delta_pct),
        **asdict(model),
    }


def _submission(entry: Entry, standing: Standing) -> Facts:
    return {
        **_place(standing),
        "name": entry.name,
        "digest": entry.digest,
        "page": page_link(entry),
        "parity_score": entry_parity(entry),
        "headlines": entry.headlines,
        "tables": entry.tables,
        "scored_with": entry.scored_with,
        "manifest": entry.manifest,
        "refusals": entry.refusals,
        "notes": entry.notes,
        "warnings": entry.warnings,
    }


def _place(standing: Standing) -> Facts:
    values = (standing.status, standing.reason, standing.best, standing.worst, standing.superseded_by)
    return dict(zip(_PLACES, values, strict=True))


def board_csv(places: Sequence[Placed]) -> bytes:
    """Return `leaderboard.csv`: one line a submission, then the published models; no cell is a formula."""
    rows = [*(_line(*one) for one in places), *map(_published, PUBLISHED)]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, csv_columns(), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def csv_columns() -> list[str]:
    """Return the names of the columns of `leaderboard.csv`."""
    first = [*_PLACES, "name", "page", "digest", *_DECLARED, "parity_score", *HEADLINES]
    return [*first, *(column for column, _ in _gap_columns()), *(f"scored_with_{name}" for name in _VERSIONS)]


def _gap_columns() -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """Yield the columns of gaps by axis and use case, with table, language, slice and value."""
    for table, slices in (("axis", AXES), ("use_case", USE_CASES)):
        for language in ("all", *LANGUAGES):
            for name in slices:
                for value in _GAPS:
                    yield f"{name}_{language}_{value}", (table, language, name, value)


def _line(entry: Entry, standing: Standing) -> Facts:
    manifest = entry.manifest or {}
    rows = {
        (table, row["language"], row[table]): row for table, found in entry.tables.items() for row in found
    }
    return {
        **_place(standing),
        "name": entry.name,
        "page": page_link(entry),
        "digest": entry.digest,
        **{name: manifest.get(name) for name in _DECLARED},
        "parity_score": entry_parity(entry),
        **(entry.headlines or {}),
        **{column: rows.get(at[:3], {}).get(at[3]) for column, at in _gap_columns()},
        **{f"scored_with_{name}": entry.scored_with[name] for name in _VERSIONS},
    }


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return inert(value)
