"""Work shared among processes: the results of one process, and no process left behind."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rupeebias.errors import UsageError
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of
from rupeebias.processes import ProcessDiedError, run_tasks
from rupeebias.scoring.score import score_paths, score_results

IDS = layout_of(DESIGN).prompt_ids[:600]


def children() -> set[str]:
    """Return the processes that this one has begun, ended ones that nobody waited for included."""
    return {pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}


@pytest.fixture(autouse=True)
def _no_child_is_left() -> Iterator[None]:
    before = children()
    yield
    started = children() - before  # the one that tracks shared things stays, and ends with this process
    assert not [
        pid for pid in started if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def slow_where_first(item: int) -> tuple[int, str]:
    time.sleep(0.05 * (4 - item))
    return item, "₹" * 100_000


def ends_or_raises(item: int) -> int:
    if item == 1:
        os._exit(3)
    if item == 2:
        raise ValueError(item)
    return item


def never_ends(item: int) -> int:
    if item == 1:
        time.sleep(600)
    return item


def process_id(_: int) -> int:
    return os.getpid()


def test_every_result_comes_with_the_place_of_its_item() -> None:
    found = dict(run_tasks(slow_where_first, range(4), workers=2))
    assert found == {item: (item, "₹" * 100_000) for item in range(4)}


def test_what_raises_or_ends_its_process_costs_its_own_item_alone() -> None:
    found = dict(run_tasks(ends_or_raises, range(5), workers=2))
    assert isinstance(found[1], ProcessDiedError)
    assert repr(found[2]) == "ValueError(2)"
    assert [found[at] for at in (0, 3, 4)] == [0, 3, 4]


def test_a_task_beyond_its_time_is_ended() -> None:
    start = time.monotonic()
    found = dict(run_tasks(never_ends, range(3), workers=2, time_limit_s=3))
    assert isinstance(found.pop(1), ProcessDiedError)
    assert found == {0: 0, 2: 2}
    assert time.monotonic() - start < 60


def test_one_item_is_worked_on_here_and_processes_are_replaced_where_asked() -> None:
    assert dict(run_tasks(process_id, [0])) == {0: os.getpid()}
    pids = dict(run_tasks(process_id, range(4), workers=2, tasks_a_process=1))
    assert os.getpid() not in pids.values()
    assert len(set(pids.values())) >= 2


def test_leaving_early_ends_every_process() -> None:
    start = time.monotonic()
    for at, _ in run_tasks(never_ends, range(2), workers=2):
        assert at == 0
        with pytest.raises(KeyboardInterrupt):
            raise KeyboardInterrupt
        break
    assert time.monotonic() - start < 60


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
