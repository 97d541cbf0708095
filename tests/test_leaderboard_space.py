"""The leaderboard from and to the Hub, through the real client and a stand-in of the Hub."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hub_server import HubServer
from hub_store import Blob, Repo
from leaderboard_samples import write_submission
from preloaded import Preloaded

from rupeebias.hub.submission import FOLDER

ORG = "rupee-org"
SPACE = f"{ORG}/rupeebias-leaderboard"
TOKEN = "hf_good"


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        yield server


def commit(repo: Repo, changes: dict[str, bytes | None]) -> None:
    """Change files of a repository as other people do; None deletes one."""
    files = dict(repo.head.files)
    for path, data in changes.items():
        files.pop(path, None)
        if data is not None:
            files[path] = Blob(data)
    repo.add_commit("main", files, "by somebody", "asha")


Command = Callable[..., tuple[int, str]]


@pytest.fixture
def run(scoring_loaded: Preloaded, hub: HubServer, tmp_path: Path) -> Command:
    """Run the command in a process of its own; return exit status and everything that it printed."""

    def leaderboard(*words: str, token: str | None = TOKEN) -> tuple[int, str]:
        folders = ("--out", str(tmp_path / "site"), "--cache", str(tmp_path / "cache"))
        env = hub.environment(tmp_path / "home", token)
        status, out, err = scoring_loaded.run("leaderboard", *folders, *words, folder=tmp_path, env=env)
        printed = out + err
        assert TOKEN not in printed
        assert "Traceback" not in printed
        return status, printed

    return leaderboard


def put_results(hub: HubServer, folder: Path) -> tuple[Repo, dict[str, bytes | None], list[str]]:
    """Put two submissions on the Hub; return the repository, its files and the submissions' folders."""
    names = [write_submission(folder, model=f"acme/{name}").name for name in ("one", "two")]
    results = hub.create("dataset", f"{ORG}/rupeebias-results")
    files: dict[str, bytes | None] = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    commit(results, files)
    return results, files, names


def test_results_come_from_the_hub_and_the_board_goes_there(
    hub: HubServer, run: Command, tmp_path: Path
) -> None:
    results, files, (one, two) = put_results(hub, tmp_path / "source")
    status, said = run("--org", ORG, "--upload")
    assert status == 0, said
    assert "0 ranked, 2 without a rank, 0 superseded, 0 refused; 2 recomputed" in said
    space = hub.repo("space", SPACE)
    assert {"index.html", "README.md", f"models/{one}.html", f"models/{two}.html"} <= set(space.files())
    link = f"https://huggingface.co/datasets/{ORG}/rupeebias-results/tree/main/{FOLDER}/{one}"
    assert link.encode() in space.files()[f"models/{one}.html"]
    assert len([x for x in hub.writes if "/commit/" in x.path]) == 1

    before = len(hub.writes)
    status, said = run("--org", ORG, "--upload")
    assert status == 0, said
    assert "0 recomputed" in said
    assert "nothing had changed" in said
    assert len(hub.writes) == before

    commit(results, {path: None for path in files if path.startswith(f"{FOLDER}/{two}/")})
    status, said = run("--org", ORG, "--upload")
    assert status == 0, said
    assert f"models/{two}.html" not in space.files()
    assert f"space {SPACE}: deletes models/{two}.html" in said
    assert len([x for x in hub.writes if "/commit/" in x.path]) == 2


@pytest.mark.parametrize(
    ("token", "org", "words"),
    [
        (None, ORG, "no token"),
        ("hf_wrong", ORG, "does not accept the token"),
        ("hf_other", ORG, "may only read"),
        ("hf_good", "strangers", "is not a member of strangers"),
        ("hf_good", "../x", "is not the name of a user or organisation"),
    ],
)
def test_without_rights_nothing_is_built_or_sent(
    hub: HubServer, run: Command, tmp_path: Path, token: str | None, org: str, words: str
) -> None:
    status, said = run("--org", org, "--upload", token=token)
    assert status in (1, 2)
    assert words in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "site").exists()
    assert hub.writes == []


def test_files_of_others_in_the_space_are_left_alone(hub: HubServer, run: Command, tmp_path: Path) -> None:
    results, files, (one, two) = put_results(hub, tmp_path / "source")
    space = hub.create("space", SPACE)  # with the Hub's own files, which nobody misses
    status, said = run("--org", ORG, "--upload")
    assert status == 0, said
    assert "left alone" not in said

    # a page of ours that somebody changed is ours; one that stands where a new page is to go is not
    others: dict[str, bytes | None] = {"app.py": b"print()", "models/notes.txt": b"mine", "logo.txt": b"mine"}
    commit(space, others | {"index.html": b"changed"})
    commit(results, {path: None for path in files if path.startswith(f"{FOLDER}/{two}/")})
    status, said = run("--org", ORG, "--upload")
    assert status == 0, said
    assert f"space {SPACE}: left alone, not of a board: app.py, logo.txt, models/notes.txt" in said
    assert space.files()["index.html"] == (tmp_path / "site" / "index.html").read_bytes()
    assert {"app.py", "models/notes.txt", "logo.txt", f"models/{one}.html"} <= set(space.files())
    assert f"models/{two}.html" not in space.files()

    commit(space, {f"models/{two}.html": b"mine"})
    commit(results, files)
    before = len(hub.writes)
    status, said = run("--org", ORG, "--upload")
    assert status == 1
    assert f"in the place of its own (models/{two}.html)" in said
    assert space.files()[f"models/{two}.html"] == b"mine"
    assert len(hub.writes) == before


def test_a_space_that_is_something_else_is_left_alone(hub: HubServer, run: Command, tmp_path: Path) -> None:
    put_results(hub, tmp_path / "source")
    commit(hub.create("space", SPACE), {"app.py": b"print()"})
    status, said = run("--org", ORG, "--upload")
    assert status == 1
    assert "holds files that this command did not write (app.py, but no files.json); nothing was sent" in said
    assert hub.writes == []


def test_only_the_results_of_the_hub_are_uploaded(hub: HubServer, run: Command, tmp_path: Path) -> None:
    (tmp_path / "results" / FOLDER).mkdir(parents=True)
    status, said = run(str(tmp_path / "results"), "--org", ORG, "--upload")
    assert status == 2
    assert "leave out RESULTS_DIR" in said
    assert hub.writes == []


def test_results_that_do_not_exist(hub: HubServer, run: Command, tmp_path: Path) -> None:
    status, said = run("--org", ORG)
    assert status == 1
    assert f"read dataset {ORG}/rupeebias-results" in said
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("words", [(), ("results", "--upload")])
def test_the_hub_needs_an_organisation(
    hub: HubServer, run: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    status, said = run(*words)
    assert status == 2
    assert "--org ORG" in said
