"""Whose submission it is, and which settings it had: what makes two submissions tries of the same thing."""

import unicodedata
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

import orjson

from ...words import shortened
from ..submission.records import SubmissionManifest

DEFAULTS: Final = {"temperature": 0.0, "reasoning_effort": "none"}
"""The benchmark's own settings."""
_NO_CHOICE: Final = ("provider", "not_sent")
"""Settings that nobody chose to change answers."""
_MOST_SHOWN: Final = 3


def folded(name: object) -> str:
    """Return a name without outer spaces, capitals and forms of Unicode: the same one is then equal."""
    return unicodedata.normalize("NFC", str(name)).strip().casefold()


def model_key(manifest: SubmissionManifest) -> str:
    """Return a hash of model, provider and dataset: a board has one rank for each."""
    return _hash([folded(manifest.model), folded(manifest.provider), manifest.dataset_fingerprint])


def settings_key(manifest: SubmissionManifest) -> str:
    """Return a hash of everything but the answers and their number: model, settings, arm and selection."""
    same = [model_key(manifest), plain(manifest.settings), manifest.arm, manifest.selection]
    return _hash(same)


def _hash(value: object) -> str:
    return sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def plain(value: Any) -> Any:
    """Return settings in which equal numbers are equal (0 and 0.0), and nothing is the same as none."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return float(value)
    return value


def distance(settings: Mapping[str, Any]) -> tuple[float, ...]:
    """Return how far settings are from DEFAULTS: other values of those, temperature, further settings."""
    own = plain(settings)
    warmth = own.get("temperature")
    others = sum(own.get(name) != value for name, value in DEFAULTS.items())
    further = len(own.keys() - DEFAULTS.keys() - set(_NO_CHOICE))
    return others, abs(warmth) if isinstance(warmth, float) else float("inf"), further


def names_another_provider(manifest: Mapping[str, Any]) -> bool:
    """Tell whether the settings contradict the manifest's provider."""
    said = manifest.get("settings", {}).get("provider")
    return said is not None and folded(said) != folded(manifest.get("provider"))


def differing(manifest: Mapping[str, Any], ranked: Mapping[str, Any]) -> str:
    """Return in words what differs between the settings of two submissions of a model; hostile text."""
    found = list(_differing(manifest, ranked))
    left = len(found) - _MOST_SHOWN
    return ", ".join([*found[:_MOST_SHOWN], *([f"{left} more"] if left > 0 else [])]) or "see its page"


def _differing(manifest: Mapping[str, Any], ranked: Mapping[str, Any]) -> Iterator[str]:
    own, other = (
        {**plain(one.get("settings", {})), "repeats": one.get("repeats", 1)} for one in (manifest, ranked)
    )
    for name in sorted({*own, *other}):
        if name != "provider" and own.get(name) != other.get(name):
            here, there = (shortened(setting_text(one.get(name)), 20) for one in (own, other))
            yield f"{shortened(name, 30)} {here} instead of {there}"


def setting_text(value: object) -> str:
    """Return the value of a setting in words; hostile text."""
    if value is None:
        return "not set"
    if isinstance(value, str):
        return value
    return f"{value:g}" if isinstance(value, float) else orjson.dumps(value).decode()
