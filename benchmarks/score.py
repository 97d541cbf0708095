"""Time `rupeebias score` against the straightforward way, on the same files, results checked.

    python benchmarks/score.py                    # one and nine models, baseline on one
    python benchmarks/score.py --models 1 --repeats 5
    python benchmarks/score.py --baseline-models 9   # nothing extrapolated; takes minutes

Both run as whole processes, interpreter start and imports included. Exit status 1 if a point
estimate differs by more than 1e-9 or an interval by more than two bootstraps of the same law do.
"""

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
POINT_TOLERANCE = 1e-9
END_ERROR_IN_WIDTHS = 0.0152
"""Standard error of a percentile end over the interval's width, 2,000 resamples of a normal law."""
LARGEST_RMS, LARGEST_ERROR = 1.5, 6.0
"""Limits on differences of ends, in standard errors of the difference of two bootstraps.

Two seeds of the straightforward way came to rms 0.7 to 1.05 a table; the skewed law of a maximum
reached 4.2 once.
"""
LUMPY_TABLES = {"question_robustness": 0.2}
"""Means of five or six numbers take few values, so their quantiles jump: limit in widths instead."""
TABLE_KEYS = {
    "axis": ("language", "axis"),
    "use_case": ("language", "use_case"),
    "kendall_w": ("language", "use_case", "axis"),
    "kendall_w_axis": ("language", "axis"),
    "kendall_w_use_case": ("language", "use_case"),
    "identifier_deviation": ("axis", "identifier"),
    "canonical_pair_gap": ("use_case", "axis"),
    "maximum_observed_gap": ("use_case", "axis"),
    "language_moderation": ("axis",),
    "question_robustness": ("language", "axis"),
    "merit_sensitivity": ("language", "use_case"),
    "responsiveness": ("language", "use_case"),
    "profile_rank_agreement": ("language", "use_case"),
    "parse_status": ("language", "use_case", "status"),
    "parse_status_identifier": ("axis", "identifier", "status"),
}

Record = dict[str, Any]


class Measurement(NamedTuple):
    """What one process took."""

    seconds: float
    cpu_seconds: float
    """User and system time: what is left to compare when other programs keep the cores busy."""
    peak_mb: float


class Ends(NamedTuple):
    """One interval end in both results."""

    table: str
    difference: float
    width: float


class Baseline(NamedTuple):
    """The straightforward way on some runs."""

    measured: Measurement
    runs: list[Path]
    results: list[Record]


# --- Processes ------------------------------------------------------------------------------------


def measure(command: list[str], output: Path | None = None) -> Measurement:
    """Return time and peak memory of a process of its own; its failure ends the benchmark."""
    with (output or Path(os.devnull)).open("w", encoding="utf-8") as file, tempfile.TemporaryFile() as log:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=file, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        log.seek(0)
        said = log.read().decode(errors="replace")[-2000:]
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{said}\nexit status {process.returncode}: {' '.join(command[:6])} ...")
    # Linux counts kilobytes, macOS bytes.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return Measurement(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def score_command(runs: list[Path], ci: str, output: Path) -> list[str]:
    """Return our command."""
    files = [str(run) for run in runs]
    command = [sys.executable, "-m", "rupeebias", "score", *files]
    return [*command, "--ci", ci, "--json", str(output)]


def measure_ours(runs: list[Path], ci: str, output: Path, repeats: int) -> list[Measurement]:
    """Return our measurements; the results lie in the output file."""
    return [measure(score_command(runs, ci, output)) for _ in range(repeats)]


def run_baseline(runs: list[Path], folder: Path) -> Baseline:
    """Return time and results of the straightforward way."""
    output = folder / f"straightforward_{len(runs)}.json"
    script = str(HERE / "straightforward.py")
    measured = measure([sys.executable, script, *(str(run) for run in runs)], output)
    return Baseline(measured, runs, read_results(output))


def read_results(path: Path) -> list[Record]:
    """Return the results of one or many runs, in the order given."""
    loaded = json.loads(path.read_text(encoding="utf-8"))
    return [run["result"] for run in loaded] if isinstance(loaded, list) else [loaded]


