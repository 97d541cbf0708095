"""The true values of a simulated respondent, from its formula; no run and no metric is involved.

With s^2 = noise_sd^2 + profile_noise_sd^2, the answers of two groups in one slot are independent
lognormal amounts with medians m_i and m_j, so a pair's gap is 200 tanh(|log(m_i / m_j) + s sqrt(2) z| / 2)
with z standard normal.

Without rounding its mean is an integral over z, computed by the trapezoidal rule on 2,001 points of
[-8.5, 8.5] (error below 1e-4 percentage points, from the kink at 0), and the share above 10 % is exact.
With rounding, the distribution of each rounded amount over its steps is exact (normal distribution
function at the steps' bounds, tails beyond 8.5 standard deviations left out) and the mean is the sum over
all pairs of amounts. Answers that are lost (refusals, unreadable ones) are not part of the truth.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtr

from rupeebias.metric.constants import CANONICAL_PAIRS, IDENTIFIERS, LANGUAGES, PROFILES, QUESTIONS, USE_CASES

from .law import GROUPS, Floats, amounts, cells, median_outcomes, outcomes_of, rounded
from .respondents import Respondent

_REACH: Final = 8.5  # standard deviations
_NODES: Final = 2_001
_TIE: Final = 1e-9  # gaps of exactly 10 %, common between rounded amounts, are not above it
_PROBES: Final = 4_001  # amounts looked at to find the steps; they find all up to log sds of about 0.3


@dataclass(frozen=True, slots=True)
class TrueGap:
    """The expected gap of a random pair in one use case, language and axis."""

    use_case: str
    """Slug."""
    language: str
    """`en` or `hinglish`."""
    axis: str
    """Slug."""
    mean_delta_pct: float
    """Expected relative pair gap, percent."""
    violation_at_10_pct: float
    """Expected share of pairs with a gap above 10 %, percent."""
    n_pairs: int
    """Pairs in this use case, language and axis; the weight in pooled means."""


@dataclass(frozen=True, slots=True)
class TrueCanonicalGap:
    """The gap between the expected means of a canonical pair, languages pooled."""

    use_case: str
    """Slug."""
    axis: str
    """Slug."""
    cpg_pct: float
    """(reference - comparison) / midpoint of the expected means, percent."""


@dataclass(frozen=True, slots=True)
class TrueDeviation:
    """How far an identifier's expected mean is from the mean of its axis."""

    axis: str
    """Slug."""
    identifier: str
    """Slug."""
    deviation_pct: float
    """Percent, averaged over use cases and languages."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a run of a respondent estimates."""

    respondent: Respondent
    """The respondent with its parameters."""
    mean_delta_pct: float
    """Over all pairs of the benchmark."""
    english_mean_delta_pct: float
    """Over the pairs of the English prompts."""
    hinglish_mean_delta_pct: float
    """Over the pairs of the Hinglish prompts."""
    violation_at_10_pct: float
    """Over all pairs of the benchmark."""
    gaps: tuple[TrueGap, ...]
    """Each use case, language and axis, in benchmark order."""
    canonical_pair_gaps: tuple[TrueCanonicalGap, ...]
    """Each use case and axis."""
    identifier_deviations: tuple[TrueDeviation, ...]
    """Each identifier."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """One use case and language."""

    by_axis: dict[str, tuple[float, float]]
    """Axis to mean gap and share above 10 %, in percent."""
    expected: Floats
    """Expected outcome by group, averaged over the slots."""


def true_gaps(respondent: Respondent) -> Truth:
    """Return the true values of a respondent; the module says how they are computed."""
    make = _rounded_cell if respondent.rounding else _smooth_cell
    made = {cell: make(respondent, *cell) for cell in cells()}
    gaps = tuple(gap for names, cell in made.items() for gap in _gaps(*names, cell))
    means = {names: cell.expected for names, cell in made.items()}
    return Truth(
        respondent=respondent,
        mean_delta_pct=_pooled_gap(gaps),
        english_mean_delta_pct=_pooled_gap([gap for gap in gaps if gap.language == "en"]),
        hinglish_mean_delta_pct=_pooled_gap([gap for gap in gaps if gap.language == "hinglish"]),
        violation_at_10_pct=_weighted([(gap.violation_at_10_pct, gap.n_pairs) for gap in gaps]),
        gaps=gaps,
        canonical_pair_gaps=tuple(_canonical_gaps(means)),
        identifier_deviations=tuple(_deviations(means)),
    )


def _gaps(use_case: str, language: str, cell: _Cell) -> Iterator[TrueGap]:
    for axis, (mean, above) in cell.by_axis.items():
        k = len(IDENTIFIERS[axis])
        n_pairs = PROFILES[use_case] * QUESTIONS[use_case] * k * (k - 1) // 2
        yield TrueGap(use_case, language, axis, mean, above, n_pairs)


def _pooled_gap(gaps: Sequence[TrueGap]) -> float:
    return _weighted([(gap.mean_delta_pct, gap.n_pairs) for gap in gaps])


def _weighted(values: list[tuple[float, int]]) -> float:
    return sum(value * weight for value, weight in values) / sum(weight for _, weight in values)


def _log_sd(respondent: Respondent) -> float:
    return float(np.hypot(respondent.noise_sd, respondent.profile_noise_sd))


def _rows(axis: str) -> slice:
    start = [group_axis for group_axis, _ in GROUPS].index(axis)
    return slice(start, start + len(IDENTIFIERS[axis]))


def _smooth_cell(respondent: Respondent, use_case: str, language: str) -> _Cell:
    medians = median_outcomes(respondent, use_case, language)
    # Base and question are the same for both of a pair, so one slot stands for all.
    slot = medians[:, 0, 0]
    return _Cell(
        {axis: _smooth_gap(slot[_rows(axis)], _log_sd(respondent)) for axis in IDENTIFIERS},
        medians.mean(axis=(1, 2)) * np.exp(_log_sd(respondent) ** 2 / 2),
    )


def _smooth_gap(medians: Floats, log_sd: float) -> tuple[float, float]:
    """Return mean gap and share above 10 % over all pairs of lognormal amounts, in percent."""
    first, second = np.triu_indices(len(medians), 1)
    shift = np.log(medians[first] / medians[second])
    bound = 2 * np.arctanh(0.05)
    if log_sd == 0:
        gap = 200 * np.tanh(np.abs(shift) / 2)
        return float(gap.mean()), 100 * float(np.mean(np.abs(shift) > bound))
    spread = log_sd * np.sqrt(2)
    z = np.linspace(-_REACH, _REACH, _NODES)
    density = np.exp(-z * z / 2)
    density /= density.sum()
    gaps = 200 * np.tanh(np.abs(shift[:, None] + spread * z) / 2)
    mean = float((gaps * density).sum(axis=1).mean())
    above = ndtr((shift - bound) / spread) + ndtr((-shift - bound) / spread)
    return mean, 100 * float(np.mean(above))


def _rounded_cell(respondent: Respondent, use_case: str, language: str) -> _Cell:
    medians = median_outcomes(respondent, use_case, language)
    expected = np.zeros(len(GROUPS))
    sums = {axis: np.zeros(3) for axis in IDENTIFIERS}
    for profile, question in np.ndindex(medians.shape[1:]):
        outcomes, shares = _distribution(respondent, use_case, medians[:, profile, question], profile)
        expected += shares @ outcomes
        gap, known = _gap_matrix(outcomes)
        for axis, total in sums.items():
            own = shares[_rows(axis)]
            total += [_over_pairs(own, matrix) for matrix in (gap, (gap > 10 + _TIE) * known, known)]
    by_axis = {
        axis: (float(total / known), float(100 * above / known))
        for axis, (total, above, known) in sums.items()
    }
    return _Cell(by_axis, expected / (medians.shape[1] * medians.shape[2]))


def _over_pairs(shares: Floats, matrix: Floats) -> float:
    """Return the sum over all pairs of groups of the expectation of a symmetric function of two outcomes."""
    everyone = shares.sum(axis=0)
    themselves = float(np.sum((shares @ matrix) * shares))
    return (float(everyone @ matrix @ everyone) - themselves) / 2


def _gap_matrix(outcomes: Floats) -> tuple[Floats, Floats]:
    """Return the relative gap of each two outcomes, in percent, and whether it is defined."""
    middle = np.abs(outcomes[:, None] + outcomes) / 2
    known = middle > 0
    gap = np.abs(outcomes[:, None] - outcomes) / np.where(known, middle, 1.0) * 100
    return np.where(known, gap, 0.0), known.astype(float)


def _distribution(
    respondent: Respondent, use_case: str, medians: Floats, profile: int
) -> tuple[Floats, Floats]:
    """Return the rounded outcomes that one slot can give, and each group's shares of them."""
    spread = _log_sd(respondent)
    if spread == 0:
        outcomes = _rounded_outcomes(respondent, use_case, medians, profile)
        values, where = np.unique(outcomes, return_inverse=True)
        return values, np.eye(len(values))[where]
    low, high = medians.min() * np.exp(-_REACH * spread), medians.max() * np.exp(_REACH * spread)
    values = np.unique(_rounded_outcomes(respondent, use_case, np.geomspace(low, high, _PROBES), profile))
    # Steps change only at amounts that are themselves steps of both sizes, so the bounds between two
    # neighbouring values lie in their middle.
    bounds = np.log(np.maximum((values[:-1] + values[1:]) / 2, low))
    below = ndtr((bounds - np.log(medians)[:, None]) / spread)
    edge = np.ones((len(medians), 1))
    return values, np.diff(np.hstack([0 * edge, below, edge]), axis=1)


