"""Dask DataFrames: fits give the models of the same rows in memory, in few passes, and predictions are computed when asked."""

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.callbacks import Callback
from sklearn.datasets import load_breast_cancer, load_diabetes

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier, TGBRegressor
from obliquerules.data import blocks

from .little import saved
from .patients import INPUTS, assert_same_model, patients

QUICK = {"max_rules": 3, "effort": 0}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 100)


class Passes(Callback):
    """Counts what Dask is asked to compute, and keeps the pickled sizes of all results that are not rows."""

    def __init__(self):
        super().__init__(start=self._begin, posttask=self._measure)
        self.count, self.sizes = 0, []

    def _begin(self, *_about):
        self.count += 1

    def _measure(self, _key, result, *_about):
        if not isinstance(result, pd.DataFrame) and not callable(result):
            self.sizes.append(len(cloudpickle.dumps(result)))


@pytest.mark.parametrize(("npartitions", "search_rows"), [(1, 300), (5, 300), (5, 20000)])
@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (LLTBoostRegressor(**QUICK), "cost"),
        (LLTBoostClassifier(**QUICK), "died"),
        (TGBClassifier(max_rules=3), "place"),
        (TGBRegressor(max_rules=3, loss="poisson"), "visits"),
    ],
)
def test_a_dask_frame_gives_the_model_of_its_rows_in_memory(estimator, target, search_rows, npartitions):
    frame = patients()
    estimator.set_params(search_rows=search_rows)
    lazy = dd.from_pandas(frame[[*INPUTS, target]], npartitions=npartitions)
    other = type(estimator)(**estimator.get_params()).fit(frame[INPUTS], frame[target])
    assert_same_model(estimator.fit(lazy, target), other, frame)


@pytest.mark.parametrize(("load", "estimator"), [(load_diabetes, LLTBoostRegressor), (load_breast_cancer, LLTBoostClassifier)])
def test_bundled_data(load, estimator):
    frame = load(as_frame=True).frame
    model = estimator(search_rows=200, **QUICK)
    lazy = model.fit(dd.from_pandas(frame, npartitions=4), "target").ensemble_
    memory = model.fit(frame.drop(columns="target"), frame.target).ensemble_
    assert [(rule.condition, rule.factor) for rule in lazy] == [(rule.condition, rule.factor) for rule in memory]
    assert np.allclose(lazy.weight_table, memory.weight_table, rtol=1e-9, atol=1e-11)


def test_weights_exposures_and_offsets_are_columns():
    frame = patients()
    frame["prior"] = np.log(frame.years)
    lazy = dd.from_pandas(frame, npartitions=4)
    model = LLTBoostRegressor(loss="poisson", search_rows=300, **QUICK)
    stored = model.fit(lazy[[*INPUTS, "visits", "weight", "years"]], "visits", sample_weight="weight", exposure="years")
    counts = model.predict(lazy[INPUTS], exposure=lazy["years"]).compute()
    assert np.array_equal(counts, model.predict(frame[INPUTS], exposure=frame.years))
    stored = stored.ensemble_
    memory = model.fit(frame[INPUTS], frame.visits, sample_weight=frame.weight, exposure=frame.years).ensemble_
    assert np.allclose(stored.weight_table, memory.weight_table, rtol=1e-9)


def test_partitions_alone_decide_on_the_bytes_of_a_file(tmp_path):
    """Threads, the source of the partitions and empty ones change nothing; other partitions change the last digits."""
    frame = patients()[[*INPUTS, "cost"]]
    parts = [frame.iloc[start : start + 100] for start in range(0, 700, 100)]
    lazy = dd.from_map(lambda part: part, parts, meta=frame.iloc[:0])
    padded = dd.from_map(lambda part: part, [parts[0].iloc[:0], *parts[:4], parts[0].iloc[:0], *parts[4:]], meta=frame.iloc[:0])
    (tmp_path / "rows").mkdir()
    for number, part in enumerate(parts):
        part.to_parquet(tmp_path / "rows" / f"{number}.parquet")
    model, files = LLTBoostRegressor(search_rows=300, **QUICK), []
    for X, workers in [(lazy, 1), (lazy, 4), (padded, 2), (dd.read_parquet(tmp_path / "rows"), 3)]:
        with dask.config.set(num_workers=workers):
            files.append(saved(model.fit(X, "cost"), tmp_path))
    assert files[0] == files[1] == files[2] == files[3]
    assert saved(LLTBoostRegressor(search_rows=300, **QUICK).fit(frame[INPUTS], frame.cost), tmp_path) == files[0]
    again = LLTBoostRegressor(search_rows=300, **QUICK)
    assert_same_model(again.fit(dd.from_pandas(frame, npartitions=3), "cost"), model, frame)


def test_categories_of_partitions_are_merged():
    frame = patients()
    frame["ward"] = frame.ward.astype("category")
    parts = [frame.iloc[start : start + 140][["age", "ward", "cost"]] for start in range(0, 700, 140)]
    parts[0] = parts[0][parts[0].ward != "north"]
    own = [part.assign(ward=part.ward.cat.remove_unused_categories()) for part in parts]
    unknown = dd.from_map(lambda part: part, own, meta=own[0].iloc[:0])
    unknown["ward"] = unknown["ward"].cat.as_unknown()
    together = pd.concat(parts)
    model = LLTBoostRegressor(search_rows=300, **QUICK).fit(unknown, "cost")
    other = LLTBoostRegressor(search_rows=300, **QUICK).fit(together[["age", "ward"]], together.cost)
    assert model.model_.columns == other.model_.columns
    assert [str(rule.condition) for rule in model.ensemble_] == [str(rule.condition) for rule in other.ensemble_]
    assert np.allclose(model.ensemble_.weight_table, other.ensemble_.weight_table, rtol=1e-9)