def baseline_times(baseline: Baseline, n_models: int) -> tuple[float, float, bool]:
    """Return the baseline's wall and CPU time for a number of models, and whether extrapolated.

    Only the work grows with the models: the imports are timed alone and counted once.
    """
    whole = baseline.measured
    if n_models == len(baseline.runs):
        return whole.seconds, whole.cpu_seconds, False
    start = measure([sys.executable, "-c", "import numpy, pandas, scipy.stats"])
    factor = n_models / len(baseline.runs)
    seconds = start.seconds + factor * (whole.seconds - start.seconds)
    return seconds, start.cpu_seconds + factor * (whole.cpu_seconds - start.cpu_seconds), True


# --- Agreement ------------------------------------------------------------------------------------


def iter_row_pairs(ours: Record, theirs: Record) -> Iterator[tuple[str, Record, Record]]:
    """Yield (table, our row, the baseline's row); a row that one side lacks holds None there.

    The headline is a table of one row. Statuses that do not occur may be left out or counted 0.
    What only we compute is passed over: slices of both languages together, and further tables.
    """
    yield "headline", ours, {name: value for name, value in theirs.items() if name != "tables"}
    for table, keys in TABLE_KEYS.items():
        mine, other = (
            {
                tuple(row[key] for key in keys): row
                for row in side["tables"][table]
                if row.get("language") != "all"
            }
            for side in (ours, theirs)
        )
        absent: Record = {"n": 0} if table.startswith("parse_status") else {}
        for key in mine | other:
            named = dict(zip(keys, key, strict=True))
            row = mine.get(key, named | absent)
            yield table, row, other.get(key, dict.fromkeys(row) | named | absent)


def differs(ours: object, theirs: object) -> bool:
    """Return whether two point estimates are not the same."""
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return not math.isclose(ours, theirs, rel_tol=POINT_TOLERANCE, abs_tol=POINT_TOLERANCE)
    return ours != theirs


def point_faults(ours: Record, theirs: Record) -> list[str]:
    """Return a line for each shared point estimate that differs."""
    return [
        f"{table} {[v for v in row.values() if isinstance(v, str)]}: {name} "
        f"{mine.get(name)!r}, straightforward {value!r}"
        for table, mine, row in iter_row_pairs(ours, theirs)
        for name, value in row.items()
        if not name.endswith(("ci_low", "ci_high")) and differs(mine.get(name), value)
    ]


def iter_ends(ours: Record, theirs: Record) -> Iterator[Ends]:
    """Yield each interval end that both results hold, with the baseline's width."""
    for table, mine, row in iter_row_pairs(ours, theirs):
        for low in (name for name in row if name.endswith("ci_low") and row[name] is not None):
            high = low.removesuffix("low") + "high"
            for end in (low, high):
                value = mine.get(end)
                difference = math.nan if value is None else value - row[end]
                yield Ends(table, difference, row[high] - row[low])


def in_widths(ends: Ends) -> float:
    """Return the difference over the interval's width; an interval without width must be met."""
    if ends.width == 0:
        return 0.0 if ends.difference == 0 else math.inf
    return ends.difference / ends.width


def interval_line(table: str, group: list[Ends]) -> tuple[str, bool]:
    """Return what is said of a table's interval ends, and whether they agree."""
    if table in LUMPY_TABLES:
        largest = max(abs(in_widths(ends)) for ends in group)
        text = f"largest difference {largest:.3f} of the width"
        return f"{table} ({len(group)} ends): {text}", largest <= LUMPY_TABLES[table]
    errors = [in_widths(ends) / (math.sqrt(2) * END_ERROR_IN_WIDTHS) for ends in group]
    rms = math.sqrt(statistics.fmean(error * error for error in errors))
    largest = max(map(abs, errors))
    text = f"rms {rms:.2f}, largest {largest:.2f} standard errors"
    return f"{table} ({len(group)} ends): {text}", rms <= LARGEST_RMS and largest <= LARGEST_ERROR


def report_agreement(ours: list[Record], theirs: list[Record]) -> bool:
    """Print how well both results agree, and return whether they do."""
    faults = [line for pair in zip(ours, theirs, strict=True) for line in point_faults(*pair)]
    print(f"\npoint estimates: {len(faults)} differ by more than {POINT_TOLERANCE:g}")
    for line in faults[:10]:
        print(f"  {line}")
    groups: dict[str, list[Ends]] = {}
    for pair in zip(ours, theirs, strict=True):
        for ends in iter_ends(*pair):
            groups.setdefault(ends.table, []).append(ends)
    print("interval ends, ours minus straightforward (1.0 is expected of two bootstraps):")
    agree = not faults
    for table, group in groups.items():
        line, good = interval_line(table, group)
        print(f"  {line}{'' if good else '   DISAGREES'}")
        agree = agree and good
    return agree


