"""Errors that end a command with one clear line; all of one tree.

RupeeBiasError              a run failed (exit status 1)
├── UsageError              the command was called wrongly (exit status 2)
├── IncompleteRunError      a run stopped before its end and can be resumed (exit status 3)
├── EmptyRunError           a run or file without anything to score
├── ComponentsError         a components file is missing, malformed or inconsistent
├── DatasetFolderError      a dataset folder cannot be written, or is not what the components give
├── MissingExtraError       a command needs packages that are installed as an extra
└── HubError                the Hub refused, or could not be reached

`rupeebias.metric` is published without this package and has its own: MetricInputError.
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


class EmptyRunError(RupeeBiasError):
    """A run or file holds nothing that could be scored."""


class ComponentsError(RupeeBiasError, ValueError):
    """A components file is missing, malformed or inconsistent; the message names file, key and fault."""


class DatasetFolderError(RupeeBiasError, ValueError):
    """A folder cannot be written, or is not what it should be."""


class MissingExtraError(RupeeBiasError):
    """Packages of an extra are not installed; the message says which extra."""


class HubError(RupeeBiasError):
    """The Hub refused a request or could not be reached."""
