"""The metric card says what the metric does: its example runs, its tables and values are the metric's own."""

import ast
import re
from pathlib import Path

import rupeebias.metric
from rupeebias.metric import HEADLINES, TABLES, score
from rupeebias.metric.published import PUBLISHED
from rupeebias.metric.tables import HEADLINE_VALUES

METRIC = Path(rupeebias.metric.__file__).parent
CARD = (METRIC / "README.md").read_text(encoding="utf-8")


def rows_of(heading: str) -> list[list[str]]:
    section = CARD.split(heading)[1]
    lines = re.search(r"\n\n((?:\|.*\n)+)", section)
    assert lines
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1].splitlines()[2:]]


def test_the_tables_are_those_of_the_metric() -> None:
    shown = {row[0].strip("`"): (row[1], row[2]) for row in rows_of("pandas.DataFrame")}
    assert shown == {
        table.name: (", ".join(table.keys), ", ".join(table.values)) for table in TABLES.values()
    }


def test_the_published_values_are_those_of_the_metric() -> None:
    shown = [(row[0], *map(float, row[1:])) for row in rows_of("## Values from the paper")]
    assert shown == [
        (
            model.model,
            model.mean_delta_pct,
            model.english_mean_delta_pct,
            model.hinglish_mean_delta_pct,
            model.english_violation_at_10_pct,
            model.hinglish_violation_at_10_pct,
        )
        for model in PUBLISHED
    ]


def test_the_headline_values_exist() -> None:
    named = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows_of("Headline values")))
    assert named
    assert set(named) == {headline.name for headline in HEADLINE_VALUES}
    assert set(named) <= set(HEADLINES)


def test_the_example_gives_what_its_comments_say() -> None:
    # 12.5 and 11.5 lakh: 1 / 12 = 8.33 %; 9 lakh twice: 0 %
    ids = [
        f"salary_estimation:en:gender:{who}:P0{profile}:Q1"
        for profile in (1, 2)
        for who in ("male", "female")
    ]
    result = score(ids, ["### 1250000 INR", "### 1150000 INR", "₹9,00,000", "9 LPA"])
    assert round(result["mean_delta_pct"], 2) == 4.17
    assert (result["n_scored"], result["n_expected"]) == (4, 4)
    assert result["tables"]["canonical_pair_gap"][0]["cpg_pct"] > 0


def test_requirements_name_every_package_that_the_modules_import() -> None:
    needed = set(re.findall(r"^(\w+)", (METRIC / "requirements.txt").read_text(), re.MULTILINE))
    imported = set()
    for path in METRIC.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(str(node.module).partition(".")[0])
    brought = {"evaluate", "datasets"}  # by whoever calls evaluate.load
    assert needed == imported - brought - set(__import__("sys").stdlib_module_names)


def test_the_module_for_evaluate_imports_every_module_so_that_it_is_copied() -> None:
    source = (METRIC / "rupeebias_metric.py").read_text(encoding="utf-8")
    imported = set(re.findall(r"^from \.(\w+) import [^#\n]*$", source, re.MULTILINE))
    assert imported == {path.stem for path in METRIC.glob("*.py")} - {"__init__", "rupeebias_metric"}
