"""An OpenAI-compatible server on loopback whose faults a test scripts; real sockets, nothing
patched.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import orjson


@dataclass(frozen=True)
class Answer:
    """One HTTP response."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0
    drip_s: float = 0.0
    """Pause after every byte of the body."""
    cut_at: int | None = None
    """Bytes of the body after which the connection breaks; None: it does not."""

    @property
    def is_success(self) -> bool:
        """True for a whole reply that has to be paid."""
        return self.status == 200 and self.cut_at is None and '"choices"' in self.body


@dataclass(frozen=True)
class Call:
    """One request as the server saw it."""

    number: int
    body: dict[str, Any]
    headers: Mapping[str, str]
    path: str = "/v1/chat/completions"
    at: float = 0.0
    """When it came, by time.monotonic."""

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


Behaviour = Callable[[Call], Answer]


def reply(text: Any = "### 850000 INR", **message: Any) -> Answer:
    """A chat completion; `choices` or `usage` replace those fields, other keywords go into the
    message.
    """
    choices = message.pop("choices", None)
    finish_reason = message.pop("finish_reason", "stop")
    body = {
        "id": "r-1",
        "object": "chat.completion",
        "created": 1,
        "model": message.pop("model", "served-2026-01-01"),
        "usage": message.pop("usage", {"prompt_tokens": 36, "completion_tokens": 6, "total_tokens": 42}),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish_reason,
            }
        ]
        if choices is None
        else choices,
    }
    return Answer(body=json.dumps(body))


def failure(status: int, message: str = "scripted", code: str | None = None, **headers: str) -> Answer:
    """An error in OpenAI's form; header names are written with `_` for `-`."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}})
    return Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def hang(seconds: float = 60.0) -> Answer:
    """Accept the request and stay silent."""
    return Answer(body="{}", delay_s=seconds)


def html() -> Answer:
    """What a proxy shows instead of an API."""
    return Answer(200, "<html><body>Login</body></html>", content_type="text/html")


def drip(seconds: float = 0.5) -> Answer:
    """A reply whose bytes come one by one."""
    return replace(reply(), drip_s=seconds)


def broken_off() -> Answer:
    """A reply whose connection breaks in the middle of the body."""
    return replace(reply(), cut_at=40)


class FaultServer:
    """Serves `behaviour` on a free port while its context lasts.

    `calls` is its log of requests; `on_sent` hears of each answer once it is on its way. A server that gets
    very many calls counts them only (`keeps_calls`).
    """

    def __init__(
        self,
        behaviour: Behaviour,
        on_sent: Callable[[Call, Answer], None] = lambda call, answer: None,
        *,
        keeps_calls: bool = True,
    ) -> None:
        self.calls: list[Call] = []
        self.count = 0
        self._keeps_calls = keeps_calls
        self._on_sent = on_sent
        self._behaviour = behaviour
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._port = 0

    @property
    def url(self) -> str:
        """The base URL to hand to a client."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> "FaultServer":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0))
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (call := await self._read(reader)) is not None:
                answer = self._behaviour(call)
                await asyncio.sleep(answer.delay_s)
                await _write(writer, answer)
                self._on_sent(call, answer)
                if answer.cut_at is not None:
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client left, or the server stops
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Call | None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        call = Call(self.count, orjson.loads(body or b"{}"), headers, first.split()[1], time.monotonic())
        self.count += 1
        if self._keeps_calls:
            self.calls.append(call)
        return call


async def _write(writer: asyncio.StreamWriter, answer: Answer) -> None:
    head, body = _encode(answer)
    if not answer.drip_s:
        writer.write(head + body[: answer.cut_at])
        await writer.drain()
        return
    writer.write(head)
    for byte in body[: answer.cut_at]:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(answer.drip_s)


def _encode(answer: Answer) -> tuple[bytes, bytes]:
    body = answer.body.encode()
    headers = {
        "Content-Type": answer.content_type,
        "Content-Length": str(len(body)),
        **answer.headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {answer.status} Scripted\r\n{head}\r\n".encode(), body
