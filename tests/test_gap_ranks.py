"""Ranks by systematic gaps: from paired differences, and no difference is claimed where there is none."""

import time
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.gap_differences import clearly_below, holm, rank_ranges
from rupeebias.metric.gap_law import GapLaw
from rupeebias.metric.layout import layout_of
from rupeebias.metric.systematic_gap import systematic_gaps

LAYOUT = layout_of(DESIGN)
GROUPS = np.random.default_rng(7).normal(size=LAYOUT.identifier_codes.max() + 1)
PROFILES = np.exp(0.5 * np.random.default_rng(11).normal(size=LAYOUT.profile_codes.max() + 1))


def law(seed: int, size: float) -> GapLaw:
    """Return the law of a model whose groups differ by `size`, more in some profiles than in others."""
    noise = np.exp(0.05 * np.random.default_rng(seed).normal(size=len(LAYOUT.identifier_codes)))
    effects = 1 + size * GROUPS[LAYOUT.identifier_codes] * PROFILES[LAYOUT.profile_codes]
    gaps = systematic_gaps((1e5 * effects * noise)[:, None], DESIGN)
    return GapLaw(**{field.name: getattr(gaps.laws, field.name)[gaps.place()] for field in fields(GapLaw)})


def test_equal_models_are_not_told_apart() -> None:
    for board in range(4):  # of 15 such boards none told two models apart
        laws = [law(100 * board + at, 0.03) for at in range(9)]
        assert rank_ranges(laws) == [(1, 9)] * 9


def test_models_a_point_apart_get_ranks_of_their_own() -> None:
    laws = [law(at, 0.02 + 0.007 * at) for at in range(6)]
    gaps = [float(np.sqrt(one.squared_gap)) for one in laws]
    assert all(0.7 < larger - smaller < 1.5 for smaller, larger in pairwise(gaps))
    assert rank_ranges(laws[::-1]) == [(at, at) for at in range(6, 0, -1)]


def test_common_profiles_make_differences_clearer_than_two_intervals() -> None:
    first, second = law(1, 0.030), law(2, 0.036)
    ends = [one.ends() for one in (first, second)]
    assert ends[0][1] > ends[1][0]  # the intervals overlap
    assert clearly_below([first, second]).tolist() == [[False, True], [False, False]]


def test_one_model_or_none() -> None:
    assert rank_ranges([]) == []
    assert rank_ranges([law(1, 0.03)]) == [(1, 1)]
    assert rank_ranges([law(1, 0.03)] * 2) == [(1, 2)] * 2


def test_two_hundred_models_are_ranked_in_seconds() -> None:
    laws = [law(at, 0.02 + 0.01 * at) for at in range(4)] * 50
    start = time.process_time()
    assert rank_ranges(laws)[0] == (1, 50)
    assert time.process_time() - start < 30  # 3 s on a quiet machine


def test_holms_adjustment() -> None:
    # 0.01 x 3; max(0.03, 0.02 x 2); max(0.04, 0.9 x 1)
    assert holm(np.array([0.9, 0.01, 0.02])) == pytest.approx([0.9, 0.03, 0.04])
