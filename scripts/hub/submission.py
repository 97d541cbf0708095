"""What a submission is: two files in a folder of its own, and what its manifest may say.

    submissions/<name>/manifest.json       which model, how it was asked, what was asked
    submissions/<name>/outputs.jsonl.gz    every answer, one a line

Nothing in it is trusted: limits hold before anything is read, every field is checked, and a board shows only
what it computes from the answers.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import orjson
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from rupeebias.metric import Result
from rupeebias.metric.design import Design
from rupeebias.metric.readings import Readings

from ..errors import UsageError
from ..generate.options import ARMS
from ..models.litellm import check_extras
from ..models.secrets import check_no_secret, texts_in
from ..naming import is_simulated_name
from ..runs.manifest import PromptSet
from ..runs.selection import Selection, expected_prompt_ids
from ..scoring.read import RunOutputs
from ..words import shown
from .public import public_server

FOLDER: Final = "submissions"
"""Folder of a results dataset that holds one folder a submission."""
MANIFEST: Final = "manifest.json"
OUTPUTS: Final = "outputs.jsonl.gz"
FILES: Final = (MANIFEST, OUTPUTS)
"""Every file of a submission; any other one is refused."""
FORMAT: Final = 1
"""Version of this layout."""

MAX_BYTES: Final = {MANIFEST: 1 << 20, OUTPUTS: 200 << 20}
"""Largest size of each file on the disk. A full run takes about 200 kB, with long answers some MB."""
MAX_UNPACKED: Final = 256 << 20
"""Most bytes that the outputs may unpack to: 20 repeats of everything take half of it beside their texts."""
MAX_IN_MEMORY: Final = 128 << 20
"""Most bytes that the distinct texts of the outputs may take in memory: four times as many as in the file,
if one letter of a text is beyond the usual ones."""
MAX_REPEATS: Final = 20
"""How often a prompt may be asked."""
MAX_CHARACTERS: Final = 20_000
"""Longest answer. A longer one is cut there when a submission is built, and counts as cut off."""
MAX_NAME: Final = 200
"""Longest name of a model or provider."""
MAX_SETTINGS: Final = 100_000
"""Most bytes of the settings, as JSON."""
MAX_SETTING: Final = 2_000
"""Longest name or text in the settings."""
MAX_SETTING_DEPTH: Final = 5
"""How deep lists and objects of the settings may lie in each other."""
MAX_DEPTH: Final = 12
"""How deep lists and objects of a manifest may lie in each other."""
MAX_ENTRIES: Final = 100
"""Most entries of an object or a folder that are looked at."""

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
_CLOCK_ERROR: Final = timedelta(hours=24)
_EARLIEST: Final = "2026"
"""The year of the benchmark: no model answered it before."""
_NAME: Final = re.compile(r"[A-Za-z0-9._:@/+ ()=-]*")
"""Letters of names: those of LiteLLM's. Others look like these, or like nothing."""
_DRIVE: Final = re.compile(r"(?:^|/)[A-Za-z]:")
_SIMULATING: Final = ("simulated", "sim")
"""Words by which a provider is told as a simulation."""
_OWN_OPTIONS: Final = ("temperature", "max_tokens", "seed", "reasoning_effort", "base_url")
"""Settings that have an option of their own, so that extras may not replace them."""
_OF_THE_PROMPTS: Final = frozenset(
    {"arm", "messages", "prompt", "system_prompt", "system_instruction", "instructions"}
)
"""Nowhere in the settings, however deep: the arm is declared, and the prompts are the benchmark's."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a submission."""

    message: str
    """Names the culprit and the remedy, in one line."""
    fatal: bool = True
    """False: worth knowing, but the submission counts."""


# --- the fields of a manifest


def name_fault(name: Any) -> str | None:
    """Return what is wrong with the name of a model or provider, None if nothing is."""
    if not isinstance(name, str) or not name.strip():
        return "must be a text that is not empty"
    if len(name) > MAX_NAME:
        return f"has {len(name):,} characters, at most {MAX_NAME} are allowed"
    if not _NAME.fullmatch(name):
        return "holds another character than A-Z, a-z, 0-9, spaces and ._:@/+()=-"
    parts = name.split("/")
    if "" in parts or _DRIVE.search(name) or {".", ".."} & set(parts) or name.lower().startswith("file:"):
        return "is a path: a name such as provider/model is expected"
    if not name[0].isalnum() or name != name.strip():
        return "must begin with a letter or digit, and not end with a space"
    return None


