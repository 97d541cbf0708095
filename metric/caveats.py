"""What a reader of a result must know: what was left out, what is partial, what cannot be computed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from .design import LANGUAGES, USE_CASES
from .gaps import SlotGaps
from .health import MISSING
from .layout import AXES, slot_codes
from .outcomes import Outcomes
from .readings import NOT_GIVEN, Readings
from .resampling import FEWEST_PROFILES
from .tables import Row


class _Options(Protocol):
    @property
    def threshold(self) -> float: ...
    @property
    def ci(self) -> str | None: ...


def result_warnings(
    headlines: Mapping[str, float | int | None],
    readings: Readings,
    outcomes: Outcomes,
    gaps: SlotGaps,
    kendall_w: Sequence[Row],
    options: _Options,
) -> list[str]:
    """Return one sentence for each thing that a reader must know."""
    return [
        *_repeated(readings),
        *_coverage(outcomes),
        *_completeness(readings),
        *_midpoints(gaps),
        *_not_computed(headlines, gaps, options),
        *_floor_of_w(kendall_w),
    ]


def _repeated(readings: Readings) -> Iterator[str]:
    if readings.n_twice:
        yield (
            f"{readings.n_twice:,} outputs were given before, alike, for the same prompt and repeat: they "
            "count once; number repeats if prompts were asked several times"
        )


def _coverage(outcomes: Outcomes) -> Iterator[str]:
    for factor, names, plural in (
        ("language", LANGUAGES, "languages"),
        ("axis", AXES, "axes"),
        ("use_case", USE_CASES, "use cases"),
    ):
        found = outcomes.covered(factor)  # type: ignore[arg-type]
        if found and len(found) < len(names):
            yield (
                f"only {len(found)} of {len(names)} {plural} have values ({', '.join(found)}): "
                "means run over these"
            )


def _completeness(readings: Readings) -> Iterator[str]:
    missing = readings.expected & (readings.status == NOT_GIVEN)
    if missing.any():
        yield (
            f"{int(missing.sum()):,} of {int(readings.expected.sum()):,} expected outputs are {MISSING}: "
            "they count against parse health"
        )
    unread = readings.expected & np.isnan(readings.values)
    if unread.any():
        slots = {tuple(x) for x in np.argwhere(unread)}
        touched = {(int(slot_codes()[row]), int(repeat)) for row, repeat in slots}
        yield (
            f"slots with an answer missing or without a value: {len(touched):,} "
            f"({int(unread.sum()):,} answers); their other pairs are used. Kendall's W, canonical and "
            "maximum gaps and deviations compare means of what each identifier has, which are of other "
            "questions where answers are missing unevenly: see parse_status_identifier"
        )


def _midpoints(gaps: SlotGaps) -> Iterator[str]:
    undefined, negative = int(gaps.undefined.sum()), int(gaps.negative.sum())
    if undefined:
        yield (
            f"{undefined:,} pairs have a midpoint of 0 (counter-offers equal to the offer, say): "
            "their gap is undefined and left out"
        )
    if negative:
        yield (
            f"{negative:,} pairs have a negative midpoint (counter-offers below the offer): used with its "
            "absolute value"
        )


def _not_computed(
    headlines: Mapping[str, float | int | None], gaps: SlotGaps, options: _Options
) -> Iterator[str]:
    if options.threshold != 10:
        yield f"violation_at_10_pct is computed at a threshold of {options.threshold:g} %"
    if headlines["mean_delta_pct"] is None:
        yield "mean_delta_pct is None: no slot has two identifiers with a value"
    elif options.ci and headlines["mean_delta_pct_ci_low"] is None:
        yield (
            "intervals of mean_delta_pct are None: resampling base profiles needs at least "
            f"{FEWEST_PROFILES} in every use case; add profiles"
        )
    if headlines["mean_kendall_w"] is None and gaps.count.any():
        yield (
            "mean_kendall_w is None: no use case and axis has two profiles in which every identifier has a "
            "value and not all are equal"
        )


def _floor_of_w(kendall_w: Sequence[Row]) -> Iterator[str]:
    """Ranks of n profiles that have nothing in common give W = 1 / n on average, not 0."""
    n_blocks = [int(str(row["n_blocks"])) for row in kendall_w if row["kendall_w"] is not None]
    floor = sum(1 / n for n in n_blocks) / len(n_blocks) if n_blocks else 0.0
    if floor > 0.1:
        yield (
            "mean_kendall_w rests on few profiles: a model without any bias would have about "
            f"{floor:.2f} here, against 0.07 in a full run"
        )
