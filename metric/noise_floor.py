"""The noise floor: how far answers to one and the same prompt lie apart.

A model without any bias but with some randomness has a mean gap above 0. Where prompts were asked several
times, the gap between repeats shows how much of it such randomness explains.
"""

from typing import NamedTuple

import numpy as np

from .gaps import SlotGaps, relative_gap_pct, slots_of
from .layout import Bools, Floats
from .outcomes import Outcomes
from .resampling import Interval, Jackknife


class NoiseFloor(NamedTuple):
    """The mean gap between repeats, and what the mean gap between identifiers has beyond it."""

    noise_floor_pct: float
    """Mean relative gap between two answers to one prompt, in percent, drift of the level removed."""
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


def noise_floors(outcomes: Outcomes, gaps: SlotGaps) -> dict[str, NoiseFloor]:
    """Return the noise floor of each language and of "all"; nothing where no prompt was answered twice.

    Each repeat is compared with the next, the last with the first, after both are brought to one level: what
    all answers of a use case and language have moved by (a model that is updated between repeats) lies in no
    gap between identifiers either. A slot weighs as in `mean_delta_pct`, by its gaps between identifiers, so
    that the two can be compared. Intervals leave out base profiles.
    """
    if outcomes.n_repeats < 2:
        return {}
    languages, axes = outcomes.design.language_names, outcomes.design.axis_names
    sums = {
        language: np.sum([_sums(outcomes, gaps, language, axis) for axis in axes], axis=0)
        for language in languages
    }
    sums["all"] = np.sum(list(sums.values()), axis=0)
    floors = {}
    for language, (floor, of_gaps, weights, n_pairs) in sums.items():
        if weights.any():
            found = Jackknife.ratio(floor, weights, outcomes.layout)
            excess = Jackknife.ratio(of_gaps, weights, outcomes.layout).minus(found)
            tested = excess.tested()
            floors[language] = NoiseFloor(found.whole, excess.whole, *tested, int(n_pairs.sum()))
    return floors


def _sums(outcomes: Outcomes, gaps: SlotGaps, language: str, axis: str) -> Floats:
    """Return what the slots of one language and axis add up to, by base profile, shape (4, profiles).

    The mean gap between repeats times the number of gaps between identifiers; gaps between identifiers of
    slots that have repeats, and their number; the number of gaps between repeats.
    """
    n_repeats = outcomes.n_repeats
    values = slots_of(outcomes, language, axis)
    answers = values.reshape(len(values), -1, n_repeats)
    first = answers[..., : n_repeats if n_repeats > 2 else 1]
    following = np.roll(answers, -1, axis=2)[..., : first.shape[2]]
    drift, base = (part[gaps.use_case[::n_repeats]] for part in _drifts(outcomes, language))
    root = np.sqrt(drift)
    between = relative_gap_pct(
        (first + base) * root - base, (following + base) / root - base, gaps.definitions
    )
    defined = ~np.isnan(between)
    n_pairs = defined.sum(axis=(0, 2))
    place = gaps.place(language, axis)[:2]
    total, count = (part[place].reshape(-1, n_repeats).sum(axis=1) for part in (gaps.total, gaps.count))
    has: Bools = (n_pairs > 0) & (count > 0)
    means = np.where(defined, between, 0).sum(axis=(0, 2)) / np.maximum(n_pairs, 1)
    profile, n = gaps.profile[::n_repeats], outcomes.layout.n_profiles
    parts = (means * count, total, count, n_pairs)
    return np.array([np.bincount(profile, part * has, n) for part in parts])


def _drifts(outcomes: Outcomes, language: str) -> tuple[Floats, Floats]:
    """Return by how much each repeat's following one is higher, shape (use cases, repeats compared).

    The median ratio of the answers to one prompt over a use case: heavy tails do not move it. And what is
    added to values before, shape (use cases, 1): the ratio of markups is that of the amounts, 100 + markup.
    """
    names = outcomes.design.use_case_names
    compared = outcomes.n_repeats if outcomes.n_repeats > 2 else 1
    drift = np.ones((len(names), compared))
    base = np.array([[100.0 if name in outcomes.markups else 0.0] for name in names])
    for at, name in enumerate(names):
        parts = [
            values.reshape(-1, outcomes.n_repeats) + base[at]
            for _, values in outcomes.blocks(use_case=name, language=language)
        ]
        if parts:
            answers = np.concatenate(parts)
            for repeat in range(compared):
                before, after = answers[:, repeat], answers[:, (repeat + 1) % outcomes.n_repeats]
                both = (before > 0) & (after > 0)
                drift[at, repeat] = np.median(after[both] / before[both]) if both.any() else 1.0
    return drift, base
