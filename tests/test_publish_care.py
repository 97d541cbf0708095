"""What `rupeebias publish` must not do to a repository: lead it back, lose others' files, show or hide it."""

import json
import shutil
from pathlib import Path

import pytest
from publish_runs import DATASET, METRIC, Publisher, with_files

from rupeebias.hub.publication import Staged, stage
from rupeebias.hub.repository import version_key

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")

PARQUET = "data/counter_offer/english.parquet"


# --- versions


def _manifest(publisher: Publisher, version: str) -> bytes:
    content = json.loads(publisher.dataset.files()["fingerprint.json"])
    return json.dumps({**content, "benchmark_version": version}, indent=2).encode()


@pytest.mark.parametrize("version", ["1.0.1", "1.10.0", "2.0.0"])
def test_an_older_checkout_does_not_lead_the_dataset_back(published: Publisher, version: str) -> None:
    published.dataset.put({"fingerprint.json": _manifest(published, version), PARQUET: b"later numbers"})
    message = published.fails()
    assert f"dataset {DATASET} is at version {version} at its head, this checkout at 1.0.0" in message
    assert "up-to-date checkout" in message
    assert published.writes() == []
    assert published.dataset.files()[PARQUET] == b"later numbers"


def test_an_older_checkout_does_not_lead_the_metric_back(published: Publisher) -> None:
    published.metric.put({"version.py": b'"""Version."""\n\nMETRIC_VERSION = "3.0.0"\n'})
    assert f"space {METRIC} is at version 3.0.0 at its head" in published.fails("dry_run")


def test_a_tag_of_a_later_version_counts_too(published: Publisher) -> None:
    published.dataset.tags["v1.2.0"] = published.dataset.head.sha
    assert "is at version 1.2.0 by its tag, this checkout at 1.0.0" in published.fails()
    del published.dataset.tags["v1.2.0"]
    published.dataset.tags |= {"v0.9": published.dataset.head.sha, "v2-draft": published.dataset.head.sha}
    published.run()


def test_versions_are_compared_by_number() -> None:
    assert version_key("1.9.0") < version_key("1.10.0") < version_key("2")
    assert version_key("2.0-rc1") == version_key("") == ()


def test_the_same_version_with_other_numbers_and_no_tag_is_refused(published: Publisher) -> None:
    published.dataset.tags.clear()
    published.dataset.put({PARQUET: b"numbers of another run"})
    message = published.fails()
    assert f"its head has version 1.0.0, untagged, with another {PARQUET}. A changed number" in message
    assert published.writes() == []


def test_a_head_whose_version_cannot_be_read_is_not_overwritten(published: Publisher) -> None:
    published.dataset.tags.clear()
    published.dataset.put({PARQUET: b"numbers", "fingerprint.json": b"[1]"})
    assert "its head has a fingerprint.json without a version, untagged, with" in published.fails()


def test_a_run_that_stopped_before_its_tag_is_finished(published: Publisher) -> None:
    published.dataset.tags.clear()
    published.run()
    assert published.dataset.tags == {"v1.0.0": published.dataset.head.sha}
    assert [each.path.split("/")[-2] for each in published.writes()] == ["tag"]


def test_an_older_head_is_brought_to_ours(published: Publisher) -> None:
    published.dataset.tags.clear()
    published.dataset.put({"fingerprint.json": _manifest(published, "0.9.0"), PARQUET: b"earlier numbers"})
    published.run()
    assert published.dataset.files()[PARQUET] == published.staged.dataset.files[PARQUET].read_bytes()


def test_a_tag_on_something_else_is_to_be_deleted(published: Publisher) -> None:
    first = published.dataset.history()[-1].sha
    published.dataset.tags["v1.0.0"] = first
    message = published.fails()
    assert "tag v1.0.0 is on a commit without fingerprint.json, so on no publication" in message
    assert f"hf repos tag delete {DATASET} v1.0.0 --type dataset" in message
    del published.dataset.tags["v1.0.0"]
    published.run()
    assert published.dataset.tags["v1.0.0"] == published.dataset.head.sha


def test_numbers_that_somebody_changed_are_restored_and_not_called_texts(published: Publisher) -> None:
    published.dataset.put({PARQUET: b"theirs"})
    line = published.run()[-2]
    assert line.endswith(f"(numbers were restored to those of the tag: {PARQUET})")
    assert published.dataset.files()[PARQUET] == published.staged.dataset.files[PARQUET].read_bytes()


# --- other people's files


def test_files_of_others_stay_and_are_named(published: Publisher) -> None:
    published.dataset.put({"LICENSE": b"CC", "data/extra.parquet": b"PAR1"})
    published.metric.put({"notes.py": b"# somebody else's\n"})
    lines = published.run()
    left = "files not of ours ("
    assert [line.strip() for line in lines if left in line] == [
        f"left alone: 2 {left}LICENSE, data/extra.parquet); --delete-others deletes them",
        f"left alone: 1 {left}notes.py); --delete-others deletes them",
    ]
    assert published.writes() == []
    published.run("delete_others")
    assert not {"LICENSE", "data/extra.parquet"} & published.dataset.files().keys()
    assert "notes.py" not in published.metric.files()


def test_files_of_others_in_a_tagged_commit_do_not_count_as_numbers(published: Publisher) -> None:
    published.metric.put({"notes.py": b"# somebody else's\n"})
    published.metric.tags["v1.0.0"] = published.metric.head.sha
    published.run()
    assert "notes.py" in published.metric.files()


