"""
Which cultivar is this wine from?
=================================

A chemist has analysed 178 wines from three cultivars that grow in the same region of Italy: thirteen figures for each, from
alcohol to proline. Which of them tell the cultivars apart, and where do they change? The data ship with scikit-learn.
"""

import pandas as pd
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from obliquerules import LLTBoostClassifier
from obliquerules.inspection import DecisionRegionsDisplay, WaterfallDisplay

data = load_wine(as_frame=True)
cultivar = data.target.map({0: "first", 1: "second", 2: "third"})
train, test, train_cultivar, test_cultivar = train_test_split(
    data.data, cultivar, test_size=1 / 3, stratify=cultivar, random_state=0
)

# %%
# With three classes, rules are shared, and each class has a score. A rule has a weight for each class of which it says
# something, and is blank for the others. The class with the highest score is predicted.

model = LLTBoostClassifier(max_rules=6, random_state=0).fit(train, train_cultivar).at(16)
print(model.ensemble_)

accuracy = model.score(test, test_cultivar)
print(f"\nright for {accuracy:.1%} of {len(test)} wines that it has not seen")

# %%
# Which measurements matter?
# --------------------------
#
# By how much would the difference between the scores of two cultivars change, on average, if the figure of a wine were
# replaced by that of another wine? Most of the thirteen figures are in no rule at all: they need not be measured.

print(model.variable_importance(test))

# %%
# A map of two of them shows where one cultivar ends and the next begins, for wines of 12.5 % alcohol; the colour is the median.

two = [variable.variable for variable in model.variable_importance(test)][:2]
DecisionRegionsDisplay.from_estimator(model, test, test_cultivar, features=two, fixed={"alcohol": 12.5})

# %%
# Why this wine?
# --------------
#
# Where the model is wrong, or least sure, its calculation says why it prefers this cultivar to the runner-up:

probability = pd.DataFrame(model.predict_proba(test), columns=model.classes_)
doubtful = int(probability.max(axis=1).argmin())
print(model.explain(test.iloc[[doubtful]]))
print(f"\nIn truth, it is of the {test_cultivar.iloc[doubtful]} cultivar.")

WaterfallDisplay.from_estimator(model, test, row=doubtful)

# %%
# How far can each rule be trusted?
# ---------------------------------
#
# With 118 wines in training, chance has a say. Fitted to bootstrap samples of them, a rule that comes back in most is one
# that the data insist on; one that seldom comes back is one of several that would have done as well.

print(model.stability(train, train_cultivar, n_bootstraps=10, random_state=0))
