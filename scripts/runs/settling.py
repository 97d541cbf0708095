"""Parameters that a provider turns down: found by the first request, then the same for the whole run."""

from pathlib import Path

from ..errors import RupeeBiasError
from ..models.types import Adjustable, Model
from .manifest import FILE, read_manifest


def adopt_rejections(model: Model, folder: Path) -> None:
    """Leave out what an earlier session of the run in `folder` found to be rejected.

    Only where the same value would be sent again: another value is another setting, which is compared
    as such.
    """
    if not isinstance(model, Adjustable) or not (folder / FILE).exists():
        return
    try:
        not_sent = read_manifest(folder).identity.settings.get("not_sent")
    except RupeeBiasError:
        return  # whoever opens the run says what is wrong with it
    if not isinstance(not_sent, dict):
        return
    for name, text in not_sent.items():
        start = f"{model.settings.get(name)}: "
        if name in model.settings and isinstance(text, str) and text.startswith(start):
            model.leave_out(name, text.removeprefix(start))
