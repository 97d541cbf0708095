"""Models on this machine's CPU: `local/smollm2` (weights from a package) and `local/PATH.gguf`.

A server process answers on loopback and is asked through LiteLLM like any OpenAI-compatible one.

Reproducibility: with several slots, the answers that are computed together share matrix products whose
rounding depends on how many they are, so a close call between two digits can fall either way from run to
run, at temperature 0 too. `-M slots=1 -M reuse=false` computes each answer alone and from its
beginning: the same answers every time and in any order, at two to three times the time.
"""

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError
from ..naming import unknown_name
from .grammar import GRAMMARS
from .server_process import ServerProcess
from .types import JSON, CallError, ModelOptions, Reply, Request
from .weights import SMOLLM2, find_weights, weights_settings

if TYPE_CHECKING:
    from .litellm import LiteLLMModel

_KEY: Final = "loopback"  # clients insist on a key; the server reads none


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

    def __init__(self, name: str, options: ModelOptions) -> None:
        """Find the weights; nothing is started. Raises UsageError as `create_model` says."""
        short_name = name.removeprefix("local/")
        self._name = name
        self._local = _local_settings(options.extras)
        self._weights = find_weights(short_name)
        self._identity = weights_settings(short_name, self._weights)
        self._options = replace(
            options,
            extras={},
            constrain=True if options.constrain is None else options.constrain,
            max_tokens=options.max_tokens or 64,
            seed=options.seed or 0,
            reasoning_effort=None,
        )
        self._server: ServerProcess | None = None
        self._client: LiteLLMModel | None = None

    @property
    def name(self) -> str:
        """The name given to `--model`."""
        return self._name

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
            settings["grammars"] = dict(GRAMMARS)
        return settings

    @property
    def shares_prefix(self) -> bool:
        """True: prompts with a common beginning are best asked in a row."""
        return True

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
        self._server = ServerProcess(self._server_arguments(), self._options.log_dir)
        address = await self._server.start()
        # Late: LiteLLM takes seconds to import.
        from .litellm import LiteLLMModel

        self._client = LiteLLMModel(
            self._name,
            replace(self._options, base_url=f"{address}/v1", constrain=None),
            call_name=f"openai/{self._weights.stem}",
            api_key=_KEY,
            max_connections=self._local.slots,
            request_extras=self._request_extras,
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
            raise CallError(f"{self._name} is not open", retryable=False, fatal=True)
        try:
            reply = await self._client.complete(request)
        except CallError:
            if (failure := self._server.failure()) is not None:
                raise CallError(failure, retryable=False, fatal=True) from None
            raise
        return replace(reply, cost_usd=0.0, response_model=self._weights.name)

    def _server_arguments(self) -> list[str]:
        numbers = {
            "slots": self._local.slots,
            "context": self._local.context,
            "threads": self._local.threads or _physical_cores(),
            "seed": self._options.seed,
            "reuse": int(self._local.reuse),
        }
        return [str(self._weights), *(f"--{name}={number}" for name, number in numbers.items())]

    def _request_extras(self, request: Request) -> dict[str, Any]:
        if not self._options.constrain:
            return {}
        return {"extra_body": {"grammar": GRAMMARS[request.use_case]}}


def create_model(name: str, options: ModelOptions) -> LocalModel:
    """Return the model `local/smollm2` or `local/PATH.gguf`, not started yet.

    Raises UsageError for an unknown name or `-M` option, a missing package (naming the command that
    installs it), and a file that is missing or not GGUF.
    """
    if options.base_url is not None:
        raise UsageError(f"--base-url does not suit {name}, which starts a server of its own")
    return LocalModel(name, options)


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
    available = os.sched_getaffinity(0)
    siblings = {_siblings(cpu) for cpu in available}
    return len(siblings)


def _siblings(cpu: int) -> str:
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return str(cpu)
