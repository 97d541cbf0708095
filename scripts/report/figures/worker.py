"""A process that draws a share of the figures: the job comes as JSON on stdin, names of files leave."""

import sys
from dataclasses import asdict
from pathlib import Path

import orjson

from .records import FigureRun
from .write import draw_and_write


def main() -> None:
    """Draw the figures that the job on stdin names."""
    job = orjson.loads(sys.stdin.buffer.read())
    runs = [FigureRun(**run) for run in job["runs"]]
    out = Path(job["out"])
    written = {name: [asdict(file) for file in draw_and_write(name, runs, out)] for name in job["names"]}
    sys.stdout.buffer.write(orjson.dumps(written, default=str))


if __name__ == "__main__":
    main()
