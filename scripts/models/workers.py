"""`--workers N`: N processes make the calls of one run.

One process of LiteLLM makes about a hundred calls a second, whatever the server can do. Here the runner
stays as it is, in this process, with the only retry layer, all limits and the journal; only `complete`
goes through a pipe to the least busy of N processes, so nothing is shared and nothing can be asked twice.
"""

import asyncio
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

from ..errors import RupeeBiasError, UsageError
from .prices import Price, Priced
from .types import JSON, Adjustable, CallError, Keyed, Model, ModelOptions, Reply, Request

_LINE_LIMIT = 1 << 26
_START_DEADLINE_S = 120.0
_STOP_DEADLINE_S = 5.0


@dataclass(eq=False, slots=True)
class _Process:
    """One worker and the calls that it has."""

    process: asyncio.subprocess.Process
    calls: dict[int, asyncio.Future[Reply]] = field(default_factory=dict)
    reader: asyncio.Task[None] | None = None
    is_alive: bool = True

    def say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None  # noqa: S101 - it was made with a pipe
        self.process.stdin.write(orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE))

    async def listen(self) -> dict[str, Any] | None:
        assert self.process.stdout is not None  # noqa: S101
        line = await self.process.stdout.readline()
        return orjson.loads(line) if line.endswith(b"\n") else None


class WorkerPool:
    """The model `model`, called by `count` processes that each open it by its name and `options`."""

    def __init__(self, model: Model, options: ModelOptions, count: int) -> None:
        self._model = model
        self._options = options
        self._count = count
        self._left_out: dict[str, str] = {}
        self._processes: list[_Process] = []
        self._last_id = 0

    @property
    def name(self) -> str:
        """The name given to `--model`."""
        return self._model.name

    @property
    def settings(self) -> dict[str, JSON]:
        """Return the model's settings: how many processes call it changes no answer."""
        return self._model.settings

    @property
    def max_connections(self) -> int | None:
        """Return the model's own wish."""
        return self._model.max_connections

    @property
    def price(self) -> Price | None:
        """Return the model's price."""
        return self._model.price if isinstance(self._model, Priced) else None

    def check_key(self) -> None:
        """Raise UsageError as the model does."""
        if isinstance(self._model, Keyed):
            self._model.check_key()

    def leave_out(self, parameter: str, reason: str) -> None:
        """Send `parameter` no more, in any process."""
        self._left_out[parameter] = reason
        if isinstance(self._model, Adjustable):
            self._model.leave_out(parameter, reason)
        for worker in self._processes:
            worker.say({"leave_out": [parameter, reason]})

    async def open(self) -> None:
        """Start the processes. Raises the error that the model's own opening raises, in any of them."""
        await self._model.open()
        async with asyncio.TaskGroup() as group:
            starts = [group.create_task(self._start()) for _ in range(self._count)]
        failures = [failure for start in starts if (failure := start.result()) is not None]
        if failures:
            raise failures[0]

    async def close(self) -> None:
        """End the processes; their calls in flight are given up."""
        processes, self._processes = self._processes, []
        await asyncio.gather(*(_end(worker) for worker in processes))
        await self._model.close()

    async def complete(self, request: Request) -> Reply:
        """Have a process ask once; raises CallError."""
        alive = [worker for worker in self._processes if worker.is_alive]
        if not alive:
            raise CallError("all worker processes have ended", retryable=False, fatal=True)
        worker = min(alive, key=lambda worker: len(worker.calls))
        self._last_id += 1
        number = self._last_id
        outcome: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        worker.calls[number] = outcome
        parts = [request.prompt_id, request.repeat, request.system_prompt, request.prompt, request.use_case]
        worker.say({"id": number, "request": parts})
        try:
            return await outcome
        except asyncio.CancelledError:
            worker.say({"give_up": number})
            raise
        finally:
            worker.calls.pop(number, None)

    async def _start(self) -> RupeeBiasError | None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "rupeebias.models.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_LIMIT,
        )
        worker = _Process(process)
        self._processes.append(worker)
        setup = {"model": self.name, "options": _plain(self._options), "left_out": self._left_out}
        worker.say(setup)
        try:
            first = await asyncio.wait_for(worker.listen(), _START_DEADLINE_S)
        except TimeoutError:
            return RupeeBiasError(f"a worker process was not ready in {_START_DEADLINE_S:.0f} s")
        if first is None:
            return RupeeBiasError(f"a worker process did not start (exit status {await process.wait()})")
        if "failed" in first:
            return (UsageError if first["usage"] else RupeeBiasError)(first["failed"])
        worker.reader = asyncio.create_task(_read(worker))
        return None


async def _read(worker: _Process) -> None:
    """Hand every outcome to whoever waits for it; when the process ends, its calls may be asked again."""
    while (message := await worker.listen()) is not None:
        outcome = worker.calls.get(message["id"])
        if outcome is None or outcome.done():
            continue
        if "reply" in message:
            outcome.set_result(Reply(**message["reply"]))
        else:
            outcome.set_exception(_call_error(message["error"]))
    worker.is_alive = False
    for outcome in worker.calls.values():
        if not outcome.done():
            outcome.set_exception(CallError("a worker process ended", retryable=True))


async def _end(worker: _Process) -> None:
    assert worker.process.stdin is not None  # noqa: S101
    worker.process.stdin.close()
    try:
        await asyncio.wait_for(worker.process.wait(), _STOP_DEADLINE_S)
    except TimeoutError:
        worker.process.kill()
        await worker.process.wait()
    if worker.reader is not None:
        await worker.reader


def _call_error(data: dict[str, Any]) -> CallError:
    return CallError(data.pop("message"), **data)


def _plain(options: ModelOptions) -> dict[str, Any]:
    log_dir = options.log_dir
    return {**asdict(options), "log_dir": None if log_dir is None else str(log_dir)}
