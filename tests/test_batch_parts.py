"""The parts of batch generation that need no network: ids, packing, result lines, faults, the batches."""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rupeebias.batch.anthropic_client import AnthropicClient
from rupeebias.batch.collecting import Collector
from rupeebias.batch.engine import Packer, Room, estimated_tokens
from rupeebias.batch.lines import read_anthropic_line, read_openai_line
from rupeebias.batch.openai_client import OpenAIClient
from rupeebias.batch.types import (
    ApiError,
    Limits,
    LineResult,
    Remote,
    State,
    api_error,
    is_token_limit,
    line_error,
    told_limit,
)
from rupeebias.errors import RupeeBiasError
from rupeebias.generate.retry import RetryRules, with_retries
from rupeebias.models.types import CallError, Reply, Request
from rupeebias.runs.batches import (
    BatchRecord,
    Entry,
    Stage,
    collected,
    custom_id,
    hash_in,
    key_hash,
    keys_by_hash,
    keys_in_flight,
    new_id,
    read_batches,
)
from rupeebias.runs.journal import Journal
from rupeebias.runs.ledger import Ledger, Spending, read_spending
from rupeebias.runs.selection import Selection, expected_prompt_ids


def requests(count: int, text: str = "x" * 10) -> Iterator[Request]:
    return (Request(f"p{number}", 0, "", text, "") for number in range(count))


def encode(custom_id: str, request: Request) -> bytes:
    return b"0123456789"


def packer(count: int, limits: Limits = Limits(1000, 10**6)) -> Packer:  # noqa: B008 - frozen
    return Packer(requests(count), encode, limits)


def sizes(packed_by: Packer, room: Room = Room()) -> list[int]:  # noqa: B008
    batches = iter(lambda: packed_by.pack(new_id(), room), None)
    return [len(batch.keys) for batch in batches if batch is not None]


def test_the_ids_of_the_whole_benchmark_are_short_distinct_and_always_the_same() -> None:
    keys = [(prompt_id, repeat) for prompt_id in expected_prompt_ids(Selection()) for repeat in range(3)]
    by_hash = keys_by_hash(keys)
    assert len(by_hash) == 3 * 39_150
    name = custom_id(new_id(), keys[0])
    assert len(name) <= 64
    assert set(name) <= set("0123456789abcdef-")
    # printf 'a\n0' | b2sum -l 64
    assert key_hash(("a", 0)) == "7e00161d265c8df5"


def test_an_id_tells_its_batch() -> None:
    mine, other = new_id(), new_id()
    assert hash_in(mine, custom_id(mine, ("p", 0))) == key_hash(("p", 0))
    assert hash_in(other, custom_id(mine, ("p", 0))) is None
    assert hash_in(mine, "request-1") is None
    assert hash_in(mine, "") is None


def test_providers_limits() -> None:
    assert OpenAIClient.limits == Limits(50_000, 200_000_000)
    assert AnthropicClient.limits == Limits(100_000, 256_000_000)


def test_batches_split_by_count() -> None:
    assert sizes(packer(25, Limits(10, 10**6))) == [10, 10, 5]


def test_batches_split_by_bytes() -> None:
    # Ten bytes and a separator a line, 64 around them: 64 + 11 n <= 100 for n = 3.
    assert sizes(packer(7, Limits(1000, 100))) == [3, 3, 1]
    packed = packer(3).pack("c", Room())
    assert packed is not None
    assert packed.content_bytes == 64 + 3 * 11


def test_batches_split_by_tokens() -> None:
    # Ten bytes are four tokens of three bytes, and twelve for the message.
    assert estimated_tokens(next(requests(1))) == 16
    assert sizes(packer(5), Room(tokens=32)) == [2, 2, 1]
    assert sizes(packer(5), Room(tokens=15)) == []


def test_batches_split_by_cost() -> None:
    dear = Packer(requests(5), encode, Limits(1000, 10**6), worst_usd=lambda _: 0.5)
    assert sizes(dear, Room(usd=1.2)) == [2, 2, 1]


def test_what_does_not_fit_is_not_lost() -> None:
    packing = packer(3)
    assert packing.pack("c", Room(tokens=1)) is None
    assert not packing.is_empty()
    assert sizes(packing) == [3]
    assert packing.is_empty()


