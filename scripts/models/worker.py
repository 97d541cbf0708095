"""A process that makes calls for another one: `python -m rupeebias.models.worker`.

It reads one JSON object a line from its input: first what model it is to call, then requests, calls to give
up, and parameters to leave out. It writes a line for each outcome. It keeps nothing: limits, retries and the
journal are the business of the process that started it, with whose end (a closed pipe) it ends too.
"""

import asyncio
import os
import signal
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import orjson

from ..errors import RupeeBiasError, UsageError
from .opening import open_model
from .types import Adjustable, CallError, Model, ModelOptions, Request

_LINE_LIMIT = 1 << 26
_OPTIONS = {field.name for field in fields(ModelOptions)}


class _Output:
    """Writes lines to a file descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def say(self, message: dict[str, Any]) -> None:
        """Write one line; the other side reads all the time, so this does not block for long."""
        line = orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)
        while line:
            line = line[os.write(self._fd, line) :]


class _Worker:
    """Calls in the making."""

    def __init__(self, model: Model, output: _Output) -> None:
        self._model = model
        self._output = output
        self._calls: dict[int, asyncio.Task[None]] = {}

    async def serve(self, lines: asyncio.StreamReader) -> None:
        """Do what the lines say until they end; then give up the calls in flight."""
        async for line in lines:
            message = orjson.loads(line)
            if "request" in message:
                self._begin(message["id"], Request(*message["request"]))
            elif "leave_out" in message:
                if isinstance(self._model, Adjustable):
                    self._model.leave_out(*message["leave_out"])
            elif (task := self._calls.get(message["give_up"])) is not None:
                task.cancel()
        tasks = list(self._calls.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, number: int, request: Request) -> None:
        task = asyncio.create_task(self._call(number, request))
        self._calls[number] = task
        task.add_done_callback(lambda _: self._calls.pop(number, None))

    async def _call(self, number: int, request: Request) -> None:
        try:
            reply = await self._model.complete(request)
        except CallError as error:
            self._output.say({"id": number, "error": vars(error)})
        except Exception as error:  # a defect: it must not leave the other side waiting
            failure = {"message": f"{type(error).__name__}: {error}", "retryable": False}
            self._output.say({"id": number, "error": failure})
        else:
            self._output.say({"id": number, "reply": reply})


async def _main(output: _Output) -> None:
    lines = asyncio.StreamReader(limit=_LINE_LIMIT)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    setup = orjson.loads(await lines.readline())
    try:
        model = await _opened_model(setup)
    except RupeeBiasError as error:
        output.say({"failed": str(error), "usage": isinstance(error, UsageError)})
        return
    try:
        output.say({"ready": os.getpid()})
        await _Worker(model, output).serve(lines)
    finally:
        await model.close()


async def _opened_model(setup: dict[str, Any]) -> Model:
    model = open_model(setup["model"], _options(setup["options"]))
    if isinstance(model, Adjustable):
        for parameter, reason in setup["left_out"].items():
            model.leave_out(parameter, reason)
    await model.open()
    return model


def _options(data: dict[str, Any]) -> ModelOptions:
    log_dir = data.get("log_dir")
    known = {name: value for name, value in data.items() if name in _OPTIONS}
    return ModelOptions(**{**known, "log_dir": None if log_dir is None else Path(log_dir)})


if __name__ == "__main__":
    # Both may go to every process of the group; this one ends when its pipe does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Whatever a library prints goes to standard error, away from the lines.
    own_output = os.dup(1)
    os.dup2(2, 1)
    asyncio.run(_main(_Output(own_output)))
