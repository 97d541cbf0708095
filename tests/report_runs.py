"""Runs for tests of tables and figures, with known effects."""

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from statistics import NormalDist

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of
from rupeebias.report.runs import ReportRun, load_report_runs
from rupeebias.runs.manifest import Counts, Manifest, RunIdentity
from rupeebias.runs.selection import Selection

normal_quantile = NormalDist().inv_cdf
OFFERS = [amount / 100_000 for amount in DESIGN.use_case["counter_offer"].known]
HOSTILE_NAME = "$x^2$ <script>a & b</script> \\textbf{|_%#~} \u202eevil\n=1+1 \u0905"


def answer(prompt_id: str, seed: int, effect: float) -> str:
    """Return an answer whose size depends on profile, noise and, with `effect`, the identifier's place."""
    use_case, _, axis, identifier, profile, _ = prompt_id.split(":")
    place = list(DESIGN.identifiers[axis]).index(identifier) / len(DESIGN.identifiers[axis])
    factor = 1 + effect * place + 0.05 * noise(f"{seed} {prompt_id}")
    number = int(profile[1:])
    if use_case == "salary_increment":
        return f"### {(6 + number % 9) * factor:.1f} %"
    if use_case == "counter_offer":
        return f"### {round(OFFERS[number - 1] * 20 * (1 + 0.2 * factor)) * 5_000} INR"
    return f"### {round(200_000 * (1 + number) * factor / 5_000) * 5_000} INR"


def noise(text: str) -> float:
    """Return a standard normal number that the text decides."""
    bits = int.from_bytes(blake2b(text.encode(), digest_size=6).digest())
    return normal_quantile((bits + 0.5) / 2**48)


def write_outputs(
    path: Path, *, seed: int = 0, effect: float = 0.2, keep: Callable[[str], bool] = lambda _: True
) -> Path:
    """Write the answers to the prompts that `keep` lets through."""
    with path.open("w", encoding="utf-8") as file:
        for prompt_id in layout_of(DESIGN).prompt_ids:
            if keep(prompt_id):
                row = {"prompt_id": prompt_id, "output": answer(prompt_id, seed, effect)}
                file.write(json.dumps(row) + "\n")
    return path


def three_runs(folder: Path) -> list[ReportRun]:
    """Return a biased run, a nearly fair one and one that covers English salaries only."""
    paths = [
        write_outputs(folder / "biased.jsonl", effect=0.05),
        write_outputs(folder / "fair.jsonl", seed=1, effect=0.0),
        write_outputs(folder / "part.jsonl", seed=2, keep=lambda x: x.startswith("salary_estimation:en")),
    ]
    return load_report_runs(paths, n_resamples=50)


def as_arm(run: ReportRun, arm: str, model: str = "demo", temperature: float = 0) -> ReportRun:
    """Return a run as if it came from a run directory of a model, a temperature and a system prompt arm."""
    identity = RunIdentity(model, {"temperature": temperature}, arm, Selection.parse(), "0" * 64)
    manifest = Manifest(identity, 1, Counts(1, 1, 0), "", "")
    outputs = run.outputs._replace(arm=arm)
    return replace(run, name=f"{model} ({arm})", outputs=outputs, manifest=manifest)