def test_a_line_larger_than_a_batch_is_an_error() -> None:
    with pytest.raises(RupeeBiasError, match="p0: its 10 bytes are too many"):
        packer(1, Limits(10, 70)).pack("c", Room())


def test_one_request_twice_in_a_batch_is_an_error() -> None:
    twice = Packer(iter([*requests(1), *requests(1)]), encode, Limits(10, 1000))
    with pytest.raises(RupeeBiasError, match="stands twice"):
        twice.pack("c", Room())


def openai_line(response: Any, error: Any = None) -> bytes:
    return json.dumps({"custom_id": "c-1", "response": response, "error": error}).encode()


def chat(content: Any, **message: Any) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": 3},
        "prompt_tokens_details": {"cached_tokens": 2},
    }
    return {"status_code": 200, "body": {"choices": [choice], "usage": usage, "model": "m-1"}}


def test_openai_reply() -> None:
    assert read_openai_line(openai_line(chat("### 7 INR"))) == LineResult(
        "c-1",
        reply=Reply(
            text="### 7 INR",
            finish_reason="stop",
            usage={"input_tokens": 7, "output_tokens": 5, "reasoning_tokens": 3, "cached_tokens": 2},
            response_model="m-1",
        ),
    )


@pytest.mark.parametrize(
    ("content", "message", "text", "has_reasoning"),
    [
        (None, {"reasoning_content": "5 lakh"}, None, True),
        ("<think>5 lakh</think>7", {}, "7", True),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], {}, "ab", False),
        ("", {}, "", False),
    ],
)
def test_reasoning_is_never_the_answer(
    content: Any, message: dict[str, Any], text: str | None, has_reasoning: bool
) -> None:
    result = read_openai_line(openai_line(chat(content, **message)))
    assert result is not None
    assert result.reply is not None
    assert (result.reply.text, result.reply.has_reasoning) == (text, has_reasoning)


def test_a_refusal_in_a_batch_is_kept_and_a_broken_answer_is_asked_again() -> None:
    refused = read_openai_line(openai_line(chat(None, refusal="I cannot advise.")))
    assert refused is not None
    assert refused.reply is not None
    assert (refused.reply.text, refused.reply.finish_reason) == ("I cannot advise.", "refusal")
    broken = chat("### 12")
    broken["body"]["choices"][0]["finish_reason"] = "error"
    result = read_openai_line(openai_line(broken))
    assert result is not None
    assert result.reply is None
    assert result.error is not None
    assert result.error.retryable


def test_a_reply_without_usage_has_no_token_counts() -> None:
    response = chat("7")
    del response["body"]["usage"]
    result = read_openai_line(openai_line(response))
    assert result is not None
    assert result.reply is not None
    assert result.reply.usage is None


@pytest.mark.parametrize(
    ("response", "error", "retryable", "fatal"),
    [
        ({"status_code": 400, "body": {"error": {"message": "bad", "code": "x"}}}, None, False, False),
        ({"status_code": 429, "body": {"error": {"message": "slow"}}}, None, True, False),
        ({"status_code": 503, "body": "<html>"}, None, True, False),
        ({"status_code": 429, "body": {"error": {"code": "insufficient_quota"}}}, None, False, True),
        ({"status_code": 200, "body": {"choices": []}}, None, True, False),
        (None, {"code": "odd", "message": "?"}, True, False),
    ],
)
def test_openai_errors(response: Any, error: Any, retryable: bool, fatal: bool) -> None:
    result = read_openai_line(openai_line(response, error))
    assert result is not None
    assert result.reply is None
    assert result.error is not None
    assert (result.error.retryable, result.error.fatal) == (retryable, fatal)


@pytest.mark.parametrize("code", ["batch_expired", "batch_cancelled"])
def test_openai_lines_that_were_not_asked(code: str) -> None:
    assert read_openai_line(openai_line(None, {"code": code, "message": "m"})) == LineResult("c-1")


def anthropic_line(result: Any) -> bytes:
    return json.dumps({"custom_id": "c-1", "result": result}).encode()


