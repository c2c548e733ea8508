"""Models of levels, dates, flags and missing values: one that is learned, and any number that are made up at random."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd

from obliquerules import Conjunction, LLTBoostClassifier, Proposition, Rule, RuleEnsemble
from obliquerules.rules.columns import UNSEEN, Block
from obliquerules.rules.rule_parts import Membership

GRADES = ["low", "mid", "high", "top"]
COLOURS = ["red", "</script><b>blue", "1", "a, b", "teal and grey", "\u202egreen", "x" * 200]


def frame(n_rows=500, seed=0):
    """Return a frame with every kind of column that there is."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "age": rng.normal(50, 15, n_rows).round(),
            "bmi": rng.normal(25, 4, n_rows).round(1),
            "colour": rng.choice(COLOURS, n_rows, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1]),
            "smoker": rng.random(n_rows) < 0.3,
            "drinks, or not": pd.array(rng.random(n_rows) < 0.5, dtype="boolean"),
            "grade": pd.Categorical(rng.choice(GRADES, n_rows), categories=GRADES, ordered=True),
            "sex": rng.choice(["female", "male"], n_rows),
            "ward": pd.Categorical(rng.integers(1, 4, n_rows)),
            "admitted": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n_rows), unit="D"),
            "seen at": pd.Timestamp("2021-05-01") + pd.to_timedelta(rng.integers(0, 10**6, n_rows), unit="s"),
            "stay": pd.to_timedelta(rng.integers(0, 30, n_rows), unit="D"),
            "sex_M": rng.integers(0, 2, n_rows),
            "drug": rng.integers(0, 2, n_rows).astype(float),
        }
    )
    for name, share in (("bmi", 0.2), ("colour", 0.1), ("drinks, or not", 0.1), ("drug", 0.15), ("admitted", 0.05)):
        data.loc[rng.random(n_rows) < share, name] = None
    return data


def target(data, seed=0):
    score = 1.5 * data["colour"].isin(["red", "1"]) + 0.05 * (data["age"] - 50) + 1.5 * data["smoker"] - 1
    score += 1.5 * (data["grade"] >= "high") + 1.5 * data["bmi"].isna() - 2.0 * (data["admitted"] >= "2021-06-01")
    return np.where(score + np.random.default_rng(seed).normal(0, 0.5, len(data)) > 1.0, "sick", "well")


@functools.cache
def learned():
    """Return a model that was learned from such a frame, with rows and labels."""
    X = frame()
    y = target(X)
    return LLTBoostClassifier(max_rules=8, complexity_penalty=0.5, linear_terms=False, random_state=0).fit(X, y), X, y


def holding(ensemble):
    """Return the learned model with another ensemble in place of its path, and rows and labels."""
    model, X, y = learned()
    return model._with(replace(model.model_.alone(), path=(ensemble,))), X, y


def made_up(seed, n_rules=25):
    """Return an ensemble of random conditions of all kinds on the columns of the frame."""
    rng = np.random.default_rng(seed)
    columns = learned()[0].ensemble_.columns
    rules = [Rule(rng.normal(), Conjunction(_test(rng, columns) for _ in range(rng.integers(1, 4)))) for _ in range(n_rules)]
    return RuleEnsemble(rules, 0.25, columns)


def _test(rng, columns):
    if rng.random() < 0.4:
        return _membership(rng, columns, int(rng.integers(len(columns))))
    size = int(rng.integers(1, 4))
    terms = list(dict.fromkeys(_term(rng, columns, int(index)) for index in rng.choice(len(columns), size, replace=False)))
    if rng.random() < 0.4 and all(isinstance(term, Membership) or columns[term].kind == "flag" for term in terms):
        return Proposition(terms, rng.choice([-1.0, 1.0], len(terms)), float(rng.integers(-1, 3)), bool(rng.integers(2)))
    weights = rng.choice([1.0, -1.0, 0.1, -0.7, 12.0], len(terms))
    values = [0.5 if isinstance(term, Membership) else _number(rng, columns[term]) for term in terms]
    return Proposition(terms, weights, float(weights @ values), bool(rng.integers(2)))


def _term(rng, columns, index):
    return _membership(rng, columns, index) if columns[index].levels is not None else index


def _membership(rng, columns, index):
    levels = columns[index].levels
    if levels is None or rng.random() < 0.15:
        negated = bool(rng.integers(2))
        return Membership(index, (), negated, not negated)
    ordered = columns[index].ordered and rng.random() < 0.7
    size = int(rng.integers(1, len(levels)))
    end = slice(size) if rng.random() < 0.5 else slice(size, None)
    listed = levels[end] if ordered else [levels[code] for code in rng.choice(len(levels), size, replace=False)]
    return Membership(index, listed, bool(rng.integers(2)), bool(rng.integers(2)), ordered)


def _number(rng, column):
    if column.kind == "flag":
        return float(rng.integers(2))
    if column.kind in ("date", "time", "duration"):
        return float(rng.integers(0, {"date": 20000, "time": 2 * 10**9, "duration": 40}[column.kind]))
    return round(rng.normal(40, 20), 1)


def any_rows(columns, n_rows, seed):
    """Return rows in which every level occurs, levels that were never seen, and missing values in every column."""
    rng = np.random.default_rng(seed)
    filled = [_values(rng, column, n_rows) for column in columns]
    matrix = np.where(rng.random((n_rows, len(columns))) < 0.12, np.nan, np.column_stack(filled))
    return Block(columns, matrix)


def _values(rng, column, n_rows):
    if column.levels is not None:
        return rng.integers(int(UNSEEN), len(column.levels), n_rows).astype(float)
    return np.array([_number(rng, column) for _ in range(n_rows)])
