"""`manifest.json`: what a run is. Everything that changes an answer is in it, and never a key.

A run of another benchmark than RupeeBias keeps that one's `design.json` beside it, so that it can be scored
wherever it lies.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import orjson

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design
from rupeebias.metric.errors import MetricInputError

from ..errors import RupeeBiasError, UsageError
from ..files import write_file
from ..models.types import JSON
from ..naming import file_name
from .selection import Selection, expected_prompt_ids

FILE = "manifest.json"
DESIGN_FILE = "design.json"
_FORMAT = 1
_OURS = frozenset({"format", "model", "settings", "selection", "dataset_fingerprint"})
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """What must be the same for two sessions to belong to one run."""

    model: str
    """The name given to `--model`."""
    settings: dict[str, JSON]
    """What else changes the model's answers, with what was asked for and could not be sent."""
    arm: str
    """System prompt arm: `standard` or `fairness`."""
    selection: Selection
    """The prompts of the run."""
    dataset_fingerprint: str
    """Hash of the dataset's content."""

    @property
    def provider(self) -> str:
        """Who serves the model: the model's own word for it, or the first part of its name."""
        told = self.settings.get("provider")
        return told if isinstance(told, str) else self.model.split("/", 1)[0]

    @property
    def design(self) -> Design:
        """The benchmark whose prompts are asked."""
        return self.selection.benchmark

    @property
    def directory_name(self) -> str:
        """A name for the run directory: another model, setting or selection gives another name."""
        text = orjson.dumps(dict(_flat(self)), option=orjson.OPT_SORT_KEYS)
        return f"{file_name(self.model)}-{blake2b(text, digest_size=4).hexdigest()}"

    def differences(self, other: "RunIdentity") -> list[str]:
        """Return one line `name: mine -> other's` for each setting that differs."""
        mine, others = dict(_flat(self)), dict(_flat(other))
        return [
            f"{name}: {_shown(mine.get(name))} -> {_shown(others.get(name))}"
            for name in dict.fromkeys((*mine, *others))
            if mine.get(name) != others.get(name)
        ]