@pytest.mark.parametrize("which", ["dataset", "metric"])
def test_what_an_earlier_version_published_is_deleted(
    publisher: Publisher, staged: Staged, tmp_path: Path, which: str
) -> None:
    listing = {"dataset": "fingerprint.json", "metric": "files.json"}[which]
    folder = getattr(staged, which).folder
    content = json.loads((folder / listing).read_text())
    content["files"].append("old.py")
    version = {"benchmark_version": "0.9.0"} if which == "dataset" else {}
    files = {"old.py": b"# old\n", listing: json.dumps({**content, **version}, indent=2).encode()}
    if which == "metric":
        files["version.py"] = b'METRIC_VERSION = "0.9.0"\n'
    publisher.run(staged=with_files(staged, which, tmp_path / "old", files, "0.9.0"))
    getattr(publisher, which).put({"theirs.txt": b"1"})
    assert "old.py" in getattr(publisher, which).files()
    lines = publisher.run()
    assert ["deleted", "old.py"] in [[*line.split()[:1], line.split()[-1]] for line in lines]
    assert getattr(publisher, which).files().keys() - {".gitattributes", "theirs.txt"} == (
        getattr(staged, which).files.keys()
    )


def test_every_published_file_is_listed(staged: Staged) -> None:
    for repo, name in ((staged.dataset, "fingerprint.json"), (staged.metric, "files.json")):
        listed = json.loads((repo.folder / name).read_text())["files"]
        assert {name, *listed} == repo.files.keys()


def test_a_new_repository_that_somebody_began_is_left_alone(publisher: Publisher) -> None:
    began = publisher.hub.create("dataset", DATASET)
    began.put({"README.md": b"---\nlicense: mit\n---\nMy thesis.\n"})
    assert "files that this command did not write (README.md" in publisher.fails()
    assert publisher.writes() == []


def test_a_repository_that_was_just_made_is_used(publisher: Publisher) -> None:
    publisher.hub.create("space", METRIC)
    publisher.run()
    assert "style.css" not in publisher.metric.files()


@pytest.mark.parametrize(("kind", "old"), [("dataset", DATASET), ("space", METRIC)])
def test_a_renamed_repository_is_not_written_by_its_old_name(
    published: Publisher, kind: str, old: str
) -> None:
    published.hub.rename(kind, old, "rupee-org/archive-2025")
    head = published.hub.repo(kind, "rupee-org/archive-2025").head.sha
    assert f"{kind} {old} is now called rupee-org/archive-2025" in published.fails()
    assert published.writes() == []
    assert published.hub.repo(kind, "rupee-org/archive-2025").head.sha == head


# --- who can see them


def test_private_repositories_stay_private_and_it_is_said(publisher: Publisher) -> None:
    lines = publisher.run("private")
    assert sum("(private, to be created)" in line for line in lines) == 2
    lines = publisher.run()
    assert "private repositories stay private; make them public in their settings" in lines
    assert f"dataset {DATASET} (private): nothing had changed, tag v1.0.0 stays where it is" in lines
    assert publisher.dataset.private
    assert publisher.metric.private


@pytest.mark.parametrize("private", [True, False])
def test_the_second_repository_becomes_as_visible_as_the_first(publisher: Publisher, private: bool) -> None:
    publisher.hub.fail("POST", "repos/create", 403, after=1)
    publisher.fails(*(["private"] if private else []))
    publisher.hub.heal()
    publisher.run()
    assert publisher.metric.private is publisher.dataset.private is private


def test_one_public_and_one_private_are_a_loud_warning(published: Publisher) -> None:
    published.metric.private = True
    assert [line for line in published.run("dry_run") if line.startswith("WARNING")] == [
        f"WARNING: dataset {DATASET} is public but space {METRIC} is private; "
        "make them alike in their settings"
    ]


def test_a_download_is_verified_whatever_the_organisation(published: Publisher, tmp_path: Path) -> None:
    from huggingface_hub import HfApi

    from rupeebias.dataset_builder.folder import check_dataset
    from rupeebias.dataset_builder.metric_design import check_metric
    from rupeebias.errors import DatasetFolderError

    api = HfApi(endpoint=published.hub.url, token=False)
    dataset, metric = tmp_path / "dataset", tmp_path / "metric"
    api.snapshot_download(DATASET, repo_type="dataset", local_dir=dataset)
    api.snapshot_download(METRIC, repo_type="space", local_dir=metric)
    assert check_dataset(dataset).rows == 39150
    check_metric(metric)
    card = (dataset / "README.md").read_text()
    (dataset / "README.md").write_text(card.replace('"rupee-org/rupeebias"', '"else/rupeebias"', 1))
    with pytest.raises(DatasetFolderError, match=r"README\.md differs"):
        check_dataset(dataset)
    (metric / "README.md").write_text((metric / "README.md").read_text() + "more\n")
    with pytest.raises(DatasetFolderError, match=r"README\.md is missing or is not"):
        check_metric(metric)


def test_a_publication_without_eval_yaml_is_verified_too(tmp_path: Path) -> None:
    from rupeebias.dataset_builder.folder import check_dataset

    without = stage("rupee-org", tmp_path, eval_yaml=False).dataset.folder
    assert not (without / "eval.yaml").exists()
    assert check_dataset(without).rows == 39150
    shutil.rmtree(tmp_path)
