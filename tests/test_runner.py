"""The runner, with a plain function in the place of the network."""

import asyncio
import itertools
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import iter_prompts
from rupeebias.errors import RupeeBiasError
from rupeebias.generate.api import shuffled_requests
from rupeebias.generate.limits import Budget
from rupeebias.generate.options import Bounds, RunOptions
from rupeebias.generate.plan import prompts_of
from rupeebias.generate.progress import Progress
from rupeebias.generate.retry import RetryRules
from rupeebias.generate.runner import RunResult, run
from rupeebias.models.types import CallError, Complete, Reply, Request
from rupeebias.runs.journal import Journal, latest_valid, read_outputs
from rupeebias.runs.ledger import Ledger
from rupeebias.runs.selection import Selection

SOON = RetryRules(first_wait_s=0.001, longest_wait_s=0.002)
FAST = RunOptions(bounds=Bounds(max_connections=4), retries=SOON)
ALONE = Bounds(max_connections=1)


def asks(n: int) -> list[Request]:
    return [Request(f"p{i}", 0, "system", f"question {i}", "counter_offer") for i in range(n)]


def ask_all(
    folder: Path, requests: Iterable[Request], complete: Complete, options: RunOptions = FAST
) -> tuple[RunResult, list[dict[str, Any]]]:
    """Run to the end; return the result and the records of this session."""
    path = folder / "outputs.jsonl"
    with Journal(path) as journal:
        before = path.stat().st_size
        result = asyncio.run(run(requests, complete, journal, options, Progress()))
    return result, [orjson.loads(line) for line in path.read_bytes()[before:].splitlines()]


def scripted(*outcomes: Reply | CallError) -> tuple[Complete, list[str]]:
    """A model that goes through `outcomes`, then answers everything; and the log of its calls."""
    calls: list[str] = []
    script = iter(outcomes)

    async def complete(request: Request) -> Reply:
        calls.append(request.prompt_id)
        outcome = next(script, Reply("### 5 INR", "stop"))
        if isinstance(outcome, CallError):
            raise outcome
        return outcome

    return complete, calls


def test_every_request_gets_exactly_one_record(tmp_path: Path) -> None:
    complete, calls = scripted()
    result, records = ask_all(tmp_path, asks(50), complete)
    assert result == RunResult(replied=50, failed=0, stopped=None, fatal=False)
    assert (
        sorted(r["prompt_id"] for r in records)
        == sorted(calls)
        == sorted(request.prompt_id for request in asks(50))
    )


def test_a_record_holds_what_the_reply_said(tmp_path: Path) -> None:
    complete, _ = scripted(Reply("₹5", "stop", {"input_tokens": 3}, 0.5, "x-2026-01-01"))
    _, (record,) = ask_all(tmp_path, [Request("p", 2, "s", "q", "u")], complete)
    assert list(record) == [
        "prompt_id", "repeat", "output", "finish_reason", "error", "usage",
        "cost_usd", "latency_s", "attempts", "created_at", "response_model", "status",
    ]  # fmt: skip
    assert (record["prompt_id"], record["repeat"], record["output"]) == ("p", 2, "₹5")
    assert (record["usage"], record["cost_usd"]) == ({"input_tokens": 3}, 0.5)
    assert record["response_model"] == "x-2026-01-01"
    assert record["created_at"].endswith("Z")


def test_no_request_at_all_is_fine(tmp_path: Path) -> None:
    complete, calls = scripted()
    result, records = ask_all(tmp_path, [], complete)
    assert (result.replied, result.stopped, records, calls) == (0, None, [], [])


def test_an_answer_without_content_is_kept_and_not_bought_again(tmp_path: Path) -> None:
    complete, calls = scripted(Reply(None, "length"))
    _, (record,) = ask_all(tmp_path, asks(1), complete)
    assert (record["output"], record["finish_reason"], record["error"]) == (None, "length", None)
    assert len(calls) == 1


def test_no_more_calls_at_once_than_allowed_and_no_task_per_waiting_request(tmp_path: Path) -> None:
    running = most_running = most_tasks = 0

    async def complete(request: Request) -> Reply:
        nonlocal running, most_running, most_tasks
        running += 1
        most_running = max(most_running, running)
        most_tasks = max(most_tasks, len(asyncio.all_tasks()))
        await asyncio.sleep(0)
        running -= 1
        return Reply("x")

    pulled = itertools.count()
    requests = (request for request, _ in zip(asks(3000), pulled, strict=False))
    result, _ = ask_all(tmp_path, requests, complete)
    assert result.replied == 3000
    assert most_running == FAST.bounds.max_connections
    # A worker and a call for each, and three that look after them.
    assert most_tasks <= 2 * FAST.bounds.max_connections + 3


