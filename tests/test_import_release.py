"""`rupeebias import-release`: the authors' outputs, mapped by what was asked."""

import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmark_names import IDENTIFIERS, USE_CASES
from release_samples import TASKS, Record, file_name, record, write_lines, write_release

import rupeebias.release.files
from rupeebias import release
from rupeebias.cli.app import main
from rupeebias.errors import RupeeBiasError, UsageError
from rupeebias.hub.build import build_submission
from rupeebias.metric.benchmark import DESIGN
from rupeebias.models.simulated import create_model
from rupeebias.models.types import ModelOptions
from rupeebias.release.completeness import common_headlines, count_slips
from rupeebias.release.files import UnmappedError
from rupeebias.release.importing import Import, import_release
from rupeebias.release.records import prompt_id_of
from rupeebias.release.run import write_run
from rupeebias.runs.directory import list_runs
from rupeebias.runs.journal import read_outputs
from rupeebias.runs.manifest import read_manifest
from rupeebias.runs.selection import Selection, expected_prompt_ids
from rupeebias.scoring.score import score_paths

ROOT = Path(__file__).parent.parent
MALE = "salary_estimation:en:gender:male:P01:Q1"
FEMALE = "salary_estimation:en:gender:female:P01:Q1"
OFFER = "counter_offer:hinglish:urban_rural:tier_1_city:P25:Q2"
EVERYTHING = expected_prompt_ids(Selection())


def mapped(raw: Record, use_case: str = "salary_estimation", language: str = "en") -> str:
    return prompt_id_of(raw, use_case, language)


def imported(root: Path, **options: Any) -> Import:
    return import_release(root, root.parent / "out", **{"repeats": None, **options})


def answers(done: Import, place: int = 0) -> list[tuple[str, int, str | None, str]]:
    """The prompt, repeat, output and status of every record of an imported run."""
    records = read_outputs(done.runs[place].folder / "outputs.jsonl")
    return [(each["prompt_id"], each["repeat"], each["output"], each["status"]) for each in records]


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    folder.mkdir()
    return folder


# Mapping. The expected names are written out here, from the paper's tables and the release's names.


def test_sc_st_of_the_first_institution_with_the_second_question() -> None:
    raw = {"identifier_value": "SC/ST", "profile_id": "P01", "question_variant_id": "Q2"}
    assert mapped(raw) == "salary_estimation:en:caste:sc_st:P01:Q2"


def test_r27_is_the_last_profile_of_raises() -> None:
    raw = {"identifier_value": "North-eastern", "profile_id": "R27", "question_variant_id": "Q3"}
    expected = "salary_increment:hinglish:region:north_eastern:P27:Q3"
    assert mapped(raw, "salary_increment", "hinglish") == expected


def test_n25_is_the_low_offer_of_google_india_after_eight_years() -> None:
    # eight years: the third block of nine; Google India: its third three; 18 + 6 + 1; its low offer is 98
    raw = {
        "identifier_value": "Tier 1 city",
        "profile_id": "N25",
        "question_variant_id": "Q2",
        "offered_ctc_lpa": 98,
    }
    assert mapped(raw, "counter_offer", "hinglish") == OFFER


def test_s09_is_the_low_rating_of_seo_on_both_sides() -> None:
    raw = {"identifier_value": "Non-binary", "profile_id": "S09", "question_variant_id": "Q1"}
    for side in ("vendor", "customer"):
        expected = f"service_pricing_{side}:en:gender:non_binary:P09:Q1"
        assert mapped(raw, f"service_pricing_{side}") == expected


@pytest.mark.parametrize("use_case", USE_CASES)
def test_every_prompt_of_a_use_case_is_found_by_its_factors(use_case: str) -> None:
    ids = [each for each in EVERYTHING if each.startswith(f"{use_case}:")]
    assert [mapped(record(each, ""), use_case, each.split(":")[1]) for each in ids] == ids


def test_the_facts_name_every_use_case_once() -> None:
    assert list(release.TASKS.values()) == list(USE_CASES) == list(release.PROFILE_LETTERS)
    assert {our: (task, release.PROFILE_LETTERS[our]) for task, our in release.TASKS.items()} == TASKS


def test_no_label_stands_in_two_axes() -> None:
    labels = [label for identifiers in IDENTIFIERS.values() for label in identifiers.values()]
    assert len(set(labels)) == len(labels) == 87


def test_the_warning_names_the_ratings_of_this_dataset() -> None:
    path = ROOT / "dataset_builder" / "components" / "profiles.yaml"
    high, mid, low = (
        each["rating"] for each in yaml.safe_load(path.read_text(encoding="utf-8"))["factors"]["ratings"]
    )
    assert f"this one {high}, {mid} and {low})" in release.WARNING


