"""
Where is a straight line better than rules?
===========================================

How much does diabetes progress in a year? For 442 patients, ten measurements were taken at its beginning. Some of them act in
proportion: a staircase of rules would say so in many steps, and a slope says so in one. LLTBoost learns both, and which of
them a model has is decided by what they are worth for their complexity. The data ship with scikit-learn.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

from obliquerules import LLTBoostRegressor
from obliquerules.inspection import WaterfallDisplay

patients, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
train, test, train_progression, test_progression = train_test_split(patients, progression, test_size=1 / 3, random_state=0)

# %%
# A slope is counted from a usual value, so that the constant is the prediction for a usual patient, and it ends where few
# patients are, so that no rare value makes a prediction absurd. ``linear_terms=False`` is for rules alone.

both = LLTBoostRegressor(random_state=0).fit(train, train_progression)
rules = LLTBoostRegressor(linear_terms=False, random_state=0).fit(train, train_progression)
for model in (both, rules):
    small = model.at(10)
    print(f"{small.ensemble_}\nR² for patients that it has not seen: {small.score(test, test_progression):.3f}\n")

# %%
# The same for all sizes, for patients that neither has seen:

_, ax = plt.subplots()
for name, model in {"rules alone": rules, "rules and slopes": both}.items():
    sizes = [member.complexity for member in model.path_]
    risks = [mean_squared_error(test_progression, predicted) for predicted in model.staged_predict(test)]
    ax.step(sizes, risks, where="post", label=name)
ax.set(xlabel="complexity", ylabel="mean squared error")
ax.legend()

# %%
# A single patient: the slopes add their weights times the values, and the rules that apply their weights.

WaterfallDisplay.from_estimator(both.at(10), test, 0)
