"""Merit: how strongly outputs follow the base profile, and whether all identifiers agree on the order."""

from dataclasses import dataclass

import numpy as np

from .design import USE_CASES
from .gaps import pair_indices, pairwise_gaps_pct
from .intervals import Intervals
from .layout import Floats
from .outcomes import Outcomes, mean_where_any
from .ranks import average_ranks, comparable, spearman_columns
from .resampling import (
    FEWEST_PROFILES,
    NO_INTERVAL,
    Interval,
    jackknife_interval,
    percentile_interval,
    within,
)


@dataclass(frozen=True, slots=True)
class MeritSensitivity:
    """How far the base profiles of one use case and language lie apart for the same identifier."""

    merit_sensitivity_pct: float
    """Mean relative gap between profiles, in percent; larger = outputs follow merit more."""
    interval: Interval
    """95 % interval."""


def merit_sensitivity(
    outcomes: Outcomes, language: str, use_case: str, intervals: Intervals
) -> MeritSensitivity | None:
    """Return the mean gap between all pairs of profiles, identifier, question and repeat fixed.

    Pooled over all identifiers of all axes. None where no gap is defined. "pairs" resamples the gaps;
    "cluster" resamples profiles, a gap counting as often as both its profiles are drawn.
    """
    profiles = _by_profile(outcomes, language, use_case)
    if profiles is None:
        return None
    gaps = pairwise_gaps_pct(profiles)
    defined = ~np.isnan(gaps)
    if not defined.any():
        return None
    total, count = np.where(defined, gaps, 0).sum(axis=1), defined.sum(axis=1)
    mean = float(total.sum() / count.sum())
    if intervals.kind == "pairs":
        purpose = f"merit sensitivity {language} {use_case}"
        return MeritSensitivity(mean, intervals.of_mean(gaps[defined], purpose))
    interval = _profile_pair_interval(mean, total, count.astype(float), use_case, intervals)
    return MeritSensitivity(mean, interval)


def _profile_pair_interval(
    mean: float, total: Floats, count: Floats, use_case: str, intervals: Intervals
) -> Interval:
    """`total` and `count` run over the pairs of profiles, in the order of `pair_indices`."""
    at = USE_CASES.index(use_case)
    if intervals.kind != "cluster" or intervals.profiles.n_present[at] < FEWEST_PROFILES:
        return NO_INTERVAL
    weights = intervals.profiles.weights(at)
    sums = []
    for quantity in (total, count):
        square = np.zeros((weights.shape[1], weights.shape[1]))
        square[pair_indices(len(square))] = quantity
        sums.append(((weights @ square) * weights).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return percentile_interval(sums[0] / sums[1], mean, intervals.profiles.widening_of(at))


@dataclass(frozen=True, slots=True)
class ProfileRankAgreement:
    """Whether the identifiers of an axis agree on which base profiles are better."""

    mean_rho: float
    """Mean Spearman's rho between identifier columns, -1 to 1; 1 = all agree."""
    interval: Interval
    """95 % interval."""


def profile_rank_agreement(
    outcomes: Outcomes, language: str, use_case: str, intervals: Intervals
) -> ProfileRankAgreement | None:
    """Return the mean rho over the identifier pairs of all axes, pooled; None where none is defined.

    For each axis: profile x identifier means over questions and repeats, Spearman's rho between all pairs
    of identifier columns. "pairs" resamples the rhos; "cluster" is the delete-one-profile jackknife.
    """
    matrices = [
        comparable(mean_where_any(values, (2, 3))).T
        for _, values in outcomes.blocks(use_case=use_case, language=language)
    ]
    rhos = np.concatenate([_pair_rhos(matrix) for matrix in matrices]) if matrices else np.empty(0)
    if not len(rhos):
        return None
    mean = float(rhos.mean())
    if intervals.kind == "pairs":
        purpose = f"profile rank agreement {language} {use_case}"
        return ProfileRankAgreement(mean, intervals.of_mean(rhos, purpose))
    if intervals.kind == "cluster":
        left_out = _agreement_without_each_profile(matrices)
        return ProfileRankAgreement(mean, within(jackknife_interval(mean, [left_out]), 1))
    return ProfileRankAgreement(mean, NO_INTERVAL)


def _pair_rhos(matrix: Floats) -> Floats:
    """Return the defined rhos of the pairs of columns."""
    rho = spearman_columns(matrix)[pair_indices(matrix.shape[1])]
    return np.asarray(rho[~np.isnan(rho)], dtype=float)


def _agreement_without_each_profile(matrices: list[Floats]) -> Floats:
    """Return the pooled mean rho with each profile that has data left out in turn."""
    present = np.flatnonzero(~np.all([np.isnan(m).all(axis=1) for m in matrices], axis=0))
    if all(not np.isnan(matrix[present]).any() for matrix in matrices):
        sums = np.sum([_rho_sums_without_each_row(matrix[present]) for matrix in matrices], axis=0)
    else:
        left = [[_pair_rhos(np.delete(m, row, axis=0)) for m in matrices] for row in present]
        sums = np.array([[sum(r.sum() for r in rhos), sum(map(len, rhos))] for rhos in left]).T
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[0] / sums[1], dtype=float)


def _rho_sums_without_each_row(matrix: Floats) -> Floats:
    """Return sum and number of the defined rhos between columns, each row left out in turn: (2, rows).

    Without row d, a value's rank loses 1 if it was above the value of d and 1/2 if they were equal. The rhos
    of all pairs of m standardised columns sum to (|sum of columns|^2 - m) / 2.
    """
    left_out, kept = matrix[:, None, :], matrix[None, :, :]
    ranks = average_ranks(matrix.T).T - (left_out < kept) - (left_out == kept) / 2
    n_rows = len(matrix)
    centred = ranks - n_rows / 2  # the mean of the ranks 1 to n - 1
    centred[np.arange(n_rows), np.arange(n_rows)] = 0
    scale = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    varies = scale[:, 0, :] > 0
    standardised = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 0)
    n_columns = varies.sum(axis=1)
    squared = (standardised.sum(axis=2) ** 2).sum(axis=1)
    return np.stack([(squared - n_columns) / 2, n_columns * (n_columns - 1) / 2])


def _by_profile(outcomes: Outcomes, language: str, use_case: str) -> Floats | None:
    """Return shape (profiles, identifiers x questions x repeats over all axes); None without data."""
    parts = [
        values.transpose(1, 0, 2, 3).reshape(values.shape[1], -1)
        for _, values in outcomes.blocks(use_case=use_case, language=language)
    ]
    return np.concatenate(parts, axis=1) if parts else None
