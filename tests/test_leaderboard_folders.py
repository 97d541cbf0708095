"""The leaderboard's folders: nothing of others is lost, nothing half-done stays, nothing false is kept."""

import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from leaderboard_samples import answer_unless, write_submission

from rupeebias.errors import DatasetFolderError, RupeeBiasError, UsageError
from rupeebias.files import replaced_folder
from rupeebias.hub.board import Board, build_leaderboard
from rupeebias.hub.submission import FOLDER


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One submission, a third of whose answers can be read."""
    folder = tmp_path_factory.mktemp("results")
    write_submission(folder, wording=answer_unless(lambda place: place % 3))
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def build(results: Path, out: Path, cache: Path) -> Board:
    return build_leaderboard(results, out, cache=cache, workers=1)


def test_a_page_tells_how_little_was_read_and_every_warning(
    results: Path, cache: Path, tmp_path: Path
) -> None:
    build(results, tmp_path / "site", cache)
    one = orjson.loads((tmp_path / "site" / "leaderboard.json").read_bytes())["submissions"][0]
    assert one["headlines"]["parse_health_pct"] == pytest.approx(100 / 3)
    assert one["parity_score"] is None
    page = (tmp_path / "site" / one["page"]).read_text(encoding="utf-8")
    assert "No parity score: it needs a systematic gap, and 95&nbsp;% of the answers" in page
    known = page.partition("<h3>To be known</h3>")[2].partition("</ul>")[0]
    assert one["warnings"]
    assert known.count("<li") == len(one["notes"]) + len(one["warnings"])
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Answers that could not be read" in index
    assert "the submitter’s word" in index


def test_a_refusal_that_depends_on_the_clock_is_not_cached(tmp_path: Path) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=24, minutes=5)
    write_submission(tmp_path / "results", updated_at=f"{ahead:%Y-%m-%dT%H:%M:%SZ}")
    for _ in range(2):
        board = build(tmp_path / "results", tmp_path / "site", tmp_path / "cache")
        assert (board.n_refused, board.n_recomputed) == (1, 1)
    assert "in the future" in (tmp_path / "site" / "refused.html").read_text(encoding="utf-8")
    assert not list((tmp_path / "cache").glob("*.entry"))


def test_an_entry_in_the_place_of_another_is_recomputed(results: Path, tmp_path: Path) -> None:
    own = tmp_path / "cache"
    copy = tmp_path / "copy"
    name = next((results / FOLDER).iterdir()).name
    write_submission(copy, name=name, effect=0.0)  # other answers by the same name
    build(copy, tmp_path / "a", own)
    first = next(own.glob("*.entry"))
    build(results, tmp_path / "b", own)
    second = next(path for path in own.glob("*.entry") if path != first)
    second.write_bytes(first.read_bytes())
    assert build(results, tmp_path / "b", own).n_recomputed == 1


@pytest.mark.parametrize(
    "case", ["beside", "in models", "changed", "folder", "no list", "false list", "link"]
)
def test_a_site_with_anything_of_others_is_left_alone(
    results: Path, cache: Path, tmp_path: Path, case: str
) -> None:
    out = tmp_path / "site"
    build(results, out, cache)
    build(results, out, cache)  # its own site is replaced
    if case == "beside":
        (out / "thesis.txt").write_text("mine", encoding="utf-8")
    elif case == "in models":
        (out / "models" / "notes.html").write_text("mine", encoding="utf-8")
    elif case == "changed":
        (out / "index.html").write_text("mine", encoding="utf-8")
    elif case == "folder":
        (out / "models" / "drafts").mkdir()
    elif case == "no list":
        (out / "files.json").unlink()
    elif case == "link":
        (out / "linked").symlink_to(tmp_path)
    else:
        (out / "files.json").write_text("[]", encoding="utf-8")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(RupeeBiasError, match="holds files that this command did not write"):
        build(results, out, cache)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_folders_inside_each_other_are_refused(results: Path, tmp_path: Path) -> None:
    for out, cache, words in (
        (tmp_path / "site", tmp_path / "site" / "cache", "--cache .* lies in --out"),
        (tmp_path / "site", results / "cache", "--cache .* lies in RESULTS_DIR"),
        (results.parent, tmp_path / "cache", "--out .* holds the results"),
    ):
        with pytest.raises(UsageError, match=words):
            build(results, out, cache)
    assert not list(tmp_path.iterdir())


def test_all_missing_files_are_listed(tmp_path: Path) -> None:
    (tmp_path / "results" / FOLDER / "empty").mkdir(parents=True)
    build(tmp_path / "results", tmp_path / "site", tmp_path / "cache")
    one = orjson.loads((tmp_path / "site" / "leaderboard.json").read_bytes())["submissions"][0]
    missing = {reason for reason in one["refusals"] if reason.endswith("is missing")}
    assert missing == {f"{name} is missing" for name in ("manifest.json", "outputs.jsonl.gz")}


def dead_process() -> int:
    """Return the id of a process that is gone."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / f".site-{dead_process()}-abcd_123"
    at_work = tmp_path / f".site-{os.getpid()}-abcd_123"
    other = tmp_path / f".site2-{dead_process()}-abcd_123"
    for folder in (left, at_work, other):
        (folder / "new").mkdir(parents=True)
    with replaced_folder(tmp_path / "site", lambda _: []) as new:
        (new / "a").write_text("new", encoding="utf-8")
        form = re.compile(rf"\.site-{os.getpid()}-\w{{8}}")
        assert form.fullmatch(new.parent.name)
    assert {path.name for path in tmp_path.iterdir()} == {"site", at_work.name, other.name}


def test_a_folder_is_put_back_that_a_killed_process_had_moved_away(tmp_path: Path) -> None:
    old = tmp_path / f".site-{dead_process()}-abcd_123" / "old"
    old.mkdir(parents=True)
    (old / "mine").write_text("mine", encoding="utf-8")
    error = pytest.raises(DatasetFolderError, match="did not write")
    with error, replaced_folder(tmp_path / "site", lambda _: ["mine"]):
        pass
    assert [path.name for path in tmp_path.rglob("*")] == ["site", "mine"]


def test_a_build_that_the_system_ends_leaves_nothing(results: Path, tmp_path: Path) -> None:
    many = tmp_path / "results"
    for at in range(4):
        write_submission(many, model=f"acme/{at}")
    out, cache = tmp_path / "site", tmp_path / "cache"
    words = ["leaderboard", str(many), "--out", str(out), "--cache", str(cache)]
    with subprocess.Popen([sys.executable, "-m", "rupeebias", *words], stderr=subprocess.PIPE) as process:
        assert process.stderr
        assert process.stderr.readline().startswith(b"recomputed 1 of 4")
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
    assert process.returncode == 143
    assert b"Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} <= {"results", "cache"}


def test_a_fault_elsewhere_is_not_laid_on_the_folder(tmp_path: Path) -> None:
    missing = tmp_path / "read me"
    error = pytest.raises(DatasetFolderError, match=re.escape(f"{missing}: No such file or directory; "))
    with error, replaced_folder(tmp_path / "site", lambda _: []):
        missing.read_bytes()
    assert not list(tmp_path.iterdir())