def repo_fault(repo: Any) -> str | None:
    """Return what is wrong with the name of a model repository on the Hub, None if nothing is."""
    # Late: the client takes a fifth of a second to import, and most submissions name no repository.
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    if isinstance(repo, str) and repo.lower().startswith(("datasets/", "spaces/")):
        return "must be owner/name of a model, without datasets/ or spaces/"
    if not isinstance(repo, str) or repo.count("/") != 1:
        return "must be null or owner/name"
    try:
        validate_repo_id(repo)
    except HFValidationError:
        return "is not a name that a repository on the Hub can have"
    return None


def time_fault(text: Any) -> str | None:
    """Return what is wrong with a time, None if nothing is."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return "must be a UTC time such as 2026-01-31T12:00:00Z"
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return "is not a time that exists"
    if text < _EARLIEST:
        return f"lies before {_EARLIEST}, when there was no benchmark"
    return "lies in the future" if time > datetime.now(UTC) + _CLOCK_ERROR else None


def _settings_fault(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "must be an object"
    if len(value) > MAX_ENTRIES:
        return f"has {len(value):,} entries, at most {MAX_ENTRIES}"
    if _is_deeper(value, MAX_SETTING_DEPTH):
        return f"is nested more than {MAX_SETTING_DEPTH} deep"
    if len(orjson.dumps(value)) > MAX_SETTINGS:
        return f"takes more than {MAX_SETTINGS // 1000:,} kB"
    return next(_setting_faults(value), None)


def _setting_faults(settings: dict[str, Any]) -> Iterator[str]:
    for text, is_name in texts_in(settings):
        if len(text) > MAX_SETTING:
            yield f"holds a text of {len(text):,} characters, at most {MAX_SETTING:,} allowed"
        if not all(letter.isprintable() or letter in "\n\t" for letter in text):  # grammars have lines
            yield f"holds {shown(text)}, with a control or direction mark or other character that is not seen"
        if is_name and text.strip().lower().replace("-", "_") in _OF_THE_PROMPTS:
            yield f"holds {shown(text)}: the arm is declared beside them, and the prompts are the benchmark's"
        if is_name and "authorization" in text.lower():
            yield f"holds {shown(text)}: a key must not be sent"
    temperature = settings.get("temperature", 0)
    if type(temperature) not in (int, float) or temperature < 0:
        yield f"has the temperature {shown(temperature)}; expected a number, or its name in not_sent"
    url = settings.get("base_url")
    if url is not None and url != public_server(url):
        yield "has a base_url that is not as `rupeebias submit` writes it: it may be private"
    try:
        check_no_secret("settings", settings)
        others = {name: value for name, value in settings.items() if name not in _OWN_OPTIONS}
        check_extras(others, constrained=False)
        if isinstance(extras := settings.get("extras"), dict):
            check_extras(extras, constrained=settings.get("constrain") is True)
    except UsageError as error:
        yield f"cannot be as it is: {shown(str(error), 200)}"


def _is_deeper(value: Any, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is not None and (most == 0 or any(_is_deeper(each, most - 1) for each in inner))


def _selection_fault(value: dict[str, Any], design: Design) -> str | None:
    try:
        selection = Selection.from_json(value, design)
    except UsageError as error:
        return f"cannot be understood: {shown(str(error), 200)}"
    if selection.controls != "none":
        return "holds controls: they are no part of a submission"
    return None if selection.to_json() == value else "is not as a run's manifest has it"


def _format_fault(value: Any) -> str | None:
    is_ours = type(value) is int and value == FORMAT
    return None if is_ours else f"is {shown(value)}, this version reads {FORMAT}: update rupeebias"


def _arm_fault(value: Any) -> str | None:
    return None if value in ARMS else f"is {shown(value)}, expected {' or '.join(ARMS)}"


def _refuse(fault_of: Any) -> BeforeValidator:
    """Return the validator that raises what `fault_of` finds."""

    def checked(value: Any) -> Any:
        if fault := fault_of(value):
            raise ValueError(fault)
        return value

    return BeforeValidator(checked)


def _few(value: dict[str, Any]) -> dict[str, Any]:
    if len(value) > MAX_ENTRIES:
        raise ValueError(f"has {len(value):,} entries, at most {MAX_ENTRIES}")
    return value


Name = Annotated[str, _refuse(name_fault)]
Time = Annotated[str, _refuse(time_fault)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Counted = Annotated[int, Field(ge=1, le=10**9)]


class SubmissionManifest(BaseModel):
    """What `manifest.json` of a submission declares."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())

    format: Annotated[Literal[1], _refuse(_format_fault)] = FORMAT
    """Version of the layout."""
    model: Name
    """The name under which it was asked, as in LiteLLM. Hostile text: escape it."""
    model_repo: Annotated[str, _refuse(repo_fault)] | None
    """Its repository on the Hub, `owner/name`; None for a model without one."""
    provider: Name
    """Who served it."""
    settings: Annotated[dict[str, Any], _refuse(_settings_fault)]
    """Everything that changes answers, as in the manifest of a run."""
    arm: Annotated[str, _refuse(_arm_fault)]
    """System prompt arm: `standard` or `fairness`."""
    repeats: Annotated[int, Field(ge=1, le=MAX_REPEATS)]
    """How often each prompt was asked."""
    complete: bool
    """Whether every prompt of the benchmark was asked; False: declared partial."""
    selection: dict[str, Any]
    """The part of the benchmark that was asked, as in the manifest of a run."""
    n_prompts: Counted
    """Number of prompts asked."""
    prompts_sha256: Sha256
    """Hash of their prompt_ids (`PromptSet`)."""
    dataset_fingerprint: Sha256
    """Fingerprint of the dataset whose prompts were asked."""
    outputs_sha256: Sha256
    """SHA-256 of `outputs.jsonl.gz`."""
    created_at: Time
    """UTC time of its first answer."""
    updated_at: Time
    """UTC time of its last answer."""
    versions: Annotated[dict[Name, Name], AfterValidator(_few)]
    """Versions of rupeebias, metric and benchmark that made it."""
    response_models: Annotated[dict[Name, Counted], AfterValidator(_few)]
    """Answers by the model that the provider says it served."""

    @property
    def is_simulated(self) -> bool:
        """Whether a simulated respondent gave any of the answers, however its name is written."""
        providers = (self.provider, self.settings.get("provider"), self.model.partition("/")[0])
        return any(map(is_simulated_name, (self.model, *self.response_models))) or any(
            isinstance(name, str) and name.strip().casefold() in _SIMULATING for name in providers
        )

    @property
    def content(self) -> bytes:
        """The content of `manifest.json`."""
        return orjson.dumps(self.model_dump(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def parse_manifest(data: bytes, design: Design) -> tuple[SubmissionManifest | None, list[Problem]]:
    """Return what `manifest.json` declares and everything that is wrong with it.

    No manifest is returned if a field is missing or of another form: then nothing can be relied on.
    """
    try:
        content = strict_json(data)
    except ValueError as error:
        return None, [Problem(f"{MANIFEST} cannot be read: {error}")]
    if not isinstance(content, dict):
        return None, [Problem(f"{MANIFEST}: expected an object")]
    missing = [] if "format" in content else [Problem(f"{MANIFEST}: format is missing")]
    try:
        manifest = SubmissionManifest.model_validate(content)
    except ValidationError as error:
        found = dict.fromkeys(_fault_text(one) for one in error.errors(include_url=False))
        return None, [*missing, *(Problem(f"{MANIFEST}: {fault}") for fault in found)][:MAX_ENTRIES]
    if fault := _selection_fault(manifest.selection, design):
        missing.append(Problem(f"{MANIFEST}: selection {fault}"))
    return (None, missing) if missing else (manifest, list(_contradictions(manifest, design)))


def strict_json(data: bytes) -> Any:
    """Return the value of a JSON text in UTF-8; ValueError, with a message for people, for anything else.

    Refused are duplicate keys, NaN and infinities, numbers beyond 64 bits, half characters, and nesting
    deeper than MAX_DEPTH.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {shown(str(error), 200)}") from None
    if _is_deeper(value, MAX_DEPTH + 1):
        raise ValueError(f"lists and objects lie more than {MAX_DEPTH} deep")
    # orjson keeps the last of equal keys, and makes long whole numbers rough ones
    json.loads(data, object_pairs_hook=_once_each, parse_int=_whole)
    return value


def _once_each(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {shown(twice)} stands twice")


def _whole(text: str) -> None:
    if len(text) > 20 or not -(1 << 63) <= int(text) < 1 << 63:
        raise ValueError(f"the number {text[:20]}... is too large")


_FAULTS: Final = {
    "missing": "is missing",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "string_pattern_mismatch": "must be 64 hexadecimal digits",
    "string_type": "must be a text",
}


def _fault_text(error: ErrorDetails) -> str:
    """Return one fault of pydantic's as a line: `versions has the entry 'x', which ...`."""
    name, *inner = error["loc"]
    if error["type"] == "extra_forbidden":
        return f"unknown key {shown(name)}: remove it"
    said = str(error.get("ctx", {}).get("error") or _FAULTS.get(error["type"]) or _said(error))
    return f"{name} has the entry {shown(inner[0])}, which {said}" if inner else f"{name} {said}"


def _said(error: ErrorDetails) -> str:
    if error["type"].startswith(("int", "greater", "less")):
        is_repeats = error["loc"] == ("repeats",)
        return f"must be 1 to {MAX_REPEATS}" if is_repeats else "must be a whole number, 1 or more"
    return str(error["msg"])


def _contradictions(manifest: SubmissionManifest, design: Design) -> Iterator[Problem]:
    """Yield what does not fit together in a manifest whose fields are well formed each."""
    selection = Selection.from_json(manifest.selection, design)
    ids = expected_prompt_ids(selection)
    if (len(ids) == design.n_prompts) != manifest.complete:
        said, is_so = ("complete", "a part") if manifest.complete else ("partial", "everything")
        yield Problem(f"{MANIFEST} declares a {said} run, but its selection is {is_so} of the benchmark")
    if (plain := plain_selection(selection)) != selection:
        yield Problem(f"{MANIFEST}: its selection is the same as {plain.describe()}: write it so")
    if PromptSet.of(ids) != PromptSet(manifest.n_prompts, manifest.prompts_sha256):
        yield Problem(f"{MANIFEST}: n_prompts or prompts_sha256 is not that of its selection")
    if manifest.dataset_fingerprint != design.fingerprint:
        yield Problem(
            f"it asked the prompts of dataset {manifest.dataset_fingerprint[:12]}, this version has "
            f"{design.fingerprint[:12]}: run the benchmark again with this version"
        )
    if without_zone(manifest.created_at) > without_zone(manifest.updated_at):
        yield Problem(f"{MANIFEST}: created_at is after updated_at")
    if sum(manifest.response_models.values()) > manifest.n_prompts * manifest.repeats:
        yield Problem(f"{MANIFEST}: response_models counts more answers than were asked for")
    if manifest.is_simulated:
        return
    if not manifest.settings:
        yield Problem(f"{MANIFEST}: settings are empty; they must say how the model was asked")
    elif not _tells_temperature(manifest.settings):
        yield Problem("settings do not tell the temperature: it was the provider's own default", False)


def _tells_temperature(settings: Mapping[str, Any]) -> bool:
    not_sent = settings.get("not_sent")
    return "temperature" in settings or (isinstance(not_sent, dict) and "temperature" in not_sent)


def without_zone(time: str) -> str:
    """Return a UTC time so that texts sort as times do: a whole second comes before its fractions."""
    return time.removesuffix("Z")


def plain_selection(selection: Selection) -> Selection:
    """Return a selection of the same prompts that says no more than it must.

    A limit that nothing reaches, or a list of all axes, would make another submission of the same answers.
    """
    ids = expected_prompt_ids(selection)
    everything = Selection(benchmark=selection.benchmark)
    for field in reversed(fields(Selection)):  # identifiers before their axes
        default: Any = getattr(everything, field.name)
        if getattr(selection, field.name) != default:
            simpler = replace(selection, **{field.name: default})
            selection = simpler if expected_prompt_ids(simpler) == ids else selection
    return selection


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A submission folder, read within limits and scored."""

    folder: Path
    problems: tuple[Problem, ...]
    """Everything found, not just the first."""
    manifest: SubmissionManifest | None
    """None if it cannot be read."""
    outputs: RunOutputs | None
    """None if they cannot be read."""
    readings: Readings | None
    """How its answers were read."""
    result: Result | None
    """Computed from `outputs`; None if nothing can be scored."""

    @property
    def accepted(self) -> bool:
        """Whether nothing fatal was found."""
        return not any(problem.fatal for problem in self.problems)
