"""How uncertain a systematic gap is: its interval, its test, and those of the difference of two of them.

D, the squared gap, is a mean over strata (use cases) of sums of products of different profiles. Its
variance is tau2 + 4 phi D + 4 psi D^2: noise alone, noise times effect, and effects that differ between
profiles. A scale on which that variance is constant gives ends that are neither below 0 nor too narrow
above. The constants were chosen by simulation (benchmarks/systematic.py); what they cover is in
docs/methods.md.
"""

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri, stdtrit

from .layout import Bools, Floats

TAIL: Final = 0.975
"""Each end of a 95 % interval."""
SMALLEST_PSI: Final = 1e-7
"""Below it the scale is a root but for rounding, and its formula divides by psi."""
SMALLEST_SKEW: Final = 0.05
TINY: Final = 1e-40
"""In place of a variance of 0, so that nothing divides by it."""
ROUNDING: Final = 1e-9
"""What is smaller is how computers add: of a D, and of a difference as a share of what it was taken from."""
FEWEST_PROFILES: Final = 4
"""The variance of D divides by n - 3."""


class Stratum(NamedTuple):
    """A part of D whose profiles were drawn together: those of one use case.

    All arrays have one entry a selection, shape (...), where not said otherwise.
    """

    weight: Floats
    """Its share of D; 0 where the selection does not touch it."""
    n: Floats
    """Number of its profiles."""
    squared_gap: Floats
    """Its D."""
    scatter: Floats
    """Its mean squared difference within profiles."""
    z1: Floats
    """Variance of a profile's own part, as far as effects and their mixture with noise go."""
    squares: Floats
    """Sum of squares of the profiles' parts."""
    noise: Floats
    """w: what two profiles have in common by chance."""
    products: Floats
    """Sum of squares of the products of different profiles."""
    triangles: Floats
    """Trace of the third power of the matrix of these products."""
    influence: Floats
    """g: each profile's part, shape (..., profiles); 0 where it has none."""
    evenness: Floats
    """Each profile's squared size over its stratum's mean, shape (..., profiles); NaN where it has none."""
    columns: slice
    """Where its profiles are among those of all use cases."""


def stratum(
    weight: Floats, gram: Floats, there: Bools, corrections: Floats, scatter: Floats, columns: slice
) -> Stratum:
    """Return what the law of D takes from one stratum.

    `gram` (..., profiles, profiles) holds mean products of two profiles, scaled such that D is the sum of
    what lies off the diagonal; `there` (..., profiles) which profiles have a part; `corrections` (...,
    profiles) what the scale of percentages, estimated too, takes from each profile's part.
    """
    n = there.sum(axis=-1).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = gram * (n * (n - 1))[..., None, None]
        sizes = np.einsum("...pp->...p", scaled)
        between = there[..., :, None] & there[..., None, :] & ~np.eye(gram.shape[-1], dtype=bool)
        own = scaled * between
        rows = own.sum(axis=-1)
        squared_gap = rows.sum(axis=-1) / (n * (n - 1))
        plain = np.where(there, (rows - (rows.sum(axis=-1) / n)[..., None]) / (n - 2)[..., None], 0)
        influence = np.where(there, plain - corrections, 0)
        products = (own**2).sum(axis=(-1, -2))
        squares = (influence**2).sum(axis=-1)
        # what D and both profiles' parts leave of the products, over its n (n - 3) / 2 degrees of freedom
        left = own - squared_gap[..., None, None] - plain[..., :, None] - plain[..., None, :]
        excess = np.where(between, left**2, 0).sum(axis=(-1, -2)) / 2
        noise = np.where(excess > ROUNDING**2 * products, excess, 0) / (n * (n - 3) / 2)
        mean_size = sizes.sum(axis=-1) / n
        ratio = np.where(mean_size[..., None] > 0, sizes / mean_size[..., None], 1.0)
        return Stratum(
            weight,
            n,
            squared_gap,
            scatter,
            z1=squares / (n - 1) - noise / (n - 2),
            squares=squares,
            noise=noise,
            products=products,
            triangles=((own @ own) * own).sum(axis=(-1, -2)),
            influence=influence,
            evenness=np.where(there, ratio, np.nan),
            columns=columns,
        )


