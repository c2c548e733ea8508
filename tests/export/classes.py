"""Models of many classes, and models with an exposure or an offset, with rules on every kind of column."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.losses import LOSSES, class_loss
from obliquerules.rules import Labels, Membership, Model
from obliquerules.rules.model import Offset

from .mixed import COLUMNS, MIXED, SLOPED, mixed_ensembles, numbers

WORDS = ("red", "it's", 'say "é"? \\ %s', "A2", "", "null", "{0}", "Blue sky", "score", "x*/y")
LABELS = {
    "3 classes": Labels.of_classes(np.array(["blue", "green", "red"])),
    "10 classes": Labels.of_classes(np.array(WORDS)),
    "10 whole numbers": Labels.of(np.arange(-3, 7)),
    "3 numbers": Labels.of([-0.5, 0.1 + 0.2, 7.0]),
}
# Weights that meet again, so that scores are equal, or differ by the last bit.
WEIGHTS = (0.25, 0.5, 0.3, 0.1 + 0.2, 0.25, 0.5, -0.25, 0.5)


def weights_of(n_classes, index):
    """Return the weights of a rule: for one, two or three classes, and nothing of the others."""
    weights = np.zeros(n_classes)
    for step in range(1 + index % 3):
        weights[(index + index // 3 + 2 * step) % n_classes] = WEIGHTS[(index + step) % len(WEIGHTS)]
    return weights


def class_model(labels):
    """Return a model whose rules have the conditions of the mixed model."""
    n = len(labels)
    rules = [Rule(weights_of(n, index), rule.condition) for index, rule in enumerate(MIXED)]
    rules += [Rule(weights_of(n, 5)), Rule(np.zeros(n), Conjunction([Proposition([0], [1.0], 40.0)]))]
    # So that each class wins somewhere, about half of what rules add to others more than to it.
    total = np.sum([rule.weight for rule in rules], axis=0)
    constants = np.where(np.arange(n) == 1, 0.1 + 0.2, 0.3) + 0.25 * np.round(2.0 * (total.max() - total))
    return Model.of(RuleEnsemble(rules, constants, COLUMNS, labels.names), class_loss(n), labels)


def with_offset(model, kind, names=("given",)):
    return replace(model, offset=Offset(kind, tuple(names)))


TOO_FAR = RuleEnsemble(
    [
        Rule([900.0, 0.0, -700.0], Conjunction([Membership(1, ["red"])])),
        Rule([0.0, 901.0, 0.0], Conjunction([Membership(2, [True])])),
        Rule([0.0, 0.0, 1e300], Conjunction([Proposition([0, 9], [1.0, -2.0], 3.0)])),
    ],
    [0.0, 0.0, 1.0],
    COLUMNS,
    LABELS["3 classes"].names,
)
RATES = RuleEnsemble([rule for rule in MIXED if abs(rule.weight) < 1.0], -0.5, COLUMNS)
LARGE = [Rule(900.0, RATES[0].condition), Rule(-900.0, RATES[1].condition)]
CLASSES = {name: class_model(labels) for name, labels in LABELS.items()}
CLASSES["slopes of 3 classes"] = Model.of(
    RuleEnsemble(
        [Rule(weights_of(3, index), rule.condition, rule.factor) for index, rule in enumerate(SLOPED)],
        [0.3, 0.0, -0.25],
        SLOPED.columns,
        LABELS["3 classes"].names,
    ),
    class_loss(3),
    LABELS["3 classes"],
)
CLASSES["scores far apart"] = Model.of(TOO_FAR, class_loss(3), LABELS["3 classes"])
GIVEN = {
    "exposure": with_offset(Model.of(RATES, LOSSES["poisson"]), "exposure", ["policy years"]),
    "exposure and a constant": with_offset(Model.of(RuleEnsemble([], 0.5), LOSSES["poisson"]), "exposure"),
    "exposure and large scores": with_offset(Model.of(RuleEnsemble(LARGE, 0.5, COLUMNS), LOSSES["poisson"]), "exposure"),
    "exposure and slopes": with_offset(Model.of(SLOPED, LOSSES["poisson"]), "exposure"),
    "offset and slopes": with_offset(Model.of(SLOPED, LOSSES["logistic"], Labels.of(["no", "yes"])), "offset"),
    "offset": with_offset(Model.of(MIXED, LOSSES["squared"]), "offset"),
    "offset of rates": with_offset(Model.of(MIXED, LOSSES["poisson"]), "offset", ["log of years"]),
    "offset of log-odds": with_offset(Model.of(MIXED, LOSSES["logistic"], Labels.of(["no", "yes"])), "offset"),
    "offsets of 3 classes": with_offset(CLASSES["3 classes"], "offset", ["to blue", "to green", "to red"]),
}
MODELS = CLASSES | GIVEN

# ---- random ones

small = st.sampled_from([0.0, 0.0, 0.1, 0.2, 0.1 + 0.2, -0.5, 1.0]) | numbers
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
labels = st.one_of(
    st.lists(texts, min_size=3, max_size=5, unique_by=str.casefold),
    st.lists(st.integers(-(2**53), 2**53), min_size=3, max_size=5, unique=True),
    st.lists(numbers, min_size=3, max_size=5, unique=True),
)


@st.composite
def class_models(draw):
    """Draw a model of many classes with the conditions of a mixed one; half of them with offsets."""
    drawn, found = draw(mixed_ensembles()), Labels.of(draw(labels))
    weights = st.lists(small, min_size=len(found), max_size=len(found))
    rules = [Rule(draw(weights), rule.condition, rule.factor) for rule in drawn]
    ensemble = RuleEnsemble(rules, draw(weights), drawn.columns, found.names)
    model = Model.of(ensemble, class_loss(len(found)), found)
    return with_offset(model, "offset", [f"given {name}" for name in range(len(found))]) if draw(st.booleans()) else model


@st.composite
def given_models(draw):
    """Draw a model of one score with an exposure or an offset."""
    loss = LOSSES[draw(st.sampled_from(sorted(LOSSES)))]
    kind = draw(st.sampled_from(["exposure", "offset"])) if loss.link_name == "exponential" else "offset"
    return with_offset(Model.of(draw(mixed_ensembles()), loss), kind)
