"""Means of resamples of single values, the paper's bootstrap, in distribution and without each draw."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .layout import Floats, Ints
from .mean_laws import MeanLaw, bent
from .resampling import NO_INTERVAL, Interval, percentile_interval

FEWEST_EXPANDED = 30
"""Samples of fewer values than this are never expanded."""
SMALL = 100
"""Samples of at most this size are looked at for lumps before they are expanded."""
LARGEST_LUMP = 0.02
"""A mean that jumps by more than this share of its interval's width is drawn value by value."""
TAIL_SIZE = 256
"""How many extreme values are drawn exactly where a few of them dominate a mean."""


class Cumulants(NamedTuple):
    """What the law of a resampled mean depends on, up to terms of order n^-2."""

    n: int
    """Size of the sample."""
    mean: float
    deviation: float
    """Standard deviation, with divisor n."""
    skewness: float
    kurtosis: float
    """Excess kurtosis."""

    @classmethod
    def from_powers(cls, powers: Sequence[float], pivot: float = 0.0) -> "Cumulants":
        """Return the cumulants from the sums of (value - pivot)^0 to ^4."""
        n, m1, m2, m3, m4 = powers
        if not n:
            return cls(0, math.nan, 0.0, 0.0, 0.0)
        m1, m2, m3, m4 = m1 / n, m2 / n, m3 / n, m4 / n
        variance = m2 - m1**2
        if variance <= 1e-14 * m2:  # equal values: what is left is rounding
            return cls(int(n), pivot + m1, 0.0, 0.0, 0.0)
        third = m3 - 3 * m1 * m2 + 2 * m1**3
        fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
        return cls(int(n), pivot + m1, variance**0.5, third / variance**1.5, fourth / variance**2 - 3)

    @classmethod
    def of_rows(cls, values: Floats) -> "list[Cumulants]":
        """Return the cumulants of the values that each row has."""
        there = ~np.isnan(values)
        n = there.sum(axis=1)
        known = values if there.all() else np.where(there, values, 0)
        pivots = known.sum(axis=1) / np.maximum(n, 1)
        centred = known - pivots[:, None]
        if known is not values:
            centred[~there] = 0
        squares = centred * centred
        cubes, fourths = (np.einsum("rv,rv->r", squares, other) for other in (centred, squares))
        powers = (n, centred.sum(axis=1), squares.sum(axis=1), cubes, fourths)
        rows = zip(*(part.tolist() for part in (pivots, *powers)), strict=True)
        return [cls.from_powers(row, pivot) for pivot, *row in rows]

    @property
    def expands(self) -> bool:
        """Whether the expansion's error lies far below the noise of any usual number of resamples."""
        calm = self.skewness**2 < 0.05 * self.n and abs(self.kurtosis) < 0.2 * self.n
        return self.n >= FEWEST_EXPANDED and calm

    def law(self) -> MeanLaw:
        """Return the law of the mean of as many draws as the sample has values."""
        root = math.sqrt(self.n)
        return MeanLaw(self.mean, self.deviation / root, self.skewness / root, self.kurtosis / self.n)

    def law_among(self, n_rows: int) -> MeanLaw:
        """Return the law of the mean where this sample is some of the rows of a table that are all drawn.

        The number of its draws N is then binomial with variance n q, q = 1 - n / n_rows. By expanding 1/N,
        E 1/N = (1 + q/n) / n and 3 Var(1/N) / (E 1/N)^2 = 3 q/n, which is what the varying spread adds to the
        kurtosis; up to terms of order n^-2.
        """
        law, varying = self.law(), (1 - self.n / n_rows) / self.n
        return MeanLaw(
            law.mean, law.deviation * math.sqrt(1 + varying), law.skewness, law.kurtosis + 3 * varying
        )


