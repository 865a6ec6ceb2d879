"""Manifests and samples for the tests of the store: plain, complete, and the same every time."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Ending, Exchange, Label, Status, Symptom
from workbench.model.plan import Arm, Measurement, Part, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.run import Manifest, Owner, RunEvent, RunState, Sample, Seen
from workbench.model.verdict import Comparison
from workbench.store import Writing

AT = datetime(2026, 11, 29, 15, 12, 0, 250000, tzinfo=UTC)
RUN = "20261129T151200Z-k3m7q2xa"
OWNER = Owner(who="ana", host="nowhere", boot_id="b", pid=1, started=0.0)

# Every line synced before `append` returns: no thread, so the system calls come in one order.
AT_ONCE = Writing(sync_every=0, secrets=())


def plan(**settings: str) -> Plan:
    return Plan(
        arms=(
            Arm(name="control", settings={"command": "./repro.sh --broken", **settings}),
            Arm(name="treatment", settings={"command": "./repro.sh", **settings}),
        ),
        comparisons=(
            Comparison(
                control="control", treatment="treatment", prediction=Prediction.parse("0.4:removes")
            ),
        ),
        measurement=Measurement(arm="control", max_trials=40, until_hits=5),
        rules=Rules(margin=0.05),
        symptom=Symptom(name="failed", labels=("failed",), endings=(Ending.TIMEOUT,)),
        engine=Part(kind="command", options={"timeout": 60.0, "env": {"MODE": "fast"}}),
        workload=Part(kind="command"),
        classifier=Part(kind="exit_code", options={"hits": [1, 2]}),
        in_flight=4,
        seed=7,
    )


def manifest(**changes: object) -> Manifest:
    fields: dict[str, object] = {
        "id": RUN,
        "command": "ab",
        "state": RunState.PLANNED,
        "plan": plan(),
        "plan_digest": "0" * 64,
        "created": AT,
        "owner": OWNER,
        "versions": {"workbench": "0.1.0"},
    }
    return Manifest(**(fields | changes))  # type: ignore[arg-type]


def key(session: int, *, arm: str = "control", block: int = 1, turn: int = 0) -> ExchangeKey:
    return ExchangeKey(SessionKey(arm, block, session), turn)


def sample(
    session: int,
    *,
    status: Status = Status.CLEAN,
    text: str = "",
    arm: str = "control",
    block: int = 1,
    turn: int = 0,
    attempt: int = 1,
    last: bool = True,
) -> Sample:
    word = {Status.HIT: "failed", Status.CLEAN: "clean"}.get(status, "other")
    return Sample(
        exchange=Exchange(
            key=key(session, arm=arm, block=block, turn=turn),
            text=text,
            text_bytes=len(text),
            seconds=1.5,
            start_seconds=0.25,
            exit_code=0 if status is Status.CLEAN else 1,
            last=last,
        ),
        attempt=attempt,
        label=Label(word=word, rule="exit 1" if word == "failed" else "exit 0", signature=word),
        status=status,
        text_sha256=sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        at=AT + timedelta(seconds=session),
    )


def event(kind: str = "opened", **facts: object) -> RunEvent:
    return RunEvent(at=AT, kind=kind, facts=facts)


def watched_sample() -> Sample:
    """A sample that is a hit for one other symptom, and labelled by another classifier for a second."""
    also = {
        "crashed": Seen(
            label=Label(word="failed", rule="exit 1", signature="failed"), status=Status.HIT
        ),
        "wobbly": Seen(label=Label(word="clean", rule="no pattern is found"), status=Status.CLEAN),
    }
    return replace(sample(1, status=Status.HIT), others=also)
