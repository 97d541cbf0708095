"""Run directories: what is kept, repaired and refused."""

import hashlib
import os
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from rupeebias.errors import RupeeBiasError, UsageError
from rupeebias.metric.benchmark import DESIGN
from rupeebias.naming import file_name
from rupeebias.runs.directory import list_runs, move_aside, open_run
from rupeebias.runs.journal import Journal, latest_valid, read_outputs
from rupeebias.runs.manifest import (
    Counts,
    Manifest,
    PromptSet,
    RunIdentity,
    now,
    read_manifest,
    write_manifest,
)
from rupeebias.runs.selection import Selection, expected_prompt_ids


def record(prompt_id: str, output: str | None = "### 5 INR", **other: Any) -> dict[str, Any]:
    return {"prompt_id": prompt_id, "repeat": 0, "output": output, "error": None, **other}


def manifest(**changes: Any) -> Manifest:
    identity = RunIdentity("openai/x", {"temperature": 0.0, "seed": 7}, "standard", Selection(), "f1")
    repeats = changes.pop("repeats", 1)
    return Manifest(replace(identity, **changes), repeats, Counts(10, 0, 0), "t0", "t0")


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


# The journal


def test_records_are_in_the_file_as_soon_as_they_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    with Journal(path) as journal:
        journal.append(record("a", "₹12,00,000"))
        assert lines(path) == [record("a", "₹12,00,000")]
        journal.append(record("b"))
        assert [line["prompt_id"] for line in lines(path)] == ["a", "b"]
    assert path.read_bytes().endswith(b"\n")
    assert "₹12,00,000".encode() in path.read_bytes()


