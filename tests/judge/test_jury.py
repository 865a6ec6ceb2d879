"""Several comparisons in one run, each with its own word."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.judge.docket import Docket, Judged, Work, replay
from workbench.judge.fold import Tally
from workbench.judge.guards import changed, same_config
from workbench.judge.jury import Jury
from workbench.model.ids import SessionKey
from workbench.model.outcome import Counts, Status, Symptom
from workbench.model.plan import Arm, Cluster, Measurement, Part, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.run import Fingerprint
from workbench.model.verdict import Comparison, Guard, Reason, Verdict

REMOVES = Prediction(control=0.4, treatment=0.0, removes=True)


def plan_of(*comparisons: Comparison, measurement: Measurement | None = None) -> Plan:
    names = sorted({name for each in comparisons for name in (each.control, each.treatment)})
    return Plan(
        arms=tuple(Arm(name=name, settings={}) for name in names),
        comparisons=comparisons,
        measurement=measurement,
        rules=Rules(block_size=20, max_blocks=6, cluster=Cluster.TRIAL),
        symptom=Symptom(name="fails"),
        engine=Part(kind="simulated"),
        workload=Part(kind="simulated"),
        classifier=Part(kind="exit_code"),
        in_flight=1,
        seed=1,
    )


def pair(treatment: str, hypothesis: str) -> Comparison:
    return Comparison(control="base", treatment=treatment, prediction=REMOVES, hypothesis=hypothesis)


BAD, GOOD = Counts(8, 12), Counts(0, 20)
TWO = plan_of(pair("no_gate", "H1"), pair("no_cache", "H2"))


def test_each_hypothesis_is_judged_on_its_own_pair() -> None:
    jury = Jury(TWO)
    for _ in range(2):
        jury.add_block({"base": BAD, "no_gate": GOOD, "no_cache": BAD}, ["base", "no_cache", "no_gate"])
    words = {judgement.comparison.hypothesis: judgement.verdict for judgement in jury.judgements}
    assert words == {"H1": Verdict.PRESENT, "H2": Verdict.PREDICTION_REFUTED}
    assert jury.decided


def test_an_arm_that_no_open_question_needs_is_not_started_again() -> None:
    jury = Jury(TWO)
    mixed = Counts(2, 18)
    for _ in range(2):
        jury.add_block(
            {"base": BAD, "no_gate": GOOD, "no_cache": mixed}, ["base", "no_gate", "no_cache"]
        )
    assert jury.arms_needed == ("base", "no_cache")
    before = jury.judgements[0]
    jury.add_block({"base": BAD, "no_cache": mixed}, ["base", "no_cache"])
    assert jury.judgements[0] == before
    assert jury.judgements[1].blocks == 3


def test_a_guard_overrules_every_word() -> None:
    jury = Jury(TWO)
    for _ in range(2):
        jury.add_block({"base": BAD, "no_gate": GOOD, "no_cache": BAD}, ["base", "no_gate", "no_cache"])
    jury.trip([Guard(name="changed-while-running", detail="x")])
    assert {judgement.verdict for judgement in jury.judgements} == {Verdict.INVALID}
    assert jury.judgements[0].rule == 1
    assert jury.decided


def test_closing_an_open_question_leaves_it_inconclusive_for_want_of_budget() -> None:
    jury = Jury(TWO)
    jury.add_block({"base": BAD, "no_gate": GOOD, "no_cache": GOOD}, ["base", "no_gate", "no_cache"])
    jury.close()
    assert jury.judgements[0].verdict is Verdict.INCONCLUSIVE
    assert jury.judgements[0].reason is Reason.BUDGET


def fill(tally: Tally, work: Work, hits: int = 0) -> None:
    for place in work.sessions:
        status = Status.HIT if place < hits else Status.CLEAN
        tally.add(SessionKey(work.arm, work.block, place), status, last=True)


def test_the_docket_asks_for_each_missing_session_once_and_ends() -> None:
    tally = Tally()
    asked: list[tuple[str, int, int]] = []
    docket = Docket(TWO, tally)
    for step in docket.steps():
        if isinstance(step, Work):
            asked += [(step.arm, step.block, session) for session in step.sessions]
            fill(tally, step, hits=8 if step.arm == "base" else 0)
    assert len(asked) == len(set(asked)) == 3 * 20 * 2
    assert docket.jury.decided


def test_a_reader_who_finds_everything_done_comes_to_the_same_judgement() -> None:
    tally = Tally()
    driven = Docket(TWO, tally)
    for step in driven.steps():
        if isinstance(step, Work):
            fill(tally, step, hits=8 if step.arm == "base" else 3)
    assert replay(TWO, tally).jury.judgements == driven.jury.judgements


def test_a_reader_judges_complete_blocks_only() -> None:
    tally = Tally()
    steps = Docket(TWO, tally).steps()
    judged = 0
    for step in steps:
        if isinstance(step, Judged):
            judged += 1
        elif step.block == 2:
            fill(tally, Work(arm=step.arm, block=2, sessions=step.sessions[:-1]), hits=8)
            break
        else:
            fill(tally, step, hits=8 if step.arm == "base" else 0)
    docket = replay(TWO, tally)
    assert judged == 1
    assert [judgement.blocks for judgement in docket.jury.judgements] == [1, 1]


def test_a_measurement_alone_asks_until_it_has_enough() -> None:
    measurement = Measurement(arm="base", max_trials=50, until_hits=3)
    plan = plan_of(pair("no_gate", "H1"), measurement=measurement)
    tally = Tally()
    work = next(iter(Docket(plan, tally).steps()))
    assert isinstance(work, Work)
    assert len(work.sessions) == 50
    assert not work.enough()
    fill(tally, Work(arm="base", block=0, sessions=(0, 1, 2)), hits=3)
    assert work.enough()


class Walked(Tally):
    """A tally that knows how often its sessions were walked one by one."""

    walks = 0

    def prefix(self, arm: str, block: int) -> Iterator[Status]:
        self.walks += 1
        return super().prefix(arm, block)


def test_a_long_measurement_is_not_walked_anew_after_each_session() -> None:
    measurement = Measurement(arm="base", max_trials=500)
    tally = Walked()
    for step in Docket(plan_of(pair("no_gate", "H1"), measurement=measurement), tally).steps():
        if not isinstance(step, Work):
            break
        for place in step.sessions:
            tally.add(SessionKey("base", 0, place), Status.CLEAN, last=True)
            assert step.enough() == (place == 499)
    assert tally.walks < 10


def print_of(arm: str, config: str, file: str) -> Fingerprint:
    return Fingerprint(arm=arm, config={"command": config}, files={"x.sh": file})


def test_guards_name_what_differs() -> None:
    (guard,) = changed(print_of("control", "a", "1"), print_of("control", "a", "2"))
    assert guard.name == "changed-while-running"
    assert "control: file x.sh changed from 1 to 2" in guard.detail
    assert changed(print_of("control", "a", "1"), print_of("control", "a", "1")) == ()


def test_two_arms_that_run_the_same_thing_are_no_test() -> None:
    same = same_config(print_of("control", "a", "1"), print_of("treatment", "a", "1"))
    assert [guard.name for guard in same] == ["same-config"]
    assert same_config(print_of("control", "a", "1"), print_of("treatment", "b", "1")) == ()