@dataclass(frozen=True)
class GapLaw:
    """The distribution of D for each of some selections; arrays have their shape, if not said otherwise."""

    squared_gap: Floats
    """D; NaN for a selection without two profiles that can be compared."""
    scatter: Floats
    """Mean squared difference of two identifiers within a profile, noise and all."""
    tau2: Floats
    phi: Floats
    psi: Floats
    freedom: Floats
    """Degrees of freedom of Student's t on the scale."""
    null_variance: Floats
    """Variance of D if it does not matter who asks: signs of whole profiles exchanged."""
    null_skew: Floats
    """Its skewness, as 1 / sqrt(8 / degrees of freedom of a chi-square)."""
    inverse_n: Floats
    """Sum of squared weights over numbers of profiles."""
    variance: Floats
    """Variance of D by the jackknife, for correlations."""
    influence: Floats
    """Each profile's part in that variance, shape (..., profiles of all use cases)."""
    n_profiles: Floats
    """Number of profiles."""
    bounded: Bools
    """Whether there are ends and a p-value: enough profiles in every stratum."""

    @property
    def a(self) -> Floats:
        """Coefficient of D^2 in its variance."""
        return 4 * self.psi

    @property
    def b(self) -> Floats:
        """Coefficient of D in its variance."""
        return 4 * self.phi

    @property
    def tau(self) -> Floats:
        """Standard deviation of D at 0."""
        return np.maximum(np.sqrt(self.tau2), TINY)

    def scale(self, squared_gap: Floats) -> Floats:
        """Return D on the scale on which its variance is 1: the integral of 1 / sqrt(variance) from 0."""
        a, b, tau, root = self.a, self.b, self.tau, np.sqrt(self.a)
        above = np.maximum(squared_gap, 0)
        grown = b * above + a * above**2
        steps = 2 * root * grown / (np.sqrt(tau**2 + grown) + tau) + 2 * a * above
        return np.where(squared_gap < 0, squared_gap / tau, np.log1p(steps / (2 * root * tau + b)) / root)

    def unscale(self, y: Floats) -> Floats:
        """Return D from its place on the scale."""
        a, tau, root = self.a, self.tau, np.sqrt(self.a)
        u = root * np.maximum(y, 0)
        return np.where(y < 0, y * tau, tau * np.sinh(u) / root + self.b * np.sinh(u / 2) ** 2 / a)

    def ends(self, tail: Floats | float = TAIL) -> tuple[Floats, Floats]:
        """Return both ends of D's interval, as they are: they may be negative."""
        y, reach = self.scale(self.squared_gap), stdtrit(self.freedom, tail)
        return self.unscale(y - reach), self.unscale(y + reach)

    def one_sided_p(self) -> Floats:
        """Return the probability of such a D or a larger one where it does not matter who asks."""
        freedom = 8 / np.maximum(self.null_skew, SMALLEST_SKEW) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            x = freedom + np.sqrt(2 * freedom) * self.squared_gap / np.sqrt(self.null_variance)
        p = np.where(x > 0, chdtrc(freedom, np.maximum(x, 0)), 1.0)
        return np.where(self.null_variance > 0, p, 1.0)

    def critical(self) -> Floats:
        """Return the D from which the reported p-value is below 0.05, for the law's own noise."""
        freedom = 8 / np.maximum(self.null_skew, SMALLEST_SKEW) ** 2
        return np.asarray(self.tau * (chdtri(freedom, 1 - TAIL) - freedom) / np.sqrt(2 * freedom))

    def interval(self) -> tuple[Floats, Floats, Floats]:
        """Return lower end, upper end (of D, at least 0) and p-value; NaN where there is none.

        The p-value is two-sided and below 0.05 exactly where the lower end is above 0.
        """
        low, high = (np.where(end > ROUNDING, end, 0) for end in self.ends())
        p_value = np.minimum(1, 2 * self.one_sided_p())
        low = np.where(p_value >= 2 * (1 - TAIL), 0, low)
        p_value = np.where(low > 0, p_value, np.maximum(p_value, 2 * (1 - TAIL)))
        low, high, p_value = (np.where(self.bounded, part, np.nan) for part in (low, high, p_value))
        return low, high, p_value

    def at(self, place: Any) -> "GapLaw":
        """Return the laws of some selections, by an index of their arrays."""
        return replace(
            self, **{field.name: np.asarray(getattr(self, field.name)[place]) for field in fields(self)}
        )

    def with_psi_at_least(self, psi: Floats) -> "GapLaw":
        """Return the law with effects that differ between profiles at least so much."""
        return replace(self, psi=np.fmax(self.psi, psi))


