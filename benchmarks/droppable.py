"""What can be left out of models of twenty frames: nothing.

For every model on the path of a fit, each test, each variable of a sum, each listed level and each ``or missing`` is left out
in turn, with the best new threshold where there is one. With ``exact="rows"`` that must move a training row, with
``exact="loss"`` it must cost more than the stated share of a standard error. No two rules of a model may fire on the same rows,
or on just the others. The search is that of ``tests/droppable.py``, which shares nothing with the fit.

The frames are the first of each task in one half of ``frames.py``, of at most 3,000 rows; ``--half`` names another half.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from itertools import islice
from typing import Any

from benchmarks.frames import Frame, frames
from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier, TGBRegressor
from tests.droppable import droppable, repeated

MOST_ROWS = 3_000
# The number of frames of each task.
WANTED = {"two classes": 8, "many classes": 3, "number": 6, "count": 3}


def methods(frame: Frame) -> list[Any]:
    """Return the estimators that learn the target of a frame."""
    if frame.has_classes:
        return [LLTBoostClassifier(), TGBClassifier()]
    loss = {"loss": "poisson"} if frame.task == "count" else {}
    return [LLTBoostRegressor(**loss), TGBRegressor(**loss)]


def check(frame: Frame) -> int:
    """Print what can be left out, and return how much."""
    X, y = frame.read()
    total = 0
    for method in methods(frame):
        for exact in ("loss", "rows"):
            model = method.set_params(exact=exact).fit(X, y)
            idle, twice = droppable(model, X, y, exact), repeated(model, X, y)
            name = type(method).__name__
            size = f"{len(X):5} x {X.shape[1]:<3}"
            print(
                f"{frame.name:25} {size} {name:18} {exact:4}  {len(model.path_):3} models  {len(idle)} idle  {len(twice)} twice"
            )
            for one in (*idle, *twice):
                print(f"    {one}")
            total += len(idle) + len(twice)
    return total


def main() -> None:
    """Check the frames; fail if anything can be left out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["development", "reporting"], default="reporting")
    half = parser.parse_args().half
    warnings.simplefilter("ignore")
    small = [frame for frame in frames(half) if len(frame.read()[1]) <= MOST_ROWS]
    chosen = [one for task, n in WANTED.items() for one in islice((frame for frame in small if frame.task == task), n)]
    total = sum(map(check, chosen))
    print(f"{len(chosen)} frames: {total} can be left out")
    sys.exit(int(total > 0))


if __name__ == "__main__":
    main()
