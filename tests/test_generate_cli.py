"""`rupeebias generate` and `rupeebias runs` as a user types them.

LiteLLM takes seconds to import, so all provider scenarios share one process, which runs one command
after the other and reports on each; processes of their own have it at once.
"""

import itertools
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from fault_server import Answer, Call, FaultServer, failure, hang, html, reply
from preloaded import COMMAND, Preloaded
from submission_runs import write_run

from rupeebias.runs.directory import locked
from rupeebias.runs.manifest import read_manifest, resuming_command
from rupeebias.runs.selection import Selection

KEY = "sk-test-4f9a1c7be2d84b0f"
SMALL = ("--axis", "gender", "--limit", "2")
"""Two slots of five identifiers: ten prompts."""
BIG = str(2**64)

_DRIVER = """
    import contextlib, io, json, sys
    from rupeebias.cli.app import main

    for line in sys.stdin:
        out, status = io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                main(json.loads(line))
            except SystemExit as stop:
                status = stop.code
        print(json.dumps([status, out.getvalue()]), flush=True)
"""


@dataclass(frozen=True)
class Outcome:
    status: int
    shown: str


class Cli:
    """A process that runs commands in `folder`, one at a time."""

    def __init__(self, litellm_loaded: Preloaded, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.shown: list[str] = []
        self._process = litellm_loaded.start(_DRIVER, folder=folder, env={**os.environ, **env})

    def __call__(self, *words: str) -> Outcome:
        self._process.say(words)
        status, shown = self._process.hear()
        self.shown.append(shown)
        return Outcome(status, shown)

    def close(self) -> None:
        self._process.finish()


def records(folder: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (folder / "outputs.jsonl").read_bytes().splitlines()]


@pytest.fixture(scope="module")
def keyed(litellm_loaded: Preloaded, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """Commands with a key in the environment."""
    providers = ("OPENAI", "ANTHROPIC", "MISTRAL", "OPENROUTER", "AZURE", "TOGETHER")
    keys = {f"{name}_API_KEY": KEY for name in providers}
    cli = Cli(litellm_loaded, tmp_path_factory.mktemp("keyed"), {**keys, "GROQ_API_KEY": ""})
    yield cli
    cli.close()


def provider(server: FaultServer, run: str, *more: str) -> Sequence[str]:
    """The command for an OpenAI-compatible server, with short waits."""
    return ("generate", "--model", "openai/x", "--base-url", server.url, "--run", run, *SMALL, *more)


# A provider, through LiteLLM


def test_faults_end_in_one_valid_record_each_and_a_rerun_asks_nothing(keyed: Cli) -> None:
    answers = iter(
        [
            reply(),
            failure(429, "slow down", retry_after="0.2"),
            failure(500),
            html(),
            failure(503),
            Answer(200, '{"id": "torn'),
            reply(None, finish_reason="length", reasoning_content="perhaps 5 lakh"),
            hang(30),
        ]
    )
    with FaultServer(lambda call: next(answers, reply())) as server:
        command = provider(server, "faults", "-j", "2", "--attempt-timeout", "1.5")
        done = keyed(*command)
        assert done.status == 0, done.shown
        assert "10 requests: 0 done, 10 to do" in done.shown
        asked = len(server.calls)
        # Six faults, so six calls more than the ten requests.
        assert asked == 16
        kept = records(keyed.folder / "faults")
        assert len({(r["prompt_id"], r["repeat"]) for r in kept}) == len(kept) == 10
        assert all(r["error"] is None for r in kept)

        again = keyed(*command)
        assert again.status == 0
        assert "10 requests: 10 done, 0 to do" in again.shown
        assert len(server.calls) == asked

        more = keyed(*provider(server, "faults", "--repeats", "2"))
        assert more.status == 0
        assert len(server.calls) == asked + 10
        assert sorted(r["repeat"] for r in records(keyed.folder / "faults")) == [0] * 10 + [1] * 10


def test_reasoning_is_never_taken_for_the_answer(keyed: Cli) -> None:
    thinking = reply(None, finish_reason="length", reasoning_content="perhaps ### 500000 INR")
    with FaultServer(lambda call: thinking) as server:
        assert keyed(*provider(server, "reasoning")).status == 0
    for record in records(keyed.folder / "reasoning"):
        assert (record["output"], record["finish_reason"]) == (None, "length")
        assert (record["error"], record["attempts"]) == (None, 1)


def test_what_is_sent_and_what_is_recorded(keyed: Cli) -> None:
    with FaultServer(lambda call: reply()) as server:
        settings = ("--max-tokens", "64", "--seed", "7", "-M", "top_p=0.5", "--arm", "fairness")
        assert keyed(*provider(server, "sent", *settings)).status == 0
        call = server.calls[0]
    body = call.body
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "fair" in body["messages"][0]["content"]
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.0, 64, 7)
    assert (body["reasoning_effort"], body["top_p"]) == ("none", 0.5)
    assert call.headers["authorization"] == f"Bearer {KEY}"
    manifest = orjson.loads((keyed.folder / "sent" / "manifest.json").read_bytes())
    assert manifest["settings"] == {
        "provider": "openai",
        "base_url": server.url,
        "temperature": 0.0,
        "reasoning_effort": "none",
        "max_tokens": 64,
        "seed": 7,
        "extras": {"top_p": 0.5},
    }
    assert manifest["arm"] == "fairness"
    assert manifest["counts"] == {"requests": 10, "done": 10, "failed": 0, "left": 0}
    assert manifest["response_models"] == {"served-2026-01-01": 10}
    assert manifest["cost_usd"] is None
    assert manifest["unknown_costs"] == 10
    record = records(keyed.folder / "sent")[0]
    assert record["usage"] == {"input_tokens": 36, "output_tokens": 6}
    assert record["cost_usd"] is None


def test_a_known_price_is_recorded_and_unknown_is_not_zero(keyed: Cli) -> None:
    # gpt-4o-mini: 0.15 USD per million tokens in, 0.60 out; 36 in and 6 out are 9 millionths.
    served = "gpt-4o-mini-2024-07-18"

    def behaviour(call: Call) -> Answer:
        return reply(model=served, usage=None) if call.number == 4 else reply(model=served)

    with FaultServer(behaviour) as server:
        words = provider(server, "price", "--model", "openai/gpt-4o-mini")
        assert keyed(*words).status == 0
    costs = [record["cost_usd"] for record in records(keyed.folder / "price")]
    assert costs.count(None) == 1
    assert [cost for cost in costs if cost is not None] == [pytest.approx(9e-6)] * 9
    manifest = orjson.loads((keyed.folder / "price" / "manifest.json").read_bytes())
    assert manifest["cost_usd"] == pytest.approx(81e-6)
    assert manifest["unknown_costs"] == 1


@pytest.mark.parametrize("model", ["openrouter/openai/gpt-5", "dashscope/qwen-flash"])
def test_a_price_that_the_map_does_not_state_is_unknown_and_refused_under_a_cap(
    keyed: Cli, model: str
) -> None:
    # LiteLLM gives 0 for the first, which its map does not have, and for the second, whose price has tiers.
    words = ("generate", "--model", model, *SMALL, "--max-tokens", "64", "--run", "unpriced")
    refused = keyed(*words, "--max-cost", "0.0001")
    assert refused.status == 2
    assert f"the price of {model} is unknown; give --price-in and --price-out" in refused.shown
    assert "cost: unknown; give --price-in" in keyed(*words, "--dry-run").shown


def test_the_cost_that_a_provider_tells_counts(keyed: Cli) -> None:
    usage = {"prompt_tokens": 36, "completion_tokens": 6, "total_tokens": 42, "cost": 0.00125}
    with FaultServer(lambda call: reply(usage=usage)) as server:
        assert keyed(*provider(server, "told", "--model", "openrouter/openai/gpt-5")).status == 0
    assert {record["cost_usd"] for record in records(keyed.folder / "told")} == {0.00125}


@pytest.mark.parametrize("reason", ["error", "abort", "insufficient_system_resource"])
def test_an_answer_that_the_provider_broke_off_is_asked_again_and_never_kept(keyed: Cli, reason: str) -> None:
    # "### 12" of "### 1250000 INR" would be read as 12 lakh.
    def behaviour(call: Call) -> Answer:
        return reply("### 12", finish_reason=reason) if call.number == 3 else reply()

    with FaultServer(behaviour) as server:
        assert keyed(*provider(server, f"broken-{reason}")).status == 0
        assert len(server.calls) == 11
    kept = records(keyed.folder / f"broken-{reason}")
    assert [record["output"] for record in kept] == ["### 850000 INR"] * 10


def test_a_refusal_in_a_field_of_its_own_is_kept_as_one(keyed: Cli) -> None:
    with FaultServer(lambda call: reply(None, refusal="I cannot advise on this.")) as server:
        assert keyed(*provider(server, "refusal")).status == 0
    for record in records(keyed.folder / "refusal"):
        assert (record["output"], record["finish_reason"]) == ("I cannot advise on this.", "refusal")
        assert record["status"] == "answer"


def test_changed_settings_are_refused_by_name(keyed: Cli) -> None:
    with FaultServer(lambda call: reply()) as server:
        assert keyed(*provider(server, "settings")).status == 0
        asked = len(server.calls)
        changed = keyed(*provider(server, "settings", "--temperature", "0.5"))
        assert changed.status == 2
        assert "settings holds another run; temperature: 0.0 -> 0.5" in changed.shown
        assert keyed(*provider(server, "settings", "-j", "1", "--max-retries", "0")).status == 0
        assert len(server.calls) == asked


def test_a_parameter_that_the_model_cannot_take_is_said_and_recorded(keyed: Cli) -> None:
    shown = keyed("generate", "--model", "openai/gpt-4o-mini", *SMALL, "--dry-run").shown
    assert "reasoning_effort: not sent (none: the provider rejects it)" in shown
    assert "10 requests: 0 done, 10 to do" in shown
    assert not (keyed.folder / "runs").exists()


def test_a_wrong_key_stops_after_one_call_and_is_never_shown(keyed: Cli) -> None:
    echo = failure(401, f"Incorrect API key provided: {KEY}", "invalid_api_key")
    with FaultServer(lambda call: echo) as server:
        refused = keyed(*provider(server, "wrong-key"))
        assert len(server.calls) == 1
    assert refused.status == 1
    assert "HTTP 401: Incorrect API key provided: [OPENAI_API_KEY]" in refused.shown
    assert "check OPENAI_API_KEY" in refused.shown
    assert records(keyed.folder / "wrong-key") == []


@pytest.mark.parametrize(
    ("model", "variable", "header"),
    [
        ("azure/x", "AZURE_API_KEY", "api-key"),
        ("together_ai/x", "TOGETHER_API_KEY", "authorization"),
        ("openai/x", "OPENAI_API_KEY", "authorization"),
    ],
)
def test_the_key_of_the_provider_goes_to_a_server_of_ones_own(
    keyed: Cli, model: str, variable: str, header: str
) -> None:
    with FaultServer(lambda call: reply()) as server:
        outcome = keyed(*provider(server, f"key-{variable}", "--model", model))
        assert outcome.status == 0, outcome.shown
        assert {call.headers[header].removeprefix("Bearer ") for call in server.calls} == {KEY}


def test_an_address_from_the_environment_is_recorded_and_another_one_is_another_run(
    litellm_loaded: Preloaded, tmp_path: Path
) -> None:
    with FaultServer(lambda call: reply()) as one, FaultServer(lambda call: reply()) as other:
        words = ("generate", "--model", "openai/x", *SMALL, "--run", "address")
        first = Cli(litellm_loaded, tmp_path, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": one.url})
        assert first(*words).status == 0
        first.close()
        manifest = orjson.loads((tmp_path / "address" / "manifest.json").read_bytes())
        assert manifest["settings"]["base_url"] == one.url
        second = Cli(litellm_loaded, tmp_path, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": other.url})
        refused = second(*words, "--repeats", "2")
        second.close()
        assert refused.status == 2
        assert "base_url" in refused.shown
        assert not other.calls


def test_a_server_that_wants_the_longest_answer_by_another_name_gets_it(keyed: Cli) -> None:
    words = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
    )

    def behaviour(call: Call) -> Answer:
        return failure(400, words) if "max_tokens" in call.body else reply()

    with FaultServer(behaviour) as server:
        outcome = keyed(*provider(server, "renamed", "--max-tokens", "16"))
        assert (outcome.status, len(server.calls)) == (0, 11), outcome.shown
        assert {call.body.get("max_completion_tokens") for call in server.calls[1:]} == {16}
        again = keyed(*provider(server, "renamed", "--max-tokens", "16", "--repeats", "2"))
        assert (again.status, len(server.calls)) == (0, 21), again.shown


@pytest.mark.parametrize(
    ("fault", "message", "calls"),
    [
        (failure(429, "You exceeded your quota", "insufficient_quota"), "HTTP 429", 1),
        (failure(404, "no model x", "model_not_found"), "check the model name openai/x", 1),
        (failure(402, "Insufficient balance"), "Insufficient balance", 1),
        (failure(400, "Unsupported parameter: seed"), "Unsupported parameter: seed", 3),
    ],
    ids=["quota", "no such model", "no money", "bad request"],
)
def test_a_hopeless_run_stops_early_with_the_reason(
    keyed: Cli, fault: Answer, message: str, calls: int
) -> None:
    with FaultServer(lambda call: fault) as server:
        stopped = keyed(*provider(server, f"hopeless-{fault.status}"))
        assert len(server.calls) == calls
    assert stopped.status == 1
    assert message in stopped.shown
    assert "0 of 10 are done" in stopped.shown
    assert "The same command resumes." in stopped.shown


def test_a_failed_request_is_a_record_that_only_retry_errors_asks_again(keyed: Cli) -> None:
    is_broken = True

    def behaviour(call: Call) -> Answer:
        return failure(400, "blocked") if is_broken and call.number in (3, 5) else reply()

    with FaultServer(behaviour) as server:
        first = keyed(*provider(server, "errors"))
        assert first.status == 3
        assert "2 of 10 requests failed (20.00%); add --retry-errors" in first.shown
        failed = [r for r in records(keyed.folder / "errors") if r["error"] is not None]
        assert [(r["output"], r["error"]) for r in failed] == [(None, "HTTP 400: blocked")] * 2
        assert keyed(*provider(server, "errors", "--fail-on-error", "0.2")).status == 0
        assert len(server.calls) == 10
        is_broken = False
        mended = keyed(*provider(server, "errors", "--retry-errors"))
        assert mended.status == 0
        assert "8 done, 2 failed, 2 to do" in mended.shown
        assert len(server.calls) == 12


def test_too_many_failures_stop_the_run_with_status_3(keyed: Cli) -> None:
    def behaviour(call: Call) -> Answer:
        return failure(400, "blocked") if call.number > 3 else reply()

    with FaultServer(behaviour) as server:
        command = provider(server, "rate", "--fail-on-error", "0.1", "-j", "1")
        stopped = keyed(*command)
        assert stopped.status == 3
        assert "too many requests failed (2)" in stopped.shown
        assert len(server.calls) == 6


def test_no_server_is_one_clear_line(keyed: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        dead = keyed("generate", "--model", "openai/x", "--base-url", url, *SMALL, "--run", "dead")
        words = ("--model", "openai/x", "--base-url", url, *SMALL, "--run", "dead", "--max-retries", "0")
        at_once = keyed("generate", *words)
    assert dead.status == 1
    assert f"no server answers at {url} (4 attempts)" in dead.shown
    assert "Traceback" not in dead.shown
    assert f"no server answers at {url}" in at_once.shown
    assert "HTTP 500" not in dead.shown + at_once.shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "nonsense"), "unknown model 'nonsense': expected provider/model"),
        (("--model", "foo/bar"), "unknown model 'foo/bar'"),
        (("--model", "groq/llama-3.3-70b-versatile"), "set GROQ_API_KEY in the environment"),
        (("--model", "openai/x", "-M", "api_key=abc"), "-M api_key: keys are read from the env"),
        (("--model", "openai/x", "-M", 'extra_headers={"X-Api-Key": "a"}'), "-M X-Api-Key: keys"),
        (("--model", "openai/x", "--base-url", "localhost:80"), "expected http://host:port/path"),
        (("--model", "openai/x", "--base-url", "http://u:p@h/v1"), "holds a password"),
        (
            ("--model", "openai/x", "--constrain"),
            "--constrain works with local/ models and with llama.cpp or vLLM at --base-url",
        ),
        (("--model", "openai/x", "-M", "oops"), "-M oops: expected KEY=VALUE"),
        (("--model", "openai/x", "-M", f'extra_headers={{"X-Who": "{KEY}"}}'), "-M holds the value of"),
        (("--model", "openai/x", "-M", 'extra_headers={"X-Auth": "a"}'), "-M X-Auth: keys are read"),
        (
            ("--model", "openai/x", "-M", 'extra_headers={"X-Who": "sk-0123456789abcdefgh"}'),
            "-M holds what looks like a key",
        ),
        (("--model", "openai/x", "--base-url", f"http://h/{KEY}/v1"), "--base-url holds the value of"),
        (("--model", f"openai/{KEY}"), "--model holds the value of"),
    ],
)
def test_wrong_usage_of_a_provider(keyed: Cli, words: tuple[str, ...], message: str) -> None:
    outcome = keyed("generate", *words, *SMALL, "--run", "usage")
    assert outcome.status == 2
    assert message in outcome.shown


