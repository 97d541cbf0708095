"""One way to work in several processes: results, errors, deaths and time limits."""

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rupeebias.processes import ProcessDiedError, run_tasks

TASKS = """
import os, time

def square(x):
    if x == 3:
        raise ValueError("three is no good")
    if x == 5:
        os._exit(9)
    if x == 7:
        time.sleep(60)
    return x * x
"""


@pytest.fixture(autouse=True)
def _tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_module_of_tasks.py").write_text(TASKS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def results(items: list[int], **options: float) -> dict[int, object]:
    square = importlib.import_module("a_module_of_tasks").square

    return {items[at]: found for at, found in run_tasks(square, items, **options)}  # type: ignore[arg-type]


def test_every_item_has_its_result_and_an_error_is_yielded_as_it_was_raised() -> None:
    found = results([1, 2, 3, 4], workers=2)
    assert {x: found[x] for x in (1, 2, 4)} == {1: 1, 2: 4, 4: 16}
    assert isinstance(found[3], ValueError)
    assert str(found[3]) == "three is no good"


def test_one_worker_works_in_this_process() -> None:
    square = importlib.import_module("a_module_of_tasks").square

    assert [found for _, found in run_tasks(lambda _: os.getpid(), [1, 2], workers=1)] == [os.getpid()] * 2
    assert dict(run_tasks(square, [], workers=2)) == {}


def test_a_process_that_dies_costs_its_own_item_only() -> None:
    found = results([1, 5, 2, 4, 6], workers=2)
    assert {x: found[x] for x in (1, 2, 4, 6)} == {1: 1, 2: 4, 4: 16, 6: 36}
    assert isinstance(found[5], ProcessDiedError)


def test_a_task_past_its_time_limit_is_ended_and_the_others_are_done() -> None:
    started = time.monotonic()
    found = results([7, 2], workers=2, time_limit_s=3)
    assert isinstance(found[7], ProcessDiedError)
    assert found[2] == 4
    assert time.monotonic() - started < 40  # not the 60 s that the task would sleep


def test_processes_are_replaced_after_so_many_tasks() -> None:
    found = results([1, 2, 4, 6, 8], workers=2, tasks_a_process=1)
    assert found == {1: 1, 2: 4, 4: 16, 6: 36, 8: 64}


def test_a_script_without_a_guard_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(
        "print('ran')\nfrom a_module_of_tasks import square\nfrom rupeebias.processes import run_tasks\n"
        "print(sorted(found for _, found in run_tasks(square, [1, 2], workers=2)))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "ran\n[1, 4]\n"
