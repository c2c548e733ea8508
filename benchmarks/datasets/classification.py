"""Classification: the paper's five data sets with two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer as load_sklearn_breast_cancer
from sklearn.utils import Bunch

from benchmarks.datasets.columns import read_columns


def load_breast_cancer() -> Any:
    """Breast cancer: 569 tumours, 30 inputs; comes with scikit-learn.

    Returns
    -------
    Bunch
        ``data``, ``target`` (labels as given), ``feature_names``, ``target_names``, ``positive`` (the label that rules with a
        positive weight speak for), ``name`` (the paper's), ``task`` and ``DESCR``.
    """
    given = load_sklearn_breast_cancer()
    description = (
        "Tumours described by the shapes of their cell nuclei (UCI, Wisconsin diagnostic) as scikit-learn ships them. The "
        "positive class is 1, a benign tumour."
    )
    inputs = [str(name) for name in given.feature_names]
    names = [str(name) for name in given.target_names]
    return _classification("Breast Cancer", given.data, given.target, inputs, names, 1, description)


def load_banknote(*, download_if_missing: bool = True) -> Any:
    """Banknotes: 1372 images, 4 inputs; the file is banknote.csv.

    Parameters
    ----------
    download_if_missing : bool, default=True
        Whether to fetch a file that is neither in the named directory nor in the cache; see `benchmarks.datasets.fetch`.

    Returns
    -------
    Bunch
        As from `load_breast_cancer`.
    """
    inputs = ["variance", "skewness", "curtosis", "entropy"]
    data, target = read_columns("Banknote", "banknote.csv", inputs, "class", download_if_missing)
    description = (
        "Images of banknotes (UCI Banknote Authentication), described by statistics of their wavelet transform. The positive "
        "class is 1, a forgery."
    )
    return _classification("Banknote", data, target, inputs, ["genuine", "forged"], 1, description)


def load_voice(*, download_if_missing: bool = True) -> Any:
    """Voices: 3168 recordings, 20 inputs; the file is voice.csv.

    Parameters
    ----------
    download_if_missing : bool, default=True
        Whether to fetch a file that is neither in the named directory nor in the cache; see `benchmarks.datasets.fetch`.

    Returns
    -------
    Bunch
        As from `load_breast_cancer`.
    """
    spectrum = ["meanfreq", "sd", "median", "Q25", "Q75", "IQR", "skew", "kurt", "sp.ent", "sfm", "mode", "centroid"]
    pitch = ["meanfun", "minfun", "maxfun", "meandom", "mindom", "maxdom", "dfrange", "modindx"]
    data, target = read_columns("Voice", "voice.csv", spectrum + pitch, "label", download_if_missing)
    description = (
        "Recorded voices (Kaggle), described by statistics of their frequencies. The positive class is 'male'. Two inputs, "
        "meanfreq and centroid, are the same number."
    )
    return _classification("Voice", data, target, spectrum + pitch, ["female", "male"], "male", description)


def load_magic(*, download_if_missing: bool = True) -> Any:
    """Telescope images: 19020 showers, 10 inputs; the file is magic.csv.

    Parameters
    ----------
    download_if_missing : bool, default=True
        Whether to fetch a file that is neither in the named directory nor in the cache; see `benchmarks.datasets.fetch`.

    Returns
    -------
    Bunch
        As from `load_breast_cancer`.
    """
    inputs = ["fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist"]
    data, target = read_columns("Magic", "magic.csv", inputs, "class", download_if_missing)
    description = (
        "Simulated images of a gamma-ray telescope (UCI MAGIC), described by the ellipse of the shower. The positive class is "
        "'h', a hadron in the background; 'g' is a gamma ray."
    )
    return _classification("Magic", data, target, inputs, ["gamma", "hadron"], "h", description)


def load_liver(*, download_if_missing: bool = True) -> Any:
    """Liver: 345 men, 6 inputs; the file is liver.csv.

    Parameters
    ----------
    download_if_missing : bool, default=True
        Whether to fetch a file that is neither in the named directory nor in the cache; see `benchmarks.datasets.fetch`.

    Returns
    -------
    Bunch
        As from `load_breast_cancer`.
    """
    inputs = ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]
    data, target = read_columns("Liver", "liver.csv", inputs, "selector", download_if_missing)
    description = (
        "Blood tests of men and how much they drink (UCI Liver Disorders, BUPA). The label is the column 'selector', with 2 as "
        "the positive class, because the paper takes it so; it says nothing about the liver but marks rows of a train/test "
        "split by the people who collected the data."
    )
    return _classification("Liver", data, target, inputs, ["1", "2"], 2, description)


def _classification(
    name: str, data: Any, target: Any, inputs: list[str], classes: list[str], positive: int | str, description: str
) -> Any:
    return Bunch(
        data=np.asarray(data, dtype=np.float64),
        target=np.asarray(target),
        feature_names=inputs,
        target_names=classes,
        positive=positive,
        name=name,
        task="classification",
        DESCR=description,
    )
