"""The report: marks, counts, means, and the command that prints it."""

from math import inf

import pytest

from benchmarks.datasets.files import VARIABLE
from benchmarks.paper.__main__ import CONTENDERS, main, parse
from benchmarks.paper.interval import Interval
from benchmarks.paper.measures import MEASURES
from benchmarks.paper.published import COLUMNS
from benchmarks.paper.report import (
    AT_LEAST_AS_GOOD,
    INSIDE,
    LEADERS,
    WORSE,
    Comparison,
    compare,
    geometric_mean,
    standing,
    summary,
)
from benchmarks.paper.trials import Outcome, Trial


def outcomes(setting, complexities, losses):
    return [Outcome(Trial("Diabetes", "m", setting, seed), complexities, losses, 1.0) for seed in range(10)]


def comparison(median, decimals=2):
    return Comparison("Any", "default", 36, Interval(median, median, median), Interval(0.47, 0.49, 0.51), decimals)


def test_marks_compare_the_rounded_median_with_the_papers_interval():
    assert comparison(0.3).mark == AT_LEAST_AS_GOOD
    assert comparison(0.4949).mark == AT_LEAST_AS_GOOD
    assert comparison(0.4951).mark == INSIDE
    assert comparison(0.5149).mark == INSIDE
    assert comparison(0.5151).mark == WORSE
    assert comparison(inf).mark == WORSE


def test_the_summary_counts_marks_and_averages_ratios():
    text = summary([comparison(0.245), comparison(0.5), comparison(0.98)])
    assert "2/3 (at least as good 1/3)" in text
    assert f"{(0.5 * 0.5 / 0.49 * 2.0) ** (1 / 3):.3f}" in text


def test_infinite_medians_are_left_out_of_the_mean_and_said_to_be():
    assert "leaving out 1 where a median is infinite: 2.000." in summary([comparison(0.98), comparison(inf)])
    assert summary([comparison(inf)]) == "At least as good or inside the interval: 0/1 (at least as good 0/1)."


def test_where_only_we_meet_a_target_there_is_no_ratio():
    never = Comparison("Any", "default", 0.06, Interval(9.0, 13.0, 17.0), Interval(73.0, inf, inf), 1)
    assert never.mark == AT_LEAST_AS_GOOD
    assert "leaving out 1 where a median is infinite: 2.000." in summary([comparison(0.98), never])


def test_geometric_means_allow_for_zeros():
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([2.0, 0.0]) == 0.0


@pytest.mark.parametrize("leader", LEADERS)
def test_the_standing_names_the_rule_learners_that_do_better(leader):
    def reaching(name, complexity):
        curve = {"risk": (0.5,)}
        return [Outcome(Trial("Diabetes", name, "default", seed), (complexity,), curve, 1.0) for seed in range(10)]

    methods = [CONTENDERS[name] for name in (leader, "LLTBoost (paper)", "DRNet", "Decision tree", "Linear model (L1)")]
    sizes = {leader: 9, "LLTBoost (paper)": 3, "DRNet": 9, "Decision tree": 6, "Linear model (L1)": 2}
    found = standing(leader, methods, [one for name, size in sizes.items() for one in reaching(name, size)])
    at_the_risk_target = found.rows[0]
    assert at_the_risk_target[1:] == ("Diabetes", "9", "Decision tree (6)")
    assert found.remark.startswith(f"No other rule learner does better in 1 of {len(found.rows)} cases, and no peer in 1.")
    assert not standing(leader, methods[:2], reaching(leader, 9)).rows


def test_the_papers_rows_are_in_order():
    for measure in MEASURES:
        assert len(measure.paper) in (5, 10)
        for row in measure.paper.values():
            assert tuple(row.reached) == COLUMNS
            assert all(one is None or one.lower <= one.median <= one.upper for one in row.reached.values())


def test_repetitions_are_compared_at_the_papers_targets():
    reached = outcomes("s", (3, 40, 50), {"risk": (0.72, 0.70, 0.60)})
    by_title = {measure.title: compare(measure, reached, "LLTB") for measure in MEASURES}
    assert [one.ours.median for one in by_title["Complexity at the risk target"]] == [40.0]
    assert [one.ours.median for one in by_title["Risk at the complexity target"]] == [0.70]
    assert by_title["0/1 loss at the complexity target"] == ()


def test_the_best_setting_is_kept_for_each_measure():
    few = outcomes("few", (3,), {"risk": (0.71,)})
    many = outcomes("many", (40,), {"risk": (0.60,)})
    complexity, risk = (compare(measure, few + many, "LLTB")[0] for measure in MEASURES[:2])
    assert (complexity.setting, complexity.ours.median) == ("few", 3.0)
    assert (risk.setting, risk.ours.median) == ("many", 0.60)


def test_a_path_without_rules_meets_no_target():
    assert compare(MEASURES[0], outcomes("s", (), {}), "LLTB")[0].ours.median == inf


def test_the_command_prints_and_writes_the_same_tables(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "run"))
    output = tmp_path / "run"
    main(["--datasets", "diabetes", "liver", "--repetitions", "2", "--selection", "validation", "-o", str(output)])
    printed = capsys.readouterr().out
    assert (output / "report.md").read_text(encoding="utf-8") == printed
    assert "| Diabetes | 0.71" in printed
    assert "LLTBoost (paper)" in printed
    assert (
        f"| liver | The data set Liver is read from the file liver.csv: put it into a directory and set the environment "
        f"variable {VARIABLE}" in printed
    )
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize(
    "arguments",
    [["--repetitions", "0"], ["--seed", "-1"], ["--datasets", "iris"], ["-o", "/no/such/directory/run"], ["--time-limit", "0"]],
)
def test_the_command_complains_before_it_starts(arguments, capsys):
    with pytest.raises(SystemExit):
        parse(arguments)
    assert "error:" in capsys.readouterr().err
