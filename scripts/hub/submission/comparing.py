"""Whether the scores that a submission states are those that its outputs give."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rupeebias.metric import HEADLINES, TABLES, Result
from rupeebias.metric.version import METRIC_VERSION

from .records import Problem, SubmissionManifest
from .strict_json import strict_json
from .texts import shown

_TOLERANCE: Final = 1e-6
"""Absolute and relative: computers differ in the last digits."""
_SHOWN: Final = 5
_OLDER: Final[tuple[str, ...]] = ()
"""Earlier versions of the metric, whose scores have the same form and may differ: there is none yet."""
_VERSIONS: Final = ("metric", "benchmark")
"""Versions that a manifest and the settings of its scores both state."""
_KEYS: Final = (*HEADLINES, "warnings", "settings", "tables")


def score_problems(
    data: bytes, manifest: SubmissionManifest | None, result: Result | None
) -> Iterator[Problem]:
    """Yield what is wrong with the content of `scores.json`, beside the manifest and recomputed `result`.

    With None, where nothing could be read or recomputed, only its form is checked.
    """
    try:
        stated = strict_json(data)
    except ValueError as error:
        yield Problem(f"scores.json cannot be read: {error}")
        return
    version = _metric_version(stated)
    if version is None:
        yield Problem("scores.json is not the result of `rupeebias score`: it has no settings.metric_version")
        return
    yield from _version_problems(version, stated["settings"], manifest)
    if faults := list(_form_faults(stated)):
        yield from (Problem(f"scores.json {fault}") for fault in faults)
    elif version == METRIC_VERSION and result is not None:
        yield from _differences_as_problem(stated, result)


def _version_problems(
    version: str, settings: Mapping[str, Any], manifest: SubmissionManifest | None
) -> Iterator[Problem]:
    if version in _OLDER:
        yield Problem(
            f"scores.json is by metric {version}, recomputed values by {METRIC_VERSION} count", False
        )
    elif version != METRIC_VERSION:
        yield Problem(
            f"scores.json was made with metric {shown(version, 30)}, which this version does not know: "
            f"make the submission again with metric {METRIC_VERSION}"
        )
    said_versions = {} if manifest is None else manifest.versions
    for name in _VERSIONS:
        said, scored = said_versions.get(name), settings.get(f"{name}_version")
        if said is not None and said != scored:
            yield Problem(
                f"manifest.json says {name} {shown(said, 30)}, scores.json says {shown(scored, 30)}"
            )


def _metric_version(stated: Any) -> str | None:
    settings = stated.get("settings") if isinstance(stated, dict) else None
    version = settings.get("metric_version") if isinstance(settings, dict) else None
    return version if isinstance(version, str) else None


def _form_faults(stated: dict[str, Any]) -> Iterator[str]:
    if unknown := [key for key in stated if key not in _KEYS]:
        yield f"has unknown keys: {', '.join(shown(key) for key in unknown[:_SHOWN])}"
    if missing := [key for key in _KEYS if key not in stated]:
        yield f"lacks {', '.join(missing[:_SHOWN])}"
        return
    tables, warnings = stated["tables"], stated["warnings"]
    if not isinstance(warnings, list) or not all(isinstance(item, str) for item in warnings):
        yield "has warnings that are not texts"
    if not isinstance(tables, dict) or tables.keys() != TABLES.keys():
        yield f"must have exactly the tables {', '.join(TABLES)}"
        return
    for name, rows in tables.items():
        columns = {*TABLES[name].keys, *TABLES[name].values}
        if not isinstance(rows, list) or any(type(row) is not dict or row.keys() != columns for row in rows):
            yield f"has rows with other columns in its table {name}"


def _differences_as_problem(stated: dict[str, Any], result: Result) -> Iterator[Problem]:
    found = [*_differences(stated, result)]
    if found:
        lines = "; ".join(
            f"{name} is {shown(submitted, 30)}, recomputed {shown(recomputed, 30)}"
            for name, submitted, recomputed in found[:_SHOWN]
        )
        more = f"; and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        yield Problem(f"scores.json does not follow from the outputs with default options: {lines}{more}")


def _differences(stated: dict[str, Any], result: Result) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, submitted, recomputed) for every value that differs."""
    yield from _cell_differences("", (*HEADLINES, "warnings"), stated, result)
    settings = result["settings"]
    if stated["settings"].keys() != settings.keys():
        yield "settings", sorted(stated["settings"]), sorted(settings)
    else:
        yield from _cell_differences("settings.", tuple(settings), stated["settings"], settings)
    for name, table in TABLES.items():
        submitted, recomputed = stated["tables"][name], result["tables"][name]
        if len(submitted) != len(recomputed):
            yield f"the number of rows of {name}", len(submitted), len(recomputed)
            continue
        for mine, theirs in zip(submitted, recomputed, strict=True):
            where = f"{name}[{','.join(str(theirs[key]) for key in table.keys)}]."
            yield from _cell_differences(where, (*table.keys, *table.values), mine, theirs)


def _cell_differences(
    where: str, names: tuple[str, ...], submitted: Mapping[str, Any], recomputed: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    for name in names:
        if not _same(submitted[name], recomputed[name]):
            yield f"{where}{name}", submitted[name], recomputed[name]


def _same(submitted: Any, recomputed: Any) -> bool:
    if type(recomputed) in (int, float) and type(submitted) in (int, float):
        return math.isclose(submitted, recomputed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return type(submitted) is type(recomputed) and submitted == recomputed