# Retries


def test_a_passing_fault_is_retried(tmp_path: Path) -> None:
    fault = CallError("HTTP 500", retryable=True)
    complete, calls = scripted(fault, fault)
    _, (record,) = ask_all(tmp_path, asks(1), complete)
    assert (record["output"], record["error"], record["attempts"]) == ("### 5 INR", None, 3)
    assert len(calls) == 3


def test_the_server_is_not_asked_before_the_time_that_it_names(tmp_path: Path) -> None:
    # The header of the latest error counts: 0.05 s, then 0.15 s.
    times: list[float] = []
    waits = iter([0.05, 0.15])

    async def complete(request: Request) -> Reply:
        times.append(time.monotonic())
        wait = next(waits, None)
        if wait is None:
            return Reply("x")
        raise CallError("HTTP 429", retryable=True, retry_after_s=wait)

    ask_all(tmp_path, asks(1), complete)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert gaps[0] >= 0.05
    assert gaps[1] >= 0.15


def test_retries_are_bounded_and_the_failure_is_a_record(tmp_path: Path) -> None:
    options = RunOptions(bounds=ALONE, retries=RetryRules(2, first_wait_s=0.001))
    fault = CallError("HTTP 503: busy", retryable=True)
    complete, calls = scripted(Reply("x"), fault, fault, fault)
    result, records = ask_all(tmp_path, asks(2), complete, options)
    assert calls == ["p0", "p1", "p1", "p1"]
    assert (records[1]["output"], records[1]["error"]) == (None, "HTTP 503: busy")
    assert records[1]["attempts"] == 3
    assert (result.replied, result.failed, result.stopped) == (1, 1, None)


def test_waits_grow_and_stay_bounded(tmp_path: Path) -> None:
    # 20, 40, 60, 60 ms, each times 0.5 to 1: at least 90 ms, and without the bound at least 150.
    options = RunOptions(bounds=ALONE, retries=RetryRules(4, first_wait_s=0.02, longest_wait_s=0.06))
    fault = CallError("HTTP 503", retryable=True)
    complete, _ = scripted(fault, fault, fault, fault)
    started = time.monotonic()
    _, (record,) = ask_all(tmp_path, asks(1), complete, options)
    assert record["attempts"] == 5
    assert time.monotonic() - started >= 0.09


def test_a_wait_beyond_the_total_deadline_is_not_begun(tmp_path: Path) -> None:
    options = RunOptions(bounds=ALONE, timeout_s=5.0)
    daily = CallError("HTTP 429", retryable=True, retry_after_s=86_400)
    complete, calls = scripted(Reply("x"), daily)
    started = time.monotonic()
    _, records = ask_all(tmp_path, asks(2), complete, options)
    assert time.monotonic() - started < 2
    assert "asked to wait 86400 s: --timeout is 5 s" in records[1]["error"]
    assert len(calls) == 2


def test_a_silent_server_is_given_up_at_the_attempt_deadline(tmp_path: Path) -> None:
    turn = itertools.count()

    async def complete(request: Request) -> Reply:
        if next(turn) == 1:
            await asyncio.sleep(60)
        return Reply("x")

    options = RunOptions(bounds=ALONE, attempt_timeout_s=0.05, retries=SOON)
    started = time.monotonic()
    _, records = ask_all(tmp_path, asks(2), complete, options)
    assert time.monotonic() - started < 2
    assert [record["attempts"] for record in records] == [1, 2]


def test_the_total_deadline_bounds_an_attempt_too(tmp_path: Path) -> None:
    async def complete(request: Request) -> Reply:
        if request.prompt_id == "p1":
            await asyncio.sleep(60)
        return Reply("x")

    options = RunOptions(bounds=ALONE, timeout_s=0.05)
    started = time.monotonic()
    result, records = ask_all(tmp_path, asks(2), complete, options)
    assert time.monotonic() - started < 2
    assert result.failed == 1
    assert "no answer within" in records[1]["error"]


