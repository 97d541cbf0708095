"""A run with its answers read: all that scoring needs, small enough to hand from process to process."""

from pathlib import Path
from typing import NamedTuple

from rupeebias.metric.errors import MetricInputError
from rupeebias.metric.parser import ParseMode
from rupeebias.metric.readings import Readings, read_outputs

from ..errors import RupeeBiasError
from .read import RunOutputs, read_run


class ParsedRun(NamedTuple):
    """One run, its answers read."""

    label: str
    """Model or file name, and the arm if it is not the standard one, for a terminal."""
    dataset_fingerprint: str | None
    """Fingerprint of the dataset whose prompts were asked; None: not known."""
    readings: Readings


def parse_run(path: Path, mode: ParseMode = "lenient", *, run: RunOutputs | None = None) -> ParsedRun:
    """Return the readings of a run; `run` holds its outputs where they have been read from `path` before.

    Raises RupeeBiasError naming the path for outputs that cannot be scored.
    """
    run = run or read_run(path)
    try:
        readings = readings_of(run, mode)
    except MetricInputError as error:
        # the metric speaks to those who call it from Python
        message = str(error).replace("pass repeats=0, 1, ...", "number them in a column `repeat` (0, 1, ...)")
        raise RupeeBiasError(f"{path}: {message}") from error
    return ParsedRun(_label(run), run.dataset_fingerprint, readings)


def readings_of(run: RunOutputs, mode: ParseMode = "lenient") -> Readings:
    """Return the readings of outputs; MetricInputError for some that cannot be scored."""
    return read_outputs(
        run.prompt_ids,
        run.outputs,
        repeats=run.repeats,
        finish_reasons=run.finish_reasons,
        errors=run.errors,
        expected=run.expected,
        n_repeats=run.n_repeats,
        mode=mode,
    )


def _label(run: RunOutputs) -> str:
    """Return a name that a terminal can show: names come from files that are not ours."""
    name = run.name if run.arm == "standard" else f"{run.name} ({run.arm})"
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
