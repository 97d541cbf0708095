"""What a reader of a result must know: what was left out, what is partial, what cannot be computed."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .design import PERCENT, Design
from .failures import MISSING, UnevenFailure, uneven_failures
from .gaps import SlotGaps
from .layout import Bools, layout_of
from .options import Options
from .outcomes import Factor, Outcomes
from .readings import NOT_GIVEN, Readings
from .resampling import FEWEST_PROFILES
from .sensitivity import missing_altogether
from .statistics import Statistics
from .statuses import Status
from .tables import Cell, Row

DOMINANT_SHARE = 0.1
"""Share of the sum of all gaps from which its largest 0.1 % are mentioned."""


def result_warnings(
    headlines: Mapping[str, Cell],
    readings: Readings,
    statistics: Statistics,
    tables: Mapping[str, Sequence[Row]],
    options: Options,
) -> list[str]:
    """Return one sentence for each thing that a reader must know."""
    gaps = statistics.gaps
    uneven = uneven_failures(tables["differential_failure"], tables["parse_status_identifier"])
    return [
        *_repeated(readings),
        *coverage(statistics.outcomes),
        *missing_altogether(tables["completeness"]),
        *_slips(tables["magnitude_slips"]),
        *_few_profiles(tables["systematic_gap"], options),
        *map(_uneven, uneven),
        *_completeness(readings, bool(gaps.count.any())),
        *special_pairs(gaps),
        *_dominated(gaps),
        *_not_computed(headlines, gaps, options),
        *floor_of_w(tables["kendall_w"], statistics.design),
        *_too_few_permutations(tables, options),
    ]


def _repeated(readings: Readings) -> Iterator[str]:
    if readings.n_twice:
        yield (
            f"counted once: {plural(readings.n_twice, 'output')} given before, alike, for the same prompt "
            "and repeat; number repeats if prompts were asked several times"
        )


def _slips(rows: Sequence[Row]) -> Iterator[str]:
    """Say how many amounts seem to have a zero too many or too few; each stands in one axis."""
    n = sum(int(row["n"] or 0) for row in rows)
    if n:
        yield (
            f"{plural(n, 'suspected magnitude slip')} (a zero too many or too few): used as they are, see "
            "magnitude_slips, and without_slips in sensitivity"
        )


def _few_profiles(rows: Sequence[Row], options: Options) -> Iterator[str]:
    without = [row for row in rows if row["ci_low"] is None]
    if options.ci and without:
        yield (
            f"{len(without)} of {len(rows)} rows of systematic_gap have no interval: it needs 4 profiles in "
            "every use case"
        )


def coverage(outcomes: Outcomes) -> Iterator[str]:
    """Say which languages, axes and use cases have values, if not all."""
    factors: dict[Factor, str] = {"language": "languages", "axis": "axes", "use_case": "use cases"}
    for factor, plural_name in factors.items():
        found, names = outcomes.covered(factor), getattr(outcomes.design, f"{factor}_names")
        if found and len(found) < len(names):
            yield (
                f"only {len(found)} of {len(names)} {plural_name} have values ({', '.join(found)}): "
                "means run over these"
            )


def _uneven(found: UnevenFailure) -> str:
    worst, best = found.worst, found.best
    remedy = "a finding of its own"
    if found.status in (MISSING, Status.ERROR):
        remedy = "ask again before comparing"
    commonest = f"all {found.status}"
    if found.n_status != worst.n_failed:
        most = "most of them" if found.n_status * 2 > worst.n_failed else "most often"
        commonest = f"{most} {found.status}"
    return (
        f"{found.axis}: {worst.failed_pct:.1f} % of the answers for {worst.identifier} have no value "
        f"({worst.n_failed:,} of {worst.n_expected:,}, {commonest}), {best.failed_pct:.1f} % for "
        f"{best.identifier} ({best.n_failed:,} of {best.n_expected:,}): {remedy}, see differential_failure"
    )


def _completeness(readings: Readings, has_pairs: bool) -> Iterator[str]:
    missing = readings.expected & (readings.status == NOT_GIVEN)
    if missing.any():
        n_expected = plural(int(readings.expected.sum()), "expected output")
        yield f"{MISSING}: {int(missing.sum()):,} of {n_expected}, counted against parse health"
    unread = readings.expected & np.isnan(readings.values)
    if unread.any():
        found = (
            f"{plural(int(unread.sum()), 'answer')} of {plural(_slots_of(unread, readings.design), 'slot')}"
        )
        others = "; the other pairs of these are used" if has_pairs else ""
        yield f"without a value or missing: {found}{others}"


def _slots_of(cells: Bools, design: Design) -> int:
    """Return how many slots have a cell that is True, each repeat a slot of its own."""
    slots, n_repeats = layout_of(design).slot_codes, cells.shape[1]
    touched = np.zeros((int(slots.max()) + 1, n_repeats), dtype=bool)
    rows, repeats = np.nonzero(cells)
    touched[slots[rows], repeats] = True
    return int(touched.sum())


def plural(n: int, noun: str) -> str:
    """Return "1 answer", "2,000 answers"."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def special_pairs(gaps: SlotGaps) -> Iterator[str]:
    """Say in which use cases pairs have no gap, and where values lie below 0."""
    for at, use_case in enumerate(gaps.design.use_cases):
        undefined, below = (
            int(part[..., gaps.use_case == at].sum()) for part in (gaps.undefined, gaps.below_zero)
        )
        label = use_case.label
        if undefined:
            kind = {"markup": "markups", PERCENT: "percentages"}.get(use_case.outcome, "amounts")
            yield f"left out: {plural(undefined, 'pair')} of {label}: {kind} that add up to 0 have no gap"
        if below:
            how = (
                "their gap is negative" if gaps.definitions == "paper" else "used, in percent of their sizes"
            )
            yield f"{plural(below, 'pair')} of {label} with a value below 0: {how}"


def _dominated(gaps: SlotGaps) -> Iterator[str]:
    if gaps.largest_share > DOMINANT_SHARE:
        share = f"{gaps.largest_share * 100:.0f} %"
        yield f"the largest 0.1 % of the pairs make {share} of the sum of all gaps: see sensitivity"


def _not_computed(headlines: Mapping[str, Cell], gaps: SlotGaps, options: Options) -> Iterator[str]:
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


def floor_of_w(kendall_w: Sequence[Row], design: Design) -> Iterator[str]:
    """Say what W is without any bias, if not near 0: n profiles that have nothing in common give 1 / n."""
    n_blocks = [int(row["n_blocks"] or 0) for row in kendall_w if row["kendall_w"] is not None]
    floor = sum(1 / n for n in n_blocks) / len(n_blocks) if n_blocks else 0.0
    in_full = sum(1 / one.n_profiles for one in design.use_cases) / len(design.use_cases)
    if floor > 1.4 * in_full:
        yield (
            "mean_kendall_w rests on few profiles: a model without any bias would have about "
            f"{floor:.2f} here, against {in_full:.2f} in a full run"
        )


def _too_few_permutations(tables: Mapping[str, Sequence[Row]], options: Options) -> Iterator[str]:
    """Say where one finding cannot be significant: p is at least 1 / (1 + n), adjusted for all tests."""
    n_tests = max(len(tables["maximum_observed_gap_test"]), len(tables["identifier_deviation_test"]))
    if options.n_permutations and n_tests / (1 + options.n_permutations) >= 0.05:
        yield (
            f"{options.n_permutations:,} permutations are too few for p_bh below 0.05 of one finding among "
            f"{n_tests} tests: take {20 * n_tests:,} or more"
        )
