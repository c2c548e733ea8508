"""What the page does with the table of groups, in Python: an independent count to compare with."""

import numpy as np

from obliquerules.losses import LOSSES


def holding(figures):
    """Return for each group the set of conditions that hold."""
    bits = ["".join(f"{int(digit, 16):04b}" for digit in pattern) for pattern in figures["groups"]["patterns"]]
    return [{condition for condition, bit in zip(figures["conditions"], text, strict=False) if bit == "1"} for text in bits]


def group_scores(data, position, off=()):
    """Return the score of each group with some rules switched off."""
    intercept, weights, conditions = data["ensembles"][position]
    return np.array(
        [
            intercept
            + sum(w for rule, (w, c) in enumerate(zip(weights, conditions, strict=True)) if rule not in off and c in holds)
            for holds in holding(data["figures"])
        ]
    )


def mean_loss(data, position, off=()):
    """Return the mean loss over all rows of which it is told which conditions hold."""
    groups = data["figures"]["groups"]
    told = len(groups["patterns"])
    table = {name: np.array(column[:told]) for name, column in groups.items() if name != "patterns"}
    mean, score = table["target"] / table["weight"], group_scores(data, position, off)
    spread = table.get("spread", 0.0) * (0.5 if data["loss"] == "squared" else 1.0)
    return float((table["weight"] * LOSSES[data["loss"]].value(mean, score) + spread).sum() / table["weight"].sum())
