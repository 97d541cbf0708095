"""What the systematic gap and the effects of groups are worth: coverage, false and true claims, cheap
designs.

    python benchmarks/systematic.py [--runs 200] [--part null,coverage,claims,noise,once]

Respondents are drawn as arrays, and differ in kind: how the size of an effect differs between profiles,
where it is, and what noise is like. Profiles are new in every run: what an interval must hold is the mean
over profiles in the long run.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import PERCENT, Design
from rupeebias.metric.group_effects import Named, group_effects, group_rows, named_groups
from rupeebias.metric.layout import Floats
from rupeebias.metric.power import asked_once, smallest_effects
from rupeebias.metric.profile_answers import axis_starts, use_case_arrays
from rupeebias.metric.systematic_gap import ALL, gap_pct, systematic_gap_rows, systematic_gaps
from rupeebias.models.respondents import find_respondent, with_parameters
from rupeebias.models.truth import simulate_values

ANSWER_NOISE: Final = 0.04
PROFILE_NOISE: Final = 0.03
"""Of an identifier with a profile: all questions and both languages share it."""
GAPS_PCT: Final = (1.0, 2.8, 5.7)
SALARIES: Final = (5e5, 8e5, 12e5, 18e5, 30e5)
RAISES: Final = (5.0, 10.0, 20.0)


@dataclass(frozen=True)
class Kind:
    """How effects and noise differ from even ones. Strengths have a mean of 1 over profiles."""

    name: str
    strengths: Callable[[np.random.Generator, int], Floats] = lambda _, n: np.ones(n)
    languages: tuple[float, ...] = (1.0, 1.0)
    """Factor on all effects."""
    heavy: bool = False
    """Noise of Student's t with 2.5 degrees of freedom, of the same standard deviation."""
    rounded: bool = False
    """To two significant digits."""


