"""Differences of systematic gaps, ranks of runs and power: against plain formulas, and what must hold."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from test_systematic_gap import TOY, answers, selections

from rupeebias.metric.gap_differences import gap_difference, rank_ranges
from rupeebias.metric.gap_law import GapLaw
from rupeebias.metric.layout import Floats
from rupeebias.metric.power import ONCE, asked_once, smallest_effects
from rupeebias.metric.profile_answers import use_case_arrays
from rupeebias.metric.systematic_gap import systematic_gaps

WIDE = replace(TOY, use_cases=tuple(replace(one, n_profiles=12) for one in TOY.use_cases))


def at(laws: GapLaw, place: tuple[int, int, int]) -> GapLaw:
    """Return one law of many."""
    return laws.at(place)


def plain_end(law: GapLaw, tail: float, sign: int) -> float:
    """Return an end of D's interval by solving for the point whose distance on the scale is t."""
    d, tau = float(law.squared_gap), math.sqrt(float(law.tau2))
    t = float(stats.t.ppf(tail, float(law.freedom)))

    def y(x: float) -> float:
        """Integrate 1 / sqrt(variance) from 0, by Simpson's rule on a grid that is even in sqrt(x)."""
        if x < 0:
            return x / tau
        u = np.linspace(0, math.sqrt(x), 4001)
        f = 2 * u / np.sqrt(tau**2 + 4 * float(law.phi) * u**2 + 4 * float(law.psi) * u**4)
        h = u[1] - u[0]
        return float(h / 3 * (f[0] + f[-1] + 4 * f[1:-1:2].sum() + 2 * f[2:-1:2].sum()))

    target = y(d) + sign * t
    if target < 0:
        return target * tau
    low, high = 0.0, max(4 * abs(d), 1.0)
    while y(high) < target:
        high *= 2
    for _ in range(100):
        low, high = ((low + high) / 2, high) if y((low + high) / 2) < target else (low, (low + high) / 2)
    return low


def test_a_difference_is_what_the_plain_formula_says() -> None:
    laws = [systematic_gaps(answers(seed), TOY).laws for seed in (1, 2)]
    found = gap_difference(*laws)
    gaps = systematic_gaps(answers(1), TOY)
    for key in selections(TOY)[::5]:
        place = gaps.place(*key)
        one, two = (at(of, place) for of in laws)
        rho = sum(a * b for a, b in zip(one.influence, two.influence, strict=True))
        rho = max(-0.95, min(0.95, rho / math.sqrt(one.variance * two.variance)))
        d = float(one.squared_gap - two.squared_gap)
        ends = []
        for sign in (-1, 1):
            a = abs(plain_end(one, 0.975, sign) - one.squared_gap)
            b = abs(plain_end(two, 0.975, -sign) - two.squared_gap)
            ends.append(d + sign * math.sqrt(a**2 + b**2 - 2 * rho * a * b))
        assert [found.low[place], found.high[place]] == pytest.approx(ends, rel=1e-6)
        assert (found.p_value[place] < 0.05) == (ends[0] > 0 or ends[1] < 0)


def scaled(values: Floats, factor: float) -> Floats:
    """Return answers whose differences from the profile's mean are larger by a factor."""
    found = values.copy()
    for array in use_case_arrays(found, TOY):
        for own in (slice(0, 3), slice(3, 7)):
            mean = array[:, own].mean(axis=1, keepdims=True)
            array[:, own] = mean + factor * (array[:, own] - mean)
    return found


def test_a_run_does_not_differ_from_itself() -> None:
    laws = systematic_gaps(answers(3), TOY).laws
    found = gap_difference(laws, laws)
    assert (found.squared == 0).all()
    assert (found.p_value == 1).all()
    assert (found.points == 0).all()
    assert (found.points_low <= 0).all()
    assert (found.points_high >= 0).all()


def test_a_difference_and_its_reverse_mirror_each_other() -> None:
    laws = [systematic_gaps(answers(seed), TOY).laws for seed in (4, 5)]
    one, other = gap_difference(*laws), gap_difference(*laws[::-1])
    assert one.p_value == pytest.approx(other.p_value)
    assert one.points_low == pytest.approx(-other.points_high)
    assert one.low == pytest.approx(-other.high)


def test_no_difference_between_runs_that_share_their_noise_is_certain() -> None:
    # Both runs' profiles move together (correlation near 1), one gap is near 0: the ends must lie apart.
    fair = answers(8)
    unequal = [systematic_gaps(scaled(fair, factor), TOY).laws for factor in (0.2, 6.0)]
    found = gap_difference(*unequal[::-1])
    apart = found.squared > 0
    assert apart.any()
    assert (found.points_low[apart] < found.points[apart]).all()
    assert (found.points[apart] < found.points_high[apart]).all()


def test_points_and_p_value_agree_about_0() -> None:
    for seed in range(10):
        laws = [systematic_gaps(answers(seed + 20 * x, noise=0.1), TOY).laws for x in (0, 1)]
        found = gap_difference(*laws)
        certain = (found.points_low > 0) | (found.points_high < 0)
        assert (found.p_value[certain] < 0.05).all()
        assert (found.points_low <= found.points).all()
        assert (found.points <= found.points_high).all()


def test_three_profiles_have_no_interval_of_a_difference() -> None:
    values = answers(6)
    for array in use_case_arrays(values, TOY):
        array[:, :, 3:] = np.nan
    found = gap_difference(systematic_gaps(values, TOY).laws, systematic_gaps(answers(7), TOY).laws)
    assert np.isnan(found.p_value).all()
    assert not np.isnan(found.squared).any()


def test_ranks_are_ranges_over_all_pairs() -> None:
    # the same answers with effects 1, 1.001, 3 times as large: the first two cannot be told apart
    runs = [scaled(answers(8), factor) for factor in (1, 3, 1.001)]
    laws = [at(systematic_gaps(values, TOY).laws, (-1, -1, -1)) for values in runs]
    ranges = rank_ranges(laws)
    assert ranges[1] == (3, 3)
    assert ranges[0][0] == 1
    assert ranges[2][1] == 2
    assert rank_ranges(laws[:1]) == [(1, 1)]


def test_profiles_once_asks_each_profile_in_one_language_with_one_question() -> None:
    kept = asked_once(answers(9), TOY)
    for array, use_case in zip(use_case_arrays(kept, TOY), TOY.use_cases, strict=True):
        asked = ~np.isnan(array[..., 0])
        for profile, (language, question) in enumerate(TOY.once(use_case.name)):
            places = np.argwhere(asked[:, 0, profile])
            assert places.tolist() == [[TOY.language_names.index(language), question - 1]]


def test_less_noise_and_more_answers_find_smaller_effects() -> None:
    quiet, loud = (smallest_effects(answers(10, WIDE, noise), WIDE) for noise in (0.02, 0.2))
    assert [one[:2] for one in quiet] == [(d, a) for d in ("full", ONCE) for a in ("size", "hue", "all")]
    for a, b in zip(quiet, loud, strict=True):
        assert a.systematic_gap_pct < b.systematic_gap_pct
        if a.axis != "all":
            assert a.group_effect_pct < b.group_effect_pct
    for full, once in zip(loud[:3], loud[3:], strict=True):
        assert full.systematic_gap_pct < once.systematic_gap_pct
        assert once.n_prompts < full.n_prompts


def test_a_pilot_of_profiles_once_tells_only_of_itself() -> None:
    once = asked_once(answers(11, WIDE), WIDE)
    assert {one.design for one in smallest_effects(once, WIDE)} == {ONCE}
