"""One process per run directory."""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from ..errors import UsageError


class RunLock:
    """Holds a run directory for this process; the system lets go of it when the process ends,
    however it ends.

    Entering raises UsageError if another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".lock"
        self._fd: int | None = None

    def __enter__(self) -> "RunLock":
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(fd, 20).decode("ascii", "replace").strip()
            os.close(fd)
            raise UsageError(
                f"{self._path.parent} is in use by another process (id {holder or 'unknown'}); "
                "wait for it, or use another --run directory"
            ) from None
        os.ftruncate(fd, 0)
        os.write(fd, f"{os.getpid()}\n".encode())
        self._fd = fd
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The file stays: removing it would let two processes lock two files of the same name.
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