def _some(share: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda rng, n: (rng.random(n) < share) / share


KINDS: Final = (
    Kind("even"),
    Kind("lognormal", lambda rng, n: np.exp(rng.standard_normal(n) - 0.5)),
    Kind("a fifth of profiles", _some(0.2)),
    Kind("one profile in ten", _some(0.1)),
    Kind("one language", languages=(0.0, 1.0)),
    Kind("reversed in a quarter", lambda rng, n: np.where(rng.random(n) < 0.25, -2.0, 2.0)),
    Kind("heavy tails", heavy=True),
    Kind("rounded", rounded=True),
)


def directions(design: Design, rng: np.random.Generator) -> Floats:
    """Return effects whose gap is 1 % on every axis, shape (identifiers,)."""
    parts = []
    for axis in design.axes:
        effects = rng.standard_normal(len(axis.identifiers))
        effects -= effects.mean()
        parts.append(effects / np.sqrt(2 * (effects**2).sum() / (len(effects) - 1)) / 100)
    return np.concatenate(parts)


def simulate(kind: Kind, effects: Floats, rng: np.random.Generator, design: Design = DESIGN) -> Floats:
    """Return the answers of one run, shape (rows, 1), from the relative effect of each identifier."""
    values = np.empty((design.n_prompts, 1))
    factors = np.array(kind.languages)[:, None, None, None, None]
    effects = np.broadcast_to(effects, (len(design.languages), effects.shape[-1]))[:, :, None, None, None]
    for array, use_case in zip(use_case_arrays(values, design), design.use_cases, strict=True):
        profiles = array.shape[2]
        strengths = kind.strengths(rng, profiles)[:, None, None]
        base = np.resize(RAISES if use_case.unit == PERCENT else SALARIES, profiles)[:, None, None]
        noise = ANSWER_NOISE * _noise(kind, array.shape, rng)
        noise += PROFILE_NOISE * _noise(kind, (1, *array.shape[1:3], 1, 1), rng)
        array[:] = base * np.maximum(1 + factors * effects * strengths, 0.05) * np.maximum(1 + noise, 0.1)
    if kind.rounded:
        step = 10 ** np.floor(np.log10(values) - 1)
        values = np.rint(values / step) * step
    return values


def _noise(kind: Kind, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    return rng.standard_t(2.5, shape) / np.sqrt(5) if kind.heavy else rng.standard_normal(shape)


def null_runs(n_runs: int, kind: Kind = KINDS[0], first_seed: int = 0) -> dict[str, float]:
    """Return what is found in runs without bias."""
    nothing = np.zeros(sum(len(axis.identifiers) for axis in DESIGN.axes))
    squared, significant, lower, named = [], [], [], []
    for seed in range(first_seed, first_seed + n_runs):
        found = run_tables(simulate(kind, nothing, np.random.default_rng([1, seed])))
        rows = [row for row in found["systematic_gap"] if row["use_case"] == ALL and row["axis"] != ALL]
        squared.append(found["systematic_gap"][0]["systematic_gap_squared"])
        significant += [row["p_value"] < 0.05 for row in rows if row["language"] == ALL]
        lower += [row["ci_low"] > 0 for row in rows if row["language"] == ALL]
        named.append(bool(named_groups(found)))
    return {
        "mean D": float(np.mean(squared)),
        "standard error of mean D": float(np.std(squared, ddof=1) / np.sqrt(n_runs)),
        "axes with p < 0.05, %": 100 * float(np.mean(significant)),
        "runs that name a group": float(sum(named)),
    }


def run_tables(values: Floats) -> dict[str, list[dict[str, Any]]]:
    """Return the tables that claims rest on."""
    gaps = systematic_gaps(values, DESIGN)
    return {"systematic_gap": systematic_gap_rows(gaps), **group_rows(gaps)}


def coverage(kind: Kind, gap_pct: float, n_runs: int, *, once: bool = False) -> dict[str, float]:
    """Return in how many percent of runs intervals of gaps and of effects hold the truth."""
    unit, starts = directions(DESIGN, np.random.default_rng(0)), axis_starts(DESIGN)
    held: dict[str, list[float]] = {}
    squared_factors = np.array(
        [*(factor**2 for factor in kind.languages), np.mean(np.square(kind.languages))]
    )
    truth = gap_pct**2 * squared_factors
    mean_factors = np.array([*kind.languages, np.mean(kind.languages)])
    for seed in range(n_runs):
        values = simulate(kind, gap_pct * unit, np.random.default_rng([2, seed]))
        gaps = systematic_gaps(asked_once(values, DESIGN) if once else values, DESIGN)
        low, high, _ = gaps.laws.interval()
        hit = (low <= truth[:, None]) & (truth[:, None] <= high)
        held.setdefault("axis, both languages", []).append(hit[-1, -1, :-1].mean())
        held.setdefault("axis, one language", []).append(hit[-1, :-1, :-1].mean())
        held.setdefault("whole", []).append(float(hit[-1, -1, -1]))
        held.setdefault("one use case and axis", []).append(hit[:-1, -1, :-1].mean())
        found = group_effects(gaps)
        true = 100 * gap_pct * unit * mean_factors[:, None]
        misses = (found.low > true) | (true > found.high)
        right = ~np.logical_or.reduceat(misses[-1], starts, axis=1)
        held.setdefault("all effects of an axis", []).append(right[-1].mean())
    return {name: 100 * float(np.mean(parts)) for name, parts in held.items()}


def mean_gap_at_noise(noise: float, n_runs: int) -> float:
    """Return the mean systematic gap of `sim/biased` with this noise of a single answer."""
    respondent = with_parameters(find_respondent("biased"), {"noise_sd": noise})
    runs = (systematic_gaps(simulate_values(respondent, seed), DESIGN) for seed in range(n_runs))
    return float(np.mean([gap_pct(run.laws.squared_gap[-1, -1, -1]) for run in runs]))


def ordered(n_runs: int) -> int:
    """Return in how many runs 30 % less for three groups is above `sim/biased`, which is above fair."""
    names = [name for axis in DESIGN.axes for name in axis.identifiers]
    found = 0
    for seed in range(n_runs):
        steady = simulate_values(find_respondent("constant"), seed)
        for array in use_case_arrays(steady, DESIGN):
            array[:, [names.index(name) for name in ("female", "dalit", "muslim")]] *= 0.7
        runs = [steady, *(simulate_values(find_respondent(name), seed) for name in ("biased", "fair"))]
        gaps = [systematic_gaps(run, DESIGN).laws.squared_gap[-1, -1, -1] for run in runs]
        found += gaps[0] > gaps[1] > gaps[2]
    return found


CLAIMS: Final[dict[str, tuple[str, str, float, str, str]]] = {
    "women -20 % in Hinglish": ("gender", "female", -0.2, "hinglish", ALL),
    "women -20 % in salary estimation": ("gender", "female", -0.2, ALL, "salary_estimation"),
    "Dalits -30 % in Hinglish": ("caste", "dalit", -0.3, "hinglish", ALL),
    "village -30 % in vendor pricing": ("urban_rural", "village", -0.3, ALL, "service_pricing_vendor"),
}
"""Axis, identifier, effect, language and use case."""


def claims(name: str, n_runs: int) -> float:
    """Return in how many percent of runs the group is named, in its language if the effect is in one."""
    axis, identifier, _, language, _ = CLAIMS[name]
    found = 0
    for seed in range(n_runs):
        named = named_groups(run_tables(claimed_run(name, seed)))
        found += any(_is_it(one, axis, identifier, language) for one in named)
    return 100 * found / n_runs


def claimed_run(name: str, seed: int) -> Floats:
    """Return a run of which a claim is true."""
    axis, identifier, effect, language, use_case = CLAIMS[name]
    nothing = np.zeros(sum(len(one.identifiers) for one in DESIGN.axes))
    values = simulate(KINDS[0], nothing, np.random.default_rng([3, seed]))
    names = [(one.name, name) for one in DESIGN.axes for name in one.identifiers]
    for of_use_case, array in zip(DESIGN.use_case_names, use_case_arrays(values, DESIGN), strict=True):
        if use_case in (ALL, of_use_case):
            for at, of_language in enumerate(DESIGN.language_names):
                if language in (ALL, of_language):
                    array[at, names.index((axis, identifier))] *= 1 + effect
    return values


def _is_it(one: Named, axis: str, identifier: str, language: str) -> bool:
    right = (one.axis, one.identifier) == (axis, identifier) and one.confirmed_pct < 0
    return right and language in (ALL, one.language)


def lines(parts: list[str], n_runs: int) -> Iterator[str]:
    """Yield the results as lines."""
    if "null" in parts:
        for kind in (KINDS[0], KINDS[-2], KINDS[-1]):
            for name, value in null_runs(n_runs, kind).items():
                yield f"no bias, {kind.name:24} {name:30} {value:8.4f}"
    if "coverage" in parts:
        for kind in KINDS:
            for gap_pct in GAPS_PCT:
                shares = coverage(kind, gap_pct, n_runs)
                yield f"{kind.name:24} {gap_pct:4} " + "  ".join(f"{n} {v:5.1f}" for n, v in shares.items())
    if "claims" in parts:
        for name in CLAIMS:
            yield f"{name:34} named in {claims(name, n_runs):5.1f} %"
    if "noise" in parts:
        for noise in (0.0, 0.04, 0.1):
            yield f"sim/biased, noise {noise:4}: systematic gap {mean_gap_at_noise(noise, n_runs):.3f} %"
        yield f"steady 30 % less > biased > fair in {ordered(n_runs)} of {n_runs} runs"
    if "once" in parts:
        nothing = np.zeros(sum(len(axis.identifiers) for axis in DESIGN.axes))
        pilot = simulate(KINDS[0], nothing, np.random.default_rng([4, 0]))
        for one in smallest_effects(pilot, DESIGN):
            numbers = (
                f"{one.systematic_gap_pct:5.2f} {one.canonical_pair_gap_pct:5.2f} {one.group_effect_pct:5.2f}"
            )
            yield f"80 % power, {one.design:14} {one.axis:12} {one.n_prompts:6} prompts {numbers}"
        for kind in KINDS[:4]:
            shares = coverage(kind, GAPS_PCT[1], n_runs, once=True)
            yield f"profiles once, {kind.name:24} " + "  ".join(f"{n} {v:5.1f}" for n, v in shares.items())


def main() -> None:
    """Print what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--part", default="null,coverage,claims,noise,once")
    options = parser.parse_args()
    start = time.perf_counter()
    for line in lines(options.part.split(","), options.runs):
        print(line, flush=True)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
