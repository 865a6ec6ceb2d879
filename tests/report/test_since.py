"""What is new since somebody looked: states that changed and events, whatever the log holds."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.judge.events import ANA, AT, by_hand, event, log, verdict
from workbench.judge.states import standings
from workbench.model.campaign import CampaignSpec
from workbench.model.event import (
    Actor,
    Bearing,
    Body,
    Event,
    Grade,
    Note,
    Proposed,
    Reopened,
    Role,
    Ruling,
)
from workbench.model.hypothesis import Hypothesis
from workbench.model.registry import Registry, Seen
from workbench.model.verdict import Verdict
from workbench.report.since import since, since_record

BODIES: list[Body] = [
    Proposed(hypothesis="H1", file="hypotheses/H01-a.yaml", title="The gate"),
    verdict(Verdict.PRESENT, "H1", "r1"),
    by_hand(Grade.READ, Bearing.AGAINST, "H2"),
    Ruling(hypothesis="H1", because="so it is", role=Role.EXPOSER),
    Note(text="restarts take long", about=("H1",)),
    verdict(Verdict.FALSIFIED, "H1", "r2"),
    Reopened(hypothesis="H1", because="on another base"),
    Proposed(hypothesis="H3", file="hypotheses/H03-c.yaml", title="Another"),
]
EVENTS = tuple(log(BODIES))


def registry(events: tuple[Event, ...] = EVENTS) -> Registry:
    files = tuple(
        Hypothesis(id=id, title=title, file=f"hypotheses/{id}.yaml")
        for id, title in (("H1", "The gate"), ("H2", "The pool"))
    )
    return Registry(
        root="",
        spec=CampaignSpec(title="Garbled"),
        hypotheses=files,
        standings=standings(events, ["H1", "H2"]),
        events=events,
    )


def after(number: int, events: tuple[Event, ...] = EVENTS) -> Seen:
    return Seen(what="then", at=AT + timedelta(minutes=number), events=events[:number])


def test_states_that_changed_and_what_was_put_on_record() -> None:
    lines = list(since(registry(), after(1)))
    assert lines[0] == "since then: 7 events by ana"
    assert "H1  ? open -> ! contested (compared, role exposer, reopened)  The gate" in lines
    assert "H2  ? open -> x falsified (read)  The pool" in lines  # its file came without an event
    assert "H3  new, ? open  Another" in lines
    assert sum("ana: " in line for line in lines) == 7


def test_what_went_there_and_back_is_no_change() -> None:
    struck = Ruling(hypothesis="H1", because="stale code", strikes=("n0001",))
    events = tuple(log([BODIES[0], BODIES[1], struck]))
    lines = list(since(registry(events), after(1, events)))
    assert not any(line.startswith("H1") for line in lines)
    assert len([line for line in lines if "ana: " in line]) == 2


def test_nothing_new_says_so_and_what_to_do() -> None:
    assert next(since(registry(), after(len(EVENTS)))) == "nothing is new since then"
    assert list(since(registry(), after(len(EVENTS))))[-1].startswith("  workbench ")
    empty = registry(())
    assert next(since(empty, after(0, ()))) == "nothing is new since then"
    assert since_record(empty, after(0, ()))["events"] == []


def test_of_many_events_the_newest_are_shown() -> None:
    events = tuple(log([Note(text=f"number {at}") for at in range(60)]))
    lines = list(since(registry(events), after(0, events)))
    assert "and 20 before these: workbench log" in lines
    assert any(line.endswith("note: number 59") for line in lines)
    assert not any(line.endswith("note: number 19") for line in lines)


def test_hostile_words_stay_words() -> None:
    bad = "\x1b[2J\u202e" + "x" * 200
    bodies: list[Body] = [
        Proposed(hypothesis="H3", file=bad, title=bad),
        Note(text=bad, about=("H3",)),
    ]
    events = tuple(event(body, at, Actor(name="ana\u202e")) for at, body in enumerate(bodies))
    for line in since(registry(events), Seen(what=bad, at=AT, events=())):
        assert line.isprintable() or line == ""
    assert since_record(registry(events), Seen(what=bad, at=AT, events=()))["since"] == bad


@given(st.permutations(BODIES), st.integers(0, len(BODIES)))
def test_states_then_with_the_changes_are_the_states_now(bodies: list[Body], seen: int) -> None:
    events = tuple(log(bodies))
    record = since_record(registry(events), after(seen, events))
    assert len(record["events"]) == len(events) - seen
    then = standings(events[:seen], ["H1", "H2", "H3"])
    now = standings(events, ["H1", "H2", "H3"])
    changed = {each["hypothesis"]: each for each in record["states"]}
    for id, standing in now.items():
        if id in changed:
            assert changed[id]["is"]["state"] == standing.state
            was = changed[id]["was"]
            assert was is None or was["state"] == then[id].state
        else:
            assert then[id].state is standing.state
    assert ANA.name in "".join(since(registry(events), after(seen, events))) or seen == len(events)
