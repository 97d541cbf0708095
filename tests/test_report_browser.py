"""The report page in a real browser: it opens without errors or network, and can be explored and read."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from benchmark_names import IDENTIFIERS
from browser import chromium, console, needs_chromium, open_page, prefer, requests, wait_for
from report_samples import END, LONG, NAME, SCRIPT, write_run
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import iter_prompts
from rupeebias.report.page.render import write_page
from rupeebias.report.runs import ReportRun, load_report_runs

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ReportRun:
    path = write_run(tmp_path_factory.mktemp("runs") / "sample.jsonl")
    return load_report_runs([path], n_resamples=100)[0]


@pytest.fixture(scope="module")
def page(run: ReportRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page([run, replace(run, name=NAME)], [], path)
    return path


@pytest.fixture(scope="module")
def started() -> Iterator[Chrome]:
    with chromium() as driver:
        yield driver


@pytest.fixture
def browser(started: Chrome, page: Path) -> Chrome:
    """A browser that has just opened the page, with clean logs."""
    console(started), requests(started)
    prefer(started, "light")
    open_page(started, page)
    return started


def part(browser: Chrome, name: str) -> WebElement:
    return browser.find_element(By.CSS_SELECTOR, f"[data-part={name}]")


def choose(browser: Chrome, **choices: str) -> None:
    """Choose options by their text, and wait until the explorer shows them."""
    for name, label in choices.items():
        Select(browser.find_element(By.NAME, name)).select_by_visible_text(label)
    browser.execute_async_script("setTimeout(arguments[0], 50)")


def rows_of(browser: Chrome, name: str) -> list[list[str]]:
    script = """return [...document.querySelectorAll(`[data-part=${arguments[0]}] tbody tr`)]
        .map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"""
    rows: list[list[str]] = browser.execute_script(script, name)
    return rows


def test_opens_without_errors_and_asks_for_nothing(browser: Chrome, page: Path) -> None:
    assert console(browser) == []
    assert requests(browser) == [page.resolve().as_uri()]
    assert not browser.find_element(By.ID, "no-explorer").is_displayed()


def test_prompts_are_rebuilt_word_for_word(browser: Chrome) -> None:
    script = """
        const done = arguments[0];
        unpackJson("design").then((design) => {
          const prompts = new Array(blockStarts(design).cells);
          const layout = blockStarts(design);
          for (const axis of design.axes.keys()) {
            const choice = { useCase: "all", language: "all", axis };
            for (const slot of slotsOf(design, { repeats: 1 }, choice)) {
              design.axes[axis].people.forEach((_, person) => {
                prompts[cellOf(layout, design, slot, person)] = promptParts(design, slot, person).join("");
              });
            }
          }
          done(prompts);
        });"""
    rebuilt = browser.execute_async_script(script)
    expected: dict[str, list[str]] = {}  # the page has the prompts of a slot beside each other
    for prompt in iter_prompts(load_components()):
        expected.setdefault(prompt.slot_id, []).append(prompt.prompt)
    assert rebuilt == [text for texts in expected.values() for text in texts]


@pytest.mark.parametrize(
    ("use_case", "language", "axis"),
    [
        ("All use cases", "Both languages", "Gender"),
        ("Counter-offer", "Hinglish", "Urban/Rural"),
        ("Salary increment", "English", "Gender"),
    ],
)
def test_mean_gap_of_a_choice_is_the_results(
    browser: Chrome, run: ReportRun, use_case: str, language: str, axis: str
) -> None:
    slugs = {
        "All use cases": None,
        "Counter-offer": "counter_offer",
        "Salary increment": "salary_increment",
        "Both languages": "all",
        "English": "en",
        "Hinglish": "hinglish",
        "Gender": "gender",
        "Urban/Rural": "urban_rural",
    }
    keys = {"use_case": slugs[use_case], "language": slugs[language], "axis": slugs[axis]}
    table = run.result["tables"]["use_case_axis" if keys["use_case"] else "axis"]
    wanted = {key: value for key, value in keys.items() if value}
    (row,) = [row for row in table if all(row[key] == value for key, value in wanted.items())]
    choose(browser, useCase=use_case, language=language, axis=axis)
    said = part(browser, "summary").text
    assert f"differ by {row['mean_delta_pct']:.1f} % on average ({row['n_pairs']:,} comparisons)" in said


def widest_pair(run: ReportRun) -> tuple[float, set[str]]:
    """Return the widest mean gap of English increments by gender, by plain loops."""
    values = {
        prompt_id: value
        for prompt_id, value in zip(run.answers.prompt_ids, run.answers.values, strict=True)
        if prompt_id.startswith("salary_increment:en:gender:")
    }
    found = []
    for one, other in combinations(IDENTIFIERS["gender"], 2):
        gaps = []
        for prompt_id, a in values.items():
            b = values.get(prompt_id.replace(f":{one}:", f":{other}:"))
            if f":{one}:" in prompt_id and a is not None and b is not None:
                gaps.append(abs(a - b) / ((a + b) / 2) * 100)
        found.append((mean(gaps), {IDENTIFIERS["gender"][name] for name in (one, other)}))
    return max(found, key=lambda pair: pair[0])


def test_pairs_are_listed_by_mean_gap(browser: Chrome, run: ReportRun) -> None:
    choose(browser, useCase="Salary increment", language="English", axis="Gender")
    gap, names = widest_pair(run)
    first = rows_of(browser, "pairs")[0]
    assert first[1] == f"{gap:.1f} %"
    assert set(first[0].split(" and ")) == names


def test_groups_are_shown_against_their_average(browser: Chrome, run: ReportRun) -> None:
    choose(browser, useCase="All use cases", language="Both languages", axis="Gender")
    deviations = {
        IDENTIFIERS["gender"][row["identifier"]]: row["effect_pct"]
        for row in run.result["tables"]["group_effect"]
        if (row["use_case"], row["language"], row["axis"]) == ("all", "all", "gender")
    }
    shown = {row[0]: row[-1].split(" %")[0] for row in rows_of(browser, "contrasts")}
    assert list(shown) == sorted(deviations, key=lambda name: -deviations[name])
    for name, text in shown.items():
        assert float(text.replace("−", "-")) == pytest.approx(deviations[name], abs=0.0501)
    assert shown["Male"].startswith("−")
    choose(browser, useCase="Salary estimation")
    assert "₹" in rows_of(browser, "contrasts")[0][1]


def test_an_axis_without_answers_says_so(browser: Chrome) -> None:
    choose(browser, axis="Caste")
    assert "no two answers to compare" in part(browser, "summary").text
    assert not part(browser, "found").is_displayed()
    choose(browser, axis="Gender")
    assert part(browser, "found").is_displayed()


def test_compare_and_read_by_mouse(browser: Chrome) -> None:
    choose(browser, useCase="Service pricing, customer", language="English", axis="Gender")
    part(browser, "pairs").find_elements(By.TAG_NAME, "button")[1].click()
    names = [Select(browser.find_element(By.NAME, name)).first_selected_option.text for name in "ab"]
    assert rows_of(browser, "pairs")[1][0] == " and ".join(names)
    part(browser, "slots").find_element(By.TAG_NAME, "button").click()
    articles = part(browser, "reading").find_elements(By.TAG_NAME, "article")
    assert [article.find_element(By.TAG_NAME, "h5").text for article in articles] == names
    for article in articles:
        prompt = article.find_element(By.CLASS_NAME, "prompt").text
        assert prompt.startswith("I am a freelance software developer.")
        assert article.find_element(By.TAG_NAME, "mark").text.startswith("who is")
        assert article.find_element(By.TAG_NAME, "pre").text.startswith("### ")


def test_explored_with_the_keyboard_alone(browser: Chrome) -> None:
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the findings"
    tab_to(browser, "select[name=axis]")
    browser.switch_to.active_element.send_keys("Gender")
    wait_for(browser, "return document.querySelector('[data-part=summary]').innerText.includes('(')")
    tab_to(browser, "[data-part=slots] button")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.tag_name == "h4"
    assert part(browser, "reading").find_element(By.CLASS_NAME, "answer").is_displayed()
    tab_to(browser, "[data-part=reading] summary")
    browser.switch_to.active_element.send_keys(Keys.SPACE)
    assert "OUTPUT" in part(browser, "reading").find_element(By.CSS_SELECTOR, "details pre").text


def tab_to(browser: Chrome, selector: str) -> None:
    """Press Tab until an element that matches has the focus."""
    for _ in range(120):
        if browser.execute_script("return document.activeElement.matches(arguments[0])", selector):
            return
        ActionChains(browser).send_keys(Keys.TAB).perform()
    raise AssertionError(f"Tab never reaches {selector}")


def read_slot(browser: Chrome, words: str) -> str:
    """Read the question whose description holds these words; return the first answer."""
    for _ in range(5):
        found = part(browser, "slots").find_elements(By.CSS_SELECTOR, f"button[aria-label*='{words}']")
        if found:
            browser.execute_script("arguments[0].click()", found[0])
            return str(part(browser, "reading").find_element(By.CLASS_NAME, "answer").text)
        part(browser, "more").click()
    raise AssertionError(f"no question {words}")


def test_hostile_answers_are_shown_and_do_nothing(browser: Chrome) -> None:
    hostile = next(x.text for x in browser.find_elements(By.CSS_SELECTOR, "[name=run] option")[1:])
    choose(browser, run=hostile, useCase="Salary increment", language="English", axis="Gender")
    choose(browser, a="Male", b="Female")
    assert SCRIPT in read_slot(browser, "2 years, TCS, strong appraisal, 7 LPA now; wording 1")
    choose(browser, useCase="Salary estimation")
    choose(browser, a="Male", b="Female")
    assert END in read_slot(browser, "IIT Delhi, CGPA 9.1; wording 1")
    assert read_slot(browser, "IIT Delhi, CGPA 9.1; wording 2") == LONG[:2000]
    assert f"Cut after 2,000 of {len(LONG):,} characters." in part(browser, "reading").text
    choose(browser, a="Female", b="Male")
    assert "⟨U+202E⟩" in read_slot(browser, "IIT Delhi, CGPA 9.1; wording 1")
    assert browser.execute_script("return window.owned") is None
    assert not browser.find_elements(By.CSS_SELECTOR, "main img")
    assert console(browser) == []


def test_policy_stops_scripts_styles_and_requests_that_are_not_the_pages(browser: Chrome) -> None:
    script = """
        const script = document.createElement("script");
        script.textContent = "window.owned = 4";
        const image = document.createElement("img");
        image.src = "http://192.0.2.1/pixel.png";
        const frame = document.createElement("iframe");
        frame.src = "data:text/html,<p>hello";
        document.body.append(script, image, frame);
        return window.owned ?? null;"""
    assert browser.execute_script(script) is None
    refused = " ".join(console(browser))
    assert "script-src" in refused
    assert "img-src" in refused
    assert "default-src" in refused or "frame-src" in refused


def open_everything(browser: Chrome) -> None:
    browser.execute_script("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    browser.execute_script("document.querySelector('[data-part=slots] button').click()")


@pytest.mark.parametrize("width", [320, 360, 768, 1440])
def test_no_horizontal_overflow(browser: Chrome, page: Path, width: int) -> None:
    open_page(browser, page, width=width)
    open_everything(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") == width


CONTRASTS = """
    const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
    const behind = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const color = numbers(getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] === 1) return color;
      }
      return [255, 255, 255];
    };
    const found = [];
    for (const node of document.querySelectorAll("body *")) {
      const own = [...node.childNodes].some((x) => x.nodeType === 3 && x.textContent.trim());
      if (!own || !node.checkVisibility() || node.tagName === "OPTION") continue;
      const [a, b] = [numbers(getComputedStyle(node).color), behind(node)].map(luminance);
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) found.push([node.tagName, node.className, node.textContent.slice(0, 40), ratio]);
    }
    return [found, getComputedStyle(document.body).backgroundColor];"""


@pytest.mark.parametrize(
    ("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 30)")]
)
def test_text_has_contrast_in_both_schemes(browser: Chrome, scheme: str, background: str) -> None:
    prefer(browser, scheme)
    open_everything(browser)
    too_faint, body = browser.execute_script(CONTRASTS)
    assert body == background
    assert too_faint == []


def test_everything_that_needs_one_has_a_name(browser: Chrome) -> None:
    open_everything(browser)
    nameless: list[Any] = browser.execute_script("""
        const named = (x) => x.labels?.length || x.textContent.trim() || x.getAttribute("aria-label")
          || x.getAttribute("aria-labelledby");
        return [...document.querySelectorAll("select, button, a, summary, [role=region], section, nav, form")]
          .filter((x) => !named(x)).map((x) => x.outerHTML.slice(0, 80));""")
    assert nameless == []
    levels: list[int] = browser.execute_script("""
        return [...document.querySelectorAll("h1, h2, h3, h4, h5")].map((x) => Number(x.tagName[1]))""")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for table in browser.find_elements(By.TAG_NAME, "table"):
        assert table.find_elements(By.CSS_SELECTOR, "th[scope]")


def test_without_javascript_all_but_the_explorer_is_there(browser: Chrome, page: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(page.resolve().as_uri())
        assert "treated differently" in browser.find_element(By.ID, "headline").text
        assert browser.find_element(By.ID, "no-explorer").is_displayed()
        assert "systematic gap" in browser.find_element(By.ID, "compare").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_print_leaves_out_what_paper_cannot_do(browser: Chrome) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not browser.find_element(By.TAG_NAME, "nav").is_displayed()
        assert not browser.find_element(By.NAME, "run").is_displayed()
        assert part(browser, "contrasts").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
