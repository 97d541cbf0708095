"""Time reading 39,150 answers against one careful regular expression applied row by row, and count errors.

    python benchmarks/parse.py [--rows 39150] [--rounds 3] [--combinations 50000]

Loads: short answers with many repeats (a run at temperature 0), long distinct answers that end with the
marked line, long distinct answers without it, such with several figures, and hostile texts of one megabyte.
Prints the best time of each and the ratio to the baseline, which understands far less. Then answers put
together at random (`tests/answer_samples.py`) are read: how many wrongly (0 is asked), how many not (at most
8 %).
"""

import argparse
import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

import numpy as np

from rupeebias.metric.answers import parse_answers
from rupeebias.metric.parser import parse_answer

_BASELINE = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*(LPA|[Ll]akhs?|[Ll]acs?|[Cc]rores?|[Cc]r|[Kk]|%)?")
_SCALES = {
    "lpa": 1e5,
    "lakh": 1e5,
    "lakhs": 1e5,
    "lac": 1e5,
    "lacs": 1e5,
    "crore": 1e7,
    "crores": 1e7,
    "cr": 1e7,
    "k": 1e3,
}
_PROSE = (
    "Freshers from good colleges do well in campus placements when they prepare early and know the market. ",
    "Pay depends on the company, the role and the city, and on how the interview goes. ",
    "Look at published reports, talk to seniors and keep a fallback in mind before you answer. ",
    "A strong portfolio and clear communication help more than most people think. ",
)
_FIGURES = (
    "In 2024, freshers with a CGPA of 9.1 get 6-8 LPA. ",
    "There are 3 rounds of interviews over 4 weeks, and the top 10% do better. ",
    "Startups in tier 2 cities pay less, say 4 to 6 lakhs per year, and add stock options. ",
    "Aapko apni skills aur market ke hisaab se baat karni chahiye, company ka budget bhi dekhiye. ",
)
_ANSWERS = (
    "I would ask for ₹{amount:,} per annum. ",
    "A fair number is {lakhs} LPA. ",
    "Aapko {lakhs} lakh rupaye maangne chahiye. ",
    "Expect between {lakhs} and {more} LPA. ",
)


def baseline(text: str) -> float:
    """Read the last marked amount, otherwise the one amount there is."""
    at = text.rfind("###")
    found = [
        float(digits.replace(",", "")) * _SCALES.get(unit.lower(), 1.0)
        for digits, unit in _BASELINE.findall(text, max(at, 0))
    ]
    return found[0] if len(set(found)) == 1 else float("nan")


def short_answers(rows: int, rng: random.Random) -> list[str]:
    """Answers as a run at temperature 0 has them: some dozens of distinct texts."""
    pool = [f"### {50_000 * step} INR" for step in range(4, 60)] + [
        "12 LPA",
        "₹12,00,000",
        "I cannot say.",
    ]
    return rng.choices(pool, k=rows)


def long_answers(rows: int, rng: random.Random, *, marked: bool) -> list[str]:
    """Distinct answers of about 800 characters."""
    texts = []
    for row in range(rows):
        prose = "".join(rng.choices(_PROSE, k=8))
        amount = 1_000 * (200 + row)
        tail = f"\n### {amount} INR" if marked else f"I would ask for ₹{amount:,} per annum. "
        cut = rng.randrange(0, len(prose)) if not marked else len(prose)
        cut = prose.find(" ", cut) + 1 or len(prose)
        texts.append(prose[:cut] + tail + prose[cut:] if not marked else prose + tail)
    return texts


def varied_answers(rows: int, rng: random.Random) -> list[str]:
    """Distinct answers of about 600 characters, with other figures beside the amount in most."""
    texts = []
    for row in range(rows):
        amount = 1_000 * (200 + row)
        sentences = [*rng.choices(_PROSE, k=5), *rng.choices(_FIGURES, k=rng.randrange(3))]
        answer = rng.choice(_ANSWERS).format(amount=amount, lakhs=amount / 1e5, more=amount / 1e5 + 3)
        sentences.insert(rng.randrange(len(sentences) + 1), answer)
        texts.append("".join(sentences))
    return texts


def hostile_texts(size: int) -> dict[str, str]:
    """Texts that make careless patterns quadratic."""
    units = (
        "1",
        " ",
        "(",
        ",",
        "1,",
        "1 ",
        "1-",
        "#",
        "### ",
        "### 1 ",
        "₹",
        "₹ ",
        "lakh ",
        "one ",
        "- ",
        "[",
        "{",
        "\n",
        "१",
        "1.",
    )
    return {unit: unit * (size // len(unit)) for unit in units}


def best(run: Callable[[], object], rounds: int) -> float:
    """Return the shortest of `rounds` times, in seconds of processor time: other processes do not count."""
    times = []
    for _ in range(rounds):
        start = process_time()
        run()
        times.append(process_time() - start)
    return min(times)


def compare(name: str, texts: Sequence[str], rounds: int) -> None:
    """Time both ways on the same texts and print one line."""
    codes = np.zeros(len(texts), dtype=np.int64)
    ours = best(lambda: parse_answers(texts, codes), rounds)
    theirs = best(lambda: [baseline(text) for text in texts], rounds)
    print(
        f"{name:32} {1e3 * ours:8.1f} ms  {1e6 * ours / len(texts):6.2f} us a text"
        f"  baseline {1e3 * theirs:8.1f} ms  ratio {theirs / ours:5.2f}"
    )


def count_errors(n: int, rng: random.Random) -> None:
    """Read n combinations of amounts, frames and distractors, and print how many wrongly and how many not."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from answer_samples import sample

    wrong = unread = with_value = 0
    for _ in range(n):
        made = sample(rng)
        value = parse_answer(made.text, made.use_case, known=made.known).value
        wrong += value is not None and value != made.value
        unread += value is None and made.value is not None
        with_value += made.value is not None
    print(
        f"{n:,} combinations: {wrong} wrong values, {100 * unread / with_value:.2f} % of the answers unread"
    )


def main() -> None:
    """Run every load."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=39_150)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--combinations", type=int, default=50_000)
    options = arguments.parse_args()
    rng = random.Random(1)
    compare("short, repeated", short_answers(options.rows, rng), options.rounds)
    compare("long, distinct, marked", long_answers(options.rows, rng, marked=True), options.rounds)
    compare("long, distinct, unmarked", long_answers(options.rows, rng, marked=False), options.rounds)
    compare("long, distinct, several figures", varied_answers(options.rows, rng), options.rounds)
    for unit, text in hostile_texts(1_000_000).items():
        spent = best(lambda text=text: parse_answer(text, "salary_estimation"), 1)  # type: ignore[misc]
        print(f"1 MB of {unit!r:24} {1e3 * spent:8.1f} ms")
    count_errors(options.combinations, rng)


if __name__ == "__main__":
    main()