def test_a_fault_of_one_prompt_is_not_retried(tmp_path: Path) -> None:
    refused = CallError("HTTP 400: content filter", retryable=False)
    complete, calls = scripted(Reply("x"), refused)
    result, _ = ask_all(tmp_path, asks(5), complete)
    assert Counter(calls).most_common(1)[0][1] == 1
    assert (result.replied, result.failed, result.stopped) == (4, 1, None)


def test_a_limit_that_outlasts_the_deadline_stops_the_run_and_fails_no_request(
    tmp_path: Path,
) -> None:
    options = RunOptions(bounds=ALONE, timeout_s=5.0)
    daily = CallError("HTTP 429", retryable=True, retry_after_s=86_400, throttled=True)
    complete, calls = scripted(Reply("x"), daily)
    result, records = ask_all(tmp_path, asks(9), complete, options)
    assert (len(calls), len(records)) == (2, 1)
    assert result.stopped is not None
    assert "asked to wait 86400 s: --timeout is 5 s; --timeout " in result.stopped
    assert not result.fatal


def test_a_wait_as_told_that_did_not_help_is_followed_by_backoff(tmp_path: Path) -> None:
    times: list[float] = []

    async def complete(request: Request) -> Reply:
        times.append(time.monotonic())
        if len(times) <= 4:
            raise CallError("HTTP 429", retryable=True, retry_after_s=0.0, throttled=True)
        return Reply("x")

    rules = RetryRules(first_wait_s=0.05)
    ask_all(tmp_path, asks(1), complete, RunOptions(bounds=ALONE, retries=rules))
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    # At once as told; then at least a half of 0.1, 0.2 and 0.4 s.
    assert gaps[0] < 0.05
    assert gaps[1] >= 0.05
    assert gaps[2] >= 0.1
    assert gaps[3] >= 0.2


def test_429_shrinks_the_calls_at_once_and_5xx_does_not(tmp_path: Path) -> None:
    def most_at_once(error: CallError) -> int:
        running, most, count = 0, 0, 0

        async def complete(request: Request) -> Reply:
            nonlocal running, most, count
            running += 1
            count += 1
            if count > 40:
                most = max(most, running)
            await asyncio.sleep(0.002)
            running -= 1
            if 17 < count < 40 and request.repeat == 0 and count % 2:
                raise error
            return Reply("x")

        options = RunOptions(bounds=Bounds(max_connections=16), retries=SOON)
        ask_all(tmp_path / error.message, asks(120), complete, options)
        return most

    for name in ("HTTP 429", "HTTP 503"):
        (tmp_path / name).mkdir()
    assert most_at_once(CallError("HTTP 503", retryable=True)) == 16
    assert most_at_once(CallError("HTTP 429", retryable=True, throttled=True)) < 16


def test_a_cap_ends_the_run_before_it_is_exceeded(tmp_path: Path) -> None:
    async def scenario(journal: Journal) -> RunResult:
        async def complete(request: Request) -> Reply:
            await asyncio.sleep(0.001)
            return Reply("x", cost_usd=0.1)

        budget = Budget(Ledger(journal.path.parent), lambda _: 0.3, 1.0)
        return await run(asks(100), complete, journal, FAST, Progress(), budget=budget)

    with Journal(tmp_path / "outputs.jsonl") as journal:
        result = asyncio.run(scenario(journal))
        # A call is sent while spent + 0.3 <= 1.0: up to 0.7 spent, so eight calls, 0.8 in all.
        assert journal.cost_usd == pytest.approx(0.8)
    assert (result.replied, result.fatal) == (8, False)
    assert result.stopped == "--max-cost 1 USD leaves no room for another call (0.8000 USD spent)"


def test_a_call_that_may_have_been_worked_on_keeps_its_worst_case_under_a_cap(tmp_path: Path) -> None:
    async def scenario(journal: Journal, error: CallError) -> RunResult:
        complete, _ = scripted(Reply("x", cost_usd=0.1), *[error] * 99)
        options = RunOptions(bounds=ALONE, retries=SOON, max_failures_in_a_row=50)
        budget = Budget(Ledger(journal.path.parent), lambda _: 0.3, 1.0)
        return await run(asks(3), complete, journal, options, Progress(), budget=budget)

    for name in ("torn", "refused"):
        (tmp_path / name).mkdir()
    torn = CallError("HTTP 502", retryable=True)
    with Journal(tmp_path / "torn" / "outputs.jsonl") as journal:
        # 0.1 for the reply and 0.3 for each of three errors: a fourth would pass the cap.
        result = asyncio.run(scenario(journal, torn))
    assert result.stopped == "--max-cost 1 USD leaves no room for another call (1.0000 USD spent)"
    refused = CallError("HTTP 400", retryable=False, cost_usd=0.0)
    with Journal(tmp_path / "refused" / "outputs.jsonl") as journal:
        assert asyncio.run(scenario(journal, refused)).stopped is None


