"""The picture of the workbench in the README: the page that the demo writes, as Chromium shows it."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image  # which matplotlib brings

from demo import learn

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "_static" / "workbench.png"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1.5")


def main():
    """Draw it."""
    model, test, diagnosis = learn()
    with tempfile.TemporaryDirectory() as directory:
        page = Path(directory, "report.html")
        model.report(page, test, diagnosis, title="Is this breast mass malignant?", data_name="new patients")
        profile = f"--user-data-dir={directory}/profile"
        command = [
            shutil.which("chromium"),
            *FLAGS,
            profile,
            "--window-size=1180,1800",
            f"--screenshot={PICTURE}",
            page.as_uri(),
        ]
        subprocess.run(command, check=True, capture_output=True)
    Image.open(PICTURE).convert("RGB").quantize(128).save(PICTURE, optimize=True)
    print(f"Drew {PICTURE.relative_to(ROOT)}, {PICTURE.stat().st_size // 1000} kB.")


if __name__ == "__main__":
    main()
