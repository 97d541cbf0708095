"""Differential failure: worked examples, plain permutations, and simulated models."""

from collections.abc import Callable

import numpy as np
import pytest
from benchmark_names import IDENTIFIERS, prompt_rows
from scipy import stats

from rupeebias.metric.failures import DifferentialFailure, differential_failures
from rupeebias.metric.layout import Bools
from rupeebias.metric.readings import NOT_GIVEN, Readings
from rupeebias.metric.statuses import STATUSES, Status

OK, REFUSAL = STATUSES.index(Status.OK), STATUSES.index(Status.REFUSAL)
IDS = list(prompt_rows())
PARTS = [name.split(":") for name in IDS]


def run(is_failed: Callable[[list[str]], bool], is_asked: Callable[[list[str]], bool]) -> Readings:
    failed = np.array([is_failed(parts) for parts in PARTS])
    return of_failures(failed, np.array([is_asked(parts) for parts in PARTS]))


def of_failures(failed: Bools, asked: Bools) -> Readings:
    status = np.where(asked, np.where(failed, REFUSAL, OK), NOT_GIVEN).astype(np.int8)
    values = np.where(asked & ~failed, 1e6, np.nan)
    return Readings(status[:, None], values[:, None], asked[:, None])


def found(readings: Readings) -> dict[str, DifferentialFailure]:
    return {one.identifier: one for one in differential_failures(readings)}


def of_gender(parts: list[str]) -> bool:
    return parts[2] == "gender" and parts[0] == "salary_estimation"


def test_a_worked_example() -> None:
    two = ("male", "female")
    rows = found(
        run(
            lambda parts: parts[3] == "female" and parts[4] in ("P01", "P02", "P03"),
            lambda parts: of_gender(parts) and parts[3] in two,
        )
    )
    n = sum(of_gender(parts) and parts[3] == "male" for parts in PARTS)
    a_profile = n // 18
    female, male = rows["female"], rows["male"]
    assert (female.n_failed, female.n_expected) == (3 * a_profile, n)
    assert male.n_failed == 0
    assert female.failed_pct == pytest.approx(100 * 3 / 18)
    assert female.axis_failed_pct == pytest.approx(100 * 3 / 36)
    # in three profiles one of two fails in everything: all three are one's own with (1/2)^3, two-sided 1/4
    assert (female.p_value, male.p_value) == pytest.approx((0.25, 0.25))


def test_failures_of_everybody_are_nobodys() -> None:
    rows = found(run(lambda parts: parts[4] == "P01", of_gender))
    assert {one.p_value for one in rows.values()} == {1.0}
    assert set(rows) == set(IDENTIFIERS["gender"])


def test_without_failures_there_is_nothing_to_find() -> None:
    assert {one.p_bh for one in found(run(lambda parts: False, of_gender)).values()} == {1.0}


def test_chances_are_those_of_plain_permutations() -> None:
    rng = np.random.default_rng(1)
    asked = np.array([of_gender(parts) for parts in PARTS])
    failed = asked & (rng.random(len(IDS)) < 0.2)
    rows = found(of_failures(failed, asked))
    names = list(IDENTIFIERS["gender"])
    counts = np.zeros((len(names), 18), dtype=int)
    for parts, is_failed in zip(PARTS, failed, strict=True):
        if is_failed:
            counts[names.index(parts[3]), int(parts[4][1:]) - 1] += 1
    shuffled = np.stack([rng.permuted(counts, axis=0).sum(axis=1) for _ in range(20_000)])
    for at, name in enumerate(names):
        total = counts[at].sum()
        assert rows[name].n_failed == total
        ends = (shuffled[:, at] <= total).mean(), (shuffled[:, at] >= total).mean()
        assert rows[name].p_value == pytest.approx(min(1, 2 * min(ends)), abs=0.015)
    adjusted = stats.false_discovery_control([rows[name].p_value for name in names])
    assert [rows[name].p_bh for name in names] == pytest.approx(adjusted)


def test_identifiers_that_were_asked_more_often_are_counted_but_not_tested() -> None:
    rows = found(
        run(
            lambda parts: parts[3] == "female",
            lambda parts: of_gender(parts) and (parts[3] != "male" or parts[4] != "P01"),
        )
    )
    assert np.isnan(rows["female"].p_value)
    assert rows["female"].failed_pct == 100


def test_who_is_refused_is_found_and_chance_is_not() -> None:
    rng = np.random.default_rng(2)
    everywhere = np.ones(len(IDS), dtype=bool)
    muslim = np.array([parts[3] == "muslim" for parts in PARTS])
    refused = rng.random(len(IDS)) < np.where(muslim, 0.2, 0.02)
    rows = found(of_failures(refused, everywhere))
    assert len(rows) == sum(map(len, IDENTIFIERS.values()))
    assert [name for name, one in rows.items() if one.p_bh < 0.001] == ["muslim"]
    # chance alone: p-values below 5 % are no more common than that (they are discrete, so rarer)
    p_values = [
        one.p_value
        for _ in range(10)
        for one in found(of_failures(rng.random(len(IDS)) < 0.02, everywhere)).values()
    ]
    assert np.mean(np.array(p_values) < 0.05) < 0.06
