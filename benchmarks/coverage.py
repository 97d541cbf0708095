"""How often a 95 % interval holds: coverage of the true value over simulated runs.

    python benchmarks/coverage.py [--runs 300] [--respondents biased,fair]

A respondent's true gaps follow from its formula (`rupeebias simulate truth`), so an interval either holds or
not. A good 95 % interval holds in 93 to 97 % of runs; one that holds less often claims to know too much.
"""

import argparse
import time
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.comparison import compare_readings
from rupeebias.metric.compute import score_outcomes
from rupeebias.metric.options import INTERVAL_KINDS, Options
from rupeebias.metric.outcomes import outcomes_from_values
from rupeebias.metric.readings import Readings
from rupeebias.metric.statistics import Scored
from rupeebias.models.respondents import Respondent, find_respondent, with_parameters
from rupeebias.models.truth import Truth, simulate_values, true_gaps

Held = dict[tuple[str, str], list[bool]]
"""By kind of interval and statistic: whether each interval held."""


def main() -> None:
    """Print one line a respondent, statistic and kind of interval."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--respondents", default="biased,fair")
    arguments = parser.parse_args()
    print(f"{'respondent':12} {'statistic':34} " + " ".join(f"{kind:>9}" for kind in INTERVAL_KINDS))
    for name in arguments.respondents.split(","):
        start = time.perf_counter()
        held = coverage(find_respondent(name), arguments.runs)
        for statistic in dict.fromkeys(statistic for _, statistic in held):
            shares = [held[kind, statistic] for kind in INTERVAL_KINDS]
            cells = " ".join(f"{sum(share) / len(share) * 100:7.1f} %" for share in shares)
            print(f"{name:12} {statistic:34} {cells}")
        print(f"{name}: {arguments.runs} runs in {time.perf_counter() - start:.0f} s")
    names = arguments.respondents.split(",")
    for first, second in [*combinations(names, 2), *((name, name) for name in names)]:
        print_differences(find_respondent(first), find_respondent(second), arguments.runs)


def print_differences(first: Respondent, second: Respondent, n_runs: int) -> None:
    """Print one line for each statistic of `difference_coverage`."""
    pair = f"{first.name} - {second.name}"
    for statistic, (held, small) in difference_coverage(first, second, n_runs).items():
        print(f"{pair:24} {statistic:28} holds in {held:5.1f} %, p < 0.05 in {small:5.1f} %")


def difference_coverage(first: Respondent, second: Respondent, n_runs: int) -> dict[str, tuple[float, float]]:
    """Return in how many comparisons (percent) the interval holds the true difference, and p < 0.05.

    The two runs of a comparison share nothing but the prompts. Of two runs of one respondent 5 % should have
    p < 0.05.
    """
    truths = [true_gaps(respondent) for respondent in (first, second)]
    found: dict[str, list[tuple[bool, bool]]] = {}
    for seed in range(n_runs):
        before, after = _readings(first, seed), _readings(second, n_runs + seed)
        for row in compare_readings(before, after, Options())["tables"]["comparison"]:
            name = row["statistic"]
            if "mean_delta_pct" not in name:
                continue
            true = _true_headline(truths[1], name) - _true_headline(truths[0], name)
            held = row["ci_low"] <= true <= row["ci_high"]
            found.setdefault(name, []).append((held, row["p_value"] < 0.05))
    return {
        name: (float(shares[0]), float(shares[1]))
        for name, shares in ((name, np.mean(told, axis=0) * 100) for name, told in found.items())
    }


def _readings(respondent: Respondent, seed: int) -> Readings:
    values = simulate_values(with_parameters(respondent, {"seed": seed}), seed, 1)
    return Readings(np.zeros(values.shape, dtype=np.int8), values, np.ones(values.shape, dtype=bool))


def coverage(respondent: Respondent, n_runs: int) -> Held:
    """Return whether each interval of each simulated run holds the respondent's true value."""
    truth = true_gaps(respondent)
    held: Held = {}
    for seed in range(n_runs):
        run = with_parameters(respondent, {"seed": seed})
        outcomes = outcomes_from_values(simulate_values(run, seed, 1), "markup", DESIGN)
        for kind in INTERVAL_KINDS:
            statistics = score_outcomes(outcomes, Options(ci=kind, n_resamples=1000, seed=seed))
            for statistic, true, low, high in intervals(statistics, truth):
                held.setdefault((kind, statistic), []).append(low <= true <= high)
    return held


def intervals(statistics: Scored, truth: Truth) -> Iterator[tuple[str, float, float, float]]:
    """Yield the name of a statistic, its true value and the ends of its interval."""
    headlines: dict[str, Any] = statistics.headlines
    for prefix in ("", "english_", "hinglish_"):
        name = f"{prefix}mean_delta_pct"
        yield name, getattr(truth, name), headlines[f"{name}_ci_low"], headlines[f"{name}_ci_high"]
    cells = _true_headline(truth, "mean_delta_pct_balanced")
    ends = (headlines[f"mean_delta_pct_balanced_ci_{end}"] for end in ("low", "high"))
    yield "mean_delta_pct_balanced", cells, *ends
    for table, key in (("axis", "axis"), ("use_case", "use_case")):
        for row in statistics.tables[table]:
            if row["language"] != "all":
                true = _true_mean(truth, row["language"], key, row[key])
                yield f"mean_delta_pct of one {key}", true, row["ci_low"], row["ci_high"]
    gaps = {(gap.use_case, gap.axis): gap.cpg_pct for gap in truth.canonical_pair_gaps}
    for row in statistics.tables["canonical_pair_gap"]:
        yield "canonical_pair_gap", gaps[row["use_case"], row["axis"]], row["ci_low"], row["ci_high"]
    for row in statistics.tables["language_moderation"]:
        english, hinglish = (_true_mean(truth, name, "axis", row["axis"]) for name in ("en", "hinglish"))
        yield "language change of mean_delta_pct", hinglish - english, row["ci_low"], row["ci_high"]


def _true_headline(truth: Truth, name: str) -> float:
    if name == "mean_delta_pct_balanced":
        return sum(gap.mean_delta_pct for gap in truth.gaps) / len(truth.gaps)
    return float(getattr(truth, name))


def _true_mean(truth: Truth, language: str, key: str, value: str) -> float:
    cells = [gap for gap in truth.gaps if gap.language == language and getattr(gap, key) == value]
    return sum(gap.mean_delta_pct * gap.n_pairs for gap in cells) / sum(gap.n_pairs for gap in cells)


if __name__ == "__main__":
    main()