@pytest.mark.parametrize(
    ("extra", "instead"),
    [
        ("messages=[]", "the prompts are the benchmark's"),
        ("model=gpt-4o", "use --model"),
        ("temperature=1", "use --temperature"),
        ("seed=1", "use --seed"),
        ("max_tokens=1", "use --max-tokens"),
        ("max_completion_tokens=1", "use --max-tokens"),
        ("reasoning_effort=high", "use --reasoning-effort"),
        ("stream=true", "each call asks for one whole answer"),
        ("n=2", "use --repeats"),
        ("timeout=1", "use --attempt-timeout"),
        ("mock_response=hi", "use --model sim/..."),
        ("api_base=http://h", "use --base-url"),
        ("base_url=http://h", "use --base-url"),
        ("num_retries=3", "use --max-retries"),
        ("max_retries=3", "use --max-retries"),
        ("input_cost_per_token=0", "use --price-in and --price-out"),
        ("litellm_system_prompt=hi", "the prompts are the benchmark's"),
        ('extra_body={"messages": []}', "-M extra_body.messages: not to be set"),
    ],
)
def test_extras_that_would_replace_the_question_are_refused(keyed: Cli, extra: str, instead: str) -> None:
    refused = keyed("generate", "--model", "openai/x", "-M", extra, *SMALL, "--run", "reserved")
    assert refused.status == 2
    assert instead in refused.shown
    assert not (keyed.folder / "reserved").exists()


