"""Memory of a fit to a sparse table: a hundred thousand rows and columns with ten million numbers that are not zero."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

from obliquerules import LLTBoostClassifier, load_model

ROWS, COLUMNS, FILLED = 10**5, 10**5, 100
# The columns that the target depends on. They are filled more often than others, as words that matter are.
TELLING = (20_000, 40_000, 60_000, 80_000)
SHARE = 0.2
MOST_MEGABYTES = 2000.0


def write_problem(directory: Path) -> None:
    """Write a table of which each row has numbers in a hundred columns, and labels that four of these columns decide."""
    rng = np.random.default_rng(0)
    indices = rng.integers(COLUMNS, size=(ROWS, FILLED), dtype=np.int32)
    for place, column in enumerate(TELLING):
        indices[rng.random(ROWS) < SHARE, place] = column
    data = rng.gamma(2.0, size=ROWS * FILLED)
    X = csr_array((data, indices.ravel(), np.arange(0, ROWS * FILLED + 1, FILLED, dtype=np.int32)), shape=(ROWS, COLUMNS))
    X.sum_duplicates()
    first, second, third, fourth = X[:, list(TELLING)].toarray().T
    score = 2.0 * (first > 1.0) - 1.5 * (second > 0.0) + 1.0 * third - 1.5 * (fourth > 2.0) - 0.5
    np.save(directory / "y.npy", score + rng.logistic(size=ROWS) > 0.0)
    save_npz(directory / "X.npz", X, compressed=False)


def peak_megabytes() -> float:
    """Return the largest memory that this process had so far; what `resource` says begins with that of its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024.0


def measure(directory: Path) -> None:
    """Fit, predict, save and load; fail if that takes too much memory."""
    start = peak_megabytes()
    X, y = load_npz(directory / "X.npz"), np.load(directory / "y.npy")
    loaded = peak_megabytes()
    print(f"{X.shape[0]} x {X.shape[1]}, {X.nnz} not zero: {loaded - start:.0f} MB for the table itself")
    began = time.perf_counter()
    model = LLTBoostClassifier(random_state=0).fit(X, y)
    fitted = time.perf_counter()
    print(f"fit     {fitted - began:7.1f} s   {peak_megabytes() - loaded:5.0f} MB more at most")
    accuracy = model.score(X, y)
    print(f"predict {time.perf_counter() - fitted:7.1f} s   {peak_megabytes() - loaded:5.0f} MB more at most")
    saved = time.perf_counter()
    model.save(directory / "model.json")
    same = load_model(directory / "model.json").ensemble_ == model.ensemble_
    size = (directory / "model.json").stat().st_size / 1024
    print(f"file    {time.perf_counter() - saved:7.1f} s   {size:.0f} kB, read back {'the same' if same else 'DIFFERENT'}")
    print(f"accuracy {accuracy:.3f} on the training rows\n{model.to_text()}")
    if peak_megabytes() - start > MOST_MEGABYTES or not same:
        sys.exit(f"More than {MOST_MEGABYTES:.0f} MB above the start, or another model in the file.")


def main() -> None:
    """Measure in a process of its own, in which nothing else has used memory before."""
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as directory:
        write_problem(Path(directory))
        sys.exit(subprocess.run([sys.executable, "-m", "benchmarks.sparse", directory], check=False).returncode)


if __name__ == "__main__":
    main()
