"""Throughput and memory of `generate` against a bare asyncio loop over `litellm.acompletion`.

    python benchmarks/generate.py [--seconds 2] [--rounds 7] [--skip-memory] [--skip-workers]

The server is a process of its own that answers at once or after a fixed time. Bare loop and runner take
short turns in one process, so that both see the same machine; the share is the median of the ratios of two
neighbouring turns; beside it stands CPU time, which a busy machine disturbs less. Rates are those after the
first 10 calls of each connection: the runner begins with a single request and 16 connections, which costs a
run of hours two or three round trips, and calls that all began together take some more to spread out.
Memory is the peak of a whole process with 1,000 prompts and with 39,150 x 3, through a model that answers
without a server: what the runner keeps. LiteLLM's import takes seconds and is not counted.
"""

import argparse
import asyncio
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rupeebias.generate.options import Bounds, RunOptions
from rupeebias.generate.plan import prompts_of, shuffled_requests
from rupeebias.generate.progress import Progress, plain_lines
from rupeebias.generate.runner import run
from rupeebias.models import open_model
from rupeebias.models.types import Complete, Model, ModelOptions, Reply, Request
from rupeebias.runs.journal import Journal
from rupeebias.runs.selection import Selection

BEGINNING = 10
"""Calls of each connection that are left out."""
MEASURED = 12
"""Calls of each connection that count, at least."""
BODY = {
    "id": "r",
    "object": "chat.completion",
    "created": 1,
    "model": "x",
    "usage": {"prompt_tokens": 300, "completion_tokens": 6, "total_tokens": 306},
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "### 850000 INR"}}
    ],
}


# The server


class _Protocol(asyncio.Protocol):
    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._buffer = b""
        body = json.dumps(BODY).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._answer = head.encode() + body

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (request_end := self._request_end()) is not None:
            self._buffer = self._buffer[request_end:]
            asyncio.get_running_loop().call_later(self._latency_s, self._send)

    def _request_end(self) -> int | None:
        head_end = self._buffer.find(b"\r\n\r\n")
        if head_end < 0:
            return None
        head = self._buffer[:head_end].lower()
        _, found, rest = head.partition(b"content-length:")
        end = head_end + 4 + (int(rest.split(b"\r\n")[0]) if found else 0)
        return end if len(self._buffer) >= end else None

    def _send(self) -> None:
        if isinstance(self._transport, asyncio.Transport) and not self._transport.is_closing():
            self._transport.write(self._answer)


