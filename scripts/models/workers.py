"""`--workers N`: N processes make the calls of one run.

One process of LiteLLM makes about a hundred calls a second, whatever the server can do. Here the runner
stays as it is, in its process, with the only retry layer, all limits and the journal; only `complete`
goes through a pipe to the least busy of N processes, so nothing is shared and nothing can be asked twice.

Both ends of the pipe are here: a process is `python -m rupeebias.models.workers`. It reads one JSON object a
line: first what model it is to call, then requests, calls to give up, and parameters to leave out. It writes
a line for each outcome, keeps nothing, and ends with whoever started it (a closed pipe).
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from rupeebias.metric.design import Design

from ..errors import RupeeBiasError, UsageError
from . import open_model
from .prices import Price, Priced
from .types import JSON, Adjustable, CallError, Keyed, Model, ModelOptions, Reply, Request

_LINE_LIMIT: Final = 1 << 26
_START_DEADLINE_S: Final = 120.0
_STOP_DEADLINE_S: Final = 5.0


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

    async def read(self) -> None:
        """Hand every outcome to whoever waits for it; when the process ends, its calls may be asked again."""
        while (message := await self.listen()) is not None:
            outcome = self.calls.get(message["id"])
            if outcome is None or outcome.done():
                continue
            if "reply" in message:
                outcome.set_result(Reply(**message["reply"]))
            else:
                outcome.set_exception(CallError(message["error"].pop("message"), **message["error"]))
        self.is_alive = False
        for outcome in self.calls.values():
            if not outcome.done():
                outcome.set_exception(CallError("a worker process ended", retryable=True))

    async def end(self) -> None:
        assert self.process.stdin is not None  # noqa: S101
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), _STOP_DEADLINE_S)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
        if self.reader is not None:
            await self.reader


class WorkerPool:
    """The model `model`, called by `count` processes that each open it by its name and options."""

    def __init__(self, model: Model, options: ModelOptions, design: Design, count: int) -> None:
        self._model = model
        log_dir = None if options.log_dir is None else str(options.log_dir)
        told = {**asdict(options), "log_dir": log_dir}
        self._setup = {"model": model.name, "options": told, "design": design.as_dict()}
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
        await asyncio.gather(*(worker.end() for worker in processes))
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
        worker.say({"id": number, "request": astuple(request)})
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
            "rupeebias.models.workers",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_LIMIT,
        )
        worker = _Process(process)
        self._processes.append(worker)
        worker.say({**self._setup, "left_out": self._left_out})
        try:
            first = await asyncio.wait_for(worker.listen(), _START_DEADLINE_S)
        except TimeoutError:
            return RupeeBiasError(f"a worker process was not ready in {_START_DEADLINE_S:.0f} s")
        if first is None:
            return RupeeBiasError(f"a worker process did not start (exit status {await process.wait()})")
        if "failed" in first:
            return (UsageError if first["usage"] else RupeeBiasError)(first["failed"])
        worker.reader = asyncio.create_task(worker.read())
        return None


# The other end of the pipe

_Say = Callable[[dict[str, Any]], None]


class _Worker:
    """Calls in the making."""

    def __init__(self, model: Model, say: _Say) -> None:
        self._model = model
        self._say = say
        self._calls: dict[int, asyncio.Task[None]] = {}

    async def serve(self, lines: asyncio.StreamReader) -> None:
        """Do what the lines say until they end; then give up the calls in flight."""
        async for line in lines:
            message = orjson.loads(line)
            if "request" in message:
                call = self._call(message["id"], Request(*message["request"]))
                self._calls[message["id"]] = asyncio.create_task(call)
            elif "leave_out" in message:
                if isinstance(self._model, Adjustable):
                    self._model.leave_out(*message["leave_out"])
            elif (task := self._calls.get(message["give_up"])) is not None:
                task.cancel()
        tasks = list(self._calls.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(self, number: int, request: Request) -> None:
        try:
            reply = await self._model.complete(request)
        except CallError as error:
            self._say({"id": number, "error": vars(error)})
        except Exception as error:  # a defect: it must not leave the other side waiting
            failure = {"message": f"{type(error).__name__}: {error}", "retryable": False}
            self._say({"id": number, "error": failure})
        else:
            self._say({"id": number, "reply": reply})
        finally:
            self._calls.pop(number, None)


async def _serve(say: _Say) -> None:
    lines = asyncio.StreamReader(limit=_LINE_LIMIT)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    setup = orjson.loads(await lines.readline())
    try:
        model = await _opened_model(setup)
    except RupeeBiasError as error:
        say({"failed": str(error), "usage": isinstance(error, UsageError)})
        return
    try:
        say({"ready": os.getpid()})
        await _Worker(model, say).serve(lines)
    finally:
        await model.close()


async def _opened_model(setup: dict[str, Any]) -> Model:
    told = setup["options"]
    log_dir = None if told["log_dir"] is None else Path(told["log_dir"])
    options = ModelOptions(**{**told, "log_dir": log_dir})
    model = open_model(setup["model"], options, design=Design.from_dict(setup["design"]))
    if isinstance(model, Adjustable):
        for parameter, reason in setup["left_out"].items():
            model.leave_out(parameter, reason)
    await model.open()
    return model


def _main() -> None:
    # Both may go to every process of the group; this one ends when its pipe does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Whatever a library prints goes to standard error, away from the lines.
    own_output = os.dup(1)
    os.dup2(2, 1)

    def say(message: dict[str, Any]) -> None:
        line = orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)
        while line:  # the other side reads all the time, so this does not block for long
            line = line[os.write(own_output, line) :]

    asyncio.run(_serve(say))


if __name__ == "__main__":
    _main()
