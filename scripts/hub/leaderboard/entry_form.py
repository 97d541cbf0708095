"""The form of an entry as JSON: what a cache gives back is believed only in this form."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Final

from rupeebias.metric import HEADLINES

from ..submission.records import SubmissionManifest

TABLES: Final = ("axis", "use_case")
"""Tables of a result that the data of a board hold."""
_GAPS: Final = ("mean_delta_pct", "ci_low", "ci_high", "violation_at_10_pct")
_VERSIONS: Final = ("metric_version", "benchmark_version", "dataset_fingerprint")
_DECLARED: Final = frozenset(field.name for field in fields(SubmissionManifest))
_NAMES: Final = ("model", "provider", "arm", "created_at", "updated_at")
_NUMBERS: Final = ("repeats", "n_prompts")
_GROUPS: Final = ("settings", "selection", "versions", "response_models")


def check_facts(data: Mapping[str, Any]) -> None:
    """Raise TypeError or KeyError unless the fields of an entry have the form that this version writes."""
    _all_of(str, [data["name"]])
    _all_of(str | None, (data[name] for name in ("digest", "model_key", "settings_key")))
    for name in ("refusals", "notes", "warnings"):
        _all_of(list | tuple, [data[name]])
        _all_of(str, data[name])
    _all_of(bool, [data["has_page"], data["is_simulated"]])
    _all_of(str, (data["scored_with"][name] for name in _VERSIONS))
    _check_manifest(data["manifest"])
    _check_headlines(data["headlines"])
    _check_tables(data["tables"])
    if not data["refusals"] and None in (data["manifest"], data["headlines"], data["model_key"]):
        raise KeyError("an accepted submission has a manifest and values")


def _all_of(kind: Any, values: Iterable[Any]) -> None:
    if not all(isinstance(value, kind) for value in values):
        raise TypeError(f"expected {kind}")


def _check_manifest(manifest: Any) -> None:
    if manifest is None:
        return
    _all_of(dict, [manifest])
    if manifest.keys() != _DECLARED:
        raise KeyError("fields of a manifest")
    _all_of(str, (manifest[name] for name in _NAMES))
    _all_of(int, (manifest[name] for name in _NUMBERS))
    _all_of(dict, (manifest[name] for name in _GROUPS))


def _check_headlines(headlines: Any) -> None:
    if headlines is None:
        return
    _all_of(dict, [headlines])
    if headlines.keys() != set(HEADLINES):
        raise KeyError("headlines")
    _all_of(float | int | None, headlines.values())


def _check_tables(tables: Any) -> None:
    _all_of(dict, [tables])
    for name, rows in tables.items():
        if name not in TABLES:
            raise KeyError(name)
        _all_of(list, [rows])
        for row in rows:
            _all_of(str, (row["language"], row[name]))
            _all_of(float | int | None, (row[value] for value in _GAPS))
