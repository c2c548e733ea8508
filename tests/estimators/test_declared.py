"""Declared estimators: signature, defaults, checks and documentation all come from what the method declares."""

import inspect

import pytest
from sklearn.base import clone

from obliquerules.estimators.loading import ESTIMATORS
from obliquerules.estimators.regressor import RuleRegressor
from obliquerules.parameters import declarations

every_estimator = pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=str)


def declared(kind):
    return declarations(kind.method_class) | (declarations(kind.target_class) if kind.target_class else {})


@every_estimator
def test_the_signature_has_the_declared_parameters_with_their_defaults(kind):
    parameters = inspect.signature(kind).parameters
    assert {name: one.default for name, one in parameters.items()} == {n: default for n, (default, _) in declared(kind).items()}
    assert {one.kind for one in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert ("loss" in parameters) == issubclass(kind, RuleRegressor)


@every_estimator
def test_the_docstring_has_every_parameter_and_what_it_means(kind):
    text = " ".join(kind.__doc__.split())
    for name, (_, parameter) in declared(kind).items():
        assert f" {name} : {parameter.kind}, default=" in text
        assert " ".join(parameter.meaning.split()) in text
    assert text.index(" Parameters ---------- ") < text.index(" Attributes ---------- ") < text.index(" Examples -------- ")


@every_estimator
def test_parameters_are_stored_as_they_are_and_cloned(kind):
    odd = {name: object() for name in declared(kind)}
    estimator = kind(**odd)
    assert estimator.get_params() == odd
    assert set(vars(estimator)) == set(odd)
    assert clone(kind()).get_params() == kind().get_params()


@every_estimator
def test_a_parameter_that_is_not_declared_is_refused(kind):
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        kind(colour="red")
    with pytest.raises(TypeError, match="positional"):
        kind(10)


@every_estimator
def test_an_estimator_is_a_method_on_the_one_rule_model(kind):
    own = [base for base in kind.__mro__ if base.__module__.startswith("obliquerules")]
    assert [base.__name__ for base in own[2:]] == ["RuleModel", "Inspecting", "Editable", "Exporting", "Fitting"]
