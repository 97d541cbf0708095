"""The leaderboard in a real browser: sorting, filters and links work, and nothing hostile runs."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import chromium, console, needs_chromium, requests, wait_for
from leaderboard_samples import HOSTILE, entry, write_submission
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from rupeebias.hub.board import build_leaderboard
from rupeebias.hub.ranking import in_order, placed
from rupeebias.hub.site import index_page
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.published import PUBLISHED

pytestmark = needs_chromium

HOSTILE_NAME = f"acme/{HOSTILE} \u202eevil"
MUTE = "acme/mute"
"""A submission without a single number."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of five submissions, and one real page behind one of them."""
    folder = tmp_path_factory.mktemp("board")
    name = write_submission(folder / "results", model="acme/part").name
    site = folder / "site"
    build_leaderboard(folder / "results", site, cache=folder / "cache")
    entries = [
        entry("near", (1, 3)),
        entry("far", (20, 30), provider="bmce"),
        entry("fair", (0.5, 0.6), arm="fairness"),
        entry(name, (9, 10), model="acme/part", complete=False),
        entry("mute", None, model=MUTE),
        entry("hostile", (40, 50), model=HOSTILE_NAME, provider=HOSTILE, settings={"temperature": HOSTILE}),
        *(entry(f"m{at}", (at, at + 1)) for at in range(4, 8)),
    ]
    (site / "index.html").write_text(index_page(in_order(placed(entries)), DESIGN), encoding="utf-8")
    return site / "index.html"


@pytest.fixture(scope="module")
def started() -> Iterator[Chrome]:
    with chromium() as driver:
        yield driver


@pytest.fixture
def browser(started: Chrome, page: Path) -> Chrome:
    """A browser that has just opened the board, with clean logs."""
    console(started), requests(started)
    _open(started, page, 1440)
    wait_for(started, "return !document.getElementById('filters').hidden")
    return started


