"""The statistics of a run before any interval, each made when it is first asked for."""

from dataclasses import dataclass
from functools import cached_property

from .concordance import Blocking, Concordance, concordances
from .constants import LANGUAGES, USE_CASES
from .gaps import SlotGaps, slot_gaps
from .identifiers import CanonicalPairGap, MaximumObservedGap, PooledSlots, SlotsKey, pooled_slots
from .language import rank_correlation
from .layout import AXES
from .merit import IdentifierRhos, MeritGaps, merit_gaps
from .noise_floor import NoiseFloor, noise_floors
from .outcomes import Key, Outcome, Outcomes
from .permutations import permutation_rows
from .robustness import QuestionRhos
from .tables import Row


@dataclass(frozen=True)
class Points:
    """What intervals are put around: made once, however many kinds of interval that are."""

    outcomes: Outcomes
    outcome: Outcome
    """What a counter-offer counts by."""
    threshold_pct: float
    """Gap above which a pair counts as a violation."""
    w_blocks: Blocking
    n_permutations: int = 0
    seed: int = 0

    @cached_property
    def gaps(self) -> SlotGaps:
        """The pair gaps of every slot."""
        return slot_gaps(self.outcomes, self.threshold_pct)

    @cached_property
    def concordances(self) -> dict[Key, Concordance]:
        """Kendall's W of every covered block, in order of language, use case and axis."""
        found = concordances(self.outcomes, self.w_blocks)
        order = [(x, use_case, axis) for x in LANGUAGES for use_case in USE_CASES for axis in AXES]
        return {key: found[key] for key in order if key in found}

    @cached_property
    def slots(self) -> dict[SlotsKey, PooledSlots]:
        """The values of every covered use case and axis, languages pooled."""
        return pooled_slots(self.outcomes)

    @cached_property
    def canonical(self) -> dict[SlotsKey, CanonicalPairGap]:
        """The canonical pair gaps, where slots are matched."""
        found = {key: slots.canonical(key[1]) for key, slots in self.slots.items()}
        return {key: gap for key, gap in found.items() if gap}

    @cached_property
    def widest(self) -> dict[SlotsKey, MaximumObservedGap]:
        """The widest gaps of identifier means, where there are any."""
        found = {key: slots.widest() for key, slots in self.slots.items()}
        return {key: gap for key, gap in found.items() if gap}

    @cached_property
    def permutation_tests(self) -> dict[str, list[Row]]:
        """The rows of the tables of permutation tests."""
        return permutation_rows(self.slots, self.n_permutations, self.seed)

    @cached_property
    def rank_correlations(self) -> dict[str, tuple[float, float]]:
        """By axis: rho of the identifiers' order in the two languages, and its p-value."""
        return {axis: rank_correlation(self.outcomes, axis, self.outcome) for axis in AXES}

    @cached_property
    def noise_floors(self) -> dict[str, NoiseFloor]:
        """By language and "all": how far answers to one prompt lie apart, if prompts were asked again."""
        return noise_floors(self.outcomes, self.gaps)

    @cached_property
    def question_rhos(self) -> QuestionRhos:
        """Rank correlations between question variants."""
        return QuestionRhos(self.outcomes)

    @cached_property
    def identifier_rhos(self) -> IdentifierRhos:
        """Rank correlations of the profiles' order between identifiers."""
        return IdentifierRhos(self.outcomes)

    @cached_property
    def merit(self) -> dict[tuple[str, str], MeritGaps]:
        """By language and use case: the gaps between base profiles, where there are any."""
        keys = [(language, use_case) for language in LANGUAGES for use_case in USE_CASES]
        found = {key: merit_gaps(self.outcomes, *key) for key in keys}
        return {key: gaps for key, gaps in found.items() if gaps}
