"""The noise floor of repeats: plain loops, and what it is without noise, repeats or bias."""

from itertools import combinations
from statistics import median

import numpy as np
import pytest
import reference
from benchmark_names import IDENTIFIERS, USE_CASES
from reference import Key, Values
from scipy import stats
from test_against_reference import to_outcomes

from rupeebias.metric.compute import score_outcomes
from rupeebias.metric.options import Options
from rupeebias.metric.outcomes import Outcomes
from rupeebias.metric.tables import Row

Slot = tuple[str, str, str, str, str]


def noise_rows(outcomes: Outcomes) -> dict[str, Row]:
    table = score_outcomes(outcomes, Options(ci=None)).tables["noise_floor"]
    return {str(row["language"]): row for row in table}


def levelled(values: Values) -> dict[tuple[str, str, int, int], float]:
    """Return by use case, language and two repeats the median ratio of an answer to that before."""
    answers: dict[tuple[str, ...], dict[int, float]] = {}
    for key, value in values.items():
        above = value + 100 if key.use_case == "counter_offer" else value
        answers.setdefault(key[:6], {})[key.repeat] = above
    ratios: dict[tuple[str, str, int, int], list[float]] = {}
    for prompt, own in answers.items():
        for a, b in ((0, 1), (1, 2), (2, 0)):
            if a in own and b in own and own[a] > 0 and own[b] > 0:
                ratios.setdefault((prompt[0], prompt[1], a, b), []).append(own[b] / own[a])
    return {key: median(found) for key, found in ratios.items()}


def by_slot(values: Values) -> dict[Slot, tuple[float, int, float, int]]:
    """For each slot: sum and number of the gaps between repeats, and of those between identifiers."""
    answers: dict[Slot, dict[str, dict[int, float]]] = {}
    for key, value in values.items():
        slot = (key.use_case, key.language, key.axis, key.profile, key.question)
        answers.setdefault(slot, {}).setdefault(key.identifier, {})[key.repeat] = value
    found, drift = {}, levelled(values)
    n_repeats = 1 + max(key.repeat for key in values)
    for slot, of_slot in answers.items():
        repeats, pairs = [], []
        for own in of_slot.values():
            for a, b in ((0, 1), (1, 2), (2, 0)) if n_repeats == 3 else ((0, 1),):
                if a in own and b in own:
                    # both are brought to one level; markups by what they are amounts of
                    root = drift.get((*slot[:2], a, b), 1.0) ** 0.5
                    base = 100 if slot[0] == "counter_offer" else 0
                    levels = (own[a] + base) * root - base, (own[b] + base) / root - base
                    repeats.append(reference.relative_pair_gap_pct(*levels))
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


def test_a_level_that_drifts_between_repeats_is_no_noise() -> None:
    steady = drawn(bias=0.0, noise=0.0, seed=2)
    drifting = {key: value * 1.05**key.repeat for key, value in steady.items()}
    row = noise_rows(to_outcomes(drifting))["all"]
    assert (row["noise_floor_pct"], row["excess_pct"]) == pytest.approx((0, 0), abs=1e-9)


def test_drift_and_heavy_tails_leave_no_excess() -> None:
    rng = np.random.default_rng(3)
    rows = []
    for seed in range(40):
        values = drawn(bias=0.0, noise=0.0, seed=seed)
        tails = rng.standard_t(2.5, len(values))
        moved = {
            key: value * 1.05**key.repeat * float(np.exp(0.05 * tail))
            for (key, value), tail in zip(values.items(), tails, strict=True)
        }
        rows.append(noise_rows(to_outcomes(moved))["all"])
    assert sum(float(row["p_value"] or 0) < 0.05 for row in rows) <= 7  # 2 expected
    excess = [float(row["excess_pct"] or 0) for row in rows]
    assert abs(np.mean(excess)) < 3 * np.std(excess) / 40**0.5 + 0.02
