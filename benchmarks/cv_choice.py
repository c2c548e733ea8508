"""The size that cross-validation chooses by each tolerance, on raw frames: how small, how good, and how long it takes.

Twenty frames of either half of ``frames.py``, as in ``rivals.py``, split 70 to 30. The path is that of the plain fit, and one
cross-validation says what each tolerance would choose. For each tolerance are printed, over all frames and splits: the median
complexity of the chosen member; the geometric mean and the largest of its ratios of test risk to the least test risk on the
path; its largest excess over that least, in per cent of the test risk of the constant; and, over frames, the median and the
largest ratio of the time of the cross-validation to that of the plain fit, both on one processor.

Results are kept in --output as they arrive; another run with the same package goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import real, rivals
from benchmarks.frames import frames

TOLERANCES: tuple[str | float, ...] = ("1se", "paired", 0.01, 0.02, 0.03, 0.05, 0.0)


def measured(name: str, number: int) -> dict[str, Any]:
    """Fit one split plainly and with cross-validation; return risks along the path, and seconds."""
    frame, X, y, X_test, y_test = rivals.rows_of(name, number)
    seconds = []
    for cv in (False, True):
        start = process_time()
        model = real.fitted(lambda cv=cv: rivals.ours(frame.task, cv=cv), X, y)
        seconds.append(process_time() - start)
    results = model.cv_results_
    with np.errstate(all="ignore"):
        losses = real.quietly(lambda: rivals.path_losses(frame.task, model, X_test, y_test))
    columns = ("complexity", "mean_test_risk", "standard_error", "difference_standard_error")
    return {column: results[column].tolist() for column in columns} | {
        "test risk": losses,
        "chosen": model.complexity_,
        "risk": [model.risk_, model.risk_standard_error_],
        "seconds": seconds,
    }


def chosen(one: dict[str, Any], tolerance: str | float) -> int:
    """Return the position of the smallest member within a tolerance."""
    risk = np.array(one["mean_test_risk"])
    best = int(risk.argmin())
    if tolerance == "1se":
        limit: Any = one["standard_error"][best]
    else:
        limit = np.array(one["difference_standard_error"])
        if tolerance != "paired":
            limit = min(one["standard_error"][best], float(tolerance) * (risk[0] - risk[best]))
    within = risk - risk[best] <= limit
    within[0] |= tolerance != 0.0 and risk[0] - risk[best] <= one["difference_standard_error"][0]
    return int(within.argmax())


def row(found: list[dict[str, Any]], places: list[int]) -> tuple[float, float, float, float]:
    """Return the figures of members at some places of their paths."""
    sizes = [one["complexity"][place] for one, place in zip(found, places, strict=True)]
    test: list[NDArray[np.float64]] = [np.array(one["test risk"]) for one in found]
    least = np.array([risk.min() for risk in test])
    risks = np.array([risk[place] for risk, place in zip(test, places, strict=True)])
    ratio = risks / least
    excess = 100.0 * (risks - least) / np.array([risk[0] for risk in test])
    return float(np.median(sizes)), float(np.exp(np.log(ratio).mean())), float(ratio.max()), float(excess.max())


def report(results: dict[str, list[dict[str, Any]]]) -> None:
    """Print a line for each frame, and one for each tolerance."""
    short = [str(tolerance) for tolerance in TOLERANCES]
    print(f"\n{'frame':<26}{'CV/plain':>9}" + "".join(f"{word:>16}" for word in short) + "  (complexity, ratio)")
    slower = []
    for name, found in results.items():
        slower.append(sum(one["seconds"][1] for one in found) / sum(one["seconds"][0] for one in found))
        cells = [row(found, [chosen(one, tolerance) for one in found]) for tolerance in TOLERANCES]
        print(f"{name:<26}{slower[-1]:9.1f}" + "".join(f"{size:9.1f}{ratio:7.3f}" for size, ratio, _, _ in cells))
    found = [one for own in results.values() for one in own]
    print(f"\n{'tolerance':<12}{'complexity':>11}{'risk / least':>14}{'worst':>8}{'worst, % of constant':>22}")
    for tolerance, word in zip(TOLERANCES, short, strict=True):
        size, ratio, worst, excess = row(found, [chosen(one, tolerance) for one in found])
        print(f"{word:<12}{size:11.1f}{ratio:14.3f}{worst:8.3f}{excess:22.1f}")
    size, ratio, worst, excess = row(found, [-1] * len(found))
    print(f"{'last member':<12}{size:11.1f}{ratio:14.3f}{worst:8.3f}{excess:22.1f}")
    print(f"\nCV / plain: {np.median(slower):.1f} in the median, at most {max(slower):.1f}")


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "half", nargs="?", choices=("development", "reporting"), default="development", help="default: development"
    )
    parser.add_argument("--frames", nargs="+", metavar="NAME", help="default: the twenty of the half")
    parser.add_argument("--splits", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--output", type=Path, default=Path("build/cv_choice.json"), help="default: build/cv_choice.json")
    return parser.parse_args()


def main() -> int:
    """Do the work that is not yet done, and print the tables."""
    options = parse()
    names = options.frames or [frame.name for frame in rivals.chosen_frames(options.half)]
    known = [frame.name for frame in frames(options.half)]
    if strangers := [name for name in names if name not in known]:
        sys.exit(f"--frames: {', '.join(strangers)} not in the {options.half} half, which has {', '.join(known)}")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
    own = kept.setdefault(real.fingerprint(), {})
    for name in names:
        for number in range(options.splits):
            if f"{name} {number}" not in own:
                own[f"{name} {number}"] = measured(name, number)
                options.output.write_text(json.dumps(kept), encoding="utf-8")
                print(f"{name} {number}: {own[f'{name} {number}']['seconds'][1]:.1f} seconds", flush=True)
    report({name: [own[f"{name} {number}"] for number in range(options.splits)] for name in names})
    return 0


if __name__ == "__main__":
    sys.exit(main())
