"""The report page without a browser: what is embedded, what is said, and that hostile text stays text."""

import base64
import hashlib
import html
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import orjson
import pytest
from report_runs import as_arm, write_outputs
from report_samples import LONG, NAME, SCRIPT, answer, sample_ids, write_run

from rupeebias.cli.app import main
from rupeebias.errors import UsageError
from rupeebias.metric import Status
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of
from rupeebias.report.figures.svg import FigureFile, svg_source
from rupeebias.report.folder import check_folder
from rupeebias.report.page.answers import PackedAnswers, pack_answers, slot_order
from rupeebias.report.page.context import (
    answers_fingerprint,
    fairness_effects,
    headline_rows,
    published_rows,
)
from rupeebias.report.page.render import render_page
from rupeebias.report.page.tables import STATUS_LABELS, by_identifier, pivot
from rupeebias.report.runs import Answers, ReportRun, load_report_runs, report_tables
from rupeebias.scoring.headline import finding_of
from rupeebias.words import number, visible

N_PROMPTS = DESIGN.n_prompts


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ReportRun:
    path = write_run(tmp_path_factory.mktemp("runs") / "sample.jsonl")
    return load_report_runs([path], n_resamples=100)[0]


@pytest.fixture(scope="module")
def page(run: ReportRun) -> str:
    return render_page([replace(run, name=NAME), run], [])


def unpacked(packed: PackedAnswers) -> Iterator[tuple[int, int, str | None]]:
    """Yield (row, repeat, text) as the page's script reads them."""
    planes = np.frombuffer(packed.planes, np.uint8).reshape(3, -1).astype(int)
    codes = (planes[0] | planes[1] << 8 | planes[2] << 16).reshape(-1, N_PROMPTS)
    for repeat, of_repeat in enumerate(codes):
        for row, code in zip(slot_order(DESIGN), of_repeat, strict=True):
            if packed.entries[code][1] >= 0:
                yield int(row), repeat, packed.entries[code][0]


def test_packed_answers_are_the_answers(tmp_path: Path) -> None:
    def wording(prompt_id: str) -> str:
        return f"For {prompt_id}: {answer(prompt_id)}"

    run = load_report_runs([write_run(tmp_path / "two.jsonl", wording, repeats=2)], ci=None)[0]
    rows = layout_of(DESIGN).prompt_rows
    given = zip(run.answers.prompt_ids, run.answers.repeats, run.answers.texts, strict=True)
    expected = {(rows[x], repeat): visible(text)[:2000] for x, repeat, text in given}
    packed = pack_answers(run.answers, DESIGN, 10**6)
    assert {(row, repeat): text for row, repeat, text in unpacked(packed)} == expected
    assert packed.n_repeats == 2


def test_a_megabyte_of_answer_is_cut_and_its_length_kept(run: ReportRun) -> None:
    packed = pack_answers(run.answers, DESIGN, 10**6)
    (entry,) = [entry for entry in packed.entries if entry[0] and entry[0].startswith("I think")]
    assert len(entry[0] or "") == packed.cut == 2000
    assert entry[3] == len(LONG) > 1_000_000


def test_long_winded_answers_are_cut_to_what_a_page_may_take() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["salary", "market", "profile", "years", "range", "offer", "city", "role", "suggest"])
    sentences = rng.choice(words, (N_PROMPTS, 30))
    texts: list[str | None] = [f"{' '.join(sentence)} {at}" for at, sentence in enumerate(sentences)]
    size = len(texts)
    answers = Answers(
        layout_of(DESIGN).prompt_ids, [0] * size, texts, [Status.UNPARSED] * size, [None] * size
    )
    sizes = []
    for budget in (3_000_000, 900_000, 50_000):
        packed = pack_answers(answers, DESIGN, budget)
        sizes.append(
            (packed.cut, len(zlib.compress(orjson.dumps(packed.entries) + packed.planes, 6)) <= budget)
        )
    assert sizes == [(2000, True), (150, True), (0, True)]
    assert {entry[0] for entry in packed.entries} == {None}


def test_hidden_characters_are_shown_as_codes() -> None:
    assert visible("a\u202eb\x00c\ud800") == "a⟨U+202E⟩b⟨U+0000⟩c⟨U+D800⟩"
    assert visible("रु॰ 5\nनमस्ते\u200d") == "रु॰ 5\nनमस्ते\u200d"


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (-0.04, "0.0"), (-1.25, "−1.3"), (1234.5, "1,234.5"), (0.0, "0.0")]
)
def test_number(value: float | None, shown: str) -> None:
    assert number(value) == shown


def scripts(page: str) -> list[str]:
    return re.findall(r"<script(?: [^>]*)?>(.*?)</script>", page, re.DOTALL)


