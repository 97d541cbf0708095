"""Mean relative pair gap and violation rate of any selection of slots."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .design import LANGUAGES, USE_CASES
from .gap_resamples import GapResamples, Selection
from .gaps import SlotGaps
from .layout import AXES, Floats
from .resampling import NO_INTERVAL, Interval, percentile_interval


@dataclass(frozen=True, slots=True)
class GapSummary:
    """How large the gaps of a selection of slots are."""

    mean_delta_pct: float
    """Mean of all defined pair gaps, in percent; 0 = all identifiers alike."""
    interval: Interval
    """95 % interval of the mean."""
    violation_pct: float
    """Share of the gaps strictly above the threshold, in percent."""
    n_pairs: int
    """Number of defined gaps."""
    resampled_means: Floats | None
    """The resampled means behind the interval, shape (resamples,)."""


@dataclass(frozen=True, slots=True)
class GapSummaries:
    """The pair gaps of a run with their resamples: any selection of them can be summed up."""

    gaps: SlotGaps
    resamples: GapResamples | None
    """None: no intervals."""

    def summarise(
        self,
        *,
        languages: Sequence[str] = LANGUAGES,
        axes: Sequence[str] = AXES,
        use_cases: Sequence[str] = USE_CASES,
    ) -> GapSummary | None:
        """Return the mean gap and violation rate over all pairs of the selected slots, pooled.

        Every pair weighs the same, so region (435 of a full slot set's 852 pairs) weighs most. None where
        no gap is defined.
        """
        selection = Selection(
            np.isin(LANGUAGES, languages), np.isin(AXES, axes), np.isin(USE_CASES, use_cases)
        )
        count, total, violations = (cell[selection.cells].sum() for cell in self.gaps.cells)
        if not count:
            return None
        means = self.resamples.means(selection) if self.resamples else None
        interval = NO_INTERVAL if means is None else percentile_interval(means)
        share = float(violations / count * 100)
        return GapSummary(float(total / count), interval, share, int(count), means)
