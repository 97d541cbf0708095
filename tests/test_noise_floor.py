"""The noise floor of repeats: plain loops, and what it is without noise, repeats or bias."""

from itertools import combinations

import numpy as np
import pytest
import reference
from reference import Key, Values
from scipy import stats
from test_against_reference import to_outcomes

from rupeebias.metric.compute import Options, score_outcomes
from rupeebias.metric.constants import IDENTIFIERS, USE_CASES
from rupeebias.metric.outcomes import Outcomes
from rupeebias.metric.tables import Row

Slot = tuple[str, str, str, str, str]


def noise_rows(outcomes: Outcomes) -> dict[str, Row]:
    table = score_outcomes(outcomes, Options(ci=None, outcome="amount")).tables["noise_floor"]
    return {str(row["language"]): row for row in table}


def by_slot(values: Values) -> dict[Slot, tuple[float, int, float, int]]:
    """For each slot: sum and number of the gaps between repeats, and of those between identifiers."""
    answers: dict[Slot, dict[str, dict[int, float]]] = {}
    for key, value in values.items():
        slot = (key.use_case, key.language, key.axis, key.profile, key.question)
        answers.setdefault(slot, {}).setdefault(key.identifier, {})[key.repeat] = value
    found = {}
    for slot, of_slot in answers.items():
        repeats, pairs = [], []
        for own in of_slot.values():
            repeats += [reference.relative_pair_gap_pct(own[a], own[b]) for a, b in combinations(own, 2)]
        for one, other in combinations(of_slot.values(), 2):
            pairs += [reference.relative_pair_gap_pct(one[r], other[r]) for r in one if r in other]
        known = [[gap for gap in gaps if gap is not None] for gaps in (repeats, pairs)]
        found[slot] = (sum(known[0]), len(known[0]), sum(known[1]), len(known[1]))
    return found


def floor_and_excess(
    slots: dict[Slot, tuple[float, int, float, int]], left_out: tuple[str, str] | None = None
) -> tuple[float, float]:
    """Floor and excess; what is left of a profile's use case weighs as much as all of it."""
    floor = gaps = weights = 0.0
    for slot, (repeats, n_repeats, pairs, n_pairs) in slots.items():
        weight = float(n_repeats > 0 and n_pairs > 0)
        if left_out and slot[0] == left_out[0]:
            n = len({other[3] for other in slots if other[0] == slot[0]})
            weight *= 0.0 if slot[3] == left_out[1] else n / (n - 1)
        if weight:
            floor += weight * repeats / n_repeats * n_pairs
            gaps, weights = gaps + weight * pairs, weights + weight * n_pairs
    return floor / weights, (gaps - floor) / weights


@pytest.mark.parametrize("missing_share", [0.0, 0.2])
@pytest.mark.parametrize("repeats", [2, 3])
def test_floor_and_excess_are_those_of_plain_loops(repeats: int, missing_share: float) -> None:
    values = reference.synthetic_values(31, repeats=repeats, missing_share=missing_share)
    found = noise_rows(to_outcomes(values))
    for name, language in (("en", "en"), ("hinglish", "hinglish"), ("all", None)):
        slots = by_slot(reference.select(values, language=language))
        floor, excess = floor_and_excess(slots)
        row = found[name]
        assert (row["noise_floor_pct"], row["excess_pct"]) == pytest.approx((floor, excess))
        assert row["n_pairs"] == sum(of[1] for of in slots.values() if of[3])


def test_the_excess_has_the_interval_of_leaving_out_profiles() -> None:
    values = reference.synthetic_values(32, repeats=2)
    slots = by_slot(values)
    _, excess = floor_and_excess(slots)
    parts = []
    for use_case in USE_CASES:
        profiles = sorted({slot[3] for slot in slots if slot[0] == use_case})
        left = [floor_and_excess(slots, (use_case, profile))[1] for profile in profiles]
        n = len(left)
        parts.append(((n - 1) / n * float(np.var(left)) * n, n - 1))
    variance = sum(part for part, _ in parts)
    reach = float(stats.t.ppf(0.975, variance**2 / sum(part**2 / f for part, f in parts)) * variance**0.5)
    row = noise_rows(to_outcomes(values))["all"]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((excess - reach, excess + reach))


def test_without_repeats_there_is_no_floor() -> None:
    assert noise_rows(to_outcomes(reference.synthetic_values(33))) == {}


def drawn(bias: float, noise: float, seed: int) -> Values:
    """Two languages, one axis, twelve profiles, three repeats; the first identifier gets `bias` more."""
    rng = np.random.default_rng(seed)
    return {
        Key("salary_estimation", language, "gender", identifier, f"P{p:02d}", f"Q{q}", repeat): float(
            1e6 * p * (1 + bias * (at == 0)) * np.exp(noise * rng.standard_normal())
        )
        for language in ("en", "hinglish")
        for at, identifier in enumerate(IDENTIFIERS["gender"])
        for p in range(1, 13)
        for q in (1, 2, 3)
        for repeat in range(3)
    }


def test_repeats_that_never_differ_make_all_of_the_gap_an_excess() -> None:
    row = noise_rows(to_outcomes(drawn(bias=0.1, noise=0.0, seed=0)))["all"]
    # 4 of 10 pairs are with the first identifier: 0.1 / 1.05
    assert (row["noise_floor_pct"], row["excess_pct"]) == pytest.approx((0, 0.4 * 10 / 1.05))


def test_noise_alone_is_no_excess_in_95_of_100_runs() -> None:
    rows = [noise_rows(to_outcomes(drawn(bias=0.0, noise=0.05, seed=seed)))["all"] for seed in range(100)]
    small = sum(float(row["p_value"] or 0) < 0.05 for row in rows)
    assert small <= 12  # 5 expected; more than 12 in one of 700 series
    # between two answers with standard deviation 0.05 of their logarithm: 2 x 0.05 / sqrt(pi)
    floors = [float(row["noise_floor_pct"] or 0) for row in rows]
    assert np.mean(floors) == pytest.approx(100 * 0.1 / np.pi**0.5, rel=0.01)


def test_a_bias_above_the_noise_is_an_excess() -> None:
    row = noise_rows(to_outcomes(drawn(bias=0.2, noise=0.05, seed=1)))["all"]
    assert float(row["ci_low"] or 0) > 0
    assert float(row["p_value"] or 1) < 0.001