def test_hostile_names_and_answers_open_no_element(page: str) -> None:
    assert (
        page.count("<script") == page.count("</script>") == len(scripts(page)) == 7
    )  # design, report, two a run, code
    assert "window.owned" not in page.replace(html.escape(visible(NAME)), "").replace("\u202e", "")
    assert "\u202e" not in page
    assert not re.search(r"\son\w+=|javascript:", page.replace(html.escape(visible(NAME)), ""))


def test_hostile_name_of_the_only_run_is_shown_as_text(run: ReportRun) -> None:
    page = render_page([replace(run, name=NAME)], [])
    title = html.escape(f"RupeeBias report: {visible(NAME)}")
    assert f"<title>{title}</title>" in page
    assert page.count("<script") == page.count("</script>") == 5
    assert "\u202e" not in page


def test_policy_allows_this_style_and_script_and_nothing_else(page: str) -> None:
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    hashes = (
        base64.b64encode(hashlib.sha256(x.encode()).digest()).decode() for x in (scripts(page)[-1], style)
    )
    script_hash, style_hash = hashes
    assert html.unescape(page).count("Content-Security-Policy") == 1
    assert (
        f"default-src 'none'; script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    ) in html.unescape(page)
    assert " style=" not in page.replace(style, "")


def test_page_refers_to_nothing_outside_itself(page: str) -> None:
    addresses = re.findall(r'(?:href|src|action|srcset|poster)="([^"]*)"', page)
    assert all(address.startswith(("#", "data:")) for address in addresses)
    ids = set(re.findall(r'\sid="([^"]*)"', page))
    assert {address[1:] for address in addresses if address.startswith("#")} <= ids
    assert "url(" not in page
    assert "@import" not in page


def test_same_runs_give_the_same_bytes(run: ReportRun) -> None:
    assert render_page([run], []) == render_page([run], [])


def text_of(page: str, section: str) -> str:
    found = re.search(rf'<section id="{section}".*?</section>', page, re.DOTALL)
    assert found
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", found[0]))).replace("\xa0", " ")


def plain_run(path: Path, wording: Callable[[str], str]) -> ReportRun:
    """Return a run without hostile answers."""
    rows = ({"prompt_id": x, "output": wording(x)} for x in sample_ids())
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return load_report_runs([path], ci=None)[0]


def refusing(identifier: str) -> Callable[[str], str]:
    """Every second question for an identifier is refused; nothing else depends on who asks."""

    def wording(prompt_id: str) -> str:
        *_, name, profile, _ = prompt_id.split(":")
        if identifier in (name, "everybody") and (identifier != name or int(profile[1:]) % 2):
            return "I cannot help with that."
        drawn = zlib.crc32(prompt_id[::-1].encode()) % 100
        return (
            f"### {5 + drawn / 50:.2f} %"
            if prompt_id.startswith("salary_increment")
            else f"### {900_000 + drawn} INR"
        )

    return wording


def test_refusals_are_counted_for_each_identifier(run: ReportRun) -> None:
    rows = {row.names[1]: row for row in by_identifier(run.result, DESIGN)["Gender"]}
    # SCRIPT has one percentage; END, TURNED and LONG are judged by the parser
    read = [
        status in (Status.OK, Status.LENIENT)
        for prompt_id, status in zip(run.answers.prompt_ids, run.answers.status, strict=True)
        if ":gender:male:" in prompt_id
    ]
    assert rows["Male"].total == len(read) == 450
    assert rows["Male"].unread == pytest.approx(100 - 100 * sum(read) / 450)


def test_table_behind_a_figure_shows_values_intervals_and_marks(run: ReportRun) -> None:
    tables = report_tables([run])
    shown = pivot("canonical_pair_gap", [run], tables)
    assert shown is not None
    row = run.result["tables"]["canonical_pair_gap"][0]
    star = "*" if row["ci_low"] * row["ci_high"] > 0 else ""
    text = f"{row['cpg_pct']:.1f} [{row['ci_low']:.1f}, {row['ci_high']:.1f}]{star} (Male over Female)"
    assert shown.rows[0] == (("Salary estimation", "Gender"), (text.replace("-", "−"),))
    assert pivot("headline", [run], tables) is None
    means = pivot("kendall_w_axis", [run], tables)
    assert means is not None
    cells = dict(means.rows)
    assert cells["English", "all"][0].startswith(f"{run.result['english_mean_kendall_w']:.3f}")


def test_figure_cannot_leave_its_attribute() -> None:
    svg = '<svg width="1.23456">\n <text>"&gt; onload="x" 0.12345 % #</text></svg>'
    source = str(svg_source(svg))
    assert '"' not in source
    assert "&" not in source
    assert source.startswith("data:image/svg+xml;charset=utf-8,<svg width='1.23'> <text>")
    assert "0.12345 %25 %23" in source


def test_figures_are_images_with_alternatives(run: ReportRun, tmp_path: Path) -> None:
    svg = tmp_path / "f.svg"
    svg.write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    figure = FigureFile("f", 'A "title"', "What <b> shows", svg, svg, "kendall_w")
    others = [
        replace(figure, name=name, table=table) for name, table in (("g", "kendall_w"), ("h", "headline"))
    ]
    page = render_page([run], [figure, *others])
    assert page.count("<img ") == 3
    assert page.count("is elsewhere on this page") == 2
    assert 'alt="What &lt;b&gt; shows"' in page
    assert page.count("The table behind it</summary>") == 1  # the second refers to the first
    assert 'href="#figure-f"' in page


def test_fingerprint_depends_on_every_answer_and_not_on_order(run: ReportRun) -> None:
    answers = run.answers
    backwards = Answers(*(list(reversed(getattr(answers, name))) for name in Answers.__slots__))
    changed = replace(answers, texts=[*answers.texts[:-1], "other"])
    assert answers_fingerprint(answers) == answers_fingerprint(backwards)
    assert answers_fingerprint(answers) != answers_fingerprint(changed)


def test_a_folder_that_is_no_report_is_refused(tmp_path: Path) -> None:
    check_folder(tmp_path)
    (tmp_path / "thesis.docx").touch()
    with pytest.raises(UsageError, match=r"files that are not a report \(thesis.docx\)"):
        check_folder(tmp_path)
    (tmp_path / "report.html").touch()
    with pytest.raises(UsageError, match=r"thesis.docx"):
        check_folder(tmp_path)
    (tmp_path / "thesis.docx").unlink()
    check_folder(tmp_path)


def run_command(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_report_writes_page_tables_and_figures_and_replaces_an_older_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report"
    (out / "figures").mkdir(parents=True)
    (out / "figures" / "old.png").touch()
    (out / "report.html").touch()
    path = write_run(tmp_path / "sample.jsonl", use_case="salary_increment")
    assert run_command("report", str(path), "--out", str(out)) == 0
    assert capsys.readouterr().out.split() == [str(out / x) for x in ("report.html", "tables", "figures")]
    assert "data:image/svg+xml" in (out / "report.html").read_text(encoding="utf-8")
    assert any((out / "tables").iterdir())
    assert any((out / "figures").iterdir())
    assert not (out / "figures" / "old.png").exists()
    assert run_command("report", str(path), "--out", str(tmp_path)) == 2


@pytest.mark.slow
def test_audit_ends_with_the_path_of_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    selection = ("--axis", "gender", "--use-case", "service_pricing_vendor", "--language", "en")
    assert run_command("audit", "--model", "sim/biased", *selection, "--run", "runs/a") == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"report: {Path('runs/a/report/report.html')}"
    page = (tmp_path / "runs/a/report/report.html").read_text(encoding="utf-8")
    assert 'Findings for <bdi class="name">sim/biased</bdi>' in page
    assert "asked 90 questions" in page  # five identifiers, nine profiles, two wordings


def test_hostile_sample_reaches_the_page(run: ReportRun) -> None:
    assert SCRIPT in run.answers.texts
    assert len(run.answers.texts) == len([*sample_ids()])


def test_every_status_has_words() -> None:
    known: set[Any] = {str(status) for status in Status} | {"missing"}
    assert set(STATUS_LABELS) == known


def test_fairness_instruction_is_compared_on_the_same_prompts(run: ReportRun, tmp_path: Path) -> None:
    part = load_report_runs([write_run(tmp_path / "x.jsonl", use_case="counter_offer")], ci=None)[0]
    fair = as_arm(run, "fairness")
    assert fairness_effects([as_arm(part, "standard"), fair]) == []
    runs = [as_arm(run, "standard"), fair]
    (effect,) = fairness_effects(runs)
    axes = [row["mean_delta_pct"] for row in run.result["tables"]["axis"] if row["language"] == "all"]
    assert effect.standard_pct == effect.fair_pct == pytest.approx(mean(axes))
    assert "Told to be fair, demo has a mean gap of" in text_of(render_page(runs, []), "summary")


def test_a_fairness_run_at_another_temperature_is_no_finding(run: ReportRun) -> None:
    runs = [as_arm(run, "standard"), as_arm(run, "fairness", temperature=1)]
    assert fairness_effects(runs) == []
    assert "Told to be fair" not in text_of(render_page(runs, []), "summary")


def test_the_fairness_arm_of_a_simulated_respondent_is_no_finding(run: ReportRun) -> None:
    runs = [as_arm(run, arm, "sim/biased") for arm in ("standard", "fairness")]
    assert fairness_effects(runs) == []
    said = text_of(render_page(runs, []), "summary")
    assert "Told to be fair" not in said
    assert said.count("sim/biased answers from a formula and reads no instruction") == 1


def test_repeats_that_a_page_does_not_hold_are_told(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    rows = (
        {"prompt_id": x, "repeat": repeat, "output": f"### {5 + repeat} %"}
        for x in sample_ids()
        if x.startswith("salary_increment:en:gender:") and x[-6:-3] == "P01"
        for repeat in range(25)
    )
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    run = load_report_runs([path], ci=None)[0]
    assert "first 20 of 25 repeats of many" in text_of(render_page([run], []), "explore")
    assert len(pack_answers(run.answers, DESIGN, 10**6).indexes) == 20


def test_a_very_long_name_is_shortened_everywhere(run: ReportRun) -> None:
    size = len(render_page([run], []))
    assert len(render_page([replace(run, name="x" * 1_000_000)], [])) < size + 5_000


def test_answers_that_could_not_be_read_are_not_called_questions_not_asked(tmp_path: Path) -> None:
    def mute(prompt_id: str) -> str:  # two profiles of one use case are answered
        is_read = prompt_id.startswith("salary_increment") and prompt_id.split(":")[4] in ("P01", "P02")
        return f"### {5 + zlib.crc32(prompt_id.encode()) % 5} %" if is_read else "I cannot say."

    run = plain_run(tmp_path / "mute.jsonl", mute)
    assert finding_of(run).verdict == "too few"
    said = text_of(render_page([run], []), "summary")
    assert "Too few answers could be read to tell bias from chance." in said
    assert "questions were asked to tell" not in said


def test_a_model_that_refuses_everything_is_said_to(tmp_path: Path) -> None:
    run = plain_run(tmp_path / "mute.jsonl", lambda _: "I cannot help with that.")
    said = text_of(render_page([run], []), "summary")
    assert "The answers cannot be compared, refused 100 %" in said
    assert finding_of(run).unanswered == ()
    two = text_of(render_page([run, replace(run, name="other")], []), "summary")
    assert "other: refused 100 %, nothing to compare" in two


def test_headline_table_is_sorted_by_the_systematic_gap(run: ReportRun, page: str) -> None:
    rows = headline_rows([run, replace(run, name="other")])
    assert [row.value for row in rows] == [run.result["systematic_gap_pct"]] * 2
    assert text_of(page, "compare").count(" part") >= 2


def test_published_models_stand_beside_complete_runs_and_the_papers_definitions_alone(
    run: ReportRun, tmp_path: Path
) -> None:
    assert published_rows([run]) == []  # it covers a part of the benchmark
    assert "published" not in text_of(render_page([run], []), "compare")
    path = write_outputs(tmp_path / "whole.jsonl")
    whole = load_report_runs([path], ci=None)[0]
    rows = published_rows([whole])
    assert [row.mean for row in rows] == sorted(row.mean or 0 for row in rows)
    (own,) = [row for row in rows if row.ours]
    assert own.mean == whole.result["paper_mean_delta_pct"]
    said = text_of(render_page([whole], []), "compare")
    assert said.count("published") >= 9
    assert "rest on incomplete data" in said
    assert "39,150 prompts" not in said


def test_repeats_say_how_far_answers_to_one_question_lie_apart(tmp_path: Path) -> None:
    path = write_run(tmp_path / "thrice.jsonl", repeats=3)
    run = load_report_runs([path], ci="cluster", n_resamples=100)[0]
    shown = text_of(render_page([run], []), "summary")
    # each prompt has the same answer every time
    assert "each 3 times," in shown
    assert "asked again for the same group, answers lie 0.0 % apart on average; between groups" in shown
    assert "Each question was asked once" not in shown


def test_the_explorer_shows_the_effects_of_the_result(run: ReportRun) -> None:
    page = render_page([run], [])
    packed = re.search(r'id="answers-0">([^<]+)<', page)
    assert packed
    effects = orjson.loads(zlib.decompress(base64.b64decode(packed[1])))["effects"]
    row = next(
        row
        for row in run.result["tables"]["group_effect"]
        if (row["use_case"], row["language"], row["identifier"]) == ("all", "hinglish", "trans_man")
    )
    shown = effects[-1][1][DESIGN.axis_names.index("gender")][2]
    assert shown == pytest.approx([row["effect_pct"], row["ci_low"], row["ci_high"]], abs=5e-4)
    assert effects[-1][-1][DESIGN.axis_names.index("caste")] == [None] * 24  # not asked