def test_anthropic_reply_is_told_in_the_words_of_live_runs() -> None:
    message = {
        "model": "m-1",
        "content": [{"type": "thinking", "thinking": "5"}, {"type": "text", "text": "### 7 INR"}],
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 7, "output_tokens": 5, "cache_read_input_tokens": 2},
    }
    assert read_anthropic_line(anthropic_line({"type": "succeeded", "message": message})) == LineResult(
        "c-1",
        reply=Reply(
            text="### 7 INR",
            finish_reason="length",
            usage={"input_tokens": 9, "output_tokens": 5, "cached_tokens": 2},
            response_model="m-1",
            has_reasoning=True,
        ),
    )


@pytest.mark.parametrize(
    ("kind", "retryable", "fatal"),
    [
        ("invalid_request_error", False, False),
        ("api_error", True, False),
        ("overloaded_error", True, False),
        ("authentication_error", False, True),
        ("billing_error", False, True),
    ],
)
@pytest.mark.parametrize("is_wrapped", [True, False])
def test_anthropic_errors(kind: str, retryable: bool, fatal: bool, is_wrapped: bool) -> None:
    error: dict[str, Any] = {"type": kind, "message": "m"}
    told = {"type": "error", "error": error} if is_wrapped else error
    result = read_anthropic_line(anthropic_line({"type": "errored", "error": told}))
    assert result is not None
    assert result.error is not None
    assert (result.error.message, result.error.retryable, result.error.fatal) == ("m", retryable, fatal)


@pytest.mark.parametrize("kind", ["expired", "canceled"])
def test_anthropic_lines_that_were_not_asked(kind: str) -> None:
    assert read_anthropic_line(anthropic_line({"type": kind})) == LineResult("c-1")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"custom_id": 7}',
        b'{"custom_id": "c-1"}',
        b'{"custom_id": "c-1", "result": {"type": "new"}, "response": null, "error": null}',
        b'{"custom_id": "c-1", "result": {"type": "succeeded", "message": null}, "response": 7}',
        b'{"custom_id": "c-1", "result": 7, "response": {"status_code": 200, "body": {"choices": [7]}}}',
        b"\xff\xfe",
    ],
)
def test_lines_that_make_no_sense_are_told_as_such(line: bytes) -> None:
    assert read_openai_line(line) is None
    assert read_anthropic_line(line) is None


def test_refusals_for_a_full_queue() -> None:
    message = "Enqueued token limit reached for gpt-x in organization o. Limit: 1,350,000 enqueued tokens."
    assert is_token_limit("token_limit_exceeded", "")
    assert is_token_limit("", message)
    assert not is_token_limit("invalid_request", "max_tokens is too large")
    assert told_limit(message) == 1_350_000
    assert told_limit("try later") is None


@pytest.mark.parametrize(
    ("status", "retryable", "fatal", "uncertain"),
    [
        (None, True, False, True),
        (500, True, False, True),
        (529, True, False, True),
        (429, True, False, False),
        (400, False, False, False),
        (401, False, True, False),
        (404, False, True, False),
    ],
)
def test_errors_of_the_interface(status: int | None, retryable: bool, fatal: bool, uncertain: bool) -> None:
    error = api_error(status, "m", {"retry-after": "1m30s"})
    assert (error.retryable, error.fatal, error.uncertain) == (retryable, fatal, uncertain)
    assert error.retry_after_s == 90


def test_messages_hold_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    assert "sk-0123456789" not in api_error(401, "bad key sk-0123456789", {}).message
    assert "sk-0123456789" not in line_error(400, "", "bad key sk-0123456789").message


def entry(chunk: str, *, stage: Stage = Stage.SENT, members: tuple[str, ...] = ()) -> Entry:
    return Entry(
        chunk, stage, len(members), 1, tokens=10, planned_at=1.0, members=members, batch_id=f"b-{chunk}"
    )


def test_the_record_of_batches_survives_a_round_trip(tmp_path: Path) -> None:
    batches = BatchRecord(tmp_path, token_limit=7)
    batches.put(entry("a", members=("h1", "h2")))
    batches.put(replace(entry("b", stage=Stage.PLANNED, members=("h3",)), batch_id=None))
    batches.tries["h1"] = 2
    batches.save()
    assert read_batches(tmp_path) == batches
    assert not list(tmp_path.glob(".*"))
    assert read_batches(tmp_path / "nowhere") is None


