"""Batch runs against a local server, through the real LiteLLM client and the real HTTP client.

LiteLLM takes seconds to import, so all scenarios share one process, which runs one command after the other.
"""

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from batch_server import ANSWER, BatchServer, Fault, Plan
from preloaded import Preloaded

KEY = "sk-test-0d7be9f2a4c84e11"
SMALL = ("--axis", "gender", "--limit", "2")
"""Two slots of five identifiers: ten prompts, of which the first is asked live."""
STYLES = ("openai", "anthropic")
MODELS = {"openai": "openai/gpt-4o-mini", "anthropic": "anthropic/claude-haiku-4-5"}
CREATE = {"openai": "POST /v1/batches", "anthropic": "POST /v1/messages/batches"}

_DRIVER = """
    import contextlib, io, json, os, signal, sys
    from pathlib import Path
    from rupeebias.cli.app import main
    from rupeebias.errors import RupeeBiasError
    from rupeebias.batch.api import BatchOptions, generate_by_batch
    from rupeebias.generate.options import GenerateOptions, RunOptions
    from rupeebias.generate.retry import RetryRules
    from rupeebias.models.types import ModelOptions
    from rupeebias.runs.selection import Selection

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    def generate(model, base_url, run, options, batch, in_child=False):
        if in_child and (pid := os.fork()):
            print(pid)
            return
        model_options = ModelOptions(base_url=base_url, max_tokens=50)
        retries = RunOptions(retries=RetryRules(max_retries=3, first_wait_s=0.02, longest_wait_s=1.0))
        told = GenerateOptions(
            model, model_options=model_options, run_options=retries, run=Path(run), **options
        )
        try:
            how = BatchOptions(**{"poll_s": 0.02, **batch})
            generate_by_batch(told, Selection.parse(axes=["gender"], limit=2), print, how)
        except RupeeBiasError as error:
            print(f"error: {error}")
            sys.exit(error.exit_code)

    me = os.getpid()
    for line in sys.stdin:
        out, status = io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                words = json.loads(line)
                generate(**words) if isinstance(words, dict) else main(words)
            except SystemExit as stop:
                status = stop.code
        if os.getpid() != me:
            os._exit(0)
        print(json.dumps([status or 0, out.getvalue()]), flush=True)
"""


@dataclass(frozen=True)
class Outcome:
    status: int
    shown: str


class Driver:
    """A process that runs commands in `folder`, one at a time."""

    def __init__(self, litellm_loaded: Preloaded, folder: Path) -> None:
        self.folder = folder
        self.shown: list[str] = []
        keys = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
        self._process = litellm_loaded.start(_DRIVER, folder=folder, env={**os.environ, **keys})

    def __call__(self, words: Any) -> Outcome:
        self._process.say(words)
        status, shown = self._process.hear()
        self.shown.append(shown)
        return Outcome(status, shown)

    def close(self) -> None:
        self._process.finish()