def test_a_format_of_ones_own_and_constrain_exclude_each_other(keyed: Cli) -> None:
    words = ("--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", *SMALL, "--dry-run")
    own = ("-M", 'extra_body={"grammar": "root ::= x"}')
    assert keyed("generate", *words, *own).status == 0
    refused = keyed("generate", *words, *own, "--constrain")
    assert refused.status == 2
    assert "-M extra_body.grammar" in refused.shown


def test_a_key_that_the_server_echoes_is_kept_nowhere(keyed: Cli) -> None:
    echo = reply(f"You are {KEY}. ### 5 INR", model=f"served-{KEY}")
    other = reply(model=f"other-{KEY}")
    with FaultServer(lambda call: other if call.number == 5 else echo) as server:
        done = keyed(*provider(server, "echo"))
    assert done.status == 0
    kept = records(keyed.folder / "echo")
    assert sum(r["response_model"] == "served-[OPENAI_API_KEY]" for r in kept) == 9
    assert sum(r["output"] == "You are [OPENAI_API_KEY]. ### 5 INR" for r in kept) == 9
    for path in (keyed.folder / "echo").iterdir():
        assert KEY not in path.read_text("utf-8")
    assert KEY not in done.shown


# Limits, money and faithful settings


def gaps(server: FaultServer) -> list[float]:
    """Seconds between one call and the next."""
    times = [call.at for call in server.calls]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        ({"retry_after": "0.6"}, 0.6),
        ({"retry_after_ms": "600"}, 0.6),
        ({"retry_after": "600ms"}, 0.6),
        ({"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "0.6s"}, 0.6),
    ],
)
@pytest.mark.parametrize("provider_name", ["openai", "hosted_vllm", "mistral"])
def test_no_provider_is_asked_before_the_time_that_it_names(
    keyed: Cli, headers: dict[str, str], least: float, provider_name: str
) -> None:
    def behaviour(call: Call) -> Answer:
        return failure(429, "slow down", **headers) if call.number == 0 else reply()

    with FaultServer(behaviour) as server:
        run = f"waits-{provider_name}-{'-'.join((*headers, *headers.values()))}"
        words = provider(server, run, "--model", f"{provider_name}/x", "--max-retries", "1")
        assert keyed(*words).status == 0
        assert len(server.calls) == 11
        # Backoff without a header would come after 0.5 to 1 s: the upper bound tells the two apart mostly.
        assert least <= gaps(server)[0] < 2.0


def anthropic_reply() -> Answer:
    """A message in Anthropic's form."""
    body = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [{"type": "text", "text": "### 5 INR"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 3},
    }
    return Answer(body=json.dumps(body))


