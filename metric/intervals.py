"""How the intervals of one run are made: which kind, from which resamples."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from .gap_resamples import GapResamples, PairGapResamples, cluster_gap_resamples
from .gaps import SlotGaps
from .layout import Floats
from .outcomes import Outcomes
from .resampled_means import Sample
from .resampling import Interval, ProfileResamples, stream

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

    def gap_resamples(self, gaps: SlotGaps) -> GapResamples | None:
        """Return the resampled mean gaps; None where no intervals are wanted."""
        if self.kind == "cluster":
            return cluster_gap_resamples(gaps, self.profiles)
        if self.kind == "pairs":
            return PairGapResamples(gaps, self.n_resamples, self.seed)
        return None

    def of_mean(self, values: Floats, purpose: str) -> Interval:
        """Return the interval of a mean of values resampled one by one; none for fewer than two."""
        return Sample.of(values).interval(self.n_resamples, stream(self.seed, purpose))
