"""Displays of mixed columns: levels, dates and missing values are drawn and written as what they are."""

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostRegressor
from obliquerules.inspection import CoverageDisplay, DecisionRegionsDisplay, RiskComplexityDisplay, WaterfallDisplay
from obliquerules.inspection.displays.decision_regions import n_bands

from ..mixed import fitted_mixed
from .looks import clipped, pixels, written

PAIRS = [("colour", "age"), ("day", "flag"), ("smoker", "colour"), ("age", "bmi"), ("grade", "day")]


@pytest.mark.filterwarnings("ignore:Levels that were not seen in fit:UserWarning")
def test_waterfall_says_which_level_a_row_has():
    model, X, _ = fitted_mixed()
    row = X.iloc[[0]].assign(colour="mauve", bmi=np.nan, grade="low")
    display = WaterfallDisplay.from_estimator(model, row, all_rules=True)
    assert display.explanation == model.explain(row)[0]
    assert display.ends[-1] == model.predict(row)[0]
    assert "(grade at least mid)" in written(display)
    assert "(it is missing)" in written(display)
    assert clipped(display) == []
    many = pd.concat([X.iloc[:3], row])
    assert WaterfallDisplay.from_estimator(model, many, 3).explanation.facts == display.explanation.facts
    assert "colour = mauve (never seen in fit)" in display.explanation.facts


def test_coverage_of_rules_on_levels():
    model, X, y = fitted_mixed()
    display = CoverageDisplay.from_estimator(model, X)
    assert display.coverage.tolist() == model.ensemble_.fires(model._read(X).X).mean(axis=0).tolist()
    assert "(grade at least mid)" in written(display)
    assert clipped(display) == []
    assert clipped(RiskComplexityDisplay.from_estimator(model, X, y)) == []


def score_at(model, display, points):
    """Return the score of a row that is at a point in the two features and elsewhere as the display says."""
    columns = model.ensemble_.columns
    rows = {name: [display.fixed.get(name)] * len(points) for name in columns.names}
    for axis, column in enumerate(display.axes):
        values = points[:, axis]
        bands = n_bands(column)
        codes = np.clip(np.round(values), 0, bands - 1).astype(int) if bands else None
        if column.levels is not None:
            rows[column.name] = [column.levels[code] for code in codes]
        elif column.kind == "date":
            rows[column.name] = pd.Timestamp("1970-01-01") + pd.to_timedelta(values * 86400.0, unit="s")
        else:
            rows[column.name] = values if codes is None else codes
    unused = {
        name: value for name, value in rows.items() if name not in display.fixed and name not in {c.name for c in display.axes}
    }
    assert not set(unused) & {columns[index].name for index in model.ensemble_.used_columns}
    return model.predict(pd.DataFrame(rows))


@pytest.mark.parametrize("features", PAIRS, ids=" and ".join)
def test_pixels_say_what_the_model_says(features):
    model, X, y = fitted_mixed()
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=features)
    places, points = pixels(display, 150)
    assert len(np.unique(display.scores)) > 1
    assert display.scores[places].tolist() == score_at(model, display, points).tolist()
    assert clipped(display) == []


@pytest.mark.parametrize("features", PAIRS, ids=" and ".join)
def test_points_are_drawn_in_the_region_of_their_row(features):
    model, X, y = fitted_mixed()
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=features)
    there = ~np.isnan(display.points).any(axis=1)
    moved, meant = display.places[there], display.points[there]
    assert score_at(model, display, moved).tolist() == score_at(model, display, meant).tolist()
    assert (np.abs(moved - meant) < 0.5).all()


def test_axes_are_labelled_with_levels_and_dates():
    model, X, y = fitted_mixed()
    display = DecisionRegionsDisplay.from_estimator(
        model, X, y, features=["colour", "day"], fixed={"grade": "low", "smoker": True}
    )
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == list(model.ensemble_.columns[1].levels)
    assert "2020-07" in [label.get_text() for label in display.ax_.get_yticklabels()]
    assert (display.fixed["grade"], display.fixed["smoker"]) == ("low", True)
    shown = written(display)
    assert "smoker = True" in shown
    assert f"{int(X['colour'].isna().sum())} rows lack a value" in shown


def test_a_column_that_is_missing_everywhere_is_fixed_as_missing():
    model, X, _ = fitted_mixed()
    display = DecisionRegionsDisplay.from_estimator(model, X.assign(bmi=np.nan), features=["age", "day"])
    assert display.fixed["bmi"] is None
    assert "bmi is missing" in " ".join(written(display).split()) or len(display.fixed) > 4
    with pytest.raises(ValueError, match="All values of 'bmi' are missing in X"):
        DecisionRegionsDisplay.from_estimator(model, X.assign(bmi=np.nan), features=["age", "bmi"])


def test_too_many_levels_for_an_axis():
    X = pd.DataFrame({"city": [f"c{index % 13}" for index in range(260)], "age": np.arange(260) % 7})
    model = LLTBoostRegressor(max_rules=1).fit(X, 1.0 * (X["city"] == "c3"))
    with pytest.raises(ValueError, match=r"^An axis has room for 1 to 12 levels; 'city' has 13[.] Draw another input[.]$"):
        DecisionRegionsDisplay.from_estimator(model, X)


def test_a_level_that_is_not_one():
    model, X, _ = fitted_mixed()
    with pytest.raises(ValueError, match=r"^fixed of 'grade' must be one of its levels, low, mid, high; got 'best'[.]$"):
        DecisionRegionsDisplay.from_estimator(model, X, features=["age", "day"], fixed={"grade": "best"})


@pytest.mark.filterwarnings("ignore:Levels that were not seen in fit:UserWarning")
def test_levels_never_seen_lie_beyond_the_axes():
    model, X, _ = fitted_mixed()
    odd = X.dropna().assign(colour=["mauve", *X.dropna()["colour"].tolist()[1:]])
    display = DecisionRegionsDisplay.from_estimator(model, odd, features=["colour", "grade"])
    assert "1 row lies beyond the axes" in written(display)


def test_whole_numbers_stay_on_their_side_of_a_threshold_that_is_one_of_them():
    X = pd.DataFrame({"children": np.arange(120) % 6, "age": np.linspace(20.0, 60.0, 120)})
    y = 1.0 * (X["children"] >= 3) + 2.0 * (X["age"] >= 40.0)
    model = LLTBoostRegressor(max_rules=2).fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y)
    assert (display.places[:, 0] >= 3.0).tolist() == (X["children"] >= 3).tolist()
    assert (display.places[:, 0] != X["children"]).any()