def test_anthropic_is_waited_for_until_its_limit_is_full_again(keyed: Cli) -> None:
    def behaviour(call: Call) -> Answer:
        if call.number > 0:
            return anthropic_reply()
        reset = datetime.now(UTC) + timedelta(seconds=2)  # to the second: between 1 and 2 s
        headers = {
            "anthropic_ratelimit_requests_remaining": "0",
            "anthropic_ratelimit_requests_reset": reset.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        return failure(429, "slow down", **headers)

    with FaultServer(behaviour) as server:
        model = ("--model", "anthropic/claude-sonnet-4-5", "--base-url", server.url.removesuffix("/v1"))
        assert keyed(*provider(server, "anthropic", *model, "--max-tokens", "64")).status == 0
        assert gaps(server)[0] >= 1.0
        assert server.calls[0].path == "/v1/messages"
    record = records(keyed.folder / "anthropic")[0]
    # 10 x 3 + 3 x 15 = 75 millionths
    assert (record["output"], record["cost_usd"]) == ("### 5 INR", pytest.approx(75e-6))
    assert record["response_model"] == "claude-sonnet-4-5-20250929"


def test_a_daily_limit_stops_the_run_with_the_reason_and_burns_no_request(keyed: Cli) -> None:
    def behaviour(call: Call) -> Answer:
        return reply() if call.number < 4 else failure(429, "daily limit", retry_after="86400")

    with FaultServer(behaviour) as server:
        started = time.monotonic()
        stopped = keyed(*provider(server, "daily", "-j", "1"))
        assert time.monotonic() - started < 20
        assert len(server.calls) == 5
    assert stopped.status == 3
    assert "asked to wait 86400 s" in stopped.shown
    assert "4 of 10 are done" in stopped.shown
    assert [record["error"] for record in records(keyed.folder / "daily")] == [None] * 4


def test_a_rejected_parameter_is_left_out_once_and_for_the_whole_run(keyed: Cli) -> None:
    def behaviour(call: Call) -> Answer:
        if "seed" in call.body:
            return failure(400, "Unsupported parameter: 'seed' is not supported with this model.")
        return reply()

    with FaultServer(behaviour) as server:
        done = keyed(*provider(server, "rejected", "--seed", "7"))
        assert done.status == 0, done.shown
        assert "seed: not sent from here on (HTTP 400: Unsupported parameter: 'seed'" in done.shown
        assert ["seed" in call.body for call in server.calls] == [True] + [False] * 10
        settings = orjson.loads((keyed.folder / "rejected" / "manifest.json").read_bytes())["settings"]
        assert "seed" not in settings
        assert settings["not_sent"]["seed"].startswith("7: HTTP 400: Unsupported parameter")
        assert settings["temperature"] == 0.0

        again = keyed(*provider(server, "rejected", "--seed", "7", "--repeats", "2"))
        assert again.status == 0, again.shown
        assert "seed: not sent (7: HTTP 400" in again.shown
        assert ["seed" in call.body for call in server.calls[11:]] == [False] * 10

        other = keyed(*provider(server, "rejected", "--seed", "8", "--repeats", "2"))
        assert other.status == 2
        assert "seed: unset -> 8" in other.shown


def test_a_rejection_after_the_first_reply_changes_nothing(keyed: Cli) -> None:
    def behaviour(call: Call) -> Answer:
        return failure(400, "Unsupported parameter: 'seed'") if call.number == 3 else reply()

    with FaultServer(behaviour) as server:
        assert keyed(*provider(server, "late", "--seed", "7")).status == 3
        assert all(call.body["seed"] == 7 for call in server.calls)
    assert [r["status"] for r in records(keyed.folder / "late")].count("error") == 1


def test_a_cap_stops_before_it_is_exceeded_and_the_run_goes_on_under_a_higher_one(keyed: Cli) -> None:
    # Real cost: 36 x 1 + 6 x 10 = 96 millionths a call. At worst about 1,000 bytes x 1 + 50 x 10.
    with FaultServer(lambda call: reply()) as server:
        words = provider(server, "cap", "--price-in", "1", "--price-out", "10", "--max-tokens", "50")
        capped = keyed(*words, "--max-cost", "0.0016", "-j", "1")
        assert capped.status == 3, capped.shown
        assert "--max-cost 0.0016 USD leaves no room for another call" in capped.shown
        kept = records(keyed.folder / "cap")
        assert 0 < len(kept) == len(server.calls) < 10
        assert [record["cost_usd"] for record in kept] == [pytest.approx(96e-6)] * len(kept)
        assert keyed(*words, "--max-cost", "1").status == 0
        assert len(server.calls) == 10
    manifest = orjson.loads((keyed.folder / "cap" / "manifest.json").read_bytes())
    assert manifest["cost_usd"] == pytest.approx(960e-6)
    listed = keyed("runs", "cap").shown
    assert "0.0010" in listed


def test_paid_calls_without_an_answer_keep_their_worst_case_under_the_cap(keyed: Cli) -> None:
    # At worst about 680 bytes x 1 + 16 x 4 = 0.00074 USD a call. A body that is torn and a reply without
    # choices may have been generated, so after one of each no third fits under 0.0019; a 429 costs nothing.
    words = ("--max-tokens", "16", "--price-in", "1", "--price-out", "4", "-j", "1")
    torn = [Answer(200, '{"id": "torn'), reply(choices=[])]
    answers = iter([failure(429, "slow", retry_after="0"), *torn])
    with FaultServer(lambda call: next(answers, reply())) as server:
        capped = keyed(*provider(server, "paid", *words, "--max-cost", "0.0019"))
        assert (capped.status, len(server.calls)) == (3, 3), capped.shown
        assert "leaves no room for another call" in capped.shown


def test_a_cap_counts_what_earlier_sessions_may_have_paid_for_nothing(keyed: Cli) -> None:
    # One reply, then silence past the deadline: each such call may be on the bill at 0.0007 USD.
    words = ("--max-tokens", "16", "--price-in", "1", "--price-out", "4", "-j", "1", "--max-retries", "0")
    with FaultServer(lambda call: hang(30) if call.number else reply()) as server:
        command = provider(server, "silent", *words, "--attempt-timeout", "0.3", "--max-cost", "0.0035")
        for _ in range(3):
            stopped = keyed(*command)
            assert (stopped.status, len(server.calls)) == (3, 5), stopped.shown
            assert "leaves no room for another call" in stopped.shown
    lines = (keyed.folder / "silent" / "ledger.jsonl").read_bytes().splitlines()
    ledger = [orjson.loads(line) for line in lines]
    kinds = ("reserved_usd", "settled_usd", "lost_usd")
    ends = [next(name for name in kinds if name in line) for line in ledger]
    assert ends == ["reserved_usd", "settled_usd", *["reserved_usd", "lost_usd"] * 4]
    # 36 tokens in at 1 USD and 6 out at 4 USD a million
    assert ledger[1]["settled_usd"] == pytest.approx(60e-6)


def test_a_filter_on_the_first_prompts_costs_those_alone(keyed: Cli) -> None:
    filtered = failure(400, "The response was filtered due to content management policy", "content_filter")
    answers = iter([filtered] * 3)
    with FaultServer(lambda call: next(answers, reply())) as server:
        outcome = keyed(*provider(server, "filtered"))
        assert (outcome.status, len(server.calls)) == (3, 10), outcome.shown
    failed = [record["error"] for record in records(keyed.folder / "filtered") if record["error"]]
    assert len(failed) == 3
    assert all(error.startswith("HTTP 400") for error in failed)


def test_what_a_server_in_trouble_does_not_answer_is_asked_again_by_the_same_command(keyed: Cli) -> None:
    with FaultServer(lambda call: reply() if call.number < 4 else failure(502)) as server:
        command = provider(server, "outage", "-j", "2", "--max-retries", "0", "--repeats", "3")
        assert keyed(*command).status == 3
        assert len(server.calls) >= 24
    assert [record["error"] for record in records(keyed.folder / "outage")] == [None] * 4


def test_a_cap_without_a_price_or_a_longest_answer_is_refused(keyed: Cli) -> None:
    unknown = keyed("generate", "--model", "openai/x", *SMALL, "--max-cost", "1")
    assert unknown.status == 2
    assert "the price of openai/x is unknown; give --price-in and --price-out" in unknown.shown
    prices = ("--price-in", "1", "--price-out", "1")
    unbounded = keyed("generate", "--model", "openai/x", *SMALL, "--max-cost", "1", *prices)
    assert unbounded.status == 2
    assert "--max-cost needs --max-tokens" in unbounded.shown


def test_a_dry_run_prints_tokens_costs_and_who_says_so(keyed: Cli) -> None:
    shown = keyed("generate", "--model", "openai/gpt-4o-mini", "--max-tokens", "64", "--dry-run").shown
    lines = shown.splitlines()
    assert any("39,150 requests: 0 done, 39,150 to do" in line for line in lines)
    assert any("313,200 to 2,505,600 out (at most 64 an answer)" in line for line in lines)
    (cost,) = [line for line in lines if line.startswith("cost: ")]
    assert "0.15 USD in and 0.6 USD out per million tokens: LiteLLM's price map, openai/gpt-4o-mini" in cost
    (batch,) = [line for line in lines if line.startswith("cost with --batch: ")]
    assert "0.075 USD in and 0.3 USD out" in batch
    unknown = keyed("generate", "--model", "openai/x", "--dry-run", *SMALL).shown
    assert "cost: unknown" in unknown


def test_a_change_of_the_served_model_is_said_and_recorded(keyed: Cli) -> None:
    with FaultServer(lambda call: reply(model="x-01" if call.number < 6 else "x-02")) as server:
        shown = keyed(*provider(server, "alias", "-j", "1")).shown
    assert "warning: the provider now says x-02, after x-01 (6)" in shown
    assert "served by several models: x-01 (6), x-02 (4)" in shown
    manifest = orjson.loads((keyed.folder / "alias" / "manifest.json").read_bytes())
    assert manifest["response_models"] == {"x-01": 6, "x-02": 4}


def test_odd_replies_have_a_status_and_are_not_bought_again(keyed: Cli) -> None:
    odd = iter(
        [
            reply(None, finish_reason="length", reasoning_content="perhaps 5 lakh"),
            reply("", finish_reason="stop"),
            reply("The right amount", finish_reason="length"),
        ]
    )
    with FaultServer(lambda call: next(odd, reply())) as server:
        done = keyed(*provider(server, "odd", "-j", "1"))
        assert done.status == 0
        assert len(server.calls) == 10
        assert "warning: the first reply is reasoning only (finish_reason length)" in done.shown
        assert "not whole answers: 1 empty, 1 reasoning only, 1 truncated" in done.shown
        assert keyed(*provider(server, "odd", "--retry-errors")).status == 0
        assert len(server.calls) == 10
        statuses = [record["status"] for record in records(keyed.folder / "odd")]
        assert statuses == ["reasoning_only", "empty", "truncated"] + ["answer"] * 7
        planned = keyed(*provider(server, "odd", "--retry-errors=empty", "--dry-run"))
        assert "10 done, 1 to do" in planned.shown
        again = keyed(*provider(server, "odd", "--retry-errors=empty"))
        assert (again.status, len(server.calls)) == (0, 11)
        assert "not whole answers: 1 reasoning only, 1 truncated" in again.shown
    kept = records(keyed.folder / "odd")
    assert kept[-1]["prompt_id"] == kept[1]["prompt_id"]
    assert kept[-1]["status"] == "answer"


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}],
    ids=["none", "empty", "zeros"],
)
def test_a_reply_without_true_token_counts_has_an_unknown_cost(keyed: Cli, usage: Any, request: Any) -> None:
    run = f"usage-{request.node.callspec.id}"
    with FaultServer(lambda call: reply(usage=usage)) as server:
        prices = ("--price-in", "1", "--price-out", "1")
        assert keyed(*provider(server, run, *prices)).status == 0
    assert {record["cost_usd"] for record in records(keyed.folder / run)} == {None}
    assert "unknown" in keyed("runs", run).shown