def _sum_where(used: Bools, quantity: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(used, quantity, 0).sum(axis=0))


def _influence(strata: list[Stratum], shape: tuple[int, ...]) -> Floats:
    """Return what each profile moves D by; profiles of one use case are those of all its strata."""
    influence = np.zeros(shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        for one in strata:
            factor = np.where(one.weight > 0, one.weight * 2 / np.sqrt(one.n * (one.n - 1)), 0)
            influence[..., one.columns] += factor[..., None] * one.influence
    return influence


def law_of(strata: list[Stratum], n_columns: int) -> GapLaw:
    """Return the law of the weighted mean of the strata's D; use cases have `n_columns` profiles in all."""
    parts = [np.stack(part) for part in zip(*(one[:9] for one in strata), strict=True)]
    weight, n, squared_gap, scatter, z1, squares, noise, products, triangles = parts
    used = weight > 0
    weight2 = weight**2
    total = partial(_sum_where, used)
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = n * (n - 1)
        tau2_each = 2 * noise / pairs
        phi_each = np.where(noise > 0, noise / ((scatter - squared_gap) * n), 0)
        own_each = np.maximum(4 * z1 / n + tau2_each, tau2_each)
        variance, freedom_parts = total(weight2 * own_each), total((weight2 * own_each) ** 2 / (n - 1))
        freedom = np.where(variance > 0, variance**2 / freedom_parts, total(n - 1))
        tau2, phi, inverse_n = total(weight2 * tau2_each), total(weight2 * phi_each), total(weight2 / n)
        # small use cases understate the variance when they miss the profiles with strong effects
        pooled_z1, pooled_squares = (total(part) / total(n - 1) for part in ((n - 1) * z1, squares))
        variance = np.maximum(variance, 4 * pooled_z1 * inverse_n + tau2)
        jackknife = np.maximum(total(weight2 * 4 * squares / pairs), 4 * pooled_squares * inverse_n)
        d = np.where(used.any(axis=0), total(weight * squared_gap), np.nan)
        phi, psi = _mixture(d, tau2, phi, variance, jackknife, _evenness(strata))
        null_variance = total(weight2 * 2 * products / pairs**2)
        third = total(weight**3 * 8 * triangles / pairs**3)
        skew = np.where(null_variance > 0, third / null_variance**1.5, 0)
    return GapLaw(
        squared_gap=d,
        scatter=total(weight * scatter),
        tau2=tau2,
        phi=phi,
        psi=psi,
        freedom=freedom,
        null_variance=null_variance,
        null_skew=skew,
        inverse_n=inverse_n,
        variance=jackknife,
        influence=_influence(strata, (*d.shape, n_columns)),
        n_profiles=total(n),
        bounded=np.asarray(used.any(axis=0) & ((n >= FEWEST_PROFILES) | ~used).all(axis=0)),
    )


def _evenness(strata: list[Stratum]) -> Floats:
    """Return the median over all profiles of their squared size over the mean of their stratum."""
    used = [np.where((one.weight > 0)[..., None], one.evenness, np.nan) for one in strata]
    ascending = np.sort(np.concatenate(used, axis=-1), axis=-1)  # those without a part come last
    n = (~np.isnan(ascending)).sum(axis=-1)
    middle = np.stack([np.maximum(n - 1, 0) // 2, n // 2], axis=-1)
    return np.asarray(np.take_along_axis(ascending, middle, axis=-1).mean(axis=-1))


def _mixture(
    d: Floats, tau2: Floats, phi: Floats, variance: Floats, jackknife: Floats, evenness: Floats
) -> tuple[Floats, Floats]:
    """Return phi and psi such that the variance at D is as found, as far as D is beyond the noise.

    Where profiles are alike the jackknife is too wide, and the variance of a U-statistic right; where few of
    them carry the effect the latter is too narrow. `evenness` says which is the case.
    """
    above = np.maximum(d, 0)
    at_noise = tau2 + 4 * phi * above
    uneven = np.clip((0.8 - evenness) / 0.4, 0, 1)
    trust = np.where(above > 0, above**2 / (above**2 + at_noise), 0)
    excess = trust * (variance + uneven * np.maximum(jackknife - variance, 0) - at_noise)
    psi = np.where(excess > 0, excess / (4 * above**2), 0)
    lower = np.where(above > 0, np.maximum(phi + excess / (4 * above), phi / 4), phi)
    return np.where(excess > 0, phi, lower), np.maximum(psi, SMALLEST_PSI)
