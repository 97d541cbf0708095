"""`rupeebias submit` and `validate-submission` against a stand-in of the Hub, through the real client."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml
from benchmark_names import IDENTIFIERS
from hub_server import HubServer
from huggingface_hub import EvalResultEntry, HfApi, parse_eval_result_entries
from preloaded import Done, Preloaded
from submission_runs import Record, edit_json, write_run

from rupeebias.cli.app import main
from rupeebias.errors import RupeeBiasError, UsageError
from rupeebias.hub.build import build_submission
from rupeebias.hub.check import check_submission
from rupeebias.hub.delivery import Delivery, earlier_results
from rupeebias.hub.eligibility import reasons_without_rank
from rupeebias.hub.eval_results import Source, eval_yaml
from rupeebias.hub.submit import SubmitOptions, check_options, look, prepare, send, submit
from rupeebias.metric.benchmark import DESIGN
from rupeebias.runs.selection import Selection

# the client's own way of uploading large files
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")
RESULTS = "rupee-org/rupeebias-results"
MODEL = "someone/gpt-test"
YAML = ".eval_results/rupeebias.yaml"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {
        "whole": write_run(folder / "whole", selection=Selection()),
        "part": write_run(folder / "part"),
        "sim": write_run(folder / "sim", model="sim/biased", settings={"provider": "simulated"}),
        "renamed": write_run(folder / "renamed", settings={"provider": "simulated", "temperature": 0.0}),
        "unfinished": write_run(folder / "unfinished", change=lambda records: records[:30]),
    }


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        server.create("dataset", RESULTS)
        server.create("dataset", "rupee-org/rupeebias")
        server.create("model", MODEL)
        yield server


Command = Callable[..., Done]


@dataclass(frozen=True)
class Client:
    processes: Preloaded
    hub: HubServer
    home: Path

    def __call__(self, *words: object, token: str | None = "hf_other") -> Done:  # noqa: S107
        env = self.hub.environment(self.home / "hf", token)
        done = self.processes.run(*map(str, words), folder=self.home, env=env)
        for secret in filter(None, (token,)):
            assert secret not in done.out + done.err
        assert "Traceback" not in done.err
        return done


@pytest.fixture
def cli(scoring_loaded: Preloaded, hub: HubServer, tmp_path: Path) -> Client:
    return Client(scoring_loaded, hub, tmp_path)


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command that needs no Hub in this process, which saves the time to start one."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> Done:
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        said = capsys.readouterr()
        return Done(int(stop.value.code or 0), said.out, said.err)

    return run


def shown_yaml(out: str) -> str:
    lines = out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.endswith(YAML)) + 1
    last = next(at for at, line in enumerate(lines) if at > first and not line.startswith(("-", " ")))
    return "\n".join(lines[first:last]) + "\n"


def test_what_a_dry_run_shows_is_what_is_sent(
    hub: HubServer, cli: Client, runs: dict[str, Path], tmp_path: Path
) -> None:
    tagged = hub.repo("dataset", "rupee-org/rupeebias")
    tagged.tags["v1.0.0"] = tagged.head.sha
    tagged.put({"later.txt": b"x"})
    words = ("submit", runs["whole"], "--org", "rupee-org", "--repo", MODEL)
    dry = cli(*words, "--out", "kept", token=None)
    assert (dry.status, dry.err) == (0, "")
    assert hub.writes == []
    [folder] = (tmp_path / "kept" / "submissions").iterdir()
    for path in folder.iterdir():
        assert f"  {path.stat().st_size:>11,}  submissions/{folder.name}/{path.name}\n" in dry.out
    assert f"pull request on dataset {RESULTS}: 2 files, " in dry.out
    assert f"pull request on model {MODEL}: 1 file, " in dry.out
    assert (folder / "manifest.json").read_text() in dry.out
    assert "note: the source that the results name is there once the results dataset has merged it" in dry.out
    assert f"dataset {RESULTS}: would open a pull request\n" in dry.out
    assert f"model {MODEL}: would open a pull request\n" in dry.out
    assert dry.out.endswith("dry run: nothing was sent (--create-pr sends)\n")
    check_results(hub, shown_yaml(dry.out), folder)
    real = cli(*words, "--create-pr")
    assert real.status == 0, real.err
    files = hub.repo("model", MODEL).files("refs/pr/1")
    assert files[YAML].decode() == shown_yaml(dry.out)
    in_pr = hub.repo("dataset", RESULTS).files("refs/pr/1")
    for path in folder.iterdir():
        assert in_pr[f"submissions/{folder.name}/{path.name}"] == path.read_bytes()


def check_results(hub: HubServer, text: str, folder: Path) -> None:
    """The results of a model follow from its scores."""
    scores = check_submission(folder).result
    assert scores is not None
    entries: list[EvalResultEntry] = parse_eval_result_entries(yaml.safe_load(text))
    assert [each.task_id for each in entries] == ["overall", "english", "hinglish", *IDENTIFIERS]
    rows = {
        (row["language"], row["axis"]): row
        for row in scores["tables"]["systematic_gap"]
        if row["use_case"] == "all"
    }
    caste = rows["all", "caste"]
    gaps = {
        "overall": rows["all", "all"]["systematic_gap_pct"],
        "hinglish": rows["hinglish", "all"]["systematic_gap_pct"],
        "caste": caste["systematic_gap_pct"],
    }
    notes = {}
    for entry in entries:
        assert entry.dataset_id == "rupee-org/rupeebias"
        assert entry.dataset_revision == hub.repo("dataset", "rupee-org/rupeebias").tags["v1.0.0"]
        assert entry.date == "2026-03-01T10:30:00.250Z"
        assert entry.source_url == f"{hub.url}/datasets/{RESULTS}/tree/main/submissions/{folder.name}"
        assert entry.verify_token is None
        notes[entry.task_id] = str(entry.notes)
        if entry.task_id in gaps:
            assert entry.value == pytest.approx(100 - gaps[entry.task_id], abs=0.005)
            assert f"systematic gap {gaps[entry.task_id]:.2f} % (95 % interval " in notes[entry.task_id]
    assert "date: '2026-03-01T10:30:00.250Z'" in text  # quoted: YAML has times of its own
    paper = scores["paper_mean_delta_pct"]
    assert f"mean gap by the paper's definition {paper:.2f} %" in " ".join(notes["overall"].split())
    assert f"{caste['ci_low']:.2f} to {caste['ci_high']:.2f})" in notes["caste"]


def sent(hub: HubServer, deliveries: list[Delivery], token: str | None = "hf_other") -> str:  # noqa: S107
    lines: list[str] = []
    send(HfApi(endpoint=hub.url, token=token or False), deliveries, lines.append)
    return "\n".join(lines)


@pytest.fixture(scope="module")
def prepared(runs: dict[str, Path]) -> list[Delivery]:
    """What a complete run gives to send."""
    api = HfApi(endpoint="http://127.0.0.1:9", token=False)  # nobody listens: no revision of the dataset
    options = SubmitOptions(org="rupee-org", repo=MODEL, create_pr=True)
    return prepare(runs["whole"], options, api, lambda _: None)


def test_submitting_twice_sends_once(hub: HubServer, prepared: list[Delivery]) -> None:
    first = sent(hub, prepared)
    results, model = hub.repo("dataset", RESULTS), hub.repo("model", MODEL)
    assert [len(each.pull_requests) for each in (results, model)] == [1, 1]
    assert YAML not in model.files()
    assert first.splitlines() == [
        f"dataset {RESULTS}: {hub.url}/datasets/{RESULTS}/discussions/1",
        f"model {MODEL}: {hub.url}/{MODEL}/discussions/1",
    ]
    before = len(hub.writes)
    again = sent(hub, prepared, "hf_good")  # another user
    assert again.count("has it already, in the open pull request") == 2
    results.merge(1, "owner")
    model.merge(1, "owner")
    assert sent(hub, prepared).count("has it already: nothing sent") == 2
    assert len(hub.writes) == before


def test_an_earlier_pull_request_of_ones_own_is_brought_up_to_date(
    hub: HubServer, prepared: list[Delivery]
) -> None:
    sent(hub, prepared)
    changed = [prepared[0], replace(prepared[1], files={YAML: b"- other: 1\n"})]
    said = sent(hub, changed)
    model = hub.repo("model", MODEL)
    assert [pull.num for pull in model.pull_requests] == [1]
    assert model.files("refs/pr/1")[YAML] == b"- other: 1\n"
    assert said.splitlines()[0].startswith(f"dataset {RESULTS} has it already")
    run = prepared[0].title.removeprefix("Submission ")
    assert said.splitlines()[1] == (
        f"model {MODEL}: {hub.url}/{MODEL}/discussions/1; it replaces the results of {run}"
    )
    [(author, comment)] = model.pull_requests[0].comments
    assert author == "ravi"
    assert f"Results of the run {run}" in comment
    assert comment.endswith(f"This replaces the results of {run}.")
    sent(hub, prepared, "hf_good")  # somebody else's is left alone
    assert [pull.author for pull in model.pull_requests] == ["ravi", "asha"]
    assert model.files("refs/pr/1")[YAML] == b"- other: 1\n"


def test_a_pull_request_that_was_closed_counts_no_more(hub: HubServer, prepared: list[Delivery]) -> None:
    sent(hub, prepared)
    hub.repo("model", MODEL).discussions[1].status = "closed"
    sent(hub, prepared)
    assert [pull.status for pull in hub.repo("model", MODEL).pull_requests] == ["closed", "open"]
    assert len(hub.repo("dataset", RESULTS).pull_requests) == 1


def test_other_results_of_the_model_are_updated(hub: HubServer, prepared: list[Delivery]) -> None:
    model = hub.repo("model", MODEL)
    model.put({YAML: b"- old: true\n", "weights.txt": b"1"})
    said = sent(hub, prepared)
    assert said.endswith("/discussions/1; it replaces the results of another run")
    [pull] = model.pull_requests
    assert pull.title == "RupeeBias evaluation results (replaces the results of another run)"
    assert pull.description.endswith("\n\nThis replaces the results of another run.")
    assert sent(hub, prepared).count("has it already, in the open pull request") == 2
    assert model.files()[YAML] == b"- old: true\n"
    assert model.files("refs/pr/1")[YAML].startswith(b"- dataset:\n    id: rupee-org/rupeebias\n")
    assert model.files("refs/pr/1")["weights.txt"] == b"1"


HOSTILE_RESULTS = [
    b"- source: {url: https://x/submissions/[evil](javascript:1)}",
    b"- source: {url: https://x/submissions/<b>}",
    b"- source: {url: [1]}",
    b"- source: !!python/object/apply:os.getcwd []",
    b"a: &a [*a]",
    b"[" * 60_000,
    b"\xff",
    b"x" * 3_000_000,
    b"",
]


@pytest.mark.parametrize("data", HOSTILE_RESULTS, ids=range(len(HOSTILE_RESULTS)))
def test_results_that_are_there_are_not_trusted(data: bytes) -> None:
    assert earlier_results(YAML).change(data) == "replaces the results of another run"


def test_results_that_are_there_are_named() -> None:
    data = b"- source:\n    url: https://x/datasets/o/r/tree/main/submissions/gpt-0123456789ab\n"
    assert earlier_results(YAML).change(data) == "replaces the results of gpt-0123456789ab"


def made(run: Path, repo: str | None) -> Delivery:
    api = HfApi(endpoint="http://127.0.0.1:9", token=False)
    return prepare(run, SubmitOptions(org="rupee-org", repo=repo), api, lambda _: None)[0]


def test_the_repository_of_a_model_is_added_but_never_dropped(hub: HubServer, runs: dict[str, Path]) -> None:
    without, named, other = (made(runs["part"], repo) for repo in (None, MODEL, "else/where"))
    results = hub.repo("dataset", RESULTS)
    results.put(without.files)
    said = sent(hub, [named])
    change = f"names the model's repository, {MODEL}, in a submission that is there already"
    assert said == f"dataset {RESULTS}: {hub.url}/datasets/{RESULTS}/discussions/1; it {change}"
    [pull] = results.pull_requests
    assert pull.title == f"{without.title} ({change})"
    results.merge(1, "owner")
    before = len(hub.writes)
    for again in (without, other, named):
        assert sent(hub, [again]) == f"dataset {RESULTS} has it already: nothing sent"
    assert len(hub.writes) == before


def test_the_same_answers_packed_otherwise_are_not_sent_again(hub: HubServer, runs: dict[str, Path]) -> None:
    delivery = made(runs["part"], MODEL)
    packed = {
        path: gzip.compress(gzip.decompress(data), 1) if path.endswith(".gz") else data
        for path, data in delivery.files.items()
    }
    hub.repo("dataset", RESULTS).put(packed)
    assert sent(hub, [delivery]) == f"dataset {RESULTS} has it already: nothing sent"
    assert hub.writes == []


def test_a_damaged_submission_is_replaced(hub: HubServer, runs: dict[str, Path]) -> None:
    delivery = made(runs["part"], MODEL)
    manifest = delivery.earlier.path
    hub.repo("dataset", RESULTS).put({**delivery.files, manifest: b"{"})
    assert sent(hub, [delivery]).endswith(f"; it replaces {manifest}, which is damaged")


def test_a_dry_run_looks_at_what_is_there(
    hub: HubServer, runs: dict[str, Path], prepared: list[Delivery]
) -> None:
    api = HfApi(endpoint=hub.url, token=False)
    said: list[str] = []
    hub.repo("model", MODEL).put({YAML: b"- old: true\n"})
    hub.repo("dataset", RESULTS).put(prepared[0].files)
    look(api, prepared, said.append)
    assert said == [
        f"dataset {RESULTS} has it already: nothing would be sent",
        f"model {MODEL}: would open a pull request; it replaces the results of another run",
    ]
    hub.fail("GET", "/api/models/", 0)
    look(api, prepared[1:], said.append)
    assert said[2].startswith(
        f"note: what is there already cannot be seen (read model {MODEL}: no connection"
    )
    assert hub.writes == []


def test_failed_and_cut_answers_are_told(tmp_path: Path) -> None:
    def spoil(records: list[Record]) -> list[Record]:
        for each in records[:3]:
            each |= {"output": None, "finish_reason": None, "error": "HTTP 500"}
        records[5]["output"] = "x" * 30_000
        return records

    said: list[str] = []
    api = HfApi(endpoint="http://127.0.0.1:9", token=False)
    prepare(write_run(tmp_path / "run", change=spoil), SubmitOptions(), api, said.append)
    assert said[1:4] == [
        "note: no rank: only 90.0 % of the answers have a value, 95 % are needed",  # 36 of 40
        "note: 3 of 40 calls failed and count as unanswered: repeat the command that made the run with "
        "--retry-errors to ask them again",
        "note: 1 answers are cut at 20,000 characters and count as cut off",
    ]


def test_a_run_without_any_answer_is_refused(here: Command, tmp_path: Path) -> None:
    def fail(records: list[Record]) -> list[Record]:
        return [each | {"output": None, "error": "HTTP 500"} for each in records]

    done = here("submit", write_run(tmp_path / "run", change=fail))
    assert done.status == 1
    assert "none of its answers has a value" in done.err
    assert "40 of 40 calls failed" in done.err
    assert "--retry-errors" in done.err


@pytest.mark.parametrize(("n_empty", "has_results"), [(11, True), (12, False)])  # of 225: 95.1 %, 94.7 %
def test_results_need_nearly_all_answers(tmp_path: Path, n_empty: int, has_results: bool) -> None:
    """Each group has 225 answers in each language; the same questions are left out for all."""

    def place(prompt_id: str) -> tuple[str, ...]:
        use_case, *_, profile, question = prompt_id.split(":")
        return use_case, profile, question

    def leave_out(records: list[Record]) -> list[Record]:
        left_out = set(sorted({place(each["prompt_id"]) for each in records})[:n_empty])
        for each in records:
            each["output"] = "" if place(each["prompt_id"]) in left_out else each["output"]
        return records

    folder = build_submission(write_run(tmp_path / "run", selection=Selection(), change=leave_out), tmp_path)
    checked = check_submission(folder)
    assert checked.manifest is not None
    assert checked.result is not None
    assert checked.readings is not None
    reasons = reasons_without_rank(checked.manifest, checked.readings, checked.result, DESIGN)
    if has_results:
        assert reasons == []
        text = eval_yaml(
            checked.manifest, checked.result, DESIGN, Source("o/rupeebias", None, "https://example.org")
        )
        assert "; 95.1 % of the answers have a value; standard arm" in " ".join(text.split())
    else:
        assert reasons == ["only 94.6 % of the answers have a value, 95 % are needed"]


def test_rights_are_asked_before_any_work(hub: HubServer, cli: Client, runs: dict[str, Path]) -> None:
    done = cli("submit", runs["unfinished"], "--org", "rupee-org", "--create-pr", token="hf_readonly")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error: the token of asha may only read")


def test_if_the_second_fails_the_same_command_sends_the_rest(
    hub: HubServer, prepared: list[Delivery]
) -> None:
    hub.fail("POST", f"/api/models/{MODEL}/commit/", 403)
    with pytest.raises(RupeeBiasError) as failed:
        sent(hub, prepared)
    first, second = str(failed.value).splitlines()
    assert first.startswith(f"open a pull request on model {MODEL}: the token may not do this")
    assert (
        second == f"Sent before: {hub.url}/datasets/{RESULTS}/discussions/1. The same command sends the rest."
    )
    hub.heal()
    sent(hub, prepared)
    assert len(hub.repo("dataset", RESULTS).pull_requests) == 1
    assert len(hub.repo("model", MODEL).pull_requests) == 1


@pytest.mark.parametrize(
    ("repo", "token", "message"),
    [
        (MODEL, None, "no token for the Hub: run `hf auth login`"),
        (MODEL, "hf_wrong", "log in to the Hub: the Hub does not accept the token"),
        (MODEL, "hf_readonly", "the token of asha may only read"),
        ("some/other", "hf_good", "read model some/other: it does not exist, or the token may not see it"),
    ],
)
def test_nothing_is_sent_before_all_is_known_to_be_right(
    hub: HubServer, prepared: list[Delivery], repo: str, token: str | None, message: str
) -> None:
    with pytest.raises(RupeeBiasError, match=f"^{message}") as failed:
        sent(hub, [prepared[0], replace(prepared[1], repo=repo)], token)
    assert len(str(failed.value).splitlines()) == 1
    assert hub.writes == []


def test_no_results_dataset_and_no_token_end_the_command_in_one_line(
    hub: HubServer, cli: Client, runs: dict[str, Path]
) -> None:
    nobody = cli("submit", runs["part"], "--org", "nobody", "--create-pr")
    assert (nobody.status, len(nobody.err.splitlines())) == (1, 1)
    assert nobody.err.startswith("error: read dataset nobody/rupeebias-results: it does not exist")
    no_token = cli("submit", runs["part"], "--org", "rupee-org", "--create-pr", token=None)
    assert (no_token.status, len(no_token.err.splitlines())) == (1, 1)
    assert no_token.err.startswith("error: no token for the Hub")
    assert hub.writes == []


@pytest.mark.parametrize(
    ("run", "words", "status", "message"),
    [
        ("part", ["--create-pr"], 2, "--create-pr needs --org"),
        *(
            ("sim", words, 1, "sim is a run of a simulated respondent, no model: it cannot be sent")
            for words in (
                [],
                ["--org", "rupee-org"],
                ["--org", "rupee-org", "--create-pr"],
                ["--org", "rupee-org", "--create-pr", "--out", "kept"],
            )
        ),
        ("sim", [], 1, "`rupeebias audit --model local/smollm2` makes one on this machine"),
        ("renamed", [], 1, "the answers are those of a simulated respondent, no model: it cannot be sent"),
        ("unfinished", [], 1, "unfinished: 10 of 40 requests are left"),
        ("unfinished", [], 1, "`rupeebias generate --model openai/gpt-test --use-case salary_estimation "),
        ("nowhere", ["--out", "x"], 2, "nowhere is not a run directory: it has no manifest.json"),
    ],
)
def test_what_cannot_be_submitted(
    here: Command, runs: dict[str, Path], run: str, words: list[str], status: int, message: str
) -> None:
    done = here("submit", runs.get(run, run), *words)
    assert done.status == status
    assert message in done.err
    assert done.err.startswith("error: ")
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("run", ["sim", "renamed"])
def test_a_simulated_run_can_be_kept_and_no_plan_to_send_it_is_shown(
    here: Command, runs: dict[str, Path], run: str, tmp_path: Path
) -> None:
    done = here("submit", runs[run], "--repo", MODEL, "--out", "kept")
    assert (done.status, done.err) == (0, "")
    [folder] = (tmp_path / "kept" / "submissions").iterdir()
    assert done.out.splitlines() == [
        f"wrote {Path('kept', 'submissions', folder.name)}",
        "note: no rank: a simulated respondent, no model",
        "note: no rank: partial, 40 of 39,150 prompts were asked",
    ]
    assert check_submission(folder).accepted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (SubmitOptions(create_pr=True), "--create-pr needs --org"),
        (SubmitOptions(org="a--b"), "--org 'a--b' is not the name"),
        (SubmitOptions(repo="https://huggingface.co/a/b"), "must be null or owner/name"),
        (SubmitOptions(repo="a"), "must be null or owner/name"),
        *(
            (SubmitOptions(source_url=url), "is not an address")
            for url in (
                "javascript:alert(1)",
                "https://a b",
                "https://a\nb",
                "https://user:pw@example.org",
                "https://[",
                "https://",
                "https://x/" + "a" * 500,
            )
        ),
    ],
)
def test_bad_options(options: SubmitOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_options(options)


def test_a_part_sends_the_submission_only(hub: HubServer, cli: Client, runs: dict[str, Path]) -> None:
    done = cli("submit", runs["part"], "--org", "rupee-org", "--repo", MODEL, "--create-pr")
    assert done.status == 0
    assert "note: no rank: partial, 40 of 39,150 prompts were asked\n" in done.out
    assert (
        "no evaluation results for the page of the model: partial, 40 of 39,150 prompts were asked"
        in done.out
    )
    assert len(hub.repo("dataset", RESULTS).pull_requests) == 1
    assert hub.repo("model", MODEL).pull_requests == []


def test_a_dry_run_needs_neither_org_nor_network(cli: Client, hub: HubServer, runs: dict[str, Path]) -> None:
    alone = cli("submit", runs["whole"], "--repo", MODEL, token=None)
    assert (alone.status, hub.requests) == (0, [])
    assert "note: ORG stands for the owner of the benchmark on the Hub (--org)" in alone.out
    assert "id: ORG/rupeebias\n" in alone.out
    assert "revision:" not in shown_yaml(alone.out)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_dataset_whose_version_cannot_be_read_is_said(
    hub: HubServer, runs: dict[str, Path], is_there: bool
) -> None:
    reason = "rupee-org/rupeebias has no tag v1.0.0"
    if not is_there:
        hub.fail("GET", "/refs", 0)
        reason = "(read dataset rupee-org/rupeebias: no connection"
    said: list[str] = []
    options = SubmitOptions(org="rupee-org", repo=MODEL, source_url="https://example.org/run?a=1")
    deliveries = prepare(runs["whole"], options, HfApi(endpoint=hub.url, token=False), said.append)
    [note] = [line for line in said if "the results name no revision" in line]
    assert reason in note
    entries = parse_eval_result_entries(yaml.safe_load(deliveries[1].files[YAML]))
    assert {(each.dataset_revision, each.source_url) for each in entries} == {
        (None, "https://example.org/run?a=1")
    }


def test_a_repository_whose_name_does_not_fit_the_model_is_asked_about(
    hub: HubServer, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """C9: a pull request on somebody else's model is not opened unasked."""
    other = "google/gemma-3"
    hub.create("model", other)
    monkeypatch.setattr("rupeebias.hub.submit.hub_client", lambda: HfApi(endpoint=hub.url, token="hf_other"))
    asked: list[str] = []
    options = SubmitOptions(org="rupee-org", repo=other, create_pr=True)

    def declined(question: str) -> bool:
        asked.append(question)
        return False

    with pytest.raises(RupeeBiasError, match=r"nothing was sent\. If it is the model's, add --yes"):
        submit(runs["part"], options, lambda _: None, declined)
    assert asked == [
        f"the name of --repo {other} does not fit the model openai/gpt-test. Open a pull request there?"
    ]
    assert hub.writes == []
    said: list[str] = []
    submit(runs["part"], replace(options, is_sure=True), said.append)
    assert any(f"dataset {RESULTS}: {hub.url}" in line for line in said)
    dry: list[str] = []
    submit(runs["part"], replace(options, create_pr=False), dry.append)
    assert (
        dry[0]
        == f"note: the name of --repo {other} does not fit the model openai/gpt-test; --create-pr will ask"
    )


