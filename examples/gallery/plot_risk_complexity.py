"""
How small may the model be?
===========================

Everybody who has to read, check or defend a model wants it small; but how much accuracy does that cost? One fit answers
for all sizes. The data are 442 diabetes patients, from scikit-learn, and the progress of their disease after a year.
"""

from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

from obliquerules import TGBRegressorCV
from obliquerules.inspection import RiskComplexityDisplay

patients, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
train, test, train_progression, test_progression = train_test_split(
    patients,
    progression,
    random_state=0,
)

# %%
# The complexity counts rules, conditions and variables: roughly, how many things a reader has to take in. Cross-validation
# says how large the risk of each size is, with a standard error on either side. Chosen is the smallest size whose risk is
# above the least by no more than its standard error. TGB learns plain thresholds, and quickly.

model = TGBRegressorCV(max_rules=17).fit(train, train_progression)
RiskComplexityDisplay.from_estimator(
    model,
    train,
    train_progression,
    X_test=test,
    y_test=test_progression,
)

# %%
# On the training rows the risk goes on falling, which says nothing: the more rules, the better they fit what they have
# seen. The cross-validated risk falls little, if at all, after the chosen size. This is what was chosen:

print(model.ensemble_)

# %%
# Every other size is there too, without another fit. What does each cost on the patients that were kept apart?

for complexity in (0, 3, 7, model.complexity_, model.path_[-1].complexity):
    other = model.at(complexity)
    n_rules = len(other.ensemble_)
    error = mean_absolute_error(test_progression, other.predict(test))
    print(f"complexity {other.ensemble_.complexity:2}, {n_rules:2} rules: wrong by {error:.0f} on average")
