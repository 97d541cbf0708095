"""Errors that end a command with one clear line.

RupeeBiasError        a run failed (exit status 1)
├── UsageError        the command was called wrongly (exit status 2)
└── IncompleteRunError  a run stopped before its end and can be resumed (exit status 3)
"""


class RupeeBiasError(Exception):
    """A failure whose message names the culprit and the remedy."""

    exit_code = 1
    """Exit status of the command that this error ends."""


class UsageError(RupeeBiasError):
    """Wrong usage: an unknown name, a bad combination of options, a bad value."""

    exit_code = 2


class IncompleteRunError(RupeeBiasError):
    """A run stopped at a limit; the same command resumes it."""

    exit_code = 3


class ComponentsError(ValueError):
    """A components file is missing, malformed or inconsistent.

    The message names file, key and fault.
    """


class DatasetFolderError(ValueError):
    """A dataset folder cannot be written, or is not what the components give."""
