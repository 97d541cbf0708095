"""Figures of the report: what is drawn is the result, every text has its place, files are safe to embed."""

import hashlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from report_runs import HOSTILE_NAME, as_arm, three_runs

from rupeebias.metric.benchmark import DESIGN
from rupeebias.report.figures.catalogue import catalogue, draw_and_write, write_figures
from rupeebias.report.figures.scatter import spread
from rupeebias.report.figures.style import (
    AMOUNT,
    DARK,
    INK,
    LIGHT,
    SIGNED,
    Drawing,
    FigureRun,
    clean,
    figure_runs,
    house_style,
    lay_out,
)
from rupeebias.report.runs import ReportRun, Tables
from rupeebias.words import with_interval

CATALOGUE = catalogue(DESIGN.axis_names)
IDENTIFIERS, USE_CASES, LANGUAGES = DESIGN.identifiers, DESIGN.use_case_names, DESIGN.language_names


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> list[ReportRun]:
    return three_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def runs(reported: list[ReportRun]) -> list[FigureRun]:
    return figure_runs(reported)


def draw(name: str, runs: Sequence[FigureRun]) -> list[Drawing]:
    with house_style(name):
        return CATALOGUE[name](runs)


def draw_one(name: str, runs: Sequence[FigureRun]) -> Drawing:
    (drawing,) = draw(name, runs)
    return drawing


def panel(figure: Figure, label: str) -> Axes:
    return next(axes for axes in figure.axes if axes.get_label() == label)


