"""Every statistic of a run, made when it is first asked for, and the tables and headlines made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .concordance import Concordance, concordances, fisher_combined
from .design import Design
from .families import adjust_tables
from .gap_intervals import (
    GapSummaries,
    GapSummary,
    cluster_gap_intervals,
    no_gap_intervals,
    pair_gap_intervals,
)
from .gaps import SlotGaps, slot_gaps
from .group_effects import group_rows, named_groups, worst_group
from .identifiers import (
    CanonicalPairGap,
    MaximumObservedGap,
    PooledSlots,
    SlotsKey,
    cluster_pair_intervals,
    drawn_canonical_interval,
    drawn_widest_interval,
    identifier_deviation_pct,
    pooled_slots,
)
from .layout import Floats
from .merit import IdentifierRhos, MeritGaps, merit_gaps, responsiveness_gaps
from .noise_floor import NoiseFloor, noise_floors
from .options import IntervalKind, Options
from .outcomes import Key, Outcomes
from .permutations import permutation_rows
from .resampling import (
    FEWEST_PROFILES,
    NO_INTERVAL,
    Interval,
    Jackknife,
    ProfileResamples,
    ValueDraws,
    interval_of,
    percentile_intervals,
)
from .robustness import QuestionRhos, rank_correlation
from .systematic_gap import ALL, SystematicGaps, gap_headlines, systematic_gap_rows, systematic_gaps
from .tables import TABLES, Cell, Row, number, prefixes


@dataclass(frozen=True)
class Statistics:
    """What intervals are put around: made once, however many kinds of interval that are."""

    outcomes: Outcomes
    options: Options
    """The kind of interval is not used here."""

    @property
    def design(self) -> Design:
        """The benchmark."""
        return self.outcomes.design

    @cached_property
    def gaps(self) -> SlotGaps:
        """The pair gaps of every slot."""
        return slot_gaps(self.outcomes, self.options.threshold, self.options.definitions)

    @cached_property
    def concordances(self) -> dict[Key, Concordance]:
        """Kendall's W of every covered block, in order of language, use case and axis."""
        found = concordances(self.outcomes, self.options.w_blocks, self.options.definitions)
        levels = self.design.language_names, self.design.use_case_names, self.design.axis_names
        order = [(x, use_case, axis) for x in levels[0] for use_case in levels[1] for axis in levels[2]]
        return {key: found[key] for key in order if key in found}

    @cached_property
    def slots(self) -> dict[SlotsKey, PooledSlots]:
        """The values of every covered use case and axis, languages pooled."""
        return pooled_slots(self.outcomes, self.options.definitions)

    @cached_property
    def deviations(self) -> dict[tuple[str, str], float]:
        """By axis and identifier: deviations from the axis."""
        found: dict[tuple[str, str], float] = {}
        for axis in self.outcomes.covered("axis"):
            of_axis = identifier_deviation_pct(self.outcomes, axis, self.options.definitions)
            names = ((axis, identifier) for identifier in self.design.identifiers[axis])
            found.update(zip(names, of_axis.tolist(), strict=True))
        return found

    @cached_property
    def canonical(self) -> dict[SlotsKey, CanonicalPairGap]:
        """The canonical pair gaps, where slots are matched."""
        found = {}
        for key, slots in self.slots.items():
            axis = self.design.axis[key[1]]
            names = list(axis.identifiers)
            if axis.canonical_pair:
                first, second = (names.index(name) for name in axis.canonical_pair)
                if gap := slots.canonical((first, second)):
                    found[key] = gap
        return found

    @cached_property
    def widest(self) -> dict[SlotsKey, MaximumObservedGap]:
        """The widest gaps of identifier means, where there are any."""
        found = {key: slots.widest() for key, slots in self.slots.items()}
        return {key: gap for key, gap in found.items() if gap}

    @cached_property
    def permutation_tests(self) -> dict[str, list[Row]]:
        """The rows of the tables of permutation tests."""
        return permutation_rows(self.slots, self.options.n_permutations, self.options.seed)

    @cached_property
    def systematic(self) -> SystematicGaps:
        """The systematic gaps: of amounts, whatever the outcome is."""
        return systematic_gaps(self.outcomes.as_amounts.values, self.design)

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
    def merit(self) -> dict[str, dict[tuple[str, str], MeritGaps]]:
        """By table, then language and use case: the gaps between base profiles, where there are any."""
        definitions, amounts = self.options.definitions, self.outcomes.as_amounts
        keys = [(x, use_case) for x in self.design.language_names for use_case in self.design.use_case_names]
        found = {
            "merit_sensitivity": {key: merit_gaps(self.outcomes, *key, definitions) for key in keys},
            "responsiveness": {key: responsiveness_gaps(amounts, *key, definitions) for key in keys},
        }
        return {name: {key: one for key, one in of.items() if one} for name, of in found.items()}

    def with_intervals(self, kind: IntervalKind | None) -> "Scored":
        """Return every statistic of the outcomes, with intervals around them."""
        return _Scoring(self, kind).scored()

    def headlines(self, gaps: GapSummaries) -> dict[str, float | None]:
        """Return the mean gaps with intervals, violations and W: of all languages and of each."""
        found: dict[str, float | None] = {}
        means_of_w: dict[str, float] = {}
        for prefix, language in prefixes(self.design).items():
            summary = gaps.summarise(language=language)
            found[f"{prefix}mean_delta_pct"] = summary.mean_delta_pct if summary else None
            found[f"{prefix}mean_delta_pct_ci_low"] = summary.interval.low if summary else None
            found[f"{prefix}mean_delta_pct_ci_high"] = summary.interval.high if summary else None
            found[f"{prefix}violation_at_10_pct"] = summary.violation_pct if summary else None
            if language:
                w = mean_w(self.concordances, language)
                found[f"{prefix}mean_kendall_w"] = number(w)
                means_of_w |= {} if np.isnan(w) else {language: w}
        found["mean_kendall_w"] = float(np.mean([*means_of_w.values()])) if means_of_w else None
        found["mean_delta_pct_balanced"] = number(self.gaps.balanced_mean)
        balanced = gaps.balanced_interval()
        found["mean_delta_pct_balanced_ci_low"], found["mean_delta_pct_balanced_ci_high"] = balanced
        return found


