"""A clinician's page: rules learned from text, numbers and missing values as they come, read, saved and written as a workbench.

The data are of people from Olmsted County, Minnesota, whose blood was examined for free light chains (Dispenzieri and
others 2012). They ship with scikit-survival, of which nothing but the file is used.
"""

import importlib.util
from pathlib import Path

import numpy as np
from scipy.io import arff
from sklearn.model_selection import train_test_split

from demo import OUTPUT, path_table
from obliquerules import LLTBoostClassifier, load_model

COLUMNS = ("age", "sex", "kappa", "lambda", "creatinine", "mgus")
NAMES = ("age", "sex", "kappa", "lambda", "creatinine", "MGUS")
SEXES = {"F": "female", "M": "male"}
YEARS = 8
# Whoever came later may have been followed for less than that.
LAST_YEAR = 2000
WORDS = {
    "title": "Does this person die within eight years?",
    "data_name": "people the rules have not seen",
    "data": "people of 50 or more in Olmsted County, Minnesota, examined from 1995 to 2000",
    "intended_use": "to show what such a page looks like, not to decide about people",
}


def read_people():
    """Return the inputs of the people of whom it is known what became of them, as a table of objects, and what did."""
    package = Path(importlib.util.find_spec("sksurv").submodule_search_locations[0])
    people, _ = arff.loadarff(package / "datasets" / "data" / "flchain.arff")
    people = people[people["sample.yr"].astype(int) <= LAST_YEAR]
    dead, days = people["death"] == b"dead", people["futime"]
    known = dead | (days >= 365.25 * YEARS)
    outcome = np.where(dead & (days < 365.25 * YEARS), "died", "alive")
    table = np.array([[plain(value) for value in row] for row in people[list(COLUMNS)]], dtype=object)
    return table[known], outcome[known]


def plain(value):
    """Return a value of the file as a number or text; what is missing is NaN there and stays so."""
    text = value.decode() if isinstance(value, bytes) else float(value)
    return SEXES.get(text, text)


def learn():
    """Return a model of at most six rules, learned from two thirds of the people, and the others."""
    people, outcome = read_people()
    train, test, train_outcome, test_outcome = train_test_split(
        people, outcome, test_size=1 / 3, stratify=outcome, random_state=0
    )
    model = LLTBoostClassifier(max_rules=6, positive="died", linear_terms=False, random_state=0)
    return model.fit(train, train_outcome, feature_names=NAMES), test, test_outcome


def main():
    """Print the rules and the choice of sizes; write the model and its workbench."""
    model, test, outcome = learn()
    print(
        f"Log-odds of 'died' within {YEARS} years, by rules of complexity {model.ensemble_.complexity}:\n\n{model.ensemble_}\n"
    )
    unmeasured = next(row for row in test if np.isnan(row[NAMES.index("creatinine")]))
    known = ", ".join(f"{name} {value}" for name, value in zip(NAMES, unmeasured, strict=True) if value == value)
    print(f"Creatinine was not measured: {known}: {model.predict_proba([unmeasured])[0, 1]:.1%}.\n")
    print(f"One fit gives every size; on {len(test)} people it has not seen:\n\n{path_table(model, test, outcome)}\n")
    OUTPUT.mkdir(exist_ok=True)
    file, page = OUTPUT / "mixed.json", OUTPUT / "mixed.html"
    model.save(file)
    assert (load_model(file).decision_function(test) == model.decision_function(test)).all()
    model.report(page, test, outcome, **WORDS)
    print(f"Wrote {file} (read back and compared) and {page}, to open in a browser.")


if __name__ == "__main__":
    main()
