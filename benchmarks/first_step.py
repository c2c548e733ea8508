"""What the first step costs: ``make demo`` in a fresh clone with an empty pip cache, in seconds and megabytes."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def megabytes(directory):
    """Return the size of all files below a directory."""
    return sum(file.lstat().st_size for file in directory.rglob("*") if not file.is_dir()) / 1e6


def main():
    """Clone the repository, run the demo in the clone, and print what that took."""
    with tempfile.TemporaryDirectory() as directory:
        clone = Path(directory, "clone")
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        start = time.perf_counter()
        subprocess.run(["make", "demo"], cwd=clone, env=os.environ | {"PIP_NO_CACHE_DIR": "1"}, check=True)
        seconds = time.perf_counter() - start
        print(
            f"\nmake demo in a fresh clone, empty pip cache: {seconds:.0f} s, {megabytes(clone):.0f} MB with the clone itself"
        )


if __name__ == "__main__":
    main()
