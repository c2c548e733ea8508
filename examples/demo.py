"""A first look: learn rules for breast cancer from data that ships with scikit-learn, read them, save them."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from obliquerules import LLTBoostClassifier, load_model

OUTPUT = Path("demo")


def learn():
    """Return a model fitted to two thirds of the patients, and the others to test it on."""
    data = load_breast_cancer(as_frame=True)
    diagnosis = data.target.map({0: "malignant", 1: "benign"})
    train, test, train_diagnosis, test_diagnosis = train_test_split(
        data.data, diagnosis, test_size=1 / 3, stratify=diagnosis, random_state=0
    )
    return LLTBoostClassifier(random_state=0).fit(train, train_diagnosis), test, test_diagnosis


def path_table(model, test, diagnosis):
    """Return one line of Markdown for each size of the model: what it costs to read, and how well it does on new patients."""
    lines = ["| rules | complexity | log loss | errors |", "| --- | --- | --- | --- |"]
    for ensemble, probabilities in zip(model.path_, model.staged_predict_proba(test), strict=True):
        errors = (model.classes_[probabilities.argmax(axis=1)] != diagnosis).mean()
        loss = log_loss(diagnosis, probabilities, labels=model.classes_)
        lines.append(f"| {len(ensemble)} | {ensemble.complexity} | {loss:.3f} | {errors:.1%} |")
    return "\n".join(lines)


def main():
    """Print the rules and the choice of sizes; write the model and a report."""
    model, test, diagnosis = learn()
    small = model.at(6)
    rules = f"Log-odds of '{model.classes_[1]}', by rules of complexity {small.ensemble_.complexity}:\n\n{small.ensemble_}"
    patient = test.iloc[[0]]
    case = f"First new patient: {small.predict_proba(patient)[0, 1]:.1%} malignant; truth: {diagnosis.iloc[0]}."
    table = path_table(model, test, diagnosis)

    OUTPUT.mkdir(exist_ok=True)
    small.save(OUTPUT / "model.json")
    report = (
        f"# Breast cancer in a few rules\n\n```\n{rules}\n```\n\n{case}\n\nThe path, on {len(test)} new patients:\n\n{table}\n"
    )
    (OUTPUT / "report.md").write_text(report, encoding="utf-8")
    assert (load_model(OUTPUT / "model.json").decision_function(test) == small.decision_function(test)).all()

    print(f"{rules}\n\n{case}\n\nOne fit gives every size; on {len(test)} patients it has not seen:\n\n{table}\n")
    print(f"Wrote {OUTPUT / 'model.json'} (read back and compared) and {OUTPUT / 'report.md'}.")


if __name__ == "__main__":
    main()
