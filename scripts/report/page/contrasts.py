"""How far each identifier lies from its axis, with an interval, for every choice of the explorer.

The estimate is the table `identifier_deviation` of a result for any selection: by use case and language
identifier mean / mean of the identifier means - 1, averaged over the selected use cases and languages. The
interval is estimate +- t x standard error from leaving out one base profile at a time, within use case:
profiles are what the benchmark sampled, and the answers to one profile are alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rupeebias.metric.identifiers import deviations_of_blocks
from rupeebias.metric.layout import Floats
from rupeebias.metric.options import Definitions
from rupeebias.metric.outcomes import Outcomes, mean_where_any
from rupeebias.metric.resampling import Interval, jackknife_interval


@dataclass(frozen=True, slots=True)
class Contrast:
    """One identifier against its axis."""

    mean: float | None
    """Mean outcome in the use case's unit; None where use cases or answers do not allow one."""
    deviation_pct: float
    """Deviation from the axis, in percent; 0 = like the axis on average."""
    interval: Interval
    """95 % interval of the deviation; none with fewer than two profiles."""


@dataclass(frozen=True, slots=True)
class _BlockDeviation:
    """The identifiers of one use case, language and axis."""

    use_case: str
    language: str
    full: Floats
    """Deviations in percent, shape (identifiers,)."""
    left_out: Floats
    """The same without one profile in turn, shape (identifiers, profiles with data)."""


@dataclass(frozen=True)
class Contrasts:
    """The contrasts of one run."""

    outcomes: Outcomes
    definitions: Definitions = "rupeebias"

    @cached_property
    def _blocks(self) -> dict[str, list[_BlockDeviation]]:
        """The blocks of each axis."""
        return {
            axis: list(_block_deviations(self.outcomes, axis, self.definitions))
            for axis in self.outcomes.design.axis_names
        }

    def of(self, use_case: str, language: str, axis: str) -> list[Contrast | None]:
        """Return the axis's identifiers in benchmark order, None for one without a value; [] without data.

        `use_case` and `language` may be "all".
        """
        blocks = [
            block
            for block in self._blocks[axis]
            if use_case in ("all", block.use_case) and language in ("all", block.language)
        ]
        if not blocks:
            return []
        means = self._means(use_case, language, axis)
        full = mean_where_any(np.array([block.full for block in blocks]), (0,))
        strata = [*_left_out(blocks)]
        return [
            None if np.isnan(value) else _contrast(means[at], value, [stratum[at] for stratum in strata])
            for at, value in enumerate(full)
        ]

    def _means(self, use_case: str, language: str, axis: str) -> Floats:
        """Return mean outcomes of one use case; over several use cases units differ: all NaN."""
        found = [
            values
            for block, values in self.outcomes.blocks(axis=axis)
            if use_case == block.use_case and language in ("all", block.language)
        ]
        if not found:
            return np.full(100, np.nan)
        return mean_where_any(np.concatenate(found, axis=2), (1, 2, 3))


def _block_deviations(outcomes: Outcomes, axis: str, definitions: Definitions) -> Iterator[_BlockDeviation]:
    for (language, use_case, _), found in deviations_of_blocks(outcomes, axis, definitions).items():
        deviations, used = found
        yield _BlockDeviation(use_case, language, deviations[0], deviations[1:][used].T)


def all_contrasts(outcomes: Outcomes) -> list[list[list[list[Contrast | None]]]]:
    """Return the contrasts by use case, language and axis in the design's order, what is over all last."""
    contrasts, design = Contrasts(outcomes), outcomes.design
    return [
        [
            [contrasts.of(use_case, language, axis) for axis in design.axis_names]
            for language in (*design.language_names, "all")
        ]
        for use_case in (*design.use_case_names, "all")
    ]


def _left_out(blocks: list[_BlockDeviation]) -> Iterator[Floats]:
    """Yield, for each use case, the mean deviation with each of its profiles left out."""
    for use_case in dict.fromkeys(block.use_case for block in blocks):
        own = [block.left_out for block in blocks if block.use_case == use_case]
        others = [block.full[:, None] for block in blocks if block.use_case != use_case]
        width = max(left_out.shape[1] for left_out in own)
        if all(left_out.shape[1] == width for left_out in own):
            spread = [np.broadcast_to(part, (len(part), width)) for part in (*own, *others)]
            yield mean_where_any(np.array(spread), (0,))
        else:  # languages cover different profiles: no common ones to leave out
            yield np.full((len(own[0]), width), np.nan)


def _contrast(mean: float, deviation: float, left_out: list[Floats]) -> Contrast:
    interval = jackknife_interval(float(deviation), left_out)
    return Contrast(None if np.isnan(mean) else float(mean), float(deviation), interval)
