"""The full soak: every prompt of the benchmark against a server with 5 % faults, two `kill -9` in the middle.

    python benchmarks/soak.py [--limit SLOTS] [--connections N] [--client bare|litellm|workers]

A bare HTTP client stands in for LiteLLM, whose 9 ms of CPU a call would make it last six minutes more; with
`--client litellm --limit 100` a smaller one goes through it. Prints the figures; a broken promise ends it
with an AssertionError.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from soak import check, soak

from rupeebias.runs.selection import Selection, expected_prompt_ids


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=0, help="slots; 0: all")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--client", choices=("bare", "litellm", "workers"), default="bare")
    chosen = parser.parse_args()
    requests = len(expected_prompt_ids(Selection(limit=chosen.limit or None)))
    with tempfile.TemporaryDirectory() as folder:
        result = soak(
            Path(folder),
            limit=chosen.limit,
            requests=requests,
            connections=chosen.connections,
            kind=chosen.client,
            kill_at=[requests // 3, 2 * requests // 3],
        )
    print(f"{result.requests:,} requests, {result.calls:,} calls, {result.faults:,} of them with a fault")
    print(f"{result.records:,} records, {result.keys:,} valid keys, {result.errors} errors")
    print(
        f"{result.paid:,} successful answers; lost in flight at the kills: {result.lost_at_kills}; "
        f"paid twice: {result.paid_twice}, all of them lost at a kill: {result.explained}"
    )
    print(f"calls of a rerun: {result.calls_of_rerun}; {result.seconds:.0f} s in all")
    print(result.shown.splitlines()[-1])
    check(result, chosen.connections)


if __name__ == "__main__":
    main()
