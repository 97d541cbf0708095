"""Mean relative pair gap and violation rate of any selection of slots."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from .design import LANGUAGES, USE_CASES
from .gap_resamples import GapResamples, ResampledMean, Selection
from .gaps import SlotGaps
from .layout import AXES
from .resampling import NO_INTERVAL, Interval


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
    resampled: ResampledMean | None
    """What the interval is made of."""


@dataclass(frozen=True)
class GapSummaries:
    """The pair gaps of a run with their resamples: any selection of them can be summed up."""

    gaps: SlotGaps
    resamples: GapResamples | None
    """None: no intervals."""
    _known: dict[Selection, GapSummary | None] = field(default_factory=dict)
    """What has been summed up before."""

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
        selection = _selection(tuple(languages), tuple(axes), tuple(use_cases))
        if selection not in self._known:
            self._known[selection] = self._summary(selection)
        return self._known[selection]

    def _summary(self, selection: Selection) -> GapSummary | None:
        count, total, violations = self.gaps.cells[:, *selection.cells].sum(axis=(1, 2, 3)).tolist()
        if not count:
            return None
        mean, share = total / count, violations / count * 100
        resampled = self.resamples.of(selection) if self.resamples else None
        return GapSummary(mean, self._interval(mean, resampled), share, int(count), resampled)

    def _interval(self, mean: float, resampled: ResampledMean | None) -> Interval:
        interval = resampled.interval(mean) if resampled else NO_INTERVAL
        if interval.low is None or interval.high is None:
            return NO_INTERVAL
        return Interval(max(interval.low, 0.0), min(interval.high, self.gaps.largest_possible_pct))

    def change_interval(self, before: GapSummary, after: GapSummary) -> Interval:
        """Return the interval of after - before; profiles are drawn alike in both, pairs are not."""
        if before.resampled is None or after.resampled is None:
            return NO_INTERVAL
        change = after.mean_delta_pct - before.mean_delta_pct
        return after.resampled.minus(before.resampled).interval(change)


@cache
def _selection(languages: tuple[str, ...], axes: tuple[str, ...], use_cases: tuple[str, ...]) -> Selection:
    return Selection(_places(LANGUAGES, languages), _places(AXES, axes), _places(USE_CASES, use_cases))


def _places(names: Sequence[str], chosen: Sequence[str]) -> tuple[int, ...]:
    return tuple(at for at, name in enumerate(names) if name in chosen)
