"""What a reader without statistics should know first: the numbers behind the first screen's sentences."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from rupeebias.metric import Result
from rupeebias.metric.design import Design
from rupeebias.metric.failures import FAILED, STATUS_NAMES, uneven_failures

from ..runs import ReportRun
from .tables import ALPHA, STATUS_LABELS, label

LASTING_SHARE: Final = 0.1
"""Share of the tests from which on a run as a whole is said to have a lasting order."""
ENOUGH_PROFILES: Final = 9
"""Profiles that a test needs for its silence to mean something: the fewest of a use case in a full run."""
Order: TypeAlias = Literal["lasting", "none", "unknown", "unread", "equal"]
"""Whether the same identifiers are ahead again and again.

unknown: too little was asked to tell; unread: enough was asked, but too little could be read; equal: no two
answers differ, so nobody is ahead.
"""
ROUNDING: Final = 1e-9
"""Gaps in percent below this are none: means of equal amounts differ by the rounding of floating point."""


@dataclass(frozen=True, slots=True)
class LargestGap:
    """The widest difference between two identifiers' means in one use case and axis."""

    use_case: str
    """Name that people read, like all names here."""
    axis: str
    highest: str
    lowest: str
    pct: float
    """(highest - lowest) / midpoint x 100."""
    low: float | None
    """95 % interval."""
    high: float | None
    on_markup: bool
    """True where it is the markup over an offer that differs, not the amount."""


@dataclass(frozen=True, slots=True)
class Lean:
    """An identifier and how far it lies from its axis on average, in percent."""

    name: str
    axis: str
    pct: float


