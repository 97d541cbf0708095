"""The true values of a simulated respondent, from its formula; and many runs of it as arrays.

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
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import ndtr

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design, UseCase

from .respondents import Floats, Respondent, amounts, groups, median_outcomes, outcomes_of, rounded

_REACH: Final = 8.5  # standard deviations
_NODES: Final = 2_001
_TIE: Final = 1e-9  # gaps of exactly 10 %, common between rounded amounts, are not above it
_PROBES: Final = 4_001  # amounts looked at to find the steps; they find all up to log sds of about 0.3


@dataclass(frozen=True, slots=True)
class TrueGap:
    """The expected gap of a random pair in one use case, language and axis."""

    use_case: str
    language: str
    axis: str
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
    axis: str
    cpg_pct: float
    """(reference - comparison) / midpoint of the expected means, percent."""


@dataclass(frozen=True, slots=True)
class TrueDeviation:
    """How far an identifier's expected mean is from the mean of its axis."""

    axis: str
    identifier: str
    deviation_pct: float
    """Percent, averaged over use cases and languages."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a run of a respondent estimates."""

    respondent: Respondent
    """The respondent with its parameters."""
    mean_delta_pct: float
    """Over all pairs of the benchmark."""
    by_language: dict[str, float]
    """The same over the pairs of each language."""
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


_Cells = dict[tuple[str, str], _Cell]


def true_gaps(respondent: Respondent, design: Design = DESIGN) -> Truth:
    """Return the true values of a respondent; the module says how they are computed."""
    make = _rounded_cell if respondent.rounding else _smooth_cell
    cells = {
        (use_case.name, language): make(respondent, design, use_case, language)
        for use_case in design.use_cases
        for language in design.language_names
    }
    gaps = tuple(_gaps(design, cells))
    return Truth(
        respondent=respondent,
        mean_delta_pct=_pooled([(gap.mean_delta_pct, gap.n_pairs) for gap in gaps]),
        by_language={
            language: _pooled([(gap.mean_delta_pct, gap.n_pairs) for gap in gaps if gap.language == language])
            for language in design.language_names
        },
        violation_at_10_pct=_pooled([(gap.violation_at_10_pct, gap.n_pairs) for gap in gaps]),
        gaps=gaps,
        canonical_pair_gaps=tuple(_canonical_gaps(design, cells)),
        identifier_deviations=tuple(_deviations(design, cells)),
    )


def simulate_values(
    respondent: Respondent, seed: int, repeats: int = 1, *, design: Design = DESIGN
) -> Floats:
    """Return what one simulated run says, shape (39150, repeats), rows in dataset order.

    Values are amounts as an answer states them: money or percent (a counter-offer's amount, not its
    markup), rounded; NaN where the answer would be refused or hold no readable value. The same law as
    `sim/<name>`, but not the same draws: `seed` takes the place of the respondent's own.
    """
    random = np.random.Generator(np.random.SFC64(seed))
    shared: dict[str, Floats] = {}
    parts: list[Floats] = []
    for use_case, medians in _plan(respondent, design):
        outcomes = np.broadcast_to(medians[..., None], (*medians.shape, repeats))
        if respondent.profile_noise_sd > 0:
            if use_case.name not in shared:
                z = random.standard_normal((*medians.shape[:2], 1, 1))
                shared[use_case.name] = np.exp(respondent.profile_noise_sd * z)
            outcomes = outcomes * shared[use_case.name]
        if respondent.noise_sd > 0:
            outcomes = outcomes * np.exp(respondent.noise_sd * random.standard_normal(outcomes.shape))
        said = amounts(use_case, outcomes, profile_axis=1)
        parts.append(rounded(use_case, said, rounding=respondent.rounding).reshape(-1, repeats))
    values = np.concatenate(parts)
    lost = _lost_probabilities(respondent, design)
    if lost is not None:
        values[random.random(values.shape) < lost[:, None]] = np.nan
    return values


@lru_cache(maxsize=8)
def _plan(respondent: Respondent, design: Design) -> tuple[tuple[UseCase, Floats], ...]:
    """Return the medians (groups, profiles, questions) of each use case and language."""
    return tuple(
        (use_case, median_outcomes(respondent, design, use_case, language))
        for use_case in design.use_cases
        for language in design.language_names
    )


@lru_cache(maxsize=8)
def _lost_probabilities(respondent: Respondent, design: Design) -> Floats | None:
    """Return the probability of no value for each row, None if there is always one."""
    by_group = np.array([respondent.refusal_probability(group) for group in groups(design)])
    by_group += respondent.unreadable_share
    if not by_group.any():
        return None
    shapes = [medians.shape for _, medians in _plan(respondent, design)]
    return np.concatenate([np.broadcast_to(by_group[:, None, None], shape).ravel() for shape in shapes])


