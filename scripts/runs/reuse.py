"""What other sessions and runs know already: replies are not bought twice, rejections are not tried twice.

A run in `runs/` of the same questions (same model, settings, arm and dataset; its selection and repeats may
differ) has replies that this one needs. A parameter that a provider turned down is left out from the start.
"""

import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final

from ..errors import RupeeBiasError
from ..models.types import JSON, Adjustable, Model
from .batches import keys_in_flight
from .directory import OUTPUTS, RUNS, OpenRun, locked
from .journal import Key, Record, latest_valid, read_outputs
from .manifest import FILE, Manifest, RunIdentity, read_manifest

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
            with locked(folder):
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


def adopt_rejections(model: Model, folder: Path) -> None:
    """Leave out what an earlier session of the run in `folder` found to be rejected.

    Only where the same value would be sent again: another value is another setting, which is compared
    as such.
    """
    if not isinstance(model, Adjustable) or not (folder / FILE).exists():
        return
    try:
        earlier = read_manifest(folder).identity.settings
    except RupeeBiasError:
        return  # whoever opens the run says what is wrong with it
    for name, reason in _rejected(model.settings, earlier).items():
        model.leave_out(name, reason)


def adopt_relatives_rejections(model: Model, identity: RunIdentity, *, root: Path = RUNS) -> None:
    """Leave out the parameters that another run of the same questions found to be rejected."""
    if not isinstance(model, Adjustable):
        return
    for folder in _others(root, None):
        try:
            other = read_manifest(folder).identity
        except RupeeBiasError:
            continue
        settings = model.settings
        rejected = _rejected(settings, other.settings)
        reasons: dict[str, JSON] = {name: f"{settings[name]}: {reason}" for name, reason in rejected.items()}
        after = {name: value for name, value in settings.items() if name not in rejected}
        after["not_sent"] = {**_table(settings.get("not_sent")), **reasons}
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
    asked = {name: str(text).split(": ")[0] for name, text in _table(settings.get("not_sent")).items()}
    return identity.model, identity.arm, identity.dataset_fingerprint, {**settings, "not_sent": asked}


def _rejected(settings: dict[str, JSON], others: dict[str, JSON]) -> dict[str, str]:
    """Return the parameters that `others` do not send, with the reason, and `settings` would, unchanged."""
    found = {}
    for name, text in _table(others.get("not_sent")).items():
        start = f"{settings.get(name)}: "
        if name in settings and isinstance(text, str) and text.startswith(start):
            found[name] = text.removeprefix(start)
    return found


def _table(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}
