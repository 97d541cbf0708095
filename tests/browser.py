"""A headless Chromium for tests of the report page; they are skipped where it is not installed."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="needs Chromium: install the Debian packages chromium and chromium-driver",
)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """Start a browser with an empty profile that logs its console and its requests."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(executable_path=DRIVER))
        try:
            driver.get("about:blank")  # leaves the start page, whose own requests are not ours
            console(driver), requests(driver)
            yield driver
        finally:
            driver.quit()


def open_page(driver: webdriver.Chrome, path: Path, *, width: int = 1440, height: int = 1000) -> None:
    """Open a page from disk at a viewport of this size and wait until its explorer is filled."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    driver.get(path.resolve().as_uri())
    wait_for(driver, "return !document.getElementById('explorer').hidden")


def wait_for(driver: webdriver.Chrome, script: str) -> None:
    """Wait until a script returns something true."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, 20, poll_frequency=0.05).until(lambda browser: browser.execute_script(script))


def prefer(driver: webdriver.Chrome, scheme: str) -> None:
    """Let the page believe that the reader prefers a "dark" or a "light" scheme."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def console(driver: webdriver.Chrome) -> list[str]:
    """Return what the console said since the last call."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requests(driver: webdriver.Chrome) -> list[str]:
    """Return the addresses that were asked for since the last call, the data in the page itself left out."""
    sent = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    urls = [_url(event["params"]) for event in sent if event["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith("data:")]


def _url(parameters: dict[str, Any]) -> str:
    return str(parameters["request"]["url"])
