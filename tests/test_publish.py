"""`rupeebias publish` against the Hub's stand-in: first and later publications, and failures half-way."""

import dataclasses
from pathlib import Path

import pytest
from publish_runs import DATASET, METRIC, TOKEN, Publisher, with_files

from rupeebias.hub.publication import Staged, stage

# the client's own way to send files
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")


# --- the first time


def test_a_first_publication_is_one_commit_and_one_tag_each(publisher: Publisher) -> None:
    lines = publisher.run()
    for repo, local in (
        (publisher.dataset, publisher.staged.dataset),
        (publisher.metric, publisher.staged.metric),
    ):
        expected = {name: path.read_bytes() for name, path in local.files.items()}
        found = repo.files()
        assert found.pop(".gitattributes")
        assert found == expected  # style.css, which the Hub puts into a new Space, is gone
        assert [each.title for each in repo.history()][1:] == ["initial commit"]
        assert repo.tags == {"v1.0.0": repo.head.sha}
        assert not repo.private
    assert [path for path, blob in publisher.dataset.head.files.items() if blob.lfs] == [
        path for path in sorted(publisher.dataset.files()) if path.endswith(".parquet")
    ]
    assert lines[-2] == f"dataset {DATASET} (public): commit {publisher.dataset.head.sha[:7]}, tagged v1.0.0"
    assert lines[-1] == f"space {METRIC} (public): commit {publisher.metric.head.sha[:7]}, tagged v1.0.0"


def test_published_texts_name_the_organisation(staged: Staged) -> None:
    card = (staged.dataset.folder / "README.md").read_text(encoding="utf-8")
    assert 'load_dataset("rupee-org/rupeebias")' in card
    assert 'evaluate.load("rupee-org/rupeebias_metric")' in card
    assert '"rupeebias"' not in card
    metric = (staged.metric.folder / "README.md").read_text(encoding="utf-8")
    assert 'evaluate.load("rupee-org/rupeebias_metric")' in metric
    page = (staged.metric.folder / "index.html").read_text(encoding="utf-8")
    assert "evaluate.load(&#34;rupee-org/rupeebias_metric&#34;)" in page or (
        'evaluate.load("rupee-org/rupeebias_metric")' in page
    )
    assert "https://huggingface.co/datasets/rupee-org/rupeebias" in page


def test_a_dry_run_sends_nothing_and_needs_no_token(publisher: Publisher) -> None:
    lines = publisher.run("dry_run", token=None)
    assert publisher.writes() == []
    assert publisher.hub.repos == {}
    where = "public unless the owner's default is private, to be created"
    count = len(publisher.staged.dataset.files)
    assert lines[1].startswith(f"dataset {DATASET} ({where}): {count} files to change, ")
    assert lines[1].endswith("tag v1.0.0 to be set")
    size = (publisher.staged.dataset.folder / "README.md").stat().st_size
    assert lines[2].split() == ["new", f"{size:,}", "README.md"]
    assert lines[-1] == "dry run: nothing was sent"


def test_private_repositories_are_made_private(publisher: Publisher) -> None:
    publisher.run("private")
    assert publisher.dataset.private
    assert publisher.metric.private
    publisher.run()
    assert publisher.dataset.private


# --- again


def test_nothing_is_sent_again(published: Publisher) -> None:
    heads = published.dataset.head.sha, published.metric.head.sha
    lines = published.run()
    assert published.writes() == []
    assert (published.dataset.head.sha, published.metric.head.sha) == heads
    assert lines[-1] == f"space {METRIC} (public): nothing had changed, tag v1.0.0 stays where it is"


def test_changed_texts_are_one_commit_and_the_tag_stays(published: Publisher, tmp_path: Path) -> None:
    first = published.dataset.head.sha
    card = (published.staged.dataset.folder / "README.md").read_bytes() + b"\nOne more line.\n"
    lines = published.run(
        staged=with_files(published.staged, "dataset", tmp_path / "new", {"README.md": card})
    )
    assert [(line.split()[0], line.split()[-1]) for line in lines if line.startswith("  ")] == [
        ("changed", "README.md"),
    ]
    assert len(published.dataset.history()) == 3
    assert published.dataset.files()["README.md"] == card
    assert published.dataset.tags == {"v1.0.0": first}
    assert [each.path.split("/")[-2] for each in published.writes()] == ["preupload", "commit"]
    assert lines[-2].endswith("tag v1.0.0 stays where it is (texts only: its numbers are the same)")


def test_a_new_version_with_other_numbers_is_one_commit_and_a_new_tag(
    published: Publisher, tmp_path: Path
) -> None:
    first = published.metric.head.sha
    files = {"version.py": b'"""Version."""\n\nMETRIC_VERSION = "2.0.0"\n'}
    published.run(staged=with_files(published.staged, "metric", tmp_path / "new", files, "2.0.0"))
    assert len(published.metric.history()) == 3
    assert published.metric.tags == {"v1.0.0": first, "v2.0.0": published.metric.head.sha}
    assert len(published.dataset.history()) == 2


@pytest.mark.parametrize("which", ["dataset", "metric"])
def test_other_numbers_under_a_published_version_are_refused_before_anything_is_sent(
    published: Publisher, tmp_path: Path, which: str
) -> None:
    path = "data/counter_offer/english.parquet" if which == "dataset" else "gaps.py"
    changed = with_files(published.staged, which, tmp_path / "new", {path: b"other"})
    if which == "metric":  # the dataset would have something to send
        changed = with_files(
            changed, "dataset", tmp_path / "texts", {"README.md": b"---\nlicense: mit\n---\n"}
        )
    message = published.fails(staged=changed)
    assert f"tag v1.0.0 exists with another {path}. A changed number is a breaking change: raise " in message
    assert published.writes() == []
    assert f"tag v1.0.0 exists with another {path}" in published.fails("dry_run", staged=changed)