async def _serve(latency_s: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Protocol(latency_s), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def server(latency_s: float) -> Iterator[str]:
    """Run the server in a process of its own and yield its base URL."""
    command = [sys.executable, __file__, "--serve", str(latency_s)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.communicate()


# The contestants


def steady_rate(ends: list[float], connections: int) -> float:
    """Return calls a second from the times at which they ended, without the beginning.

    Calls come back in waves of `connections`: only whole waves count, or their phase would decide. The first
    waves come back all at once and wait for each other; it takes some until calls are spread over the time.
    """
    first = BEGINNING * connections
    calls = (len(ends) - 1 - first) // connections * connections
    return calls / (ends[first + calls] - ends[first])


async def bare_rate(url: str, requests: list[Request], connections: int) -> float:
    """Return calls a second of the simplest correct loop: workers over one iterator, nothing else."""
    import litellm

    todo = iter(requests)
    ends: list[float] = []

    async def work() -> None:
        for request in todo:
            response = await litellm.acompletion(
                model="hosted_vllm/x",
                messages=[
                    {"role": "system", "content": request.system_prompt},
                    {"role": "user", "content": request.prompt},
                ],
                api_base=url,
                api_key="none",
                temperature=0.0,
                reasoning_effort="none",
                max_retries=0,
                timeout=125.0,
            )
            assert response.choices[0].message.content
            ends.append(time.perf_counter())

    await asyncio.gather(*(work() for _ in range(connections)))
    return steady_rate(ends, connections)


async def runner_rate(model: Model, requests: list[Request], connections: int, folder: Path) -> float:
    """Return calls a second of the runner with its journal and display."""
    progress = Progress(len(requests))
    options = RunOptions(bounds=Bounds(max_connections=connections))
    path = folder / f"{time.monotonic_ns()}.jsonl"
    ends: list[float] = []

    async def complete(request: Request) -> Reply:
        reply = await model.complete(request)
        ends.append(time.perf_counter())
        return reply

    with Journal(path) as journal, plain_lines(progress, open(os.devnull, "w")):  # noqa: PTH123
        result = await run(requests, complete, journal, options, progress)
    assert result.replied == len(requests), result
    return steady_rate(ends, connections)


@asynccontextmanager
async def opened(url: str, workers: int = 1) -> AsyncIterator[Model]:
    """Yield an open model at `url`."""
    model = open_model("hosted_vllm/x", ModelOptions(base_url=url), workers=workers)
    await model.open()
    try:
        yield model
    finally:
        await model.close()


def requests_for(seconds: float, latency_s: float, connections: int) -> list[Request]:
    """Return as many requests as take about `seconds`, at 100 calls a second at most."""
    rate = min(connections / max(latency_s, 1e-3), 100.0)
    prompts, _ = prompts_of("standard", Selection())
    return list(
        itertools.islice(
            shuffled_requests(prompts, 1, set()),
            max(int(rate * seconds), connections * (BEGINNING + MEASURED) + 2),
        )
    )


@dataclass(frozen=True)
class Turn:
    """One turn of a contestant."""

    rate: float
    """Calls a second."""
    cpu_ms: float
    """CPU time of this process for each call."""


async def timed(rate: Awaitable[float], count: int) -> Turn:
    """Return what a turn of `count` calls shows."""
    before = time.process_time()
    return Turn(await rate, 1000 * (time.process_time() - before) / count)


async def compare(
    latency_s: float, connections: int, seconds: float, rounds: int
) -> tuple[list[Turn], list[Turn]]:
    """Return the turns of the bare loop and of the runner, pair by pair."""
    requests = requests_for(seconds, latency_s, connections)
    bare: list[Turn] = []
    own: list[Turn] = []
    with server(latency_s) as url, tempfile.TemporaryDirectory() as folder:
        async with opened(url) as model:

            async def turn(turns: list[Turn]) -> None:
                if turns is bare:
                    rate = bare_rate(url, requests, connections)
                else:
                    rate = runner_rate(model, requests, connections, Path(folder))
                turns.append(await timed(rate, len(requests)))

            for number in range(rounds + 1):
                for turns in (bare, own) if number % 2 else (own, bare):
                    await turn(turns)
    return bare[1:], own[1:]  # the first pair is the warm-up


async def workers_rate(workers: int, connections: int, count: int) -> float:
    """Return calls a second of `workers` processes against a server that answers at once."""
    prompts, _ = prompts_of("standard", Selection())
    count = max(count, connections * (BEGINNING + MEASURED) + 2)
    requests = list(itertools.islice(shuffled_requests(prompts, 1, set()), count))
    with server(0.0) as url, tempfile.TemporaryDirectory() as folder:
        async with opened(url, workers) as model:
            return await runner_rate(model, requests, connections, Path(folder))


# Memory


def memory_run(limit: int, repeats: int) -> None:
    """Generate through a model that answers at once, and print the peak of this process in MB."""

    async def complete(_: Request) -> Reply:
        return Reply("### 850000 INR", "stop", {"input_tokens": 300, "output_tokens": 6}, None, "x")

    prompts, _ = prompts_of("standard", Selection())
    prompts = prompts[: limit or None]
    count = len(prompts) * repeats
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "outputs.jsonl") as journal:
        asyncio.run(_answer(complete, shuffled_requests(prompts, repeats, set()), journal, count))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


async def _answer(complete: Complete, requests: Iterator[Request], journal: Journal, count: int) -> None:
    result = await run(requests, complete, journal, RunOptions(bounds=Bounds(64)), Progress(count))
    assert result.replied == count


def peak_mb(limit: int, repeats: int) -> float:
    """Return the peak memory of a process of its own."""
    command = [sys.executable, __file__, "--memory", str(limit), str(repeats)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


# The report


def print_throughput(seconds: float, rounds: int) -> None:
    print("latency  connections  bare loop  generate   share  CPU a call")
    for latency_ms, connections in itertools.product((0, 50, 500), (16, 64)):
        bare, own = asyncio.run(compare(latency_ms / 1000, connections, seconds, rounds))
        share = statistics.median(mine.rate / its.rate for mine, its in zip(own, bare, strict=True))
        rates = [statistics.median(turn.rate for turn in turns) for turns in (bare, own)]
        cpu = [statistics.median(turn.cpu_ms for turn in turns) for turns in (bare, own)]
        print(
            f"{latency_ms:4} ms {connections:12} {rates[0]:8.1f}/s {rates[1]:7.1f}/s {share:6.1%}"
            f"  {cpu[0]:.1f} and {cpu[1]:.1f} ms",
            flush=True,
        )


def print_memory() -> None:
    small, large = peak_mb(1000, 1), peak_mb(0, 3)
    print(f"peak memory: 1,000 prompts {small:.0f} MB, 39,150 x 3 {large:.0f} MB, {large - small:+.0f} MB")


def print_workers(count: int) -> None:
    one, two = (asyncio.run(workers_rate(workers, 64, count)) for workers in (1, 2))
    print(f"workers: one {one:.1f}/s, two {two:.1f}/s, {two / one:.2f} times")


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(_serve(float(sys.argv[2])))
        return
    if sys.argv[1:2] == ["--memory"]:
        memory_run(int(sys.argv[2]), int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one turn")
    parser.add_argument("--rounds", type=int, default=7)
    for part in ("throughput", "memory", "workers"):
        parser.add_argument(f"--skip-{part}", action="store_true")
    chosen = parser.parse_args()
    parts: dict[str, Callable[[], Any]] = {
        "throughput": lambda: print_throughput(chosen.seconds, chosen.rounds),
        "memory": print_memory,
        "workers": lambda: print_workers(int(500 * chosen.seconds)),
    }
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    for name, report in parts.items():
        if not getattr(chosen, f"skip_{name}"):
            report()


if __name__ == "__main__":
    main()
