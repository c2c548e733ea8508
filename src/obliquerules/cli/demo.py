"""The command ``obliquerules demo``: learn a few rules from data that ship with scikit-learn, and explain a prediction."""

from __future__ import annotations

from collections.abc import Sequence

from obliquerules.cli.console import command_parser, write_result


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    command_parser("demo", "Learn a few rules from data that ship with scikit-learn.").parse_args(arguments)
    from sklearn.datasets import load_breast_cancer

    from obliquerules import LLTBoostClassifier

    data = load_breast_cancer()
    diagnosis = data.target_names[data.target]
    model = LLTBoostClassifier(max_rules=3, positive="malignant", linear_terms=False, effort=0, random_state=0)
    model.fit(data.data, diagnosis, feature_names=data.feature_names)
    write_result(f"Log-odds that a breast mass is malignant, from {len(diagnosis)} patients:\n\n{model.ensemble_}\n\n")
    write_result(f"The first patient, whose mass is {diagnosis[0]}:\n\n{model.explain(data.data[:1])[0]}\n\n")
    write_result("To learn from your own table: obliquerules fit FILE --target COLUMN. All commands: obliquerules --help\n")
