"""Every target computes what the model computes, on telling rows and for hostile models, and is refused if it does not."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.export.export_formats import EXPORT_FORMATS, export, find_format
from obliquerules.export.source import Source
from obliquerules.export.verification import ExportError
from obliquerules.losses import LOSSES
from obliquerules.rules import Factor, Model

from ..rules.strategies import ensembles, factors, matrices
from .models import MODELS, ORDINARY

# What runs here; the options of each target that are tried.
RUNNING = {
    "python": ("python", {}),
    "c": ("c", {}),
    "DuckDB": ("sql", {"dialect": "duckdb"}),
    "SQLite": ("sql", {"dialect": "sqlite"}),
    "frame": ("frame", {}),
    "ONNX": ("onnx", {}),
    "Excel": ("excel", {"office": False}),
    "JSON": ("json", {}),
}
SLOW_TO_START = {"c"}
TOO_LARGE = {("extreme", "Excel"), ("extreme slopes", "Excel")}


def exported(model, kind, **more):
    ensemble, loss = MODELS[model]
    to, options = RUNNING[kind]
    return export(Model.of(ensemble, loss), to, **options, **more)


def test_every_target_is_tried():
    assert {to for to, _ in RUNNING.values()} | {"latex"} == set(EXPORT_FORMATS)


@pytest.mark.parametrize(("model", "kind"), [pair for pair in itertools.product(MODELS, RUNNING) if pair not in TOO_LARGE])
def test_there_is_no_mismatch(model, kind):
    verification = exported(model, kind).verification
    assert verification.engine is not None
    assert verification.version
    assert verification.rows > 0
    assert verification.mismatches == 0


@pytest.mark.parametrize("kind", RUNNING)
def test_contributions_are_given_on_request(kind):
    to, options = RUNNING[kind]
    source = Source(Model.of(ORDINARY, LOSSES["logistic"]), contributions=True)
    target = find_format(to, **options)
    X = np.array([[0.0, 0.0, 0.0], [1.0, 5.0, -3.0]])
    computed = target.run(target.write(source), source, X)
    assert computed[:, 2:].tolist() == [[-3.85, 0.0, 0.0], [-3.85, 0.1 + 0.2, 0.0]]
    assert computed[:, 0].tolist() == ORDINARY(X).tolist()


@pytest.mark.parametrize("kind", RUNNING)
def test_what_is_missing_is_scored_and_what_is_huge_is_not(kind):
    to, options = RUNNING[kind]
    ensemble = RuleEnsemble.parse("+1.5 if True\n-2 if age + 0.5 bmi >= 70\n+1 if age >= 20", ["age", "unused", "bmi"])
    target, source = find_format(to, **options), Source(Model.of(ensemble, LOSSES["logistic"]), contributions=True)
    X = np.array([[30.0, np.nan, 20.0], [np.nan, 1.0, 90.0], [80.0, 1.0, np.nan], [np.inf, 0.0, 0.0], [0.0, 0.0, -1e301]])
    if kind == "Excel":
        X = X[[0, 1, 2, 4]]  # there is no infinity
    computed = target.run(target.write(source), source, target.comparable(source, X))
    np.testing.assert_allclose(computed, source.outputs(X), rtol=1e-12)
    assert computed[:3, [0, 2, 3]].tolist() == [[2.5, 0.0, 1.0], [1.5, 0.0, 0.0], [2.5, 0.0, 1.0]]
    assert np.isnan(computed[3:]).all()


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("kind", RUNNING)
def test_tiny_predictions_agree_in_their_digits(kind, loss):
    to, options = RUNNING[kind]
    target, source = find_format(to, **options), Source(Model.of(RuleEnsemble.parse("+100 x", ["x"]), LOSSES[loss]))
    X = np.array([[-20.0], [-7.5], [-6.5], [-5.0], [-1.0], [20.0]])
    expected = np.exp(np.clip(100.0 * X[:, 0], -600.0, 600.0 if loss == "poisson" else -1e-300))
    computed = target.run(target.write(source), source, X)[:, 1]
    np.testing.assert_allclose(source.outputs(X)[:, 1], expected, rtol=1e-12)
    np.testing.assert_allclose(computed, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", sorted(set(RUNNING) - SLOW_TO_START))
def test_any_model_on_any_rows(kind):
    to, options = RUNNING[kind]

    @settings(max_examples=5 if kind == "frame" else 15)  # each model runs in five kinds of frames
    @given(st.data())
    def hold(data):
        drawn = data.draw(ensembles())
        rules = [Rule(rule.weight, rule.condition, data.draw(st.none() | factors())) for rule in drawn]
        ensemble = RuleEnsemble(rules, drawn.intercept)
        X = data.draw(matrices(st.floats() | st.integers(-4, 4).map(float)))
        loss = LOSSES[data.draw(st.sampled_from(sorted(LOSSES)))]
        assert export(Model.of(ensemble, loss), to, X, **options).verification.rows > len(X)

    hold()


def test_a_threshold_of_a_conjunction_that_differs_is_refused():
    target = find_format("python")
    ours, theirs = (
        Source(
            Model.of(
                RuleEnsemble.parse(f"+1 if True\n-2 if a - 1.5 b >= {threshold} & c >= 4", ["a", "b", "c"]), LOSSES["squared"]
            )
        )
        for threshold in (0.28, 0.28 + 1e-16)
    )
    with pytest.raises(ExportError, match="its score is"):
        target.verified(ours, target.write(theirs), np.empty((0, 3)))


def test_a_factor_leaves_room_for_its_weight():
    steep = Source(Model.of(RuleEnsemble([Rule(-1e300, factor=0), Rule(3.0, factor=1)], 0.0), LOSSES["squared"]))
    assert (steep.summed, steep.largest_input, steep.largest_score) == ((0, 1), 1e7, 1e300 * 1e7 + 3e7)
    clipped = RuleEnsemble([Rule(-2.0, factor=Factor(0, 50.0, -10.0, 80.0)), Rule(3.0)], 0.5)
    assert Source(Model.of(clipped, LOSSES["logistic"])).largest_score == 0.5 + 120.0 + 3.0
    assert "min(max" not in export(Model.of(clipped, LOSSES["logistic"]), "python").content.split("def predict")[1]


@pytest.mark.parametrize("factor", [Factor(0, 1e300), Factor(0, lower=1e299), Factor(0, -1.7e308, upper=1e300)])
def test_factors_that_are_too_large_are_refused(factor):
    ensemble = RuleEnsemble([Rule(1e10, factor=factor)], 0.0)
    with pytest.raises(ValueError, match="products of weights and factors whose sum is too large for a number"):
        Source(Model.of(ensemble, LOSSES["squared"]))


def test_a_slope_in_latex():
    ensemble = RuleEnsemble.parse("+1 if True\n+0.3 (age_1 - 50) if age_1 >= 40", ["age_1"])
    assert r"$+0.3$\,(age\_1 $-$ $50$) & if & age\_1 $\geq$ $40$ \\" in str(
        export(Model.of(ensemble, LOSSES["squared"]), "latex")
    )


@pytest.mark.parametrize("kind", RUNNING)
def test_a_product_that_differs_is_refused(kind):
    to, options = RUNNING[kind]
    target = find_format(to, **options)
    source = Source(Model.of(ORDINARY, LOSSES["logistic"]))
    condition = ORDINARY.rules[0].condition.propositions[0]
    moved = Proposition(condition.columns, condition.weights, np.nextafter(condition.threshold, 1.0))
    rules = [Rule(-3.85, Conjunction([moved])), *ORDINARY.rules[1:]]
    other = Source(Model.of(RuleEnsemble(rules, 1.79, ORDINARY.feature_names), LOSSES["logistic"]))
    with pytest.raises(ExportError, match=r"In row \d+, with \{'variance'.*its score is .* instead of"):
        target.verified(source, target.write(other), np.empty((0, 3)))
