"""What a board knows of one submission: small, ready for JSON, so that hundreds fit in memory."""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from rupeebias.metric import Result
from rupeebias.metric.design import Design
from rupeebias.metric.gap_law import GapLaw
from rupeebias.metric.layout import Floats
from rupeebias.metric.systematic_gap import systematic_gaps

from ..words import shortened
from .eligibility import folded, reasons_without_rank
from .submission import CheckedSubmission, SubmissionManifest

Facts: TypeAlias = dict[str, Any]
Codes: TypeAlias = npt.NDArray[np.uint16]

TABLES: Final = ("axis", "use_case", "systematic_gap", "group_effect", "responsiveness")
"""Tables of a result that the data of a board hold."""
MAX_JSON: Final = 20_000
"""Largest settings, selection or list of served models in bytes; larger ones stay in the submission."""
MAX_PROBLEMS: Final = 30
MAX_TEXT: Final = 1000
"""Characters of a message or name that are kept."""
EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
"""Stands for a time that is unknown."""
DEFAULTS: Final = {"temperature": 0.0, "reasoning_effort": "none"}
"""The benchmark's own settings."""
_NO_CHOICE: Final = ("provider", "not_sent")
"""Settings that nobody chose to change answers."""
_MOST_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission, computed from its answers."""

    name: str
    """Name of its folder. Hostile text unless `has_page`."""
    digest: str | None = None
    """Hash of its files; None if they could not be read."""
    refusals: tuple[str, ...] = ()
    """Why it is refused, one line each; none: accepted. May quote hostile text."""
    notes: tuple[str, ...] = ()
    """What is worth knowing about it; may quote hostile text."""
    no_rank: tuple[str, ...] = ()
    """Why it may not be ranked (`eligibility`), the most telling reason first."""
    manifest: Facts | None = None
    """Fields of SubmissionManifest; None if it could not be read. Hostile text throughout."""
    model_key: str | None = None
    """Hash of model, provider and dataset: a board has one rank for each. None without a manifest."""
    settings_key: str | None = None
    """Hash of everything but the answers and their number. None without a manifest."""
    headlines: dict[str, Any] | None = None
    """Headline values of its result; None if nothing could be scored."""
    tables: Mapping[str, list[Facts]] = field(default_factory=dict)
    """Rows of TABLES."""
    warnings: tuple[str, ...] = ()
    """Warnings of its result."""
    has_page: bool = False
    """Whether a page of its own was made."""
    law: Facts | None = None
    """How uncertain its systematic gap is (`GapLaw`); None where it may not be ranked."""
    answers: str = ""
    """Its values with two digits, packed, to find copies; empty where it may not be ranked."""
    submitter: str | None = None
    """Who brought it into the results; None: not known. Hostile text."""

    @property
    def accepted(self) -> bool:
        """Whether it counts."""
        return not self.refusals

    @property
    def model(self) -> str | None:
        """The model's name; hostile text."""
        return self.manifest["model"] if self.manifest else None

    @property
    def settings(self) -> Facts:
        """Its settings; hostile text."""
        found: Facts = (self.manifest or {}).get("settings", {})
        return found

    @property
    def repeats(self) -> int:
        """How often each prompt was asked."""
        return int((self.manifest or {}).get("repeats", 1))

    @property
    def date(self) -> datetime:
        """UTC time of the last answer; the earliest possible one if unknown."""
        return utc_time(self.manifest["updated_at"]) if self.manifest else EARLIEST

    @property
    def gap_law(self) -> GapLaw:
        """How uncertain its systematic gap is; TypeError where it may not be ranked."""
        return GapLaw(**{name: np.array(value) for name, value in (self.law or {}).items()})

    def to_json(self) -> Facts:
        """Return the fields; `from_json` is the inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Entry":
        """Return the entry that `to_json` gave."""
        tuples = {name: tuple(data[name]) for name in ("refusals", "notes", "no_rank", "warnings")}
        return cls(**{**data, **tuples})


def utc_time(text: object) -> datetime:
    """Return a time as manifests write it; the earliest possible one if it is none."""
    try:
        found = datetime.fromisoformat(str(text))
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return EARLIEST


def entry_of(checked: CheckedSubmission, digest: str | None, design: Design, *, has_page: bool) -> Entry:
    """Return what the board keeps of a checked submission."""
    manifest, result = checked.manifest, checked.result
    readings, law, answers = checked.readings, None, ""
    reasons: list[str] = []
    if manifest is not None and result is not None and readings is not None:
        reasons = reasons_without_rank(manifest, readings, result, design)
        if not reasons and checked.accepted:
            law = packed_law(readings.values, design)
            answers = packed_answers(readings.values)
    return Entry(
        name=checked.folder.name,
        digest=digest,
        refusals=_messages(checked, fatal=True),
        notes=_messages(checked, fatal=False),
        no_rank=tuple(reasons),
        manifest=manifest_facts(manifest) if manifest else None,
        model_key=model_key(manifest) if manifest else None,
        settings_key=settings_key(manifest) if manifest else None,
        headlines=headlines_of(result) if result else None,
        tables={name: list(filter(_is_kept, result["tables"][name])) for name in TABLES} if result else {},
        warnings=tuple(result["warnings"]) if result else (),
        has_page=has_page,
        law=law,
        answers=answers,
    )


def headlines_of(result: Result) -> Facts:
    """Return the headline values of a result, and by how much the worst group is off."""
    found = {name: value for name, value in result.items() if not isinstance(value, list | dict)}
    where = (result.get("worst_group_language"), "all", *str(result.get("worst_group")).split(":"))
    effects = {
        tuple(row[key] for key in ("language", "use_case", "axis", "identifier")): row["effect_pct"]
        for row in result["tables"]["group_effect"]
    }
    return {**found, "worst_group_effect_pct": effects.get(where)}


def _is_kept(row: Mapping[str, Any]) -> bool:
    """Tell whether a board keeps a row: not those of one use case and axis, nor of one group and language."""
    if "identifier" in row:
        return bool(row["use_case"] == "all" == row["language"])
    return "axis" not in row or "use_case" not in row or "all" in (row["axis"], row["use_case"])


def packed_law(values: Floats, design: Design) -> Facts | None:
    """Return the law of a run's whole systematic gap as JSON can hold it; None where it has no interval."""
    gaps = systematic_gaps(values, design)
    law = {field.name: getattr(gaps.laws, field.name)[gaps.place()] for field in fields(GapLaw)}
    return {name: np.asarray(value).tolist() for name, value in law.items()} if law["bounded"] else None


