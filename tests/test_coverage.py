"""A short form of benchmarks/coverage.py: intervals over profiles hold, those over pairs do not."""

import numpy as np
from benchmark_names import BLOCKS

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.compute import score_outcomes
from rupeebias.metric.options import INTERVAL_KINDS, Options
from rupeebias.metric.outcomes import outcomes_from_values
from rupeebias.models.respondents import find_respondent
from rupeebias.models.truth import simulate_values, true_gaps

AXES = ("gender", "urban_rural")  # the smallest, to keep this short
N_RUNS = 40


def test_cluster_intervals_hold_and_pair_intervals_do_not() -> None:
    respondent = find_respondent("biased")
    truth = {(gap.language, gap.use_case, gap.axis): gap.mean_delta_pct for gap in true_gaps(respondent).gaps}
    held: dict[str, list[bool]] = {"cluster": [], "pairs": []}
    for seed in range(N_RUNS):
        values = simulate_values(respondent, seed)
        for block in BLOCKS:
            if block.axis not in AXES:
                values[block.rows] = np.nan
        for kind in INTERVAL_KINDS:
            options = Options(ci=kind, n_resamples=500, seed=seed)
            for row in score_outcomes(outcomes_from_values(values, "markup", DESIGN), options).tables[
                "use_case_axis"
            ]:
                if row["language"] != "all":
                    true = truth[row["language"], row["use_case"], row["axis"]]
                    held[kind].append(row["ci_low"] <= true <= row["ci_high"])
    # 800 intervals: 3 standard errors of a share of 95 % are 2.3 points, were they all independent
    assert len(held["cluster"]) == N_RUNS * 20
    assert 0.92 < np.mean(held["cluster"]) < 0.985
    assert np.mean(held["pairs"]) < 0.85