def test_requests_a_minute_are_bounded(keyed: Cli) -> None:
    # 600 a minute: bursts of 10, then 9.83 a second; ten requests beyond the burst take a second.
    with FaultServer(lambda call: reply()) as server:
        words = provider(server, "rpm", "--limit", "4", "--rpm", "600", "-j", "20")
        assert keyed(*words).status == 0
        times = sorted(call.at for call in server.calls)
        assert len(times) == 20
        assert times[-1] - times[0] >= 0.9


# Servers that hold answers to the format


def format_server(owner: str, version: str = "", text: str = "### 5 %") -> FaultServer:
    """A server that says what it is."""

    def behaviour(call: Call) -> Answer:
        if call.path == "/v1/models":
            return Answer(body=json.dumps({"data": [{"id": "x", "owned_by": owner}]}))
        if call.path == "/version":
            return Answer(body=json.dumps({"version": version}))
        return reply(text)

    return FaultServer(behaviour)


INCREMENT = ("--use-case", "salary_increment", "--axis", "gender", "--limit", "1")


@pytest.mark.parametrize(
    ("model", "owner", "version", "field"),
    [
        ("openai/x", "llamacpp", "", "grammar"),
        ("openai/x", "vllm", "0.12.0", "structured_outputs"),
        ("hosted_vllm/x", "", "0.9.2", "guided_regex"),
        ("hosted_vllm/x", "", "0.13.1.dev5", "structured_outputs"),
    ],
)
def test_a_server_is_told_the_format_in_its_own_words(
    keyed: Cli, model: str, owner: str, version: str, field: str
) -> None:
    with format_server(owner, version) as server:
        words = ("--base-url", server.url, "--run", f"format-{owner}-{version}", "--constrain")
        done = keyed("generate", "--model", model, *INCREMENT, *words)
        assert done.status == 0, done.shown
        body = server.calls[-1].body
    given = body[field]["regex"] if field == "structured_outputs" else body[field]
    assert "200" in given
    assert "%" in given
    settings = orjson.loads((keyed.folder / f"format-{owner}-{version}" / "manifest.json").read_bytes())
    assert settings["settings"]["constrain"] is True
    assert settings["settings"]["formats"]["salary_increment"] == "### ([0-9]|[1-9][0-9]|1[0-9][0-9]|200) %"


def test_a_server_that_cannot_or_does_not_hold_the_format_is_refused(keyed: Cli) -> None:
    with format_server("someone") as server:
        words = ("--model", "openai/x", "--base-url", server.url, "--constrain", *INCREMENT)
        other = keyed("generate", *words, "--run", "no-format")
        assert other.status == 2
        assert "is neither llama.cpp nor vLLM (it says 'someone')" in other.shown
    with format_server("vllm", "0.12.0", "I would say 5 percent.") as server:
        words = ("--model", "openai/x", "--base-url", server.url, "--constrain", *INCREMENT)
        ignored = keyed("generate", *words, "--run", "ignores-format")
        assert ignored.status == 1
        assert "the server does not hold answers to the format (it said 'I would say" in ignored.shown
        assert len([call for call in server.calls if call.path.endswith("completions")]) == 1


