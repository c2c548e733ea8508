"""A model with slopes on columns of every kind of number, some of them missing, clipped, hinged or under a condition."""

from obliquerules import RuleEnsemble

from .mixed import holding, learned

RULES = """
+0.25 if True
+0.031 (age - 50)
+0.2 bmi clipped to [18, 40] if age >= 40
-0.003 (admitted - 2021-03-01)
+0.07 (stay clipped to [0 days, 10 days] + 3 days)
-1 if bmi >= 30 or missing
+2 if age >= 60
-0.5 (age + 7) if age >= 55
+0.04 (bmi clipped to [25, 40] - 25)
"""


def sloped():
    """Return a model that holds these rules, with rows and labels."""
    return holding(RuleEnsemble.parse(RULES.strip(), learned()[0].ensemble_.columns))
