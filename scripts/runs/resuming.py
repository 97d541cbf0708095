"""The command that goes on with a run."""

import shlex
from pathlib import Path

from .manifest import Manifest
from .selection import Selection


def resuming_command(folder: Path, manifest: Manifest) -> str:
    """Return the `rupeebias generate` that asks what the run in `folder` lacks.

    It names model, selection, arm, repeats and directory. The options behind the run's settings
    (temperature, extras, ...) must be given as before; a run refuses others and names them.
    """
    run = manifest.identity
    words = ["rupeebias", "generate", "--model", run.model]
    if run.selection != Selection():
        words += run.selection.describe().split()
    if run.arm != "standard":
        words += ["--arm", run.arm]
    if manifest.repeats != 1:
        words += ["--repeats", str(manifest.repeats)]
    return shlex.join([*words, "--run", str(folder)])
