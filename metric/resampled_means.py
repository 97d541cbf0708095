"""Means of resamples of single values, the paper's bootstrap, in distribution and without each draw."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .layout import Floats

DIRECT_DRAWS = 100
"""Samples of at most this size are resampled value by value."""
FEWEST_EXPANDED = 30
"""Samples of fewer values than this are never expanded."""
TAIL_SIZE = 256
"""How many extreme values are drawn exactly where a few of them dominate a mean."""


@dataclass(frozen=True, slots=True)
class Cumulants:
    """What the law of a resampled mean depends on, up to terms of order n^-2.

    The mean of n draws from a sample is distributed as the Cornish-Fisher expansion of a normal variable
    by the sample's first four cumulants (Hall 1992, section 2.5).
    """

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
        m1, m2, m3, m4 = m1 / n, m2 / n, m3 / n, m4 / n
        variance = m2 - m1**2
        if variance <= 1e-14 * m2:  # equal values: what is left is rounding
            return cls(int(n), pivot + m1, 0.0, 0.0, 0.0)
        third = m3 - 3 * m1 * m2 + 2 * m1**3
        fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
        return cls(int(n), pivot + m1, variance**0.5, third / variance**1.5, fourth / variance**2 - 3)

    @classmethod
    def of(cls, values: Floats) -> "Cumulants":
        """Return the cumulants of a sample."""
        pivot = float(np.add.reduce(values)) / len(values)
        centred = values - pivot
        squares = centred * centred
        sums = (np.add.reduce(centred), np.add.reduce(squares), squares @ centred, squares @ squares)
        return cls.from_powers((float(len(values)), *map(float, sums)), pivot)

    @property
    def expands(self) -> bool:
        """Whether the expansion's error lies far below the noise of any usual number of resamples."""
        calm = self.skewness**2 < 0.05 * self.n and abs(self.kurtosis) < 0.2 * self.n
        return self.n >= FEWEST_EXPANDED and calm

    @property
    def expands_whole_sample(self) -> bool:
        """Whether to expand rather than draw a resample of the sample's own size."""
        return self.expands and self.n > DIRECT_DRAWS

    def resampled_means(
        self, n_resamples: int, rng: np.random.Generator, n_draws: Floats | None = None
    ) -> Floats:
        """Return means of resamples, each of the sample's size or of its own number of draws."""
        z = rng.standard_normal(n_resamples)
        draws = np.float64(self.n) if n_draws is None else n_draws
        root = np.sqrt(draws)
        squares = z * z
        # in place: shape = z + skewness / 6 (z^2 - 1) / root + z third / draws
        third = squares - 3
        third *= self.kurtosis / 24
        shape = 2 * squares
        shape -= 5
        shape *= self.skewness**2 / 36
        third -= shape
        third *= z
        third /= draws
        squares -= 1
        squares *= self.skewness / 6
        squares /= root
        z += squares
        z += third
        z *= self.deviation / root
        z += self.mean
        return z


@dataclass(frozen=True, slots=True)
class Sample:
    """Values of which means of resamples are wanted, in distribution, without drawing each value.

    Large samples are expanded by their cumulants. Where a few extreme values carry much of the variance,
    their draws are counted exactly and only the rest is expanded; small samples are drawn value by value.
    """

    values: Floats

    def resampled_means(self, n_resamples: int, rng: np.random.Generator) -> Floats:
        """Return means of `n_resamples` resamples of the sample's own size."""
        n = len(self.values)
        cumulants = Cumulants.of(self.values)
        if cumulants.expands_whole_sample:
            return cumulants.resampled_means(n_resamples, rng)
        if n <= 2 * TAIL_SIZE:
            drawn = self.values[rng.integers(0, n, (n_resamples, n), dtype=np.uint16)]
            return np.asarray(drawn.mean(axis=1), dtype=float)
        return self._tail_and_bulk_means(cumulants.mean, n_resamples, rng)

    def _tail_and_bulk_means(self, mean: float, n_resamples: int, rng: np.random.Generator) -> Floats:
        n = len(self.values)
        order = np.argsort(np.abs(self.values - mean))
        bulk, tail = Cumulants.of(self.values[order[:-TAIL_SIZE]]), self.values[order[-TAIL_SIZE:]]
        from_tail = rng.binomial(n, TAIL_SIZE / n, n_resamples)
        drawn = rng.multinomial(from_tail, np.full(TAIL_SIZE, 1 / TAIL_SIZE))
        from_bulk = (n - from_tail).astype(float)
        sums = drawn @ tail + from_bulk * bulk.resampled_means(n_resamples, rng, from_bulk)
        return np.asarray(sums / n, dtype=float)
