"""The one loop, from plan to verdict, with simulated plug-ins."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import simulated
from workbench.campaign import commands
from workbench.errors import ArmCouldNotStart, ResumeRefused
from workbench.model.outcome import Counts
from workbench.model.progress import Snapshot
from workbench.model.run import RunState
from workbench.model.verdict import Held, Reason, Verdict
from workbench.store import RunFolder, RunView


def word(snapshot: Snapshot) -> Verdict | None:
    return snapshot.judgements[0].verdict


def test_a_clear_effect_is_present_and_the_prediction_holds(tmp_path: Path) -> None:
    seen = simulated.run(simulated.plan(0.4, 0.0, "0.4:removes"), tmp_path / "run")
    assert word(seen) is Verdict.PRESENT
    assert seen.judgements[0].held is Held.HELD
    low, high = seen.judgements[0].interval
    assert 0 <= low < 0.4 < high


def test_no_effect_is_falsified_and_the_control_was_sampled_first(tmp_path: Path) -> None:
    seen = simulated.run(simulated.plan(0.4, 0.4), tmp_path / "run")
    assert word(seen) is Verdict.FALSIFIED
    assert seen.measured.hit == 5
    assert seen.judgements[0].held is Held.UNTESTED


def test_a_treatment_said_to_remove_is_refuted_cheaply(tmp_path: Path) -> None:
    seen = simulated.run(simulated.plan(0.4, 0.4, "0.4:removes"), tmp_path / "run")
    assert word(seen) is Verdict.PREDICTION_REFUTED
    assert seen.arms["treatment"].total <= 60


def test_no_hit_in_the_sample_ends_the_run_as_not_reproduced(tmp_path: Path) -> None:
    seen = simulated.run(simulated.plan(0.0, 0.0), tmp_path / "run")
    assert word(seen) is Verdict.NOT_REPRODUCED
    assert seen.measured == Counts(0, 200)
    assert seen.arms["treatment"].total == 0


def test_a_sample_of_timeouts_is_not_called_clean(tmp_path: Path) -> None:
    plan = simulated.plan(0.0, 0.0, timeouts={"control": 0.1})
    seen = simulated.run(plan, tmp_path / "run")
    assert word(seen) is Verdict.INCONCLUSIVE
    assert seen.judgements[0].reason is Reason.ERRORS


def test_timeouts_in_one_arm_leave_the_word_open(tmp_path: Path) -> None:
    plan = simulated.plan(0.17, 0.0, "0.17:removes", timeouts={"treatment": 0.3}, max_blocks=20)
    seen = simulated.run(plan, tmp_path / "run")
    assert word(seen) is Verdict.INCONCLUSIVE
    assert seen.judgements[0].reason is Reason.ERRORS
    assert seen.judgements[0].arms["treatment"].errored > 60


def test_an_arm_that_cannot_start_stops_the_run_on_record(tmp_path: Path) -> None:
    plan = simulated.plan(0.4, 0.0, "0.4:0", engine={"broken": ["treatment"]})
    with pytest.raises(ArmCouldNotStart):
        simulated.run(plan, tmp_path / "run")
    manifest = RunView.read(tmp_path / "run").manifest
    assert manifest.state is RunState.STOPPED
    assert "treatment" in manifest.why


def test_an_arm_that_changes_under_the_run_makes_it_invalid(tmp_path: Path) -> None:
    plan = simulated.plan(0.4, 0.0, "0.4:0", engine={"drifts": {"treatment": 2}})
    seen = simulated.run(plan, tmp_path / "run")
    assert word(seen) is Verdict.INVALID
    assert seen.judgements[0].guards[0].name == "changed-while-running"
    assert word(commands.read(str(tmp_path / "run"))) is Verdict.INVALID
    recorded = list((tmp_path / "run").glob("fingerprint-treatment-*.json"))
    assert len(recorded) == 1
    assert '"changed"' in recorded[0].read_text()


def test_a_reader_is_told_what_of_the_record_is_not_what_was_written(tmp_path: Path) -> None:
    simulated.run(simulated.plan(0.4, 0.0, "0.4:0"), tmp_path / "run")
    assert commands.read(str(tmp_path / "run")).problems == ()
    shard = tmp_path / "run" / "samples-w0.jsonl"
    lines = shard.read_bytes().splitlines(keepends=True)
    shard.write_bytes(b"".join([lines[0].replace(b"clean", b"hit!!"), *lines[1:-1], lines[-1][:9]]))
    problems = "; ".join(commands.read(str(tmp_path / "run")).problems)
    assert "differs from its digest" in problems
    assert "samples-w0.jsonl:1: the checksum differs" in problems
    assert "torn (9 bytes)" in problems


def test_a_resume_of_something_else_is_refused(tmp_path: Path) -> None:
    plan = simulated.plan(0.17, 0.0, "0.17:0")
    with pytest.raises(simulated.Gone):
        simulated.run(plan, tmp_path / "run", simulated.Stops(after=10))
    other = simulated.plan(0.17, 0.1, "0.17:0", engine={"drifts": {"control": 0}})
    with pytest.raises(ResumeRefused, match="control: file build changed"):
        simulated.go_on(other, RunFolder.resume(tmp_path / "run"))


def test_a_refused_resume_leaves_a_finished_run_as_it_was(tmp_path: Path) -> None:
    plan = simulated.plan(0.17, 0.1, "0.17:0.05", max_blocks=2)
    assert word(simulated.run(plan, tmp_path / "run")) is Verdict.INCONCLUSIVE
    other = simulated.plan(0.17, 0.1, "0.17:0.05", max_blocks=4, engine={"drifts": {"control": 0}})
    with pytest.raises(ResumeRefused):
        simulated.go_on(other, RunFolder.resume(tmp_path / "run"))
    manifest = RunView.read(tmp_path / "run").manifest
    assert (manifest.state, manifest.why) == (RunState.FINISHED, "")
    assert RunView.read(tmp_path / "run").altered() == ()


def test_arms_run_in_mirrored_order_in_the_first_two_blocks(tmp_path: Path) -> None:
    simulated.run(simulated.plan(0.17, 0.17, "0.17:0.05", seed=3), tmp_path / "run")
    started = [
        event.facts["arm"]
        for event in RunView.read(tmp_path / "run").events()
        if event.kind == "arm_started"
    ]
    assert started[:2] == started[3:1:-1]
    assert set(started) == {"control", "treatment"}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stops=st.lists(st.integers(1, 90), max_size=4),
    seed=st.integers(0, 10_000),
    predict=st.sampled_from(["0.3:removes", None]),
)
def test_however_often_it_is_killed_the_word_is_that_of_an_unbroken_run(
    tmp_path_factory: pytest.TempPathFactory, stops: list[int], seed: int, predict: str | None
) -> None:
    """Nothing that had ended is run twice, nothing is invented, and the verdict is the same."""
    base = tmp_path_factory.mktemp("runs")
    plan = simulated.plan(0.3, 0.1, predict, seed=seed, max_blocks=8)
    unbroken = simulated.run(plan, base / "unbroken")
    folder = commands.begin("ab", plan, base / "broken")
    for after in stops:
        with suppress(simulated.Gone):
            simulated.go_on(plan, folder, simulated.Stops(after))
        folder = RunFolder.resume(base / "broken")
    resumed = simulated.go_on(plan, folder)

    keys = [str(sample.exchange.key) for sample in RunView.read(base / "broken").samples()]
    assert len(keys) == len(set(keys))
    assert word(resumed) == word(unbroken)
    assert resumed.judgements[0].arms == unbroken.judgements[0].arms
    assert resumed.measured == unbroken.measured
    assert word(commands.read(str(base / "broken"))) == word(unbroken)
