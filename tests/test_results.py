"""`rupeebias results`: the results dataset is made, pull requests on it are judged, the board is rebuilt."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest
import yaml
from hub_server import HubServer
from leaderboard_samples import write_submission
from preloaded import Preloaded
from test_leaderboard_attacks import honest

from rupeebias.hub.results import results_card
from rupeebias.runs.selection import Selection

ORG = "rupee-org"
RESULTS = f"{ORG}/rupeebias-results"
Command = Callable[..., tuple[int, str]]


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        yield server


@pytest.fixture
def run(scoring_loaded: Preloaded, hub: HubServer, tmp_path: Path) -> Command:
    def command(*words: str, token: str | None = "hf_good") -> tuple[int, str]:  # noqa: S107
        env = hub.environment(tmp_path / "home", token) | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        status, out, err = scoring_loaded.run(*words, folder=tmp_path, env=env)
        assert "Traceback" not in err
        return status, out + err

    return command


def opened(hub: HubServer, folder: Path, title: str | None = None) -> int:
    """Open a pull request that brings a submission; return its number."""
    repo = hub.repo("dataset", RESULTS)
    pull = repo.open_discussion(title or f"Submission {folder.name}", "", "ravi", pull=True)
    repo.put(
        {f"submissions/{folder.name}/{path.name}": path.read_bytes() for path in folder.iterdir()},
        ref=f"refs/pr/{pull.num}",
    )
    pull.status = "open"
    return pull.num


def test_init_makes_a_dataset_that_loads_as_one_table_and_can_be_repeated(
    hub: HubServer, run: Command, tmp_path: Path
) -> None:
    status, said = run("results", "init", "--org", ORG)
    assert status == 0, said
    repo = hub.repo("dataset", RESULTS)
    assert {"README.md", "results.json"} <= set(repo.files())
    before = len(hub.writes)
    folder = write_submission(tmp_path / "r")
    repo.put({f"submissions/{folder.name}/{path.name}": path.read_bytes() for path in folder.iterdir()})
    status, said = run("results", "init", "--org", ORG)
    assert (status, "nothing had changed" in said) == (0, True)
    assert len(hub.writes) == before
    assert f"submissions/{folder.name}/manifest.json" in repo.files()


def test_the_card_gives_one_table_of_all_answers(tmp_path: Path) -> None:
    """C10: files of different models, one of which never failed, load together."""
    from datasets import Features, Value, load_dataset

    write_submission(tmp_path / "r", model="acme/one")
    write_submission(tmp_path / "r", model="acme/two", wording=lambda x: None if ":P01:" in x else "### 5 %")
    (tmp_path / "r" / "README.md").write_text(results_card(ORG), encoding="utf-8")
    table = load_dataset(str(tmp_path / "r"), split="submissions", cache_dir=str(tmp_path / "cache"))
    assert set(table["model"]) == {"acme/one", "acme/two"}
    assert len(table) == 2 * 810
    text = Value("string")
    assert table.features == Features(
        model=text,
        prompt_id=text,
        repeat=Value("int64"),
        output=text,
        finish_reason=text,
        error=Value("bool"),
    )
    card = yaml.safe_load(results_card(ORG).split("---\n")[1])
    assert card["configs"][0]["data_files"][0]["path"] == "submissions/*/outputs.jsonl.gz"


def test_a_pull_request_is_judged_and_told_so(hub: HubServer, run: Command, tmp_path: Path) -> None:
    run("results", "init", "--org", ORG)
    repo = hub.repo("dataset", RESULTS)
    whole = Selection.parse()
    first = write_submission(tmp_path / "r", selection=whole, model="acme/one", wording=honest)
    number = opened(hub, first)
    status, said = run("results", "check", "--org", ORG, "--pr", str(number), "--comment")
    assert status == 0, said
    assert "this may be merged" in said
    assert "(ranked): Rank 1; Systematic gap" in said
    [(author, comment)] = repo.discussions[number].comments
    assert author == "asha"
    assert comment.strip() in said
    repo.merge(number, "owner")

    # the same model and settings, other answers: merging it would make a conflict
    forged = write_submission(
        tmp_path / "r",
        selection=whole,
        model="acme/one",
        wording=lambda x: honest(x, salt="f", factor=0.7 if ":female:" in x else 1.0),
    )
    status, said = run("results", "check", "--org", ORG, "--pr", str(opened(hub, forged)))
    assert status == 0
    assert (
        f"no rank: conflict: {first.name} has other answers of the same model and settings"
        in said.replace("\\", "")
    )
    assert f"merging it takes the rank of {first.name}" in said.replace("\\", "")

    # the answers of the first under another name
    copied = write_submission(
        tmp_path / "r", selection=whole, model="evil/best", provider="evil", wording=honest
    )
    status, said = run("results", "check", "--org", ORG, "--pr", str(opened(hub, copied)))
    assert f"100.0 % of its answers are those of acme/one ({first.name})" in said.replace("\\", "")

    # the board names who brought it, and the commit
    status, said = run("leaderboard", "--org", ORG, "--out", str(tmp_path / "site"))
    assert status == 0, said
    assert "1 ranked" in said
    data = orjson.loads((tmp_path / "site" / "leaderboard.json").read_bytes())
    assert [one["submitter"] for one in data["submissions"]] == ["ravi"]
    assert data["results_commit"] == repo.head.sha
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "by ravi" in page
    assert f"Results dataset at commit {repo.head.sha}" in page


def test_what_must_not_be_merged(hub: HubServer, run: Command, tmp_path: Path) -> None:
    run("results", "init", "--org", ORG)
    repo = hub.repo("dataset", RESULTS)
    kept = write_submission(tmp_path / "r", model="acme/kept")
    repo.put({f"submissions/{kept.name}/{path.name}": path.read_bytes() for path in kept.iterdir()})
    bad = write_submission(tmp_path / "r", model="acme/bad")
    (bad / "manifest.json").write_text("{}")
    pull = opened(hub, bad)
    files = dict(repo.at(f"refs/pr/{pull}").files)
    for path in [path for path in files if path.startswith(f"submissions/{kept.name}/")]:
        del files[path]
    repo.add_commit(f"refs/pr/{pull}", files, "deletes", "ravi")
    repo.put({"README.md": b"mine", "decisions.json": b"{}"}, ref=f"refs/pr/{pull}")
    status, said = run("results", "check", "--org", ORG, "--pr", str(pull))
    plain = said.replace("\\", "")
    assert status == 1
    assert "this must not be merged" in plain
    assert "**refused**: it changes files beside the submissions: README.md, decisions.json" in plain
    assert f"**refused**: it deletes the submission {kept.name}" in plain
    assert f"**refused**: {bad.name}: manifest.json" in plain
    assert hub.repo("dataset", RESULTS).discussions[pull].comments == []


def test_the_words_of_the_command(run: Command, tmp_path: Path) -> None:
    for words in ((), ("--org", ORG), ("--pr", "3"), ("x", "--org", ORG, "--pr", "3")):
        status, said = run("results", "check", *words)
        assert (status, "give a FOLDER, or --org ORG with --pr N" in said) == (2, True)
    status, said = run("results", "check", "--org", ORG, "--pr", "3")
    assert (status, "read pull request 3 of dataset" in said) == (1, True)
    folder = write_submission(tmp_path / "r")
    assert run("results", "check", str(folder)) == run("validate-submission", str(folder))
    shutil.rmtree(folder)