# --- Report ---------------------------------------------------------------------------------------


def machine() -> str:
    """Return what the times depend on."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, "
        f"{platform.system()} {platform.machine()}"
    )


def print_times(label: str, measured: list[Measurement]) -> tuple[float, float]:
    """Print least and median time, CPU time and peak memory; return both medians."""
    seconds = [one.seconds for one in measured]
    median = statistics.median(seconds)
    cpu = statistics.median(one.cpu_seconds for one in measured)
    peak = max(one.peak_mb for one in measured)
    times = f"{min(seconds):8.2f} / {median:.2f} s   CPU {cpu:.2f} s   peak {peak:.0f} MB"
    print(f"  {label:<40}{times}")
    return median, cpu


def compare_times(runs: list[Path], baseline: Baseline, folder: Path, repeats: int) -> None:
    """Print our times for these runs, the baseline's, and the ratio."""
    print(f"\n{len(runs)} model{'s' if len(runs) > 1 else ''}, least / median of {repeats}")
    pairs = measure_ours(runs, "pairs", folder / f"pairs_{len(runs)}.json", repeats)
    cluster = measure_ours(runs, "cluster", folder / f"cluster_{len(runs)}.json", repeats)
    median, cpu = print_times("rupeebias score --ci pairs", pairs)
    print_times("rupeebias score --ci cluster", cluster)
    seconds, cpu_seconds, extrapolated = baseline_times(baseline, len(runs))
    note = f"EXTRAPOLATED from {len(baseline.runs)}" if extrapolated else "one process"
    label, peak = f"straightforward.py ({note})", baseline.measured.peak_mb
    print(f"  {label:<40}{seconds:8.2f} s   CPU {cpu_seconds:.2f} s   peak {peak:.0f} MB")
    print(
        f"  ratio, straightforward / --ci pairs: {seconds / median:.0f}, by CPU time {cpu_seconds / cpu:.0f}"
    )


def print_inside(run: Path, repeats: int) -> None:
    """Print how long parsing, and all statistics with both kinds of interval, take after the imports."""
    command = [sys.executable, str(HERE / "inside.py"), str(run)]
    rounds = [json.loads(subprocess.check_output(command)) for _ in range(repeats)]
    print(f"\none model, first call after the imports, least / median of {repeats}")
    for part in rounds[0]:
        times = [one[part] for one in rounds]
        print(f"  {part:<40}{min(times):8.0f} / {statistics.median(times):.0f} ms")
    sums = [sum(one.values()) for one in rounds]
    print(f"  {'both':<40}{min(sums):8.0f} / {statistics.median(sums):.0f} ms")


def parse_arguments() -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", default="1,9", help="numbers of models to time, e.g. 1,9")
    parser.add_argument("--baseline-models", type=int, default=1, help="models the baseline scores")
    parser.add_argument("--repeats", type=int, default=5, help="processes of ours a timing")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def benchmark(options: argparse.Namespace, folder: Path) -> bool:
    """Make the runs, time both ways, and return whether their results agree."""
    sizes = [int(size) for size in options.models.split(",")]
    n_runs = max(*sizes, options.baseline_models, 1)
    maker = [sys.executable, str(HERE / "make_outputs.py"), str(folder)]
    measure([*maker, "--runs", str(n_runs), "--seed", str(options.seed)])
    runs = [folder / f"run_{run}.jsonl" for run in range(1, n_runs + 1)]
    print(machine())
    print_inside(runs[0], options.repeats)
    baseline = run_baseline(runs[: options.baseline_models], folder)
    for size in sizes:
        compare_times(runs[:size], baseline, folder, options.repeats)
    output = folder / "checked.json"
    measure(score_command(baseline.runs, "pairs", output))
    return report_agreement(read_results(output), baseline.results)


def main() -> None:
    """Run the benchmark in a temporary folder."""
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        if not benchmark(options, Path(folder)):
            sys.exit("the results do not agree")


if __name__ == "__main__":
    main()
