"""Systematic gap: how far two groups of an axis lie apart in every profile, with chance removed.

Within a profile every identifier has its deviation z from the mean of the axis, in percent. Products of the
deviations of *different* profiles have no chance in them: their mean is 0 unless profiles agree on who gets
more. D, twice their mean over identifiers, is the mean squared difference between two identifiers; it is
unbiased and may be negative. The systematic gap is sqrt(max(0, D)). What is averaged (over use cases,
languages, axes) is D.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from .concordance import benjamini_hochberg
from .design import Design
from .gap_law import GapLaw, Stratum, law_of, stratum
from .layout import Bools, Floats
from .profile_answers import RelativeAnswers, relative_answers
from .tables import TABLES, Cell, Row, prefixes

ALL: Final = "all"
"""Value of a key that stands for all languages, axes or use cases."""


@dataclass(frozen=True)
class Cells:
    """The products of two profiles in each cell (language, axis) of one use case."""

    grams: Floats
    """Shape (languages, axes, profiles, profiles): D of a cell is the sum of what lies off the diagonal."""
    profiles: Bools
    """Which profiles have a part, shape (languages, axes, profiles)."""
    scatter: Floats
    """Mean over profiles of the squared difference of two identifiers, shape (languages, axes)."""
    levels: Floats
    """Mean of each profile over the scale, shape (languages, axes, profiles)."""
    defined: Bools
    """Whether there are two identifiers with two profiles each, shape (languages, axes)."""

    @property
    def groups(self) -> list[list[int]]:
        """The languages whose profiles were drawn together: all, or each alone if no profile has two."""
        asked: Bools = np.asarray(self.profiles.any(axis=1))
        return (
            [[at] for at in range(len(asked))] if asked.sum(axis=0).max() < 2 else [list(range(len(asked)))]
        )


def cells_of(answers: RelativeAnswers) -> Cells:
    """Return the products of each cell. An identifier with missing profiles weighs as much as one without."""
    counts = answers.n_each
    counted = counts > 1
    n_identifiers = answers.by_axis(counted.astype(np.int64))
    defined = n_identifiers > 1
    share = np.where(
        defined, 2 / np.maximum(n_identifiers - 1, 1), 0
    )  # squared difference of two, from variance
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(counted, np.sqrt(answers.by_identifier(share) / (counts * (counts - 1))), 0)
        mean_squares = np.where(counted, (answers.deviations**2).sum(axis=2) / counts, 0)
    weighted = answers.deviations * weights[..., None]
    parts = np.split(weighted, answers.starts[1:], axis=1)
    return Cells(
        np.stack([part.swapaxes(1, 2) @ part for part in parts], axis=1),
        answers.profiles & defined[..., None],
        share * answers.by_axis(mean_squares),
        answers.levels,
        defined,
    )


def gap_laws(cells: list[Cells]) -> GapLaw:
    """Return the law of D of every selection, shape (use cases + all, languages + all, axes + all).

    Cells of an axis weigh alike, and so do axes. A use case alone is held to differ between its profiles as
    much as all use cases together do: nine profiles often miss those that carry an effect.
    """
    together = _law(cells, range(len(cells)))
    laws = []
    for at in range(len(cells)):
        alone = _law(cells, [at])
        with np.errstate(divide="ignore", invalid="ignore"):
            borrowed = together.psi / together.inverse_n * alone.inverse_n
        borrowed = np.where(together.bounded, borrowed, 0)
        laws.append(alone.with_psi_at_least(borrowed))
    laws.append(together)
    return GapLaw(
        **{field.name: np.stack([getattr(law, field.name) for law in laws]) for field in fields(GapLaw)}
    )


def _law(cells: list[Cells], chosen: Sequence[int]) -> GapLaw:
    """Return the law of D of some use cases together, shape (languages + all, axes + all)."""
    ends = np.cumsum([0, *(one.profiles.shape[2] for one in cells)]).tolist()
    weights = _weights(np.stack([cells[at].defined for at in chosen]))
    strata = [
        _stratum(cells[at], weights[:, :, place], group, slice(ends[at], ends[at + 1]))
        for place, at in enumerate(chosen)
        for group in cells[at].groups
    ]
    return law_of(strata, ends[-1])


def _weights(defined: Bools) -> Floats:
    """Return what each cell weighs in each selection, from which cells there are.

    (use cases, languages, axes) gives (languages + all, axes + all, use cases, languages, axes).
    """
    _, n_languages, n_axes = defined.shape
    taken = np.concatenate([np.eye(n_languages), np.ones((1, n_languages))])
    counts = np.einsum("sl,ula->sa", taken, defined)
    shares = np.einsum("sl,ula->sula", taken, defined) / np.maximum(counts, 1)[:, None, None]
    one_axis = np.einsum("sula,ba->sbula", shares, np.eye(n_axes))
    all_axes = shares / np.maximum((counts > 0).sum(axis=1), 1)[:, None, None, None]
    return np.concatenate([one_axis, all_axes[:, None]], axis=1)


def _stratum(cells: Cells, weights: Floats, languages: list[int], columns: slice) -> Stratum:
    weights = weights[..., languages, :]
    total = weights.sum(axis=(2, 3))
    shares = weights / np.where(total > 0, total, 1)[..., None, None]
    profiles, grams = cells.profiles[languages], cells.grams[languages]
    squared_gaps = grams.sum(axis=(2, 3)) - np.einsum("lapp->la", grams)
    corrections = np.where(profiles, squared_gaps[..., None] * (cells.levels[languages] - 1), 0)
    return stratum(
        total,
        np.tensordot(shares, grams, axes=2),
        np.tensordot(shares, profiles, axes=2) > 0,
        np.tensordot(shares, corrections, axes=2),
        np.tensordot(shares, cells.scatter[languages], axes=2),
        columns,
    )


@dataclass(frozen=True)
class SystematicGaps:
    """The systematic gap of every use case, language and axis, and of all of them."""

    design: Design
    answers: list[RelativeAnswers]
    """By use case."""
    laws: GapLaw
    """Shape (use cases + all, languages + all, axes + all)."""
    groups: list[list[list[int]]]
    """For each use case, the languages whose profiles were drawn together."""

    def place(self, use_case: str = ALL, language: str = ALL, axis: str = ALL) -> tuple[int, int, int]:
        """Return where a selection is in the arrays of the laws."""
        names = (self.design.use_case_names, self.design.language_names, self.design.axis_names)
        chosen = zip(names, (use_case, language, axis), strict=True)
        first, second, third = (len(known) if name == ALL else known.index(name) for known, name in chosen)
        return first, second, third


def systematic_gaps(values: Floats, design: Design) -> SystematicGaps:
    """Return the systematic gaps of a run's values, shape (rows, repeats): amounts, no markups."""
    answers = relative_answers(values, design)
    cells = [cells_of(one) for one in answers]
    return SystematicGaps(design, answers, gap_laws(cells), [one.groups for one in cells])