# --- refused before anything is sent


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (None, "no token for the Hub: run `hf auth login`, or set HF_TOKEN"),
        ("hf_wrong", "log in to the Hub: the Hub does not accept the token"),
        ("hf_readonly", "the token of asha may only read"),
        ("hf_other", "ravi may only read in rupee-org: ask its admins"),
        ("hf_stranger", "meera is not a member of rupee-org: use another --org"),
    ],
)
def test_rights_come_first(publisher: Publisher, token: str | None, message: str) -> None:
    publisher.hub.users["hf_stranger"] = dataclasses.replace(
        publisher.hub.users["hf_other"], name="meera", orgs={}
    )
    assert message in publisher.fails(token=token)
    assert publisher.writes() == []
    assert publisher.hub.repos == {}


def test_a_repository_of_something_else_is_left_alone(publisher: Publisher) -> None:
    publisher.hub.create("dataset", DATASET).put({"thesis.csv": b"years of work"})
    message = publisher.fails()
    assert "holds files that this command did not write (thesis.csv, but no fingerprint.json)" in message
    assert publisher.writes() == []


def test_a_public_repository_is_not_taken_for_a_private_one(published: Publisher) -> None:
    assert "exists and is public" in published.fails("private")
    assert published.writes() == []


def test_a_token_that_the_hub_repeats_is_not_shown(publisher: Publisher) -> None:
    publisher.hub.fail("GET", "whoami", 403, message=f"{TOKEN} may not do this")
    assert "403, *** may not do this" in publisher.fails()


# --- failures half-way


def test_a_push_in_between_is_a_conflict_and_nothing_is_overwritten(published: Publisher) -> None:
    published.dataset.put({"README.md": b"---\nlicense: mit\n---\n"})
    published.hub.before("POST", "/commit/", lambda: published.dataset.put({"note.txt": b"theirs"}))
    message = published.fails()
    assert f"commit to dataset {DATASET}: somebody else changed it meanwhile" in message
    assert published.dataset.files()["note.txt"] == b"theirs"
    published.run()
    assert published.dataset.files().pop("note.txt") == b"theirs"
    ours = published.staged.dataset.files
    assert published.dataset.head.files.keys() - {".gitattributes", "note.txt"} == ours.keys()


def test_uploads_that_break_off_are_resumed(publisher: Publisher) -> None:
    publisher.hub.fail("PUT", "/lfs/", 507, after=4)
    assert f"commit to dataset {DATASET}: " in publisher.fails()
    assert (len(publisher.dataset.history()), publisher.dataset.tags) == (1, {})
    assert ("space", METRIC) not in publisher.hub.repos
    assert len(publisher.dataset.lfs) == 4
    publisher.hub.heal()
    publisher.writes()
    publisher.run()
    large = [path for path in publisher.staged.dataset.files if path.endswith(".parquet")]
    assert len([each for each in publisher.writes() if each.method == "PUT"]) == len(large) - 4
    assert len(publisher.dataset.history()) == len(publisher.metric.history()) == 2


@pytest.mark.parametrize(
    ("fault", "after", "commits", "tags"),
    [
        ("datasets/.*/commit/", 0, (1, None), (0, None)),
        ("datasets/.*/tag/", 0, (2, None), (0, None)),
        ("repos/create", 1, (2, None), (1, None)),
        ("spaces/.*/commit/", 0, (2, 1), (1, 0)),
        ("spaces/.*/tag/", 0, (2, 2), (1, 0)),
    ],
)
def test_whatever_fails_the_same_command_finishes(
    publisher: Publisher,
    fault: str,
    after: int,
    commits: tuple[int, int | None],
    tags: tuple[int, int | None],
) -> None:
    publisher.hub.fail("POST", fault, 503, after=after)
    assert "the Hub has a problem; run the command again later" in publisher.fails()
    assert _state(publisher) == (commits, tags)
    publisher.hub.heal()
    publisher.run()
    assert _state(publisher) == ((2, 2), (1, 1))
    assert publisher.dataset.tags["v1.0.0"] == publisher.dataset.head.sha
    assert publisher.metric.tags["v1.0.0"] == publisher.metric.head.sha


def _state(publisher: Publisher) -> tuple[tuple[int, int | None], tuple[int, int | None]]:
    """Commits and tags of the dataset and, if it exists, of the Space."""
    space = publisher.hub.repos.get(("space", METRIC))
    dataset = publisher.dataset
    return (
        (len(dataset.history()), len(space.history()) if space else None),
        (len(dataset.tags), len(space.tags) if space else None),
    )


def test_a_hub_that_does_not_know_the_framework_can_do_without_eval_yaml(
    publisher: Publisher, tmp_path: Path
) -> None:
    publisher.hub.frameworks = {"inspect-ai"}
    assert "does not take eval.yaml (yet): publish with --no-eval-yaml" in publisher.fails()
    without = stage("rupee-org", tmp_path, eval_yaml=False)
    publisher.run(staged=without)
    assert "eval.yaml" not in publisher.dataset.files()
    assert b"eval.yaml" not in publisher.dataset.files()["fingerprint.json"]
    first = publisher.dataset.head.sha
    publisher.hub.frameworks = {"inspect-ai", "rupeebias"}
    publisher.run()
    assert "eval.yaml" in publisher.dataset.files()
    assert publisher.dataset.tags == {"v1.0.0": first}