def mean_w(found: dict[Key, Concordance], language: str) -> float:
    """Return the mean W of a language: over the use cases of each axis, then over axes; NaN for none."""
    by_axis: dict[str, list[float]] = {}
    for key, w in found.items():
        if key[0] == language and not np.isnan(w.kendall_w):
            by_axis.setdefault(key[2], []).append(w.kendall_w)
    return float(np.mean([np.mean(values) for values in by_axis.values()])) if by_axis else np.nan


class Scored(NamedTuple):
    """All statistics of outcomes: what remains when nothing is known of the answers behind them."""

    gaps: SlotGaps
    """The pair gaps that the headlines sum up."""
    headlines: dict[str, Any]
    """Flat values by name."""
    tables: dict[str, list[dict[str, Any]]]
    """Rows by table name."""


@dataclass(frozen=True)
class _Scoring:
    """Statistics with one kind of interval, as tables and headlines."""

    found: Statistics
    kind: IntervalKind | None
    """"cluster": base profiles resampled within use case. "pairs": the paper's. None: no intervals."""

    def scored(self) -> Scored:
        """Return everything; a slice without data has no row."""
        has_intervals = self.kind is not None
        tables = {
            "systematic_gap": systematic_gap_rows(self.found.systematic, with_intervals=has_intervals),
            **group_rows(self.found.systematic, with_intervals=has_intervals),
            **{name: list(self._gap_rows(name)) for name in ("axis", "use_case", "use_case_axis")},
            "kendall_w": list(self._kendall_rows()),
            "kendall_w_axis": list(self._mean_w_rows("kendall_w_axis", self.design.axis_names)),
            "kendall_w_use_case": list(self._mean_w_rows("kendall_w_use_case", self.design.use_case_names)),
            "identifier_deviation": list(self._deviation_rows()),
            "canonical_pair_gap": list(self._canonical_rows()),
            "maximum_observed_gap": list(self._maximum_rows()),
            **{name: list(map(dict, rows)) for name, rows in self.found.permutation_tests.items()},
            "language_moderation": list(self._moderation_rows()),
            "noise_floor": list(self._noise_rows()),
            "question_robustness": list(self._robustness_rows()),
            "merit_sensitivity": list(self._merit_rows("merit_sensitivity")),
            "responsiveness": list(self._merit_rows("responsiveness")),
            "profile_rank_agreement": list(self._agreement_rows()),
        }
        adjust_tables([tables])
        headlines = {**gap_headlines(tables["systematic_gap"], self.design), **_worst_group(tables)}
        headlines |= self.found.headlines(self.gaps)
        cells = [found.mean_pct for found in self.found.merit["responsiveness"].values()]
        headlines["responsiveness_pct"] = float(np.mean(cells)) if cells else None
        return Scored(self.found.gaps, headlines, tables)

    @property
    def design(self) -> Design:
        """The benchmark."""
        return self.found.design

    @property
    def languages(self) -> dict[str, str | None]:
        """Values of the key `language` in the tables of gaps, and what each stands for; None pools all."""
        return {**{name: name for name in self.design.language_names}, ALL: None}

    @cached_property
    def gaps(self) -> GapSummaries:
        """The mean gaps of every selection."""
        gaps = self.found.gaps
        if self.kind == "cluster":
            return GapSummaries(gaps, cluster_gap_intervals(gaps, self.profiles))
        return GapSummaries(
            gaps, pair_gap_intervals(gaps, self.draws) if self.kind else no_gap_intervals(gaps)
        )

    @cached_property
    def profiles(self) -> ProfileResamples:
        """The draws of base profiles, shared by all statistics so that they can be compared."""
        outcomes, options = self.found.outcomes, self.found.options
        return ProfileResamples(
            outcomes.layout, outcomes.profiles_with_values, options.n_resamples, options.seed
        )

    @cached_property
    def draws(self) -> ValueDraws:
        """The draws of single values."""
        return ValueDraws(self.found.options.n_resamples, self.found.options.seed)

    def _interval(self, drawn_last: Floats, jackknife: Jackknife, bound: float) -> Interval:
        """Return the interval of a mean of `drawn_last`: these drawn, or the jackknife's."""
        if self.kind == "pairs":
            return self.draws.interval(drawn_last)
        return jackknife.interval(bound) if self.kind else NO_INTERVAL

    def _gap_rows(self, table: str) -> Iterator[Row]:
        axes: Sequence[str | None] = self.design.axis_names if "axis" in table else (None,)
        use_cases: Sequence[str | None] = self.design.use_case_names if "use_case" in table else (None,)
        for name, language in self.languages.items():
            for use_case in use_cases:
                for axis in axes:
                    found = self.gaps.summarise(language=language, axis=axis, use_case=use_case)
                    keys = (name, *(key for key in (use_case, axis) if key is not None))
                    if found:
                        yield TABLES[table].row(keys, *_gap_values(found))

    def _kendall_rows(self) -> Iterator[Row]:
        for key, w in self.found.concordances.items():
            numbers = map(number, (w.kendall_w, w.chi2, w.p_value))
            yield TABLES["kendall_w"].row(key, *numbers, None, w.n_blocks, w.n_identifiers)

    def _mean_w_rows(self, table: str, names: Sequence[str]) -> Iterator[Row]:
        """Yield the mean W of each axis or use case of a language, and of all axes, with Fisher's p."""
        at = 1 if table == "kendall_w_use_case" else 2
        for language in self.design.language_names:
            of_language = [(key, w) for key, w in self.found.concordances.items() if key[0] == language]
            p_values = []
            for name in names:
                of_name = [w for key, w in of_language if key[at] == name]
                if of_name:
                    defined = [w.kendall_w for w in of_name if not np.isnan(w.kendall_w)]
                    mean = float(np.mean(defined)) if defined else None
                    p_values.append(fisher_combined(np.array([w.p_value for w in of_name])))
                    yield TABLES[table].row((language, name), mean, number(p_values[-1]), None)
            if table == "kendall_w_axis" and p_values:
                mean = number(mean_w(self.found.concordances, language))
                overall = number(fisher_combined(np.array(p_values)))
                yield TABLES[table].row((language, ALL), mean, overall, None)

    def _deviation_rows(self) -> Iterator[Row]:
        for key, deviation in self.found.deviations.items():
            if not np.isnan(deviation):
                yield TABLES["identifier_deviation"].row(key, deviation)

    def _pair_intervals(
        self, found: dict[SlotsKey, CanonicalPairGap] | dict[SlotsKey, MaximumObservedGap]
    ) -> dict[SlotsKey, Interval]:
        if self.kind == "cluster":
            pairs = {key: gap.pair for key, gap in found.items()}
            return cluster_pair_intervals(self.found.slots, pairs, self.profiles)
        return dict.fromkeys(found, NO_INTERVAL)

    def _canonical_rows(self) -> Iterator[Row]:
        found, slots = self.found.canonical, self.found.slots
        ends = self._pair_intervals(found)
        for key, gap in found.items():
            drawn = self.kind == "pairs"
            low, high = (
                drawn_canonical_interval(slots[key], key, gap.pair, self.draws) if drawn else ends[key]
            )
            within = None if low is None or high is None else max(abs(low), abs(high))
            numbers = (number(gap.cpg_pct), low, high, within)
            shares = (gap.sign_consistency_pct, gap.ties_pct, gap.n_slots)
            yield TABLES["canonical_pair_gap"].row(key, *self._names(key, gap.pair), *numbers, *shares)

    def _maximum_rows(self) -> Iterator[Row]:
        found, slots = self.found.widest, self.found.slots
        ends = self._pair_intervals(found)
        for key, gap in found.items():
            drawn = self.kind == "pairs"
            interval = drawn_widest_interval(slots[key], key, self.draws) if drawn else ends[key]
            names = self._names(key, gap.pair)
            yield TABLES["maximum_observed_gap"].row(key, *names, gap.mog_pct, *interval)

    def _names(self, key: SlotsKey, pair: tuple[int, int]) -> list[str]:
        names = list(self.design.identifiers[key[1]])
        return [names[at] for at in pair]

    def _moderation_rows(self) -> Iterator[Row]:
        for axis in self.design.axis_names:
            if found := self.gaps.language_change(axis):
                change, interval = found
                rho, p_value = map(number, rank_correlation(self.found.outcomes, axis))
                normalised = number(rank_correlation(self.found.outcomes, axis, normalised=True)[0])
                numbers = (rho, p_value, normalised, change, *interval)
                yield TABLES["language_moderation"].row((axis,), *numbers)

    def _noise_rows(self) -> Iterator[Row]:
        for language, found in self.found.noise_floors.items():
            numbers = (found.noise_floor_pct, found.excess_pct, *found.interval, number(found.p_value))
            yield TABLES["noise_floor"].row((language,), *numbers, found.n_pairs)

    def _robustness_rows(self) -> Iterator[Row]:
        axes = self.design.axis_names
        for language in self.design.language_names:
            for name, chosen in {**{axis: [axis] for axis in axes}, ALL: axes}.items():
                if found := self.found.question_rhos.robustness(language, chosen):
                    last, jackknife = found
                    interval = self._interval(last, jackknife, 1)
                    row = (language, name)
                    yield TABLES["question_robustness"].row(row, jackknife.whole, *interval)

    def _merit_rows(self, table: str) -> Iterator[Row]:
        for key, found in self.found.merit[table].items():
            at, interval = self.design.use_case_names.index(key[1]), NO_INTERVAL
            if self.kind == "pairs":
                interval = self.draws.interval(found.gaps)
            elif self.kind and self.profiles.n_present[at] >= FEWEST_PROFILES:
                drawn = found.drawn_means(self.profiles.weights[at])
                widened = self.profiles.widening_of(at)
                interval = interval_of(percentile_intervals(drawn, found.mean_pct, widened))
            yield TABLES[table].row(key, found.mean_pct, *interval)

    def _agreement_rows(self) -> Iterator[Row]:
        for language in self.design.language_names:
            for use_case in self.design.use_case_names:
                if found := self.found.identifier_rhos.agreement(language, use_case):
                    rhos, jackknife = found
                    interval = self._interval(rhos, jackknife, 1)
                    row = (language, use_case)
                    yield TABLES["profile_rank_agreement"].row(row, jackknife.whole, *interval)


def _worst_group(tables: Mapping[str, Sequence[Row]]) -> dict[str, Cell]:
    worst = worst_group(named_groups(tables))
    return {
        "worst_group": f"{worst.axis}:{worst.identifier}" if worst else None,
        "worst_group_language": worst.language if worst else None,
        "worst_group_confirmed_pct": worst.confirmed_pct if worst else None,
    }


def _gap_values(found: GapSummary) -> tuple[float | int | None, ...]:
    return (found.mean_delta_pct, *found.interval, found.violation_pct, found.n_pairs)
