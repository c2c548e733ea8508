"""A headless Chromium of its own for the workbench and the documentation, and what it saw: requests and the console."""

import json
import os
import shutil
from pathlib import Path

import pytest

from .workbench import Workbench

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)
# Chromium draws the calendar of a date field from an address that holds the picture itself.
LOCAL = ("file:", "blob:", "about:", "data:image/svg+xml;base64,")


@pytest.fixture(scope="session")
def axe():
    """The source of axe-core, which `make test-browser` and `make test-docs` put where OBLIQUERULES_AXE says."""
    return Path(os.environ["OBLIQUERULES_AXE"]).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    from selenium import webdriver  # here, because this file is read by those who have no selenium, too

    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium, "chromium is not installed"
    assert chromedriver, "chromedriver is not installed"
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()


@pytest.fixture
def workbench(driver, tmp_path):
    """Return what opens a report; after the test, nothing but the file may have been asked for, and the console is silent."""
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "downloads")})
    driver.get("about:blank")
    driver.get_log("browser"), driver.get_log("performance")
    yield Workbench(driver, tmp_path)
    assert driver.get_log("browser") == []
    addresses = _requests(driver.get_log("performance"))
    assert addresses
    assert [address for address in addresses if not address.startswith(LOCAL)] == []


def _requests(log):
    """Return the addresses that pages asked for; a file that the page itself offers for download is a blob."""
    messages = [json.loads(entry["message"])["message"] for entry in log]
    return [event["params"]["request"]["url"] for event in messages if event["method"] == "Network.requestWillBeSent"]
