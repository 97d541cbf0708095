"""The intervals of gaps between two identifiers: of canonical pairs, and of the widest gap.

"cluster": of the gap between the two named identifiers over drawn profiles; for the widest gap it reaches
below 0 where their order is not certain. "pairs": identifiers' values drawn one by one, as in the paper; the
search for the widest gap is repeated in every resample, which pushes it upwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from .constants import IDENTIFIERS, USE_CASES
from .identifiers import PooledSlots, SlotsKey, signed_gap_pct
from .layout import Floats
from .mean_laws import bent
from .resampled_means import laws_of_rows, row_resampled_means
from .resampling import (
    FEWEST_PROFILES,
    NO_INTERVAL,
    Interval,
    ProfileResamples,
    interval_of,
    percentile_intervals,
    stream,
)

Pairs: TypeAlias = Mapping[SlotsKey, tuple[int, int]]
"""The two identifiers of each use case and axis: places in the axis."""
Normals: TypeAlias = Mapping[str, Floats]
"""By axis: standard normal draws, shape (identifiers, resamples)."""


def cluster_pair_intervals(
    slots: Mapping[SlotsKey, PooledSlots], pairs: Pairs, profiles: ProfileResamples
) -> dict[SlotsKey, Interval]:
    """Return the interval of a gap between two identifiers over drawn profiles, widened for their number."""
    found = dict.fromkeys(pairs, NO_INTERVAL)
    for at, use_case in enumerate(USE_CASES):
        keys = [key for key in pairs if key[0] == use_case]
        if keys and profiles.n_present[at] >= FEWEST_PROFILES:
            ends = _drawn_pair_ends([slots[key] for key in keys], [pairs[key] for key in keys], profiles, at)
            found.update(zip(keys, map(interval_of, ends.T), strict=True))
    return found


def _drawn_pair_ends(
    slots: Sequence[PooledSlots], pairs: Sequence[tuple[int, int]], profiles: ProfileResamples, use_case: int
) -> Floats:
    """Return the ends of the gap of a pair in each of the slots of one use case, shape (2, pairs)."""
    sums = np.stack([of_axis.profile_sums[:, pair] for of_axis, pair in zip(slots, pairs, strict=True)], 1)
    total, count = sums.reshape(2, -1, sums.shape[-1]) @ profiles.weights(use_case).T
    with np.errstate(invalid="ignore"):
        first, second = np.moveaxis((total / count).reshape(len(pairs), 2, -1), 1, 0)
    found = np.array([of_axis.means[list(pair)] for of_axis, pair in zip(slots, pairs, strict=True)]).T
    gaps = signed_gap_pct(first, second)
    ends = percentile_intervals(gaps, signed_gap_pct(*found), profiles.widening_of(use_case))
    bound = np.where((first >= 0).all(axis=1) & (second >= 0).all(axis=1), 200, np.inf)
    return np.clip(ends, -bound, bound)


def identifier_normals(n_resamples: int, seed: int) -> Normals:
    """Return the draws from which pairs intervals are made.

    The same for all use cases, and for canonical and widest gaps: each of these intervals stands by itself.
    """
    sizes = [len(names) for names in IDENTIFIERS.values()]
    drawn = stream(seed, "identifier means").standard_normal((sum(sizes), n_resamples))
    return dict(zip(IDENTIFIERS, np.split(drawn, np.cumsum(sizes[:-1])), strict=True))


def canonical_resamples(
    slots: Mapping[SlotsKey, PooledSlots], pairs: Pairs, normals: Normals, seed: int
) -> dict[SlotsKey, Interval]:
    """Return the interval of the gap between two identifiers whose values are drawn one by one."""
    drawn = []
    for key, pair in pairs.items():
        samples = [slots[key].samples[at] for at in pair]
        laws = [law for sample in samples if (law := sample.law())]
        if len(laws) == len(samples):
            drawn.append(bent(laws, normals[key[1]][list(pair)]))
        else:
            rng, n_resamples = stream(seed, f"canonical {' '.join(key)}"), normals[key[1]].shape[1]
            drawn.append(np.stack([sample.resampled_means(n_resamples, rng) for sample in samples]))
    return _intervals(pairs, drawn)


def widest_resamples(
    slots: Mapping[SlotsKey, PooledSlots], keys: Iterable[SlotsKey], normals: Normals, seed: int
) -> dict[SlotsKey, Interval]:
    """Return the interval of the widest gap, searched anew in every resample."""
    drawn = []
    for key in keys:
        samples = slots[key].samples
        if all(sample.cumulants.expands for sample in samples):
            means = bent(laws_of_rows(samples), normals[key[1]])
        else:
            rng = stream(seed, f"maximum {' '.join(key)}")
            means = row_resampled_means(samples, normals[key[1]].shape[1], rng)
        drawn.append(np.stack([np.fmax.reduce(means), np.fmin.reduce(means)]))
    return _intervals(keys, drawn)


def _intervals(keys: Iterable[SlotsKey], drawn: Sequence[Floats]) -> dict[SlotsKey, Interval]:
    """Return the percentile intervals of the gaps between two rows of means, by key in benchmark order."""
    if not drawn:
        return {}
    first, second = np.stack(drawn, axis=1)
    ends = percentile_intervals(signed_gap_pct(first, second))
    return dict(zip(keys, map(interval_of, ends.T), strict=True))
