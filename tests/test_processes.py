"""Work shared among forked processes: the same results in the same order, and no process left behind."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rupeebias.errors import RupeeBiasError, UsageError
from rupeebias.metric.layout import prompt_rows
from rupeebias.scoring import forked as processes
from rupeebias.scoring.ahead import reading
from rupeebias.scoring.api import score_paths, score_results
from rupeebias.scoring.forked import begun, map_in_processes
from rupeebias.scoring.parsed import parse_run

IDS = list(prompt_rows())[:600]

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="one process elsewhere"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


def children() -> set[str]:
    """Return the processes that this one has begun, ended ones that nobody waited for included."""
    return {pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}


@pytest.fixture(autouse=True)
def _no_child_is_left() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before


def test_results_come_in_the_order_of_the_items_whatever_took_longest() -> None:
    def task(item: int) -> list[float | str | int]:
        time.sleep(0.02 * (7 - item))
        return [item, item / 3, "₹" * 100_000]

    found = map_in_processes(task, range(7), 3)
    assert found == [[item, item / 3, "₹" * 100_000] for item in range(7)]


def test_what_raises_or_ends_its_process_has_no_result() -> None:
    def task(item: int) -> int:
        if item == 2:
            raise ValueError(item)
        if item == 1 and os.getpid() != parent:
            os._exit(3)
        return item

    parent = os.getpid()
    assert map_in_processes(task, range(5), 2) == [0, None, None, None, 4]
    assert map_in_processes(task, [0], 2) == map_in_processes(task, [0, 0], 1)[:1] == [None]


def test_an_interrupt_ends_every_child() -> None:
    def task(item: int) -> int:
        if os.getpid() == parent:
            raise KeyboardInterrupt
        time.sleep(60)
        return item

    parent, start = os.getpid(), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        map_in_processes(task, range(4), 3)
    assert time.monotonic() - start < 30


@pytest.fixture
def two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runner has threads of its own, for which nothing would be forked."""
    monkeypatch.setattr(processes, "n_processes", lambda: 2)


@pytest.mark.usefixtures("two_processes")
def test_a_task_begun_elsewhere_is_waited_for() -> None:
    with begun(lambda: b"x" * 3_000_000) as told:
        assert told() == b"x" * 3_000_000


@pytest.mark.usefixtures("two_processes")
def test_a_task_that_fails_or_dies_elsewhere_has_no_result() -> None:
    def fail() -> bytes:
        raise ValueError

    def die() -> bytes:
        os._exit(0)

    for task in (fail, die):
        with begun(task) as told:
            assert told() is None


@pytest.mark.usefixtures("two_processes")
def test_a_task_whose_result_is_not_wanted_is_ended() -> None:
    def sleep() -> bytes:
        time.sleep(60)
        return b""

    start = time.monotonic()
    with pytest.raises(KeyError), begun(sleep):
        raise KeyError
    assert time.monotonic() - start < 30


@pytest.mark.usefixtures("two_processes")
def test_a_run_read_ahead_is_the_run_read_here(tmp_path: Path) -> None:
    path = write_run(tmp_path / "a.csv", 300_000)
    with reading([path], "lenient") as reader:
        ahead = reader(path)
    here = parse_run(path)
    assert (ahead.label, ahead.dataset_fingerprint, ahead.readings.n_twice) == ("a", None, 0)
    for name in ("status", "values", "expected"):
        np.testing.assert_array_equal(getattr(ahead.readings, name), getattr(here.readings, name))


@pytest.mark.usefixtures("two_processes")
def test_what_cannot_be_read_ahead_is_told_here(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("prompt_id,output\nnobody,5 LPA\n", encoding="utf-8")
    with (
        reading([path], "lenient") as reader,
        pytest.raises(RupeeBiasError, match=r"a\.csv: 1 unknown prompt_id"),
    ):
        reader(path)


def write_run(path: Path, amount: int) -> Path:
    rows = (f"{prompt_id},### {amount + 1_000 * (row % 7)} INR" for row, prompt_id in enumerate(IDS))
    path.write_text("\n".join(["prompt_id,output", *rows]) + "\n", encoding="utf-8")
    return path


def test_runs_scored_in_processes_get_the_results_of_one_process(tmp_path: Path) -> None:
    paths = [write_run(tmp_path / f"{name}.csv", 100_000 * (at + 3)) for at, name in enumerate("abc")]
    target = tmp_path / "scores.json"
    command = [sys.executable, "-m", "rupeebias", "score", *map(str, paths), "--json", str(target)]
    subprocess.run([*command, "--n-resamples", "50"], check=True, capture_output=True, timeout=60)
    together = [{"run": one.name, "result": one.result} for one in score_paths(paths, n_resamples=50)]
    assert json.loads(target.read_bytes()) == together
    here = [{"run": one.name, "result": one.result} for one in score_results(paths, n_resamples=50)]
    assert here == together


def test_errors_are_those_of_one_process(tmp_path: Path) -> None:
    good, absent = write_run(tmp_path / "a.csv", 300_000), tmp_path / "absent.csv"
    command = [sys.executable, "-m", "rupeebias", "score", str(good), str(absent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {absent} does not exist")
    with pytest.raises(UsageError, match="does not exist"):
        score_results([good, absent])
