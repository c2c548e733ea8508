"""The picture of the mixed workbench in the README: the rules and a case without a measurement, as Chromium shows them."""

import base64
import io
import shutil
import tempfile
from pathlib import Path

from demo_mixed import WORDS, learn
from PIL import Image  # which matplotlib brings
from selenium import webdriver

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "_static" / "workbench_mixed.png"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
WIDTH, SCALE = 1180, 1.5
CASE = {"age": 74, "sex": "male", "lambda": 2.4, "creatinine": None}
# The place of the cards with the rules and the case.
CLIP = """
const place = (id) => document.getElementById(id).closest(".card").getBoundingClientRect();
const [top, bottom] = [place("rules-heading").top, place("case-heading").bottom];
return { x: 0, y: scrollY + top - 12, height: bottom - top + 24 };
"""
# What a reader does: type a number, choose from a menu, or leave a field empty.
FILL = """
const fields = [...document.querySelectorAll("#case label")];
for (const [name, value] of Object.entries(arguments[0])) {
  const field = fields.find((label) => label.textContent.startsWith(name)).querySelector("input, select");
  const entry = [...(field.options ?? [])].find((option) => option.textContent === value);
  field.value = entry ? entry.value : (value ?? "");
  field.dispatchEvent(new Event("change"));
}
"""


def chromium(directory):
    """Return a browser with a profile of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"--user-data-dir={directory}/profile"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def photograph(driver, page, width=WIDTH, scale=SCALE):
    """Return the part of the page with the rules and the case as an image."""
    size = {"width": width, "height": 900, "deviceScaleFactor": scale, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(page.as_uri())
    driver.execute_script(FILL, CASE)
    clip = driver.execute_script(CLIP) | {"width": width, "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    return Image.open(io.BytesIO(base64.b64decode(shot["data"])))


def main():
    """Draw it."""
    model, test, outcome = learn()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        page = Path(directory, "report.html")
        model.report(page, test, outcome, **WORDS)
        driver = chromium(directory)
        try:
            image = photograph(driver, page)
        finally:
            driver.quit()
    image.convert("RGB").quantize(128).save(PICTURE, optimize=True)
    print(f"Drew {PICTURE.relative_to(ROOT)}, {PICTURE.stat().st_size // 1000} kB.")


if __name__ == "__main__":
    main()
