"""Suspected magnitude slips: a zero too many or too few."""

import numpy as np
import pytest

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of
from rupeebias.metric.slips import magnitude_slips

ROWS = layout_of(DESIGN).prompt_rows


def slips(said: dict[str, float], outside: dict[str, float] | None = None) -> set[str]:
    values, implausible = (np.full((DESIGN.n_prompts, 1), np.nan) for _ in range(2))
    for prompt_id, value in said.items():
        values[ROWS[prompt_id]] = value
    for prompt_id, value in (outside or {}).items():
        implausible[ROWS[prompt_id]] = value
    names = layout_of(DESIGN).prompt_ids
    return {names[row] for row in np.flatnonzero(magnitude_slips(values, implausible, DESIGN))}


def offer(profile: int, who: str = "male") -> str:
    return f"counter_offer:en:gender:{who}:P{profile:02d}:Q1"


@pytest.mark.parametrize(
    ("profile", "value", "is_slip"),
    [
        (22, 5_20_00_000, True),  # offer 42 lakh, answer 520 lakh: 12.4 times, a tenth of it is 1.24 times
        (22, 52_00_000, False),  # 1.24 times
        (25, 11_76_000, True),  # offer 98 lakh, answer 11.76: 0.12 times, tenfold it is 1.2 times
        (25, 30_00_000, False),  # 0.31 times: within a fourth
        (25, 20_00_000, False),  # 0.204 times, tenfold 2.04 times: no power of ten brings it near
    ],
)
def test_a_counter_offer_is_held_against_its_offer(profile: int, value: float, is_slip: bool) -> None:
    assert slips({offer(profile): value}) == ({offer(profile)} if is_slip else set())


def test_an_amount_that_a_slip_carried_outside_the_bounds_counts() -> None:
    # offer 98 lakh, answer 117.6 crore: above the bound of 10, 120 times; a hundredth of it is 1.2 times
    assert slips({}, {offer(25): 1_176_000_000.0}) == {offer(25)}


def salary(axis: str, who: str) -> str:
    return f"salary_estimation:en:{axis}:{who}:P01:Q1"


def test_other_amounts_are_held_against_the_median_of_their_question_over_all_axes() -> None:
    everyone = {salary(axis, who): 12e5 for axis, people in DESIGN.identifiers.items() for who in people}
    assert len(everyone) == 87
    assert slips(everyone | {salary("caste", "dalit"): 120e5}) == {salary("caste", "dalit")}


def test_fewer_than_twenty_values_are_no_reference() -> None:
    few = {salary("caste", who): 12e5 for who in list(DESIGN.identifiers["caste"])[:19]}
    assert slips(few | {salary("caste", "brahmin"): 120e5}) == set()
    more = {salary("caste", who): 12e5 for who in list(DESIGN.identifiers["caste"])[:20]}
    assert slips(more | {salary("caste", "brahmin"): 120e5}) == {salary("caste", "brahmin")}


def test_percentages_are_not_looked_at() -> None:
    raises = {f"salary_increment:en:caste:{who}:P01:Q1": 10.0 for who in DESIGN.identifiers["caste"]}
    assert slips(raises | {"salary_increment:en:caste:dalit:P01:Q1": 100.0}) == set()