def bars(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def many(runs: Sequence[FigureRun], n: int) -> list[FigureRun]:
    """Return n runs with names of different lengths."""
    return [
        replace(runs[at % len(runs)], label=clean(f"provider/model-{'x' * (at % 9)}-{at}")) for at in range(n)
    ]


@pytest.mark.parametrize(
    ("name", "table", "value"),
    [
        ("use-case-gap", "use_case", "mean_delta_pct"),
        ("use-case-concordance", "kendall_w_use_case", "kendall_w"),
        ("merit", "merit_sensitivity", "merit_sensitivity_pct"),
        ("agreement", "profile_rank_agreement", "mean_rho"),
    ],
)
def test_bars_by_use_case_are_as_long_as_the_result_says(
    runs: list[FigureRun], name: str, table: str, value: str
) -> None:
    figure = draw_one(name, runs).figure
    for use_case in USE_CASES:
        expected = [
            row[value]
            for run in runs
            for language in LANGUAGES
            if (row := run.row(table, language=language, use_case=use_case)) and row[value] is not None
        ]
        assert [bar.get_width() for bar in bars(panel(figure, use_case))] == expected


def test_intervals_and_printed_values_of_the_gaps(runs: list[FigureRun]) -> None:
    axes = panel(draw_one("use-case-gap", runs).figure, "counter_offer")
    rows = [run.row("use_case", language=x, use_case="counter_offer") for run in runs for x in LANGUAGES]
    shown = [row for row in rows if row]
    drawn = [x for x in axes.collections if isinstance(x, LineCollection)]
    lines = [tuple(float(x) for x in segment[:, 0]) for one in drawn for segment in one.get_segments()]
    for row in shown:
        assert (row["ci_low"], row["ci_high"]) in lines
    assert texts(axes) == [f"{row['mean_delta_pct']:.1f}" for row in shown]


def test_hatched_where_not_significant(runs: list[FigureRun]) -> None:
    figure = draw_one("use-case-concordance", runs).figure
    hatched = []
    for use_case in USE_CASES:
        rows = [
            run.row("kendall_w_use_case", language=x, use_case=use_case) for run in runs for x in LANGUAGES
        ]
        expected = [not float(row["p_bh"] or 0.0) < 0.05 for row in rows if row]
        assert [bool(bar.get_hatch()) for bar in bars(panel(figure, use_case))] == expected
        hatched += expected
    assert 0 < sum(hatched) < len(hatched)


def test_mean_concordance_from_the_highest_down(runs: list[FigureRun]) -> None:
    axes = panel(draw_one("mean-concordance", runs).figure, "mean-concordance")
    order = sorted(runs, key=lambda run: -float(run.headline["mean_kendall_w"] or 0.0))
    values = [run.headline[f"{x}_mean_kendall_w"] for run in order for x in ("english", "hinglish")]
    assert [bar.get_width() for bar in bars(axes)] == [value for value in values if value is not None]


def test_points_of_the_scatter_plot(runs: list[FigureRun]) -> None:
    axes = panel(draw_one("scatter", runs).figure, "scatter")
    line = next(line for line in axes.lines if line.get_label() == "runs")
    assert list(line.get_xdata()) == [run.headline["mean_delta_pct"] for run in runs]  # type: ignore[arg-type]
    assert list(line.get_ydata()) == [run.headline["mean_kendall_w"] for run in runs]  # type: ignore[arg-type]


def test_published_models_stand_beside_complete_runs_of_the_papers_definitions_only(
    runs: list[FigureRun],
) -> None:
    assert len(texts(panel(draw_one("scatter", runs).figure, "scatter"))) == len(runs)

    def by_the_paper(run: FigureRun) -> FigureRun:
        return replace(run, tables={**run.tables, "headline": [{**run.headline, "definitions": "paper"}]})

    complete = [by_the_paper(run) for run in runs if run.label != "part"]
    axes = panel(draw_one("scatter", complete).figure, "scatter")
    published = next(line for line in axes.lines if line.get_label() == "published")
    assert len(list(published.get_xdata())) == 6  # type: ignore[arg-type]
    part = [by_the_paper(run) for run in runs if run.label == "part"]
    assert texts(panel(draw_one("scatter", part).figure, "scatter")) == ["part"]


def test_dots_of_the_first_charts_are_effects_and_systematic_gaps(runs: list[FigureRun]) -> None:
    figure = draw_one("group-effects", runs[:1]).figure
    axes = panel(figure, "gender")
    dots = [float(line.get_xdata()[0]) for line in axes.lines if line.get_label() == "effect_pct"]  # type: ignore[index, arg-type]
    rows = runs[0].tables["group_effect"]
    expected = [
        float(row["effect_pct"] or 0)
        for row in rows
        if (row["language"], row["use_case"], row["axis"]) == ("all", "all", "gender")
    ]
    assert dots == sorted(expected, reverse=True)
    figure = draw_one("systematic-gap", runs).figure
    dots = [
        float(line.get_xdata()[0])  # type: ignore[index, arg-type]
        for line in panel(figure, "caste").lines
        if line.get_label() == "systematic_gap_pct"
    ]
    own = [run.row("systematic_gap", language="all", use_case="all", axis="caste") for run in runs]
    assert dots == [row["systematic_gap_pct"] for row in own if row]


@pytest.mark.parametrize("axis", IDENTIFIERS)
def test_deviation_bars_of_all_identifiers_sorted(runs: list[FigureRun], axis: str) -> None:
    figure = draw_one(f"deviation-{axis}", runs).figure
    panels = {run.label: panel(figure, run.label) for run in runs}
    labels = [text.get_text() for text in next(iter(panels.values())).get_yticklabels()]
    assert sorted(labels) == sorted(IDENTIFIERS[axis].values())
    names = {label: name for name, label in IDENTIFIERS[axis].items()}
    means = []
    for run in runs:
        rows = [run.row("identifier_deviation", axis=axis, identifier=names[label]) for label in labels]
        values = [float(row["deviation_pct"] or 0.0) for row in rows if row]
        assert [bar.get_width() for bar in bars(panels[run.label])] == values
        means.append(values)
    sums = [sum(column) for column in zip(*means, strict=True)]
    assert sums == sorted(sums, reverse=True)


def test_radar_lines_are_the_gaps_by_axis(runs: list[FigureRun]) -> None:
    figure = draw_one("radar", runs).figure
    for run in runs:
        lines = {line.get_label(): line for line in panel(figure, run.label).lines}
        for use_case in USE_CASES:
            rows = [run.row("use_case_axis", language="all", use_case=use_case, axis=x) for x in IDENTIFIERS]
            values = [row["mean_delta_pct"] for row in rows if row]
            if values:
                assert list(lines[use_case].get_ydata()) == [*values, values[0]]  # type: ignore[arg-type]


def test_an_outlier_gets_a_scale_of_its_own_and_says_so(runs: list[FigureRun]) -> None:
    wide = [
        {**row, "mean_delta_pct": 9 * float(row["mean_delta_pct"] or 0)}
        for row in runs[0].tables["use_case_axis"]
    ]
    outlier = replace(runs[0], label="wide", tables={**runs[0].tables, "use_case_axis": wide})
    figure = draw_one("radar", [*runs, outlier]).figure
    limits = {axes.get_label(): axes.get_ylim()[1] for axes in figure.axes}
    assert limits["biased"] == limits["fair"] == limits["part"] < limits["wide"]
    assert "wide ‡" in [axes.get_title() for axes in figure.axes]


def test_cells_of_the_canonical_pairs(runs: list[FigureRun]) -> None:
    figure = draw_one("canonical-pairs", runs[:1]).figure
    rows = runs[0].tables["canonical_pair_gap"]
    shown = [text for axes in figure.axes if axes.texts for text in texts(axes)]
    assert len(shown) == len(rows) == 30
    for row, text in zip(rows, shown, strict=True):
        value, low, high = (float(row[name] or 0.0) for name in ("cpg_pct", "ci_low", "ci_high"))
        star = "" if low <= 0 <= high else "*"
        number = f"{value:+.1f}" if float(f"{value:.1f}") else "0.0"
        assert text == f"{number}{star}\n{row['sign_consistency_pct']:.0f} %".replace("-", "−")


def test_cells_of_the_maximum_gaps_name_both_ends(runs: list[FigureRun]) -> None:
    figure = draw_one("maximum-gaps", runs[:1]).figure
    shown = [text for axes in figure.axes if axes.texts for text in texts(axes)]
    for row, text in zip(runs[0].tables["maximum_observed_gap"], shown, strict=True):
        if row["axis"] != "disability":  # its names are shortened
            names = [IDENTIFIERS[str(row["axis"])][str(row[end])] for end in ("highest", "lowest")]
            assert text.split("\n")[1:] == names
        value, low, high = (float(row[end] or 0) for end in ("mog_pct", "ci_low", "ci_high"))
        assert text.split("\n")[0] == with_interval(value, low, high)


def test_cells_of_the_language_moderation(runs: list[FigureRun]) -> None:
    complete = [run for run in runs if run.tables["language_moderation"]]
    figure = draw_one("language", complete).figure
    for run_at, run in enumerate(complete):
        for axis_at, axis in enumerate(IDENTIFIERS):
            row = run.row("language_moderation", axis=axis)
            assert row is not None
            at = run_at * len(IDENTIFIERS) + axis_at
            rho = texts(panel(figure, "spearman_rho"))[at].rstrip("†‡").replace("−", "-")
            change = texts(panel(figure, "delta_mean_delta_pct"))[at].rstrip("*").replace("−", "-")
            assert float(rho) == pytest.approx(row["spearman_rho"], abs=0.00501)
            assert float(change) == pytest.approx(row["delta_mean_delta_pct"], abs=0.00501)


def test_fairness_bars(reported: list[ReportRun]) -> None:
    runs = figure_runs([as_arm(reported[0], "standard"), as_arm(reported[1], "fairness")])
    figure = draw_one("fairness", runs).figure
    standard = next(run for run in runs if run.label == "demo (standard)")
    for use_case in USE_CASES:
        row = standard.row("fairness", use_case=use_case)
        assert row is not None
        assert [bar.get_width() for bar in bars(panel(figure, use_case))] == [row["change_points"]]
        assert f"({row['standard_pct']:.1f} → {row['fair_pct']:.1f}, " in texts(panel(figure, use_case))[0]


def test_no_figure_rather_than_an_empty_one(reported: list[ReportRun]) -> None:
    part = figure_runs(reported[2:])
    drawn = {name: draw(name, part) for name in CATALOGUE}
    without = {name for name, drawings in drawn.items() if not drawings}
    assert without == {"language", "fairness", "systematic-gap"}
    empty = [replace(part[0], tables=_without_rows(part[0]))]
    assert not any(draw(name, empty) for name in CATALOGUE)


def _without_rows(run: FigureRun) -> Tables:
    tables: Tables = {name: [] for name in run.tables}
    return {**tables, "headline": [dict.fromkeys(run.headline)]}


LAYOUTS = (
    "group-effects",
    "systematic-gap",
    "radar",
    "mean-concordance",
    "scatter",
    "deviation-region",
    "language",
    "use-case-gap",
    "canonical-pairs",
    "maximum-gaps",
)
"""One figure of each kind: the others differ in their data alone."""


def visible_texts(figure: Figure) -> Iterator[Text]:
    """Yield what is written: no ticks beyond the end of an axis, no ticks where the axes are off."""
    hidden: set[int] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not (axes.axison and low <= tick.get_loc() <= high):
                    hidden |= {id(tick.label1), id(tick.label2)}
    for text in figure.findobj(Text):
        if (
            isinstance(text, Text)
            and text.get_text().strip()
            and text.get_visible()
            and id(text) not in hidden
        ):
            yield text


def overlapping(boxes: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of boxes (x0, y0, x1, y1) that share more than a hair."""
    low = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    shared = ((high - low) > (1.5, 3)).all(axis=2)
    return [(int(a), int(b)) for a, b in np.argwhere(np.triu(shared, 1))]


@pytest.mark.parametrize("n", [1, 20])
@pytest.mark.parametrize("name", LAYOUTS)
def test_no_text_is_cut_or_covers_another(runs: list[FigureRun], name: str, n: int) -> None:
    chosen = many([run for run in runs if run.label != "part"] if name == "language" else runs, n)
    for drawing in draw(name, chosen):
        FigureCanvasAgg(drawing.figure)
        lay_out(drawing.figure)
        drawing.figure.draw_without_rendering()
        width, height = drawing.figure.canvas.get_width_height()
        found = list(visible_texts(drawing.figure))
        boxes = np.array([Text.get_window_extent(text).extents for text in found])  # without arrows
        outside = (boxes[:, :2] < -1).any(axis=1) | (boxes[:, 2:] > (width + 1, height + 1)).any(axis=1)
        assert [found[at].get_text() for at in np.flatnonzero(outside)] == []
        level = [at for at, text in enumerate(found) if text.get_rotation() in (0, 90)]
        pairs = [
            (found[level[a]].get_text(), found[level[b]].get_text()) for a, b in overlapping(boxes[level])
        ]
        assert pairs == []


@pytest.mark.parametrize("name", ["canonical-pairs", "maximum-gaps", "language"])
def test_the_text_of_a_cell_stays_in_its_cell(runs: list[FigureRun], name: str) -> None:
    complete = [run for run in runs if run.label != "part"]
    drawing = draw_one(name, complete)
    drawing.figure.draw_without_rendering()
    for axes in drawing.figure.axes:
        for text, cell in zip(axes.texts, bars(axes), strict=False):
            if axes.texts:
                box, around = text.get_window_extent(), cell.get_window_extent()
                assert around.x0 <= box.x0 < box.x1 <= around.x1
                assert around.y0 <= box.y0 < box.y1 <= around.y1


def test_more_than_ten_runs_are_spread_over_figures_of_the_same_size(runs: list[FigureRun]) -> None:
    drawings = draw("maximum-gaps", many(runs[:2], 20))
    assert [drawing.name for drawing in drawings] == ["maximum-observed-gap-1", "maximum-observed-gap-2"]
    n_cells = [sum(len(x.texts) for x in drawing.figure.axes) for drawing in drawings]
    assert n_cells == [300, 300]


def luminance(colour: str | Sequence[float]) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(colour)]  # type: ignore[arg-type]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_is_readable_on_every_colour_of_the_heat_maps() -> None:
    for colours in (SIGNED, AMOUNT):
        for at in range(colours.N):
            assert (luminance(colours(at)[:3]) + 0.05) / (luminance(INK) + 0.05) > 4.5


def test_the_two_bars_of_a_run_differ_in_grey() -> None:
    assert (luminance(LIGHT) + 0.05) / (luminance(DARK) + 0.05) > 3


@pytest.fixture(scope="module")
def written(
    reported: list[ReportRun], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[FigureRun]]:
    runs = figure_runs([replace(reported[0], name=HOSTILE_NAME), reported[1]])
    out = tmp_path_factory.mktemp("figures")
    for name in ("use-case-concordance", "canonical-pairs"):
        draw_and_write(name, runs, out)
    return out, runs


def test_svg_is_well_formed_and_safe_in_a_page(written: tuple[Path, list[FigureRun]]) -> None:
    allowed = {
        "svg",
        "title",
        "desc",
        "g",
        "defs",
        "path",
        "text",
        "tspan",
        "use",
        "clipPath",
        "pattern",
        "rect",
    }
    for path in written[0].glob("*.svg"):
        content = path.read_text(encoding="utf-8")
        assert content.startswith("<svg ")
        ids = []
        for element in ET.fromstring(content).iter():  # noqa: S314 - our own file
            assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in allowed
            assert not {name for name in element.attrib if name == "style" or name.startswith("on")}
            ids += [element.attrib["id"]] if "id" in element.attrib else []
        assert len(ids) == len(set(ids))
        assert "<script" not in content
        assert "2026-" not in content  # no date


def test_svg_says_what_it_shows(written: tuple[Path, list[FigureRun]]) -> None:
    content = (written[0] / "use-case-concordance.svg").read_text(encoding="utf-8")
    root = ET.fromstring(content)  # noqa: S314 - our own file
    assert root.attrib["role"] == "img"
    named = root.attrib["aria-labelledby"].split()
    texts = {element.attrib.get("id"): element.text or "" for element in root.iter()}
    assert "ranked" in texts[named[0]]
    assert "Kendall" in texts[named[1]]


def test_ids_of_two_figures_differ(written: tuple[Path, list[FigureRun]]) -> None:
    found = [set(re.findall(r' id="([^"]+)"', path.read_text())) for path in written[0].glob("*.svg")]
    assert not found[0] & found[1]


def test_the_same_runs_give_the_same_files(written: tuple[Path, list[FigureRun]], tmp_path: Path) -> None:
    out, runs = written
    draw_and_write("use-case-concordance", runs, tmp_path)
    for path in tmp_path.iterdir():
        assert _digest(path) == _digest(out / path.name)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_hostile_and_equal_names_are_drawn_apart(reported: list[ReportRun]) -> None:
    names = [HOSTILE_NAME, "a" * 40 + "b" * 40, "a" * 40 + "c" + "b" * 40]
    labels = [run.label for run in figure_runs([replace(reported[1], name=x) for x in names])]
    assert len(set(labels)) == 3
    for label in labels:
        assert len(label) <= 30
        assert label.isprintable()
        assert "\u0905" not in label  # the font has no Devanagari


def test_nothing_is_read_as_a_formula(reported: list[ReportRun]) -> None:
    run = figure_runs([replace(reported[1], name="$x^2$")])
    figure = draw_one("use-case-gap", run).figure
    figure.draw_without_rendering()
    assert "$x^2$" in [text.get_text() for text in visible_texts(figure)]


def test_all_figures_are_written_by_several_processes(reported: list[ReportRun], tmp_path: Path) -> None:
    files = write_figures(reported[2:], tmp_path)
    assert len(files) == len(CATALOGUE) - 3
    assert [file.name for file in files][:3] == [
        "group-effects", "gap-by-axis-and-use-case", "mean-concordance"
    ]  # fmt: skip
    for file in files:
        assert file.svg.is_file()
        assert file.png.read_bytes().startswith(b"\x89PNG")
        assert file.alt_text.endswith((".", "%"))
    assert {path.stem for path in tmp_path.iterdir()} == {file.name for file in files}


def test_labels_keep_their_order_and_distance() -> None:
    places = spread([0.5, 0.5, 0.49, 0.1], 0.1)
    # three share the mean 0.4967 and stand 0.1 apart around it; the fourth stays where it wants to be
    assert places == pytest.approx([0.59667, 0.49667, 0.39667, 0.1], abs=1e-4)


def test_labels_stay_inside() -> None:
    assert spread([1.0, 1.0], 0.2) == pytest.approx([0.9, 0.7])
    assert spread([0.0], 0.2) == pytest.approx([0.1])
