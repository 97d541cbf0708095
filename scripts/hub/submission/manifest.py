"""`manifest.json` of a submission: written from a run's, read with every field checked."""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from typing import Any, Final

import orjson

from rupeebias.metric.constants import DATASET_FINGERPRINT
from rupeebias.metric.layout import N_PROMPTS

from ...errors import UsageError
from ...generate.options import ARMS
from ...naming import is_simulated_name
from ...runs.manifest import PromptSet
from ...runs.selection import Selection, expected_prompt_ids
from .limits import MAX_ENTRIES, MAX_REPEATS
from .records import FORMAT, Problem, SubmissionManifest
from .settings import fault_in_settings, tells_temperature
from .strict_json import strict_json
from .texts import fault_in_name, fault_in_repo, fault_in_time, shown, without_zone

_SIMULATING: Final = ("simulated", "sim")
"""Words by which a provider is told as a simulation."""
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_NAMES: Final = tuple(field.name for field in fields(SubmissionManifest))


def manifest_bytes(manifest: SubmissionManifest) -> bytes:
    """Return the content of `manifest.json`."""
    content = {"format": FORMAT, **asdict(manifest)}
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def is_simulated(manifest: SubmissionManifest) -> bool:
    """Tell whether a simulated respondent gave any of the answers, however its name is written."""
    providers = (manifest.provider, manifest.settings.get("provider"), manifest.model.partition("/")[0])
    return any(map(is_simulated_name, (manifest.model, *manifest.response_models))) or any(
        isinstance(name, str) and name.strip().casefold() in _SIMULATING for name in providers
    )


def plain_selection(selection: Selection) -> Selection:
    """Return a selection of the same prompts that says no more than it must.

    A limit that nothing reaches, or a list of all axes, would make another submission of the same answers.
    """
    ids = expected_prompt_ids(selection)
    everything = Selection()
    for field in reversed(fields(Selection)):  # identifiers before their axes
        default: Any = getattr(everything, field.name)
        if getattr(selection, field.name) != default:
            simpler = replace(selection, **{field.name: default})
            selection = simpler if expected_prompt_ids(simpler) == ids else selection
    return selection


def parse_manifest(data: bytes) -> tuple[SubmissionManifest | None, list[Problem]]:
    """Return what `manifest.json` declares and everything that is wrong with it.

    No manifest is returned if a field is missing or of another form: then nothing can be relied on.
    """
    try:
        content = strict_json(data)
    except ValueError as error:
        return None, [Problem(f"manifest.json cannot be read: {error}")]
    faults = list(_faults(content))
    if faults:
        return None, [Problem(f"manifest.json: {fault}") for fault in faults]
    manifest = SubmissionManifest(**{name: content[name] for name in _NAMES})
    return manifest, list(_contradictions(manifest))


def _faults(content: Any) -> Iterator[str]:
    if not isinstance(content, dict):
        yield "expected an object"
        return
    expected = ("format", *_NAMES)
    unknown = [name for name in content if name not in expected]
    if unknown:
        yield f"unknown key {', '.join(shown(name) for name in unknown[:5])}: remove it"
    for name in expected:
        if name not in content:
            yield f"{name} is missing"
        elif fault := _CHECKS[name](content[name]):
            yield f"{name} {fault}"


def _contradictions(manifest: SubmissionManifest) -> Iterator[Problem]:
    """Yield what does not fit together in a manifest whose fields are well formed each."""
    selection = Selection.from_json(manifest.selection)
    ids = expected_prompt_ids(selection)
    if (len(ids) == N_PROMPTS) != manifest.complete:
        said, is_so = ("complete", "a part") if manifest.complete else ("partial", "everything")
        yield Problem(f"manifest.json declares a {said} run, but its selection is {is_so} of the benchmark")
    elif not manifest.complete:
        yield Problem(f"partial: {len(ids):,} of {N_PROMPTS:,} prompts were asked, so it gets no rank", False)
    if (plain := plain_selection(selection)) != selection:
        yield Problem(f"manifest.json: its selection is the same as {plain.describe()}: write it so")
    if PromptSet.of(ids) != PromptSet(manifest.n_prompts, manifest.prompts_sha256):
        yield Problem("manifest.json: n_prompts or prompts_sha256 is not that of its selection")
    if manifest.dataset_fingerprint != DATASET_FINGERPRINT:
        yield Problem(
            f"it asked the prompts of dataset {manifest.dataset_fingerprint[:12]}, this version has "
            f"{DATASET_FINGERPRINT[:12]}: run the benchmark again with this version"
        )
    if without_zone(manifest.created_at) > without_zone(manifest.updated_at):
        yield Problem("manifest.json: created_at is after updated_at")
    if sum(manifest.response_models.values()) > manifest.n_prompts * manifest.repeats:
        yield Problem("manifest.json: response_models counts more answers than were asked for")
    yield from _model_problems(manifest)


def _model_problems(manifest: SubmissionManifest) -> Iterator[Problem]:
    if is_simulated(manifest):
        yield Problem(f"{manifest.model} is a simulated respondent, no model: it cannot be sent", False)
        return
    if not manifest.settings:
        yield Problem("manifest.json: settings are empty; they must say how the model was asked")
    elif not tells_temperature(manifest.settings):
        yield Problem("settings do not tell the temperature: it was the provider's own default", False)


def _format(value: Any) -> str | None:
    is_ours = type(value) is int and value == FORMAT
    return None if is_ours else f"is {shown(value)}, this version reads {FORMAT}: update rupeebias"


def _repo(value: Any) -> str | None:
    return None if value is None else fault_in_repo(value)


def _settings(value: Any) -> str | None:
    return fault_in_settings(value)


def _arm(value: Any) -> str | None:
    return None if value in ARMS else f"is {shown(value)}, expected {' or '.join(ARMS)}"


def _whole(most: int) -> Callable[[Any], str | None]:
    def fault(value: Any) -> str | None:
        return None if type(value) is int and 1 <= value <= most else f"must be 1 to {most:,}"

    return fault


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _selection(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "must be an object"
    try:
        selection = Selection.from_json(value)
    except UsageError as error:
        return f"cannot be understood: {shown(str(error), 200)}"
    return None if selection.to_json() == value else "is not as a run's manifest has it"


def _sha256(value: Any) -> str | None:
    return None if isinstance(value, str) and _HEX.fullmatch(value) else "must be 64 hexadecimal digits"


def _names_to(fault_of: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    def fault(value: Any) -> str | None:
        if not isinstance(value, dict) or len(value) > MAX_ENTRIES:
            return f"must be an object of at most {MAX_ENTRIES} entries"
        for name, item in value.items():
            wrong = fault_in_name(name) or fault_of(item)
            if wrong:
                return f"has the entry {shown(name)}, which {wrong}"
        return None

    return fault


_CHECKS: Final[dict[str, Callable[[Any], str | None]]] = {
    "format": _format,
    "model": fault_in_name,
    "model_repo": _repo,
    "provider": fault_in_name,
    "settings": _settings,
    "arm": _arm,
    "repeats": _whole(MAX_REPEATS),
    "complete": _flag,
    "selection": _selection,
    "n_prompts": _whole(N_PROMPTS),
    "prompts_sha256": _sha256,
    "dataset_fingerprint": _sha256,
    "outputs_sha256": _sha256,
    "created_at": fault_in_time,
    "updated_at": fault_in_time,
    "versions": _names_to(fault_in_name),
    "response_models": _names_to(_whole(N_PROMPTS * MAX_REPEATS)),
}
"""What is wrong with the value of each key, None if nothing is."""
