"""The true values of a simulated respondent, from its formula; no run and no metric is involved.

With s^2 = noise_sd^2 + profile_noise_sd^2, the answers of two groups in one slot are independent
lognormal amounts with medians m_i and m_j, so a pair's gap is 200 tanh(|log(m_i / m_j) + s sqrt(2) z| / 2)
with z standard normal.

Without rounding its mean is an integral over z, computed by the trapezoidal rule on 20,001 points of
[-8.5, 8.5] (error below 1e-5 percentage points, from the kink at 0), and the share above 10 % is exact.
With rounding, the distribution of each rounded amount over its steps is exact (normal distribution
function at the steps' bounds, tails beyond 8.5 standard deviations left out) and the mean is the sum over
all pairs of amounts. Answers that are lost (refusals, unreadable ones) are not part of the truth.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from rupeebias.metric.design import CANONICAL_PAIRS, IDENTIFIERS, LANGUAGES, PROFILES, QUESTIONS, USE_CASES
from scipy.special import ndtr

from .law import GROUPS, Floats, amounts, cells, median_outcomes, outcomes_of, rounded
from .respondents import Respondent

_REACH: Final = 8.5  # standard deviations
_NODES: Final = 20_001
_PROBES: Final = 4_001  # amounts looked at to find the steps inside the reach


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


def true_gaps(respondent: Respondent) -> Truth:
    """Return the true values of a respondent; the module says how they are computed."""
    gaps = tuple(gap for use_case, language in cells() for gap in _cell_gaps(respondent, use_case, language))
    means = {cell: _expected_outcomes(respondent, *cell) for cell in cells()}
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


def _pooled_gap(gaps: tuple[TrueGap, ...] | list[TrueGap]) -> float:
    return _weighted([(gap.mean_delta_pct, gap.n_pairs) for gap in gaps])


def _weighted(values: list[tuple[float, int]]) -> float:
    return sum(value * weight for value, weight in values) / sum(weight for _, weight in values)


def _spread(respondent: Respondent) -> float:
    return float(np.hypot(respondent.noise_sd, respondent.profile_noise_sd))


def _rows(axis: str) -> slice:
    axes = [group_axis for group_axis, _ in GROUPS]
    start = axes.index(axis)
    return slice(start, start + len(IDENTIFIERS[axis]))


def _cell_gaps(respondent: Respondent, use_case: str, language: str) -> list[TrueGap]:
    medians = median_outcomes(respondent, use_case, language)
    slots = medians.reshape(len(GROUPS), -1).T  # (slots, groups)
    profiles = np.repeat(np.arange(PROFILES[use_case]), QUESTIONS[use_case])
    pair_gaps = _rounded_gaps if respondent.rounding else _smooth_gaps
    found: list[TrueGap] = []
    for axis in IDENTIFIERS:
        mean, above = pair_gaps(respondent, use_case, slots[:, _rows(axis)], profiles)
        k = len(IDENTIFIERS[axis])
        n_pairs = len(slots) * k * (k - 1) // 2
        found.append(TrueGap(use_case, language, axis, mean, above, n_pairs))
    return found


def _smooth_gaps(
    respondent: Respondent, use_case: str, slots: Floats, profiles: object
) -> tuple[float, float]:
    """Return mean gap and share above 10 % over all pairs, in percent, without rounding.

    Bases and questions cancel in a pair, so one slot stands for all.
    """
    logs = np.log(slots[0])
    first, second = np.triu_indices(len(logs), 1)
    shift = logs[first] - logs[second]
    spread = _spread(respondent) * np.sqrt(2)
    z = np.linspace(-_REACH, _REACH, _NODES)
    density = np.exp(-z * z / 2)
    density /= density.sum()
    mean = float(np.mean([200 * np.tanh(np.abs(d + spread * z) / 2) @ density for d in shift]))
    bound = 2 * np.arctanh(0.05)
    if spread == 0:
        return mean, 100 * float(np.mean(np.abs(shift) > bound))
    return mean, 100 * float(np.mean(ndtr((shift - bound) / spread) + ndtr((-shift - bound) / spread)))


def _rounded_gaps(
    respondent: Respondent, use_case: str, slots: Floats, profiles: npt.NDArray[np.int64]
) -> tuple[float, float]:
    """Return mean gap and share above 10 % over all pairs, in percent, with rounding."""
    total = above = defined = 0.0
    for medians, profile in zip(slots, profiles, strict=True):
        outcomes, shares = _distribution(respondent, use_case, medians, int(profile))
        gap, known = _gap_matrix(outcomes)
        total += _over_pairs(shares, gap)
        above += _over_pairs(shares, (gap > 10).astype(float))
        defined += _over_pairs(shares, known)
    return total / defined, 100 * above / defined


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
    spread = _spread(respondent)
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


def _expected_outcomes(respondent: Respondent, use_case: str, language: str) -> Floats:
    """Return the expected outcome by group, averaged over the slots of a use case and language."""
    medians = median_outcomes(respondent, use_case, language)
    if not respondent.rounding:
        means: Floats = medians.mean(axis=(1, 2)) * np.exp(_spread(respondent) ** 2 / 2)
        return means
    total = np.zeros(len(GROUPS))
    for profile, question in np.ndindex(medians.shape[1:]):
        values, shares = _distribution(respondent, use_case, medians[:, profile, question], profile)
        total += shares @ values
    return total / (PROFILES[use_case] * QUESTIONS[use_case])


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
