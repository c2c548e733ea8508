"""Complexity-aware growth on data that it was not designed on: scikit-learn's other data sets and synthetic problems.

For each data set, over ten bootstrap splits as in the paper's protocol: the median complexity at a risk target, which is the
mean test risk along the path of the paper's selection (as the paper derives its targets from a rival's path), and the median
risk at complexity 20, for the paper's selection and for complexity-aware growth of rules alone; and for the latter, and for its
default, with slopes, the mean log risk over complexities from 4 to 40, by which versions can be compared.
"""

import numpy as np
from sklearn.datasets import (
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_friedman2,
    make_friedman3,
    make_regression,
)
from sklearn.utils import Bunch

from benchmarks.paper.contenders import lltboost, lltboost_with_slopes
from benchmarks.paper.protocol import loss_within, smallest_complexity
from benchmarks.paper.runner import run
from benchmarks.paper.trials import plan

SIZE = 20
SIZES = (4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40)


def classes(name, X, positive):
    """Return a classification problem."""
    return Bunch(name=name, task="classification", data=np.asarray(X, float), target=np.asarray(positive), positive=True)


def numbers(name, X, y):
    """Return a regression problem."""
    return Bunch(name=name, task="regression", data=X, target=y)


def problems():
    """Return data sets that have no part in the paper."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    wine, iris, digits = load_wine(), load_iris(), load_digits()
    informative = make_classification(2000, 15, n_informative=5, n_redundant=3, flip_y=0.05, random_state=0)
    circles = make_circles(2000, noise=0.15, factor=0.5, random_state=0)
    wedge = (X[:, 0] + X[:, 1] > 0.5) & (X[:, 2] - X[:, 3] > -0.5)
    return [
        classes("Wine, first cultivar", wine.data, wine.target == 0),
        classes("Wine, second cultivar", wine.data, wine.target == 1),
        classes("Iris, versicolor", iris.data, iris.target == 1),
        classes("Digits, an 8", digits.data, digits.target == 8),
        classes("Digits, even", digits.data, digits.target % 2 == 0),
        classes("five of 15 informative", informative[0], informative[1] == 1),
        classes("circles", circles[0], circles[1] == 1),
        classes("oblique wedge, 10 % flipped", X, wedge ^ (rng.random(2000) < 0.1)),
        numbers("Friedman 2", *make_friedman2(2000, noise=50.0, random_state=0)),
        numbers("Friedman 3", *make_friedman3(2000, noise=0.1, random_state=0)),
        numbers("sparse linear", *make_regression(2000, 20, n_informative=4, noise=20.0, random_state=0)),
        numbers("two oblique steps", X, 2.0 * (X[:, 0] > X[:, 1]) - (X[:, 2] + X[:, 3] > 1) + rng.normal(size=2000)),
    ]


def main():
    """Print one line for each data set, and the geometric means of the ratios."""
    print(f"{'':36s} {'paper, rules':>16s} {'paper, rules':>16s} {'rules, slopes':>16s}")
    print(f"{'data set':28s} {'target':>7s} {'complexity':>16s} {f'risk at {SIZE}':>16s} {'log risk':>16s}")
    ratios = []
    for data in problems():
        paper, ours, slopes = (
            run(plan([data], [method], 10, 0), [data], [method], jobs=2)
            for method in (lltboost("validation"), lltboost("information"), lltboost_with_slopes())
        )
        target = np.mean([np.mean(outcome.losses["risk"]) for outcome in paper])
        size = [np.median([smallest_complexity(r.complexities, r.losses["risk"], target) for r in m]) for m in (paper, ours)]
        risk = [np.median([loss_within(r.complexities, r.losses["risk"], SIZE) for r in m]) for m in (paper, ours)]
        ratios.append((size[1] / size[0], risk[1] / risk[0]))
        areas = [
            np.mean([np.log(loss_within(r.complexities, r.losses["risk"], most)) for r in m for most in SIZES])
            for m in (ours, slopes)
        ]
        figures = f"{size[0]:8.1f} {size[1]:7.1f} {risk[0]:8.3f} {risk[1]:7.3f} {areas[0]:8.3f} {areas[1]:7.3f}"
        print(f"{data.name:28s} {target:7.3f} {figures}", flush=True)
    means = [
        np.exp(np.mean([np.log(ratio) for ratio in column if 0.0 < ratio < np.inf])) for column in zip(*ratios, strict=True)
    ]
    print("geometric means of the finite ratios: complexity {:.3f}, risk {:.3f}".format(*means))


if __name__ == "__main__":
    main()