def _gaps(design: Design, cells: _Cells) -> Iterator[TrueGap]:
    for (name, language), cell in cells.items():
        use_case = design.use_case[name]
        for axis, (mean, above) in cell.by_axis.items():
            k = len(design.identifiers[axis])
            n_pairs = use_case.n_profiles * use_case.n_questions * k * (k - 1) // 2
            yield TrueGap(name, language, axis, mean, above, n_pairs)


def _pooled(values: Sequence[tuple[float, int]]) -> float:
    return sum(value * weight for value, weight in values) / sum(weight for _, weight in values)


def _log_sd(respondent: Respondent) -> float:
    return float(np.hypot(respondent.noise_sd, respondent.profile_noise_sd))


def _rows(design: Design, axis: str) -> slice:
    start = [group_axis for group_axis, _ in groups(design)].index(axis)
    return slice(start, start + len(design.identifiers[axis]))


def _smooth_cell(respondent: Respondent, design: Design, use_case: UseCase, language: str) -> _Cell:
    medians = median_outcomes(respondent, design, use_case, language)
    # Base and question are the same for both of a pair, so one slot stands for all.
    slot, log_sd = medians[:, 0, 0], _log_sd(respondent)
    return _Cell(
        {axis: _smooth_gap(slot[_rows(design, axis)], log_sd) for axis in design.axis_names},
        medians.mean(axis=(1, 2)) * np.exp(log_sd**2 / 2),
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


def _rounded_cell(respondent: Respondent, design: Design, use_case: UseCase, language: str) -> _Cell:
    medians = median_outcomes(respondent, design, use_case, language)
    expected = np.zeros(len(medians))
    sums = {axis: np.zeros(3) for axis in design.axis_names}
    for profile, question in np.ndindex(medians.shape[1:]):
        outcomes, shares = _distribution(respondent, use_case, medians[:, profile, question], profile)
        expected += shares @ outcomes
        gap, known = _gap_matrix(outcomes)
        for axis, total in sums.items():
            own = shares[_rows(design, axis)]
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
    respondent: Respondent, use_case: UseCase, medians: Floats, profile: int
) -> tuple[Floats, Floats]:
    """Return the rounded outcomes that one slot can give, and each group's shares of them."""
    spread = _log_sd(respondent)
    if spread == 0:
        outcomes = _rounded_outcomes(use_case, medians, profile)
        values, where = np.unique(outcomes, return_inverse=True)
        return values, np.eye(len(values))[where]
    low, high = medians.min() * np.exp(-_REACH * spread), medians.max() * np.exp(_REACH * spread)
    values = np.unique(_rounded_outcomes(use_case, np.geomspace(low, high, _PROBES), profile))
    # Steps change only at amounts that are themselves steps of both sizes, so the bounds between two
    # neighbouring values lie in their middle.
    bounds = np.log(np.maximum((values[:-1] + values[1:]) / 2, low))
    below = ndtr((bounds - np.log(medians)[:, None]) / spread)
    edge = np.ones((len(medians), 1))
    return values, np.diff(np.hstack([0 * edge, below, edge]), axis=1)


def _rounded_outcomes(use_case: UseCase, outcomes: Floats, profile: int) -> Floats:
    """Return the outcomes of one profile as they are after an answer has rounded its amount."""
    table = np.zeros((use_case.n_profiles, len(outcomes)))
    table[profile] = outcomes
    said = rounded(use_case, amounts(use_case, table, profile_axis=0), rounding=True)
    result: Floats = outcomes_of(use_case, said, profile_axis=0)[profile]
    return result


def _canonical_gaps(design: Design, cells: _Cells) -> Iterator[TrueCanonicalGap]:
    order = groups(design)
    for use_case in design.use_case_names:
        pooled = np.mean([cells[use_case, language].expected for language in design.language_names], axis=0)
        for axis in design.axes:
            if axis.canonical_pair is None:
                continue
            reference, comparison = (pooled[order.index((axis.name, who))] for who in axis.canonical_pair)
            cpg = (reference - comparison) / ((reference + comparison) / 2) * 100
            yield TrueCanonicalGap(use_case, axis.name, float(cpg))


def _deviations(design: Design, cells: _Cells) -> Iterator[TrueDeviation]:
    for axis, identifiers in design.identifiers.items():
        rows = _rows(design, axis)
        means = [cell.expected[rows] for cell in cells.values()]
        averaged = 100 * np.mean([mean / mean.mean() - 1 for mean in means], axis=0)
        for identifier, value in zip(identifiers, averaged, strict=True):
            yield TrueDeviation(axis, identifier, float(value))