def packed_answers(values: Floats) -> str:
    """Return the first answer to each prompt, rounded to two digits, as text; an unread one is 0.

    Two digits: a copy whose answers were moved by less is still one.
    """
    first = values[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(np.abs(first)))
        digits = np.round(first / 10.0 ** (exponent - 1))
    codes = np.where(first == 0, 1, np.nan_to_num(digits + 200 * (exponent + 50), posinf=0, neginf=0))
    codes[np.isnan(first)] = 0
    return b64encode(zlib.compress(codes.astype(np.uint16).tobytes(), 1)).decode()


def unpacked_answers(entry: Entry) -> Codes:
    """Return what `packed_answers` made."""
    return np.frombuffer(zlib.decompress(b64decode(entry.answers)), dtype=np.uint16)


def _messages(checked: CheckedSubmission, *, fatal: bool) -> tuple[str, ...]:
    found = [problem.message[:MAX_TEXT] for problem in checked.problems if problem.fatal == fatal]
    left = len(found) - MAX_PROBLEMS
    return (*found[:MAX_PROBLEMS], *([f"and {left} more"] if left > 0 else []))


def manifest_facts(manifest: SubmissionManifest) -> Facts:
    """Return a manifest's fields, those left out that are larger than any honest one."""
    return {name: _bounded(value) for name, value in manifest.model_dump().items() if name != "format"}


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, dict):
        size = len(orjson.dumps(value))
        return value if size <= MAX_JSON else {"left out": f"{size:,} bytes, see the submission"}
    return value


# --- what makes two submissions tries of the same thing


def model_key(manifest: SubmissionManifest) -> str:
    """Return a hash of model, provider and dataset."""
    return _hash([folded(manifest.model), folded(manifest.provider), manifest.dataset_fingerprint])


def settings_key(manifest: SubmissionManifest) -> str:
    """Return a hash of everything but the answers and their number: model, settings, arm and selection."""
    return _hash([model_key(manifest), plain(manifest.settings), manifest.arm, manifest.selection])


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


def differing(entry: Entry, ranked: Entry) -> str:
    """Return in words what differs between the settings of two submissions of a model; hostile text."""
    found = list(_differing(entry, ranked))
    left = len(found) - _MOST_SHOWN
    return ", ".join([*found[:_MOST_SHOWN], *([f"{left} more"] if left > 0 else [])]) or "see its page"


def _differing(entry: Entry, ranked: Entry) -> Iterator[str]:
    own, other = ({**plain(one.settings), "repeats": one.repeats} for one in (entry, ranked))
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
