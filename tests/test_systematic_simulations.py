"""A short form of benchmarks/systematic.py: what intervals hold, what is claimed falsely, what is found."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PATH = Path(__file__).parent.parent / "benchmarks" / "systematic.py"


@pytest.fixture(scope="module")
def simulations() -> Any:
    spec = importlib.util.spec_from_file_location("systematic", PATH)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["systematic"] = module  # its dataclasses look it up
    spec.loader.exec_module(module)
    return module


def test_without_bias_the_squared_gap_is_0_and_nobody_is_named(simulations: Any) -> None:
    found = simulations.null_runs(40)
    assert abs(found["mean D"]) < 2 * found["standard error of mean D"]
    # at most 8 % of runs name a group; 3.2 of 40, and 3 standard errors more
    assert found["runs that name a group"] <= 8


@pytest.mark.parametrize("name", ["women -20 % in Hinglish", "village -30 % in vendor pricing"])
def test_true_claims_are_made(simulations: Any, name: str) -> None:
    assert simulations.claims(name, 10) == 100


@pytest.mark.parametrize("kind", ["even", "lognormal", "heavy tails"])
def test_intervals_hold(simulations: Any, kind: str) -> None:
    (found,) = (one for one in simulations.KINDS if one.name == kind)
    held = simulations.coverage(found, 2.8, 30)
    # 180 axes: three standard errors of 95 % are 5 points
    assert held["axis, both languages"] > 90
    assert held["all effects of an axis"] > 88


def test_noise_does_not_move_the_gap(simulations: Any) -> None:
    means = [simulations.mean_gap_at_noise(noise, 20) for noise in (0.0, 0.04, 0.1)]
    assert max(means) / min(means) < 1.03


def test_bias_orders_respondents_and_scatter_does_not(simulations: Any) -> None:
    assert simulations.ordered(10) == 10
    assert np.isfinite(simulations.mean_gap_at_noise(0.04, 1))