def test_a_torn_tail_is_cut_off_and_its_request_is_open_again(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    whole = orjson.dumps(record("a")) + b"\n"
    path.write_bytes(whole + b'{"prompt_id": "b", "te')
    with Journal(path) as journal:
        assert journal.done == {("a", 0)}
        assert path.read_bytes() == whole
        journal.append(record("c"))
    assert [line["prompt_id"] for line in lines(path)] == ["a", "c"]


def test_a_whole_last_record_without_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_bytes(orjson.dumps(record("a")))
    with Journal(path) as journal:
        assert journal.done == {("a", 0)}
        journal.append(record("b"))
    assert [line["prompt_id"] for line in lines(path)] == ["a", "b"]


@pytest.mark.parametrize("damage", [b"{broken", b"", b"[1]", b'{"prompt_id": 5}', b"\x00\x00\xff"])
def test_a_damaged_line_is_named_and_nothing_is_changed(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "outputs.jsonl"
    content = b"\n".join([orjson.dumps(record("a")), damage, orjson.dumps(record("b")), b'{"torn'])
    path.write_bytes(content)
    with pytest.raises(RupeeBiasError, match=r"outputs\.jsonl line 2 is not a record"):
        Journal(path)
    with pytest.raises(RupeeBiasError, match="line 2"):
        list(read_outputs(path))
    assert path.read_bytes() == content


def test_a_valid_reply_supersedes_errors_whatever_the_order(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    failed = record("a", None, error="HTTP 500")
    with Journal(path) as journal:
        journal.append(failed)
        assert (journal.done, journal.failed) == (set(), {("a", 0)})
        journal.append(record("a"))
        journal.append(failed)
        assert (journal.done, journal.failed) == ({("a", 0)}, set())
    latest = latest_valid(read_outputs(path))
    assert latest == {("a", 0): record("a")}


def test_the_last_of_several_errors_or_replies_counts() -> None:
    errors = [record("a", None, error="first"), record("a", None, error="second")]
    assert latest_valid(errors)["a", 0]["error"] == "second"
    replies = [record("a", "1"), record("a", "2")]
    assert latest_valid(replies)["a", 0]["output"] == "2"


def test_an_empty_answer_is_an_answer(tmp_path: Path) -> None:
    with Journal(tmp_path / "outputs.jsonl") as journal:
        journal.append(record("a", None))
        assert journal.done == {("a", 0)}


def test_repeats_are_kept_apart_and_default_to_the_first(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_bytes(b'{"prompt_id": "a", "output": "1"}\n')
    with Journal(path) as journal:
        journal.append(record("a", repeat=1))
        assert journal.done == {("a", 0), ("a", 1)}


def test_known_costs_add_up_and_unknown_ones_are_counted(tmp_path: Path) -> None:
    with Journal(tmp_path / "outputs.jsonl") as journal:
        journal.append(record("a", cost_usd=0.25))
        journal.append(record("b", cost_usd=0.5))
        journal.append(record("c", cost_usd=None))
        assert (journal.cost_usd, journal.unknown_costs) == (0.75, 1)


def test_half_a_surrogate_pair_in_an_answer_is_written(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    with Journal(path) as journal:
        journal.append(record("a", "5 lakh \ud83d"))
    assert lines(path)[0]["output"] == "5 lakh ?"


def test_a_full_disk_stops_the_run_and_the_next_session_repairs(tmp_path: Path) -> None:
    # A file size limit acts as a full disk: the write that crosses it is cut short.
    path = tmp_path / "outputs.jsonl"
    script = """
        import resource, sys
        from pathlib import Path
        from rupeebias.errors import RupeeBiasError
        from rupeebias.runs.journal import Journal
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        journal = Journal(Path(sys.argv[1]))
        for turn in range(2):
            try:
                for i in range(100):
                    key = f"{turn}-{i}"
                    journal.append({"prompt_id": key, "repeat": 0, "output": "x" * 50, "error": None})
            except RupeeBiasError as error:
                print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count(f"cannot write {path}") == 2
    assert path.stat().st_size == 1000
    with Journal(path) as journal:
        kept = len(journal.done)
        assert all(key.startswith("0-") for key, _ in journal.done)
        journal.append(record("new"))
    assert len(lines(path)) == kept + 1


def test_a_record_is_on_the_disk_within_a_fifth_of_a_second_and_many_share_one_flush(tmp_path: Path) -> None:
    flushes: list[float] = []
    path = tmp_path / "outputs.jsonl"

    def sync(fd: int) -> None:
        os.fsync(fd)
        flushes.append(time.monotonic())

    with Journal(path, sync=sync) as journal:
        for turn in range(4):
            for number in range(50):
                journal.append(record(f"{turn}-{number}"))
            written = time.monotonic()
            while not flushes or flushes[-1] < written:
                assert time.monotonic() - written < 0.2 + 0.5  # half a second for a busy machine
                time.sleep(0.002)
        assert len(flushes) <= 10  # for 200 records


def test_a_flush_that_fails_ends_the_run_with_the_reason(tmp_path: Path) -> None:
    failed = threading.Event()

    def sync(fd: int) -> None:
        failed.set()
        raise OSError(28, "No space left on device")

    journal = Journal(tmp_path / "outputs.jsonl", sync=sync)
    journal.append(record("a"))
    assert failed.wait(5)
    time.sleep(0.05)  # for the flushing thread to note it
    with pytest.raises(RupeeBiasError, match="No space left on device; all earlier replies are kept"):
        journal.append(record("b"))
    with pytest.raises(OSError, match="No space"):
        journal.close()


def test_closing_twice_is_fine_and_leaves_no_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    journal = Journal(tmp_path / "outputs.jsonl")
    journal.append(record("a"))
    journal.close()
    journal.close()
    assert threading.active_count() == before


# Which run it is


def test_a_run_is_resumed_with_what_it_has(tmp_path: Path) -> None:
    with open_run(tmp_path / "r", manifest()) as run:
        run.journal.append(record("a"))
    with open_run(tmp_path / "r", manifest()) as run:
        assert run.journal.done == {("a", 0)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "openai/y"}, "model: openai/x -> openai/y"),
        ({"settings": {"temperature": 0.5, "seed": 7}}, r"temperature: 0\.0 -> 0\.5"),
        ({"settings": {"temperature": 0.0}}, "seed: 7 -> unset"),
        ({"settings": {"temperature": 0.0, "seed": 7, "m": {"a": 1}}}, r"m\.a: unset -> 1"),
        ({"arm": "fairness"}, "arm: standard -> fairness"),
        ({"dataset_fingerprint": "f2"}, "dataset fingerprint: f1 -> f2"),
        ({"selection": Selection(axes=("caste",))}, "selection: everything -> --axis caste"),
    ],
)
def test_another_run_is_refused_with_the_difference(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with open_run(tmp_path / "r", manifest()):
        pass
    before = (tmp_path / "r" / "manifest.json").read_bytes()
    with (
        pytest.raises(UsageError, match=f"holds another run; {message}\n"),
        open_run(tmp_path / "r", manifest(**change)),
    ):
        pass
    assert (tmp_path / "r" / "manifest.json").read_bytes() == before
    assert manifest(**change).identity.directory_name != manifest().identity.directory_name


def test_five_differences_are_named_and_the_rest_is_counted(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"temperature": 0.0, "seed": 7, **{f"s{i}": i for i in range(8)}}
    with open_run(tmp_path / "r", manifest()):
        pass
    with (
        pytest.raises(UsageError, match=r"arm: .*; s3: unset -> 3 and 4 more\n"),
        open_run(tmp_path / "r", manifest(settings=settings, arm="fairness")),
    ):
        pass


def test_of_another_model_nothing_else_is_named(tmp_path: Path) -> None:
    with open_run(tmp_path / "r", manifest()):
        pass
    with (
        pytest.raises(UsageError, match=r"another run; model: openai/x -> b\n"),
        open_run(tmp_path / "r", manifest(model="b", settings={}, arm="fairness")),
    ):
        pass


def test_a_selection_that_means_other_prompts_than_before_is_not_resumed(tmp_path: Path) -> None:
    limited = manifest(selection=Selection(axes=("gender",), limit=1))
    begun = replace(limited, prompts=PromptSet.of(["a", "b"]), versions={"rupeebias": "0.9"})
    with open_run(tmp_path / "r", begun) as run:
        run.journal.append(record("a"))
    now = replace(limited, prompts=PromptSet.of(expected_prompt_ids(limited.identity.selection)))
    with (
        pytest.raises(UsageError, match=r"begun by rupeebias 0\.9, for which .*--limit 1.* other prompts"),
        open_run(tmp_path / "r", now),
    ):
        pass
    assert read_manifest(tmp_path / "r").prompt_ids() is None
    ((_, found),) = list_runs(tmp_path / "r")
    assert isinstance(found, Manifest)
    assert found.counts.done == 1


def test_the_prompts_of_a_run_are_known_if_its_selection_means_the_same() -> None:
    selection = Selection(axes=("gender",), limit=2)
    ids = expected_prompt_ids(selection)
    pinned = replace(manifest(selection=selection), prompts=PromptSet.of(reversed(ids)))
    assert pinned.prompts is not None
    assert pinned.prompts.count == 10
    assert pinned.prompt_ids() == ids
    assert manifest(selection=selection).prompt_ids() == ids  # a run of a version that did not note them


def test_the_hash_is_that_of_the_sorted_lines() -> None:
    assert PromptSet.of(["b", "a"]) == PromptSet(2, hashlib.sha256(b"a\nb").hexdigest())


def test_a_run_of_another_benchmark_keeps_its_design_and_gives_it_back(tmp_path: Path) -> None:
    rent = replace(DESIGN, name="rent", fingerprint="f2", axes=DESIGN.axes[:2], controls=None)
    part = Selection(axes=("caste",), limit=2, benchmark=rent)
    with open_run(tmp_path / "r", manifest(selection=part, dataset_fingerprint="f2")):
        pass
    found = read_manifest(tmp_path / "r")
    assert found.identity.design == rent
    assert found.prompt_ids() == expected_prompt_ids(part)
    assert orjson.loads((tmp_path / "r" / "manifest.json").read_bytes())["dataset"] == "rent"
    design = tmp_path / "r" / "design.json"
    other = orjson.dumps({**orjson.loads(design.read_bytes()), "fingerprint": "f3"})
    for content, message in ((b"{}", "design.json is damaged"), (other, r"that of design\.json another")):
        design.write_bytes(content)
        with pytest.raises(RupeeBiasError, match=message):
            read_manifest(tmp_path / "r")
    with open_run(tmp_path / "own", manifest(dataset_fingerprint=DESIGN.fingerprint)):
        pass
    assert not (tmp_path / "own" / "design.json").exists()
    assert read_manifest(tmp_path / "own").identity.design is DESIGN


def test_controls_may_be_added_but_not_taken_away(tmp_path: Path) -> None:
    def planned(selection: Selection) -> Manifest:
        ids = expected_prompt_ids(selection)
        return replace(
            manifest(selection=selection), prompts=PromptSet.of(ids), counts=Counts(len(ids), 0, 0)
        )

    alone = Selection(axes=("gender",), limit=2)
    beside = replace(alone, controls="with")
    with open_run(tmp_path / "r", planned(alone)):
        pass
    with open_run(tmp_path / "r", planned(beside)) as run:
        assert run.manifest.prompt_ids() == expected_prompt_ids(beside)
    assert planned(alone).identity.directory_name == planned(beside).identity.directory_name
    with (
        pytest.raises(UsageError, match=r"controls: with -> none \(may only be added\)"),
        open_run(tmp_path / "r", planned(alone)),
    ):
        pass


def test_the_time_goes_on() -> None:
    first = now()
    deadline = time.monotonic() + 5
    while now() == first and time.monotonic() < deadline:
        time.sleep(0.05)
    assert now() > first


def test_throughput_options_may_change(tmp_path: Path) -> None:
    with open_run(tmp_path / "r", replace(manifest(), options={"max_connections": 64})):
        pass
    with open_run(tmp_path / "r", replace(manifest(), options={"max_connections": 1})) as run:
        assert run.manifest.options == {"max_connections": 1}


def test_repeats_may_grow_but_not_shrink(tmp_path: Path) -> None:
    with open_run(tmp_path / "r", manifest(repeats=1)):
        pass
    with open_run(tmp_path / "r", manifest(repeats=3)) as run:
        assert run.manifest.repeats == 3
    with (
        pytest.raises(UsageError, match=r"repeats: 3 -> 2 \(may only grow\)"),
        open_run(tmp_path / "r", manifest(repeats=2)),
    ):
        pass


def test_a_run_in_use_is_refused(tmp_path: Path) -> None:
    with (
        open_run(tmp_path / "r", manifest()),
        pytest.raises(UsageError, match=f"in use by another process .id {os.getpid()}."),
        open_run(tmp_path / "r", manifest()),
    ):
        pass
    with open_run(tmp_path / "r", manifest()):
        pass


def test_fresh_moves_the_old_run_aside(tmp_path: Path) -> None:
    with open_run(tmp_path / "r", manifest()) as run:
        run.journal.append(record("a"))
    with open_run(tmp_path / "r", manifest(model="openai/y"), fresh=True) as run:
        assert run.journal.done == set()
        with pytest.raises(UsageError, match="in use"):
            move_aside(tmp_path / "r")
    (old,) = [folder for folder in tmp_path.iterdir() if folder.name != "r"]
    assert [line["prompt_id"] for line in lines(old / "outputs.jsonl")] == ["a"]
    assert read_manifest(old).identity.model == "openai/x"


def test_a_folder_that_is_not_a_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("x")
    for fresh in (False, True):
        with (
            pytest.raises(UsageError, match="not empty and not a run"),
            open_run(tmp_path, manifest(), fresh=fresh),
        ):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["photo.jpg"]


@pytest.mark.parametrize("content", ['{"manifest_version": 3}', '{"format": 1, "name": "x"}', "{", "[]"])
def test_a_manifest_of_something_else_is_not_moved_and_gets_no_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with (
        pytest.raises(UsageError, match=r"--fresh: .* has no manifest\.json of a run"),
        open_run(tmp_path, manifest(), fresh=True),
    ):
        pass
    with pytest.raises(RupeeBiasError), open_run(tmp_path, manifest()):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_fresh_begins_in_an_empty_folder(tmp_path: Path) -> None:
    with open_run(tmp_path, manifest(), fresh=True) as run:
        run.journal.append(record("a"))
    assert len(list(tmp_path.parent.glob(f"{tmp_path.name}*"))) == 1


def test_a_file_is_not_a_run_directory(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("x")
    with pytest.raises(UsageError, match="is a file"), open_run(tmp_path / "r", manifest()):
        pass


def test_outputs_without_a_manifest_are_not_adopted(tmp_path: Path) -> None:
    (tmp_path / "outputs.jsonl").write_bytes(orjson.dumps(record("a")) + b"\n")
    with (
        pytest.raises(RupeeBiasError, match=r"has outputs\.jsonl but no manifest\.json"),
        open_run(tmp_path, manifest()),
    ):
        pass


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not valid JSON"),
        (b"{}", "'format' is missing"),
        (b'{"format": 99}', "format 99, expected 1"),
        (b"[]", "damaged"),
    ],
)
def test_a_damaged_manifest_is_named_and_kept(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(RupeeBiasError, match=message), open_run(tmp_path, manifest()):
        pass
    assert (tmp_path / "manifest.json").read_bytes() == content


def test_a_run_whose_replies_are_gone_is_not_bought_again_in_silence(tmp_path: Path) -> None:
    write_manifest(tmp_path, replace(manifest(), counts=Counts(10, 7, 0)))
    with (
        pytest.raises(
            RupeeBiasError, match=r"has no outputs\.jsonl, though its manifest\.json counts 7 replies"
        ),
        open_run(tmp_path, manifest()),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir() if path.name != ".lock"] == ["manifest.json"]


def test_a_manifest_survives_its_file(tmp_path: Path) -> None:
    full = replace(
        manifest(repeats=2, selection=Selection(axes=("caste",), limit=4)),
        counts=Counts(10, 7, 1),
        elapsed_s=1.5,
        cost_usd=0.25,
        unknown_costs=3,
        response_models={"x-01": 7},
        versions={"python": "3.11"},
        options={"max_connections": 4},
        prompts=PromptSet(10, "0" * 64),
        fresh=True,
    )
    write_manifest(tmp_path, full)
    assert read_manifest(tmp_path) == full
    data = orjson.loads((tmp_path / "manifest.json").read_bytes())
    assert data["counts"] == {"requests": 10, "done": 7, "failed": 1, "left": 2}
    assert data["provider"] == "openai"
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/GPT-5.4", "openai-gpt-5.4"),
        ("../../etc/passwd", "etc-passwd"),
        ("local//home/me/x.gguf", "local-home-me-x.gguf"),
        (".hidden", "hidden"),
        ("..", "model"),
        ("मॉडल", "model"),
        ("a" * 500, "a" * 80),
    ],
)
def test_directory_names_are_safe(model: str, name: str) -> None:
    assert file_name(model) == name


def test_runs_are_listed_with_the_counts_on_the_disk(tmp_path: Path) -> None:
    # The manifest of a killed process still says 0 done.
    first_id, second_id, third_id = expected_prompt_ids(Selection())[:3]
    with open_run(tmp_path / "b", manifest()) as run:
        run.journal.append(record(first_id))
        run.journal.append(record(second_id, None, error="HTTP 500"))
        # Neither of these is of the run.
        run.journal.append(record("no prompt of the benchmark"))
        run.journal.append(record(third_id, repeat=1))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "manifest.json").write_text("{")
    (tmp_path / "no run").mkdir()
    (first, damaged), (second, found) = list_runs(tmp_path)
    assert (first.name, second.name) == ("a", "b")
    assert isinstance(damaged, RupeeBiasError)
    assert isinstance(found, Manifest)
    assert (found.counts.done, found.counts.failed, found.counts.left) == (1, 1, 8)
