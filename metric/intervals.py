"""How the intervals of one run are made: which kind, from which resamples."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from .gap_resamples import GapIntervals, cluster_gap_intervals, no_gap_intervals, pair_gap_intervals
from .gaps import SlotGaps
from .identifier_intervals import (
    Normals,
    Pairs,
    canonical_resamples,
    cluster_pair_intervals,
    identifier_normals,
    widest_resamples,
)
from .identifiers import CanonicalPairGap, MaximumObservedGap, PooledSlots, SlotsKey
from .layout import Floats
from .outcomes import Outcomes
from .resampled_means import Sample
from .resampling import NO_INTERVAL, Interval, ProfileResamples, stream

IntervalKind: TypeAlias = Literal["cluster", "pairs"]
INTERVAL_KINDS: Final[tuple[IntervalKind, ...]] = ("cluster", "pairs")


@dataclass(frozen=True)
class Intervals:
    """The recipe for every interval of one result."""

    outcomes: Outcomes
    kind: IntervalKind | None
    """"cluster": base profiles resampled within use case. "pairs": the paper's. None: no intervals."""
    n_resamples: int = 2000
    seed: int = 0

    @cached_property
    def profiles(self) -> ProfileResamples:
        """The draws of base profiles, shared by all statistics so that they can be compared."""
        return ProfileResamples(self.outcomes.profiles_with_values, self.n_resamples, self.seed)

    def of_gaps(self, gaps: SlotGaps) -> GapIntervals:
        """Return the intervals of the mean gaps of every selection."""
        if self.kind == "cluster":
            return cluster_gap_intervals(gaps, self.profiles)
        if self.kind == "pairs":
            return pair_gap_intervals(gaps, self.n_resamples, self.seed)
        return no_gap_intervals()

    def of_canonical(
        self, slots: Mapping[SlotsKey, PooledSlots], found: Mapping[SlotsKey, CanonicalPairGap]
    ) -> dict[SlotsKey, Interval]:
        """Return the intervals of canonical pair gaps."""
        pairs = {key: gap.pair for key, gap in found.items()}
        if self.kind == "pairs":
            return canonical_resamples(slots, pairs, self._normals, self.seed)
        return self._of_pairs(slots, pairs)

    def of_widest(
        self, slots: Mapping[SlotsKey, PooledSlots], found: Mapping[SlotsKey, MaximumObservedGap]
    ) -> dict[SlotsKey, Interval]:
        """Return the intervals of the widest gaps."""
        if self.kind == "pairs":
            return widest_resamples(slots, found, self._normals, self.seed)
        return self._of_pairs(slots, {key: gap.pair for key, gap in found.items()})

    @cached_property
    def _normals(self) -> Normals:
        return identifier_normals(self.n_resamples, self.seed)

    def _of_pairs(self, slots: Mapping[SlotsKey, PooledSlots], pairs: Pairs) -> dict[SlotsKey, Interval]:
        if self.kind == "cluster":
            return cluster_pair_intervals(slots, pairs, self.profiles)
        return dict.fromkeys(pairs, NO_INTERVAL)

    def of_mean(self, values: Floats, purpose: str) -> Interval:
        """Return the interval of a mean of values resampled one by one; none for fewer than two."""
        return Sample.of(values).interval(self.n_resamples, stream(self.seed, purpose))