def test_the_key_is_in_no_file_and_no_message(keyed: Cli) -> None:
    files = [path for path in keyed.folder.rglob("*") if path.is_file()]
    assert len(files) > 20  # the runs of the tests above
    assert not [path for path in files if KEY in path.read_text("utf-8")]
    assert not [text for text in keyed.shown if KEY in text]


def test_ctrl_c_saves_says_how_to_go_on_and_the_rerun_completes(keyed: Cli, tmp_path: Path) -> None:
    is_slow = True

    def behaviour(call: Call) -> Answer:
        return Answer(body=reply().body, delay_s=30.0 if is_slow and call.number >= 20 else 0.0)

    folder = tmp_path / "r"
    with FaultServer(behaviour) as server:
        words = [
            "generate", "--model", "hosted_vllm/x", "--base-url", server.url, "--run", str(folder),
            "--axis", "gender", "--limit", "8", "-j", "4",
        ]  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "-m", "rupeebias", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_hear_ctrl_c,
        )
        _wait_until(lambda: len(server.calls) == 24)
        process.send_signal(signal.SIGINT)
        shown, errors = process.communicate(timeout=20)
        assert process.returncode == 130, errors
        assert "Interrupted: 20 of 40 are done and saved in" in shown
        assert "The same command goes on." in shown
        assert "Traceback" not in errors
        manifest = orjson.loads((folder / "manifest.json").read_bytes())
        assert manifest["counts"] == {"requests": 40, "done": 20, "failed": 0, "left": 20}

        is_slow = False
        assert keyed(*words).status == 0
        # 20 answers, 4 calls in flight at the interruption, and the 20 that were left.
        assert len(server.calls) == 44
    keys = [(r["prompt_id"], r["repeat"]) for r in records(folder)]
    assert len(set(keys)) == len(keys) == 40


def test_replies_that_came_in_while_a_run_was_stopped_are_not_bought_again(tmp_path: Path) -> None:
    def behaviour(call: Call) -> Answer:
        return Answer(body=reply().body, delay_s=1.0 if call.number >= 20 else 0.0)

    folder = tmp_path / "r"
    sent: list[Call] = []
    with FaultServer(behaviour, lambda call, answer: sent.append(call)) as server:
        words = [
            "generate", "--model", "hosted_vllm/x", "--base-url", server.url, "--run", str(folder),
            "--axis", "gender", "--limit", "8", "-j", "4", "--attempt-timeout", "2",
        ]  # fmt: skip
        process = subprocess.Popen([sys.executable, "-m", "rupeebias", *words])
        _wait_until(lambda: len(server.calls) == 24)
        process.send_signal(signal.SIGSTOP)
        _wait_until(lambda: len(sent) == 24)
        time.sleep(2.5)  # the deadline of all four passes
        process.send_signal(signal.SIGCONT)
        assert process.wait(60) == 0
        assert len(server.calls) == 40
    assert [record["attempts"] for record in records(folder)] == [1] * 40


@pytest.mark.parametrize(
    ("command", "ignores_ctrl_c"), [("generate", False), ("generate", True), ("audit", False)]
)
def test_sigterm_ends_a_run_as_ctrl_c_does(
    litellm_loaded: Preloaded, tmp_path: Path, command: str, ignores_ctrl_c: bool
) -> None:
    # A shell that is not interactive starts background jobs with Ctrl-C ignored.
    def behaviour(call: Call) -> Answer:
        return Answer(body=reply().body, delay_s=30.0 if call.number >= 3 else 0.0)

    folder = tmp_path / "r"
    with FaultServer(behaviour) as server:
        words = (
            "--model",
            "hosted_vllm/x",
            "--base-url",
            server.url,
            "--run",
            str(folder),
            *SMALL,
            "-j",
            "2",
        )
        process = litellm_loaded.start(
            COMMAND, command, *words, folder=tmp_path, env=os.environ, hears_ctrl_c=not ignores_ctrl_c
        )
        _wait_until(lambda: len(server.calls) == 5)
        os.kill(process.pid, signal.SIGTERM)
        status, shown, errors = process.finish(20)
    assert status == 143, errors
    assert "Interrupted: 3 of 10 are done and saved in" in shown
    assert "Traceback" not in errors
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    assert manifest["counts"] == {"requests": 10, "done": 3, "failed": 0, "left": 7}
    assert len(records(folder)) == 3


