"""The files of a board that are not a submission's: the table, the refused ones, JSON, CSV, the Space's card.

A list of all files tells what a build wrote from what somebody else put beside it.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson
from markupsafe import Markup

from rupeebias.metric.design import Design
from rupeebias.metric.published import PUBLISHED, PublishedModel
from rupeebias.metric.version import METRIC_VERSION

from .. import __version__
from ..report.page.render import content_policy, environment, page_style
from ..scoring.headline import PUBLISHED_NOTE
from ..words import inert, joined
from .eligibility import FEWEST_READ_PCT, GAP, LEAST_RESPONSIVE_PCT, parity_of
from .entries import Entry, Facts
from .ranking import Placed, Standing
from .table import board_rows, columns_of, page_link, paper_rows, widest_interval

PAGES: Final = "models"
"""Folder of the site that holds the submissions' pages."""
LIST: Final = "files.json"
"""Names every other file of the site with its SHA-256."""
FORMAT: Final = 1
"""Version of the layout of leaderboard.json."""
TEMPLATES: Final = Path(__file__).parent / "templates"
_ASSETS: Final = Path(__file__).parent / "assets"
_MADE_BY: Final = "rupeebias leaderboard"
_MAX_LIST: Final = 10_000_000
"""Bytes; a list of 10,000 submissions is smaller."""
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
_PRIVATE: Final = ("model_key", "settings_key", "has_page", "law", "answers")
"""What the board keeps of an entry for its own work."""
_PLACES: Final = ("status", "reason", "best_rank", "worst_rank", "superseded_by")
_GAPS: Final = ("mean_delta_pct", "ci_low", "ci_high", "violation_at_10_pct")


def write_site(site: Path, places: Sequence[Placed], design: Design, commit: str | None = None) -> None:
    """Write everything but the submissions' pages, which are there, and the list of all files."""
    files = {
        "index.html": index_page(places, design, commit).encode(),
        "refused.html": _page(
            "refused.html.j2", design, script="", refused=[x.entry for x in _of(places, "refused")]
        ).encode(),
        "leaderboard.json": board_json(places, design, commit),
        "leaderboard.csv": board_csv(places, design),
        "README.md": environment(TEMPLATES).get_template("readme.md.j2").render(**_versions(design)).encode(),
    }
    for name, content in files.items():
        (site / name).write_bytes(content)
    listed = {"made_by": _MADE_BY, "files": {name: _hash(path) for name, path in _files(site).items()}}
    (site / LIST).write_bytes(_json(listed))


# --- pages


def index_page(places: Sequence[Placed], design: Design, commit: str | None = None) -> str:
    """Return the first page: the ranking, sorted; complete without JavaScript, with it also filtered.

    `commit` is that of the results dataset.
    """
    columns = columns_of(design, widest_interval(places))
    rows = board_rows(places, columns)
    return _page(
        "board.html.j2",
        design,
        script=_asset("board.js"),
        columns=columns,
        sorted_by=GAP,
        rows=rows,
        arms=sorted({row.arm for row in rows if row.arm}),
        providers=sorted({row.provider for row in rows if row.provider}),
        n_ranked=len(_of(places, "ranked")),
        n_refused=len(_of(places, "refused")),
        superseded=[(x.entry, page_link(x.entry), x.standing) for x in _of(places, "superseded")],
        paper_rows=paper_rows(places, design),
        published_note=PUBLISHED_NOTE,
        fewest_read=f"{FEWEST_READ_PCT:.0f}",
        least_responsive=f"{LEAST_RESPONSIVE_PCT:g}",
        commit=commit,
        axes=joined(axis.label.lower() for axis in design.axes),
    )


def _of(places: Sequence[Placed], status: str) -> list[Placed]:
    return [one for one in places if one.standing.status == status]


def _page(template: str, design: Design, *, script: str, **values: object) -> str:
    style = page_style() + _asset("board.css")
    return (
        environment(TEMPLATES)
        .get_template(template)
        .render(
            **_versions(design),
            **values,
            style=Markup(style),  # noqa: S704 our own files
            script=Markup(script),  # noqa: S704 our own file
            policy=content_policy(style, script),
        )
    )


def _versions(design: Design) -> dict[str, str]:
    return {
        "version": __version__,
        "metric_version": METRIC_VERSION,
        "benchmark_version": design.version,
        "fingerprint": design.fingerprint,
    }


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


# --- data


