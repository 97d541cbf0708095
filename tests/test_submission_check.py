"""Whatever a submission holds, checking it ends with a list of problems in plain words."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from benchmark_names import IDENTIFIERS
from submission_runs import edit_answers, edit_json, keep_rows, make_consistent, write_run

from rupeebias.errors import UsageError
from rupeebias.hub.answers import Answers
from rupeebias.hub.build import build_submission
from rupeebias.hub.check import check_submission, find_submissions, stray_problems
from rupeebias.hub.submission import CheckedSubmission
from rupeebias.runs.selection import Selection

PARTIAL = "no rank: partial, 40 of 39,150 prompts were asked"
JsonEdit = Callable[[Any], Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    return build_submission(write_run(folder / "run", repeats=2), folder)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "submissions" / made.name
    shutil.copytree(made, copy)
    return copy


def fatal(folder: Path) -> list[str]:
    checked = check_submission(folder)
    for problem in checked.problems:
        assert problem.message.isprintable(), problem.message
        assert len(problem.message) < 1_000
    found = [problem.message for problem in checked.problems if problem.fatal]
    assert checked.accepted == (not found)
    return found


def notes(checked: CheckedSubmission) -> list[str]:
    return [problem.message for problem in checked.problems if not problem.fatal]


def test_an_untouched_one_is_accepted(folder: Path) -> None:
    checked = check_submission(folder)
    assert (fatal(folder), notes(checked)) == ([], [PARTIAL])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"a": NaN}', "is not JSON"),
        (b'{"a": -Infinity}', "is not JSON"),
        (b'{"a": 1e999}', "is infinity"),
        (b'{"a": ' + b"9" * 5_000 + b"}", ""),
        (b'{"a": ' + b"9" * 25 + b"}", "is too large"),
        (b'{"a": 1, "a": 2}', "the key 'a' stands twice"),
        (b'{"a": {"b": 1, "b": 1}}', "the key 'b' stands twice"),
        (b"[" * 13 + b"]" * 13, ""),
        (b"[" * 14 + b"]" * 14, "more than 12 deep"),
        (b"[" * 100_000, "is not JSON"),
        (b"[" * 1_000 + b"]" * 1_000, "more than 12 deep"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"a": "\xff"}', "not valid UTF-8"),
        (b"{", "is not JSON"),
        (b"", "is not JSON"),
    ],
)
def test_hostile_json(folder: Path, text: bytes, message: str) -> None:
    (folder / "manifest.json").write_bytes(text)
    [found] = fatal(folder)
    assert found.startswith("manifest.json")
    assert message in found


def test_another_release_of_the_metric_or_of_the_package_changes_nothing(folder: Path) -> None:
    """Scores are computed anew: a submission outlives the version that made it."""

    def older(manifest: Any) -> None:
        manifest["versions"] = {"rupeebias": "0.0.9", "metric": "0.9.9", "benchmark": "0.1"}

    edit_json(folder / "manifest.json", older)
    assert fatal(folder) == []
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(versions={"metric": "99.0.1"}))
    assert (fatal(folder), notes(check_submission(folder))) == ([], [PARTIAL])


# --- manifest.json


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format is 2, this version reads 1"),
        ({"format": True}, "format is True"),
        ({"key": "x"}, "unknown key 'key'"),
        ({"model": ""}, "model must be a text"),
        ({"model": 3}, "model must be a text"),
        ({"model": "x" * 201}, "model has 201 characters"),
        ({"model": "a/<b>"}, "model holds another character"),
        ({"model": "a\\b"}, "model holds another character"),
        ({"model": "a/../b"}, "model is a path"),
        ({"model": ".."}, "model is a path"),
        ({"model": "openai/C:/Users/x"}, "model is a path"),
        ({"model": "C:x"}, "model is a path"),
        ({"model": "openai//home/x"}, "model is a path"),
        ({"model": "./x"}, "model is a path"),
        ({"model": "file:x"}, "model is a path"),
        ({"model": "@all"}, "model must begin with a letter or digit"),
        ({"model": "=1+1"}, "model must begin with a letter or digit"),
        ({"model": " openai/x"}, "model must begin"),
        ({"model": "openai/x "}, "not end with a space"),
        *(
            ({"model": f"openai/gpt-4o{odd}"}, "model holds another character")
            for odd in '\ufe0f\u034f\u3164\u2800\u00ad\u0301\u0430\u05d0\u0915|`"&[*'
        ),
        ({"model": "/etc/passwd"}, "model is a path"),
        ({"model": "C:/models/x"}, "model is a path"),
        ({"model": "~/x"}, "model holds another character"),
        ({"model": "a\u202eb"}, "model holds another"),
        ({"model": "a\x1b[31m"}, "model holds another"),
        ({"model": "a\nb"}, "model holds another"),
        ({"model": "a\u200bb"}, "model holds another"),
        ({"provider": "<b>"}, "provider holds another"),
        ({"provider": "x\ufe0f"}, "provider holds another"),
        ({"model_repo": "no-owner"}, "model_repo must be null or owner/name"),
        ({"model_repo": "a/b/c"}, "model_repo must be null or owner/name"),
        ({"model_repo": "a/b--c"}, "model_repo is not a name"),
        ({"model_repo": "../b"}, "model_repo is not a name"),
        ({"model_repo": 1}, "model_repo must be null or owner/name"),
        ({"settings": {}}, "settings are empty"),
        ({"settings": []}, "settings must be an object"),
        ({"settings": dict.fromkeys(map(str, range(101)))}, "settings has 101 entries"),
        ({"arm": "kind"}, "arm is 'kind', expected standard or fairness"),
        ({"repeats": 0}, "repeats must be 1 to 20"),
        ({"repeats": 21}, "repeats must be 1 to 20"),
        ({"repeats": 2.0}, "repeats must be 1 to 20"),
        ({"repeats": 1}, "repeat must be 0 to 0"),
        ({"complete": 1}, "complete must be true or false"),
        ({"complete": True}, "declares a complete run, but its selection is a part"),
        ({"selection": {}}, "selection is not as a run's manifest has it"),
        ({"selection": {"limit": "x"}}, "selection cannot be understood"),
        ({"selection": {"axes": ["caste\u202e"]}}, "selection is not as a run's manifest has it"),
        ({"selection": [1]}, "selection must be an object"),
        ({"n_prompts": 41}, "n_prompts or prompts_sha256"),
        ({"prompts_sha256": "0" * 64}, "n_prompts or prompts_sha256"),
        ({"prompts_sha256": "0"}, "prompts_sha256 must be 64 hexadecimal digits"),
        ({"outputs_sha256": "0" * 64}, "is not the file that manifest.json has the sha256 of"),
        ({"dataset_fingerprint": "a" * 64}, "it asked the prompts of dataset aaaaaaaaaaaa"),
        ({"created_at": "2026-03-01"}, "created_at must be a UTC time"),
        ({"created_at": "2026-02-30T00:00:00Z"}, "created_at is not a time that exists"),
        ({"created_at": "2026-05-01T00:00:00Z"}, "created_at is after updated_at"),
        ({"created_at": None}, "created_at must be a UTC time"),
        ({"versions": {"metric": 1}}, "versions has the entry 'metric', which must be a text"),
        ({"versions": {"<i>": "1"}}, "versions has the entry '<i>', which holds another"),
        ({"response_models": {"x": True}}, "response_models has the entry 'x', which must be a whole"),
        ({"response_models": {"x": 0}}, "which must be a whole number, 1 or more"),
        ({"response_models": {"x": 80, "y": 1}}, "response_models counts more answers than were asked for"),
        ({"model_repo": "datasets/x"}, "model_repo must be owner/name of a model"),
        ({"model_repo": "Spaces/x"}, "model_repo must be owner/name of a model"),
        ({"created_at": "2019-12-31T23:59:59Z"}, "created_at lies before 2026"),
        ({"response_models": {"\u202e": 1}}, r"response_models has the entry '\u202e'"),
    ],
)
def test_manifests_that_are_refused(folder: Path, change: dict[str, Any], message: str) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(change))
    assert any(message in found for found in fatal(folder)), fatal(folder)


def test_every_fault_of_a_manifest_is_told_at_once(folder: Path) -> None:
    def spoil(manifest: Any) -> None:
        manifest.update(model="<", arm="x", repeats=0)
        manifest.pop("provider")

    edit_json(folder / "manifest.json", spoil)
    assert len([each for each in fatal(folder) if each.startswith("manifest.json: ")]) == 4


def test_a_time_in_the_future(folder: Path) -> None:
    soon = (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(updated_at=soon))
    assert fatal(folder) == ["manifest.json: updated_at lies in the future"]


@pytest.mark.parametrize(
    "name", ["ollama/llama3:8b", "openrouter/a/b", "vertex_ai/x@2024", "a (b)", "x..y", "sarvam-m"]
)
def test_names_that_models_really_have(folder: Path, name: str) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(model=name))
    assert fatal(make_consistent(folder)) == []


SETTINGS = [
    ({"temperature": "<b>"}, "has the temperature '<b>'"),
    ({"temperature": None}, "has the temperature None"),
    ({"temperature": True}, "has the temperature True"),
    ({"temperature": -1}, "has the temperature -1"),
    ({"api_key": "x"}, "keys are read from the environment only"),
    ({"h": {"Proxy-Authorization": "x"}}, "holds 'Proxy-Authorization': a key must not be sent"),
    ({"x": {"y": "Bearer abc123"}}, "what looks like a key"),
    ({"x": "sk-abcdefghij1234567890abcd"}, "what looks like a key"),
    ({"extras": {"n": 3}}, "each call asks for one whole answer"),
    ({"extras": {"extra_body": {"model": "x"}}}, "use --model"),
    ({"fallbacks": ["x"]}, "not to be set with -M"),
    ({"arm": "fairness"}, "holds 'arm': the arm is declared beside them"),
    ({"system_prompt": "be fair"}, "holds 'system_prompt'"),
    ({"extras": {"a": [{"b": {"Messages": 1}}]}}, "holds 'Messages'"),
    ({"a\u202eb": 1}, "a control or direction mark"),
    ({"a": ["\x1b[2J"]}, "a control or direction mark"),
    ({"a": "x" * 2_001}, "a text of 2,001 characters"),
    ({"a": ["x" * 1_999] * 51}, "takes more than 100 kB"),
    ({"a": [[[[[]]]]]}, "is nested more than 5 deep"),
    ({"base_url": "http://10.0.0.1:8000/home/asha"}, "has a base_url that is not as"),
    ({"base_url": 5}, "has a base_url that is not as"),
]


@pytest.mark.parametrize(("more", "message"), SETTINGS)
def test_settings_that_are_refused(folder: Path, more: dict[str, Any], message: str) -> None:
    settings = {"temperature": 0.0, **more}
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(settings=settings))
    assert any(message in found for found in fatal(folder) if "settings" in found), fatal(folder)


def test_settings_as_runs_have_them(folder: Path) -> None:
    settings = {
        "provider": "openai",
        "base_url": "a private server",
        "temperature": 0,
        "max_tokens": 64,
        "seed": 1,
        "reasoning_effort": "low",
        "extras": {"extra_body": {"thinking": {"type": "enabled", "budget": 1}}, "top_p": 0.5},
        "constrain": True,
        "grammars": {"x": "root ::= [0-9]+\n"},
    }
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(settings=settings))
    assert fatal(make_consistent(folder)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"model": "sim/biased"},
        {"model": "SIM/biased"},
        {"model": "Simulated/x"},
        {"provider": "Simulated"},
        {"settings": {"provider": "simulated", "temperature": 0}},
        {"response_models": {"gpt": 79, "Sim/fair": 1}},
    ],
)
def test_simulated_respondents_are_known_by_any_name(folder: Path, change: dict[str, Any]) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(change))
    checked = check_submission(make_consistent(folder))
    assert notes(checked)[0] == "no rank: a simulated respondent, no model"


@pytest.mark.parametrize(
    "more",
    [{"limit": 9}, {"limit": 10**9}, {"shard": [1, 1]}, {"identifiers": list(IDENTIFIERS["gender"])}],
)
def test_a_selection_says_no_more_than_it_must(tmp_path: Path, more: dict[str, Any]) -> None:
    few = Selection.parse(use_cases=["salary_increment"], axes=["gender"], profiles=["P01"], questions=["Q1"])
    whole = build_submission(write_run(tmp_path / "run", selection=few), tmp_path / "a")
    wordy = Selection.from_json(few.to_json() | more)
    same = build_submission(write_run(tmp_path / "wordy", selection=wordy), tmp_path / "b")
    assert same.name == whole.name
    edit_json(whole / "manifest.json", lambda manifest: manifest["selection"].update(more))
    assert any("its selection is the same as --use-case salary_increment" in each for each in fatal(whole))


def test_what_is_worth_a_note(folder: Path) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(settings={"provider": "x"}))
    assert "do not tell the temperature" in notes(check_submission(folder))[0]
    edit_json(folder / "manifest.json", lambda m: m.update(settings={"not_sent": {"temperature": "0: no"}}))
    assert notes(check_submission(folder)) == [PARTIAL]
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(model="sim/biased", settings={}))
    checked = check_submission(make_consistent(folder))
    assert notes(checked) == ["no rank: a simulated respondent, no model", PARTIAL]
    assert checked.accepted


# --- the rows of outputs.jsonl.gz


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda a: keep_rows(a, [*range(80), 3]), "1 rows repeat a prompt_id and repeat"),
        (lambda a: replace(a, repeats=[5, *a.repeats[1:]]), "repeat must be 0 to 1"),
        (lambda a: replace(a, repeats=[-1, *a.repeats[1:]]), "repeat must be 0 to 1"),
        (
            lambda a: replace(a, prompt_ids=["\u202e<b>", *a.prompt_ids[1:]]),
            r"1 prompt_ids not of its selection",
        ),
        (
            lambda a: replace(a, prompt_ids=["price_negotiation:en:caste:dalit:P01:Q1", *a.prompt_ids[1:]]),
            "1 prompt_ids not of its selection, first: 'price_negotiation:en:caste:dalit:P01:Q1'",
        ),
    ],
)
def test_rows_that_do_not_belong(folder: Path, edit: Callable[[Answers], Answers], message: str) -> None:
    edit_answers(folder, edit)
    assert any(message in found for found in fatal(folder)), fatal(folder)
    assert check_submission(folder).result is None


def test_missing_answers_of_a_part_count_as_missing(folder: Path) -> None:
    edit_answers(folder, lambda answers: keep_rows(answers, range(3, 80)))
    checked = check_submission(make_consistent(folder))
    assert "3 of 80 answers are missing and count as missing" in notes(checked)
    assert checked.result is not None
    assert (checked.result["n_expected"], checked.result["n_missing"]) == (80, 3)


def test_what_is_declared_complete_must_be(tmp_path: Path) -> None:
    whole = build_submission(write_run(tmp_path / "run", selection=Selection()), tmp_path)
    edit_answers(whole, lambda answers: keep_rows(answers, range(1, 39_150)))
    [missing] = [each for each in fatal(whole) if "missing" in each and "declared" in each]
    assert missing == "it is declared complete, but 1 of 39,150 answers are missing"
    edit_json(whole / "manifest.json", lambda manifest: manifest.update(complete=False))
    assert "manifest.json declares a partial run, but its selection is everything of the benchmark" in fatal(
        whole
    )


def empty_every(step: int) -> Callable[[Answers], Answers]:
    def edit(answers: Answers) -> Answers:
        outputs = [None if at % step == 0 else text for at, text in enumerate(answers.outputs)]
        return replace(answers, outputs=outputs)

    return edit


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (empty_every(2), ["no rank: only 50.0 % of the answers have a value, 95 % are needed"]),  # 40 of 80
        (empty_every(16), ["no rank: only 93.7 % of the answers have a value, 95 % are needed"]),  # 75 of 80
        (empty_every(20), []),  # 76 of 80 are 95 %
    ],
)
def test_leaving_answers_out_is_told(
    folder: Path, edit: Callable[[Answers], Answers], told: list[str]
) -> None:
    edit_answers(folder, edit)
    checked = check_submission(make_consistent(folder))
    assert (checked.accepted, notes(checked)) == (True, [PARTIAL, *told])


def test_without_any_value_there_is_nothing_to_compare(folder: Path) -> None:
    edit_answers(folder, empty_every(1))
    assert fatal(make_consistent(folder)) == [
        "none of its answers has a value, so there is nothing to compare"
    ]


@pytest.mark.parametrize(("text", "reason"), [("### 5 INR", None), (None, "stop"), ("", "length")])
def test_failed_calls_with_an_answer(folder: Path, text: str | None, reason: str | None) -> None:
    def fail_one(answers: Answers) -> Answers:
        columns = {"errors": True, "outputs": text, "finish_reasons": reason}
        return replace(answers, **{name: [v, *getattr(answers, name)[1:]] for name, v in columns.items()})

    edit_answers(folder, fail_one)
    assert "outputs.jsonl.gz: 1 failed calls have a text or a finish reason" in fatal(folder)


def test_rows_are_in_the_order_of_the_dataset(folder: Path) -> None:
    edit_answers(folder, lambda answers: keep_rows(answers, [1, 0, *range(2, 80)]))
    assert "outputs.jsonl.gz: its rows are not in the order of the dataset" in fatal(folder)


def test_copies_under_another_name_are_refused(folder: Path) -> None:
    name = folder.name
    copies = [folder.parent / "copy", folder.parent / "openai-gpt-test-000000000000"]
    for copy in copies:
        shutil.copytree(folder, copy)
        assert fatal(copy) == [f"a submission of this content is named {name}: it is a copy or changed"]


# --- the folder


def test_only_the_two_files_may_be_there(folder: Path) -> None:
    (folder / "run.py").write_text("")
    (folder / ".hidden").mkdir()
    (folder / "\u202ex").touch()
    [message] = fatal(folder)
    assert message.startswith(r"it holds '.hidden', 'run.py', '\u202ex': only manifest.json, ")


@pytest.mark.parametrize("name", ["manifest.json", "outputs.jsonl.gz"])
def test_each_file_must_be_a_file(folder: Path, name: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (folder / name).rename(kept)
    assert f"{name} is missing" in fatal(folder)
    (folder / name).symlink_to(kept)
    assert any(each.startswith(f"{name} cannot be read") and "link" in each for each in fatal(folder))
    (folder / name).unlink()
    (folder / name).mkdir()
    assert any(each.startswith(f"{name} is not a regular file") for each in fatal(folder))
    (folder / name).rmdir()
    os.mkfifo(folder / name)
    assert any(each.startswith(f"{name} is not a regular file") for each in fatal(folder))
    (folder / name).unlink()
    (folder / name).touch()
    os.truncate(folder / name, 201 << 20)  # sparse: nothing is written
    assert any(each.startswith(f"{name} is larger than") for each in fatal(folder))


@pytest.mark.parametrize("name", ["Upper", "-x", "a b", "a" * 101, "x\u202ey", "ü"])
def test_names_of_folders(folder: Path, name: str) -> None:
    moved = folder.rename(folder.parent / name)
    assert any("is not made of at most 100" in each for each in fatal(moved))


def test_what_is_no_folder(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    for path in (link, folder / "manifest.json", tmp_path / "nowhere"):
        assert "it is not a folder" in fatal(path)[-1]
        assert check_submission(path).manifest is None


def test_submissions_are_found_in_order(folder: Path, tmp_path: Path) -> None:
    others = [folder.parent / "zz", folder.parent / "Bad Name", folder.parent / "a-link"]
    others[0].mkdir()
    others[1].mkdir()
    others[2].symlink_to(folder)
    (folder.parent / "README.md").touch()
    (folder.parent / "x\n").touch()
    os.mkfifo(os.fsencode(folder.parent) + b"/pipe\xff")
    assert find_submissions(tmp_path) == sorted([*others, folder])
    assert [(each.message, each.fatal) for each in stray_problems(tmp_path)] == [
        ("submissions/ holds 'README.md', which is no folder", False),
        (r"submissions/ holds 'pipe\udcff', which is no folder", True),
        (r"submissions/ holds 'x\n', which is no folder", True),
    ]
    with pytest.raises(UsageError, match="no folder submissions/"):
        find_submissions(folder)
