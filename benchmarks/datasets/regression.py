"""Regression: the paper's five data sets with a number to predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes as load_sklearn_diabetes
from sklearn.datasets import make_friedman1
from sklearn.utils import Bunch

from benchmarks.datasets.columns import read_columns


def load_housing(*, download_if_missing: bool = True) -> Any:
    """California Housing: 20640 districts, 8 inputs; the file is housing.csv.

    Parameters
    ----------
    download_if_missing : bool, default=True
        Whether to fetch a file that is neither in the named directory nor in the cache; see `benchmarks.datasets.fetch`.

    Returns
    -------
    Bunch
        ``data``, ``target``, ``feature_names``, ``target_names``, ``name`` (the paper's), ``task`` and ``DESCR``.
    """
    inputs = ["MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Latitude", "Longitude"]
    data, target = read_columns("Housing Price", "housing.csv", inputs, "MedHouseVal", download_if_missing)
    description = (
        "California districts in the census of 1990 (StatLib). The target is the median house value in units of 100 000 "
        "dollars, which was cut off at 5."
    )
    return _regression("Housing Price", data, target, inputs, "MedHouseVal", description)


def load_red_wine(*, download_if_missing: bool = True) -> Any:
    """Red wine: 1599 wines, 11 inputs; the file is red_wine.csv.

    Parameters
    ----------
    download_if_missing : bool, default=True
        Whether to fetch a file that is neither in the named directory nor in the cache; see `benchmarks.datasets.fetch`.

    Returns
    -------
    Bunch
        As from `load_housing`.
    """
    inputs = [
        "fixed_acidity",
        "volatile_acidity",
        "citric_acid",
        "residual_sugar",
        "chlorides",
        "free_sulfur_dioxide",
        "total_sulfur_dioxide",
        "density",
        "pH",
        "sulphates",
        "alcohol",
    ]
    data, target = read_columns("Red Wine", "red_wine.csv", inputs, "quality", download_if_missing)
    description = (
        "Portuguese red wines (UCI Wine Quality) with eleven chemical measurements. The target is the median of at least three "
        "tasters' marks between 0 and 10, taken as a number."
    )
    return _regression("Red Wine", data, target, inputs, "quality", description)


def load_used_cars(*, download_if_missing: bool = True) -> Any:
    """Used cars: 1770 groups of cars, 4 inputs; the file is used_cars.csv.

    Parameters
    ----------
    download_if_missing : bool, default=True
        Whether to fetch a file that is neither in the named directory nor in the cache; see `benchmarks.datasets.fetch`.

    Returns
    -------
    Bunch
        As from `load_housing`.
    """
    inputs = ["count", "km", "year", "powerPS"]
    data, target = read_columns("Car Price", "used_cars.csv", inputs, "avgPrice", download_if_missing)
    description = (
        "Groups of used cars offered for sale (Kaggle), by mileage, year and power. The target is the average price of the "
        "group. The group's least and greatest price and their standard deviation, which some copies of the file hold, are not "
        "used: they leak the target."
    )
    return _regression("Car Price", data, target, inputs, "avgPrice", description)


def load_diabetes() -> Any:
    """Diabetes: 442 patients, 10 inputs; comes with scikit-learn.

    Returns
    -------
    Bunch
        As from `load_housing`.
    """
    given = load_sklearn_diabetes()
    description = (
        "Diabetes patients (Efron et al. 2004) as scikit-learn ships them, with scaled inputs. The target is the progression "
        "of the disease after a year."
    )
    return _regression("Diabetes", given.data, given.target, given.feature_names, "progression", description)


def load_friedman() -> Any:
    """Friedman's first function: 2000 rows, 10 inputs; made by scikit-learn.

    Returns
    -------
    Bunch
        As from `load_housing`.
    """
    data, target = make_friedman1(n_samples=2000, n_features=10, noise=0.1, random_state=1000)
    description = (
        "Made-up data (Friedman 1991): ten uniform inputs, of which the first five matter. The target is "
        "10 sin(pi x0 x1) + 20 (x2 - 0.5)^2 + 10 x3 + 5 x4 with a little noise."
    )
    return _regression("Friedman", data, target, [f"x{j}" for j in range(10)], "y", description)


def _regression(name: str, data: Any, target: Any, inputs: list[str], target_name: str, description: str) -> Any:
    return Bunch(
        data=np.asarray(data, dtype=np.float64),
        target=np.asarray(target, dtype=np.float64),
        feature_names=inputs,
        target_names=[target_name],
        name=name,
        task="regression",
        DESCR=description,
    )
