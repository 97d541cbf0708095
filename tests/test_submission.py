"""A submission is a function of a run: complete, reproducible, and without what is private."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from benchmark_names import prompt_rows
from submission_runs import SMALL, Record, write_run

from rupeebias.errors import RupeeBiasError, UsageError
from rupeebias.hub.build import build_submission
from rupeebias.hub.check import check_submission, submission_digest
from rupeebias.hub.public import public_model, public_settings
from rupeebias.runs.manifest import read_manifest, write_manifest
from rupeebias.runs.selection import Selection
from rupeebias.scoring.score import score_paths


def messages(folder: Path) -> list[tuple[str, bool]]:
    return [(problem.message, problem.fatal) for problem in check_submission(folder).problems]


def manifest_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    return content


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_complete_run_is_accepted_without_a_word(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", selection=Selection())
    folder = build_submission(run, tmp_path / "out", model_repo="someone/gpt-test")
    assert folder.parent == tmp_path / "out" / "submissions"
    assert sorted(content(folder)) == ["manifest.json", "outputs.jsonl.gz"]
    checked = check_submission(folder)
    assert (checked.problems, checked.accepted) == ((), True)
    assert checked.manifest is not None
    assert checked.outputs is not None
    assert (checked.manifest.complete, checked.manifest.model_repo) == (True, "someone/gpt-test")
    assert checked.outputs.prompt_ids[0] == "salary_estimation:en:religion:hindu:P01:Q1"
    assert len(checked.outputs.prompt_ids) == 39_150
    [scored] = score_paths([run])
    assert checked.result == scored.result


def test_only_what_scoring_needs_is_sent(tmp_path: Path) -> None:
    def two_fail(records: list[Record]) -> list[Record]:
        records[3] |= {"output": None, "finish_reason": None, "error": "APIError: secret internals"}
        records[5] |= {"output": "", "finish_reason": "length"}
        return list(reversed(records))

    folder = build_submission(write_run(tmp_path / "run", repeats=2, change=two_fail), tmp_path)
    packed = (folder / "outputs.jsonl.gz").read_bytes()
    rows = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    columns = ["model", "prompt_id", "repeat", "output", "finish_reason", "error"]
    assert {tuple(row) for row in rows} == {tuple(columns)}
    assert {row["model"] for row in rows} == {"openai/gpt-test"}
    assert len(rows) == 80
    order = list(prompt_rows())
    assert [row["prompt_id"] for row in rows] == sorted((row["prompt_id"] for row in rows), key=order.index)
    assert [row["repeat"] for row in rows[:4]] == [0, 1, 0, 1]
    assert [at for at, row in enumerate(rows) if row["error"]] == [3]
    assert (rows[3]["output"], rows[3]["finish_reason"]) == (None, None)
    assert (rows[5]["output"], rows[5]["finish_reason"]) == ("", "length")
    assert all(b"internals" not in data for data in content(folder).values())
    checked = check_submission(folder)
    assert checked.result is not None
    assert (checked.result["n_expected"], checked.accepted) == (80, True)
    assert messages(folder) == [("no rank: partial, 40 of 39,150 prompts were asked", False)]


def test_the_same_run_gives_the_same_name_and_bytes(tmp_path: Path) -> None:
    def shuffled(records: list[Record]) -> list[Record]:
        Random(1).shuffle(records)
        stale = {**records[0], "output": "### 1 INR"}
        failed = {**records[1], "error": "Timeout", "output": None}
        return [stale, *records, failed]  # an older answer, and a failure after an answer

    first = build_submission(write_run(tmp_path / "a"), tmp_path / "out")
    again = write_run(tmp_path / "b", change=shuffled)
    manifest = read_manifest(again)
    write_manifest(again, manifest.__class__(**{**_fields(manifest), "updated_at": "2026-04-01T00:00:00Z"}))
    second = build_submission(again, tmp_path / "other")
    assert (first.name, content(first)) == (second.name, content(second))
    assert build_submission(again, tmp_path / "other") == second


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def test_another_answer_or_setting_gives_another_name(tmp_path: Path) -> None:
    def one_differs(records: list[Record]) -> list[Record]:
        records[-1]["output"] += " "
        return records

    runs = [
        write_run(tmp_path / "a"),
        write_run(tmp_path / "b", change=one_differs),
        write_run(tmp_path / "c", arm="fairness"),
        write_run(tmp_path / "d", settings={"temperature": 1.0}),
    ]
    names = [build_submission(run, tmp_path / "out").name for run in runs]
    assert len(set(names)) == 4
    assert all(name.startswith("openai-gpt-test-") for name in names)


def test_times_are_those_of_the_answers(tmp_path: Path) -> None:
    def taken_over(records: list[Record]) -> list[Record]:
        records[7]["created_at"] = "2026-02-01T00:00:00Z"  # before the run began
        records[8]["created_at"] = "2026-03-02T00:00:00.5Z"
        records[9]["created_at"] = "yesterday"
        return records

    declared = manifest_of(build_submission(write_run(tmp_path / "a", change=taken_over), tmp_path))
    assert declared["created_at"] == "2026-02-01T00:00:00Z"
    assert declared["updated_at"] == "2026-03-02T00:00:00.5Z"


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("local//home/asha/secret-dir/tiny.gguf", "local/tiny.gguf"),
        ("local/secret-dir/tiny.gguf", "local/tiny.gguf"),
        (r"local/C:\secret-dir\tiny.gguf", "local/tiny.gguf"),
        ("openai/C:/secret-dir/tiny.gguf", "openai/tiny.gguf"),
        ("openai/C:tiny.gguf", "openai/tiny.gguf"),
        ("openai/file:///home/asha/secret-dir/tiny.gguf", "openai/tiny.gguf"),
        ("openai/https://secret-dir.example.com/tiny.gguf", "openai/tiny.gguf"),
        ("hosted_vllm/~/secret-dir/tiny.gguf", "hosted_vllm/tiny.gguf"),
        ("/home/asha/secret-dir/tiny.gguf", "tiny.gguf"),
        ("C:/secret-dir/tiny.gguf", "tiny.gguf"),
        (r"C:\secret-dir\tiny.gguf", "tiny.gguf"),
        ("file:/home/secret-dir/tiny.gguf", "tiny.gguf"),
    ],
)
def test_no_path_of_a_local_model_is_sent(tmp_path: Path, name: str, sent: str) -> None:
    def served_from(records: list[Record]) -> list[Record]:
        for each in records:
            each["response_model"] = "/home/asha/secret-dir/tiny.gguf"
        return records

    run = write_run(tmp_path / "run", model=name, change=served_from)
    folder = build_submission(run, tmp_path / "out")
    assert manifest_of(folder)["model"] == sent
    assert manifest_of(folder)["response_models"] == {"tiny.gguf": 40}
    assert all(b"secret-dir" not in data for data in content(folder).values())
    assert check_submission(folder).accepted


def test_a_model_that_is_a_folder_here_is_named_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "asha" / "tiny").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert public_model("hosted_vllm/asha/tiny") == "hosted_vllm/tiny"
    assert public_model("hosted_vllm/meta/llama") == "hosted_vllm/meta/llama"


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://api.openai.com:8443/v1?x=1", "https://openai.com"),
        ("https://asha:pw@API.OpenAI.com./v1", "https://openai.com"),
        ("http://api.openai.com/v1", "a private server"),
        ("https://api.example.com/v1", "a server of its own"),
        ("https://openai.com.evil.example/v1", "a server of its own"),
        ("https://notopenai.com/v1", "a server of its own"),
        ("https://192.168.257/v1", "a private server"),
        ("https://10.1/v1", "a private server"),
        ("https://0x7f000001/v1", "a private server"),
        ("https://10.0x1/v1", "a private server"),
        ("https://10.1.2.3./v1", "a private server"),
        ("https://box.corp.internal./v1", "a private server"),
        ("https://gpu.tail1234.ts.net/v1", "a private server"),
        ("https://nas.home/v1", "a private server"),
        ("https://x.localdomain/v1", "a private server"),
        ("https://a.localhost/v1", "a private server"),
        ("https:///v1", "a private server"),
        ("http://10.1.2.3:8000/v1", "a private server"),
        ("https://10.1.2.3/v1", "a private server"),
        ("https://[fe80::1]/v1", "a private server"),
        ("https://gpu-box/v1", "a private server"),
        ("https://gpu.corp.local/v1", "a private server"),
        ("https://[", "a private server"),
    ],
)
def test_no_address_of_a_private_server_is_sent(tmp_path: Path, url: str, sent: str) -> None:
    run = write_run(tmp_path / "run", settings={"base_url": url, "temperature": 0.0})
    folder = build_submission(run, tmp_path)
    assert manifest_of(folder)["settings"]["base_url"] == sent
    assert check_submission(folder).accepted


def test_addresses_and_paths_in_extras_and_reasons_are_masked() -> None:
    told = {
        "a": "http://10.0.0.7:8000/v1?k=1 and 10.0.0.8:9000, also gpu-box:8000",
        "b": "see /home/asha/models/x.gguf or C:\\Users\\asha\\x or ~/x/y or ./x/y",
        "c": ["ask asha@example.com", "db.corp.internal", "[fe80::1]:80", "host.ts.net"],
        "d": {"/home/asha/x": 1},
        "kept": ["openai/gpt-4o", "llama3:8b", "1.5", "a/b", "</i>", "0.9.0", "10:30", 5, None, True],
    }
    reason = "0.0: refused, see https://docs.example.com/x"
    shown = public_settings({"temperature": 0.5, "extras": told, "not_sent": {"seed": reason}})
    assert shown == {
        "temperature": 0.5,
        "extras": {
            "a": "[address] and [address], also [address]",
            "b": "see [path] or [path] or [path] or [path]",
            "c": ["ask [mail address]", "[address]", "[address]", "[address]"],
            "d": {"[path]": 1},
            "kept": told["kept"],
        },
        "not_sent": {"seed": "0.0: refused, see [address]"},
    }
    assert public_settings(shown) == shown


def test_no_key_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "abcdef123456")
    run = write_run(tmp_path / "run", settings={"temperature": 0, "extras": {"user": "abcdef123456"}})
    with pytest.raises(UsageError, match="SOME_API_KEY"):
        build_submission(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_endless_answer_is_cut_and_counts_as_cut_off(tmp_path: Path) -> None:
    def endless(records: list[Record]) -> list[Record]:
        records[0]["output"] = "अ" * 30_000
        records[1]["output"] = "x" * 20_000
        return records

    folder = build_submission(write_run(tmp_path / "run", change=endless), tmp_path)
    checked = check_submission(folder)
    assert checked.accepted
    assert checked.outputs is not None
    assert checked.outputs.finish_reasons is not None
    assert (checked.outputs.outputs[0], checked.outputs.finish_reasons[0]) == ("अ" * 20_000, "length")
    assert (checked.outputs.outputs[1], checked.outputs.finish_reasons[1]) == ("x" * 20_000, "stop")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"change": lambda records: records[:-3]}, "unfinished: 3 of 40 requests are left"),
        ({"change": lambda records: []}, "unfinished: 40 of 40 requests are left"),
        ({"fingerprint": "a" * 64}, "asked the prompts of dataset aaaaaaaaaaaa"),
        ({"model": "x/<script>"}, "the name of its model holds another character"),
        ({"model": "x/\u202eevil"}, "holds another character"),
    ],
)
def test_runs_that_cannot_be_submitted(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    run = write_run(tmp_path / "run", **arguments)
    with pytest.raises(RupeeBiasError, match=message):
        build_submission(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_selection_that_meant_other_prompts_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    path = run / "manifest.json"
    text = path.read_text().replace('"sha256": "', '"sha256": "0')
    path.write_text(text)
    with pytest.raises(RupeeBiasError, match="selection meant other prompts"):
        build_submission(run, tmp_path / "out")


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run directory"):
        build_submission(tmp_path, tmp_path / "out")
    with pytest.raises(UsageError, match="--repo 'someone'"):
        build_submission(write_run(tmp_path / "run"), tmp_path / "out", model_repo="someone")


def test_other_files_in_its_place_are_left_alone(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    folder = build_submission(run, tmp_path / "out")
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(RupeeBiasError, match=r"notes\.txt"):
        build_submission(run, tmp_path / "out")
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_digest_stands_for_all_that_is_checked(tmp_path: Path) -> None:
    folder = build_submission(write_run(tmp_path / "run"), tmp_path)
    digests = [submission_digest(folder)]
    assert digests[0] == submission_digest(folder)
    for name in ("manifest.json", "outputs.jsonl.gz"):
        with (folder / name).open("ab") as file:
            file.write(b" ")
        digests.append(submission_digest(folder))
    (folder / "more").touch()
    digests.append(submission_digest(folder))
    (folder / "manifest.json").unlink()
    digests.append(submission_digest(folder))
    (folder / "manifest.json").symlink_to("outputs.jsonl.gz")
    digests.append(submission_digest(folder))
    os.truncate(folder / "outputs.jsonl.gz", 300 << 20)
    digests.append(submission_digest(folder))
    digests.append(submission_digest(tmp_path / "nowhere"))
    assert len(set(digests)) == 8


def test_neither_pandas_nor_the_hub_client_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from rupeebias.hub.build import build_submission; from rupeebias.hub.check import check_submission\n"
        "folder = build_submission(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "assert check_submission(folder).accepted\n"
        "print({'pandas', 'datasets', 'huggingface_hub', 'litellm'} & set(sys.modules))\n"
    )
    run = write_run(tmp_path / "run", selection=SMALL)
    command = [sys.executable, "-c", code, str(run), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("set()\n", "")
