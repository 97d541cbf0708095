"""What one profile is told as each identifier: answers averaged inside the profile, and relative to its mean.

Everything that measures bias rests on these two steps. They never look across profiles: a fit that used other
profiles would tie them together, and products of different profiles, which chance leaves at 0, would not
be 0 any more (with half of the answers missing, 57 % of unbiased runs would seem biased).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from .design import PERCENT, Design
from .layout import Bools, Floats, Ints

Number = TypeVar("Number", bound=np.generic)
ROUNDING: Final = 1e-9
"""In percent: what is smaller is how computers add, not how a model answers."""


@dataclass(frozen=True)
class RelativeAnswers:
    """How far each identifier lies from the mean of its axis, profile by profile, in one use case."""

    deviations: Floats
    """z: percent of the mean, shape (languages, identifiers of all axes, profiles); 0 where missing."""
    there: Bools
    """Where there is one, the same shape."""
    levels: Floats
    """Mean of the profile over the scale of z, shape (languages, axes, profiles): 1 for amounts of money,
    as each profile is its own scale; for percentages, which may be 0, the scale is the mean over the
    profiles."""
    starts: Ints
    """Where each axis begins among the identifiers."""

    @cached_property
    def profiles(self) -> Bools:
        """Which profiles have a part in each cell, shape (languages, axes, profiles)."""
        return np.logical_or.reduceat(self.there, self.starts, axis=1)

    @cached_property
    def n_each(self) -> Ints:
        """Number of profiles of each identifier, shape (languages, identifiers)."""
        return np.asarray(self.there.sum(axis=2))

    def by_axis(self, quantity: Floats) -> Floats:
        """Return sums over the identifiers of each axis; they are the second dimension."""
        return np.add.reduceat(quantity, self.starts, axis=1)

    def by_identifier(self, quantity: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Return each axis' value for all of its identifiers; axes are the second dimension."""
        sizes = np.diff([*self.starts, self.there.shape[1]])
        return np.repeat(quantity, sizes, axis=1)


def axis_starts(design: Design) -> Ints:
    """Return where each axis begins among the identifiers of all axes."""
    sizes = [len(axis.identifiers) for axis in design.axes]
    return np.cumsum([0, *sizes[:-1]])


def use_case_arrays(values: Floats, design: Design) -> list[Floats]:
    """Return views of each use case's rows: (languages, identifiers, profiles, questions, repeats)."""
    n_identifiers = sum(len(axis.identifiers) for axis in design.axes)
    arrays, first = [], 0
    for use_case in design.use_cases:
        shape = (len(design.languages), n_identifiers, use_case.n_profiles, use_case.n_asked)
        last = first + int(np.prod(shape))
        arrays.append(values[first:last].reshape(*shape, -1))
        first = last
    return arrays


def relative_answers(values: Floats, design: Design) -> list[RelativeAnswers]:
    """Return the relative answers of each use case.

    `values` has shape (rows, repeats), rows in the order of `layout_of(design)`, NaN where there is none:
    amounts and percentages as they were said, no markups.
    """
    starts = axis_starts(design)
    return [
        _relative(fit_inside_profiles(array, starts), starts, is_percent=use_case.unit == PERCENT)
        for use_case, array in zip(design.use_cases, use_case_arrays(values, design), strict=True)
    ]


def fit_inside_profiles(values: Floats, starts: Ints) -> Floats:
    """Return each identifier's mean over the questions of a profile, (languages, identifiers, profiles).

    `values` has shape (languages, identifiers, profiles, questions, repeats). Without missing answers these
    are plain means. Otherwise they come from a least-squares fit of answer = identifier + question inside the
    profile and axis, so that who was not asked the question with the high answers does not seem to get less.
    NaN where an identifier has no answer, or none to a question that links it to most others of its axis.
    """
    there = ~np.isnan(values)
    if there.all():
        return np.asarray(values.mean(axis=(3, 4)))
    counts = there.sum(axis=4).astype(float)
    sums = np.where(there, values, 0).sum(axis=4)
    sizes = np.diff([*starts, values.shape[1]])
    linked = _linked_questions(counts > 0, starts, sizes)
    kept = np.repeat(linked, sizes, axis=1)
    counts, sums = counts * kept, sums * kept
    n_answers, total = counts.sum(axis=3), sums.sum(axis=3)
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(counts / n_answers[..., None])
    # the normal equations of the questions, with the identifiers eliminated, for each axis and profile
    crossed = np.add.reduceat(shares[..., :, None] * counts[..., None, :], starts, axis=1)
    right = np.add.reduceat(sums - shares * total[..., None], starts, axis=1)
    n_questions = values.shape[3]
    matrix = np.eye(n_questions) * np.add.reduceat(counts, starts, axis=1)[..., None] - crossed
    # singular, as a constant can move from questions to identifiers: let the effects of questions add up to 0
    matrix += linked[..., :, None] * linked[..., None, :] + np.eye(n_questions) * ~linked[..., None]
    effects = np.linalg.solve(matrix, right[..., None])[..., 0]
    with np.errstate(invalid="ignore"):
        return np.asarray((total - (counts * np.repeat(effects, sizes, axis=1)).sum(axis=3)) / n_answers)


def _linked_questions(answered: Bools, starts: Ints, sizes: Ints) -> Bools:
    """Return which questions can be compared, shape (languages, axes, profiles, questions).

    Two questions are linked if one identifier has answered both, or through others; of several groups of
    linked questions the one with most identifiers counts, the first of equals.
    """
    answers = answered.astype(float)
    links = np.add.reduceat(answers[..., :, None] * answers[..., None, :], starts, axis=1) > 0
    for _ in range(answered.shape[3].bit_length()):
        links = links @ links
    reached = answered[..., None, :] & np.repeat(links, sizes, axis=1)
    sizes_of_groups = np.add.reduceat(reached.any(axis=4).astype(np.int64), starts, axis=1)
    largest = sizes_of_groups.argmax(axis=3)
    return np.asarray(np.take_along_axis(links, largest[..., None, None], axis=3)[..., 0, :])


def _relative(answers: Floats, starts: Ints, *, is_percent: bool) -> RelativeAnswers:
    sizes = np.diff([*starts, answers.shape[1]])
    there = ~np.isnan(answers)
    numbers = np.where(there, answers, 0)
    counts = np.add.reduceat(there.astype(np.int64), starts, axis=1)
    with np.errstate(invalid="ignore"):
        means = np.add.reduceat(numbers, starts, axis=1) / counts
    # nothing can be said of a profile with one identifier, nor in percent of an amount of 0
    usable = (counts > 1) & (is_percent | (means != 0))
    means = np.where(usable, means, 0)
    scales = np.abs(means) if not is_percent else np.broadcast_to(_mean_size(means, usable), means.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = np.where(usable & (scales > 0), np.abs(means) / scales, 0.0)
        wide_means, wide_scales = (np.repeat(array, sizes, axis=1) for array in (means, scales))
        deviations = 100 * (numbers - wide_means) / wide_scales
    there &= np.repeat(usable, sizes, axis=1)
    deviations = np.where(there & (np.abs(deviations) > ROUNDING), deviations, 0)
    return RelativeAnswers(np.nan_to_num(deviations, posinf=0, neginf=0), there, levels, starts)


def _mean_size(means: Floats, usable: Bools) -> Floats:
    """Return the mean over the profiles of |mean|, shape (languages, axes, 1)."""
    return np.asarray(
        np.abs(means).sum(axis=2, keepdims=True) / np.maximum(usable.sum(axis=2, keepdims=True), 1)
    )
