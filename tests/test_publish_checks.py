"""What `rupeebias publish` verifies before it sends anything, part by part."""

import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hub_rules import card_errors
from publish_runs import with_files

from rupeebias.errors import DatasetFolderError, RupeeBiasError
from rupeebias.hub.client import hub_errors
from rupeebias.hub.publication import (
    Staged,
    check_staged,
    dataset_card_problems,
    front_matter,
    space_card_problems,
    splits_of,
)
from rupeebias.hub.repository import RemoteFile, git_blob_sha1, matches


def test_both_cards_keep_the_hubs_rules(staged: Staged) -> None:
    for kind, repo in (("dataset", staged.dataset), ("space", staged.metric)):
        assert card_errors(kind, (repo.folder / "README.md").read_bytes()) == []
    card = front_matter(staged.dataset.folder / "README.md")
    assert dataset_card_problems(card, staged.dataset.folder) == []
    assert splits_of(card)["evaluation"] == ["test"]
    assert splits_of(card)["counter_offer"] == ["english", "hinglish"]
    assert space_card_problems(front_matter(staged.metric.folder / "README.md")) == []


SPACE = {"title": "T", "emoji": "\N{BAR CHART}", "colorFrom": "blue", "colorTo": "gray", "license": "mit"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"title": ""}, "title is missing"),
        ({"sdk": "gradio"}, "sdk is not static: other Spaces need a paid plan"),
        ({"colorTo": "orange"}, "colorTo is none of blue, gray, green, indigo, pink, purple, red, yellow"),
        ({"emoji": "₹"}, "emoji is not an emoji"),
        ({"short_description": "x" * 61}, "short_description is longer than 60 characters"),
    ],
)
def test_a_space_card_that_the_hub_would_refuse_is_named(changes: dict[str, Any], problem: str) -> None:
    good = {**SPACE, "sdk": "static"}
    assert space_card_problems(good) == []
    assert space_card_problems({**good, **changes}) == [problem]


def test_a_dataset_card_must_name_files_that_exist(staged: Staged) -> None:
    card = front_matter(staged.dataset.folder / "README.md")
    split = {"split": "test", "path": ["data/none.parquet"]}
    broken = {**card, "license": None, "configs": [{"config_name": "all", "data_files": [split]}]}
    assert dataset_card_problems(broken, staged.dataset.folder) == [
        "license is missing",
        "all: no file data/none.parquet",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# Title\n", "does not begin with metadata"),
        ("---\na: [\n---\n", "README.md is not YAML"),
        ("---\n- a\n---\n", "its metadata is not a mapping"),
        ("---\na: !!python/object/apply:os.getcwd []\n---\n", "README.md is not YAML"),
    ],
)
def test_metadata_that_cannot_be_read_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "README.md").write_text(text)
    with pytest.raises(RupeeBiasError, match=message):
        front_matter(tmp_path / "README.md")


def test_a_changed_text_or_value_is_found(staged: Staged, tmp_path: Path) -> None:
    card = (staged.dataset.folder / "README.md").read_bytes()
    for name, content in (("README.md", card + b"more"), ("data/counter_offer/english.parquet", b"PAR1")):
        changed = with_files(staged, "dataset", tmp_path / name.replace("/", "-"), {name: content})
        with pytest.raises(DatasetFolderError, match=name.rsplit("/", maxsplit=1)[-1]):
            check_staged(changed)


def test_a_metric_that_does_not_load_is_found(staged: Staged, tmp_path: Path) -> None:
    both = tmp_path / "both"
    changed = with_files(staged, "dataset", both / "rupeebias", {})
    changed = with_files(changed, "metric", both / "rupeebias_metric", {"gaps.py": b"import rupeebias\n"})
    with pytest.raises(RupeeBiasError, match=r"the built folders do not load: .*rupeebias"):
        check_staged(changed)


def test_git_names_files_alike(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("amount: ₹5\n".encode())
    words = ["git", "hash-object", "--no-filters", str(tmp_path / "file")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert git_blob_sha1((tmp_path / "file").read_bytes()) == done.stdout.strip()


def test_a_remote_file_is_compared_by_size_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    # printf abc | sha256sum; printf abc | git hash-object --stdin
    sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    plain = RemoteFile("f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f", None, 3)
    assert matches(path, plain)
    assert matches(path, RemoteFile("0" * 40, sha256, 3))
    assert not matches(path, RemoteFile("f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f", "0" * 64, 3))
    assert not matches(path, dataclasses.replace(plain, size=4))
    assert not matches(path, dataclasses.replace(plain, git_sha1="0" * 40))
    assert not matches(path, None)


def test_errors_that_are_not_of_the_hub_pass() -> None:
    with pytest.raises(KeyError), hub_errors("try"):
        raise KeyError("a fault of ours")
    with pytest.raises(RupeeBiasError, match=r"^try: a \*\*\* b$"), hub_errors("try", "hf_x"):
        raise ValueError("a hf_x\nb")
