"""Processes that make calls: what goes through the pipes. A simulated model stands for a provider."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from rupeebias.errors import UsageError
from rupeebias.generate.options import RunOptions
from rupeebias.generate.progress import Progress
from rupeebias.generate.runner import run
from rupeebias.metric.benchmark import DESIGN
from rupeebias.models import open_model
from rupeebias.models.types import CallError, ModelOptions, Request
from rupeebias.models.workers import WorkerPool
from rupeebias.runs.journal import Journal, latest_valid, read_outputs
from rupeebias.runs.selection import Selection, expected_prompt_ids

IDS = expected_prompt_ids(Selection(limit=40))
ASKS = [Request(prompt_id, 0, "s", "₹ \n 5", prompt_id.split(":")[0]) for prompt_id in IDS]


def pool(count: int = 2) -> WorkerPool:
    return WorkerPool(open_model("sim/fair", ModelOptions()), ModelOptions(), DESIGN, count)


def with_pool(scenario: Callable[[WorkerPool], Awaitable[None]], count: int = 2) -> None:
    async def whole() -> None:
        workers = pool(count)
        try:
            await workers.open()
            await scenario(workers)
        finally:
            await workers.close()

    asyncio.run(whole())


def test_a_run_through_two_processes_equals_one_without(tmp_path: Path) -> None:
    async def scenario(workers: WorkerPool) -> None:
        with Journal(tmp_path / "two.jsonl") as journal:
            result = await run(ASKS, workers.complete, journal, RunOptions(), Progress())
        assert (result.replied, result.failed, result.stopped) == (len(ASKS), 0, None)

    with_pool(scenario)
    with Journal(tmp_path / "one.jsonl") as journal:
        alone = open_model("sim/fair", ModelOptions())
        asyncio.run(run(ASKS, alone.complete, journal, RunOptions(), Progress()))
    one, two = (latest_valid(read_outputs(tmp_path / name)) for name in ("one.jsonl", "two.jsonl"))
    assert {key: record["output"] for key, record in one.items()} == {
        key: record["output"] for key, record in two.items()
    }


def test_a_process_that_dies_gives_its_calls_back_and_the_other_goes_on() -> None:
    async def scenario(workers: WorkerPool) -> None:
        first, second = (worker.process for worker in workers._processes)
        os.kill(first.pid, signal.SIGSTOP)  # so that its call stays in flight
        calls = [asyncio.create_task(workers.complete(ask)) for ask in ASKS[:2]]
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        os.kill(first.pid, signal.SIGKILL)
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        (lost,) = [outcome for outcome in outcomes if isinstance(outcome, CallError)]
        assert (lost.retryable, lost.fatal, lost.message) == (True, False, "a worker process ended")
        assert (await workers.complete(ASKS[0])).text is not None
        os.kill(second.pid, signal.SIGKILL)
        await second.wait()
        while any(worker.is_alive for worker in workers._processes):
            await asyncio.sleep(0.01)
        with pytest.raises(CallError, match="all worker processes have ended") as caught:
            await workers.complete(ASKS[0])
        assert caught.value.fatal

    with_pool(scenario)


def test_a_call_that_is_given_up_leaves_nothing_behind() -> None:
    async def scenario(workers: WorkerPool) -> None:
        (worker,) = workers._processes
        os.kill(worker.process.pid, signal.SIGSTOP)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await workers.complete(ASKS[0])
        assert worker.calls == {}
        os.kill(worker.process.pid, signal.SIGCONT)
        assert (await workers.complete(ASKS[1])).text is not None

    with_pool(scenario, count=1)


def test_an_error_at_the_start_is_the_models_own() -> None:
    async def scenario() -> None:
        bad = ModelOptions(base_url="http://127.0.0.1:1/v1")
        workers = WorkerPool(open_model("sim/fair", ModelOptions()), bad, DESIGN, 1)
        try:
            with pytest.raises(UsageError, match="--base-url does not suit sim/fair"):
                await workers.open()
        finally:
            await workers.close()

    asyncio.run(scenario())


def test_simulated_and_local_models_take_no_workers() -> None:
    with pytest.raises(UsageError, match="--workers suits models of a provider or server, not sim/fair"):
        open_model("sim/fair", ModelOptions(), workers=2)


def test_workers_end_when_their_parent_is_killed() -> None:
    script = """
        import asyncio
        from rupeebias.metric.benchmark import DESIGN
        from rupeebias.models import open_model
        from rupeebias.models.types import ModelOptions
        from rupeebias.models.workers import WorkerPool

        async def main():
            workers = WorkerPool(open_model("sim/fair", ModelOptions()), ModelOptions(), DESIGN, 1)
            await workers.open()
            print(workers._processes[0].process.pid, flush=True)
            await asyncio.sleep(60)

        asyncio.run(main())
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 10
    while _is_running(worker):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"
