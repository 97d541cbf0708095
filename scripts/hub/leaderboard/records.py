"""What a board knows of one submission: small, ready for JSON, so that hundreds fit in memory."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import orjson

from rupeebias.metric import HEADLINES, Result
from rupeebias.metric.constants import BENCHMARK_VERSION, DATASET_FINGERPRINT
from rupeebias.metric.version import METRIC_VERSION

from ..submission.manifest import is_simulated
from ..submission.records import CheckedSubmission, SubmissionManifest
from .entry_form import TABLES, check_facts
from .identity import model_key, settings_key

Facts: TypeAlias = dict[str, Any]

MAX_JSON: Final = 20_000
"""Largest settings, selection or list of served models in bytes; larger ones stay in the submission."""
MAX_PROBLEMS: Final = 30
MAX_TEXT: Final = 1000
"""Characters of a message or name that are kept."""
_PAGE_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission, recomputed."""

    name: str
    """Name of its folder. Hostile text unless `has_page`."""
    digest: str | None
    """Hash of its files; None if they could not be read."""
    refusals: tuple[str, ...]
    """Why it is refused, one line each; none: accepted. May quote hostile text."""
    notes: tuple[str, ...]
    """What is worth knowing about it; may quote hostile text."""
    manifest: Facts | None
    """Fields of SubmissionManifest; None if it could not be read. Hostile text throughout."""
    model_key: str | None
    """See `identity.model_key`; None without a manifest."""
    settings_key: str | None
    """See `identity.settings_key`; None without a manifest."""
    headlines: dict[str, float | None] | None
    """Recomputed HEADLINES; None if nothing could be scored."""
    tables: dict[str, list[Facts]]
    """Recomputed rows of TABLES."""
    warnings: tuple[str, ...]
    """Warnings of the recomputed result."""
    scored_with: dict[str, str]
    """Versions and dataset fingerprint of the recomputation."""
    has_page: bool
    """Whether a page of its own was made."""
    is_simulated: bool = False
    """Whether a built-in respondent gave answers."""

    @property
    def accepted(self) -> bool:
        """Whether it counts."""
        return not self.refusals

    @property
    def model(self) -> str | None:
        """The model's name; hostile text."""
        return self.manifest["model"] if self.manifest else None

    @property
    def date(self) -> datetime:
        """UTC time of the last answer; the earliest possible one if unknown."""
        return utc_time(self.manifest["updated_at"]) if self.manifest else EARLIEST

    def to_json(self) -> Facts:
        """Return the fields; `from_json` is the inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Entry":
        """Return the entry that `to_json` gave; TypeError or KeyError for anything else."""
        if set(data) != {field.name for field in fields(cls)}:
            raise KeyError("fields of a submission")
        check_facts(data)
        tuples = {name: tuple(data[name]) for name in ("refusals", "notes", "warnings")}
        return cls(**{**data, **tuples})


EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
"""Stands for a time that is unknown."""


def utc_time(text: object) -> datetime:
    """Return a time as manifests write it; the earliest possible one if it is none."""
    try:
        found = datetime.fromisoformat(str(text))
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return EARLIEST


def is_page_name(name: str) -> bool:
    """Tell whether a folder's name is safe as the name of a page, on any system and in any address."""
    return _PAGE_NAME.fullmatch(name) is not None


def entry_of(checked: CheckedSubmission, digest: str | None, *, has_page: bool) -> Entry:
    """Return what the board keeps of a checked submission."""
    manifest, result = checked.manifest, checked.result
    return Entry(
        name=checked.folder.name,
        digest=digest,
        refusals=_messages(checked, fatal=True),
        notes=_messages(checked, fatal=False),
        manifest=manifest_facts(manifest) if manifest else None,
        model_key=model_key(manifest) if manifest else None,
        settings_key=settings_key(manifest) if manifest else None,
        headlines={name: result[name] for name in HEADLINES} if result else None,
        tables={name: result["tables"][name] for name in TABLES} if result else {},
        warnings=tuple(result["warnings"]) if result else (),
        scored_with=_versions(result),
        has_page=has_page,
        is_simulated=manifest is not None and is_simulated(manifest),
    )


def refused_entry(name: str, reason: str, digest: str | None = None) -> Entry:
    """Return the entry of a submission that could not even be checked."""
    return Entry(name, digest, (reason,), (), None, None, None, None, {}, (), _versions(None), has_page=False)


def _messages(checked: CheckedSubmission, *, fatal: bool) -> tuple[str, ...]:
    found = [problem.message[:MAX_TEXT] for problem in checked.problems if problem.fatal == fatal]
    left = len(found) - MAX_PROBLEMS
    return (*found[:MAX_PROBLEMS], *([f"and {left} more"] if left > 0 else []))


def manifest_facts(manifest: SubmissionManifest) -> Facts:
    """Return a manifest's fields, those left out that are larger than any honest one."""
    return {name: _bounded(value) for name, value in asdict(manifest).items()}


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, dict):
        size = len(orjson.dumps(value))
        return value if size <= MAX_JSON else {"left out": f"{size:,} bytes, see the submission"}
    return value


def _versions(result: Result | None) -> dict[str, str]:
    names = ("metric_version", "benchmark_version", "dataset_fingerprint")
    if result:
        return {name: result["settings"][name] for name in names}
    return dict(zip(names, (METRIC_VERSION, BENCHMARK_VERSION, DATASET_FINGERPRINT), strict=True))