@pytest.fixture(scope="module")
def driver(litellm_loaded: Preloaded, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    started = Driver(litellm_loaded, tmp_path_factory.mktemp("runs"))
    yield started
    started.close()


@dataclass
class Run:
    """A run of one style on one server."""

    driver: Driver
    server: BatchServer
    style: str
    folder: Path

    @property
    def model(self) -> str:
        return MODELS[self.style]

    @property
    def base_url(self) -> str:
        return self.server.url if self.style == "openai" else self.server.root

    def command(self, batch: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        return {
            "model": self.model,
            "base_url": self.base_url,
            "run": str(self.folder),
            "options": options,
            "batch": batch or {},
        }

    def generate(self, batch: dict[str, Any] | None = None, **options: Any) -> Outcome:
        return self.driver(self.command(batch, **options))

    def submit(self, *words: str) -> Outcome:
        settings = ("--model", self.model, "--base-url", self.base_url, "--max-tokens", "50")
        return self.driver(["batch", "submit", *settings, *SMALL, "--run", str(self.folder), *words])

    def step(self, name: str) -> Outcome:
        return self.driver(["batch", name, str(self.folder)])

    @property
    def creates(self) -> int:
        return self.server.log.count(CREATE[self.style])

    @property
    def records(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in (self.folder / "outputs.jsonl").read_bytes().splitlines()]

    @property
    def valid(self) -> Counter[str]:
        return Counter(record["prompt_id"] for record in self.records if record["error"] is None)

    def batches(self) -> Any:
        return orjson.loads((self.folder / "batches.json").read_bytes())

    def forget_ids(self) -> None:
        """Leave the directory as a process does that is killed between the provider's yes and our note."""
        content = self.batches()
        for entry in content["batches"]:
            entry.update(stage="planned", batch_id=None)
        (self.folder / "batches.json").write_bytes(orjson.dumps(content))

    def check_complete(self, *, bought: int = 10) -> None:
        assert sorted(self.valid.values()) == [1] * 10
        assert {record["output"] for record in self.records if record["error"] is None} == {ANSWER}
        assert self.server.bought() == bought
        counts = orjson.loads((self.folder / "manifest.json").read_bytes())["counts"]
        assert counts == {"requests": 10, "done": 10, "failed": 0, "left": 0}


@pytest.fixture(params=STYLES)
def run(request: pytest.FixtureRequest, driver: Driver, tmp_path: Path) -> Iterator[Run]:
    with BatchServer() as server:
        yield Run(driver, server, request.param, tmp_path / "run")


@pytest.fixture
def openai(driver: Driver, tmp_path: Path) -> Iterator[Run]:
    with BatchServer() as server:
        yield Run(driver, server, "openai", tmp_path / "run")


@pytest.fixture
def anthropic(driver: Driver, tmp_path: Path) -> Iterator[Run]:
    with BatchServer() as server:
        yield Run(driver, server, "anthropic", tmp_path / "run")


def test_all_prompts_are_bought_once_and_results_out_of_order_find_their_prompts(run: Run) -> None:
    run.server.plans = [Plan(polls=2)]
    assert run.generate().status == 0
    run.check_complete()
    assert run.creates == 1
    batched = [record for record in run.records if "batch_id" in record]
    assert len(batched) == 9
    assert {record["batch_id"] for record in batched} == {run.server.batches[0].id}
    assert {record["latency_s"] for record in batched} == {None}
    # 40 tokens in and 10 out at half of 0.15 and 0.60, or of 1 and 5 USD per million.
    expected = {"openai": 40 * 0.075e-6 + 10 * 0.3e-6, "anthropic": 40 * 0.5e-6 + 10 * 2.5e-6}[run.style]
    assert [record["cost_usd"] for record in batched] == pytest.approx([expected] * 9)
    # The server works from the last line to the first: the records are in that order.
    sent = [line["custom_id"].split("-")[1] for line in run.server.batches[0].lines]
    assert len(set(sent)) == 9
    assert all(len(line["custom_id"]) <= 64 for line in run.server.batches[0].lines)


def test_a_batch_asks_exactly_what_a_live_run_asks(run: Run, tmp_path: Path) -> None:
    run.generate()
    live = ("--model", run.model, "--base-url", run.base_url, "--max-tokens", "50")
    assert run.driver(["generate", *live, *SMALL, "--run", str(tmp_path / "live"), "-q"]).status == 0
    body = "body" if run.style == "openai" else "params"
    batched = [line[body] for line in run.server.batches[0].lines]
    asked_live = {json.dumps(sent["messages"]): sent for sent in run.server.live}
    assert len(asked_live) == 10
    for sent in batched:
        assert asked_live[json.dumps(sent["messages"])] == sent
    live_manifest = orjson.loads((tmp_path / "live" / "manifest.json").read_bytes())
    manifest = orjson.loads((run.folder / "manifest.json").read_bytes())
    for name in ("model", "settings", "arm", "selection", "dataset_fingerprint", "repeats"):
        assert manifest[name] == live_manifest[name]


def test_a_live_run_goes_on_with_what_a_batch_left(openai: Run) -> None:
    openai.server.plans = [Plan(polls=0, answered=4, ending="expired")]
    openai.submit()
    openai.step("collect")
    live = ("--model", openai.model, "--base-url", openai.base_url, "--max-tokens", "50")
    assert openai.driver(["generate", *live, *SMALL, "--run", str(openai.folder), "-q"]).status == 0
    openai.check_complete()
    assert openai.creates == 1


def test_the_command_line_has_it_in_one_go(anthropic: Run) -> None:
    anthropic.server.plans = [Plan(polls=0)]
    settings = ("--model", anthropic.model, "--base-url", anthropic.base_url, "--max-tokens", "50")
    words = ["generate", "--batch", *settings, *SMALL, "--run", str(anthropic.folder)]
    dry = anthropic.driver([*words, "--dry-run"])
    assert dry.status == 0
    assert "cost with --batch: " in dry.shown
    assert anthropic.server.log == []
    assert anthropic.driver(words).status == 0
    anthropic.check_complete()
    assert anthropic.driver([*words, "--workers", "2"]).status == 2


def test_a_batch_takes_over_what_a_live_run_of_the_same_settings_has(openai: Run) -> None:
    openai.server.plans = [Plan(polls=0)]
    settings = ("--model", openai.model, "--base-url", openai.base_url, "--max-tokens", "50")
    words = ["generate", *settings, "--axis", "gender", "--limit"]
    assert openai.driver([*words, "1", "-q"]).status == 0
    assert openai.server.bought() == 5
    larger = openai.driver([*words, "2", "--batch"])
    assert larger.status == 0
    assert "5 replies taken over from runs/" in larger.shown
    assert openai.server.bought() == 10
    assert openai.creates == 1


def test_a_batch_run_whose_selection_meant_other_prompts_is_not_gone_on_with(openai: Run) -> None:
    openai.submit()
    path = openai.folder / "manifest.json"
    manifest = orjson.loads(path.read_bytes())
    manifest["prompts"]["sha256"] = "0" * 64  # as another version would have pinned other prompts
    path.write_bytes(orjson.dumps(manifest))
    before = list(openai.server.log)
    outcome = openai.driver(["batch", "submit", "--run", str(openai.folder)])
    assert outcome.status != 0
    assert "other prompts" in outcome.shown
    assert openai.server.log == before


def test_a_live_run_leaves_alone_what_is_under_way(openai: Run) -> None:
    openai.submit()
    live = ("--model", openai.model, "--base-url", openai.base_url, "--max-tokens", "50")
    outcome = openai.driver(["generate", *live, *SMALL, "--run", str(openai.folder)])
    assert outcome.status == 3
    assert "9 are in batches under way" in outcome.shown
    assert openai.server.bought() == 1
    openai.step("collect")
    assert openai.step("collect").status == 0
    openai.check_complete()


def test_a_finished_run_asks_nothing_more(anthropic: Run) -> None:
    anthropic.generate()
    before = len(anthropic.server.log)
    assert anthropic.generate().status == 0
    assert len(anthropic.server.log) == before


def test_after_expiry_only_the_rest_is_handed_in_again(run: Run) -> None:
    run.server.plans = [Plan(answered=4, ending="expired")]
    outcome = run.generate()
    assert outcome.status == 0
    run.check_complete()
    assert [len(batch.lines) for batch in run.server.batches] == [9, 5]
    assert "4 replies, 5 to ask again" in outcome.shown


def test_lasting_faults_become_error_records_and_passing_ones_are_asked_again(run: Run) -> None:
    lasting, passing = {
        "openai": ("invalid", "server_error"),
        "anthropic": ("invalid_request_error", "api_error"),
    }[run.style]
    faults = {0: Fault(400, lasting, "no such thing"), 1: Fault(500, passing), 2: Fault(500, passing)}
    run.server.plans = [Plan(faults=faults)]
    outcome = run.generate()
    assert outcome.status == 0
    assert [len(batch.lines) for batch in run.server.batches] == [9, 2]
    assert sorted(run.valid.values()) == [1] * 9
    (failed,) = [record for record in run.records if record["error"] is not None]
    assert "no such thing" in failed["error"]
    assert failed["output"] is None
    assert (
        sorted(record["attempts"] for record in run.records if record["error"] is None) == [1] * 7 + [2] * 2
    )


def test_failed_requests_are_asked_again_when_told_to(anthropic: Run) -> None:
    code = "invalid" if anthropic.style == "openai" else "invalid_request_error"
    anthropic.server.plans = [Plan(faults={3: Fault(400, code)})]
    anthropic.generate()
    assert anthropic.creates == 1
    anthropic.generate()
    assert anthropic.creates == 1
    assert anthropic.generate(retry_errors="failed").status == 0
    assert [len(batch.lines) for batch in anthropic.server.batches] == [9, 1]
    anthropic.check_complete()


def test_an_error_file_alone_stops_the_run_with_the_commonest_cause(run: Run) -> None:
    code = "invalid" if run.style == "openai" else "invalid_request_error"
    run.server.plans = [Plan(every_fault=Fault(400, code, "bad parameter"))]
    outcome = run.generate()
    assert outcome.status == 1
    assert "no request succeeded" in outcome.shown
    assert "bad parameter (9)" in outcome.shown
    assert run.creates == 1
    assert len(run.records) == 1  # the live one: a failure of everything leaves no error records
    assert run.generate().status == 0
    run.check_complete()


def test_lines_failed_for_want_of_credit_stop_the_run_and_are_all_that_is_asked_again(run: Run) -> None:
    fault = Fault(400, "invalid_request_error", "Your credit balance is too low")
    run.server.plans = [Plan(faults={0: fault, 5: fault})]
    outcome = run.generate()
    assert outcome.status == 1
    assert "credit balance is too low" in outcome.shown
    assert len(run.records) == 8
    assert run.generate().status == 0
    assert [len(batch.lines) for batch in run.server.batches] == [9, 2]
    run.check_complete()


def test_double_stray_and_broken_result_lines_spoil_nothing(openai: Run) -> None:
    openai.server.plans = [Plan(duplicates=2, strays=1)]
    outcome = openai.generate()
    assert outcome.status == 0
    assert "1 lines were not asked for" in outcome.shown
    openai.check_complete()


def test_a_reply_that_cannot_be_read_is_kept_and_not_bought_again(anthropic: Run) -> None:
    anthropic.server.plans = [Plan(garbage=1)]
    outcome = anthropic.generate()
    assert "1 lines could not be read" in outcome.shown
    assert anthropic.creates == 1
    assert sum(anthropic.valid.values()) == 9
    (failed,) = [record for record in anthropic.records if record["error"] is not None]
    assert "batch-unread.jsonl" in failed["error"]
    assert ANSWER in (anthropic.folder / "batch-unread.jsonl").read_text(encoding="utf-8")


def test_batches_under_way_are_waited_for_and_not_handed_in_again(anthropic: Run) -> None:
    assert anthropic.submit().status == 0
    assert anthropic.creates == 1
    assert anthropic.submit().status == 0
    assert anthropic.creates == 1
    assert anthropic.generate().status == 0
    assert anthropic.creates == 1
    anthropic.check_complete()


def test_a_process_killed_while_it_waits_loses_and_buys_nothing(openai: Run) -> None:
    openai.server.plans = [Plan(polls=3)]
    child = int(openai.driver({**openai.command({"poll_s": 60.0}), "in_child": True}).shown)
    waiting = threading.Event()
    for _ in range(600):
        if (openai.folder / "batches.json").exists() and openai.batches()["batches"][0]["batch_id"]:
            break
        waiting.wait(0.05)
    os.kill(child, signal.SIGKILL)
    waiting.wait(0.1)
    assert len(openai.records) == 1
    assert openai.generate().status == 0
    assert openai.creates == 1
    openai.check_complete()


@pytest.mark.parametrize(
    ("style", "has_ended"), [("openai", False), ("anthropic", False), ("anthropic", True)]
)
def test_a_batch_whose_id_was_never_noted_is_found_again(
    driver: Driver, tmp_path: Path, style: str, has_ended: bool
) -> None:
    with BatchServer([Plan(polls=0)]) as server:
        run = Run(driver, server, style, tmp_path / "run")
        run.submit()
        run.forget_ids()
        if has_ended:
            server.look(server.batches[0].id)
        check_found_again(run)


def check_found_again(run: Run) -> None:
    outcome = run.generate()
    assert outcome.status == 0
    assert "found at the provider again" in outcome.shown
    assert run.creates == 1
    run.check_complete()


def test_a_batch_that_the_provider_never_got_is_handed_in(openai: Run) -> None:
    openai.submit()
    openai.forget_ids()
    openai.server.batches.clear()
    assert openai.generate().status == 0
    assert openai.creates == 2
    openai.check_complete()


def test_a_strangers_batch_of_the_same_size_is_not_taken_for_ours(anthropic: Run, tmp_path: Path) -> None:
    other = Run(anthropic.driver, anthropic.server, "anthropic", tmp_path / "other")
    anthropic.submit()
    anthropic.forget_ids()
    anthropic.server.batches.clear()
    other.submit()
    outcome = anthropic.step("cancel")
    assert "no batch is under way" in outcome.shown
    assert anthropic.step("collect").status == 3
    assert "may not be of this run" in anthropic.step("cancel").shown
    assert anthropic.server.batches[0].status == "in_progress"
    outcome = anthropic.generate()
    assert "not of this run, left alone" in outcome.shown
    assert sorted(anthropic.valid.values()) == [1] * 10
    assert other.generate().status == 0
    assert sorted(other.valid.values()) == [1] * 10


def test_a_lost_yes_is_looked_for_before_trying_again_though_the_listing_lags(run: Run) -> None:
    run.server.lost_replies, run.server.hidden = 1, 1
    assert run.generate().status == 0
    assert run.creates == 1
    run.check_complete()


def test_a_server_error_at_handing_in_is_tried_again_after_looking(anthropic: Run) -> None:
    anthropic.server.refusals = [(500, {"error": {"message": "oops", "type": "api_error"}}, {})]
    assert anthropic.generate().status == 0
    assert anthropic.creates == 2
    anthropic.check_complete()


def test_too_many_requests_at_handing_in_wait_as_told(openai: Run) -> None:
    body = {"error": {"message": "slow down", "type": "rate_limit_error"}}
    openai.server.refusals = [(429, body, {"retry-after": "0.3"})]
    outcome = openai.generate()
    assert outcome.status == 0
    assert "slow down; trying again in" in outcome.shown
    openai.check_complete()


def test_a_full_queue_splits_the_run_and_the_next_batch_waits_for_the_last(openai: Run) -> None:
    openai.server.token_limit = 1000
    outcome = openai.generate()
    assert outcome.status == 0
    assert "at most 1,000 tokens at once" in outcome.shown
    assert openai.server.batches[0].status == "failed"
    assert len(openai.server.batches) >= 3
    assert openai.server.most_queued <= 1000
    openai.check_complete()


def test_a_known_queue_limit_is_kept_from_the_start(openai: Run) -> None:
    openai.server.token_limit = 1000
    assert openai.generate({"tokens": 600}).status == 0
    assert {batch.status for batch in openai.server.batches} == {"completed"}
    assert openai.server.most_queued <= 600
    openai.check_complete()


def test_a_queue_too_small_for_one_request_stops_the_run(openai: Run) -> None:
    outcome = openai.generate({"tokens": 5})
    assert outcome.status == 3
    assert "not even one request fits" in outcome.shown


def test_a_queue_that_stays_full_ends_in_a_clear_stop(openai: Run) -> None:
    openai.server.token_limit = 1
    assert openai.generate({"tokens": 0}).status == 2
    outcome = openai.generate()
    assert outcome.status == 3
    assert "--batch-tokens" in outcome.shown or "brings nothing" in outcome.shown


def test_a_batch_refused_as_a_whole_stops_the_run_with_the_reason(openai: Run) -> None:
    openai.server.plans = [Plan(ending="failed", reason=("model_not_found", "no such model in batches"))]
    outcome = openai.generate()
    assert outcome.status == 1
    assert "no such model in batches" in outcome.shown
    assert openai.creates == 1


def test_cancelled_batches_keep_what_was_answered(run: Run) -> None:
    run.server.plans = [Plan(polls=0, answered=3)]
    run.submit()
    assert run.step("cancel").status == 0
    outcome = run.step("collect")
    assert outcome.status == 3
    assert "was cancelled" in outcome.shown
    assert sum(run.valid.values()) == 4
    assert run.driver(["batch", "submit", "--run", str(run.folder)]).status == 0
    assert run.step("collect").status == 3  # one look is not enough
    assert run.step("collect").status == 0
    run.check_complete()


def test_waiting_stops_when_someone_cancels(anthropic: Run) -> None:
    anthropic.server.plans = [Plan(polls=0, answered=3)]
    anthropic.submit()
    anthropic.step("cancel")
    outcome = anthropic.generate()
    assert outcome.status == 3
    assert "was cancelled" in outcome.shown
    assert anthropic.creates == 1
    assert anthropic.generate().status == 0
    anthropic.check_complete()


def test_status_tells_and_changes_nothing(run: Run) -> None:
    run.submit()
    before = (run.folder / "batches.json").read_bytes()
    outcome = run.step("status")
    assert outcome.status == 0
    assert "10 requests: 1 done, 0 to do" in outcome.shown
    assert "9 in batches under way" in outcome.shown
    assert "in_progress, 0 of 9 handled" in outcome.shown
    assert "over: collect it" in run.step("status").shown
    assert (run.folder / "batches.json").read_bytes() == before
    assert run.step("collect").status == 0
    assert "collected: 9 replies, 0 failed" in run.step("status").shown


def test_a_cost_cap_holds_before_a_batch_is_handed_in(openai: Run) -> None:
    # Worst case of a request: some 660 bytes in at 0.075 and 50 out at 0.30 USD per million, 0.000065 USD
    # (twice that for the live one). At 40 in and 50 out it really costs 0.000018 (live 0.000036).
    openai.server.output_tokens = 50
    outcome = openai.generate(max_cost=0.00014)
    assert outcome.status == 3
    assert "--max-cost 0.00014 USD leaves no room" in outcome.shown
    assert 2 <= sum(openai.valid.values()) < 10
    manifest = orjson.loads((openai.folder / "manifest.json").read_bytes())
    assert 0.00014 - 0.00009 < manifest["cost_usd"] <= 0.00014


def test_a_fresh_start_does_not_forget_batches_under_way(anthropic: Run) -> None:
    anthropic.server.plans = [Plan(polls=0)]
    anthropic.submit()
    outcome = anthropic.submit("--fresh")
    assert outcome.status == 2
    assert "batches of" in outcome.shown
    assert anthropic.creates == 1
    anthropic.step("collect")
    assert anthropic.submit("--fresh").status == 0
    assert len(list(anthropic.folder.parent.glob("run.*"))) == 1


def test_extras_go_into_the_body_unless_they_are_about_calls(openai: Run) -> None:
    assert openai.submit("-M", "top_p=0.5", "-M", 'odd={"a": 1}').status == 0
    body = openai.server.batches[0].lines[0]["body"]
    assert (body["top_p"], body["odd"]) == (0.5, {"a": 1})
    assert "extra_body" not in body
    openai.folder = openai.folder.with_name("other")
    asked = openai.server.bought()
    other = openai.submit("-M", "organization=x")
    assert other.status == 2
    assert "--batch cannot send -M organization" in other.shown
    assert openai.server.bought() == asked


def test_a_batch_unknown_to_the_provider_is_explained(openai: Run) -> None:
    openai.submit()
    openai.server.batches.clear()
    outcome = openai.generate()
    assert outcome.status == 1
    assert "delete its entry from batches.json" in outcome.shown


def test_a_damaged_list_of_batches_is_explained(anthropic: Run) -> None:
    anthropic.submit()
    (anthropic.folder / "batches.json").write_text("{", encoding="utf-8")
    outcome = anthropic.generate()
    assert outcome.status == 1
    assert "batches.json is damaged" in outcome.shown
    assert (anthropic.folder / "batches.json").read_text(encoding="utf-8") == "{"


def test_models_without_batches_and_settings_without_model_are_refused(openai: Run) -> None:
    outcome = openai.driver(["batch", "submit", "--model", "sim/fair", "--axis", "gender"])
    assert outcome.status == 2
    assert "--batch does not work with sim/fair" in outcome.shown
    outcome = openai.driver(["batch", "submit", "--run", "x", "--axis", "gender"])
    assert outcome.status == 2
    assert "--axis needs --model" in outcome.shown
    assert openai.driver(["batch", "submit"]).status == 2
    assert openai.driver(["batch", "status", "nowhere"]).status == 2


def test_the_key_is_in_no_file_and_no_message(run: Run, driver: Driver) -> None:
    code = "invalid" if run.style == "openai" else "invalid_request_error"
    run.server.plans = [Plan(faults={0: Fault(400, code, f"your key {KEY} is odd")}, garbage=1)]
    run.server.refusals = [
        (
            429,
            {"error": {"message": f"{KEY} asks too often", "type": "rate_limit_error"}},
            {"retry-after": "0"},
        )
    ]
    run.generate()
    body = {"error": {"message": f"wrong key {KEY}", "type": "authentication_error"}}
    run.server.refusals = [(401, body, {})]
    outcome = run.generate(retry_errors="failed")
    assert outcome.status == 1
    assert "wrong key" in outcome.shown
    run.server.plans = [
        *[Plan()] * len(run.server.batches),
        Plan(ending="failed", reason=("x", f"{KEY} refused")),
    ]
    run.generate(retry_errors="failed")
    assert any(KEY in value for headers in run.server.headers for value in headers.values())
    for path in run.folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    assert KEY not in "".join(driver.shown)
