"""The Hub's stand-in answers the real clients as the Hub does."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import HubServer
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    BadRequestError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

NAME = "rupee-org/data"
CARD = b"""\
---
license: cc-by-4.0
configs:
- config_name: all
  data_files:
  - {split: test, path: a.csv}
---
"""


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        yield server


@pytest.fixture
def api(hub: HubServer) -> HfApi:
    return HfApi(endpoint=hub.url, token="hf_good")


def _add(path: str, data: bytes) -> CommitOperationAdd:
    return CommitOperationAdd(path_in_repo=path, path_or_fileobj=data)


def _commit(api: HfApi, *operations: object, **options: object) -> str:
    made = api.create_commit(NAME, operations, commit_message="Change", repo_type="dataset", **options)  # type: ignore[call-overload]
    return str(made.oid)


def test_it_knows_who_asks_and_what_they_may(hub: HubServer, api: HfApi) -> None:
    assert api.whoami()["name"] == "asha"
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        HfApi(endpoint=hub.url, token="hf_wrong").whoami()
    with pytest.raises(HfHubHTTPError, match="403"):
        HfApi(endpoint=hub.url, token="hf_other").create_repo(NAME, repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="403"):
        HfApi(endpoint=hub.url, token="hf_readonly").create_repo(NAME, repo_type="dataset")
    assert hub.repos == {}


def test_commits_trees_tags_and_files(hub: HubServer, api: HfApi) -> None:
    api.create_repo(NAME, repo_type="dataset")
    api.create_repo(NAME, repo_type="dataset", exist_ok=True)
    first = api.dataset_info(NAME).sha
    made = _commit(api, _add("README.md", CARD), _add("a/b.csv", b"x\n1\n"), parent_commit=first)
    api.create_tag(NAME, tag="v1.0.0", repo_type="dataset", revision=made)
    _commit(api, _add("c.txt", b"later"), CommitOperationDelete("a/b.csv"))
    listed = {each.path for each in api.list_repo_tree(NAME, repo_type="dataset", recursive=True)}
    assert listed == {".gitattributes", "README.md", "c.txt"}
    tagged = {each.path for each in api.list_repo_tree(NAME, repo_type="dataset", revision="v1.0.0")}
    assert tagged == {".gitattributes", "README.md", "a"}
    assert [each.target_commit for each in api.list_repo_refs(NAME, repo_type="dataset").tags] == [made]
    assert len(api.list_repo_commits(NAME, repo_type="dataset")) == 3
    info = api.get_paths_info(NAME, ["c.txt"], repo_type="dataset")
    # printf later | git hash-object --stdin
    assert [each.blob_id for each in info] == ["bca257e554753db146185be2a7bd27ba97cf4765"]  # type: ignore[union-attr]
    assert [repo.name for repo in hub.repos.values()] == [NAME]


def test_a_file_is_downloaded_and_what_is_missing_is_named(api: HfApi, tmp_path: Path) -> None:
    api.create_repo(NAME, repo_type="dataset")
    _commit(api, _add("a.csv", b"x\n1\n"))
    found = api.hf_hub_download(NAME, "a.csv", repo_type="dataset", cache_dir=tmp_path)
    assert Path(found).read_bytes() == b"x\n1\n"
    with pytest.raises(RemoteEntryNotFoundError):
        api.hf_hub_download(NAME, "b.csv", repo_type="dataset", cache_dir=tmp_path)
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(NAME, revision="v9")
    with pytest.raises(RepositoryNotFoundError):
        api.dataset_info("rupee-org/nothing")


def test_a_commit_on_an_old_parent_is_a_conflict(hub: HubServer, api: HfApi) -> None:
    api.create_repo(NAME, repo_type="dataset")
    first = str(api.dataset_info(NAME).sha)
    hub.before("POST", "/commit/", lambda: hub.repo("dataset", NAME).put({"x": b"1"}))
    with pytest.raises(HfHubHTTPError, match="412"):
        _commit(api, _add("a.csv", b"1"), parent_commit=first)
    assert set(hub.repo("dataset", NAME).files()) == {".gitattributes", "x"}


def test_a_pull_request_by_somebody_without_rights_is_merged_by_the_owner(hub: HubServer, api: HfApi) -> None:
    hub.create("model", "someone/tiny").put({"kept.txt": b"1"})
    operations = [_add(".eval_results/r.yaml", b"[]")]
    made = api.create_commit("someone/tiny", operations, commit_message="Scores", create_pr=True)
    assert made.pr_revision == "refs/pr/1"
    repo = hub.repo("model", "someone/tiny")
    assert "refs/pr/1" not in repo.files()
    assert repo.files("refs/pr/1")[".eval_results/r.yaml"] == b"[]"
    (listed,) = api.get_repo_discussions("someone/tiny", discussion_type="pull_request")
    assert (listed.title, listed.author, listed.status) == ("Scores", "asha", "open")
    assert api.get_discussion_details("someone/tiny", 1).title == "Scores"
    with pytest.raises(HfHubHTTPError, match="403"):
        api.create_commit("someone/tiny", [_add("x", b"1")], commit_message="No")
    repo.put({"other.txt": b"2"})
    repo.merge(1, "someone")
    assert set(repo.files()) == {".gitattributes", "kept.txt", "other.txt", ".eval_results/r.yaml"}


EVAL = """\
name: N
description: D
evaluation_framework: f
tasks:
- {id: one, config: CONFIG, split: SPLIT}
"""


@pytest.mark.parametrize(
    ("config", "split", "message"),
    [("all", "train", "split 'train' does not exist"), ("none", "test", "config 'none' does not exist")],
)
def test_a_faulty_eval_yaml_is_refused(
    hub: HubServer, api: HfApi, config: str, split: str, message: str
) -> None:
    api.create_repo(NAME, repo_type="dataset")
    good = EVAL.replace("CONFIG", "all").replace("SPLIT", "test").encode()
    _commit(api, _add("README.md", CARD), _add("eval.yaml", good))
    bad = EVAL.replace("CONFIG", config).replace("SPLIT", split).encode()
    with pytest.raises(BadRequestError, match=message):
        _commit(api, _add("eval.yaml", bad))
    assert hub.repo("dataset", NAME).files()["eval.yaml"] == good


def test_a_faulty_card_is_refused_before_anything_is_sent(hub: HubServer, api: HfApi) -> None:
    api.create_repo(NAME, repo_type="dataset")
    with pytest.raises(ValueError, match='"license" must be'):
        _commit(api, _add("README.md", b"---\nlicense: mine\n---\n"))
    assert len(hub.repo("dataset", NAME).history()) == 1


def test_lfs_files_and_faults(hub: HubServer, tmp_path: Path) -> None:
    script = f"""
