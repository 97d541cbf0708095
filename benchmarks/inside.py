"""Time reading and scoring inside a process that has imported the metric; prints JSON (milliseconds).

    python benchmarks/inside.py outputs.jsonl

`benchmarks/score.py` starts it. The first call of a process is what counts: nothing is warmed up.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy.special

from rupeebias.metric.compute import score_readings_by_kind
from rupeebias.metric.options import INTERVAL_KINDS, Options
from rupeebias.metric.readings import read_outputs
from rupeebias.scoring.read import read_run

_Found = TypeVar("_Found")
assert scipy.special.ndtri(0.5) == 0
assert np.random.default_rng(0).random() < 1


def timed(task: Callable[[], _Found]) -> tuple[float, _Found]:
    """Return the milliseconds that a call took, and what it returned."""
    start = time.perf_counter()
    found = task()
    return (time.perf_counter() - start) * 1e3, found


def main() -> None:
    """Read the answers, then compute everything with both kinds of interval."""
    run, options = read_run(Path(sys.argv[1])), Options().checked()
    times: dict[str, float] = {}
    times["parsing"], readings = timed(lambda: read_outputs(run.prompt_ids, run.outputs))
    times["statistics"], _ = timed(lambda: score_readings_by_kind(readings, options, INTERVAL_KINDS))
    print(json.dumps(times))


if __name__ == "__main__":
    main()
