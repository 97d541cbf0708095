"""Time `rupeebias leaderboard` on full submissions, mostly of distinct answers: first build, then unchanged.

    python benchmarks/leaderboard.py                      # 20 and 200 submissions; takes ten minutes
    python benchmarks/leaderboard.py --sizes 5 20 --keep FOLDER

The submissions are made first (two seconds each, not counted) and kept with `--keep`. Memory is the peak of
the building process and of the largest worker, sampled from /proc (Linux).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from rupeebias.hub.answers import Answers, submission_name, write_answers
from rupeebias.hub.submission import FOLDER, MANIFEST, OUTPUTS, SubmissionManifest
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of
from rupeebias.runs.manifest import PromptSet
from rupeebias.runs.selection import Selection
from rupeebias.scoring.read import read_run

HERE = Path(__file__).parent
BUDGET_S = 300.0
"""Seconds that a first build of 200 submissions may take on two cores."""


class Measurement(NamedTuple):
    """What one build took."""

    seconds: float
    cpu_seconds: float
    """Of all processes."""
    parent_mb: float
    worker_mb: float
    """Of the largest worker."""


def manifest_of(seed: int, outputs: bytes) -> SubmissionManifest:
    """Return what the submission declares."""
    prompts = PromptSet.of(layout_of(DESIGN).prompt_ids)
    return SubmissionManifest(
        model=f"acme/model-{seed}",
        model_repo=None,
        provider="acme",
        settings={"provider": "acme", "temperature": 0.0, "reasoning_effort": "none", "max_tokens": 64},
        arm="standard",
        repeats=1,
        complete=prompts.count == DESIGN.n_prompts,
        selection=dict(Selection().to_json()),
        n_prompts=prompts.count,
        prompts_sha256=prompts.sha256,
        dataset_fingerprint=DESIGN.fingerprint,
        outputs_sha256=sha256(outputs).hexdigest(),
        created_at="2026-11-01T00:00:00Z",
        updated_at="2026-11-01T01:00:00Z",
        versions={},
        response_models={},
    )


def write_submission(results: Path, outputs_file: Path) -> None:
    """Write the submission of a file `run_<seed>.jsonl`."""
    seed = int(outputs_file.stem.removeprefix("run_"))
    run = read_run(outputs_file)
    size = len(run.prompt_ids)
    answers = Answers(run.prompt_ids, [0] * size, run.outputs, ["stop"] * size, [False] * size)
    outputs = write_answers(answers, f"acme/model-{seed}")
    manifest = manifest_of(seed, outputs)
    folder = results / FOLDER / submission_name(manifest, answers)
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_bytes(manifest.content)
    (folder / OUTPUTS).write_bytes(outputs)


def write_submissions(results: Path, count: int) -> None:
    """Write so many submissions, on two processors; nothing if they are there."""
    if (results / FOLDER).is_dir() and len(list((results / FOLDER).iterdir())) >= count:
        return
    shutil.rmtree(results, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="rupeebias-") as made, ProcessPoolExecutor(2) as pool:
        words = [sys.executable, str(HERE / "make_outputs.py"), made, "--runs", str(count), "--exact"]
        subprocess.run(words, check=True)
        list(pool.map(partial(write_submission, results), sorted(Path(made).iterdir())))


def build(results: Path, folder: Path) -> Measurement:
    """Return what a build in a process of its own took."""
    words = [sys.executable, "-m", "rupeebias", "leaderboard", str(results), "--out", str(folder / "site")]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*words, "--cache", str(folder / "cache")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peaks: dict[int, float] = {}
    ended = threading.Event()
    watcher = threading.Thread(target=watch, args=(process.pid, peaks, ended))
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    ended.set()
    watcher.join()
    if process.returncode:
        sys.exit(f"exit status {process.returncode}: {' '.join(words)}")
    parent = peaks.pop(process.pid, 0.0)
    return Measurement(seconds, usage.ru_utime + usage.ru_stime, parent, max(peaks.values(), default=0.0))


def watch(pid: int, peaks: dict[int, float], ended: threading.Event) -> None:
    """Note the peak memory of a process and its children, in MB, until it ends."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    while not ended.wait(0.05):
        try:
            threads = [path / "children" for path in children.parent.parent.iterdir()]
            pids = {int(word) for path in threads for word in path.read_text().split()}
        except OSError:
            return
        for one in (pid, *pids):
            peaks[one] = max(peaks.get(one, 0.0), _peak_mb(one))


def _peak_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM")), 0.0)


def first_of(results: Path, count: int, folder: Path) -> Path:
    """Return a results folder with the first so many submissions."""
    part = folder / "results" / FOLDER
    part.mkdir(parents=True)
    for path in sorted((results / FOLDER).iterdir())[:count]:
        target = part / path.name
        target.mkdir()
        for file in path.iterdir():
            os.link(file, target / file.name)
    return part.parent


def main() -> None:
    """Measure the sizes that the command line asks for; exit status 1 above the budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 200])
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        results = options.keep or Path(temporary) / "made"
        write_submissions(results, max(options.sizes))
        late = False
        for size in options.sizes:
            with tempfile.TemporaryDirectory(dir=results.parent) as folder:
                part = first_of(results, size, Path(folder))
                for label in ("first", "unchanged"):
                    found = build(part, Path(folder))
                    print(
                        f"{size:4} submissions, {label:9}: {found.seconds:6.1f} s, "
                        f"{found.cpu_seconds / size:5.2f} s CPU each, parent {found.parent_mb:4.0f} MB, "
                        f"largest worker {found.worker_mb:4.0f} MB",
                        flush=True,
                    )
                    late |= found.seconds > BUDGET_S * size / 200 + 10
    sys.exit(int(late))


if __name__ == "__main__":
    main()
