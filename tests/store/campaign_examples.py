"""One event of each kind for the tests of the log: complete, and the same every time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from math import inf

from tests.store.examples import AT, RUN
from workbench.model.event import (
    Actor,
    ArmResult,
    AssumptionNoted,
    Bearing,
    Body,
    Circumstances,
    Claim,
    ConstraintNoted,
    Counted,
    Earlier,
    Event,
    EvidenceGiven,
    Exposed,
    Grade,
    InterventionNoted,
    Link,
    Note,
    OutsideChange,
    Per,
    Proposed,
    Renumbered,
    Reopened,
    Role,
    Ruling,
    RunNoted,
    Sighting,
    Source,
    Unknown,
    VerdictGiven,
)
from workbench.model.outcome import Counts
from workbench.model.verdict import Evidence, Guard, Held, Other, Reason, Verdict
from workbench.store.eventlines import decode, encode

ANA = Actor(name="ana")
BOT = Actor(name="ana", agent=True)
COMMIT = "0c16cace8d7e0a3b5c1d9f2e4a6b8c0d1e2f3a4b"

VERDICT = VerdictGiven(
    run=RUN,
    hypothesis="H5",
    verdict=Verdict.PRESENT,
    prediction=Held.HELD,
    predicted="0.4:removes",
    reason=None,
    harmful=False,
    arms={
        "control": ArmResult(
            settings={"index_k": "bf16", "build": "broken"},
            counts=Counts(41, 19),
            interval=(0.51, 0.81),
            load={"in_flight": 60, "sessions": 20, "turns": 4},
        ),
        "treatment": ArmResult(
            settings={"index_k": "bf16", "build": "fixed"},
            counts=Counts(0, 59, 1),
            interval=(0.0, 0.09),
            load={"in_flight": 60, "sessions": 20, "turns": 4},
        ),
    },
    blocks=3,
    evidence=Evidence(
        no_effect=inf,
        margin=0.01,
        control_low=2.5e9,
        control_high=0.0,
        treatment_clean=0.5,
        not_halved=1.5e7,
        no_harm=0.001,
        across_restarts=None,
    ),
    interval=(0.5, 0.82),
    estimate=0.68,
    design_effect=1.1,
    digest="5" * 64,
    earlier=(Earlier(run="20261128T090000Z-aaaabbbb", blocks=1),),
    symptom="garbled",
    workload="agents",
    engine="local-pd",
    margin=0.05,
    reference=0.4,
    seconds=312.5,
    notes=("holds across restarts is not shown yet",),
    others={
        "wedged": Other(
            arms={"control": Counts(3, 57), "treatment": Counts(0, 59, 1)},
            rates={"control": (0.004, 0.17), "treatment": (0.0, 0.09)},
            blocks=3,
            no_effect=4.5,
            no_harm=0.1,
        )
    },
    circumstances=Circumstances(
        put_back=True,
        planned=AT,
        began=AT + timedelta(seconds=1),
        ended=AT + timedelta(seconds=313),
        reset="a new process",
        exposed=(Exposed(what="metric hicache_loaded_pages_total", control=True, treatment=True),),
        starts=4,
        start_seconds=20.5,
    ),
)

COUNTED = Counted(
    arms={
        "control": ArmResult(
            settings={"index_k": "bf16", "build": "broken"},
            counts=Counts(21, 38, 1),
            interval=(0.1, 0.7),
        ),
        "treatment": ArmResult(
            settings={"index_k": "bf16", "build": "fixed"}, counts=Counts(0, 60), interval=(0.0, 0.18)
        ),
    },
    per=Per.SESSION,
    pairs=((Counts(21, 38, 1), Counts(0, 60)),),
    symptom="garbled",
    verdict=Verdict.PRESENT,
    evidence=replace(VERDICT.evidence, no_effect=550.0),
    interval=(0.05, 0.7),
    design_effect=2.16,
    margin=0.05,
    notes=("one start of each arm",),
)

BODIES: Mapping[str, Body] = {
    "proposed": Proposed(
        hypothesis="H5", file="hypotheses/H05-host-mirror.yaml", title="Host mirror is sized for fp8"
    ),
    "note": Note(text="restarts take ten minutes on this host", about=("H5", RUN)),
    "sighting": Sighting(
        symptom="garbled", text="3 of 20 calls came back as text", source=Source(text="chat with Ben")
    ),
    "evidence": EvidenceGiven(
        grade=Grade.COMPARED,
        bears={"H1": Bearing.AGAINST, "H5": Bearing.FOR},
        text="with the mirror sized for bf16 no call was garbled",
        source=Source(commit=COMMIT, path="notes/monday.md", line=88, text="the A/B of Monday"),
        counted=COUNTED,
    ),
    "run": RunNoted(run=RUN, hypotheses=("H5",), state="stopped", why="interrupted"),
    "verdict": VERDICT,
    "ruling": Ruling(
        hypothesis="H1",
        because="the host had other traffic",
        strikes=("E-k3m7",),
        role=Role.EXPOSER,
        replaced_by="H5",
    ),
    "reopened": Reopened(hypothesis="H1", because="heavy load garbles with HiCache off, too"),
    "claim": Claim(hypothesis="H5", until=AT + timedelta(hours=2)),
    "link": Link(hypothesis="H5", commit=COMMIT, role="fix"),
    "assumption": AssumptionNoted(
        hypothesis="H5", assumption="A1", holds=None, because="one commit touched the file since"
    ),
    "intervention": InterventionNoted(
        hypothesis="H5", commit=COMMIT, state="live", effect="reduced", because="deployed on prod"
    ),
    "constraint": ConstraintNoted(
        constraint="C1", text="bf16 index keys stay", because="accuracy drops without"
    ),
    "outside-change": OutsideChange(text="the decode process was restarted", engine="prod"),
    "renumbered": Renumbered(
        file="hypotheses/H09-router-drops-rooms.yaml",
        was="H5",
        to="H9",
        events=("E-q2xa",),
        runs=(RUN,),
    ),
}
"""A body of each kind, with as few fields at their default as make sense together."""

INVALID = {
    "verdict": Verdict.INVALID,
    "reason": Reason.ERRORS,
    "guards": (Guard(name="changed-while-running", detail="serve.sh changed"),),
}

FUTURE = Unknown(kind="weather", facts={"sky": "clear", "degrees": 12.5, "hours": [1, 2]})


def event(
    body: Body,
    *,
    prev: tuple[str, ...] = (),
    seq: int = 1,
    id: str = "abcdefgh",
    minutes: int = 0,
    by: Actor = ANA,
) -> Event:
    """Give an event as it would read from its line."""
    bare = Event(
        id=id, prev=prev, seq=seq, at=AT + timedelta(minutes=minutes), by=by, body=body, digest=""
    )
    return decode(encode(bare)[:-1]).event


def line(event: Event) -> bytes:
    """Give the line of an event without its newline."""
    return encode(event)[:-1]


def documented() -> list[Event]:
    """Give one event of each kind, each following the one before: the lines of the documentation."""
    events: list[Event] = []
    for place, (kind, body) in enumerate(BODIES.items()):
        id = {"note": "N-k3m7", "evidence": "E-q2xa"}.get(
            kind, "k3m7q2" + "abcdefghijklmno"[place] + "a"
        )
        prev = tuple(each.digest for each in events[-1:])
        events.append(
            event(
                body, prev=prev, seq=place + 1, id=id, minutes=place, by=BOT if kind == "claim" else ANA
            )
        )
    return events
