"""
Which tumours are malignant, and why?
=====================================

A pathologist has measured the cell nuclei of 569 samples of breast tissue, and knows which were malignant. Can a model
say so for the next sample, in words that she can check? The data ship with scikit-learn.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from obliquerules import LLTBoostClassifier
from obliquerules.inspection import CoverageDisplay, DecisionRegionsDisplay, WaterfallDisplay

data = load_breast_cancer(as_frame=True)
diagnosis = data.target.map({0: "malignant", 1: "benign"})
train, test, train_diagnosis, test_diagnosis = train_test_split(
    data.data, diagnosis, test_size=1 / 3, stratify=diagnosis, random_state=0
)

# %%
# We ask for rules alone, without slopes, each with one condition in at most two measurements. One fit gives models of many
# sizes, of which we take one that can be read at a glance. Every rule that applies adds its weight to the log-odds that a
# sample is malignant.

model = LLTBoostClassifier(max_propositions=1, max_variables=2, linear_terms=False, random_state=0)
model = model.fit(train, train_diagnosis).at(12)
print(model.ensemble_)

accuracy = model.score(test, test_diagnosis)
print(f"\nright for {accuracy:.1%} of {len(test)} samples that it has not seen")

# %%
# Why is this sample called malignant?
# ------------------------------------
#
# Start at the constant, and add what each rule says. The scale above translates log-odds into the probability; each rule
# comes with the value that it saw.

row = int((test_diagnosis == "malignant").to_numpy().argmax())
WaterfallDisplay.from_estimator(model, test, row, all_rules=True)

# %%
# The same as text, with how clearly each condition is met or missed:

print(model.explain(test.iloc[[row]]))

# %%
# How many samples does each rule concern?
# ----------------------------------------
#
# Rules that nearly always fire together say the same thing twice. The table to the right has the share of samples that two
# rules have in common, of those to which either applies.

CoverageDisplay.from_estimator(model, train)

# %%
# What does the model look like in two measurements?
# --------------------------------------------------
#
# With two inputs, the whole model is a map. The black line is where the prediction turns, and dashed lines are where the
# probability changes.

two = ["worst radius", "worst texture"]
small = LLTBoostClassifier(random_state=0).fit(train[two], train_diagnosis).at(8)
print(small.ensemble_)
DecisionRegionsDisplay.from_estimator(small, test[two], test_diagnosis)