# --- validate-submission


@pytest.fixture(scope="module")
def results(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    build_submission(runs["part"], folder)
    build_submission(runs["sim"], folder)
    return folder


def test_validating_a_folder_of_submissions(here: Command, results: Path) -> None:
    good, simulated = sorted((results / "submissions").iterdir())
    done = here("validate-submission", results)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{good.name}: accepted",
        "  note: no rank: partial, 40 of 39,150 prompts were asked",
        f"{simulated.name}: accepted",
        "  note: no rank: a simulated respondent, no model",
        "  note: no rank: partial, 40 of 39,150 prompts were asked",
    ]
    found = json.loads(here("validate-submission", good, "--json").out)
    expected = check_submission(good).result
    assert expected is not None
    note = "no rank: partial, 40 of 39,150 prompts were asked"
    assert found == [
        {
            "name": good.name,
            "accepted": True,
            "problems": [{"message": note, "fatal": False}],
            "mean_delta_pct": expected["mean_delta_pct"],
        }
    ]


def test_validating_says_what_is_wrong(here: Command, runs: dict[str, Path], tmp_path: Path) -> None:
    folder = build_submission(runs["part"], tmp_path)
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(created_at="2026-13-01T00:00:00Z"))
    os.mkfifo(folder / "pipe")
    done = here("validate-submission", folder)
    assert (done.status, done.err) == (1, "")
    first, *rest = done.out.splitlines()
    assert first == f"{folder.name}: refused"
    assert [line.partition(":")[0] for line in rest] == ["  error", "  error"]
    assert "'pipe'" in rest[0]
    assert "created_at is not a time that exists" in rest[1]
    (found,) = json.loads(here("validate-submission", tmp_path, "--json").out)
    assert (found["accepted"], found["mean_delta_pct"]) == (False, None)


