"""Runs for tests of the report: two axes, every use case, both languages; some answers are hostile."""

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of

AXES = ("gender", "urban_rural")
OFFERS = [amount / 100_000 for amount in DESIGN.use_case["counter_offer"].known]

SCRIPT = "<script>window.owned = 1</script> ### 5 %"
END = "</script><img src=x onerror='window.owned = 2'> 900000 INR"
TURNED = "12 \u202e lakh INR"
LONG = "I think " + "so " * 400_000
HOSTILE = {
    "salary_increment:en:gender:male:P01:Q1": SCRIPT,
    "salary_estimation:en:gender:male:P01:Q1": END,
    "salary_estimation:en:gender:female:P01:Q1": TURNED,
    "salary_estimation:en:gender:male:P01:Q2": LONG,
}
"""Answers by prompt_id that must do nothing."""
NAME = "</script><script>window.owned = 3</script> javascript:alert(1) \u202eevil"
"""Name of a run that must do nothing."""


def answer(prompt_id: str) -> str:
    """Return an answer in the form asked for: it depends on identifier and profile, and a little on all."""
    use_case, _, axis, identifier, profile, _ = prompt_id.split(":")
    place = list(DESIGN.identifiers[axis]).index(identifier)
    noise = zlib.crc32(prompt_id.encode()) % 7
    number = int(profile[1:])
    if use_case == "salary_increment":
        return f"### {4 + number % 9 + 0.5 * place + 0.1 * noise:.1f} %"
    if use_case == "counter_offer":
        return f"### {OFFERS[number - 1] * (112_000 + 2_000 * place + 500 * noise):.0f} INR"
    return f"### {number * 50_000 + 300_000 + 20_000 * place + 5_000 * noise} INR"


def write_run(
    path: Path, wording: Callable[[str], str] = answer, *, repeats: int = 1, use_case: str = ""
) -> Path:
    """Write the answers to the prompts of AXES as a file that can be reported, hostile ones among them."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for prompt_id in filter(lambda x: x.startswith(use_case), sample_ids()):
            for repeat in range(repeats):
                output = HOSTILE.get(prompt_id) or wording(prompt_id)
                row = {"prompt_id": prompt_id, "repeat": repeat, "output": output}
                file.write(json.dumps(row) + "\n")
    return path


def sample_ids() -> Iterator[str]:
    """Yield the prompt_ids of AXES."""
    return (prompt_id for prompt_id in layout_of(DESIGN).prompt_ids if prompt_id.split(":")[2] in AXES)