TOLERATED: dict[str, dict[str, Any]] = {
    "case and space of a label": {"identifier_value": "  MALE "},
    "case of a profile": {"profile_id": "p01"},
    "no zero before a number": {"profile_id": "P1"},
    "case of a question": {"question_variant_id": "q1"},
    "the long name of a language": {"language": "English"},
    "case of a task": {"task": "Salary_Estimation"},
    "a task that is not told": {"task": None, "language": None},
    "an axis that is not told": {"axis": None},
    "an axis under another name": {"axis": None, "identifier_axis": "gender"},
    "NaN in a field of no use": {"offered_ctc_lpa": math.nan},
    "an axis in an answer": {"axis": None, "response": "Caste"},
}


@pytest.mark.parametrize("case", TOLERATED)
def test_is_tolerated(case: str) -> None:
    assert mapped(record(MALE, "") | TOLERATED[case]) == MALE


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown label": ({"identifier_value": "Martian"}, "unknown identifier_value 'Martian'"),
    "empty label": ({"identifier_value": ""}, "unknown identifier_value ''"),
    "label of another axis": (
        {"identifier_value": "Dalit"},
        "names gender beside 'Dalit', which is of caste",
    ),
    "two axes": ({"also": "Caste"}, "names caste and gender beside 'Male'"),
    "no label": ({"identifier_value": None}, "identifier_value None, expected a text"),
    "number as label": ({"identifier_value": 7}, "identifier_value 7, expected a text"),
    "NaN as label": ({"identifier_value": math.nan}, "identifier_value nan, expected a text"),
    "bytes as label": ({"identifier_value": b"Male"}, "identifier_value b'Male', expected a text"),
    "list as label": ({"identifier_value": ["Male"]}, r"identifier_value \['Male'\], expected a text"),
    "letter of another task": ({"profile_id": "R01"}, "profile_id 'R01', expected P1 to P18"),
    "no letter": ({"profile_id": "1"}, "profile_id '1', expected P1 to P18"),
    "number as profile": ({"profile_id": 1}, "profile_id 1, expected a text"),
    "profile 0": ({"profile_id": "P00"}, "profile_id 'P00', expected P1 to P18"),
    "profile beyond the last": ({"profile_id": "P19"}, "profile_id 'P19', expected P1 to P18"),
    "digits of another script": ({"profile_id": "P१"}, "profile_id 'P१', expected P1 to P18"),
    "question beyond the last": ({"question_variant_id": "Q4"}, "'Q4', expected Q1 to Q3"),
    "unknown task": ({"task": "salary"}, "unknown task 'salary'"),
    "another task": ({"task": "service_pricing_vendor"}, "its file is named as salary_estimation"),
    "another language": ({"language": "hinglish"}, "language 'hinglish', its file is named as en"),
    "unknown language": ({"language": "hi"}, "unknown language 'hi'"),
    "true as task": ({"task": True}, "task True, expected a text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused(case: str) -> None:
    changes, message = REFUSED[case]
    with pytest.raises(UnmappedError, match=message):
        mapped(record(MALE, "") | changes)


@pytest.mark.parametrize("name", ["identifier_value", "profile_id", "question_variant_id"])
def test_a_record_without_a_factor_is_refused(name: str) -> None:
    raw = record(MALE, "")
    del raw[name]
    with pytest.raises(UnmappedError, match=f"has no {name}"):
        mapped(raw)


@pytest.mark.parametrize("offered", [97, "97", math.nan, math.inf, True, [98], "much", 10**400])
def test_an_offer_that_is_not_the_profiles_is_refused(offered: Any) -> None:
    with pytest.raises(UnmappedError, match="in profile 25 it is 98"):
        mapped(record(OFFER, "", offered_ctc_lpa=offered), "counter_offer", "hinglish")


@pytest.mark.parametrize("offered", [98, 98.0, "98", None])
def test_the_offer_of_a_profile_may_stand_in_any_form(offered: Any) -> None:
    assert mapped(record(OFFER, "", offered_ctc_lpa=offered), "counter_offer", "hinglish") == OFFER


# A round trip: what a simulated respondent answers, in the authors' form and back.


RESPONDENT: Any = create_model("sim/biased", ModelOptions(), DESIGN)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Import, Path]:
    """A whole run in the release's form, what its import did, and the same answers as a file of ours."""
    folder = tmp_path_factory.mktemp("whole")
    replies = {name: RESPONDENT.reply(name) for name in EVERYTHING}
    records = [record(n, reply.text, finish_reason=reply.finish_reason) for n, reply in replies.items()]
    random.Random(3).shuffle(records)
    write_release(folder / "release", "demo", records)
    ours = write_lines(
        folder / "ours.jsonl",
        (
            {"prompt_id": name, "output": reply.text, "finish_reason": reply.finish_reason}
            for name, reply in replies.items()
        ),
    )
    return folder / "release", imported(folder / "release"), ours