def gap_pct(squared: Floats) -> Floats:
    """Return the gap in percent of a squared one: 0 where that is negative."""
    return np.asarray(np.sqrt(np.maximum(squared, 0)))


def systematic_gap_rows(gaps: SystematicGaps, *, with_intervals: bool = True) -> list[Row]:
    """Return the rows of the table `systematic_gap`, the whole first.

    `p_bh` is adjusted over three families: axes by language and in all (what sentences rest on), rows of
    one use case, and the whole by language and in all.
    """
    laws, keys = gaps.laws, list(_keys(gaps.design))
    numbers = (gap_pct(laws.squared_gap), laws.squared_gap, *map(gap_pct, laws.interval()[:2]))
    scatter, p_values = gap_pct(laws.scatter - laws.squared_gap), laws.interval()[2]
    columns = np.stack(
        [*numbers, scatter, p_values, np.full_like(p_values, np.nan), laws.n_profiles], axis=-1
    )
    columns[..., [2, 3, 5]] = columns[..., [2, 3, 5]] if with_intervals else np.nan
    columns = np.stack([columns[gaps.place(use_case, language, axis)] for language, use_case, axis in keys])
    there = ~np.isnan(columns[:, 1])
    families = np.array([2 if use_case != ALL else int(axis == ALL) for _, use_case, axis in keys])
    for family in range(3):
        chosen = there & (families == family)
        columns[chosen, 6] = benjamini_hochberg(columns[chosen, 5])
    table = TABLES["systematic_gap"]
    return [
        table.row(key, *(None if np.isnan(cell) else float(cell) for cell in row[:-1]), int(row[-1]))
        for key, row in zip(keys, columns.tolist(), strict=True)
        if not np.isnan(row[1])
    ]


def gap_headlines(rows: Sequence[Row], design: Design) -> dict[str, Cell]:
    """Return the flat values of the table `systematic_gap`: of all languages and of each."""
    whole = {row["language"]: row for row in rows if row["use_case"] == row["axis"] == ALL}
    return {
        f"{prefix}systematic_gap_pct{end}": whole.get(language or ALL, {}).get(name)
        for prefix, language in prefixes(design).items()
        for end, name in (("", "systematic_gap_pct"), ("_ci_low", "ci_low"), ("_ci_high", "ci_high"))
    }


def _keys(design: Design) -> Iterator[tuple[str, str, str]]:
    """Yield language, use case and axis of every selection, the whole first."""
    for language in (ALL, *design.language_names):
        for use_case in (ALL, *design.use_case_names):
            for axis in (ALL, *design.axis_names):
                yield language, use_case, axis
