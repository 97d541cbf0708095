"""The leaderboard as it is built: pure, cached, and never broken or fooled by a submission."""

import csv
import io
import os
import re
import shutil
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from leaderboard_samples import HOSTILE, write_submission

from rupeebias.cli.app import main
from rupeebias.cli.hub import _tell_refused
from rupeebias.errors import RupeeBiasError, UsageError
from rupeebias.hub.board import Board, Failure, Job, _do, build_leaderboard
from rupeebias.hub.submission import FOLDER, MANIFEST
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.published import PUBLISHED
from rupeebias.runs.selection import Selection

HOSTILE_MODEL = "acme/hostile"
WITH_PAGE = ("hostile", "full", "newer", "older")
NAMES: dict[str, str] = {}
"""Folders of the submissions by what the tests call them."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One ranked submission, two of one model, one with hostile texts, five to be refused."""
    folder = tmp_path_factory.mktemp("results")

    def put(alias: str, **declared: Any) -> None:
        NAMES[alias] = write_submission(folder, **declared).name

    put("full", selection=Selection.parse(), model="acme/full")
    put("newer", model="acme/two", updated_at="2026-11-01T02:00:00Z", effect=0.21)
    put("older", model="acme/two")
    settings = {"temperature": 0, HOSTILE: [HOSTILE]}
    put("hostile", model=HOSTILE_MODEL, settings=settings, wording=lambda _: f"{HOSTILE} 7 %")
    put("mute", model="acme/mute", wording=lambda _: "I cannot say.")
    put("script", model="<script>window.owned = 2</script>")
    put("turned", model="acme/\u202eevil")
    put("climber", model="../../climber")
    NAMES["bold"] = "<b>Bold"
    (folder / FOLDER / NAMES["bold"]).mkdir()
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def board(results: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Board:
    return build_leaderboard(results, tmp_path_factory.mktemp("board") / "site", cache=cache)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder by its relative name."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def submissions(site: Path) -> dict[str, dict[str, Any]]:
    data = orjson.loads((site / "leaderboard.json").read_bytes())
    aliases = {name: alias for alias, name in NAMES.items()}
    return {aliases[one["name"]]: one for one in data["submissions"]}


class Reader(HTMLParser):
    """Collects elements and texts, as a browser without scripts sees them."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_every_submission_is_somewhere(board: Board) -> None:
    assert (board.n_ranked, board.n_unranked, board.n_superseded, board.n_refused) == (1, 2, 1, 5)
    found = submissions(board.folder)
    assert {name: one["status"] for name, one in found.items()} == {
        "full": "ranked",
        "newer": "unranked",
        "hostile": "unranked",
        "older": "superseded",
        "mute": "refused",
        "script": "refused",
        "turned": "refused",
        "climber": "refused",
        "bold": "refused",
    }
    assert found["older"]["superseded_by"] == NAMES["newer"]
    assert (found["full"]["best_rank"], found["full"]["worst_rank"]) == (1, 1)
    assert found["newer"]["reason"] == "partial, 810 of 39,150 prompts were asked"
    expected = {
        "index.html",
        "refused.html",
        "leaderboard.json",
        "leaderboard.csv",
        "README.md",
        "files.json",
    }
    assert set(contents(board.folder)) == expected | {f"models/{NAMES[name]}.html" for name in WITH_PAGE}


def test_refused_submissions_are_listed_with_their_reasons(board: Board) -> None:
    page = Reader(board.folder / "refused.html")
    for name in ("mute", "script", "turned", "climber", "bold"):
        assert NAMES[name] in page.text
        for reason in submissions(board.folder)[name]["refusals"]:
            assert reason in page.text
    assert "refused.html" in [attributes.get("href") for _, attributes in Reader(_index(board)).tags]
    assert "Refused submissions (5)" in Reader(_index(board)).text


def _index(board: Board) -> Path:
    return board.folder / "index.html"


def test_the_table_is_complete_and_sorted_without_scripts(board: Board) -> None:
    text = _index(board).read_text(encoding="utf-8")
    rows = re.findall(r"<tr[^>]*data-words.*?</tr>", text, re.DOTALL)
    models = [re.search(r'<bdi class="name">(.*?)</bdi>', row) for row in rows]
    names = [match[1] for match in models if match]
    assert names == ["acme/full", HOSTILE_MODEL, "acme/two"]
    assert all(model.model in text for model in PUBLISHED)
    assert '<form id="filters"' in text
    assert re.search(r'<form id="filters"[^>]* hidden>', text)  # of no use without scripts
    page = Reader(_index(board))
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a" and "href" in attributes]
    for link in filter(None, links):
        assert link.startswith("#") or (board.folder / link).is_file()
    assert {f"models/{NAMES[name]}.html" for name in WITH_PAGE} <= set(links)
    text = f"acme/two (2026-11-01, {NAMES['older']}), superseded by\n{NAMES['newer']}: a newer submission"
    assert text in page.text


@pytest.mark.parametrize("name", ["index.html", "refused.html", "models/{hostile}.html"])
def test_hostile_texts_stay_texts(board: Board, name: str) -> None:
    page = board.folder / name.format(**NAMES)
    tags = [tag for tag, _ in Reader(page).tags]
    text = page.read_text(encoding="utf-8")
    assert "<script>window.owned" not in text
    assert "<b>Bold" not in text
    assert "\u202e" not in text
    plain = [attributes for tag, attributes in Reader(page).tags if tag == "script" and not attributes]
    assert len(plain) == (0 if name == "refused.html" else 1)
    assert "iframe" not in tags
    assert not [a for _, a in Reader(page).tags if any(key.startswith("on") for key in a)]
    policies = [a["content"] for tag, a in Reader(page).tags if tag == "meta" and "http-equiv" in a]
    assert len(policies) == 1
    assert policies[0]
    assert policies[0].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policies[0]


def test_the_page_of_a_submission_has_settings_and_files(board: Board) -> None:
    page = Reader(board.folder / "models" / f"{NAMES['hostile']}.html")
    assert f"Setting: {HOSTILE}" in page.text
    assert f"Its files are in the folder submissions/{NAMES['hostile']} of the results" in page.text
    assert "no rank: partial, 810 of 39,150 prompts were asked" in page.text
    assert "../index.html" in [attributes.get("href") for _, attributes in page.tags]
    assert "explorer" in [attributes.get("id") for _, attributes in page.tags]


def test_the_files_of_a_submission_are_linked(results: Path, tmp_path: Path) -> None:
    (tmp_path / "results" / FOLDER).mkdir(parents=True)
    name = NAMES["newer"]
    shutil.copytree(results / FOLDER / name, tmp_path / "results" / FOLDER / name)
    address = "https://hub.example/tree/main/submissions/"
    build_leaderboard(tmp_path / "results", tmp_path / "out", cache=tmp_path / "c", files_url=address)
    page = Reader(tmp_path / "out" / "models" / f"{name}.html")
    assert f"{address}{name}" in [attributes.get("href") for _, attributes in page.tags]
    for wrong in ("javascript:alert(1)", "https://hub.example/?at=", "https://hub.example/#"):
        with pytest.raises(UsageError, match="no http or https address"):
            build_leaderboard(results, tmp_path / "out", cache=tmp_path / "c", files_url=wrong)


def test_csv_has_everything(board: Board) -> None:
    text = (board.folder / "leaderboard.csv").read_text(encoding="utf-8")
    rows = {row["name"] or row["model"]: row for row in csv.DictReader(io.StringIO(text))}
    found = submissions(board.folder)
    assert set(rows) == {one["name"] for one in found.values()} | {model.model for model in PUBLISHED}
    full = found["full"]
    assert float(rows[NAMES["full"]]["mean_delta_pct"]) == full["headlines"]["mean_delta_pct"]
    caste = next(row for row in full["tables"]["axis"] if (row["language"], row["axis"]) == ("en", "caste"))
    assert float(rows[NAMES["full"]]["caste_en_ci_low"]) == caste["ci_low"]
    assert rows[NAMES["newer"]]["caste_en_ci_low"] == ""
    assert orjson.loads(rows[NAMES["full"]]["settings"])["temperature"] == 0
    assert rows[NAMES["older"]]["superseded_by"] == NAMES["newer"]
    assert rows["Gemini 3 Flash"]["status"] == "published"
    assert len(rows[NAMES["full"]]["digest"]) == 64


def test_the_readme_is_the_card_of_a_static_space(board: Board) -> None:
    _, front, body = (board.folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    card = yaml.safe_load(front)
    assert card["sdk"] == "static"
    assert len(card["short_description"]) <= 60
    assert "lower is better" in body
    assert "models that cannot be told apart" in body


def test_the_same_submissions_give_the_same_bytes(board: Board, results: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for path in sorted((results / FOLDER).iterdir(), reverse=True):
        shutil.copytree(path, copy / FOLDER / path.name)
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
    out = tmp_path / "site"
    (tmp_path / "one" / FOLDER).mkdir(parents=True)
    shutil.copytree(results / FOLDER / NAMES["mute"], tmp_path / "one" / FOLDER / NAMES["mute"])
    build_leaderboard(tmp_path / "one", out, cache=tmp_path / "other-cache")  # an older board
    again = build_leaderboard(copy, out, cache=tmp_path / "cache", workers=1)
    assert again.n_recomputed == 9
    assert contents(out) == contents(board.folder)


def test_unchanged_submissions_are_not_recomputed(
    board: Board, results: Path, cache: Path, tmp_path: Path
) -> None:
    files = {path: path.stat().st_ino for path in cache.iterdir()}
    assert len(files) == 9
    again = build_leaderboard(results, tmp_path / "site", cache=cache)
    assert again.n_recomputed == 0
    assert {path: path.stat().st_ino for path in cache.iterdir()} == files  # a new entry is a new file
    assert contents(again.folder) == contents(board.folder)


def test_only_what_changed_is_recomputed(board: Board, results: Path, cache: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(results, copy)
    path = copy / FOLDER / NAMES["newer"] / MANIFEST
    path.write_bytes(path.read_bytes().replace(b"T02:00:00Z", b"T02:00:01Z"))
    again = build_leaderboard(copy, tmp_path / "site", cache=cache)
    assert again.n_recomputed == 1
    before, after = contents(board.folder), contents(again.folder)
    same = {name for name in before if before[name] == after[name]}
    assert {f"models/{NAMES['full']}.html", f"models/{NAMES['older']}.html", "refused.html"} <= same
    assert f"models/{NAMES['newer']}.html" not in same


def test_a_damaged_cache_is_recomputed(results: Path, tmp_path: Path) -> None:
    copies, own = tmp_path / "results", tmp_path / "cache"
    for name in ("flipped", "cut", "empty", "another", "whole"):
        shutil.copytree(results / FOLDER / NAMES["newer"], copies / FOLDER / name)
    build_leaderboard(copies, tmp_path / "a", cache=own)
    entries = {re.findall(rb'"name":"(\w+)"', path.read_bytes())[0]: path for path in own.iterdir()}
    flipped = bytearray(entries[b"flipped"].read_bytes())
    flipped[len(flipped) // 2] ^= 1
    entries[b"flipped"].write_bytes(flipped)
    entries[b"cut"].write_bytes(entries[b"cut"].read_bytes()[:1000])
    entries[b"empty"].write_bytes(b"")
    entries[b"another"].write_bytes(entries[b"whole"].read_bytes())
    again = build_leaderboard(copies, tmp_path / "b", cache=own)
    assert again.n_recomputed == 4
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_killed_build_leaves_the_old_board_and_the_work_done(results: Path, tmp_path: Path) -> None:
    out, cache = tmp_path / "site", tmp_path / "cache"
    (tmp_path / "none" / FOLDER).mkdir(parents=True)
    small = tmp_path / "results"
    shutil.copytree(results, small, ignore=lambda _, names: {NAMES["full"]} & set(names))
    build_leaderboard(tmp_path / "none", out, cache=cache)
    before = contents(out)
    words = ["leaderboard", str(small), "--out", str(out), "--cache", str(cache)]
    with subprocess.Popen([sys.executable, "-m", "rupeebias", *words], stderr=subprocess.PIPE) as process:
        assert process.stderr
        assert process.stderr.readline().startswith(b"recomputed 1 of 8")
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert contents(out) == before
    again = build_leaderboard(small, out, cache=cache)
    assert again.n_recomputed <= 7
    assert (again.n_unranked, again.n_refused) == (2, 5)


def test_refused_submissions_are_told_with_a_reason(
    results: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["leaderboard", str(results), "--out", str(tmp_path / "site"), "--cache", str(cache)]
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("refused ")]
    assert len(told) == 5
    assert any(line.startswith(f"refused {NAMES['mute']}: none of its answers has a value") for line in told)
    assert all(len(line) <= len("refused : ") + 300 and line.isprintable() for line in told)


def test_what_is_told_of_refusals_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    _tell_refused([("a\x1b" * 500, "why\n" * 500)] * 25)
    *told, last = capsys.readouterr().out.splitlines()
    assert len(told) == 20
    assert all(len(line) == len("refused : ") + 300 and line.isprintable() for line in told)
    assert last == "5 more are refused: see refused.html"


def test_an_empty_board_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results" / FOLDER).mkdir(parents=True)
    words = ["leaderboard", str(tmp_path / "results"), "--out", str(tmp_path / "site")]
    with pytest.raises(SystemExit) as stop:
        main([*words, "--cache", str(tmp_path / "cache")])
    assert stop.value.code == 0
    assert "0 ranked, 0 without a rank, 0 superseded, 0 refused; 0 recomputed" in capsys.readouterr().out
    text = Reader(tmp_path / "site" / "index.html").text
    assert "No submission stands on this board yet" in text
    assert "Sarvam 105B" in text
    assert "None is refused" in Reader(tmp_path / "site" / "refused.html").text


@pytest.mark.parametrize("case", ["no submissions", "foreign", "inside", "file"])
def test_wrong_folders_change_nothing(
    case: str, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = results, tmp_path / "out"
    if case == "no submissions":
        source = tmp_path
    elif case == "foreign":
        out.mkdir()
        (out / "thesis.txt").write_text("mine", encoding="utf-8")
    elif case == "inside":
        out = results / FOLDER / "site"
    else:
        out.write_text("mine", encoding="utf-8")
    before = contents(tmp_path), contents(results)
    with pytest.raises(SystemExit) as stop:
        main(["leaderboard", str(source), "--out", str(out), "--cache", str(tmp_path / "cache")])
    assert stop.value.code in (1, 2)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert len(said.err.splitlines()) == 1
    assert (contents(tmp_path), contents(results)) == before


def test_a_cache_that_cannot_be_written_blames_no_submission(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("mine", encoding="utf-8")
    part = tmp_path / "results"
    shutil.copytree(results / FOLDER / NAMES["newer"], part / FOLDER / NAMES["newer"])
    with pytest.raises(SystemExit) as stop:
        main(["leaderboard", str(part), "--out", str(tmp_path / "site"), "--cache", str(blocked / "cache")])
    assert stop.value.code == 1
    assert str(blocked) in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_a_submission_that_takes_for_ever_ends_alone(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = tmp_path / "results"
    shutil.copytree(results / FOLDER / NAMES["newer"], part / FOLDER / NAMES["newer"])
    monkeypatch.setattr("rupeebias.hub.board.TIME_LIMIT_S", 0.05)
    monkeypatch.setattr("rupeebias.hub.board.START_LIMIT_S", 60.0)
    board = build_leaderboard(part, tmp_path / "site", cache=tmp_path / "cache")
    assert board.refused == (
        (NAMES["newer"], "its check was ended: too much memory or time, or malformed files"),
    )


def test_a_python_that_does_not_start_blames_no_submission(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONMALLOC", "nonsense")  # Python refuses to start
    with pytest.raises(RupeeBiasError, match="end at once: Python does not start"):
        build_leaderboard(results, tmp_path / "site", cache=tmp_path / "cache")
    assert not (tmp_path / "site").exists()


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results" / FOLDER).mkdir(parents=True)
    try:
        os.mkdir(os.fsencode(tmp_path / "results" / FOLDER) + b"/caf\xe9")  # noqa: PTH102
    except OSError:
        pytest.skip("this file system takes no such name")
    board = build_leaderboard(tmp_path / "results", tmp_path / "site", cache=tmp_path / "cache")
    assert board.n_refused == 1
    assert "caf\\xe9" in Reader(tmp_path / "site" / "refused.html").text


def test_outputs_that_changed_meanwhile_are_noticed(results: Path, tmp_path: Path) -> None:
    folder, target = results / FOLDER / NAMES["newer"], tmp_path / "entry"
    found = _do(Job(folder, "d" * 64, None, target, DESIGN))
    assert found == Failure(f"{folder} changed while it was read", is_ours=True)
    assert not target.exists()