def test_an_outage_leaves_no_records_and_the_same_requests_are_asked_again(tmp_path: Path) -> None:
    options = RunOptions(bounds=ALONE, retries=RetryRules(1, first_wait_s=0.001), max_failures_in_a_row=4)
    for gone in (CallError("HTTP 502", retryable=True), CallError("refused", retryable=True, no_server=True)):
        folder = tmp_path / gone.message
        folder.mkdir()
        complete, _ = scripted(*[Reply("x")] * 12, *[gone] * 8)
        result, records = ask_all(folder, asks(60), complete, options)
        assert result.stopped == f"4 requests in a row failed, the last: {gone.message}"
        assert [record["error"] for record in records] == [None] * 12
        assert (result.replied, result.failed) == (12, 0)


def test_a_server_that_is_gone_for_the_last_requests_leaves_them_without_records(tmp_path: Path) -> None:
    options = RunOptions(bounds=ALONE, retries=RetryRules(1, first_wait_s=0.001))
    gone = CallError("no server answers", retryable=True, no_server=True)
    complete, _ = scripted(*[Reply("x")] * 3, *[gone] * 4)
    result, records = ask_all(tmp_path, asks(5), complete, options)
    assert (result.stopped, result.fatal, len(records)) == ("no server answers", False, 3)


def test_a_request_that_fails_while_others_are_answered_gets_its_record(tmp_path: Path) -> None:
    async def complete(request: Request) -> Reply:
        await asyncio.sleep(0.001)
        if request.prompt_id == "p3":
            raise CallError("HTTP 500", retryable=True)
        return Reply("x")

    result, records = ask_all(tmp_path, asks(40), complete)
    assert (result.replied, result.failed, result.stopped) == (39, 1, None)
    assert [record["prompt_id"] for record in records if record["error"]] == ["p3"]


def test_a_filter_on_the_first_prompts_does_not_keep_a_run_from_starting(tmp_path: Path) -> None:
    filtered = CallError("HTTP 400: content filter", retryable=False, about_prompt=True)
    complete, _ = scripted(*[filtered] * 3)
    result, records = ask_all(tmp_path, asks(9), complete)
    assert (result.replied, result.failed, result.stopped) == (6, 3, None)
    assert [record["error"] for record in records[:3]] == ["HTTP 400: content filter"] * 3


def test_rejected_parameters_are_left_out_before_the_first_reply_only(tmp_path: Path) -> None:
    refusals = [CallError(f"HTTP 400: {name}", retryable=False, rejected=name) for name in ("a", "b")]
    late = CallError("HTTP 400: c", retryable=False, rejected="c")
    complete, calls = scripted(*refusals, Reply("x"), late)
    left_out: list[tuple[str, str]] = []

    async def scenario(journal: Journal) -> RunResult:
        def leave_out(name: str, reason: str) -> None:
            left_out.append((name, reason))

        return await run(asks(3), complete, journal, FAST, Progress(), leave_out=leave_out)

    with Journal(tmp_path / "outputs.jsonl") as journal:
        result = asyncio.run(scenario(journal))
    assert left_out == [("a", "HTTP 400: a"), ("b", "HTTP 400: b")]
    assert calls[:3] == ["p0", "p0", "p0"]
    assert (result.replied, result.failed) == (2, 1)
    assert next(iter(read_outputs(tmp_path / "outputs.jsonl")))["attempts"] == 1


# Stopping


def test_a_wrong_key_costs_one_call(tmp_path: Path) -> None:
    complete, calls = scripted(*[CallError("HTTP 401", retryable=False, fatal=True)] * 100)
    result, records = ask_all(tmp_path, asks(100), complete)
    assert result == RunResult(0, 0, "HTTP 401", fatal=True)
    assert (len(calls), records) == (1, [])


