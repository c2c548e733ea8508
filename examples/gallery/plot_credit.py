"""
Can we explain a refusal?
=========================

A lender must tell an applicant why a loan was refused, and what would have to change. The applicants here are
**synthetic**: they are drawn at random, so that we know the truth that a model should find. Repayment is in danger if the
monthly instalments exceed a third of the income left after rent, and if earlier payments were late.
"""

import numpy as np
import pandas as pd

from obliquerules import LLTBoostClassifier
from obliquerules.inspection import DecisionRegionsDisplay, WaterfallDisplay

rng = np.random.default_rng(0)
n = 3000
income = rng.gamma(6.0, 500.0, n).round(-1) + 800.0
applicants = pd.DataFrame(
    {
        "income": income,
        "rent": (income * rng.uniform(0.1, 0.7, n)).round(-1),
        "instalments": (income * rng.uniform(0.0, 0.35, n)).round(-1),
        "late payments": rng.poisson(0.6, n),
        "years employed": rng.gamma(2.0, 3.0, n).round(1),
    }
)
strained = applicants["instalments"] > (applicants["income"] - applicants["rent"]) / 3.0
odds = np.exp(-2.8 + 3.0 * strained + 1.5 * (applicants["late payments"] >= 2))
outcome = np.where(rng.random(n) < odds / (1.0 + odds), "unpaid", "repaid")
euros = {"income": "€ a month", "rent": "€ a month", "instalments": "€ a month"}

# %%
# The model is the log-odds that a loan stays unpaid. It finds that income, rent and instalments belong together, as one
# weighted sum close to the truth. A rule learner that looks at one input at a time would need a staircase of rules.

model = LLTBoostClassifier(random_state=0).fit(applicants, outcome).at(8)
print(model.ensemble_)
print()
print(model.rule_table(applicants, outcome))

# %%
# What does it look like?
# -----------------------
#
# Two of the inputs make a map; the others are held at their medians, which is said above it. The border is slanted: who
# earns more may owe more.

DecisionRegionsDisplay.from_estimator(
    model,
    applicants[::6],
    outcome[::6],
    features=["income", "instalments"],
    units=euros,
    response_method="predict",
)

# %%
# Why was this application refused?
# ---------------------------------

refused = int(np.flatnonzero(model.predict(applicants) == "unpaid")[0])
WaterfallDisplay.from_estimator(model, applicants, refused, all_rules=True)

# %%
# What would have to change?
# --------------------------
#
# The past cannot be changed, so late payments and the years employed stay as they are. Within the range of the other
# applicants, this is the closest change that leads to another decision, and it is proven to be the closest:

applicant = applicants.iloc[[refused]]
print(model.closest_change(applicant, applicants, fixed=["late payments", "years employed"]))
