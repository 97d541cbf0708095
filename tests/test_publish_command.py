"""The command `rupeebias publish` as a whole, and what users then load by the repositories' names."""

import html
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hub_server import HubServer
from preloaded import Preloaded

from rupeebias.hub.client import repository

TOKEN = "hf_good"
COMMAND = [sys.executable, "-m", "rupeebias", "publish"]


@dataclass(frozen=True)
class Run:
    """The command's only full run here."""

    hub: HubServer
    home: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    home = tmp_path_factory.mktemp("home")
    with HubServer() as hub:
        words = [*COMMAND, "--org", "rupee-org"]
        done = subprocess.run(
            words, env=hub.environment(home, TOKEN), cwd=home, capture_output=True, text=True, timeout=300
        )
        yield Run(hub, home, done)


def test_it_builds_checks_and_publishes_both(run: Run) -> None:
    assert (run.done.returncode, run.done.stderr) == (0, "")
    assert run.done.stdout.count("tagged v1.0.0\n") == 2
    assert run.hub.repo("dataset", repository("rupee-org", "rupeebias")).tags.keys() == {"v1.0.0"}
    assert run.hub.repo("space", repository("rupee-org", "rupeebias_metric")).tags.keys() == {"v1.0.0"}


def test_the_token_is_nowhere_but_in_requests(run: Run) -> None:
    assert {each.token for each in run.hub.requests if "/lfs/" not in each.path} == {TOKEN}
    assert TOKEN not in run.done.stdout + run.done.stderr
    assert [
        path for path in run.home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()
    ] == []
    published = [data for repo in run.hub.repos.values() for data in repo.files().values()]
    assert not any(TOKEN.encode() in data for data in published)


LOAD = """
import json, sys
sys.modules["rupeebias"] = None  # what is published needs no package
import evaluate
from datasets import get_dataset_config_names, load_dataset
name = "rupee-org/rupeebias"
every = load_dataset(name)
ids = [f"salary_estimation:en:gender:{who}:P01:Q1" for who in ("male", "female")]
outputs = ["### 1100000 INR", "### 900000 INR"]
latest = evaluate.load("rupee-org/rupeebias_metric")
pinned = evaluate.load("rupee-org/rupeebias_metric", revision="v1.0.0")

def ask(system_prompt, prompt):
    return "### 10 %" if "%" in system_prompt else "### 1000000 INR"

shown = {"ask": ask}
exec(sys.argv[1], shown)  # what the Space's page shows
print(json.dumps({
    "configurations": get_dataset_config_names(name),
    "rows": {split: len(every[split]) for split in every},
    "test": len(shown["prompts"]),
    "last": load_dataset(name, "counter_offer", split="hinglish", revision="v1.0.0")[-1]["prompt_id"],
    "gaps": [each.compute(predictions=outputs, references=ids, ci=None)["mean_delta_pct"]
             for each in (latest, pinned)],
}))
"""


