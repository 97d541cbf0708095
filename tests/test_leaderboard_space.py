"""The leaderboard from and to the Hub, through the real client and a stand-in of the Hub."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import HubServer
from hub_store import Blob, Repo
from leaderboard_samples import write_submission

from rupeebias.hub.submission.records import FOLDER

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


def run(hub: HubServer, folder: Path, *words: str, token: str | None = TOKEN) -> tuple[int, str]:
    """Return exit status and everything that the command printed."""
    command = [sys.executable, "-m", "rupeebias", "leaderboard", "--out", str(folder / "site"), *words]
    done = subprocess.run(
        [*command, "--cache", str(folder / "cache")],
        env=hub.environment(folder / "home", token),
        capture_output=True,
        text=True,
        timeout=120,
    )
    printed = done.stdout + done.stderr
    assert TOKEN not in printed
    assert "Traceback" not in printed
    return done.returncode, printed


def test_results_come_from_the_hub_and_the_board_goes_there(hub: HubServer, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("one", "two"):
        write_submission(source, name, model=f"acme/{name}")
    results = hub.create("dataset", f"{ORG}/rupeebias-results")
    files: dict[str, bytes | None] = {
        path.relative_to(source).as_posix(): path.read_bytes() for path in source.rglob("*") if path.is_file()
    }
    commit(results, files)

    status, said = run(hub, tmp_path, "--org", ORG, "--upload")
    assert status == 0, said
    assert "0 ranked, 2 without a rank, 0 superseded, 0 refused; 2 recomputed" in said
    space = hub.repo("space", SPACE)
    assert {"index.html", "README.md", "models/one.html", "models/two.html"} <= set(space.files())
    link = f"https://huggingface.co/datasets/{ORG}/rupeebias-results/tree/main/{FOLDER}/one"
    assert link.encode() in space.files()["models/one.html"]
    assert len([x for x in hub.writes if "/commit/" in x.path]) == 1

    before = len(hub.writes)
    status, said = run(hub, tmp_path, "--org", ORG, "--upload")
    assert status == 0, said
    assert "0 recomputed" in said
    assert "nothing had changed" in said
    assert len(hub.writes) == before

    commit(results, {path: None for path in files if path.startswith(f"{FOLDER}/two/")})
    status, said = run(hub, tmp_path, "--org", ORG, "--upload")
    assert status == 0, said
    assert "models/two.html" not in space.files()
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
    hub: HubServer, tmp_path: Path, token: str | None, org: str, words: str
) -> None:
    (tmp_path / "results" / FOLDER).mkdir(parents=True)
    status, said = run(hub, tmp_path, str(tmp_path / "results"), "--org", org, "--upload", token=token)
    assert status in (1, 2)
    assert words in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "site").exists()
    assert hub.writes == []


def test_a_space_that_is_something_else_is_left_alone(hub: HubServer, tmp_path: Path) -> None:
    commit(hub.create("space", SPACE), {"app.py": b"print()"})
    (tmp_path / "results" / FOLDER).mkdir(parents=True)
    status, said = run(hub, tmp_path, str(tmp_path / "results"), "--org", ORG, "--upload")
    assert status == 1
    assert "holds files that this command did not write (app.py" in said
    assert hub.writes == []


def test_results_that_do_not_exist(hub: HubServer, tmp_path: Path) -> None:
    status, said = run(hub, tmp_path, "--org", ORG)
    assert status == 1
    assert f"read dataset {ORG}/rupeebias-results" in said
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("words", [(), ("results", "--upload")])
def test_the_hub_needs_an_organisation(hub: HubServer, tmp_path: Path, words: tuple[str, ...]) -> None:
    status, said = run(hub, tmp_path, *words)
    assert status == 2
    assert "--org ORG" in said