def _rounded_outcomes(respondent: Respondent, use_case: str, outcomes: Floats, profile: int) -> Floats:
    """Return the outcomes as they are after an answer has rounded its amount."""
    if use_case != "counter_offer":
        return rounded(use_case, outcomes, rounding=respondent.rounding)
    table = np.zeros((PROFILES[use_case], len(outcomes)))
    table[profile] = outcomes
    said = rounded(use_case, amounts(use_case, table, profile_axis=0), rounding=respondent.rounding)
    result: Floats = outcomes_of(use_case, said, profile_axis=0)[profile]
    return result


def _canonical_gaps(means: dict[tuple[str, str], Floats]) -> list[TrueCanonicalGap]:
    found: list[TrueCanonicalGap] = []
    for use_case in USE_CASES:
        pooled = np.mean([means[use_case, language] for language in LANGUAGES], axis=0)
        for axis, pair in CANONICAL_PAIRS.items():
            reference, comparison = (pooled[GROUPS.index((axis, slug))] for slug in pair)
            middle = (reference + comparison) / 2
            found.append(TrueCanonicalGap(use_case, axis, float((reference - comparison) / middle * 100)))
    return found


def _deviations(means: dict[tuple[str, str], Floats]) -> list[TrueDeviation]:
    found: list[TrueDeviation] = []
    for axis, slugs in IDENTIFIERS.items():
        rows = _rows(axis)
        deviations = [mean[rows] / mean[rows].mean() - 1 for mean in means.values()]
        averaged = 100 * np.mean(deviations, axis=0)
        found.extend(
            TrueDeviation(axis, slug, float(value)) for slug, value in zip(slugs, averaged, strict=True)
        )
    return found
