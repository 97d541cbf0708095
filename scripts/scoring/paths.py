"""Where a path leads."""

from pathlib import Path

from ..errors import UsageError


def resolved(path: Path) -> Path:
    """Return the place that a path stands for, links followed; UsageError for a link to itself."""
    try:
        return path.resolve()
    except RuntimeError as error:
        raise UsageError(f"{path} is a link to itself") from error
