"""Where LLTBoost stands beside TGB and LTRNet on the same splits, each with one setting for all data sets and measures.

Reads the outcomes in the directory that it is given, as this command keeps them:

    python -m benchmarks.paper --methods "LLTBoost (slopes)" "LLTBoost (information)" "TGB (default)" LTRNet -o DIRECTORY

Prints for each setting of a rival in how many cases LLTBoost, with its defaults (slopes) and with rules alone, is not worse by
medians; then the cases in which the best setting of TGB or LTRNet does better, and whether that is within LLTBoost's interval.
"""

import sys
from pathlib import Path

from benchmarks.paper.interval import order_interval
from benchmarks.paper.ledger import open_ledger
from benchmarks.paper.measures import MEASURES

OURS = ("LLTBoost (slopes)", "LLTBoost (information)")


def intervals(outcomes):
    """Return the interval of each measure and data set, by method and setting."""
    found = {}
    for measure in MEASURES:
        for dataset, row in measure.paper.items():
            values = {}
            for one in outcomes:
                if one.trial.dataset == dataset:
                    reached = measure.of(one.complexities, one.losses.get(measure.loss, ()), row.target)
                    values.setdefault((one.trial.method, one.trial.setting), []).append(reached)
            for rival, reached in values.items():
                interval = order_interval(reached, measure.tenths)
                found.setdefault(rival, {})[measure.title, dataset] = (interval, measure.decimals)
    return found


def worse(ours, rival):
    """Return the cases in which the rival's median is lower, to the decimals that the report shows."""
    return [
        case for case, (own, decimals) in ours.items() if round(rival[case][0].median, decimals) < round(own.median, decimals)
    ]


def stand(name, ours, rivals):
    """Print one line for each setting of a rival, and the cases in which the best of either method does better."""
    best = {}
    for (method, setting), cases in rivals.items():
        lost = worse(ours, cases)
        print(f"{method:16s} {setting:28s} {name} is not worse in {len(ours) - len(lost)} of {len(ours)}")
        if method not in best or len(lost) > len(worse(ours, rivals[method, best[method]])):
            best[method] = setting
    lost = [(case, rival) for rival, setting in best.items() for case in worse(ours, rivals[rival, setting])]
    print(f"beside both, each at its best single setting: not worse in {len(ours) - len(dict(lost))} of {len(ours)}")
    for case, rival in lost:
        own, other = ours[case][0], rivals[rival, best[rival]][case][0]
        inside = "inside the interval" if own.lower <= other.median else "outside the interval"
        print(
            f"  {case[0]}, {case[1]}: {own.median:.4g} [{own.lower:.4g}, {own.upper:.4g}], {rival} {other.median:.4g}, {inside}"
        )


def main():
    """Say where each kind of LLTBoost stands."""
    with open_ledger(Path(sys.argv[1]) / "results.jsonl") as ledger:
        found = intervals(list(ledger.outcomes.values()))
    rivals = {key: cases for key, cases in found.items() if key[0] not in OURS}
    for (method, _), cases in found.items():
        if method in OURS:
            stand(method, cases, rivals)


if __name__ == "__main__":
    main()