@dataclass(frozen=True, slots=True)
class Noise:
    """How far answers to one question lie apart, where it was asked several times."""

    pct: float
    """Mean gap between two answers to one question, in percent."""
    excess: float
    """What the mean gap between groups has beyond it, in percentage points."""
    low: float | None
    """95 % interval of the excess."""
    high: float | None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """An axis on which some go without a usable answer more often than others, beyond chance."""

    axis: str
    worst: str
    worst_pct: float
    n_failed: int
    n_expected: int
    """Expected answers for the worst, and those of them that failed."""
    why: str
    """What became of most of them, in words."""
    best: str
    best_pct: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One run in a few numbers."""

    run: str
    """Name of the run: hostile text."""
    mean: float | None
    """Mean relative pair gap, in percent; None where nothing can be compared."""
    low: float | None
    """95 % interval."""
    high: float | None
    by_language: tuple[tuple[str, float | None], ...]
    """Label of each language, and the mean gap in it."""
    violations: float | None
    """Share of the pairs further apart than the threshold, in percent."""
    threshold: float
    """Gap in percent."""
    n_tests: int
    """Tests for a consistent order of the identifiers: one for each use case, language and axis."""
    n_consistent: int
    """Tests whose adjusted p-value lies below 5 %."""
    largest: LargestGap | None
    most: Lean | None
    """The identifier furthest above its axis."""
    least: Lean | None
    """The identifier furthest below its axis."""
    n_prompts: int
    """Different prompts that were answered."""
    n_repeats: int
    """How often each prompt was asked."""
    noise: Noise | None
    """None where no prompt has two answers."""
    read_pct: float | None
    """Share of the expected answers that could be read, in percent."""
    failed: tuple[str, float] | None
    """What became of most of those that could not, in words, and its share of all; None if all could."""
    unanswered: tuple[Unanswered, ...]
    """The widest difference first."""
    n_profiles: int
    """Profiles that the largest of the tests compares."""
    n_asked_profiles: int
    """Profiles of the use case of which most were asked."""

    @property
    def order(self) -> Order:
        """Whether enough tests find an order that repeats, and if not, whether they could have."""
        if self.mean is not None and self.mean < ROUNDING:
            return "equal"
        if self.n_tests and self.n_consistent >= LASTING_SHARE * self.n_tests:
            return "lasting"
        if self.n_profiles >= ENOUGH_PROFILES:
            return "none"
        return "unread" if self.n_asked_profiles >= ENOUGH_PROFILES else "unknown"


def finding(run: ReportRun) -> Finding:
    """Return what the first screen says about a run."""
    result = run.result
    tests = [row for row in result["tables"]["kendall_w"] if row["p_bh"] is not None]
    leans = _leans(result, run.design)
    return Finding(
        run=run.name,
        mean=result["mean_delta_pct"],
        low=result["mean_delta_pct_ci_low"],
        high=result["mean_delta_pct_ci_high"],
        by_language=tuple(
            (language.label, result[f"{language.split}_mean_delta_pct"]) for language in run.design.languages
        ),
        violations=result["violation_at_10_pct"],
        threshold=result["settings"]["threshold"],
        n_tests=len(tests),
        n_consistent=sum(row["p_bh"] < ALPHA for row in tests),
        largest=_largest(result, run.design),
        most=max(leans, key=lambda lean: lean.pct, default=None),
        least=min(leans, key=lambda lean: lean.pct, default=None),
        n_prompts=len(run.asked),
        n_repeats=len(set(run.answers.repeats)),
        noise=_noise(result),
        read_pct=result["parse_health_pct"],
        failed=_failed(result),
        unanswered=_unanswered(run),
        n_profiles=max((row["n_blocks"] for row in tests), default=0),
        n_asked_profiles=_most_profiles(run.asked),
    )


def _noise(result: Result) -> Noise | None:
    rows = [row for row in result["tables"]["noise_floor"] if row["language"] == "all"]
    return next((Noise(*(row[name] for name in _NOISE)) for row in rows), None)


_NOISE: Final = ("noise_floor_pct", "excess_pct", "ci_low", "ci_high")


def _failed(result: Result) -> tuple[str, float] | None:
    counts: Counter[str] = Counter()
    for row in result["tables"]["parse_status"]:
        counts[row["status"]] += row["n"]
    status = max((STATUS_NAMES[at] for at in FAILED), key=lambda name: counts[name])
    return (STATUS_LABELS[status], counts[status] / counts.total() * 100) if counts[status] else None


def _unanswered(run: ReportRun) -> tuple[Unanswered, ...]:
    tables = run.result["tables"]
    found = uneven_failures(tables["differential_failure"], tables["parse_status_identifier"])
    return tuple(
        Unanswered(
            axis=run.design.axis[one.axis].label,
            worst=label(run.design, "identifier", one.worst.identifier, one.axis),
            worst_pct=one.worst.failed_pct,
            n_failed=one.worst.n_failed,
            n_expected=one.worst.n_expected,
            why=STATUS_LABELS[one.status],
            best=label(run.design, "identifier", one.best.identifier, one.axis),
            best_pct=one.best.failed_pct,
        )
        for one in sorted(found, key=lambda x: x.best.failed_pct - x.worst.failed_pct)
    )


def _most_profiles(prompt_ids: Iterable[str]) -> int:
    asked = {tuple(prompt_id.split(":")[0:5:4]) for prompt_id in prompt_ids}
    return max(Counter(use_case for use_case, _ in asked).values(), default=0)


def _largest(result: Result, design: Design) -> LargestGap | None:
    """Return the largest gap, of comparisons with a consistent order if there are any; None if all are 0."""
    rows = [row for row in result["tables"]["maximum_observed_gap"] if row["mog_pct"] is not None]
    consistent = {
        (row["use_case"], row["axis"])
        for row in result["tables"]["kendall_w"]
        if row["p_bh"] is not None and row["p_bh"] < ALPHA
    }
    chosen = [row for row in rows if (row["use_case"], row["axis"]) in consistent] or rows
    row = max(chosen, key=lambda row: row["mog_pct"], default=None)
    if row is None or row["mog_pct"] < ROUNDING:  # nobody gets more
        return None
    return _largest_gap(row, design, result["settings"]["outcome"])


def _largest_gap(row: dict[str, Any], design: Design, outcome: str) -> LargestGap:
    axis = row["axis"]
    return LargestGap(
        use_case=design.use_case[row["use_case"]].label,
        axis=design.axis[axis].label,
        highest=label(design, "identifier", row["highest"], axis),
        lowest=label(design, "identifier", row["lowest"], axis),
        pct=row["mog_pct"],
        low=row["ci_low"],
        high=row["ci_high"],
        on_markup=design.use_case[row["use_case"]].outcome == outcome == "markup",
    )


def _leans(result: Result, design: Design) -> list[Lean]:
    return [
        Lean(
            label(design, "identifier", row["identifier"], row["axis"]),
            design.axis[row["axis"]].label,
            row["deviation_pct"],
        )
        for row in result["tables"]["identifier_deviation"]
        if row["deviation_pct"] is not None
    ]


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with a mean gap, the smallest first."""
    return sorted((x for x in findings if x.mean is not None), key=lambda finding: finding.mean or 0.0)
