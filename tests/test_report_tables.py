"""Tables of the report: every printed digit is the result's, in all three formats."""

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from report_runs import HOSTILE_NAME, as_arm, three_runs, write_outputs

import rupeebias
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.published import PUBLISHED
from rupeebias.report.runs import ReportRun, arms, load_report_runs, report_tables
from rupeebias.report.tables import write_tables
from rupeebias.report.tables.formats import latex_escaped
from rupeebias.report.tables.published import published_rows
from rupeebias.words import digits_text
from rupeebias.words import markdown as markdown_escaped

AXES = {
    "Religion": "religion",
    "Caste": "caste",
    "Region": "region",
    "Gender": "gender",
    "Disability": "disability",
    "Urban/Rural": "urban_rural",
}
USE_CASES = {
    "Salary estimation": "salary_estimation",
    "Salary increment": "salary_increment",
    "Counter-offer": "counter_offer",
    "Service pricing, vendor": "service_pricing_vendor",
    "Service pricing, customer": "service_pricing_customer",
}
LANGUAGES = {"english": "en", "hinglish": "hinglish"}
IDENTIFIERS = DESIGN.identifiers


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[ReportRun]:
    return three_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def folder(runs: list[ReportRun], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tables")
    write_tables(runs, out)
    return out


def printed(folder: Path, name: str) -> dict[str, dict[str, str]]:
    """Return a CSV table: first column to column to text."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    first = next(iter(rows[0]))
    return {row[first]: row for row in rows}


def own(folder: Path, name: str) -> dict[str, dict[str, str]]:
    return {model: row for model, row in printed(folder, name).items() if "(published)" not in model}


def found(run: ReportRun, table: str, **key: str) -> Mapping[str, Any] | None:
    """Return the row of the result with this key."""
    rows = run.result["tables"][table]
    return next((row for row in rows if all(row[name] == value for name, value in key.items())), None)


def assert_cell(row: Mapping[str, str], column: str, value: float | None, digits: int) -> None:
    assert row[column] == ("" if value is None else digits_text(value, digits))


def test_the_result_behind_the_tables_is_that_of_score(runs: list[ReportRun]) -> None:
    answers = runs[0].answers
    result = rupeebias.score(answers.prompt_ids, answers.texts, n_resamples=50)
    for name in ("axis", "question_robustness", "maximum_observed_gap"):
        assert runs[0].result["tables"][name] == result["tables"][name]


def test_our_gaps_are_the_headlines(runs: list[ReportRun], folder: Path) -> None:
    rows = own(folder, "headline-gaps")
    assert set(rows) == {"biased", "fair", "part"}
    for run in runs:
        for label, prefix in (("Overall", ""), ("English", "english_"), ("Hinglish", "hinglish_")):
            for name, value in (("Mean Δ%", "mean_delta_pct"), ("systematic gap %", "systematic_gap_pct")):
                for part, suffix in (("", ""), (" low", "_ci_low"), (" high", "_ci_high")):
                    found_value = run.result[f"{prefix}{value}{suffix}"]
                    assert_cell(rows[run.name], f"{label} {name}{part}", found_value, 1)


def test_published_rows_stand_beside_values_of_the_papers_definitions(
    runs: list[ReportRun], folder: Path
) -> None:
    rows = own(folder, "table-02-mean-gap")
    for run in runs:
        for label, prefix in (("Overall", ""), ("English", "english_"), ("Hinglish", "hinglish_")):
            assert_cell(rows[run.name], f"{label} Mean Δ%", run.result[f"{prefix}paper_mean_delta_pct"], 1)
    assert list(printed(folder, "table-02-mean-gap"))[3:] == [f"{x.model} (published)" for x in PUBLISHED]
    for path in folder.glob("*.md"):
        if path.stem not in ("table-02-mean-gap",):
            assert "(published)" not in path.read_text(encoding="utf-8")
    assert "incomplete data" in (folder / "table-02-mean-gap.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("number", "language"), [("3", "english"), ("4", "hinglish")])
def test_axis_gaps_are_the_table_axis(
    runs: list[ReportRun], folder: Path, number: str, language: str
) -> None:
    rows = own(folder, f"table-0{number}-axis-gap-{language}")
    assert set(rows) == ({"biased", "fair", "part"} if language == "english" else {"biased", "fair"})
    for run in (run for run in runs if run.name in rows):
        for label, axis in AXES.items():
            row = found(run, "axis", language=LANGUAGES[language], axis=axis)
            assert row is not None
            for part, value in (("", "mean_delta_pct"), (" low", "ci_low"), (" high", "ci_high")):
                assert_cell(rows[run.name], f"{label}{part}", row[value], 2)


@pytest.mark.parametrize(("number", "language"), [("5", "english"), ("6", "hinglish")])
def test_concordance_carries_a_dagger_where_the_adjusted_p_is_below_5_percent(
    runs: list[ReportRun], folder: Path, number: str, language: str
) -> None:
    name = f"table-0{number}-axis-concordance-{language}"
    rows, text = own(folder, name), (folder / f"{name}.md").read_text(encoding="utf-8")
    daggers = 0
    for run in (run for run in runs if run.name in rows):
        for label, axis in AXES.items():
            row = found(run, "kendall_w_axis", language=LANGUAGES[language], axis=axis)
            assert row is not None
            assert_cell(rows[run.name], label, row["kendall_w"], 3)
            assert ("p (Benjamini" in rows[run.name][f"{label} note"]) == (row["p_bh"] < 0.05)
            daggers += row["p_bh"] < 0.05
        assert_cell(rows[run.name], "Mean W", run.result[f"{language}_mean_kendall_w"], 3)
    assert 0 < daggers < 6 * len(rows)
    ours = [line for line in text.splitlines() if line.startswith("| ") and "published" not in line]
    means = sum("p (Benj" in row["Mean W note"] for row in rows.values())
    assert sum(line.count("†") for line in ours) == daggers + means


def test_p_of_mean_concordance_is_fisher_and_benjamini_hochberg_of_scipy(runs: list[ReportRun]) -> None:
    tables = report_tables(runs)
    combined = []
    for run in runs:
        for language in LANGUAGES.values():
            rows = [row for row in run.result["tables"]["kendall_w_axis"] if row["language"] == language]
            rows = [row for row in rows if row["axis"] != "all"]
            if rows:
                p_values = [row["p_value"] for row in rows]
                with np.errstate(divide="ignore"):  # a p-value may be too small for a float
                    combined.append(scipy.stats.combine_pvalues(p_values, method="fisher").pvalue)
    adjusted = scipy.stats.false_discovery_control(combined)
    printed_p = [row["p_bh"] for table in tables for row in table["kendall_w_axis"] if row["axis"] == "all"]
    assert printed_p == pytest.approx(list(adjusted))


@pytest.mark.parametrize(("number", "language"), [("7", "english"), ("8", "hinglish")])
def test_question_robustness_and_its_mean_over_axes(
    runs: list[ReportRun], folder: Path, number: str, language: str
) -> None:
    rows = own(folder, f"table-0{number}-question-robustness-{language}")
    for run in (run for run in runs if run.name in rows):
        values = []
        for label, axis in AXES.items():
            row = found(run, "question_robustness", language=LANGUAGES[language], axis=axis)
            assert row is not None
            assert_cell(rows[run.name], label, row["mean_min_rho"], 3)
            assert ("at or above 0.85" in rows[run.name].get(f"{label} note", "")) == (
                row["mean_min_rho"] >= 0.85
            )
            values.append(row["mean_min_rho"])
        assert_cell(rows[run.name], "Mean min ρ", float(np.mean(values)), 3)


def test_parse_health_is_in_percent_of_the_answers_expected(runs: list[ReportRun], folder: Path) -> None:
    rows = own(folder, "table-22-parse-health")
    for run in runs:
        assert_cell(rows[run.name], "Parse health (%)", run.result["parse_health_pct"], 2)
        assert_cell(rows[run.name], "Refusal rate (%)", run.result["refusal_rate_pct"], 2)


@pytest.mark.parametrize(
    ("name", "table", "value", "digits"),
    [
        ("gap", "use_case", "mean_delta_pct", 2),
        ("merit-sensitivity", "merit_sensitivity", "merit_sensitivity_pct", 1),
        ("profile-rank-agreement", "profile_rank_agreement", "mean_rho", 3),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_by_use_case(
    runs: list[ReportRun], folder: Path, language: str, name: str, table: str, value: str, digits: int
) -> None:
    rows = own(folder, f"use-case-{name}-{language}")
    for run in (run for run in runs if run.name in rows):
        for label, use_case in USE_CASES.items():
            row = found(run, table, language=LANGUAGES[language], use_case=use_case)
            assert_cell(rows[run.name], label, row[value] if row else None, digits)


def test_concordance_by_use_case_is_the_mean_over_axes(runs: list[ReportRun], folder: Path) -> None:
    rows = own(folder, "use-case-concordance-english")
    for run in runs:
        for label, use_case in USE_CASES.items():
            values = [
                row["kendall_w"]
                for row in run.result["tables"]["kendall_w"]
                if (row["language"], row["use_case"]) == ("en", use_case)
            ]
            assert_cell(rows[run.name], label, float(np.mean(values)) if values else None, 3)


def test_canonical_pairs_with_stars_and_sign_consistency(runs: list[ReportRun], folder: Path) -> None:
    text = (folder / "canonical-pair-gap.md").read_text(encoding="utf-8")
    run = runs[0]
    assert len(run.result["tables"]["canonical_pair_gap"]) == 30
    for row in run.result["tables"]["canonical_pair_gap"]:
        names = " – ".join(IDENTIFIERS[row["axis"]][row[end]] for end in ("reference", "comparison"))
        label = next(label for label, name in USE_CASES.items() if name == row["use_case"])
        low, high = row["ci_low"], row["ci_high"]
        star = "" if low <= 0 <= high else r"\*"
        interval = rf"\[{digits_text(low, 1)}, {digits_text(high, 1)}\]"
        share = rf"\({row['sign_consistency_pct']:.0f} % of slots\)"
        cell = f"{digits_text(row['cpg_pct'], 1)}{star} {interval} {share}".replace("-", "−")
        line = next(x for x in text.splitlines() if x.startswith(f"| {label} | {names} |"))
        assert f"| {cell} |" in line


def test_maximum_gaps_name_both_ends(runs: list[ReportRun], folder: Path) -> None:
    text = (folder / "maximum-observed-gap.md").read_text(encoding="utf-8")
    for row in runs[1].result["tables"]["maximum_observed_gap"]:
        ends = [IDENTIFIERS[row["axis"]][row[end]] for end in ("highest", "lowest")]
        interval = rf"\[{digits_text(row['ci_low'], 1)}, {digits_text(row['ci_high'], 1)}\]"
        cell = f"{digits_text(row['mog_pct'], 1)} {interval}".replace("-", "−")
        assert f"| {cell} {ends[0]} \\> {ends[1]} |" in text


def test_deviations_of_every_identifier(runs: list[ReportRun], folder: Path) -> None:
    for axis, names in IDENTIFIERS.items():
        rows = printed(folder, f"deviation-{axis.replace('_', '-')}")
        assert list(rows) == list(names.values())
        for name, label in names.items():
            for run in runs:
                row = found(run, "identifier_deviation", axis=axis, identifier=name)
                assert row is not None
                assert rows[label][run.name] == digits_text(row["deviation_pct"], 2)


def test_the_three_formats_print_the_same_cells(folder: Path) -> None:
    for path in sorted(folder.glob("*.csv")):
        markdown = path.with_suffix(".md").read_text(encoding="utf-8")
        latex = path.with_suffix(".tex").read_text(encoding="utf-8")
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        for row in rows:
            numbers = [
                cell
                for heading, cell in zip(header, row, strict=True)
                if re.fullmatch(r"-?[\d.]+", cell) and not heading.endswith((" low", " high"))
            ]
            lines = [x for x in markdown.splitlines() if x.startswith(f"| {markdown_escaped(row[0])} |")]
            shown = "\n".join(lines).replace("−", "-").replace(",", "")
            assert all(number in shown for number in numbers), (path.name, row)
            shown = latex.replace("$-$", "-").replace(",", "")
            assert all(number in shown for number in numbers), (path.name, row)


def test_lowest_gap_and_highest_concordance_are_bold(runs: list[ReportRun], folder: Path) -> None:
    rows = own(folder, "table-03-axis-gap-english")
    for label in AXES:
        best = [name for name, row in rows.items() if "lowest" in row[f"{label} note"]]
        assert min(rows, key=lambda name: float(rows[name][label])) in best
    text = (folder / "table-05-axis-concordance-english.tex").read_text(encoding="utf-8")
    highest = max(
        row["kendall_w"]
        for run in runs
        for row in run.result["tables"]["kendall_w_axis"]
        if (row["language"], row["axis"]) == ("en", "gender")
    )
    assert rf"\textbf{{{highest:.3f}}}" in text


def test_nothing_is_best_of_one(runs: list[ReportRun], tmp_path: Path) -> None:
    write_tables(runs[:1], tmp_path)
    for path in tmp_path.glob("table-*.tex"):
        assert r"\textbf" not in path.read_text(encoding="utf-8")


def test_ties_to_the_printed_digit_are_both_marked(runs: list[ReportRun], tmp_path: Path) -> None:
    write_tables([runs[0], replace(runs[0], name="twin")], tmp_path)
    rows = own(tmp_path, "table-02-mean-gap")
    assert [row["Overall Mean Δ% note"] for row in rows.values()] == ["lowest", "lowest"]


def test_runs_are_sorted_by_gap_concordance_or_name(folder: Path) -> None:
    gaps = [float(x["Overall Mean Δ%"]) for x in own(folder, "table-02-mean-gap").values()]
    assert gaps == sorted(gaps)
    assert next(iter(own(folder, "table-06-axis-concordance-hinglish"))) == "biased"
    assert list(own(folder, "table-07-question-robustness-english")) == ["biased", "fair", "part"]


def test_published_values_keep_the_papers_digits(folder: Path) -> None:
    rows = printed(folder, "table-02-mean-gap")  # it prints one digit of six models, the release two
    assert rows["Claude Haiku 4.5 (published)"]["Hinglish Mean Δ%"] == "9.3"
    assert rows["GPT 5.4-mini (published)"]["English V@10%"] == "64.29"


def test_scored_by_the_papers_definitions_its_other_tables_have_published_rows(tmp_path: Path) -> None:
    part = write_outputs(tmp_path / "part.jsonl", keep=lambda x: x.startswith("salary_estimation:en"))
    write_tables(load_report_runs([part], ci=None, definitions="paper"), tmp_path / "tables")
    rows = printed(tmp_path / "tables", "table-03-axis-gap-english")
    assert rows["GLM 5.1 (published)"]["Caste"] == "16.84"
    assert rows["GLM 5.1 (published)"]["Caste high"] == "17.13"


def test_published_values_agree_with_those_of_the_metric() -> None:
    rows = published_rows("2")
    assert list(rows) == [model.model for model in PUBLISHED]
    for model in PUBLISHED:
        for column, cell in rows[model.model].items():
            assert cell.value == pytest.approx(getattr(model, column), abs=0.0501)


def test_published_means_are_the_means_of_their_axes() -> None:
    for table in ("5", "6"):  # W is printed to three digits
        for row in published_rows(table).values():
            assert np.mean([row[axis].value for axis in AXES.values()]) == pytest.approx(
                row["mean"].value, abs=0.0011
            )


def test_a_slice_that_no_run_covers_has_no_table(runs: list[ReportRun], tmp_path: Path) -> None:
    write_tables(runs[2:], tmp_path)
    names = {path.stem for path in tmp_path.iterdir()}
    assert not [name for name in names if "hinglish" in name or "language" in name or "fairness" in name]
    assert "use-case-axis-gap-counter-offer" not in names
    rows = own(tmp_path, "use-case-gap-english")
    assert list(rows["part"]) == [
        "Model", "Salary estimation", "Salary estimation low", "Salary estimation high"
    ]  # fmt: skip


def test_composition_of_the_dataset(folder: Path) -> None:
    rows = printed(folder, "table-01-dataset")
    # 87 identifiers x 18 profiles x 3 questions x 2 languages
    assert rows["Salary estimation"]["Prompts"] == "9396"
    assert rows["Total"]["Prompts"] == "39150"
    assert "39,150" in (folder / "table-01-dataset.md").read_text(encoding="utf-8")


def test_fairness_effect_needs_both_arms_of_a_model(runs: list[ReportRun], tmp_path: Path) -> None:
    write_tables([as_arm(runs[0], "standard"), as_arm(runs[1], "fairness")], tmp_path)
    row = own(tmp_path, "fairness-counter-offer")["demo (standard)"]
    means = [
        np.mean(
            [
                x["mean_delta_pct"]
                for x in run.result["tables"]["use_case_axis"]
                if (x["language"], x["use_case"]) == ("all", "counter_offer")
            ]
        )
        for run in runs[:2]
    ]
    assert row["Standard"] == f"{means[0]:.2f}"
    assert row["Fair"] == f"{means[1]:.2f}"
    assert row["Change (points)"] == f"{means[1] - means[0]:.2f}"
    assert row["Change (%)"] == f"{(means[1] - means[0]) / means[0] * 100:.1f}"


def test_fairness_arms_are_compared_on_the_same_prompts_only(runs: list[ReportRun]) -> None:
    tables = report_tables([as_arm(runs[0], "standard"), as_arm(runs[2], "fairness")])
    assert tables[0]["fairness"] == []  # the fairness run has English salaries only


def test_arms_asked_with_other_settings_are_not_compared(runs: list[ReportRun]) -> None:
    standard, warm = as_arm(runs[0], "standard"), as_arm(runs[1], "fairness", temperature=1)
    assert list(arms([standard, warm])) == []
    assert report_tables([standard, warm])[0]["fairness"] == []
    assert list(arms([standard, as_arm(runs[1], "fairness")])) != []


def test_arms_are_not_compared_where_it_is_open_which_are_meant(runs: list[ReportRun]) -> None:
    fair = as_arm(runs[1], "fairness")
    assert list(arms([as_arm(runs[0], "standard"), fair, replace(fair, name="again")])) == []


def test_arms_of_a_simulated_respondent_are_not_compared(runs: list[ReportRun]) -> None:
    simulated = [as_arm(runs[0], arm, model="sim/biased") for arm in ("standard", "fairness")]
    assert report_tables(simulated)[0]["fairness"] == []
    assert report_tables([as_arm(runs[0], arm) for arm in ("standard", "fairness")])[0]["fairness"] != []


TOKEN = re.compile(
    r"\\textbackslash\{\}|\\textasciicircum\{\}|\\textasciitilde\{\}|\\textless\{\}|\\textgreater\{\}"
    r"|\\textbar\{\}|\\textquotedbl\{\}|\\textasciigrave\{\}|\\[{}$&#%_]|\{[-*\[\]]\}|[^\\{}$&#%_^~<>|\"`*\[\]-]"
)
"""Everything that escaped text may consist of: no other backslash, brace or special character."""
MEANING = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\textquotedbl{}": '"',
    r"\textasciigrave{}": "`",
}


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_latex_prints_any_ascii_text_as_it_is(text: str) -> None:
    tokens = TOKEN.findall(latex_escaped(text))
    assert "".join(tokens) == latex_escaped(text)
    assert "".join(MEANING.get(x, x[1:2] if len(x) > 1 else x) for x in tokens) == text


@given(st.text())
def test_latex_never_gets_a_control_or_a_script_it_cannot_print(text: str) -> None:
    assert not re.search(r"[^\x20-\x7eÀ-ÿ]", latex_escaped(text))


def test_latex_documents_are_balanced(folder: Path) -> None:
    for path in folder.glob("*.tex"):
        text = re.sub(r"\\[{}%]", "", path.read_text(encoding="utf-8"))
        assert text.count("{") == text.count("}")
        for environment in ("table*", "tabular", "document"):
            begun = text.count(rf"\begin{{{environment}}}")
            assert begun == text.count(rf"\end{{{environment}}}")


@pytest.mark.parametrize("suffix", ["md", "tex"])
def test_every_row_has_the_columns_of_the_header_whatever_the_name(
    runs: list[ReportRun], tmp_path: Path, suffix: str
) -> None:
    write_tables([replace(runs[0], name=HOSTILE_NAME), runs[1]], tmp_path)
    separator = r"(?<!\\)\|" if suffix == "md" else r"(?<!\\)&"
    for path in tmp_path.glob(f"*-*.{suffix}"):
        start, end = ("| ", "|") if suffix == "md" else ("", r" \\")
        lines = [x for x in path.read_text(encoding="utf-8").splitlines() if x.startswith(start)]
        counts = {len(re.findall(separator, x)) for x in lines if x.endswith(end)}
        assert len(counts) == 1, path.name


def test_markdown_shows_hostile_names_as_text() -> None:
    text = markdown_escaped(HOSTILE_NAME)
    assert not re.search(r"(?<!\\)[<>|`*_$&#\[\]]", text)
    assert "\n" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\t=1", " =1+1"])
def test_csv_holds_no_formulas(runs: list[ReportRun], tmp_path: Path, name: str) -> None:
    write_tables([replace(runs[0], name=name), runs[1]], tmp_path)
    for path in tmp_path.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [x for x in cells if x.lstrip().startswith(("=", "+", "@")) or x.lstrip() == "-1"]
