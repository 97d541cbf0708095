"""Names that survive a power failure: a new file is only safe once its folder is on the disk too."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Bring the names in `folder` to the disk."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
