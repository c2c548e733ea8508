"""
How many bicycles will be rented?
=================================

A rental station wants to know how many bicycles to keep ready. The counts here are **generated**: on a pleasant day, warm
for its wind, three times as many are rented as on others, and on weekends half as many again.
"""

import numpy as np
import pandas as pd

from obliquerules import LLTBoostRegressor
from obliquerules.inspection import DecisionRegionsDisplay, WaterfallDisplay

rng = np.random.default_rng(0)
days = pd.DataFrame(
    {
        "temperature": rng.normal(15.0, 8.0, 1500).round(1),
        "wind": rng.gamma(4.0, 3.0, 1500).round(1),
        "weekend": rng.random(1500) < 2 / 7,
    }
)
pleasant = days["temperature"] - days["wind"] >= 2.0
rented = rng.poisson(4.0 * np.where(pleasant, 3.0, 1.0) * np.where(days["weekend"], 1.5, 1.0))

# %%
# With the Poisson loss, each rule multiplies the expected count:

model = LLTBoostRegressor(loss="poisson", random_state=0).fit(days, rented).at(7)
print(model.ensemble_)
print()
print(model.to_text("sentences"))

# %%
# The map has the expected count on a weekday as its colour, and some weekdays with their counts as points on the same scale.
# Counts scatter; on average, points should have the colour of the ground.

weekdays = ~days["weekend"].to_numpy()
DecisionRegionsDisplay.from_estimator(
    model,
    days[weekdays][::3],
    rented[weekdays][::3],
    features=["temperature", "wind"],
    fixed={"weekend": 0.0},
    units={"temperature": "°C", "wind": "km/h"},
)

# %%
# And a single day, from the constant to the number of bicycles. Scores are logarithms, so steps of the same length multiply
# by the same factor; the scale above has the counts.

busy = int(model.predict(days).argmax())
WaterfallDisplay.from_estimator(model, days, busy, all_rules=True)
