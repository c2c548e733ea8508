"""
What does this policy cost us?
==============================

An insurer wants a tariff: how many claims a year does a car policy bring, and what does a claim cost? Policies run for
different times, so that a claim in a month counts for more than one in a year. The policies here are **generated**, so that
we know the truth: young drivers of strong cars have claims twice as often, and so have cars in a city; the risk falls with
every year without a claim.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from obliquerules import LLTBoostRegressor
from obliquerules.inspection import WaterfallDisplay

rng = np.random.default_rng(0)
n = 6000
policies = pd.DataFrame(
    {
        "driver's age": rng.integers(18, 85, n),
        "power": rng.gamma(9.0, 10.0, n).round(),
        "region": rng.choice(["city", "town", "country", "coast"], n, p=[0.3, 0.25, 0.25, 0.2]),
        "claim-free years": np.minimum(rng.geometric(0.12, n) - 1, 20),
        "colour": rng.choice(["red", "black", "white", "blue"], n),
    }
)
years = pd.Series(rng.uniform(0.05, 1.0, n).round(2), name="years")
reckless = policies["power"] - 2.0 * policies["driver's age"] >= 30.0
rate = 0.3 * np.where(reckless, 2.0, 1.0) * np.where(policies["region"] == "city", 2.0, 1.0)
rate = rate * np.exp(-0.06 * policies["claim-free years"])
claims = rng.poisson(years * rate)

# %%
# The count of a policy is for its *exposure*: ``fit`` takes the years beside the data, and rules speak of claims per year.
# Each rule multiplies the rate, as factors of a tariff do. The colour of the car, which has nothing to do with it, stays
# out.

model = LLTBoostRegressor(loss="poisson", max_rules=4, random_state=0).fit(policies, claims, exposure=years).at(10)
print(model.ensemble_)
print()
print(model.to_text("sentences"))

# %%
# The tariff says what the data say
# ---------------------------------
#
# The rate of a rule's policies is claims over years, whatever the model says:

for rule, applies in zip(model.ensemble_, model.ensemble_.fires(policies).T, strict=True):
    observed = claims[applies].sum() / years[applies].sum()
    expected = model.predict(policies[applies], exposure=years[applies]).sum() / years[applies].sum()
    name = rule.describe(model.ensemble_.columns)
    print(f"{observed:.3f} claims a year observed, {expected:.3f} expected: {name}")

# %%
# In ten groups of equal size, from the safest to the most dangerous, as actuaries look at a tariff:

predicted = model.predict(policies)
group = pd.qcut(pd.Series(predicted).rank(method="first"), 10, labels=False)
observed = [claims[group == g].sum() / years[group == g].sum() for g in range(10)]
expected = [np.average(predicted[group == g], weights=years[group == g]) for g in range(10)]
true = [np.average(rate[group == g], weights=years[group == g]) for g in range(10)]
fig, ax = plt.subplots()
ax.plot(range(1, 11), observed, "o", label="observed")
ax.plot(range(1, 11), expected, "-", label="expected")
ax.plot(range(1, 11), true, ":", label="true")
ax.set(xlabel="tenth of the policies, by expected claims", ylabel="claims per year")
ax.legend()

# %%
# Why does my policy cost that much?
# ----------------------------------

row = int(np.argmax(predicted))
WaterfallDisplay.from_estimator(model, policies, row=row)

# %%
# What does a claim cost?
# -----------------------
#
# Amounts spread the more the larger they are: ``loss="gamma"`` is for them, and its rules multiply, too. Claims on the
# coast, where hail falls, cost twice as much.

claimed = policies[claims > 0]
cost = rng.gamma(2.0, 600.0 * np.where(claimed["region"] == "coast", 2.0, 1.0)).round(2)
cost_model = LLTBoostRegressor(loss="gamma", max_rules=2, random_state=0).fit(claimed, cost).at(3)
print(cost_model.ensemble_)
premium = model.predict(policies) * cost_model.predict(policies)
print(f"\nA year of the cheapest policy should cost {premium.min():.0f}, of the dearest {premium.max():.0f}.")