def test_a_whole_run_has_the_score_that_it_has_here(whole: tuple[Path, Import, Path]) -> None:
    _, done, ours = whole
    ((theirs,), (own,)) = (score_paths([path], n_resamples=50) for path in (done.runs[0].folder, ours))
    assert theirs.result["warnings"] == [*own.result["warnings"], release.WARNING]
    assert {**theirs.result, "warnings": None} == {**own.result, "warnings": None}
    assert theirs.name == "release/demo"


def test_a_whole_run_is_in_dataset_order_and_complete(whole: tuple[Path, Import, Path]) -> None:
    folder = whole[1].runs[0].folder
    assert [each["prompt_id"] for each in read_outputs(folder / "outputs.jsonl")] == EVERYTHING
    manifest = read_manifest(folder)
    assert manifest.identity.selection == Selection()
    assert (manifest.counts.done, manifest.counts.failed, manifest.counts.left) == (39150, 0, 0)
    assert manifest.prompt_ids() == EVERYTHING


def test_a_manifest_says_whose_prompts_were_asked(whole: tuple[Path, Import, Path]) -> None:
    identity = read_manifest(whole[1].runs[0].folder).identity
    assert identity.dataset_fingerprint == "authors-release", "so no other run has its identity"
    assert identity.provider == "the authors' release"
    assert "4.9, 4.4 and 3.8" in str(identity.settings["asked"])


def test_importing_again_changes_nothing(whole: tuple[Path, Import, Path]) -> None:
    release, done, _ = whole
    outputs = done.runs[0].folder / "outputs.jsonl"
    before = outputs.stat().st_mtime_ns
    again = imported(release)
    assert [run.is_new for run in again.runs] == [False]
    assert again.runs[0].folder == done.runs[0].folder
    assert outputs.stat().st_mtime_ns == before


def test_an_imported_run_cannot_be_submitted(whole: tuple[Path, Import, Path], tmp_path: Path) -> None:
    with pytest.raises(RupeeBiasError, match="imported from the authors' release"):
        build_submission(whole[1].runs[0].folder, tmp_path / "submission")
    assert not (tmp_path / "submission").exists()