@dataclass(frozen=True, slots=True)
class PromptSet:
    """Which prompts a selection stood for when the run began: another version may choose other ones."""

    count: int
    """Number of prompts."""
    sha256: str
    """Hash of their prompt_ids, sorted, one a line: 64 hexadecimal digits."""

    @classmethod
    def of(cls, prompt_ids: Iterable[str]) -> "PromptSet":
        """Return what pins `prompt_ids`, in any order."""
        ids = sorted(prompt_ids)
        return cls(len(ids), sha256("\n".join(ids).encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Counts:
    """How far a run is."""

    requests: int
    """Prompts times repeats."""
    done: int
    """Requests with a valid record."""
    failed: int
    """Requests with error records only."""

    @property
    def left(self) -> int:
        """Requests without any record."""
        return self.requests - self.done - self.failed


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `manifest.json` says about a run."""

    identity: RunIdentity
    """What the run is."""
    repeats: int
    """How often each prompt is asked; it may grow later."""
    counts: Counts
    """State when the last session ended."""
    created_at: str
    """UTC time at which the run began."""
    updated_at: str
    """UTC time of this state."""
    elapsed_s: float = 0.0
    """Time spent in all sessions."""
    cost_usd: float | None = None
    """Sum of the known costs; None if none is known."""
    unknown_costs: int = 0
    """Valid replies whose cost is unknown."""
    response_models: dict[str, int] = field(default_factory=dict)
    """Valid replies by the model that the provider says it served."""
    versions: dict[str, str] = field(default_factory=dict)
    """Versions of the software of the last session."""
    options: dict[str, JSON] = field(default_factory=dict)
    """Throughput options of the last session; they change no answer."""
    prompts: PromptSet | None = None
    """The prompts of the selection; None in runs of versions that did not note them."""
    fresh: bool = False
    """Begun with `--fresh`: no reply of another run is taken over."""

    def prompt_ids(self) -> list[str] | None:
        """Return the prompts of the run in dataset order, None if they are not known.

        They are not if this version selects other prompts than the one that began the run: then its
        journal alone tells which were asked.
        """
        ids, prompts = _selected(self.identity.selection)
        return list(ids) if self.prompts in (None, prompts) else None

    def to_json(self) -> dict[str, Any]:
        """Return the content of the file."""
        run = self.identity
        return {
            "format": _FORMAT,
            "model": run.model,
            "provider": run.provider,
            "settings": run.settings,
            "arm": run.arm,
            "repeats": self.repeats,
            "selection": run.selection.to_json(),
            "prompts": None if self.prompts is None else asdict(self.prompts),
            "fresh": self.fresh,
            "dataset": run.design.name,
            "dataset_fingerprint": run.dataset_fingerprint,
            "versions": self.versions,
            "options": self.options,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "elapsed_s": round(self.elapsed_s, 3),
            "counts": {**asdict(self.counts), "left": self.counts.left},
            "cost_usd": self.cost_usd,
            "unknown_costs": self.unknown_costs,
            "response_models": self.response_models,
        }


@lru_cache(maxsize=8)
def _selected(selection: Selection) -> tuple[tuple[str, ...], PromptSet]:
    """Return what a selection stands for in this version; runs that are read together mostly share it."""
    ids = tuple(expected_prompt_ids(selection))
    return ids, PromptSet.of(ids)


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest of `folder` in one step: a reader sees the old or the new one, never half.

    The design of a benchmark that this version does not carry is put beside it first.
    """
    design = manifest.identity.design
    if design != DESIGN and not (folder / FILE).exists():
        content = orjson.dumps(design.as_dict(), option=orjson.OPT_INDENT_2)
        write_file(folder / DESIGN_FILE, content + b"\n", durable=True)
    content = orjson.dumps(manifest.to_json(), option=orjson.OPT_INDENT_2)
    write_file(folder / FILE, content + b"\n", durable=True)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a run directory.

    Raises UsageError if there is none, RupeeBiasError naming the fault if it cannot be understood.
    """
    path = folder / FILE
    try:
        data = orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{folder} is not a run directory: it has no {FILE}") from None
    except orjson.JSONDecodeError as error:
        raise RupeeBiasError(f"{path} is not valid JSON ({error}); restore it") from None
    try:
        return _from_json(data, _design_beside(folder))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        fault = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise RupeeBiasError(f"{path} is damaged: {fault}; restore it") from None


def _design_beside(folder: Path) -> Design:
    """Return the design that a run of another benchmark keeps, RupeeBias's where there is none.

    A run of an earlier RupeeBias has another fingerprint and no design: it is read as one of this.
    """
    path = folder / DESIGN_FILE
    if not path.exists():
        return DESIGN
    try:
        return _parsed_design(path.read_bytes())
    except (OSError, orjson.JSONDecodeError, MetricInputError) as error:
        raise RupeeBiasError(f"{path} is damaged: {error}; restore it") from None


@lru_cache(maxsize=8)
def _parsed_design(content: bytes) -> Design:
    return Design.from_dict(orjson.loads(content))


def resuming_command(folder: Path, manifest: Manifest) -> str:
    """Return the `rupeebias generate` that asks what the run in `folder` lacks.

    It names model, selection, arm, repeats and directory. The options behind the run's settings
    (temperature, extras, ...) must be given as before; a run refuses others and names them.
    """
    run = manifest.identity
    words = ["rupeebias", "generate", "--model", run.model]
    if (selected := run.selection.describe()) != "everything":
        words += selected.split()
    if run.arm != "standard":
        words += ["--arm", run.arm]
    if manifest.repeats != 1:
        words += ["--repeats", str(manifest.repeats)]
    return shlex.join([*words, "--run", str(folder)])


def is_manifest(path: Path) -> bool:
    """Return True if `path` is the manifest of a run, of whatever version and however damaged inside."""
    try:
        data = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return False
    return isinstance(data, dict) and data.keys() >= _OURS


def shortened(differences: Sequence[str]) -> str:
    """Return differences in one line: of another model no more than that, else the first five."""
    if differences[0].startswith("model: "):
        return differences[0]
    more = f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
    return "; ".join(differences[:_SHOWN]) + more


def _from_json(data: Mapping[str, Any], design: Design) -> Manifest:
    if data["format"] != _FORMAT:
        raise ValueError(f"format {data['format']!r}, expected {_FORMAT}")
    fingerprint = str(data["dataset_fingerprint"])
    if design is not DESIGN and design.fingerprint != fingerprint:
        raise ValueError(f"its dataset is {fingerprint[:12]}, that of {DESIGN_FILE} another")
    counts = data["counts"]
    return Manifest(
        identity=RunIdentity(
            model=str(data["model"]),
            settings=dict(data["settings"]),
            arm=str(data["arm"]),
            selection=Selection.from_json(data["selection"], design),
            dataset_fingerprint=fingerprint,
        ),
        repeats=int(data["repeats"]),
        counts=Counts(int(counts["requests"]), int(counts["done"]), int(counts["failed"])),
        created_at=str(data["created_at"]),
        updated_at=str(data["updated_at"]),
        elapsed_s=float(data["elapsed_s"]),
        cost_usd=data["cost_usd"],
        unknown_costs=int(data["unknown_costs"]),
        response_models=dict(data["response_models"]),
        versions=dict(data["versions"]),
        options=dict(data["options"]),
        prompts=_prompts(data.get("prompts")),
        fresh=bool(data.get("fresh", False)),
    )


def _prompts(data: Mapping[str, Any] | None) -> PromptSet | None:
    return None if data is None else PromptSet(int(data["count"]), str(data["sha256"]))


def _flat(identity: RunIdentity) -> Iterator[tuple[str, JSON]]:
    """Yield every setting under the name by which a user knows it."""
    yield "model", identity.model
    for name, value in identity.settings.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", item) for key, item in value.items())
        else:
            yield name, value
    yield "arm", identity.arm
    # Controls may be added to a run later, as repeats may: they make no other run of it.
    selection = identity.selection
    if selection.controls == "with":
        selection = replace(selection, controls="none")
    yield "selection", selection.describe()
    yield "dataset fingerprint", identity.dataset_fingerprint


def _shown(value: JSON) -> str:
    if isinstance(value, str):
        return value if len(value) <= 60 else f"{value[:57]}..."
    return "unset" if value is None else orjson.dumps(value).decode()