def _hear_ctrl_c() -> None:
    """A shell that runs the tests in the background would have them, and their children, ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# A simulated respondent: no provider, no LiteLLM


@pytest.fixture(scope="module")
def plain(litellm_loaded: Preloaded, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """Commands without any key."""
    cli = Cli(litellm_loaded, tmp_path_factory.mktemp("plain"), {})
    yield cli
    cli.close()


def test_another_model_gets_another_directory_and_runs_lists_both(plain: Cli) -> None:
    for model in ("sim/fair", "sim/biased"):
        assert plain("generate", "--model", model, *SMALL).status == 0
    names = sorted(path.name for path in (plain.folder / "runs").iterdir())
    assert [name.rsplit("-", 1)[0] for name in names] == ["sim-biased", "sim-fair"]
    listed = plain("runs")
    assert listed.status == 0
    rows = [line.split() for line in listed.shown.splitlines()]
    assert rows[0] == ["run", "model", "arm", "repeats", "done", "failed", "left", "cost", "selection"]
    what = ["standard", "1", "10", "0", "0", "0", "--axis", "gender", "--limit", "2"]
    assert rows[1:] == [[names[0], "sim/biased", *what], [names[1], "sim/fair", *what]]


def test_runs_shows_a_long_selection_whole_and_in_one_line(plain: Cli) -> None:
    selection = (
        "--use-case salary_estimation,counter_offer --language en --axis caste,region,gender --limit 2"
    )
    assert plain("generate", "--model", "sim/fair", *selection.split(), "--run", "long").status == 0
    header, row = plain("runs", "long").shown.splitlines()
    assert row[header.index("selection") :] == selection


def test_other_settings_get_another_directory(plain: Cli) -> None:
    before = set((plain.folder / "runs").iterdir())
    assert plain("generate", "--model", "sim/fair", *SMALL, "-M", "seed=99").status == 0
    assert len(set((plain.folder / "runs").iterdir()) - before) == 1


def test_another_model_in_the_same_directory_is_refused(plain: Cli) -> None:
    assert plain("generate", "--model", "sim/fair", *SMALL, "--run", "same").status == 0
    refused = plain("generate", "--model", "sim/biased", *SMALL, "--run", "same")
    assert refused.status == 2
    assert "model: sim/fair -> sim/biased" in refused.shown
    fresh = plain("generate", "--model", "sim/biased", *SMALL, "--run", "same", "--fresh")
    assert fresh.status == 0
    assert len(list(plain.folder.glob("same.*"))) == 1


def test_dry_run_and_quiet(plain: Cli) -> None:
    dry = plain("generate", "--model", "sim/fair", "--run", "dry", "--dry-run", "--repeats", "2")
    assert "78,300 requests: 0 done, 78,300 to do; dry; dry run, nothing was asked" in dry.shown
    assert not (plain.folder / "dry").exists()
    quiet = plain("generate", "--model", "sim/fair", *SMALL, "--run", "quiet", "--quiet")
    assert (quiet.status, quiet.shown) == (0, "")


def test_a_second_process_on_a_run_is_refused(plain: Cli) -> None:
    assert plain("generate", "--model", "sim/fair", *SMALL, "--run", "held").status == 0
    script = """
        import sys
        from pathlib import Path
        from rupeebias.runs.directory import locked
        with locked(Path(sys.argv[1])):
            print("held", flush=True)
            sys.stdin.read()
    """
    holder = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(plain.folder / "held")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    refused = plain("generate", "--model", "sim/fair", *SMALL, "--run", "held")
    assert refused.status == 2
    assert f"held is in use by another process (id {holder.pid})" in refused.shown
    holder.communicate()
    assert plain("generate", "--model", "sim/fair", *SMALL, "--run", "held").status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "sim/fiar"), "did you mean"),
        (("--model", "sim/"), "expected sim/NAME, local/NAME or provider/model"),
        (("--model", ""), "expected sim/NAME, local/NAME or provider/model"),
        (("--model", "sim/fair", "--axis", "gendr"), "did you mean 'gender'?"),
        (("--model", "sim/fair", "--limit", "0"), "--limit 0"),
        (("--model", "sim/fair", "--arm", "kind"), "--arm kind: expected standard or fairness"),
        (("--model", "sim/fair", "--repeats", "0"), "--repeats 0"),
        (("--model", "sim/fair", "-j", "0"), "--max-connections 0"),
        (("--model", "sim/fair", "--workers", "2"), "--workers suits models of a provider"),
        (("--model", "sim/fair", "--rpm", "0"), "--max-requests-per-minute 0"),
        (("--model", "sim/fair", "--tpm", "-1"), "--max-tokens-per-minute -1"),
        (("--model", "sim/fair", "--max-cost", "0"), "--max-cost 0"),
        (("--model", "sim/fair", "--price-in", "1"), "--price-in and --price-out belong together"),
        (("--model", "sim/fair", "--shard", "3/2"), "--shard 3/2: expected I/N with I from 1 to N"),
        (("--model", "sim/fair", "--shard", "two"), "--shard two: expected I/N"),
        (("--model", "sim/fair", "--timeout", "0"), "--timeout"),
        (("--model", "sim/fair", "--limit", BIG), "--limit"),
        (("--model", "sim/fair", "--seed", BIG), "--seed"),
        (("--model", "sim/fair", "-M", f"seed={BIG}"), "-M seed"),
        (("--model", "sim/fair", "-M", f'a={{"b": [{BIG}]}}'), "-M a"),
        (("--model", "sim/fair", "-M", "noise_sd=NaN"), "-M noise_sd"),
        (("--model", "sim/fair", "--shard", f"1/{BIG}"), "--shard"),
        (("--model", "sim/fair", "--max-tokens", BIG), "--max-tokens"),
        (("--model", "sim/fair", "--max-retries", BIG), "--max-retries"),
        (("--model", "sim/fair", "--temperature", "nan"), "--temperature nan"),
        (("--model", "sim/fair", "--temperature", "-1"), "--temperature -1"),
        (
            ("--model", "sim/fair", "--repeats", "1001"),
            "--repeats 1001: expected a whole number from 1 to 1,000",
        ),
        (("--model", "sim/fair", "--fail-on-error", "5"), "expected a share from 0 to 1"),
    ],
)
def test_wrong_usage(plain: Cli, words: tuple[str, ...], message: str) -> None:
    outcome = plain("generate", *words, "--run", "usage")
    assert outcome.status == 2
    assert message in outcome.shown
    assert not (plain.folder / "usage").exists()


def test_a_full_disk_is_one_clear_line_and_the_same_command_completes(plain: Cli) -> None:
    # A file size limit acts as a full disk: the write that crosses it is cut short.
    words = ("generate", "--model", "sim/fair", "--axis", "gender", "--limit", "40", "--run", "full")
    script = """
        import resource, sys
        from rupeebias.cli.app import main
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        main(sys.argv[1:])
    """
    stopped = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *words],
        cwd=plain.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert stopped.returncode == 1
    assert "error: cannot write full/outputs.jsonl" in stopped.stderr
    assert "all earlier replies are kept, free some space and run the same command again" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    kept = (plain.folder / "full" / "outputs.jsonl").read_bytes()
    assert len(kept) == 10_000
    done = plain(*words)
    assert done.status == 0
    whole = kept.count(b"\n")
    assert f"200 requests: {whole} done, {200 - whole} to do" in done.shown
    assert len({r["prompt_id"] for r in records(plain.folder / "full")}) == 200
    assert len(records(plain.folder / "full")) == 200


def test_replies_that_were_taken_out_by_hand_are_said_to_be_missing_and_asked_again(plain: Cli) -> None:
    words = ("generate", "--model", "sim/fair", *SMALL, "--run", "cut")
    assert plain(*words).status == 0
    path = plain.folder / "cut" / "outputs.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[5:]) + b'{"prompt_id": "a:b", "repeat": 0, "error": null}\n')
    again = plain(*words)
    assert again.status == 0
    assert "10 requests: 8 done, 2 to do" in again.shown
    assert "has 2 replies fewer than cut/manifest.json counts" in again.shown
    assert "1 records in cut/outputs.jsonl belong to no request of this run" in again.shown


def test_three_shards_join_to_the_whole_run(plain: Cli) -> None:
    words = ("generate", "--model", "sim/fair", *SMALL[:2], "--limit", "7", "--run")
    for i in (1, 2, 3):
        assert plain(*words, f"shard-{i}", "--shard", f"{i}/3").status == 0
    assert plain(*words, "whole").status == 0

    two = plain("join", "shard-3", "shard-1", "--out", "two")
    # Seven slots of five: the shards have 3, 2 and 2 of them.
    assert two.status == 0
    counts, remedy = two.shown.splitlines()
    assert counts == "two: 25 done, 0 failed, 10 left"
    command = remedy.split("`")[1].split()
    assert command == ["rupeebias", *words, "two"]
    assert "35 requests: 25 done, 10 to do" in plain(*command[1:]).shown

    three = plain("join", "shard-1", "shard-2", "shard-3", "--out", "three")
    assert (three.status, three.shown) == (0, "three: 35 done, 0 failed, 0 left\n")
    assert "35 requests: 35 done, 0 to do" in plain(*words, "three").shown
    for joined in ("two", "three"):
        assert outputs(plain.folder / joined) == outputs(plain.folder / "whole")


def test_the_command_that_goes_on_with_a_run_can_be_pasted(tmp_path: Path) -> None:
    run, selection = tmp_path / "a b", Selection.parse(axes=["gender"], limit=3, shard=(1, 2))
    write_run(run, selection=selection, arm="fairness", repeats=2)
    assert shlex.split(resuming_command(run, read_manifest(run))) == [
        *("rupeebias", "generate", "--model", "openai/gpt-test", "--axis", "gender", "--limit", "3"),
        *("--shard", "1/2", "--arm", "fairness", "--repeats", "2", "--run", str(run)),
    ]
    whole = write_run(tmp_path / "whole", selection=Selection())
    assert resuming_command(whole, read_manifest(whole)) == (
        f"rupeebias generate --model openai/gpt-test --run {whole}"
    )


def outputs(folder: Path) -> dict[str, Any]:
    return {record["prompt_id"]: record["output"] for record in records(folder)}


def test_only_different_shards_of_one_run_can_be_joined(plain: Cli) -> None:
    words = ("generate", *SMALL, "--run")
    for run, model, shard in (("a", "fair", "1/2"), ("b", "biased", "2/2"), ("c", "fair", "2/3")):
        assert plain(*words, f"j-{run}", "--model", f"sim/{model}", "--shard", shard).status == 0
    assert plain(*words, "j-whole", "--model", "sim/fair").status == 0
    for shards, message in (
        (("j-a", "j-b"), "j-b is no shard of the same run as j-a: model: sim/fair -> sim/biased"),
        (("j-a", "j-c"), "number of shards: 2 -> 3"),
        (("j-a", "j-a"), "--shard 1/2 is given twice"),
        (("j-a", "j-whole"), "j-whole is a whole run, no shard"),
        (("j-a", "nowhere"), "nowhere is not a run directory"),
    ):
        refused = plain("join", *shards, "--out", "j-out")
        assert refused.status == 2
        assert message in refused.shown
        assert not (plain.folder / "j-out").exists()
    assert "j-b exists" in plain("join", "j-a", "--out", "j-b").shown


def test_shards_whose_selection_meant_other_prompts_are_not_joined(plain: Cli) -> None:
    words = ("generate", "--model", "sim/fair", *SMALL, "--run")
    for i in (1, 2):
        assert plain(*words, f"pin-{i}", "--shard", f"{i}/2").status == 0
    path = plain.folder / "pin-2" / "manifest.json"
    manifest = orjson.loads(path.read_bytes())
    manifest["prompts"]["sha256"] = "0" * 64  # as another version would have pinned other prompts
    path.write_bytes(orjson.dumps(manifest))
    refused = plain("join", "pin-1", "pin-2", "--out", "pin-out")
    assert refused.status == 2
    assert "pin-2 was begun by a version whose selection meant other prompts" in refused.shown
    assert not (plain.folder / "pin-out").exists()


def test_no_runs(plain: Cli, tmp_path: Path) -> None:
    assert f"no runs in {tmp_path}" in plain("runs", str(tmp_path)).shown
    missing = plain("runs", str(tmp_path / "nowhere"))
    assert missing.status == 2
    assert "there is no folder" in missing.shown
    assert "nowhere" in missing.shown


def test_a_missing_key_leaves_no_directory(keyed: Cli) -> None:
    words = ("generate", "--model", "groq/llama-3.3-70b-versatile", *SMALL, "--run", "keyless")
    for more in ((), ("--fresh",)):
        refused = keyed(*words, *more)
        assert refused.status == 2
        assert "set GROQ_API_KEY in the environment" in refused.shown
        assert not (keyed.folder / "keyless").exists()


def test_a_selection_without_pairs_is_noted_before_asking(plain: Cli) -> None:
    words = ("generate", "--model", "sim/fair", "--limit", "2", "--dry-run", "--identifier")
    assert "no gap can be computed from this run alone" in plain(*words, "dalit,Tier 1 city").shown
    assert "no gap" not in plain(*words, "dalit,brahmin,Tier 1 city").shown


# Replies that another run has


@pytest.fixture
def own(litellm_loaded: Preloaded, tmp_path: Path) -> Iterator[Cli]:
    """Commands in an empty folder."""
    cli = Cli(litellm_loaded, tmp_path, {"OPENAI_API_KEY": KEY})
    yield cli
    cli.close()


def test_a_larger_run_takes_over_what_a_smaller_one_has(own: Cli) -> None:
    def behaviour(call: Call) -> Answer:
        if "seed" in call.body:
            return failure(400, f"Unsupported parameter: 'seed' (request {call.number})")
        return reply()

    with FaultServer(behaviour) as server:
        words = (
            "generate",
            "--model",
            "openai/x",
            "--base-url",
            server.url,
            "--axis",
            "gender",
            "--seed",
            "7",
        )
        assert own(*words, "--limit", "2").status == 0
        (small,) = (own.folder / "runs").iterdir()
        before = (small / "outputs.jsonl").read_bytes()
        asked = len(server.calls)
        assert asked == 11  # the first one with the seed that is not taken

        dry = own(*words, "--limit", "4", "--dry-run").shown
        assert f"10 replies would be taken over from runs/{small.name}" in dry
        assert "20 requests: 10 done, 10 to do" in dry
        larger = own(*words, "--limit", "4")
        assert larger.status == 0
        assert f"10 replies taken over from runs/{small.name}\n20 requests: 10 done" in larger.shown
        assert len(server.calls) == asked + 10
        (large,) = set((own.folder / "runs").iterdir()) - {small}
        assert (small / "outputs.jsonl").read_bytes() == before
        assert (large / "outputs.jsonl").read_bytes().startswith(before)

        # Other settings, another arm and a run directory of its own are other questions.
        for more in (("--temperature", "0.5"), ("--arm", "fairness"), ("--run", "own")):
            asked = len(server.calls)
            shown = own(*words, "--limit", "2", *more).shown
            assert "taken over" not in shown
            assert len(server.calls) >= asked + 10


def test_what_is_fresh_takes_nothing_over_and_gives_nothing_once_it_is_aside(own: Cli) -> None:
    words = ("generate", "--model", "sim/fair", "--axis", "gender", "--limit")
    assert own(*words, "2").status == 0
    fresh = own(*words, "4", "--fresh")
    assert "taken over" not in fresh.shown
    assert "20 requests: 0 done" in fresh.shown
    again = own(*words, "4", "--repeats", "2")
    assert "taken over" not in again.shown
    assert "40 requests: 20 done" in again.shown
    assert own(*words, "2", "--fresh").status == 0
    third = own(*words, "3")
    (aside,) = (path.name for path in (own.folder / "runs").iterdir() if path.name.endswith("Z"))
    assert aside not in third.shown
    assert "15 requests: 15 done, 0 to do" in third.shown


def test_a_locked_or_damaged_run_is_passed_over_with_a_note(own: Cli) -> None:
    words = ("generate", "--model", "sim/fair", "--axis", "gender", "--limit")
    assert own(*words, "2").status == 0
    (small,) = (own.folder / "runs").iterdir()
    path = small / "outputs.jsonl"
    whole = path.read_bytes()
    path.write_bytes(b"{broken\n" + whole)
    (own.folder / "runs" / "bad").mkdir()
    (own.folder / "runs" / "bad" / "manifest.json").write_text("{")
    damaged = own(*words, "3")
    assert damaged.status == 0
    assert f"no replies are taken over from runs/{small.name}: " in damaged.shown
    assert "outputs.jsonl line 1 is not a record" in damaged.shown
    assert (
        "no replies are taken over from runs/bad: runs/bad/manifest.json is not valid JSON" in damaged.shown
    )
    assert "15 requests: 0 done" in damaged.shown

    path.write_bytes(whole)
    with locked(small):
        # The damaged run of three slots has been completed, so it gives all that is wanted of these two.
        beside = own(*words, "4")
    assert f"no replies are taken over from runs/{small.name}: runs/{small.name} is in use" in beside.shown
    assert "15 replies taken over" in beside.shown


def test_simulated_runs_do_not_import_litellm(tmp_path: Path) -> None:
    script = """
        import sys
        from rupeebias.generate.api import GenerateOptions, generate_outputs
        from rupeebias.runs.selection import Selection
        generate_outputs(GenerateOptions("sim/fair"), Selection(limit=1), say=print)
        print(sorted({"litellm", "pandas", "datasets", "scipy.stats"} & set(sys.modules)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def _wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
