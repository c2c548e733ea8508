"""A first look: learn rules for breast cancer from data that ships with scikit-learn, read them, save them."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from obliquerules import LLTBoostClassifier, load_model

OUTPUT = Path("demo")


def learn():
    """Return a model of at most three rules, which fit on a card, learned from half of the patients, and the other half."""
    data = load_breast_cancer()
    diagnosis = data.target_names[data.target]
    train, test, train_diagnosis, test_diagnosis = train_test_split(
        data.data, diagnosis, test_size=1 / 2, stratify=diagnosis, random_state=0
    )
    model = LLTBoostClassifier(max_rules=3, positive="malignant", linear_terms=False, random_state=0)
    return model.fit(train, train_diagnosis, feature_names=data.feature_names), test, test_diagnosis


def path_table(model, test, diagnosis):
    """Return one line for each size of the model: what it costs to read, and how well it does on new patients."""
    lines = ["rules  complexity  log loss  errors"]
    for ensemble, probabilities in zip(model.path_, model.staged_predict_proba(test), strict=True):
        errors = (model.classes_[probabilities.argmax(axis=1)] != diagnosis).mean()
        loss = log_loss(diagnosis, probabilities, labels=model.classes_)
        lines.append(f"{len(ensemble):5}  {ensemble.complexity:10}  {loss:8.3f}  {errors:6.1%}")
    return "\n".join(lines)


def main():
    """Print the rules and the choice of sizes; write the model and its workbench."""
    model, test, diagnosis = learn()
    print(f"Log-odds of 'malignant', by rules of complexity {model.ensemble_.complexity}:\n\n{model.ensemble_}\n")
    print(f"First new patient: {model.predict_proba(test[:1])[0, 1]:.1%} malignant; truth: {diagnosis[0]}.\n")
    print(f"One fit gives every size; on {len(test)} patients it has not seen:\n\n{path_table(model, test, diagnosis)}\n")
    OUTPUT.mkdir(exist_ok=True)
    model.save(OUTPUT / "model.json")
    assert (load_model(OUTPUT / "model.json").decision_function(test) == model.decision_function(test)).all()
    model.report(OUTPUT / "report.html", test, diagnosis, title="Is this breast mass malignant?", data_name="new patients")
    print(f"Wrote {OUTPUT / 'model.json'} (read back and compared) and {OUTPUT / 'report.html'}, to open in a browser.")


if __name__ == "__main__":
    main()
