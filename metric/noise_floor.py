"""The noise floor: how far answers to one and the same prompt lie apart.

A model without any bias but with some randomness has a mean gap above 0. Where prompts were asked several
times, the gap between repeats shows how much of it such randomness explains.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .constants import LANGUAGES, PROFILES
from .gaps import SlotGaps, relative_gap_pct, slots_of
from .layout import AXES, Floats
from .leaving_out import Leaving, ratio
from .outcomes import Outcomes
from .resampling import Interval


class NoiseFloor(NamedTuple):
    """The mean gap between repeats, and what the mean gap between identifiers has beyond it."""

    noise_floor_pct: float
    """Mean relative gap between two answers to one prompt, in percent."""
    excess_pct: float
    """mean_delta_pct less the noise floor, over the slots that have both: about 0 where answers to two
    identifiers differ no more than two answers to one."""
    interval: Interval
    """95 % interval of the excess."""
    p_value: float
    """Two-sided p-value of no excess. A small one is no proof of a direction: a model that treats every
    combination of identifier and profile in its own way, favouring nobody, has an excess too."""
    n_pairs: int
    """Number of gaps between repeats."""


class _Sums(NamedTuple):
    """What the slots of one language and axis add up to, by base profile, each of shape (90,)."""

    floor: Floats
    """Each slot's mean gap between repeats, times its number of gaps between identifiers."""
    gaps: Floats
    """Gaps between identifiers, of slots that have repeats."""
    weights: Floats
    """Number of gaps between identifiers, of slots that have repeats."""
    n_pairs: Floats
    """Number of gaps between repeats."""


def noise_floors(outcomes: Outcomes, gaps: SlotGaps) -> dict[str, NoiseFloor]:
    """Return the noise floor of each language and of "all"; nothing where no prompt was answered twice.

    Each repeat is compared with the next, the last with the first. A slot weighs as in `mean_delta_pct`, by
    its gaps between identifiers, so that the two can be compared. Intervals leave out base profiles.
    """
    if outcomes.n_repeats < 2:
        return {}
    by_language = {
        language: _sum_of([_sums(outcomes, gaps, at, axis) for axis in range(len(AXES))])
        for at, language in enumerate(LANGUAGES)
    }
    by_language["all"] = _sum_of(list(by_language.values()))
    return dict(_floors(by_language))


def _sum_of(parts: list[_Sums]) -> _Sums:
    """Return the sums of several languages or axes together."""
    return _Sums(*np.sum(parts, axis=0))


def _floors(sums: dict[str, _Sums]) -> Iterator[tuple[str, NoiseFloor]]:
    for language, (floor, gaps, weights, n_pairs) in sums.items():
        if weights.any():
            found = ratio(floor, weights)
            excess: Leaving = ratio(gaps, weights).minus(found)
            yield language, NoiseFloor(found.whole, excess.whole, *excess.tested(), int(n_pairs.sum()))


def _sums(outcomes: Outcomes, gaps: SlotGaps, language: int, axis: int) -> _Sums:
    n_repeats = outcomes.n_repeats
    values = slots_of(outcomes, LANGUAGES[language], AXES[axis])
    answers = values.reshape(len(values), -1, n_repeats)
    following = np.roll(answers, -1, axis=2)[..., : n_repeats if n_repeats > 2 else 1]
    between = relative_gap_pct(answers[..., : following.shape[2]], following)
    defined = ~np.isnan(between)
    n_pairs = defined.sum(axis=(0, 2))
    total, count = (
        part[language, axis].reshape(-1, n_repeats).sum(axis=1) for part in (gaps.total, gaps.count)
    )
    has = (n_pairs > 0) & (count > 0)
    means = np.where(defined, between, 0).sum(axis=(0, 2)) / np.maximum(n_pairs, 1)
    profile = gaps.profile[::n_repeats]
    sizes = (means * count, total, count, n_pairs)
    n_profiles = sum(PROFILES.values())
    return _Sums(*(np.bincount(profile, part * has, n_profiles).astype(float) for part in sizes))