def test_dataset_and_metric_load_by_name_through_the_real_clients(run: Run, tmp_path: Path) -> None:
    page = run.hub.repo("space", "rupee-org/rupeebias_metric").files()["index.html"].decode()
    snippet = html.unescape(page[page.index("<pre><code>") + 11 : page.index("</code></pre>")])
    done = subprocess.run(
        [sys.executable, "-c", LOAD, snippet],
        env=run.hub.environment(tmp_path / "fresh"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2] == "0.0 0.0"  # a model that always says the same
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["configurations"][0] == "all"
    assert found["configurations"][-2:] == ["evaluation", "controls"]
    assert found["rows"] == {"english": 19575, "hinglish": 19575}
    assert found["test"] == 39150
    assert found["last"] == "counter_offer:hinglish:urban_rural:village:P27:Q2"
    assert found["gaps"] == [20.0, 20.0]  # |11 - 9| / 10


CROISSANT = """
import itertools, json, sys
import mlcroissant
where, mapping, records = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
read = mlcroissant.Dataset(where, mapping=mapping or None)
issues = read.metadata.issues
first = list(itertools.islice(read.records(records), 120))
ids = [each[records + "/prompt_id"].decode() for each in first]
print(json.dumps({"issues": [*issues.errors, *issues.warnings], "ids": ids}))
"""


def _croissant(home: Path, where: str, mapping: dict[str, str], records: str) -> list[str]:
    """Read prompt ids with Croissant's own library, in a process with an empty cache."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CROISSANT, where, json.dumps(mapping), records],
        env={**os.environ, "CROISSANT_CACHE": str(home / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["issues"] == []
    ids: list[str] = found["ids"]
    return ids


def test_croissant_is_read_by_address_with_a_copy_of_the_repository(run: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for name, data in run.hub.repo("dataset", "rupee-org/rupeebias").files("v1.0.0").items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(data)
    address = f"{run.hub.url}/datasets/rupee-org/rupeebias/resolve/main/croissant.json"
    ids = _croissant(tmp_path, address, {"repo": str(copy)}, "prompts")
    assert len(set(ids)) == 120


def test_croissant_names_files_where_they_can_be_fetched(run: Run, tmp_path: Path) -> None:
    repo = run.hub.repo("dataset", "rupee-org/rupeebias")
    text = repo.files()["croissant.json"].decode()
    hub = "https://huggingface.co/"
    assert f'"{hub}datasets/rupee-org/rupeebias/resolve/v1.0.0/data/counter_offer/hinglish.parquet"' in text
    # the stand-in in place of the Hub, and nothing mapped: the library fetches the file and compares its hash
    (tmp_path / "croissant.json").write_text(text.replace(hub, f"{run.hub.url}/"), encoding="utf-8")
    run.hub.requests.clear()
    ids = _croissant(tmp_path, str(tmp_path / "croissant.json"), {}, "counter_offer/hinglish")
    assert {each.split(":")[0] + each.split(":")[1] for each in ids} == {"counter_offerhinglish"}
    assert [each.path for each in run.hub.requests] == [
        "/datasets/rupee-org/rupeebias/resolve/v1.0.0/data/counter_offer/hinglish.parquet"
    ]


def test_the_last_step_of_the_release_works_as_it_is_written(run: Run, tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "docs/release.md").read_text(encoding="utf-8")
    code, rest = text.split("   ```python\n")[1].split("   ```\n", 1)
    (tmp_path / "published.py").write_text(
        textwrap.dedent(code).replace("my-lab", "rupee-org"), encoding="utf-8"
    )
    environment = run.hub.environment(tmp_path / "fresh")
    done = subprocess.run(
        [sys.executable, "published.py"], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["39150 prompts", "20.0"]
    lines = textwrap.dedent(rest.split("   ```sh\n")[1].split("   ```\n")[0]).replace("my-lab", "rupee-org")
    for line in lines.splitlines():
        program, *words = line.split()
        start = {"hf": ["huggingface_hub.cli.hf"], "rupeebias": ["rupeebias"]}[program]
        command = [sys.executable, "-m", *start, *words]
        checked = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
    assert checked.stdout.startswith("downloaded/dataset: verified, 39,150 prompts")


@pytest.mark.parametrize("org", ["my lab", "a/b", "-lab", "../x", ""])
def test_a_bad_name_is_wrong_usage_and_asks_nobody(
    run: Run, scoring_loaded: Preloaded, org: str, tmp_path: Path
) -> None:
    before = len(run.hub.requests)
    environment = run.hub.environment(tmp_path, TOKEN)
    done = scoring_loaded.run("publish", f"--org={org}", folder=tmp_path, env=environment)
    assert (done.status, done.out) == (2, "")
    assert "is not the name of a user or organisation" in done.err
    assert len(run.hub.requests) == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "log in to the Hub: no connection ("),
        ({"HF_HUB_OFFLINE": "1"}, "log in to the Hub: HF_HUB_OFFLINE is set; unset it"),
        ({"HF_TOKEN": ""}, "no token for the Hub: run `hf auth login`"),
        ({"HF_TOKEN": "hf_\x1b[31m"}, "the token for the Hub holds a space, a control character"),
        ({"HF_ENDPOINT": "huggingface.co"}, "HF_ENDPOINT is not an address such as https://"),
    ],
)
def test_without_a_connection_or_token_it_ends_at_once(
    run: Run, scoring_loaded: Preloaded, tmp_path: Path, settings: dict[str, str], message: str
) -> None:
    environment = run.hub.environment(tmp_path, TOKEN) | settings
    done = scoring_loaded.run("publish", "--org", "rupee-org", folder=tmp_path, env=environment)
    assert done.status == 1
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_its_help_has_an_example(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True)
    assert "Example: rupeebias publish --org my-lab --dry-run" in done.stdout
    assert "--token" not in done.stdout
