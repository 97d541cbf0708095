"""What a reader of a result must know: what was left out, what is partial, what cannot be computed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from .constants import LANGUAGES, USE_CASES
from .gaps import SlotGaps
from .health import MISSING, Failing, uneven_failures
from .layout import AXES, Bools, slot_codes
from .outcomes import Outcomes
from .readings import NOT_GIVEN, Readings
from .resampling import FEWEST_PROFILES
from .statuses import Status
from .tables import Row


class _Options(Protocol):
    @property
    def threshold(self) -> float: ...
    @property
    def ci(self) -> str | None: ...
    @property
    def n_permutations(self) -> int: ...


def result_warnings(
    headlines: Mapping[str, float | int | None],
    readings: Readings,
    outcomes: Outcomes,
    gaps: SlotGaps,
    tables: Mapping[str, Sequence[Row]],
    options: _Options,
) -> list[str]:
    """Return one sentence for each thing that a reader must know."""
    return [
        *_repeated(readings),
        *coverage(outcomes),
        *_uneven_failures(tables["parse_status_identifier"], readings.status.shape[1]),
        *_completeness(readings, bool(gaps.count.any())),
        *midpoints(gaps),
        *_not_computed(headlines, gaps, options),
        *floor_of_w(tables["kendall_w"]),
        *_too_few_permutations(tables, options),
    ]


def _repeated(readings: Readings) -> Iterator[str]:
    if readings.n_twice:
        yield (
            f"counted once: {plural(readings.n_twice, 'output')} given before, alike, for the same prompt "
            "and repeat; number repeats if prompts were asked several times"
        )


def coverage(outcomes: Outcomes) -> Iterator[str]:
    """Say which languages, axes and use cases have values, if not all."""
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


def _uneven_failures(rows: Sequence[Row], n_repeats: int) -> Iterator[str]:
    for axis, worst, best in uneven_failures(rows, n_repeats):
        comes_back = worst.status in (MISSING, Status.ERROR)
        remedy = "ask again before comparing" if comes_back else "a finding of its own"
        yield (
            f"{axis}: {worst.pct:.1f} % of the answers for {worst.identifier} have no value "
            f"({worst.n_failed:,} of {worst.n_expected:,}, {_commonest(worst)}), {best.pct:.1f} % for "
            f"{best.identifier} ({best.n_failed:,} of {best.n_expected:,}): {remedy}, "
            "see differential_failure"
        )


def _commonest(failing: Failing) -> str:
    if failing.n_status == failing.n_failed:
        return f"all {failing.status}"
    most = "most of them" if failing.n_status * 2 > failing.n_failed else "most often"
    return f"{most} {failing.status}"


def _completeness(readings: Readings, has_pairs: bool) -> Iterator[str]:
    missing = readings.expected & (readings.status == NOT_GIVEN)
    if missing.any():
        n_expected = plural(int(readings.expected.sum()), "expected output")
        yield f"{MISSING}: {int(missing.sum()):,} of {n_expected}, counted against parse health"
    unread = readings.expected & np.isnan(readings.values)
    if unread.any():
        found = f"{plural(int(unread.sum()), 'answer')} of {plural(_slots_of(unread), 'slot')}"
        others = "; the other pairs of these are used" if has_pairs else ""
        yield f"without a value or missing: {found}{others}"
    if unread.any() and has_pairs:
        yield (
            "where answers are missing unevenly, Kendall's W, canonical and maximum gaps, deviations and the "
            "tests of both compare answers to different questions: see differential_failure"
        )


def _slots_of(cells: Bools) -> int:
    """Return how many slots have a cell that is True, each repeat a slot of its own."""
    slots, n_repeats = slot_codes(), cells.shape[1]
    touched = np.zeros((int(slots.max()) + 1, n_repeats), dtype=bool)
    rows, repeats = np.nonzero(cells)
    touched[slots[rows], repeats] = True
    return int(touched.sum())


def plural(n: int, noun: str) -> str:
    """Return "1 answer", "2,000 answers"."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def midpoints(gaps: SlotGaps) -> Iterator[str]:
    """Say how many pairs have a midpoint of 0 or below."""
    undefined, negative = int(gaps.undefined.sum()), int(gaps.negative.sum())
    if undefined:
        yield (
            f"left out: {plural(undefined, 'pair')} with a midpoint of 0 (counter-offers equal to the "
            "offer, say), where a gap is undefined"
        )
    if negative:
        yield (
            f"{plural(negative, 'pair')} with a negative midpoint (counter-offers below the offer): used "
            "with its absolute value"
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


def floor_of_w(kendall_w: Sequence[Row]) -> Iterator[str]:
    """Say what W is without any bias, if not near 0: n profiles that have nothing in common give 1 / n."""
    n_blocks = [int(str(row["n_blocks"])) for row in kendall_w if row["kendall_w"] is not None]
    floor = sum(1 / n for n in n_blocks) / len(n_blocks) if n_blocks else 0.0
    if floor > 0.1:
        yield (
            "mean_kendall_w rests on few profiles: a model without any bias would have about "
            f"{floor:.2f} here, against 0.07 in a full run"
        )


def _too_few_permutations(tables: Mapping[str, Sequence[Row]], options: _Options) -> Iterator[str]:
    """Say where one finding cannot be significant: p is at least 1 / (1 + n), adjusted for all tests."""
    n_tests = max(len(tables["maximum_observed_gap_test"]), len(tables["identifier_deviation_test"]))
    if options.n_permutations and n_tests / (1 + options.n_permutations) >= 0.05:
        yield (
            f"{options.n_permutations:,} permutations are too few for p_bh below 0.05 of one finding among "
            f"{n_tests} tests: take {20 * n_tests:,} or more"
        )