def test_the_order_of_categories_counts_and_must_be_the_same():
    frame = patients()
    frame["stage"] = pd.Categorical(
        np.select([frame.cost > 1.0, frame.cost > 0.5], ["III", "II"], "I"), ["0", "I", "II", "III"], ordered=True
    )
    columns = ["age", "stage", "cost"]
    frame = frame.sort_values("stage")[columns]  # so that no partition has all of them
    model = LLTBoostRegressor(search_rows=300, **QUICK).fit(dd.from_pandas(frame, npartitions=7, sort=False), "cost")
    other = LLTBoostRegressor(search_rows=300, **QUICK).fit(frame[["age", "stage"]], frame.cost)
    assert model.model_.columns[1].levels == ("I", "II", "III")
    assert model.model_.columns == other.model_.columns
    assert model.model_.columns[1].ordered
    parts = [frame.iloc[:350], frame.iloc[350:]]
    parts[1] = parts[1].assign(stage=parts[1].stage.cat.remove_categories(["0"]))
    with pytest.raises(ValueError, match="Column 'stage' of X has ordered categories that are not the same"):
        model.fit(dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0], enforce_metadata=False), "cost")


def test_a_default_fit_takes_few_passes():
    frame = patients()[[*INPUTS, "died"]]
    lazy = dd.from_pandas(frame, npartitions=3)
    with Passes() as passes:
        model = LLTBoostClassifier(search_rows=300).fit(lazy, "died")
    assert model.max_rules == 10
    assert 3 <= passes.count < 20


@pytest.mark.parametrize("target", ["died", "place"])
def test_no_result_of_a_task_is_larger_than_a_sketch(target):
    frame = pd.concat([patients(seed=seed) for seed in range(4)])[["age", "dose", "female", "ward", target]]
    with Passes() as passes:
        TGBClassifier(search_rows=100, max_rules=3).fit(dd.from_pandas(frame, npartitions=2, sort=False), target)
    n_strata = frame[target].nunique()
    most = 100 * n_strata * (4 + 3) * 8
    assert most / 2 < max(passes.sizes) <= most + 4000
    assert len(frame) * 4 * 8 > 2 * most


def test_predictions_are_lazy_and_those_of_rows_in_memory():
    frame, inputs = patients(), INPUTS
    lazy = dd.from_pandas(frame, npartitions=4)
    two = LLTBoostClassifier(positive="no", **QUICK).fit(frame[inputs], frame.died)
    many = TGBClassifier(max_rules=3).fit(frame[inputs], frame.place)
    number = LLTBoostRegressor(**QUICK).fit(frame[inputs], frame.cost)
    with Passes() as passes:
        found = [
            (predict(lazy[inputs]), predict(frame[inputs]))
            for predict in (
                *(two.predict, two.decision_function, two.score_samples, two.predict_proba, number.predict),
                *(many.predict, many.decision_function, many.predict_proba),
            )
        ]
    assert passes.count == 0
    for later, now in found:
        assert isinstance(later, dd.Series if now.ndim == 1 else da.Array)
        assert np.array_equal(np.asarray(later.compute()), now)
    assert found[0][0].compute().index.equals(lazy.index.compute())
    assert lazy.assign(p=number.predict(lazy[inputs])).compute().p.tolist() == number.predict(frame[inputs]).tolist()
    assert lazy[lazy.cost > 1e9].pipe(lambda none: number.predict(none[inputs])).compute().shape == (0,)


def test_each_partition_tells_of_levels_never_seen():
    frame = patients()[["ward", "cost"]]
    model = TGBRegressor(max_rules=1).fit(frame[["ward"]], frame.cost)
    new = frame[["ward"]].assign(ward=np.where(np.arange(len(frame)) % 70 == 0, "west", frame.ward))
    later = model.predict(dd.from_pandas(new, npartitions=2))
    with pytest.warns(UserWarning, match=r"not seen in fit occur in 'ward' \(5 rows\)") as caught:
        later.compute(scheduler="synchronous")
    assert len(caught) == 2


def test_predictions_for_dask_arrays():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y, prior = X[:, 0] > 0.2, X[:, 1].copy()
    model = LLTBoostClassifier(**QUICK).fit(X, y)
    chunks = da.from_array(X, chunks=(60, 2))
    assert model.predict_proba(chunks).chunks == ((60, 60, 60, 20), (2,))
    for predict in (model.predict, model.predict_proba, model.decision_function):
        assert np.array_equal(predict(chunks).compute(), predict(X))
        assert predict(chunks[chunks[:, 0] > 9.0]).compute().shape[0] == 0
    model.fit(X, y, offset=prior)
    given = da.from_array(prior, chunks=70)
    assert np.array_equal(model.predict_proba(chunks, offset=given).compute(), model.predict_proba(X, offset=prior))


def test_what_cannot_be_predicted_is_refused_before_anything_is_computed():
    frame = patients()
    lazy = dd.from_pandas(frame, npartitions=2)
    model = LLTBoostRegressor(**QUICK)
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(lazy)
    model.fit(frame[INPUTS], frame.cost)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(lazy)
    with pytest.raises(ValueError, match="Column 'dose' stands where 'age' stood"):
        model.predict(lazy[["dose", "age", *INPUTS[2:]]])
    with pytest.raises(ValueError, match="exposure must be a Dask Series"):
        model.predict(lazy[INPUTS], exposure=frame.years)
    with pytest.raises(ValueError, match="takes no exposure"):
        model.predict(lazy[INPUTS], exposure=lazy.years)
    with pytest.raises(ValueError, match="y is the name of a column"):
        model.fit(lazy[INPUTS], lazy["cost"])
