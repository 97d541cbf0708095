"""Write synthetic runs of realistic shape for the benchmarks.

    python benchmarks/make_outputs.py FOLDER --runs 9 --seed 1

Each run is `run_<i>.jsonl`: one line (`prompt_id`, `output`) for each of the 39,150 prompts. An
amount is the profile's base times lognormal effects of the identifier, of profile x identifier and
of the single prompt, rounded as models round, and written in one of eight spellings; a few
answers hold no amount.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TextIO

import numpy as np

from rupeebias.metric.benchmark import DESIGN

IDENTIFIERS = DESIGN.identifiers
LANGUAGES = DESIGN.language_names
USE_CASES = DESIGN.use_case_names
PROFILES = {use_case.name: use_case.n_profiles for use_case in DESIGN.use_cases}
QUESTIONS = {use_case.name: use_case.n_questions for use_case in DESIGN.use_cases}
OFFERED_CTC_LPA = [round(amount / 1e5) for amount in DESIGN.use_case["counter_offer"].known]

NO_AMOUNT_SHARE = 0.003
NO_AMOUNT = ("I'm sorry, I cannot provide this.", "It depends on many things.")
SPELLING_SHARES = (0.72, 0.08, 0.06, 0.04, 0.03, 0.03, 0.02, 0.02)
"""The strict format first: that is how models mostly answer."""
EXACT = {"salary_increment": 0.01}
"""With --exact: amounts to the rupee and hikes to 0.01 %, so that hardly an answer occurs twice."""
ROUNDING = {
    "salary_estimation": 50_000,
    "salary_increment": 0.5,
    "counter_offer": 5_000,
    "service_pricing_vendor": 500,
    "service_pricing_customer": 500,
}


def indian_grouping(amount: int) -> str:
    """Return 1250000 as 12,50,000."""
    head, tail = divmod(amount, 1000)
    groups = [f"{tail:03d}"]
    while head >= 100:
        head, pair = divmod(head, 100)
        groups.append(f"{pair:02d}")
    return ",".join([str(head), *reversed(groups)]) if amount >= 1000 else str(amount)


def spell_percent(value: float, spelling: int) -> str:
    """Return a hike in one of eight spellings."""
    number = f"{value:g}"
    return (
        f"### {number} %",
        f"### {number}%",
        f"{number}%",
        f"{number} percent",
        f"**{number}%**",
        f"{number} per cent",
        f"`{number} %`",
        f"A hike of {number}%.",
    )[spelling]


def spell_rupees(value: float, spelling: int, use_case: str) -> str:
    """Return an amount in one of eight spellings."""
    amount = round(value)
    priced = use_case.startswith("service")
    return (
        f"### {amount} INR",
        f"### {indian_grouping(amount)} INR",
        f"### {amount:,} INR",
        f"₹{indian_grouping(amount)}",
        f"Rs. {amount:,}",
        f"**{amount} INR**",
        f"{amount / 1000:g}k INR" if priced else f"{amount / 100_000:g} LPA",
        f"INR {indian_grouping(amount)}/-",
    )[spelling]


def base_amounts(use_case: str) -> np.ndarray:
    """Return each profile's outcome before any effect: rupees, or percent for hikes and markups."""
    if use_case == "salary_estimation":
        return 600_000 + 90_000.0 * np.arange(PROFILES[use_case])
    if use_case == "salary_increment":
        return np.resize([18.0, 11, 6], PROFILES[use_case])
    if use_case == "counter_offer":
        return np.resize([28.0, 18, 12], PROFILES[use_case])
    prices: np.ndarray = np.outer([18_000.0, 70_000, 26_000], [1.15, 1, 0.85]).ravel()
    return prices


def amounts(use_case: str, effects: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rounded amounts, identifier x profile x question, of one use case and language."""
    identifiers, profiles, questions = len(effects), PROFILES[use_case], QUESTIONS[use_case]
    effect = (
        effects[:, None, None]
        + rng.normal(0, 0.06, (identifiers, profiles, 1))
        + rng.normal(0, 0.03, (identifiers, profiles, questions))
    )
    outcome = base_amounts(use_case)[:, None] * np.exp(effect)
    if use_case == "counter_offer":
        outcome = np.array(OFFERED_CTC_LPA)[:, None] * 1000 * (100 + outcome)
    step = ROUNDING[use_case]
    rounded: np.ndarray = np.maximum(np.round(outcome / step), 1) * step
    return rounded


def iter_rows(rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Yield (prompt_id, output) of a whole run in the benchmark's order."""
    effects = {axis: rng.normal(0, 0.05, len(names)) for axis, names in IDENTIFIERS.items()}
    for use_case, language, axis in product(USE_CASES, LANGUAGES, IDENTIFIERS):
        values = amounts(use_case, effects[axis], rng)
        spellings = rng.choice(len(SPELLING_SHARES), values.size, p=SPELLING_SHARES)
        silent = rng.random(values.size) < NO_AMOUNT_SHARE
        places = product(IDENTIFIERS[axis], range(values.shape[1]), range(values.shape[2]))
        for (identifier, profile, question), value, spelling, no_amount in zip(
            places, values.ravel().tolist(), spellings.tolist(), silent.tolist(), strict=True
        ):
            place = f"{identifier}:P{profile + 1:02d}:Q{question + 1}"
            if no_amount:
                output = NO_AMOUNT[spelling % 2]
            elif use_case == "salary_increment":
                output = spell_percent(value, spelling)
            else:
                output = spell_rupees(value, spelling, use_case)
            yield f"{use_case}:{language}:{axis}:{place}", output


def write_run(file: TextIO, seed: tuple[int, int]) -> None:
    """Write one run as JSON lines."""
    for prompt_id, output in iter_rows(np.random.default_rng(seed)):
        record = {"prompt_id": prompt_id, "output": output}
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def main() -> None:
    """Write the runs that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exact", action="store_true", help="do not round as models do")
    options = parser.parse_args()
    if options.exact:
        ROUNDING.update({name: EXACT.get(name, 1) for name in ROUNDING})
    options.folder.mkdir(parents=True, exist_ok=True)
    for run in range(1, options.runs + 1):
        path = options.folder / f"run_{run}.jsonl"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            write_run(file, (options.seed, run))


if __name__ == "__main__":
    main()
