"""Replies that another run in `runs/` has already: a run of the same questions does not buy them again.

Such a run has the same model, settings, arm and dataset; its selection and repeats may differ.
"""

import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final

from ..errors import RupeeBiasError
from ..models.types import JSON, Adjustable, Model
from .batches import keys_in_flight
from .directory import OUTPUTS, RUNS, OpenRun
from .lock import RunLock
from .manifest import FILE, Manifest, RunIdentity, read_manifest
from .outputs import Key, Record, latest_valid, read_outputs

_MOVED_ASIDE: Final = re.compile(r"\.\d{8}T\d{6}\.\d{6}Z$")  # by --fresh, which wants new replies


def take_over(
    opened: OpenRun, expected: AbstractSet[Key], say: Callable[[str], None], *, root: Path = RUNS
) -> None:
    """Copy the valid replies to what is `expected` and not done from other runs in `root` into a run.

    A run that is in use or damaged is passed over, which is said.
    """
    if opened.manifest.fresh:
        return
    journal = opened.journal
    for folder in _relatives(opened.folder, opened.manifest, say, root):
        missing = expected - journal.done
        if not missing:
            break
        try:
            with RunLock(folder):
                records = _replies(folder, missing)
                under_way = len(keys_in_flight(folder, missing - {_key(record) for record in records}))
        except (RupeeBiasError, OSError) as error:
            say(f"no replies are taken over from {folder}: {str(error).splitlines()[0]}")
            continue
        for record in records:
            journal.append(record)
        if records:
            say(f"{len(records):,} replies taken over from {folder}")
        if under_way:
            say(f"{under_way:,} are under way in batches of {folder}: collect those first, or pay twice")
    journal.flush()


def to_take_over(
    folder: Path,
    planned: Manifest,
    expected: AbstractSet[Key],
    say: Callable[[str], None],
    *,
    root: Path = RUNS,
) -> AbstractSet[Key]:
    """Return which of the `expected` requests a run in `folder` would take over, changing nothing."""
    found: set[Key] = set()
    for relative in _relatives(folder, planned, say, root):
        try:
            records = _replies(relative, expected - found)
        except (RupeeBiasError, OSError):
            continue
        if records:
            say(f"{len(records):,} replies would be taken over from {relative}")
        found |= {_key(record) for record in records}
    return found


def adopt_relatives_rejections(model: Model, identity: RunIdentity, *, root: Path = RUNS) -> None:
    """Leave out the parameters that another run of the same questions found to be rejected."""
    if not isinstance(model, Adjustable):
        return
    for folder in _others(root, None):
        try:
            other = read_manifest(folder).identity
        except RupeeBiasError:
            continue
        rejected = _rejected(model.settings, other.settings)
        after = _without(model.settings, rejected)
        if rejected and _kind(identity, after) == _kind(other, other.settings):
            for name, reason in rejected.items():
                model.leave_out(name, reason)
            return


def _relatives(own: Path, planned: Manifest, say: Callable[[str], None], root: Path) -> Iterator[Path]:
    kind = _kind(planned.identity, planned.identity.settings)
    for folder in _others(root, own):
        try:
            other = read_manifest(folder).identity
        except RupeeBiasError as error:
            say(f"no replies are taken over from {folder}: {str(error).splitlines()[0]}")
            continue
        if _kind(other, other.settings) == kind and (folder / OUTPUTS).exists():
            yield folder


def _others(root: Path, own: Path | None) -> list[Path]:
    folders = sorted(path.parent for path in root.glob(f"*/{FILE}"))
    return [folder for folder in folders if folder != own and not _MOVED_ASIDE.search(folder.name)]


def _replies(folder: Path, wanted: AbstractSet[Key]) -> list[Record]:
    latest = latest_valid(read_outputs(folder / OUTPUTS))
    return [record for key, record in latest.items() if key in wanted and record.get("error") is None]


def _key(record: Record) -> Key:
    return record["prompt_id"], record["repeat"]


def _kind(identity: RunIdentity, settings: dict[str, JSON]) -> Any:
    """Return what must be equal; why a parameter was turned down may be said in other words each time."""
    not_sent = settings.get("not_sent")
    asked = {name: str(text).split(": ")[0] for name, text in _items(not_sent)}
    return identity.model, identity.arm, identity.dataset_fingerprint, {**settings, "not_sent": asked}


def _rejected(settings: dict[str, JSON], others: dict[str, JSON]) -> dict[str, str]:
    """Return the parameters that `others` do not send, with the reason, and `settings` would, unchanged."""
    found = {}
    for name, text in _items(others.get("not_sent")):
        start = f"{settings.get(name)}: "
        if name in settings and isinstance(text, str) and text.startswith(start):
            found[name] = text.removeprefix(start)
    return found


def _without(settings: dict[str, JSON], rejected: dict[str, str]) -> dict[str, JSON]:
    not_sent = dict(_items(settings.get("not_sent")))
    not_sent.update({name: f"{settings[name]}: {reason}" for name, reason in rejected.items()})
    return {**{k: v for k, v in settings.items() if k not in rejected}, "not_sent": not_sent}


def _items(value: JSON) -> list[tuple[str, JSON]]:
    return list(value.items()) if isinstance(value, dict) else []
