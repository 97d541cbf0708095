"""Processes of this package that take work off another one, and how many make sense."""

import os
import subprocess
import sys


def start_module(name: str, **environment: str) -> "subprocess.Popen[bytes]":
    """Start `python -m name` with pipes: unlike a pool it never runs the caller's script.

    It imports from where this process does; `environment` holds variables for it that are not set already.
    """
    inherited = {**environment, **os.environ}
    return subprocess.Popen(  # noqa: S603 - a module of ours
        [sys.executable, "-m", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**inherited, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def n_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
