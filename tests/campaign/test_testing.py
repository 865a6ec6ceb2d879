"""Runs of one test are one process: begun, stopped, killed and continued, and verified afterwards."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.campaign.simulated_tests import (
    Gone,
    Stops,
    begin,
    campaign,
    go_on,
    plan,
    runs,
    same_but_for_its_run,
    serves,
    suspect,
)
from workbench.campaign import commands, testing
from workbench.cli.display import NoDisplay
from workbench.errors import AlreadyDecided, LockHeld, ResumeRefused, UsageError
from workbench.model.event import Earlier
from workbench.model.outcome import Counts
from workbench.model.plan import Plan
from workbench.model.prediction import Prediction
from workbench.model.run import RunState
from workbench.model.verdict import Reason, Verdict
from workbench.store import RunFolder, RunView
from workbench.store.jsonl import seal, unseal

SAME = campaign({"control": 0.1, "treatment": 0.1})  # hard to tell: no word for many blocks
CLEAR = campaign({"control": 0.6, "treatment": 0.0})


# --- one process ----------------------------------------------------------------------------------


def test_two_inconclusive_runs_are_one_long_run(tmp_path: Path) -> None:
    (long,) = begin(tmp_path / "long", SAME, max_blocks=4)
    (first,) = begin(tmp_path / "two", SAME, max_blocks=2)
    (second,) = begin(tmp_path / "two", SAME, max_blocks=2)
    assert first.verdict is second.verdict is Verdict.INCONCLUSIVE
    assert second.earlier == (Earlier(run=first.run, blocks=2),)
    assert same_but_for_its_run(second) == same_but_for_its_run(long)
    assert second.blocks == 4


def test_another_seed_another_size_and_other_keeping_are_still_the_same_test(tmp_path: Path) -> None:
    (first,) = begin(tmp_path, SAME, max_blocks=2)
    (second,) = begin(tmp_path, SAME, seed=2, max_blocks=3, sessions=7, in_flight=3, keep_texts="all")
    assert second.digest == first.digest
    assert second.blocks == 5
    assert second.arms["control"].counts.total == 2 * 10 + 3 * 7


def test_another_margin_prediction_or_level_is_another_test(tmp_path: Path) -> None:
    digests = [begin(tmp_path, SAME, max_blocks=2)[0].digest]
    for other in (
        suspect(margin=0.2),
        suspect(predict="0.3:0.2"),
        suspect(predict="0.3:removes"),
        suspect(off="gate"),
    ):
        (given,) = begin(tmp_path, SAME, other, max_blocks=2)
        assert (given.earlier, given.blocks <= 2) == ((), True)
        digests.append(given.digest)
    assert len(set(digests)) == len(digests)


def test_the_same_seed_never_gives_the_same_sessions_twice(tmp_path: Path) -> None:
    keys: list[str] = []
    for _ in range(3):
        begin(tmp_path, SAME, max_blocks=2)
    for run in runs(tmp_path):
        samples = RunView.read(tmp_path / "runs" / run).samples()
        keys += [str(sample.exchange.key) for sample in samples]
    assert len(keys) == len(set(keys)) == 3 * 2 * 2 * 10


def test_a_killed_run_counts_with_its_complete_blocks(tmp_path: Path) -> None:
    (unbroken,) = begin(tmp_path / "unbroken", SAME, max_blocks=4)
    with pytest.raises(Gone):
        begin(tmp_path / "killed", SAME, max_blocks=4, observer=Stops(after=2 * 20 + 13))
    (after,) = begin(tmp_path / "killed", SAME, max_blocks=2)
    assert after.earlier == (Earlier(run=runs(tmp_path / "killed")[0], blocks=2),)
    assert same_but_for_its_run(after) == same_but_for_its_run(unbroken)


def test_what_is_decided_is_not_run_again(tmp_path: Path) -> None:
    (given,) = begin(tmp_path, CLEAR)
    assert given.verdict is Verdict.PRESENT
    with pytest.raises(AlreadyDecided, match=f"H1 present by run {given.run}") as raised:
        begin(tmp_path, CLEAR, seed=2, max_blocks=9)
    assert raised.value.by == {"H1": (given.run, "present")}
    assert runs(tmp_path) == [given.run]


def test_a_word_that_fell_in_a_killed_run_is_not_run_again_either(tmp_path: Path) -> None:
    (given,) = begin(tmp_path / "whole", CLEAR)
    with pytest.raises(Gone):
        begin(tmp_path, CLEAR, observer=Stops(after=given.blocks * 20))
    (killed,) = runs(tmp_path)
    with pytest.raises(AlreadyDecided, match=killed):
        begin(tmp_path, CLEAR)
    assert testing.verdicts(tmp_path, killed) == ()
    (resumed,) = go_on(tmp_path, killed)
    assert same_but_for_its_run(resumed) == same_but_for_its_run(given)


def test_the_run_that_decided_is_named_though_others_went_before(tmp_path: Path) -> None:
    spec = campaign({"control": 0.3, "treatment": 0.05})
    words = []
    for _ in range(30):
        (given,) = begin(tmp_path, spec, max_blocks=2)
        words.append(given)
        if given.verdict is not Verdict.INCONCLUSIVE:
            break
    assert len(words) > 1
    with pytest.raises(AlreadyDecided) as raised:
        begin(tmp_path, spec)
    assert raised.value.by == {"H1": (words[-1].run, str(words[-1].verdict))}


def test_a_suspect_that_joins_later_begins_at_its_own_beginning(tmp_path: Path) -> None:
    rates = {"control": 0.1, "treatment": 0.1, "treatment-H1": 0.1, "treatment-H2": 0.1}
    spec = campaign(rates)
    (alone,) = begin(tmp_path, spec, max_blocks=2)
    first, second = begin(tmp_path, spec, suspect(), suspect("H2", off="gate"), max_blocks=2)
    assert first.earlier == (Earlier(run=alone.run, blocks=2),)
    assert (first.blocks, second.blocks, second.earlier) == (4, 2, ())
    assert second.arms["control"].counts.total == 20
    (third,) = begin(tmp_path, spec, suspect("H2", off="gate"), max_blocks=2)
    assert (third.earlier, third.blocks) == ((Earlier(run=second.run, blocks=2),), 4)
    for run in runs(tmp_path):
        assert testing.verify(tmp_path, run, testing.verdicts(tmp_path, run)) == ()


def test_the_sample_of_the_first_run_serves_all(tmp_path: Path) -> None:
    spec = campaign({"control": 0.3, "treatment": 0.2})
    bold = replace(suspect(), prediction=Prediction())
    (long,) = begin(tmp_path / "long", spec, bold, max_blocks=4)
    begin(tmp_path / "two", spec, bold, max_blocks=2)
    (second,) = begin(tmp_path / "two", spec, bold, max_blocks=2)
    assert same_but_for_its_run(second) == same_but_for_its_run(long)
    folders = [tmp_path / "two" / "runs" / run for run in runs(tmp_path / "two")]
    assert ["control/0" in RunView.read(folder).counts() for folder in folders] == [True, False]


def test_an_invalid_run_is_no_beginning(tmp_path: Path) -> None:
    (given,) = begin(tmp_path, campaign({"control": 0.1, "treatment": 0.1}, drifts={"treatment": 4}))
    assert given.verdict is Verdict.INVALID
    assert testing.verify(tmp_path, given.run, [given]) == ()
    again = campaign({"control": 0.1, "treatment": 0.1}, drifts={"treatment": 4})
    assert begin(tmp_path, again)[0].earlier == ()


def test_two_arms_that_run_the_same_are_invalid(tmp_path: Path) -> None:
    planned = plan(SAME, suspect())
    alike = replace(planned, arms=tuple(replace(arm, settings={}) for arm in planned.arms))
    _, (given,) = testing.start(tmp_path, alike, serves([suspect()]), NoDisplay())
    assert (given.verdict, given.guards[0].name) == (Verdict.INVALID, "same-config")


def test_a_campaign_that_has_moved_is_the_same_one(tmp_path: Path) -> None:
    (first,) = begin(tmp_path / "here", SAME, max_blocks=2)
    (tmp_path / "here").rename(tmp_path / "there")
    (second,) = begin(tmp_path / "there", SAME, max_blocks=2)
    assert second.earlier == (Earlier(run=first.run, blocks=2),)


def test_a_run_beside_one_under_way_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Gone):
        begin(tmp_path, SAME, max_blocks=2, observer=Stops(after=25))
    (killed,) = runs(tmp_path)
    with RunFolder.resume(tmp_path / "runs" / killed):
        with pytest.raises(LockHeld, match=f"run {killed} of the same test is under way"):
            begin(tmp_path, SAME)
        begin(tmp_path, SAME, suspect(margin=0.2), max_blocks=2)  # another test is free
    begin(tmp_path, SAME, max_blocks=2)


# --- resuming -------------------------------------------------------------------------------------


def test_a_resume_has_the_beginning_that_is_on_record(tmp_path: Path) -> None:
    (long,) = begin(tmp_path / "long", SAME, max_blocks=4)
    (first,) = begin(tmp_path, SAME, max_blocks=2)
    with pytest.raises(Gone):
        begin(tmp_path, SAME, max_blocks=2, observer=Stops(after=25))
    killed = runs(tmp_path)[-1]
    (resumed,) = go_on(tmp_path, killed)
    assert (resumed.run, resumed.earlier) == (killed, (Earlier(run=first.run, blocks=2),))
    assert same_but_for_its_run(resumed) == same_but_for_its_run(long)


def test_only_the_newest_run_of_a_test_goes_on(tmp_path: Path) -> None:
    with pytest.raises(Gone):
        begin(tmp_path, SAME, max_blocks=4, observer=Stops(after=25))
    (second,) = begin(tmp_path, SAME, max_blocks=2)
    with pytest.raises(ResumeRefused, match=f"not the newest of its test: {second.run} is"):
        go_on(tmp_path, runs(tmp_path)[0])


def test_an_inconclusive_run_goes_on_with_more_blocks(tmp_path: Path) -> None:
    (long,) = begin(tmp_path / "long", SAME, max_blocks=5)
    (short,) = begin(tmp_path, SAME, max_blocks=2)
    (longer,) = go_on(tmp_path, short.run, max_blocks=5)
    assert same_but_for_its_run(longer) == same_but_for_its_run(long)
    with pytest.raises(UsageError, match="another seed"):
        go_on(tmp_path, short.run, seed=3)
    with pytest.raises(UsageError, match="max_blocks must be"):
        go_on(tmp_path, short.run, max_blocks=0)


def test_a_resume_of_what_is_no_test_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "t.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    asked = {"command": "./t.sh", "max_trials": 2}
    run = commands.measure(asked, None, None, NoDisplay()).run
    with pytest.raises(UsageError, match="is of `workbench measure`"):
        go_on(tmp_path, run)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stops=st.lists(st.tuples(st.integers(1, 70), st.booleans()), max_size=5),
    seed=st.integers(0, 10_000),
)
def test_however_it_is_killed_resumed_or_begun_anew_the_word_is_that_of_one_run(
    tmp_path_factory: pytest.TempPathFactory, stops: list[tuple[int, bool]], seed: int
) -> None:
    """Stopping is no way to try again: the process goes on where its complete blocks end."""
    spec = campaign({"control": 0.3, "treatment": 0.1})
    base = tmp_path_factory.mktemp("campaign")
    (unbroken,) = begin(base / "unbroken", spec, seed=seed)
    decided = False
    for after, anew in stops:
        with suppress(Gone, AlreadyDecided):
            if anew or not runs(base / "broken"):
                begin(base / "broken", spec, seed=seed, observer=Stops(after))
            else:
                go_on(base / "broken", runs(base / "broken")[-1], Stops(after))
    try:
        (given,) = begin(base / "broken", spec, seed=seed)
    except AlreadyDecided as found:
        decided = True
        (given,) = go_on(base / "broken", found.by["H1"][0])
    same = same_but_for_its_run(given)
    assert replace(same, notes=()) == replace(same_but_for_its_run(unbroken), notes=())
    assert testing.verify(base / "broken", given.run, [given]) == ()
    with pytest.raises(AlreadyDecided):
        begin(base / "broken", spec, seed=seed + 1)
    assert decided or given.run == runs(base / "broken")[-1]


# --- budget ---------------------------------------------------------------------------------------


def test_a_budget_that_is_used_up_ends_a_run_that_can_go_on(tmp_path: Path) -> None:
    (given,) = begin(tmp_path, CLEAR, budget=1e-9)
    assert (given.verdict, given.reason, given.blocks) == (Verdict.INCONCLUSIVE, Reason.BUDGET, 0)
    assert RunView.read(tmp_path / "runs" / given.run).manifest.state is RunState.FINISHED
    (resumed,) = go_on(tmp_path, given.run)
    assert resumed.verdict is Verdict.PRESENT


# --- verifying ------------------------------------------------------------------------------------


def edit(path: Path, change: str) -> None:
    """Alter a samples file as somebody would who knows how lines are sealed, or does not."""
    lines = path.read_bytes().splitlines(keepends=True)
    if change == "flip":
        lines[0] = lines[0].replace(b'"clean"', b'"hit"').replace(b'"failed"', b'"clean"')
    if change == "flip and seal":
        line = json.loads(unseal(lines[0][:-1]))
        line["status"] = "clean" if line["status"] == "hit" else "hit"
        lines[0] = seal(msgspec.json.encode(line))
    if change == "drop":
        del lines[3]
    if change == "cut":
        lines[-1] = lines[-1][:-9]
    if change == "append":
        lines.append(lines[0])
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("flip", "samples-w0.jsonl:1: the checksum differs"),
        ("flip and seal", "does not make it"),
        ("drop", "the counts in the manifest are not those of the samples"),
        ("cut", "the last line is torn"),
        ("append", "repeat the key of an earlier line"),
    ],
)
@pytest.mark.parametrize("of", [0, 1])
def test_verify_names_what_was_altered_in_a_run_and_in_what_it_goes_on_from(
    tmp_path: Path, change: str, named: str, of: int
) -> None:
    begin(tmp_path, SAME, max_blocks=2)
    (given,) = begin(tmp_path, SAME, max_blocks=2)
    assert testing.verify(tmp_path, given.run, [given]) == ()
    edit(tmp_path / "runs" / runs(tmp_path)[of] / "samples-w0.jsonl", change)
    found = testing.verify(tmp_path, given.run, [given])
    assert any(named in line for line in found), found
    assert any("differs from its digest" in line for line in found), found
    assert all(line.startswith(runs(tmp_path)[0]) == (of == 0) for line in found if named in line)


def test_verify_names_an_earlier_run_that_is_missing(tmp_path: Path) -> None:
    (first,) = begin(tmp_path, SAME, max_blocks=2)
    (given,) = begin(tmp_path, SAME, max_blocks=2)
    (tmp_path / "runs" / first.run).rename(tmp_path / "elsewhere")
    found = testing.verify(tmp_path, given.run, [given])
    assert any(first.run in line and "there is no such run" in line for line in found)


def test_verify_names_what_a_record_says_otherwise(tmp_path: Path) -> None:
    (given,) = begin(tmp_path, CLEAR)
    control = given.arms["control"]
    changes = {
        "verdict is falsified on record and present": replace(given, verdict=Verdict.FALSIFIED),
        "E no_effect": replace(given, evidence=replace(given.evidence, no_effect=99.0)),
        "interval from": replace(given, interval=(-0.5, given.interval[1])),
        "digest": replace(given, digest="0" * 64),
        "control counts": replace(
            given, arms={**given.arms, "control": replace(control, counts=Counts(1, 19))}
        ),
        "blocks": replace(given, blocks=99),
        "H9: a verdict is on record": replace(given, hypothesis="H9"),
    }
    for named, recorded in changes.items():
        found = testing.verify(tmp_path, given.run, [recorded])
        assert any(named in line for line in found), (named, found)
    assert testing.verify(tmp_path, given.run, []) == ("H1: no verdict of this run is on record",)
    nearly = replace(given, estimate=(given.estimate or 0.0) * (1 + 1e-12))
    assert testing.verify(tmp_path, given.run, [nearly]) == ()


def test_verify_of_a_run_without_a_word(tmp_path: Path) -> None:
    (given,) = begin(tmp_path / "other", CLEAR)
    with pytest.raises(Gone):
        begin(tmp_path, CLEAR, observer=Stops(after=25))
    (killed,) = runs(tmp_path)
    assert testing.verdicts(tmp_path, killed) == ()
    assert testing.verify(tmp_path, killed, []) == ()
    assert "gives no verdict" in testing.verify(tmp_path, killed, [given])[0]
    assert "no such run" in testing.verify(tmp_path, "20261129T151200Z-aaaaaaaa", [])[0]


def test_replies_in_blobs_may_be_missing_and_not_altered(tmp_path: Path) -> None:
    script = tmp_path / "long.sh"
    script.write_text('#!/bin/sh\nhead -c 70000 /dev/zero | tr "\\0" x\n[ "$CACHE" = "" ]\n')
    script.chmod(0o755)
    spec = replace(
        CLEAR,
        engines={
            "sim": replace(CLEAR.engines["sim"], lifecycle="command", options={"argv": ["./long.sh"]})
        },
        workloads={"w": replace(CLEAR.workloads["w"], kind="command", options={})},
    )
    (given,) = begin(tmp_path, spec, sessions=4)
    assert given.verdict is Verdict.PRESENT
    (blob,) = (tmp_path / "runs").rglob("blobs/*/*")
    blob.write_text("altered")
    assert "the content is not what its name says" in testing.verify(tmp_path, given.run, [given])[0]
    blob.unlink()
    assert testing.verify(tmp_path, given.run, [given]) == ()


def test_a_reader_walks_the_same_steps(tmp_path: Path) -> None:
    begin(tmp_path, SAME, max_blocks=2)
    (given,) = begin(tmp_path, SAME, max_blocks=2)
    seen = commands.read(str(tmp_path / "runs" / given.run))
    assert seen.problems == ()
    assert (seen.judgements[0].blocks, seen.judgements[0].evidence) == (4, given.evidence)
    assert (seen.plan.first_block, seen.block) == (3, 4)


# --- secrets --------------------------------------------------------------------------------------

SECRET = "hunter2-hunter2-hunter2"


def test_a_secret_in_a_level_or_a_file_stays_off_the_disk(tmp_path: Path) -> None:
    key = replace(
        SAME.knobs["cache"], levels={"on": SECRET, "off": None}, options={"name": "SERVICE_API_KEY"}
    )
    spec = replace(SAME, knobs={**SAME.knobs, "cache": key})
    planned: Plan = plan(spec, suspect(), max_blocks=2)
    text = f"id: H1\nstatement: use {SECRET} as the key\n"
    _, (given,) = testing.start(tmp_path, planned, serves([suspect()], text), NoDisplay())
    written = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert written
    assert not any(SECRET.encode() in path.read_bytes() for path in written)
    assert testing.verify(tmp_path, given.run, [given]) == ()
    with pytest.raises(ResumeRefused, match="secret"):
        go_on(tmp_path, given.run, max_blocks=3)
    _, (second,) = testing.start(tmp_path, planned, serves([suspect()], text), NoDisplay())
    assert second.earlier == (Earlier(run=given.run, blocks=2),)