def board_json(places: Sequence[Placed], design: Design, commit: str | None = None) -> bytes:
    """Return `leaderboard.json`: every submission with its standing, then the published models."""
    return _json(
        {
            "format": FORMAT,
            "metric_version": METRIC_VERSION,
            "benchmark_version": design.version,
            "dataset_fingerprint": design.fingerprint,
            "rupeebias_version": __version__,
            "results_commit": commit,
            "ranking": f"one rank range a model by paired differences of {GAP}, in percent; lower is better",
            "submissions": [_submission(*one) for one in places],
            "published": [_published(model) for model in PUBLISHED],
        }
    )


def _json(content: object) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def _published(model: PublishedModel) -> Facts:
    return {
        "status": "published",
        "reason": _PUBLISHED_SOURCE,
        **{(key if key == "model" else f"paper_{key}"): value for key, value in asdict(model).items()},
    }


def _submission(entry: Entry, standing: Standing) -> Facts:
    kept = {key: value for key, value in entry.to_json().items() if key not in _PRIVATE}
    own = {"page": page_link(entry), "parity_score": _parity(entry)}
    return {**_place(standing), **kept, **own}


def _parity(entry: Entry) -> float | None:
    return parity_of(entry.headlines) if entry.accepted else None


def _place(standing: Standing) -> Facts:
    values = (standing.status, standing.reason, standing.best, standing.worst, standing.superseded_by)
    return dict(zip(_PLACES, values, strict=True))


def board_csv(places: Sequence[Placed], design: Design) -> bytes:
    """Return `leaderboard.csv`: one line a submission, then the published models; no cell is a formula."""
    rows = [*(_line(*one, design) for one in places), *map(_published, PUBLISHED)]
    text = io.StringIO(newline="")
    columns = dict.fromkeys(
        key for row in [_line(Entry(""), Standing("refused"), design), *rows] for key in row
    )
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _csv_cell(value) for key, value in row.items()} for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def _line(entry: Entry, standing: Standing, design: Design) -> Facts:
    manifest = entry.manifest or {}
    rows = {
        (table, row["language"], row[table]): row
        for table in ("axis", "use_case")
        for row in entry.tables.get(table, ())
    }
    return {
        **_place(standing),
        "name": entry.name,
        "page": page_link(entry),
        "digest": entry.digest,
        "submitter": entry.submitter,
        **{name: manifest.get(name) for name in _DECLARED},
        "parity_score": _parity(entry),
        **(entry.headlines or {}),
        **{column: rows.get(at[:3], {}).get(at[3]) for column, at in _gap_columns(design)},
        "scored_with_metric_version": METRIC_VERSION,
        "scored_with_benchmark_version": design.version,
    }


def _gap_columns(design: Design) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """Yield the columns of gaps by axis and use case, with table, language, slice and value."""
    for table, slices in (("axis", design.axis_names), ("use_case", design.use_case_names)):
        for language in ("all", *design.language_names):
            for name in slices:
                for value in _GAPS:
                    yield f"{name}_{language}_{value}", (table, language, name, value)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, dict):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return inert(value)


# --- the list of files


def foreign_files(out: Path) -> list[str]:
    """Return what a folder holds that no build wrote, or that was changed since, by relative name."""
    path = out / LIST
    listed = _listed(path.read_bytes()) if path.is_file() and not path.is_symlink() else {}
    found = _files(out)
    if listed:
        del found[LIST]
    return list(_foreign(found, listed))


def _listed(content: bytes) -> dict[str, str]:
    """Return the SHA-256 of each file that a list names; none for anything that is no list of ours."""
    try:
        found: Any = orjson.loads(content) if len(content) <= _MAX_LIST else None
    except ValueError:
        return {}
    if not isinstance(found, dict) or found.get("made_by") != _MADE_BY:
        return {}
    files = found.get("files")
    return dict(files) if isinstance(files, dict) else {}


def _foreign(found: Mapping[str, Path], listed: Mapping[str, str]) -> Iterator[str]:
    for name, path in found.items():
        if not path.is_file() or path.is_symlink() or name not in listed:
            yield name
        elif listed[name] != _hash(path):
            yield f"{name}, changed since"


def _files(folder: Path) -> dict[str, Path]:
    """Return everything in a folder by its relative name, but for the folder of the pages itself."""
    every = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
    pages = every.get(PAGES)
    if pages is not None and pages.is_dir() and not pages.is_symlink():
        del every[PAGES]
    return every


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