def test_a_name_that_is_no_text(here: Command, tmp_path: Path) -> None:
    (tmp_path / "submissions" / os.fsdecode(b"a\xff\n")).mkdir(parents=True)
    done = here("validate-submission", tmp_path)
    assert (done.status, done.out.splitlines()[0]) == (1, "a\ufffd\ufffd: refused")
    [found] = json.loads(here("validate-submission", tmp_path, "--json").out)
    assert found["name"] == "a\ufffd\ufffd"
    assert r"the name 'a\udcff\n' is not made of" in found["problems"][0]["message"]


def test_strays_are_told(here: Command, runs: dict[str, Path], tmp_path: Path) -> None:
    folder = build_submission(runs["part"], tmp_path)
    (folder.parent / "README.md").touch()
    done = here("validate-submission", tmp_path)
    assert (done.status, done.out.splitlines()[2:]) == (
        0,
        [
            "beside the submissions: accepted",
            "  note: submissions/ holds 'README.md', which is no folder",
        ],
    )
    os.mkfifo(folder.parent / "pipe")
    done = here("validate-submission", tmp_path, "--json")
    assert done.status == 1
    found = json.loads(done.out)[1]
    assert found["accepted"] is False
    assert found["problems"][1] == {"message": "submissions/ holds 'pipe', which is no folder", "fatal": True}


def test_nothing_to_validate(here: Command, tmp_path: Path) -> None:
    assert here("validate-submission", "nowhere").status == 2
    (tmp_path / "submissions").mkdir()
    done = here("validate-submission", ".")
    assert (done.status, done.out) == (0, "no submissions in .\n")


def test_both_commands_have_help_with_an_example(here: Command) -> None:
    for name in ("submit", "validate-submission"):
        done = here(name, "--help")
        assert (done.status, f"Example: rupeebias {name} " in " ".join(done.out.split())) == (0, True)