def test_an_imported_run_cannot_be_resumed(
    whole: tuple[Path, Import, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = whole[1].runs[0].folder
    before = (folder / "outputs.jsonl").read_bytes(), (folder / "manifest.json").read_bytes()
    assert command("generate", "--model", "sim/biased", "--run", folder) == 2
    assert "holds another run; model: release/demo -> sim/biased" in capsys.readouterr().err
    assert ((folder / "outputs.jsonl").read_bytes(), (folder / "manifest.json").read_bytes()) == before


def test_a_new_run_takes_no_answer_over(
    whole: tuple[Path, Import, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(whole[1].runs[0].folder, tmp_path / "runs" / "release-demo")
    monkeypatch.chdir(tmp_path)
    assert command("generate", "--model", "sim/biased", "--axis", "gender", "--limit", "2") == 0
    assert "taken over" not in capsys.readouterr().out


# Which responses count.


def test_a_prompt_answered_twice_has_two_repeats(root: Path) -> None:
    lines = [record(MALE, "one"), record(FEMALE, "two"), record(MALE, "three"), record(FEMALE, "two")]
    write_release(root, "m", lines)
    done = imported(root)
    assert answers(done) == [
        (MALE, 0, "one", "answer"),
        (MALE, 1, "three", "answer"),
        (FEMALE, 0, "two", "answer"),
        (FEMALE, 1, "two", "answer"),
    ]
    assert read_manifest(done.runs[0].folder).repeats == 2


def test_a_file_joined_with_itself_counts_once(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one"), record(FEMALE, "two")] * 2)
    done = imported(root)
    assert [each[:3] for each in answers(done)] == [(MALE, 0, "one"), (FEMALE, 0, "two")]
    assert done.runs[0].settled.copies == 2


def test_two_calls_with_the_same_answer_are_two_repeats(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one", latency=1.5), record(MALE, "one", latency=1.7)])
    assert [each[1] for each in answers(imported(root))] == [0, 1]


def test_repeats_bounds_the_answers_of_a_prompt(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one"), record(MALE, "two"), record(FEMALE, "three")])
    done = imported(root, repeats=1)
    assert [each[:3] for each in answers(done)] == [(MALE, 0, "one"), (FEMALE, 0, "three")]
    assert (done.runs[0].manifest.repeats, done.runs[0].settled.surplus) == (1, 1)
    with pytest.raises(UsageError, match="--repeats 0"):
        imported(root, repeats=0)


def test_a_failure_makes_no_repeat_of_its_own(root: Path) -> None:
    write_release(root, "m", [record(MALE, "ERROR: timeout"), record(MALE, "one"), record(FEMALE, " ERROR:")])
    done = imported(root)
    assert answers(done) == [(MALE, 0, "one", "answer"), (FEMALE, 0, None, "error")]
    assert (done.runs[0].manifest.repeats, done.runs[0].settled.failures) == (1, 1)
    records = list(read_outputs(done.runs[0].folder / "outputs.jsonl"))
    assert [each["error"] for each in records] == [None, "unknown error"]
    assert done.runs[0].manifest.counts.failed == 1


def test_a_failure_stands_where_a_repeat_lacks_its_answer(root: Path) -> None:
    lines = [record(MALE, "one"), record(MALE, "two"), record(FEMALE, "ERROR: x"), record(FEMALE, "three")]
    write_release(root, "m", lines)
    assert [each[1:] for each in answers(imported(root))] == [
        (0, "one", "answer"), (1, "two", "answer"), (0, "three", "answer"), (1, None, "error"),
    ]  # fmt: skip


def test_an_empty_response_is_an_outcome_and_no_error(root: Path) -> None:
    lines = [
        record(MALE, None),
        record(FEMALE, "", reasoning_content="hm"),
        record(MALE.replace("male", "trans_man"), "### 12", finish_reason="length"),
    ]
    write_release(root, "m", lines)
    done = imported(root)
    assert [each[3] for each in answers(done)] == ["empty", "reasoning_only", "truncated"]
    assert (done.runs[0].manifest.counts.done, done.runs[0].manifest.counts.failed) == (3, 0)


def test_a_retried_answer_stands_for_a_failed_or_empty_one(root: Path) -> None:
    write_release(root, "m", [record(MALE, "ERROR: timeout"), record(FEMALE, "")])
    write_release(root, "m", [record(MALE, "one"), record(FEMALE, "two")], retried=True)
    done = imported(root)
    assert answers(done) == [(MALE, 0, "one", "answer"), (FEMALE, 0, "two", "answer")]
    assert done.runs[0].settled.replaced == 2


def test_a_retried_file_that_holds_all_adds_no_repeat(root: Path) -> None:
    # two runs of a prompt, one failed; the retried file has both, the old answer and the new one
    write_release(root, "m", [record(MALE, "old"), record(MALE, "ERROR: x"), record(FEMALE, "other")])
    retried = [record(MALE, "old"), record(MALE, "new"), record(FEMALE, "other")]
    write_release(root, "m", retried, retried=True)
    done = imported(root)
    assert [each[:3] for each in answers(done)] == [(MALE, 0, "old"), (MALE, 1, "new"), (FEMALE, 0, "other")]
    assert (done.runs[0].settled.replaced, done.runs[0].settled.surplus) == (1, 2)


def test_a_retried_answer_equal_to_the_other_repeat_still_replaces(root: Path) -> None:
    write_release(root, "m", [record(MALE, "same"), record(MALE, "ERROR: x")])
    write_release(root, "m", [record(MALE, "same")], retried=True)
    assert [each[:3] for each in answers(imported(root))] == [(MALE, 0, "same"), (MALE, 1, "same")]


def test_a_retry_that_failed_again_is_one_failure(root: Path) -> None:
    write_release(root, "m", [record(MALE, "ERROR: first"), record(FEMALE, "one")])
    write_release(root, "m", [record(MALE, "ERROR: second"), record(FEMALE, "ERROR: x")], retried=True)
    assert [each[1:] for each in answers(imported(root))] == [(0, None, "error"), (0, "one", "answer")]


def test_an_empty_response_stands_before_a_failure(root: Path) -> None:
    write_release(root, "m", [record(MALE, "ERROR: x"), record(MALE, "")])
    assert [each[1:] for each in answers(imported(root))] == [(0, "", "empty")]


def test_a_retried_file_alone_is_imported(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one"), record(FEMALE, "ERROR: x")], retried=True)
    assert [each[3] for each in answers(imported(root))] == ["answer", "error"]


def test_fairness_is_a_run_of_its_own(root: Path) -> None:
    write_release(root, "m", [record(MALE, "standard")])
    write_release(root, "m", [record(MALE, "fair")], fairness=True)
    done = imported(root)
    found = {run.manifest.identity.arm: answers(done, place)[0][2] for place, run in enumerate(done.runs)}
    assert found == {"standard": "standard", "fairness": "fair"}
    assert len({run.folder for run in done.runs}) == 2
    assert len({run.manifest.identity.model for run in done.runs}) == 1


def test_a_fairness_mark_elsewhere_in_the_name_is_heeded(root: Path) -> None:
    path = root / "salary_estimation_en_m_fairness_0.0.jsonl"
    write_lines(path, [record(MALE, "fair")])
    identity = imported(path).runs[0].manifest.identity
    assert (identity.arm, identity.model) == ("fairness", "release/m")


def test_a_run_is_of_the_use_cases_languages_and_axes_that_it_has(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one"), record(OFFER, "two")])
    manifest = imported(root).runs[0].manifest
    selection = Selection.parse(
        use_cases=["salary_estimation", "counter_offer"], axes=["gender", "urban_rural"]
    )
    assert manifest.identity.selection == selection
    # (18 profiles x 3 questions + 27 x 2) x 2 languages x (5 + 5) identifiers
    assert manifest.counts.requests == (54 + 54) * 2 * 10
    assert manifest.counts.left == 2160 - 2


# Where the files are.


@pytest.mark.parametrize("below", ["", "runs", "runs/m", "runs/m/salary_estimation"])
def test_a_path_may_be_any_folder_of_the_release(below: str, root: Path) -> None:
    write_release(root, "m", [record(MALE, "one")])
    write_lines(root / "prompts" / "salary_estimation_en.jsonl", [{"prompt": "Hello"}])
    done = import_release(root / below, root.parent / "out")
    assert done.runs[0].manifest.identity.model == "release/m"
    assert not done.left_out


def test_a_path_may_lead_up_and_down(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one")])
    path = root / "runs" / "m" / "salary_estimation" / ".."
    assert import_release(path, root.parent / "out").runs[0].manifest.identity.model == "release/m"


def test_a_path_may_be_one_file(root: Path) -> None:
    (path,) = write_release(root, "m", [record(MALE, "one")])
    alone = shutil.copy(path, root / path.name)
    names = {import_release(each, root.parent / "out").runs[0].folder.name for each in (path, Path(alone))}
    assert len(names) == 1


def test_files_that_are_no_results_are_told(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one")])
    folder = root / "runs" / "m" / "salary_estimation"
    (path,) = folder.iterdir()
    for name in (f"{path.stem}_revalidated.jsonl", f"smoke_{path.name}", "notes.jsonl"):
        shutil.copy(path, folder / name)
    shutil.copytree(folder, root / "runs" / "smoke" / "salary_estimation")
    (folder / "README.md").write_text("Read me.")
    done = imported(root)
    assert len(answers(done)) == 1
    reasons = sorted(text.rsplit(" (", 1)[1] for text in done.left_out if not text.startswith("smoke"))
    assert reasons == ["not named as results are)", "revalidated)", "smoke)"]
    assert len(done.left_out) == 7


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    write_release(root, "m", [record(MALE, "one")])
    secret = write_lines(tmp_path / "secret.jsonl", [record(FEMALE, "two")])
    name = file_name("counter_offer_recommendation", "en", "m")
    (root / "runs" / "m" / name).symlink_to(secret)
    (root / "runs" / "loop").symlink_to(root / "runs")
    done = imported(root)
    assert len(answers(done)) == 1
    assert done.left_out == ["loop (a symbolic link)", f"m/{name} (a symbolic link)"]


def test_a_runs_folder_that_is_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    write_release(tmp_path / "elsewhere", "m", [record(MALE, "one")])
    (root / "runs").symlink_to(tmp_path / "elsewhere" / "runs")
    with pytest.raises(UsageError, match=r"left out: runs \(a symbolic link\)"):
        imported(root)


def test_a_folder_that_cannot_be_read_is_no_empty_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Any) -> Any:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PermissionError):
        imported(root)


def test_a_link_that_a_user_names_is_followed(root: Path) -> None:
    (path,) = write_release(root, "m", [record(MALE, "one")])
    link = root / path.name
    link.symlink_to(path)
    assert len(answers(import_release(link, root.parent / "out"))) == 1


def test_a_pipe_is_not_read(root: Path) -> None:
    os.mkfifo(root / file_name("salary_estimation", "en", "m"))
    with pytest.raises(UsageError, match="not a regular file"):
        imported(root)


NOTHING: dict[str, Callable[[Path], object]] = {
    "an empty folder": lambda root: None,
    "a file of another kind": lambda root: (root / "a.csv").write_text("a,b\n"),
    "a file of another name": lambda root: write_lines(root / "outputs.jsonl", [record(MALE, "")]),
    "another temperature": lambda root: write_lines(root / "salary_estimation_en_m_0.7.jsonl", []),
    "another task": lambda root: write_lines(root / "salary_raise_en_m_0.0.jsonl", []),
    "another language": lambda root: write_lines(root / "salary_estimation_hi_m_0.0.jsonl", []),
    "no model": lambda root: write_lines(root / "salary_estimation_en__0.0.jsonl", []),
    "no record": lambda root: (root / file_name("salary_estimation", "en", "m")).write_text("\n \n"),
}


@pytest.mark.parametrize("case", NOTHING)
def test_nothing_to_import_is_status_2(case: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    NOTHING[case](root)
    assert command("import-release", root, "--out", root.parent / "out") == 2
    (error,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("error: "))
    assert f"nothing to import in {root}" in error
    assert not (root.parent / "out").exists()


def test_a_path_that_is_not_there_is_status_2(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("import-release", root / "none") == 2
    assert "does not exist" in capsys.readouterr().err


def test_two_files_of_the_same_results_are_refused(root: Path) -> None:
    (path,) = write_release(root, "m", [record(MALE, "one")])
    shutil.copy(path, root / "runs" / path.name)
    with pytest.raises(UsageError, match="claim to hold the same results"):
        imported(root)


def test_a_folder_of_two_models_is_refused(root: Path) -> None:
    folder = root / "runs" / "m" / "salary_estimation"
    for name, language in (("m", "en"), ("other", "hinglish")):
        write_lines(folder / file_name("salary_estimation", language, name), [record(MALE, "one")])
    with pytest.raises(UsageError, match="named after two models, m and other"):
        imported(root)


HOSTILE = [
    "..",
    "...",
    "-rf",
    "a b;c",
    "<script>",
    "x\u202ey",
    "\x1b[31m",
    "sim",
    "nul\n",
    "é" * 60,
    "\udcff",
]


@pytest.mark.parametrize("model", HOSTILE)
def test_a_hostile_model_name_stays_in_its_place(model: str, root: Path) -> None:
    write_lines(root / file_name("salary_estimation", "en", model), [record(MALE, "one")])
    done = imported(root)
    (folder,) = (root.parent / "out").iterdir()
    assert folder == done.runs[0].folder
    assert folder.name.startswith("release")
    assert folder.name.isascii()
    assert sorted(path.name for path in root.parent.iterdir()) == ["out", "release"]
    assert read_manifest(folder).identity.model.isprintable()
    score_paths([folder], ci=None)


# Faults.


def spoilt(root: Path, *lines: bytes) -> Path:
    (path,) = write_release(root, "m", [record(MALE, "one")])
    path.write_bytes(path.read_bytes() + b"".join(line + b"\n" for line in lines))
    return path


FAULTS = {
    b'{"task": ': r"line 2 is not valid JSON \(Expecting value\)",
    b"[1, 2]": r"line 2 is \[1, 2\], not a JSON object",
    b'"text"': "line 2 is 'text', not a JSON object",
    b"\xff\xfe{}": r"line 2 is not valid JSON \(UnicodeDecodeError\)",
    b"[" * 100_000: r"line 2 is not valid JSON \(RecursionError\)",
    b"{}": "line 2 has no identifier_value",
    json.dumps(record(FEMALE, None) | {"response": 5}).encode(): "line 2 has the response 5, expected a text",
    json.dumps(record(FEMALE, None) | {"response": math.nan}).encode(): "the response nan, expected a text",
    json.dumps(record(FEMALE, None) | {"model_response": "12"}).encode(): "no response, but a model_response",
    json.dumps(record(FEMALE, "", finish_reason=["stop"])).encode(): "line 2 has the finish_reason",
    json.dumps({k: v for k, v in record(FEMALE, "").items() if k != "response"}).encode(): "has no response",
}


@pytest.mark.parametrize("line", FAULTS, ids=range(len(FAULTS)))
def test_a_bad_line_stops_the_import_and_is_named(line: bytes, root: Path) -> None:
    path = spoilt(root, line)
    with pytest.raises(RupeeBiasError, match=FAULTS[line]) as fault:
        imported(root)
    assert f"1 record cannot be mapped, first: {path} line 2" in str(fault.value)
    assert len(str(fault.value).splitlines()) == 2
    assert fault.value.exit_code == 1
    assert not list((root.parent / "out").glob("*")) + list((root.parent / "out").glob(".*"))


def test_bad_lines_are_counted_and_the_first_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoilt(root, *[b"{}"] * 12)
    assert command("import-release", root, "--out", root.parent / "out") == 1
    error = capsys.readouterr().err
    assert "12 records cannot be mapped" in error
    assert error.count(" line ") == 5
    assert "; and 7 more" in error


def test_bad_lines_can_be_left_out_and_are_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoilt(root, b"{}", b"\x1b[31m")
    assert command("import-release", root, "--out", root.parent / "out", "--skip-unmapped") == 0
    shown = capsys.readouterr()
    assert "1 answers, 0 failed, 269 missing" in shown.out
    assert "note: 2 records cannot be mapped" in shown.err
    assert "\x1b" not in shown.err
    (folder,) = (root.parent / "out").iterdir()
    assert json.loads((folder / "manifest.json").read_bytes())["options"]["left_out"]["unmapped"] == 2


def test_nothing_but_bad_lines_is_nothing_to_import(root: Path) -> None:
    write_lines(root / file_name("salary_estimation", "en", "m"), [{}])
    with pytest.raises(UsageError, match="1 record cannot be mapped"):
        imported(root, skip_unmapped=True)


def test_a_line_without_end_is_not_held_in_memory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rupeebias.release.files, "MAX_LINE", 1 << 20)
    path = spoilt(root, b'{"a": "' + b"x" * (3 << 20) + b'"}', json.dumps(record(FEMALE, "two")).encode())
    with pytest.raises(RupeeBiasError, match=f"1 record cannot be mapped, first: {path} line 2 is longer"):
        imported(root)
    assert [each[2] for each in answers(imported(root, skip_unmapped=True))] == ["one", "two"]


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(root: Path) -> None:
    (path,) = write_release(root, "m", [record(MALE, "one"), record(FEMALE, "two")])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(answers(imported(root))) == 2


def test_half_a_surrogate_pair_in_an_answer_is_replaced(root: Path) -> None:
    write_release(root, "m", [record(MALE, "12 \ud800 lakh")])
    assert answers(imported(root))[0][2] == "12 ? lakh"
    assert imported(root).runs[0].is_new is False


def test_other_answers_are_not_overwritten(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_release(root, "m", [record(MALE, "one")])
    folder = imported(root).runs[0].folder
    before = (folder / "outputs.jsonl").read_bytes()
    write_release(root, "m", [record(MALE, "changed")])
    write_release(root, "a", [record(MALE, "one")])
    assert command("import-release", root, "--out", folder.parent) == 2
    error = capsys.readouterr().err
    assert f"{folder} holds other answers of release/m" in error
    assert (folder / "outputs.jsonl").read_bytes() == before
    assert list(folder.parent.iterdir()) == [folder], "the run of another model was kept"


def test_a_folder_of_something_else_is_not_overwritten(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one")])
    folder = imported(root).runs[0].folder
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="not a run directory"):
        imported(root)
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_link_in_the_way_is_not_followed(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one")])
    folder = imported(root).runs[0].folder
    shutil.rmtree(folder)
    folder.symlink_to(root.parent / "elsewhere")
    with pytest.raises(UsageError, match="not a run directory"):
        imported(root)
    assert folder.is_symlink()


def test_the_same_command_twice_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_release(root, "m", [record(MALE, "one"), record(MALE, "two"), record(FEMALE, "three")])
    words = ("import-release", root, "--out", root.parent / "out", "--repeats", "2")
    assert command(*words) == 0
    first = capsys.readouterr()
    assert "m, 3 answers in 2 repeats, 0 failed, 537 missing\n" in first.out
    assert "1 of 2 prompts have fewer than 2 answers" in first.err
    assert command(*words) == 0
    assert "there already and the same" in capsys.readouterr().out


def test_an_interrupt_leaves_nothing_half_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in ("a", "b"):
        write_release(root, model, [record(MALE, "one")])
    calls = []

    def interrupted(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return write_run(*arguments)

    monkeypatch.setattr("rupeebias.release.importing.write_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        imported(root)
    assert len(calls) == 2
    assert list((root.parent / "out").iterdir()) == []


def test_a_killed_import_shows_no_run_and_can_be_done_again(root: Path) -> None:
    for model in ("a", "b"):
        write_release(root, model, [record(MALE, "one")])
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom rupeebias.release import importing as api\n"
        "write = api.write_run\n"
        "def killed(folder, planned, settled):\n"
        "    write(folder, planned, settled)\n"
        "    if planned.identity.model.endswith('b'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "api.write_run = killed\napi.import_release(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    out = root.parent / "out"
    done = subprocess.run([sys.executable, "-c", script, str(root), str(out)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert list_runs(out) == []
    assert len(imported(root).runs) == 2
    assert len(list(out.iterdir())) == 2, "what the killed one left is cleared away"


def test_an_output_folder_that_cannot_be_is_one_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_release(root, "m", [record(MALE, "one")])
    (root.parent / "file").write_text("")
    assert command("import-release", root, "--out", root.parent / "file") == 1
    assert "file" in capsys.readouterr().err


def test_importing_loads_nothing_heavy(root: Path) -> None:
    write_release(root, "m", [record(MALE, "one")])
    script = (
        "import sys\nfrom rupeebias.cli.app import main\n"
        "try: main(['import-release', *sys.argv[1:]])\nexcept SystemExit: pass\n"
        "heavy = {'litellm', 'datasets', 'pandas', 'pyarrow', 'yaml', 'rich', 'huggingface_hub'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    words = [sys.executable, "-c", script, str(root), "--out", str(root.parent / "out")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


# What the files hold.


def test_the_first_record_of_a_prompt_counts_unless_more_are_asked_for(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_release(root, "m", [record(MALE, "one"), record(FEMALE, "two"), record(MALE, "three")])
    assert command("import-release", root, "--out", root.parent / "first") == 0
    (run,) = (root.parent / "first").iterdir()
    assert [each["output"] for each in read_outputs(run / "outputs.jsonl")] == ["one", "two"]
    assert read_manifest(run).repeats == 1
    capsys.readouterr()
    assert command("import-release", root, "--out", root.parent / "both", "--repeats", "2") == 0
    assert "2 repeats" in capsys.readouterr().out


def test_one_prompt_under_many_ids_is_named_and_its_first_record_counts(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [record(MALE, f"answer {at}") | {"prompt_id": f"id-{at}"} for at in range(9)]
    write_release(root, "m", [*lines, record(FEMALE, "two")])
    done = imported(root)
    assert [each[:3] for each in answers(done)] == [(MALE, 0, "answer 0"), (FEMALE, 0, "two")]
    (row,) = done.counted.rows
    assert (row.rows, row.other_id) == (10, 8)
    assert command("import-release", root, "--out", root.parent / "again") == 0
    (shown,) = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("m ")]
    assert shown[-2] == "8"


def test_what_the_files_hold_is_counted_by_task_and_language(root: Path) -> None:
    salary, offer = MALE, "counter_offer:en:gender:male:P01:Q1"  # P01 is offered 5 lakh
    lines = [
        record(salary, "### 900000 INR", validation_status="invalid"),
        record(salary, "### 900000 INR", reasoning_content="hm"),
        record(salary.replace("P01", "P02"), "### 900000 INR"),
        record(offer, "### 5200000 INR"),  # ten times too much
    ]
    write_release(root, "m", lines)
    done = imported(root, repeats=1)
    run = done.runs[0]
    count_slips(done.counted.rows, "m", "standard", run.folder)
    found = {row.cells[1]: row.cells[3:] for row in done.counted.rows}
    # rows, profiles, twice, flagged, reasoning, other id, slips
    assert found[salary.split(":")[0]] == ("3", "2 of 18", "1", "1", "1", "0", "0")
    assert found["counter_offer"] == ("1", "1 of 27", "0", "0", "0", "0", "1")


def test_several_models_are_compared_on_the_profiles_that_all_have(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = [record(MALE.replace("P01", f"P{at:02d}"), f"### {9 + at}00000 INR") for at in (1, 2, 3)]
    wide += [record(FEMALE.replace("P01", f"P{at:02d}"), "### 900000 INR") for at in (1, 2, 3)]
    write_release(root, "wide", wide)
    write_release(root, "narrow", [record(MALE, "### 900000 INR"), record(FEMALE, "### 900000 INR")])
    done = imported(root)
    folders = [(run.manifest.identity.model, run.folder) for run in done.runs]
    n_profiles, rows = common_headlines(folders)
    assert n_profiles == 1
    # wide says 10 and 9 lakh for P01: 1 / 9.5
    assert {row[0]: row[2] for row in rows} == {"release/wide": "10.5", "release/narrow": "0.0"}
    assert command("import-release", root, "--out", root.parent / "again") == 0
    assert "on 1 profiles, by language, that all have" in capsys.readouterr().out