def test_if_everything_is_refused_the_run_stops_after_three(tmp_path: Path) -> None:
    complete, calls = scripted(*[CallError("HTTP 400: what?", retryable=False)] * 100)
    result, records = ask_all(tmp_path, asks(100), complete)
    assert (result.stopped, result.fatal) == ("no request succeeded: HTTP 400: what?", True)
    assert (len(calls), records) == (3, [])


def test_a_refused_first_prompt_does_not_stop_the_run(tmp_path: Path) -> None:
    complete, _ = scripted(CallError("HTTP 400", retryable=False))
    result, records = ask_all(tmp_path, asks(10), complete)
    assert (result.replied, result.failed, result.stopped) == (9, 1, None)
    assert records[0]["error"] == "HTTP 400"


def test_a_key_that_dies_in_the_middle_stops_the_run_and_calls_in_flight_are_kept(
    tmp_path: Path,
) -> None:
    async def complete(request: Request) -> Reply:
        if request.prompt_id == "p4":
            raise CallError("HTTP 401: revoked", retryable=False, fatal=True)
        await asyncio.sleep(0.02)
        return Reply("x")

    result, records = ask_all(tmp_path, asks(100), complete)
    assert (result.stopped, result.fatal) == ("HTTP 401: revoked", True)
    # p0 alone first; then four at once, of which p4 fails while p1, p2 and p3 are on their way.
    assert sorted(record["prompt_id"] for record in records) == ["p0", "p1", "p2", "p3"]


def test_a_stop_ends_the_waits_of_others(tmp_path: Path) -> None:
    async def complete(request: Request) -> Reply:
        if request.prompt_id == "p1":
            raise CallError("HTTP 429", retryable=True, retry_after_s=600)
        if request.prompt_id == "p2":
            await asyncio.sleep(0.02)
            raise CallError("HTTP 401", retryable=False, fatal=True)
        return Reply("x")

    started = time.monotonic()
    result, records = ask_all(tmp_path, asks(3), complete)
    assert time.monotonic() - started < 2
    assert result.stopped == "HTTP 401"
    assert [record["prompt_id"] for record in records] == ["p0"]


def test_a_server_that_dies_in_the_middle_opens_the_circuit(tmp_path: Path) -> None:
    complete, calls = scripted(Reply("x"), *[CallError("HTTP 400", retryable=False)] * 100)
    options = RunOptions(bounds=ALONE, max_failures_in_a_row=6)
    result, records = ask_all(tmp_path, asks(100), complete, options)
    assert result.stopped == "6 requests in a row failed, the last: HTTP 400"
    assert not result.fatal
    assert len(calls) == len(records) == 7


def test_failures_between_answers_do_not_open_the_circuit(tmp_path: Path) -> None:
    async def complete(request: Request) -> Reply:
        if int(request.prompt_id[1:]) % 3 != 0:
            raise CallError("HTTP 400", retryable=False)
        return Reply("x")

    options = RunOptions(bounds=ALONE, max_failures_in_a_row=3)
    result, _ = ask_all(tmp_path, asks(30), complete, options)
    assert (result.replied, result.failed, result.stopped) == (10, 20, None)


def test_more_failures_than_tolerated_stop_the_run(tmp_path: Path) -> None:
    async def complete(request: Request) -> Reply:
        if int(request.prompt_id[1:]) % 2:
            raise CallError("HTTP 400", retryable=False)
        return Reply("x")

    options = RunOptions(bounds=ALONE, max_failures=4)
    result, _ = ask_all(tmp_path, asks(100), complete, options)
    assert result.failed == 5
    assert result.stopped == "too many requests failed (5), the last: HTTP 400"


def test_a_journal_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    complete, calls = scripted()
    journal = Journal(tmp_path / "outputs.jsonl")
    journal.close()
    with pytest.raises(RupeeBiasError, match="cannot write"):
        asyncio.run(run(asks(100), complete, journal, FAST, Progress()))
    assert len(calls) <= 1 + FAST.bounds.max_connections


def test_a_cancelled_run_leaves_a_good_journal(tmp_path: Path) -> None:
    async def complete(request: Request) -> Reply:
        if int(request.prompt_id[1:]) >= 20:
            await asyncio.sleep(60)
        return Reply("x")

    async def cancel_soon(journal: Journal) -> None:
        task = asyncio.create_task(run(asks(100), complete, journal, FAST, Progress()))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    with Journal(tmp_path / "outputs.jsonl") as journal:
        asyncio.run(cancel_soon(journal))
    with Journal(tmp_path / "outputs.jsonl") as journal:
        assert journal.done == {(f"p{i}", 0) for i in range(20)}