def _open(browser: Chrome, page: Path, width: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(page.resolve().as_uri())


def column(browser: Chrome, at: int) -> list[str]:
    """Return the texts of a column of the rows that are shown; of models only the name."""
    script = """return [...document.querySelectorAll("#board tbody tr")].filter((row) => !row.hidden)
        .map((row) => (row.cells[arguments[0]].querySelector("bdi") ?? row.cells[arguments[0]]).innerText)"""
    texts: list[str] = browser.execute_script(script, at)
    return texts


def models(browser: Chrome) -> list[str]:
    return column(browser, 1)


def head(browser: Chrome, label: str) -> str | None:
    """Press the button of a column and return the order that it then has."""
    button = browser.find_element(By.XPATH, f"//table[@id='board']//button[.='{label}']")
    button.send_keys(Keys.ENTER)
    order: str | None = button.find_element(By.XPATH, "ancestor::th").get_attribute("aria-sort")
    return order


def numbers(texts: list[str]) -> list[float]:
    return [float(match[0]) for text in texts if (match := re.match(r"[\d.]+", text))]


def test_opens_without_errors_and_asks_for_nothing(browser: Chrome, page: Path) -> None:
    assert console(browser) == []
    assert requests(browser) == [page.resolve().as_uri()]
    assert models(browser)[:2] == ["acme/near", "acme/m4"]
    assert browser.find_element(By.ID, "shown").text == "10 of 10 rows shown"


def test_numbers_sort_both_ways_with_missing_ones_last(browser: Chrome) -> None:
    assert head(browser, "Systematic gap") == "ascending"  # the best first
    one = column(browser, 2)
    assert one[-1] == "–"
    assert numbers(one) == sorted(numbers(one))
    assert head(browser, "Systematic gap") == "descending"
    other = column(browser, 2)
    assert other[-1] == "–"
    assert numbers(other) == sorted(numbers(other), reverse=True)
    assert models(browser)[-1] == MUTE
    assert len(browser.find_elements(By.CSS_SELECTOR, "[aria-sort]")) == 1


def test_texts_sort_too(browser: Chrome) -> None:
    assert head(browser, "Model") == "ascending"
    names = [name.lower() for name in models(browser)]
    assert names == sorted(names)


def test_ranks_sort_with_unranked_last(browser: Chrome) -> None:
    head(browser, "Rank")
    assert column(browser, 0)[:4] == ["1", "2", "3", "4"]
    head(browser, "Rank")
    assert column(browser, 0)[:4] == ["7", "6", "5", "4"]


def test_the_first_order_is_told_and_comes_back(browser: Chrome) -> None:
    def orders() -> list[str | None]:
        heads = browser.find_elements(By.CSS_SELECTOR, "#board thead th")
        return [head.get_attribute("aria-sort") for head in heads]

    first, names = orders(), models(browser)
    assert first == [None] * 2 + ["other"] + [None] * 3  # by systematic gap, but ranked ones first
    head(browser, "Model")
    assert models(browser) != names
    browser.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    wait_for(browser, "return document.querySelector('[aria-sort=other]') !== null")
    assert (orders(), models(browser)) == (first, names)


def test_published_models_stand_in_a_table_of_their_own(browser: Chrome) -> None:
    texts = [row.text for row in browser.find_elements(By.CSS_SELECTOR, "#published tbody tr")]
    assert len(texts) == 7 + len(PUBLISHED)  # beside those that are ranked
    assert any(text.startswith("Gemini 3 Flash (published) 8.11 ") for text in texts)


def test_search_looks_into_the_cells(browser: Chrome) -> None:
    browser.find_element(By.NAME, "words").send_keys("25.0 [20.0")
    assert models(browser) == ["acme/far"]


def test_borders_and_fields_are_in_line(browser: Chrome, page: Path) -> None:
    script = """return [...document.querySelectorAll("#board tr")].map((row) =>
        new Set([...row.cells].map((cell) => cell.getBoundingClientRect().bottom)).size === 1
        && Number.isInteger(row.getBoundingClientRect().height))"""
    assert set(browser.execute_script(script)) == {True}
    tops = "return [...document.querySelectorAll('#filters label > :is(select, input[type=search])')].map("
    assert len(set(browser.execute_script(f"{tops}(one) => one.getBoundingClientRect().top)"))) == 1
    _open(browser, page, 390)
    assert browser.find_element(By.CSS_SELECTOR, "#board-title .hint").is_displayed()
    box = browser.execute_script(
        "return document.getElementById('board-title').getBoundingClientRect().right"
    )
    assert box <= 390


def test_search_and_filters(browser: Chrome) -> None:
    def choose(name: str, text: str) -> None:
        Select(browser.find_element(By.NAME, name)).select_by_visible_text(text)
        browser.execute_async_script("setTimeout(arguments[0], 50)")

    search = browser.find_element(By.NAME, "words")
    search.send_keys("ACME far")
    assert models(browser) == ["acme/far"]
    assert browser.find_element(By.ID, "shown").text == "1 of 10 rows shown"
    search.send_keys("ther")
    assert models(browser) == []
    browser.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    wait_for(browser, "return document.getElementById('shown').textContent.startsWith('10 of')")
    assert len(models(browser)) == 10
    choose("arm", "fairness")
    assert models(browser) == ["acme/fair"]
    choose("arm", "all")
    choose("complete", "partial")
    assert models(browser) == ["acme/part"]
    choose("complete", "all")
    choose("provider", "bmce")
    assert models(browser) == ["acme/far"]
    choose("provider", HOSTILE)
    assert len(models(browser)) == 1


def test_hostile_names_do_nothing_and_are_shown(browser: Chrome) -> None:
    assert browser.execute_script("return window.owned") is None
    assert any("<script>" in name and "⟨U+202E⟩" in name for name in models(browser))


def test_a_model_leads_to_its_page_and_back(browser: Chrome) -> None:
    browser.find_element(By.LINK_TEXT, "acme/part").click()
    wait_for(browser, "return !document.getElementById('explorer').hidden")
    assert browser.find_element(By.ID, "about-title").text == "Submission"
    browser.find_element(By.LINK_TEXT, "Leaderboard").click()
    wait_for(browser, "return document.getElementById('board') !== null")
    assert console(browser) == []


def test_the_policy_stops_other_scripts(browser: Chrome) -> None:
    foreign = "const one = document.createElement('script'); one.textContent = 'window.owned = 9';"
    browser.execute_script(f"{foreign} document.body.append(one)")
    assert browser.execute_script("return window.owned") is None
    assert any("Content Security Policy" in line for line in console(browser))


def test_a_phone_scrolls_the_table_and_not_the_page(browser: Chrome, page: Path) -> None:
    _open(browser, page, 360)
    wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert browser.execute_script(wide) is False
    scrolls = """const box = document.querySelector(".scroll");
        box.scrollLeft = 200;
        const name = document.querySelector("th.model").getBoundingClientRect();
        return [box.scrollLeft, box.tabIndex, name.left]"""
    left, tab_index, model = browser.execute_script(scrolls)
    assert left == 200
    assert tab_index == 0
    assert 0 <= model < 40  # the name stays in sight


def test_paper_shows_every_row_and_no_controls(browser: Chrome) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not browser.find_element(By.ID, "filters").is_displayed()
        labels = browser.find_elements(By.CSS_SELECTOR, "#board thead .label")
        assert len(labels) == 6
        assert all(label.is_displayed() and label.text for label in labels)
        assert len(models(browser)) == 10
        assert all(len(name) > 3 for name in models(browser))
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
