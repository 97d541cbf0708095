"""Mean relative pair gap and violation rate of every selection of slots, with its interval."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .gap_grid import place_of
from .gap_resamples import GapIntervals
from .gaps import SlotGaps
from .layout import AXES, Floats
from .resampling import Interval, interval_of


class GapSummary(NamedTuple):
    """How large the gaps of a selection of slots are."""

    mean_delta_pct: float
    """Mean of all defined pair gaps, in percent; 0 = all identifiers alike."""
    interval: Interval
    """95 % interval of the mean."""
    violation_pct: float
    """Share of the gaps strictly above the threshold, in percent."""
    n_pairs: int
    """Number of defined gaps."""


class GapChange(NamedTuple):
    """Hinglish minus English mean gap, in percentage points."""

    change: float
    """Positive = Hinglish widens the gaps."""
    interval: Interval
    """95 % interval."""


@dataclass(frozen=True)
class GapSummaries:
    """The pair gaps of a run, summed up, with their intervals."""

    gaps: SlotGaps
    intervals: GapIntervals

    def summarise(
        self, *, language: str | None = None, axis: str | None = None, use_case: str | None = None
    ) -> GapSummary | None:
        """Return the mean gap and violation rate over all pairs of the selected slots, pooled.

        None selects all languages, axes or use cases. Every pair weighs the same, so region (435 of a full
        slot set's 852 pairs) weighs most. None where no gap is defined.
        """
        place = place_of(language, axis, use_case)
        count, _, violations = self.gaps.cells[:, *place].tolist()
        if not count:
            return None
        interval = interval_of(self._ends[:, *place])
        return GapSummary(float(self.gaps.means[place]), interval, violations / count * 100, int(count))

    def balanced_interval(self) -> Interval:
        """Return the interval of `SlotGaps.balanced_mean`."""
        return interval_of(np.clip(self.intervals.of_balanced, 0.0, self.gaps.largest_possible_pct))

    @cached_property
    def _ends(self) -> Floats:
        return np.clip(self.intervals.of_selections, 0.0, self.gaps.largest_possible_pct)

    def language_change(self, axis: str) -> GapChange | None:
        """Return how the mean gap of an axis changes with the language; None unless both have gaps."""
        at = AXES.index(axis)
        change = float(self.gaps.means[1, at, -1] - self.gaps.means[0, at, -1])
        return None if np.isnan(change) else GapChange(change, interval_of(self.intervals.of_changes[:, at]))