from huggingface_hub import CommitOperationAdd, HfApi
api = HfApi()
api.create_repo({NAME!r}, repo_type="dataset", exist_ok=True)
files = [CommitOperationAdd(f"{{name}}.parquet", name.encode() * 999) for name in "abcd"]
api.create_commit({NAME!r}, files, commit_message="Data", repo_type="dataset")
path = api.hf_hub_download({NAME!r}, "b.parquet", repo_type="dataset")
print(open(path, "rb").read() == b"b" * 999)
"""
    words = [sys.executable, "-c", script]
    environment = hub.environment(tmp_path, "hf_good")
    hub.fail("PUT", "/lfs/", 507, after=2)
    failed = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert failed.returncode == 1
    repo = hub.repo("dataset", NAME)
    assert (len(repo.lfs), len(repo.history())) == (2, 1)
    hub.heal()
    sent = len([each for each in hub.requests if each.method == "PUT"])
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
    assert len([each for each in hub.requests if each.method == "PUT"]) - sent == 2
    assert [name for name, blob in repo.head.files.items() if blob.lfs] == [f"{x}.parquet" for x in "abcd"]


def test_a_broken_connection_is_scripted_too(hub: HubServer, api: HfApi) -> None:
    hub.fail("GET", "whoami", 0, times=1)
    with pytest.raises(Exception, match=r"disconnected|[Rr]eset"):
        api.whoami()
    assert api.whoami()["name"] == "asha"
    assert [each.status for each in hub.requests] == [0, 200]