def test_kill_9_in_the_middle_and_a_rerun_give_each_key_once(tmp_path: Path) -> None:
    script = """
        import asyncio, sys
        from pathlib import Path
        from rupeebias.runs.journal import Journal
        from rupeebias.generate.options import RunOptions
        from rupeebias.generate.runner import run
        from rupeebias.generate.progress import Progress
        from rupeebias.models.types import Reply, Request

        async def complete(request):
            await asyncio.sleep(0.002)
            return Reply("x" * 300)

        journal = Journal(Path(sys.argv[1]))
        todo = (Request(f"p{i}", 0, "", "", "") for i in range(2000) if (f"p{i}", 0) not in journal.done)
        asyncio.run(run(todo, complete, journal, RunOptions(), Progress()))
        journal.close()
    """
    path = tmp_path / "outputs.jsonl"
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    killed = subprocess.Popen(command)
    _wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 300)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    kept = path.read_bytes().count(b"\n")
    assert 300 <= kept < 2000
    subprocess.run(command, check=True)
    records = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert len(records) == len(latest_valid(records)) == 2000


# Order and progress


def test_the_order_is_fixed_and_complete_and_leaves_out_what_is_done() -> None:
    prompts = list(iter_prompts(load_components()))[:500]
    first = [(r.prompt_id, r.repeat) for r in shuffled_requests(prompts, 3, set())]
    assert first == [(r.prompt_id, r.repeat) for r in shuffled_requests(prompts, 3, set())]
    assert sorted(first) == sorted((p.prompt_id, i) for p in prompts for i in range(3))
    assert first != sorted(first)
    rest = [(r.prompt_id, r.repeat) for r in shuffled_requests(prompts, 3, set(first[:700]))]
    assert rest == first[700:]


def test_whatever_part_was_asked_holds_whole_slots() -> None:
    # All but the last slot that was begun.
    prompts = list(iter_prompts(load_components()))
    sizes = Counter(p.slot_id for p in prompts)
    slot = {p.prompt_id: p.slot_id for p in prompts}
    order = [(slot[r.prompt_id], r.repeat) for r in shuffled_requests(prompts, 2, set())]
    for end in (1, 100, 1_000, 20_001, 60_000):
        begun = Counter(order[:end])
        assert sum(begun[name, repeat] < sizes[name] for name, repeat in begun) <= 1


def test_an_outage_would_not_line_up_with_a_group() -> None:
    # The first half of the requests holds about half of the requests of every identifier and use case, and
    # an identifier's place in its slot is as often in the first half as in the second.
    prompts = list(iter_prompts(load_components()))
    order = [r.prompt_id.split(":") for r in shuffled_requests(prompts, 1, set())]
    half = order[: len(order) // 2]
    for part in (0, 1, 2, 3):
        whole = Counter(words[part] for words in order)
        early = Counter(words[part] for words in half)
        for name, count in whole.items():
            # Five standard deviations of the slots' number; a use case's members come in slots of up to 30.
            slots = count / (30 if part < 3 else 1)
            assert abs(early[name] / count - 0.5) < 5 * 0.5 / slots**0.5
    places: dict[str, list[float]] = {}
    for _, group in itertools.groupby(order, key=lambda words: (*words[:3], *words[4:])):
        members = [words[3] for words in group]
        for place, name in enumerate(members):
            places.setdefault(name, []).append(place / (len(members) - 1))
    for found in places.values():
        assert abs(sum(found) / len(found) - 0.5) < 5 * 0.36 / len(found) ** 0.5


def test_components_that_the_design_does_not_know_are_not_asked() -> None:
    components = load_components()
    whole, _ = prompts_of("standard", Selection(limit=1), components)
    assert whole
    axis = components.axes[0]
    fewer = replace(components, axes=(replace(axis, identifiers=axis.identifiers[:-1]), *components.axes[1:]))
    renamed = replace(axis.identifiers[0], label="Other")
    other = replace(
        components, axes=(replace(axis, identifiers=(renamed, *axis.identifiers[1:])), *components.axes[1:])
    )
    for edited in (fewer, other):
        for selection in (Selection(), Selection(limit=1)):
            with pytest.raises(RupeeBiasError, match=r"python -m rupeebias\.dataset_builder\.metric_design"):
                prompts_of("standard", selection, edited)


def _wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