class Sample(NamedTuple):
    """Values of which means of resamples are wanted, in distribution, without drawing each value.

    Most samples are expanded by their cumulants. Where a few extreme values carry much of the variance,
    their draws are counted exactly and only the rest is expanded; small samples of few distinct values, whose
    means are few too, are drawn value by value.
    """

    values: Floats
    cumulants: Cumulants

    @classmethod
    def of(cls, values: Floats) -> "Sample":
        """Return the sample of values that are all there."""
        return cls(values, *Cumulants.of_rows(values[None]))

    def law(self) -> MeanLaw | None:
        """Return the law of the mean of a resample of the sample's size; None where it does not expand."""
        smooth = self.cumulants.expands and (self.cumulants.n > SMALL or not self._is_lumpy())
        return self.cumulants.law() if smooth else None

    def _is_lumpy(self) -> bool:
        """Tell whether resampled means lie far apart: they move by the distance of two values over n."""
        distances = np.diff(np.sort(self.values))
        smallest = float(distances[distances > 0].min(initial=np.inf))
        width = 3.92 * self.cumulants.law().deviation
        return width > 0 and smallest / self.cumulants.n > LARGEST_LUMP * width

    def resampled_means(self, n_resamples: int, rng: np.random.Generator) -> Floats:
        """Return means of `n_resamples` resamples of the sample's own size."""
        law = self.law()
        return law.draws(n_resamples, rng) if law else self._drawn_means(n_resamples, rng)

    def interval(self, n_resamples: int, rng: np.random.Generator) -> Interval:
        """Return the percentile interval of the mean; none for fewer than two values."""
        if len(self.values) < 2:
            return NO_INTERVAL
        law = self.law()
        if law:
            return law.percentile_interval(n_resamples, rng)
        return percentile_interval(self._drawn_means(n_resamples, rng))

    def _drawn_means(self, n_resamples: int, rng: np.random.Generator) -> Floats:
        n = len(self.values)
        if n <= 2 * TAIL_SIZE:
            resamples = self.values[rng.integers(0, n, (n_resamples, n), dtype=np.uint16)]
            return np.asarray(resamples.mean(axis=1), dtype=float)
        order = np.argsort(np.abs(self.values - np.median(self.values)))  # no outlier moves the median
        bulk, tail = self.values[order[:-TAIL_SIZE]], self.values[order[-TAIL_SIZE:]]
        from_tail = rng.binomial(n, TAIL_SIZE / n, n_resamples)
        from_bulk = n - from_tail
        drawn = rng.multinomial(from_tail, np.full(TAIL_SIZE, 1 / TAIL_SIZE))
        law = Cumulants.of_rows(bulk[None])[0].law()
        means = law.draws(n_resamples, rng) - law.mean
        means *= np.sqrt(len(bulk) / from_bulk)  # the number of draws varies by a few percent
        return np.asarray((drawn @ tail + from_bulk * (law.mean + means)) / n, dtype=float)


def samples_of_rows(values: Floats) -> list[Sample]:
    """Return the sample of the values that each row has."""
    there = ~np.isnan(values)
    rows = values if there.all() else (row[has] for row, has in zip(values, there, strict=True))
    return [Sample(row, cumulants) for row, cumulants in zip(rows, Cumulants.of_rows(values), strict=True)]


def laws_of_rows(samples: Sequence[Sample]) -> list[MeanLaw]:
    """Return the laws of identifier means when all rows of a table are resampled; all samples expand."""
    n_rows = sum(sample.cumulants.n for sample in samples)
    return [sample.cumulants.law_among(n_rows) for sample in samples]


def row_resampled_means(samples: Sequence[Sample], n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return identifier means when all rows of a table are resampled, shape (identifiers, resamples).

    Each identifier's values are a sample. A resample draws as many (identifier, value) rows as there are, so
    that the number of rows of each identifier varies too; an identifier that is not drawn is NaN.
    """
    sizes = np.array([len(sample.values) for sample in samples])
    n_rows = int(sizes.sum())
    expand = [sample.cumulants.expands for sample in samples]
    # in small tables it matters that an identifier is drawn less often where another is drawn more often
    n_drawn = None if all(expand) else rng.multinomial(n_rows, sizes / n_rows, n_resamples).T
    if n_drawn is None:
        return bent(laws_of_rows(samples), rng.standard_normal((len(samples), n_resamples)))
    means = np.full((len(samples), n_resamples), np.nan)
    for at, sample in enumerate(samples):
        if expand[at]:
            means[at] = sample.cumulants.law_among(n_rows).draws(n_resamples, rng)
        elif sizes[at]:
            means[at] = _means_of_draws(sample.values, n_drawn[at], rng)
    return means


def _means_of_draws(sample: Floats, n_drawn: Ints, rng: np.random.Generator) -> Floats:
    """Return a mean for each number of draws, drawn value by value; NaN for no draws."""
    ends = np.concatenate([[0], np.cumsum(n_drawn)])
    running = np.cumsum(sample[rng.integers(0, len(sample), ends[-1])])
    with np.errstate(invalid="ignore"):
        return np.asarray(np.diff(np.concatenate([[0.0], running])[ends]) / n_drawn, dtype=float)
