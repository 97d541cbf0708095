"""The metric as `evaluate` loads it: alone in a folder, offline, in a process that cannot see the package."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rupeebias.metric
from rupeebias.dataset_builder.metric_design import build_metric

METRIC = Path(rupeebias.metric.__file__).parent

SCRIPT = """
import json, sys
sys.modules["rupeebias"] = None  # the published metric must not need the package
import evaluate

def load():
    return evaluate.load("rupeebias_metric")

def message(**inputs):
    try:
        load().compute(**inputs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

ids = [f"salary_estimation:en:gender:{who}:P0{p}:Q1" for p in (1, 2, 3) for who in ("male", "female")]
texts = ["### 1200000 INR", "11 LPA", "### 900000 INR", None, "### 800000 INR", "### 700000 INR"]
batches = load()
for at in range(0, 6, 2):
    batches.add_batch(predictions=texts[at:at + 2], references=ids[at:at + 2])
single = load()
for text, prompt_id in zip(texts, ids):
    single.add(prediction=text, reference=prompt_id)
print(json.dumps({
    "whole": load().compute(predictions=texts, references=ids),
    "batches": batches.compute(),
    "single": single.compute(),
    "repeats": load().compute(predictions=texts[:2] * 2, references=ids[:2] * 2, repeats=[0, 0, 1, 1]),
    "cut off": load().compute(
        predictions=["It is ### 1", "It is ### 12"], references=ids[:2], finish_reasons=["length", "stop"]
    ),
    "failed": load().compute(predictions=texts[:2], references=ids[:2], errors=[True, False]),
    "none first": load().compute(predictions=[None, texts[0]], references=ids[:2])["parse_health_pct"],
    "messages": [
        message(predictions=[], references=[]),
        message(predictions=[1200000], references=ids[:1]),
        message(predictions=[b"x"], references=ids[:1]),
        message(predictions=["x"], references=ids[:2]),
        message(predictions="### 1 INR", references=ids[0]),
        message(predictions=["x"], references=["y"]),
        message(predictions=["x"], references=ids[:1], ci="normal"),
        message(predictions=["x"], references=ids[:1], finish_reasons=["stop", "stop"]),
    ],
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("alone")
    metric = folder / "rupeebias_metric"
    metric.mkdir()
    for path in METRIC.glob("*.py"):
        if path.name != "__init__.py":
            (metric / path.name).write_bytes(path.read_bytes())
    environment = {**os.environ, "HF_HOME": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_it_computes_what_the_package_computes(found: dict[str, Any]) -> None:
    ids = [f"salary_estimation:en:gender:{who}:P0{p}:Q1" for p in (1, 2, 3) for who in ("male", "female")]
    texts = ["### 1200000 INR", "11 LPA", "### 900000 INR", "", "### 800000 INR", "### 700000 INR"]
    assert found["whole"] == rupeebias.metric.score(ids, texts)


def test_batches_and_single_answers_give_the_same(found: dict[str, Any]) -> None:
    assert found["batches"] == found["single"] == found["whole"]


def test_repeats_are_taken(found: dict[str, Any]) -> None:
    assert found["repeats"]["n_scored"] == 4


def test_how_an_answer_ended_is_taken(found: dict[str, Any]) -> None:
    counts = {row["status"]: row["n"] for row in found["cut off"]["tables"]["parse_status"]}
    assert (counts["truncated"], counts["lenient"]) == (1, 1)
    counts = {row["status"]: row["n"] for row in found["failed"]["tables"]["parse_status"]}
    assert (counts["error"], counts["lenient"]) == (1, 1)


def test_a_missing_answer_may_come_first(found: dict[str, Any]) -> None:
    assert found["none first"] == 50


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (0, "MetricInputError: nothing to score"),
        (1, r"predictions\[0\] is int 1200000, not text"),
        (2, r"predictions\[0\] is bytes"),
        (3, "2 prompt_ids .* but 1 outputs"),
        (4, "predictions must be a list of texts, not str"),
        (5, "1 unknown prompt_id, first: 'y'"),
        (6, "ci='normal' does not exist"),
        (7, "1 texts but 2 finish_reasons"),
    ],
)
def test_errors_name_the_culprit(found: dict[str, Any], at: int, message: str) -> None:
    assert re.search(message, found["messages"][at])


# --- without evaluate: the packages of requirements.txt are enough

ALONE = """
import importlib.metadata, json, sys
needed = {"numpy", "scipy"}
for name, packages in importlib.metadata.packages_distributions().items():
    if not needed & set(packages):
        sys.modules.setdefault(name, None)  # as if it were not installed
from rupeebias_metric.compute import score
ids = [f"salary_estimation:en:gender:{who}:P0{p}:Q1" for p in (1, 2, 3) for who in ("male", "female")]
texts = ["### 1200000 INR", "11 LPA", "### 900000 INR", None, "### 800000 INR", "### 700000 INR"]
print(json.dumps(score(ids, texts)))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the published metric in it."""
    build_metric(tmp_path / "rupeebias_metric")
    return tmp_path


def _score_alone(folder: Path) -> dict[str, Any]:
    words = [sys.executable, "-c", ALONE]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_scores_need_numpy_and_scipy_only(folder: Path, found: dict[str, Any]) -> None:
    assert _score_alone(folder) == found["whole"]


@pytest.mark.slow
def test_what_the_requirements_install_is_small_and_enough(folder: Path, found: dict[str, Any]) -> None:
    packages = folder / "packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(packages)]
    subprocess.run([*pip, "-r", str(folder / "rupeebias_metric/requirements.txt")], check=True)
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    assert size < 300e6
    # -S: without the packages of this environment
    words = [sys.executable, "-S", "-c", ALONE]
    environment = os.environ | {"PYTHONPATH": str(packages)}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == found["whole"]
