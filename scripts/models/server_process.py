"""Starts and ends the process of `local_server.py`."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import IO, Final, cast

from ..errors import RupeeBiasError

_START_DEADLINE_S: Final = 300.0  # a large file from a slow disk takes minutes
_STOP_DEADLINE_S: Final = 5.0
_TAIL_LINES: Final = 5


class ServerProcess:
    """A server in a process of its own, on a free port of loopback."""

    def __init__(self, arguments: list[str], log_dir: Path | None) -> None:
        """Prepare; `arguments` are those of `local_server.py`, `log_dir` None means a temporary log."""
        self._arguments = arguments
        self._log_dir = log_dir
        self._log_path: Path | None = None
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """Process id, None before `start` and after `stop`."""
        return None if self._process is None else self._process.pid

    @property
    def log_path(self) -> Path | None:
        """The log, None before `start`."""
        return self._log_path

    async def start(self) -> str:
        """Return the server's address once it answers.

        Raises RupeeBiasError with the end of the log if the process dies or is not ready in time.
        """
        with self._open_log() as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "rupeebias.models.local_server",
                *self._arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                # Threads that wait give up the core, which is several times faster beside other work.
                env={"OMP_WAIT_POLICY": "passive", **os.environ},
            )
        try:
            output = cast(asyncio.StreamReader, self._process.stdout)
            line = await asyncio.wait_for(output.readline(), _START_DEADLINE_S)
        except TimeoutError:
            raise self._failure(f"the local server was not ready in {_START_DEADLINE_S:.0f} s") from None
        if not line:
            await self._process.wait()
            raise self._failure(f"the local server did not start ({self._how_it_ended()})")
        return line.decode().strip()

    def failure(self) -> str | None:
        """Return why the server is gone, None while it runs."""
        if self._process is None or self._process.returncode is None:
            return None
        return str(self._failure(f"the local server died ({self._how_it_ended()})"))

    async def stop(self) -> None:
        """End the process and wait for its end; a temporary log goes, one in a run directory stays."""
        if self._process is not None:
            cast(asyncio.StreamWriter, self._process.stdin).close()
            try:
                await asyncio.wait_for(self._process.wait(), _STOP_DEADLINE_S)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
            self._process = None
        if self._log_dir is None and self._log_path is not None:
            self._log_path.unlink(missing_ok=True)

    def _open_log(self) -> IO[bytes]:
        if self._log_dir is not None:
            self._log_dir.mkdir(parents=True, exist_ok=True)
            self._log_path = self._log_dir / "server.log"
            return self._log_path.open("ab")
        descriptor, name = tempfile.mkstemp(prefix="rupeebias-", suffix=".log")
        self._log_path = Path(name)
        return os.fdopen(descriptor, "wb")

    def _how_it_ended(self) -> str:
        code = self._process.returncode if self._process is not None else None
        return f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"

    def _failure(self, what: str) -> RupeeBiasError:
        return RupeeBiasError(f"{what}; its log ends:\n{self._log_tail()}")

    def _log_tail(self) -> str:
        if self._log_path is None:
            return "(no log)"
        lines = self._log_path.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(line[:200] for line in lines[-_TAIL_LINES:]) or "(the log is empty)"