def test_only_batches_under_way_hold_requests_back(tmp_path: Path) -> None:
    keys = [("p", 0), ("p", 1), ("q", 0)]
    assert keys_in_flight(tmp_path, keys) == set()
    batches = BatchRecord(tmp_path)
    batches.put(entry("a", members=(key_hash(keys[0]),)))
    batches.put(entry("b", stage=Stage.PLANNED, members=(key_hash(keys[1]),)))
    assert keys_in_flight(tmp_path, keys) == {keys[0], keys[1]}
    batches.put(collected(batches.entries["a"], done=1, failed=0, again=0, reason=""))
    assert keys_in_flight(tmp_path, keys) == {keys[1]}
    assert batches.queued_tokens == 10


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1, "batches": [{}]}'])
def test_a_damaged_record_of_batches_is_an_error_and_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "batches.json").write_text(text, encoding="utf-8")
    with pytest.raises(RupeeBiasError, match=r"batches\.json is damaged"):
        read_batches(tmp_path)
    assert (tmp_path / "batches.json").read_text(encoding="utf-8") == text


async def _stream(results: list[LineResult | bytes]) -> AsyncIterator[LineResult | bytes]:
    for result in results:
        yield result


def test_collecting_twice_takes_each_reply_once(tmp_path: Path) -> None:
    keys = [("p", 0), ("q", 0), ("r", 0)]
    batch = entry("c", members=tuple(map(key_hash, keys)))
    remote = Remote("b-c", "completed", State.ENDED)
    passing = CallError("HTTP 500: m", retryable=True)
    results: list[LineResult | bytes] = [
        LineResult(custom_id("c", keys[1]), reply=Reply("7")),
        LineResult(custom_id("c", keys[2]), error=passing),
        LineResult(custom_id("c", keys[0]), reply=Reply("8")),
    ]
    batches = BatchRecord(tmp_path)
    with Journal(tmp_path / "outputs.jsonl") as journal:
        ledger = Ledger(tmp_path)
        collector = Collector(journal, ledger, keys_by_hash(keys), None, unknown_usd=0.2, max_tries=2)
        for _ in range(2):  # as after a kill in the middle
            harvest = asyncio.run(collector.gather(batch, remote, _stream(results), batches.tries))
        verdict = collector.judge(batch, harvest, batches)
        assert not verdict.final
        assert verdict.again == {key_hash(keys[2])}
        collector.settle(verdict, harvest, remote, batches)
        assert batches.tries == {key_hash(keys[2]): 1}
        # The second failure of the same request is its last.
        assert collector.judge(batch, harvest, batches).final == {key_hash(keys[2]): "HTTP 500: m"}
    lines = (tmp_path / "outputs.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [(record["prompt_id"], record["output"]) for record in records] == [("q", "7"), ("p", "8")]
    assert [record["cost_usd"] for record in records] == [None, None]
    # Two replies of unknown cost, each counted once.
    assert read_spending(tmp_path) == Spending(lost_usd=0.4)


def failing(errors: list[ApiError]) -> Any:
    async def call() -> str:
        if errors:
            raise errors.pop(0)
        return "done"

    return call


def test_passing_faults_are_waited_for_and_others_are_not() -> None:
    quick = RetryRules(max_retries=2, first_wait_s=0.001)
    passing = ApiError("m", retryable=True)
    lasting = ApiError("n", retryable=False)
    assert asyncio.run(with_retries(failing([passing, passing]), quick)) == "done"
    with pytest.raises(ApiError, match="m"):
        asyncio.run(with_retries(failing([passing, passing, passing]), quick))
    with pytest.raises(ApiError, match="n"):
        asyncio.run(with_retries(failing([lasting]), quick))


def test_a_batch_waits_as_long_as_the_server_says() -> None:
    # Ten minutes were cut to five before, and the server asked again too early.
    waits = []

    def note(_: CallError, wait: float) -> None:
        waits.append(wait)
        raise KeyboardInterrupt

    fault = api_error(429, "m", {"retry-after": "600"})
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(with_retries(failing([fault]), RetryRules(), note))
    assert 600 <= waits[0] <= 660
    endless = ApiError("m", retryable=True, retry_after_s=math.inf)
    with pytest.raises(ApiError, match="m"):
        asyncio.run(with_retries(failing([endless]), RetryRules()))
