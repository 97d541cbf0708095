"""Errors of the dataset builder."""


class ComponentsError(ValueError):
    """A components file is missing, malformed or inconsistent.

    The message names file, key and fault.
    """


class DatasetFolderError(ValueError):
    """A dataset folder cannot be written, or is not what the components give."""
