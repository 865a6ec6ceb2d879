"""A rich campaign, built from the nouns alone: something of every state, and much that is odd.

States are set by hand as the rules would derive them; the events are the ones that they come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from workbench.model.campaign import CampaignSpec, SymptomSpec
from workbench.model.event import (
    Actor,
    ArmResult,
    AssumptionNoted,
    Bearing,
    Body,
    Circumstances,
    Claim,
    Event,
    EvidenceGiven,
    Exposed,
    Grade,
    InterventionNoted,
    Link,
    Note,
    OutsideChange,
    Proposed,
    Reopened,
    Role,
    Ruling,
    RunNoted,
    Sighting,
    Source,
    Unknown,
    VerdictGiven,
)
from workbench.model.hypothesis import Assumption, Hypothesis, Intervention, Problem, PutBack, Test
from workbench.model.outcome import Counts
from workbench.model.prediction import Prediction
from workbench.model.registry import Registry, RunLine
from workbench.model.run import RunState
from workbench.model.standing import Item, Ruled, Standing, State
from workbench.model.verdict import Evidence, Guard, Held, Other, Reason, Verdict

START = datetime(2026, 11, 28, 9, 0, tzinfo=UTC)
ANA, BO, BOT = Actor(name="ana"), Actor(name="bo"), Actor(name="bot", agent=True)
CLEAN, FAILING = Counts(0, 60), Counts(41, 19)
WEDGED = {
    "wedged": Other(
        arms={"control": Counts(0, 60), "treatment": Counts(9, 50, 1)},
        rates={"control": (0.0, 0.083), "treatment": (0.05, 0.31)},
        blocks=3,
        no_effect=0.001,
        no_harm=126.0,
    )
}
CONTROL = {"index_k": "bf16", "hicache": "on", "build": "broken"}
TITLES = {
    1: "The read path does not wait for the layer that is still being loaded",
    2: "bf16 index keys are needed for the fault",
    3: "Top-k kernel of the second version",
    4: "Eager decode path",
    5: "Host mirror of the index-K pool is sized for fp8 while the device holds bf16",
    6: "Host mirror copies too few bytes",
    7: "Asynchronous load races with the forward pass",
    8: "Pool sizing over-commits memory",
    9: "The overlap scheduler",
}


def rate(counts: Counts) -> tuple[float, float]:
    """An interval of roughly the right width; reports only show it."""
    share, wide = counts.hit / counts.decided, 1.7 / counts.decided**0.5
    return max(0.0, share - wide), min(1.0, share + wide / 2) if counts.hit else 5 / counts.decided


def run_id(number: int) -> str:
    return f"2026112{8 + number // 8}T{10 + number % 8}0000Z-{'abcdefgh'[number % 8] * 8}"


def verdict(
    number: int,
    hypothesis: str,
    word: Verdict,
    control: Counts = FAILING,
    treatment: Counts = CLEAN,
    *,
    changed: Mapping[str, str] | None = None,
    held: Held = Held.UNTESTED,
    reason: Reason | None = None,
    guards: tuple[Guard, ...] = (),
    e_no_effect: float | None = None,
) -> VerdictGiven:
    """A verdict of run `number`; `changed` is what the treatment sets otherwise."""
    effect = control.hit / control.decided - treatment.hit / treatment.decided
    if e_no_effect is None:
        e_no_effect = 1.2e9 if effect > 0.3 else 0.4
    settings = {**CONTROL, **(changed or {"build": "fixed"})}
    return VerdictGiven(
        run=run_id(number),
        hypothesis=hypothesis,
        verdict=word,
        prediction=held,
        predicted="0.4:removes",
        reason=reason,
        harmful=False,
        arms={
            "control": ArmResult(settings=CONTROL, counts=control, interval=rate(control)),
            "treatment": ArmResult(settings=settings, counts=treatment, interval=rate(treatment)),
        },
        blocks=3,
        evidence=Evidence(
            no_effect=e_no_effect,
            margin=2.5e4 if effect < 0.1 else 0.01,
            control_low=5e4,
            control_high=0.001,
            treatment_clean=3.1e5 if treatment.hit > 10 else 0.2,
            not_halved=300.0,
            no_harm=0.1,
            across_restarts=None,
        ),
        interval=(round(effect - 0.17, 2), round(effect + 0.15, 2)),
        estimate=round(effect, 4),
        design_effect=1.1,
        digest=f"digest-{number}",
        symptom="garbled",
        workload="agents",
        engine="local",
        seconds=312.0,
        guards=guards,
        others=WEDGED if hypothesis == "H2" else {},
        circumstances=Circumstances(
            planned=START + timedelta(hours=number),
            began=START + timedelta(hours=number, seconds=1),
            ended=START + timedelta(hours=number, seconds=313),
            reset="a new process",
            exposed=(Exposed(what="metric hicache_loaded_pages_total", control=True),),
            starts=6,
            start_seconds=20.5,
        ),
    )


class Log:
    """Builds events one after the other, an hour apart."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, body: Body, by: Actor = ANA, id: str = "") -> Event:
        number = len(self.events)
        digest = sha256(str(number).encode()).hexdigest()
        last = self.events[-1].digest if self.events else ""
        event = Event(
            id=id or f"event{number:03d}",
            prev=(last,) if last else (),
            seq=number,
            at=START + timedelta(hours=number),
            by=by,
            body=body,
            digest=digest,
        )
        self.events.append(event)
        return event

    def item(self, event: Event, hypothesis: str, bearing: Bearing, why_not: str = "") -> Item:
        """What an event of evidence is for one hypothesis."""
        body = event.body
        plain = Item(
            id=event.id,
            at=event.at,
            who=event.by.name,
            agent=event.by.agent,
            grade=Grade.COMPARED,
            bearing=bearing,
            text="",
            source=Source(),
            counts=not why_not,
            why_not=why_not,
        )
        if isinstance(body, VerdictGiven):
            return replace(plain, source=Source(run=body.run), verdict=body)
        assert isinstance(body, EvidenceGiven)
        return replace(plain, grade=body.grade, text=body.text, source=body.source)


