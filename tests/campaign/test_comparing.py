"""Two runs side by side: what is said to be equal is, and nothing is added up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests import simulated
from tests.campaign.simulated_tests import begin, campaign, runs, suspect
from workbench.campaign.comparing import compare
from workbench.errors import StoreError, UsageError
from workbench.model.compared import Kinship
from workbench.model.plan import Plan


def paths(root: Path) -> list[str]:
    return [str(root / "runs" / run) for run in runs(root)]


def two(path: Path, one: Plan, other: Plan) -> tuple[str, str]:
    simulated.run(one, path / "one")
    simulated.run(other, path / "other")
    return str(path / "one"), str(path / "other")


def test_equal_plans_differ_in_nothing_whatever_their_seeds(tmp_path: Path) -> None:
    plans = (simulated.plan(0.5, 0.0, "0.5:0", seed=seed) for seed in (1, 2))
    found = compare(*two(tmp_path, *plans))
    assert (found.differs, found.found) == ((), ())
    assert "arm" in found.equal
    assert found.read_back == ("control", "treatment")
    assert found.kinship is Kinship.NO_DIGEST


def test_what_differs_is_named_once(tmp_path: Path) -> None:
    one = simulated.plan(0.5, 0.0, "0.5:0", in_flight=2)
    other = simulated.plan(0.5, 0.1, "0.5:0", in_flight=4, engine={"drifts": {"control": 0}})
    found = compare(*two(tmp_path, one, other))
    said = {each.what: (each.first, each.second) for each in found.differs}
    assert said["in flight"] == ("2", "4")
    assert said["arm treatment.command"] == ("fails 0.0", "fails 0.1")
    assert said["workload rates.treatment"] == ("0.0", "0.1")
    assert "seed" not in " ".join(said)
    assert "classifier" in found.equal
    assert [each.what for each in found.found] == [
        "control: file build",
        "treatment: setting command",
    ]


def test_each_side_has_its_own_counts_and_words(tmp_path: Path) -> None:
    plans = (simulated.plan(0.5, 0.0, "0.5:0", seed=seed) for seed in (1, 2))
    found = compare(*two(tmp_path, *plans))
    for side in (found.first, found.second):
        assert side.words[0].verdict == "present"
        assert side.arms["control"].total == 20 * side.words[0].blocks
    assert found.first.arms["control"] != found.second.arms["control"]


def test_a_run_that_goes_on_from_the_other_is_told_by_its_digest(tmp_path: Path) -> None:
    spec = campaign({"control": 0.3, "treatment": 0.25})
    begin(tmp_path, spec, max_blocks=2)
    begin(tmp_path, spec, max_blocks=2)
    later, earlier = reversed(paths(tmp_path))
    found = compare(later, earlier)
    assert found.kinship is Kinship.GOES_ON
    assert found.first.run == Path(earlier).name  # whichever is named first
    assert (found.second.words[0].blocks, found.second.words[0].earlier) == (4, 2)
    assert found.second.arms["control"].total == 20  # its own, not those that it took over


def test_another_prediction_is_another_test(tmp_path: Path) -> None:
    spec = campaign({"control": 0.3, "treatment": 0.25})
    begin(tmp_path, spec, max_blocks=2)
    begin(tmp_path, spec, suspect(predict="0.4:0.1"), max_blocks=2)
    found = compare(*paths(tmp_path))
    assert found.kinship is Kinship.OTHER_TESTS
    assert [each.what for each in found.differs] == ["prediction H1"]


def test_an_invalid_run_is_no_beginning_of_a_later_one(tmp_path: Path) -> None:
    spec = campaign({"control": 0.3, "treatment": 0.25}, drifts={"treatment": 3})
    begin(tmp_path, spec, max_blocks=2)
    begin(tmp_path, spec, max_blocks=2)
    assert compare(*paths(tmp_path)).kinship is Kinship.ONE_TEST


def test_one_run_twice_and_unknown_and_damaged_runs_are_refused(tmp_path: Path) -> None:
    one, other = two(tmp_path, *(simulated.plan(0.5, 0.0, "0.5:0"),) * 2)
    with pytest.raises(UsageError, match="are the same run"):
        compare(one, f"{one}/../one")
    with pytest.raises(UsageError, match="no such run"):
        compare(one, "nothing-of-that-name")
    (Path(other) / "manifest.json").write_text("{")
    with pytest.raises(StoreError):
        compare(one, other)


def test_plans_are_laid_out_flat_with_what_only_one_has(tmp_path: Path) -> None:
    plan = simulated.plan(0.5, 0.0, "0.5:0")
    measured = replace(plan, comparisons=(), measurement=simulated.plan(0.5, 0.0).measurement)
    found = compare(*two(tmp_path, plan, measured))
    said = {each.what: (each.first, each.second) for each in found.differs}
    assert said["rules measurement"] == ("none", "")
    assert said["rules measurement.max_trials"] == ("", "200")
    assert found.second.arms["control"].hit == 5
