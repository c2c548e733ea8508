"""
Which deliveries will be late?
==============================

A warehouse ships parcels, and wants to know in the morning which of them will be late, to send them another way. The table
comes from the database as it is: text, dates, numbers, and weights that nobody has entered. The parcels here are
**generated**, so that we know the truth: parcels are late where the distance and the queue in the depot are too much
together, with one of the four carriers, and, since a reform in March, at weekends.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from obliquerules import LLTBoostClassifier
from obliquerules.inspection import CoverageDisplay, WaterfallDisplay

rng = np.random.default_rng(0)
n = 3000
parcels = pd.DataFrame(
    {
        "distance": rng.gamma(2.0, 150.0, n).round(),
        "queue": rng.integers(0, 60, n),
        "carrier": rng.choice(["Ant", "Bee", "Crow", "Deer"], n),
        "weekend": rng.random(n) < 2 / 7,
        "shipped": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 181, n), unit="D"),
        "weight": np.where(rng.random(n) < 0.25, np.nan, rng.gamma(2.0, 3.0, n).round(1)),
    }
)
busy = parcels["distance"] + 10.0 * parcels["queue"] >= 700.0
reform = parcels["weekend"] & (parcels["shipped"] >= "2025-03-01")
odds = np.exp(-3.0 + 2.5 * busy + 1.5 * (parcels["carrier"] == "Crow") + 2.0 * reform)
outcome = np.where(rng.random(n) < odds / (1.0 + odds), "late", "in time")
train, test, train_outcome, test_outcome = train_test_split(parcels, outcome, test_size=0.25, random_state=0)

# %%
# Nothing is encoded, filled in or scaled. Rules speak of carriers by their names and of dates as dates:

model = LLTBoostClassifier(positive="late", max_rules=6, random_state=0).fit(train, train_outcome).at(16)
print(model.ensemble_)
print()
print(model.rule_table(test, test_outcome))

# %%
# Do the rules overlap?
# ---------------------

CoverageDisplay.from_estimator(model, test)

# %%
# Why is this parcel in danger, and what would help?
# --------------------------------------------------
#
# The distance cannot be changed, nor the day. The carrier can, and so can the depot, and with it the queue:

endangered = (model.predict(test) == "late") & (test["carrier"] == "Crow") & ~test["weekend"]
row = int(endangered.to_numpy().argmax())
WaterfallDisplay.from_estimator(model, test, row=row)
print(model.closest_change(test.iloc[[row]], train, fixed=["distance", "weekend", "shipped", "weight"]))

# %%
# Scoring belongs into the database
# ---------------------------------
#
# The query is run here, on rows that hit every threshold and on the parcels of the test, before it is handed over: the same
# rules fire, and scores are equal to the last bit.

query = model.export("sql", test, dialect="sqlite", table="parcels")
print(query.verification)
print("\n".join(query.content.splitlines()[:12]))