def hypothesis(number: int, *, runnable: bool = True, **fields: object) -> Hypothesis:
    id = f"H{number}"
    test = Test(
        control=CONTROL,
        treatment={**CONTROL, "build": "fixed"},
        workload="agents",
        put_back=PutBack(
            control={**CONTROL, "build": "fixed-plus-cause"}, treatment={**CONTROL, "build": "fixed"}
        ),
    )
    plain = Hypothesis(
        id=id,
        title=TITLES[number],
        file=f"hypotheses/{id[0]}{number:02d}-suspect.yaml",
        symptom="garbled",
        prediction=Prediction(control=0.4, treatment=0.0, removes=True) if runnable else None,
        test=test if runnable else None,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def ruled(event: Event, *, self_ruled: bool = False) -> Ruled:
    assert isinstance(event.body, Ruling)
    return Ruled(
        id=event.id,
        at=event.at,
        who=event.by.name,
        agent=event.by.agent,
        ruling=event.body,
        self_ruled=self_ruled,
    )


def hypotheses() -> tuple[Hypothesis, ...]:
    return (
        hypothesis(1, parent="H2", falsified_by="garbled calls persist with a gate at the same load"),
        hypothesis(
            2,
            statement="Only with bf16 keys is the pool so large as\nto be late.\n\nNo cause by itself.",
            fails_when={"index_k": "bf16", "hicache": "on"},
            component="mem_cache/memory_pool_host.py",
            assumptions=(
                Assumption(id="A1", text="no other commit touched the file since"),
                Assumption(id="A2", text="the load is the same in both arms"),
            ),
        ),
        hypothesis(3),
        hypothesis(4, runnable=False),
        hypothesis(5, parent="H2", interventions=(Intervention(commit="0c16cace8" * 4, kind="fix"),)),
        hypothesis(6, parent="H5", also=("H2",)),
        hypothesis(7, parent="H5", assumptions=(Assumption(id="A1", text="the load is asynchronous"),)),
        hypothesis(8, parent="H77", symptom="wedged"),
    )


def build() -> Registry:
    """The campaign."""
    log = Log()
    who = {1: BOT, 5: BO}
    proposed = {
        n: log.add(Proposed(hypothesis=f"H{n}", file="", title=TITLES[n]), who.get(n, ANA))
        for n in TITLES
    }
    assert len(proposed) == len(TITLES)
    log.add(Sighting(symptom="garbled", text="seen in production", source=Source(text="chat")), BO)
    counts = Counts(3, 17), Counts(1, 18, 1)
    same = Guard(name="same-config", detail="both arms equal")
    said = {
        2: verdict(0, "H2", Verdict.PRESENT, held=Held.HELD, changed={"index_k": "fp8"}),
        3: verdict(1, "H3", Verdict.FALSIFIED, treatment=Counts(38, 22), changed={"topk": "v1"}),
        5: verdict(2, "H5", Verdict.PRESENT),
        6: verdict(3, "H6", Verdict.INCONCLUSIVE, *counts, reason=Reason.BUDGET, e_no_effect=1.3),
        8: verdict(4, "H8", Verdict.INVALID, guards=(same,)),
    }
    ran = {number: log.add(body, BOT) for number, body in said.items()}
    refuted = log.add(
        verdict(5, "H5", Verdict.PREDICTION_REFUTED, treatment=Counts(17, 43), held=Held.REFUTED), BOT
    )
    line_920 = EvidenceGiven(
        grade=Grade.READ,
        bears={"H1": Bearing.AGAINST, "H7": Bearing.NEUTRAL},
        text="line 920 calls the gate",
        source=Source(commit="ab" * 20, path="mem_cache/host.py", line=920),
    )
    read = log.add(line_920, BOT, "E-aaaa")
    argued = log.add(
        EvidenceGiven(
            grade=Grade.ARGUED, bears={"H1": Bearing.FOR}, text="a later note says it is absent"
        ),
        ANA,
        "E-bbbb",
    )
    struck = log.add(
        EvidenceGiven(grade=Grade.OBSERVED, bears={"H2": Bearing.AGAINST}, text="fp8 failed once"),
        BO,
        "E-cccc",
    )
    strike = log.add(
        Ruling(
            hypothesis="H2",
            because="that engine ran stale code",
            strikes=("E-cccc",),
            role=Role.CONTRIBUTING,
        )
    )
    replace_it = log.add(Ruling(hypothesis="H4", because="the same suspect", replaced_by="H7"), BO)
    log.add(AssumptionNoted(hypothesis="H2", assumption="A2", holds=True, because="same seed list"))
    log.add(Link(hypothesis="H5", commit="0c16cace8" * 4, role="fix"))
    log.add(InterventionNoted(hypothesis="H5", commit="0c16cace8" * 4, state="dead", effect="none"))
    log.add(OutsideChange(text="decode was restarted", engine="local"))
    log.add(Claim(hypothesis="H7", until=START + timedelta(days=3)), BOT)
    reopened = log.add(Reopened(hypothesis="H3", because="another base"))
    log.add(RunNoted(run=run_id(6), hypotheses=("H7",), state="running"), BOT)
    log.add(Unknown(kind="from-the-future", facts={"of": "H7"}))
    note = log.add(Note(text="ask the kernel people", about=("H7",)), BO, "N-aaaa")
    assert reopened.at < note.at

    def standing(number: int, state: State, *items: Item, **fields: object) -> Standing:
        by = who.get(number, ANA).name
        plain = Standing(
            hypothesis=f"H{number}", state=state, items=items, author=by, was=(State.OPEN, state)
        )
        return replace(plain, **fields)  # type: ignore[arg-type]

    standings = [
        standing(
            1,
            State.CONTESTED,
            log.item(read, "H1", Bearing.AGAINST),
            log.item(argued, "H1", Bearing.FOR),
            grade=Grade.READ,
        ),
        standing(
            2,
            State.SUPPORTED,
            log.item(ran[2], "H2", Bearing.FOR),
            log.item(struck, "H2", Bearing.AGAINST, f"struck by ruling {strike.id}"),
            grade=Grade.COMPARED,
            role=Role.CONTRIBUTING,
            rulings=(ruled(strike, self_ruled=True),),
        ),
        standing(
            3,
            State.FALSIFIED,
            log.item(ran[3], "H3", Bearing.AGAINST),
            grade=Grade.COMPARED,
            reopened=True,
        ),
        standing(
            4,
            State.SUPERSEDED,
            rulings=(ruled(replace_it),),
            replaced_by="H7",
        ),
        standing(
            5,
            State.OVERTURNED,
            log.item(ran[5], "H5", Bearing.FOR, f"continued by {run_id(5)}"),
            log.item(refuted, "H5", Bearing.AGAINST),
            grade=Grade.COMPARED,
            was=(State.OPEN, State.SUPPORTED, State.OVERTURNED),
        ),
        standing(6, State.INCONCLUSIVE, log.item(ran[6], "H6", Bearing.NEUTRAL), grade=Grade.COMPARED),
        standing(7, State.OPEN, log.item(read, "H7", Bearing.NEUTRAL), was=(State.OPEN,)),
        standing(
            8,
            State.OPEN,
            log.item(ran[8], "H8", Bearing.NEUTRAL, "the run is invalid: same-config"),
            role=Role.AMPLIFIER,
            role_suggested=True,
            was=(State.OPEN,),
        ),
        standing(9, State.OPEN, was=(State.OPEN,)),
    ]
    spec = CampaignSpec(
        title="Garbled tool calls with bf16 index keys",
        symptoms={
            "garbled": SymptomSpec(
                name="garbled", title="Tool call comes back as text", reference_rate=0.4
            ),
            "wedged": SymptomSpec(name="wedged", title="Transfer never ends"),
        },
        engine="local",
    )
    return Registry(
        root="/somewhere/else",
        spec=spec,
        hypotheses=hypotheses(),
        standings={each.hypothesis: each for each in standings},
        events=tuple(log.events),
        heads=(log.events[-1].digest,),
        runs=runs(),
        edited={"H5": (run_id(2),)},
        problems=(
            Problem(
                file="hypotheses/H09-overlap.yaml",
                line=3,
                column=1,
                what="unknown key 'tittle'",
                hint="did you mean 'title'?",
            ),
        ),
    )


def runs() -> tuple[RunLine, ...]:
    served: Sequence[tuple[str, RunState]] = (
        ("H2", RunState.FINISHED),
        ("H3", RunState.FINISHED),
        ("H5", RunState.FINISHED),
        ("H6", RunState.FINISHED),
        ("H8", RunState.FINISHED),
        ("H5", RunState.FINISHED),
        ("H7", RunState.RUNNING),
    )
    lines = [
        RunLine(
            id=run_id(number),
            path=f"runs/{run_id(number)}",
            command="test",
            state=state,
            hypotheses=(id,),
            created=START + timedelta(hours=number),
            seconds=312.0,
            counts={"control": FAILING, "treatment": Counts(17, 41, 2)},
        )
        for number, (id, state) in enumerate(served)
    ]
    return (
        *lines,
        RunLine(id=run_id(7), path=f"runs/{run_id(7)}", problem="manifest.json:1:9: damaged"),
    )
