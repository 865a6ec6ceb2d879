"""Who works on what: the last word of each person stands until its time."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.judge.events import ANA, AT, event
from workbench.judge.claims import AtWork, live
from workbench.judge.states import standings
from workbench.model.event import Actor, Claim

BOT = Actor(name="ana", agent=True)
PEOPLE = (ANA, BOT, Actor(name="ben"))


def claim(id: str, minutes: int) -> Claim:
    return Claim(hypothesis=id, until=AT + timedelta(minutes=minutes))


def test_the_last_word_of_each_stands_until_its_time() -> None:
    log = [
        event(claim("H1", 60), 0, ANA),
        event(claim("H2", 30), 1, BOT),
        event(claim("H1", 20), 2, ANA),
    ]
    after = AT + timedelta(minutes=3)
    assert live(log, after) == (
        AtWork(hypothesis="H1", by=ANA, until=AT + timedelta(minutes=20)),
        AtWork(hypothesis="H2", by=BOT, until=AT + timedelta(minutes=30)),
    )
    assert [each.hypothesis for each in live(log, AT + timedelta(minutes=20))] == ["H2"]
    assert live(log, AT + timedelta(minutes=30)) == ()


def test_it_changes_where_nothing_stands() -> None:
    assert standings([event(claim("H1", 60))], ["H1"]) == standings([], ["H1"])


CLAIMS = st.lists(
    st.tuples(st.sampled_from(["H1", "H2"]), st.integers(-5, 20), st.sampled_from(PEOPLE)), max_size=12
)


@given(CLAIMS, st.integers(0, 20))
def test_each_person_has_one_claim_on_a_suspect_at_most(
    claims: list[tuple[str, int, Actor]], at: int
) -> None:
    log = [event(claim(id, until), place, by) for place, (id, until, by) in enumerate(claims)]
    found = live(log, AT + timedelta(minutes=at))
    keys = [(each.hypothesis, each.by) for each in found]
    assert len(keys) == len(set(keys))
    for each in found:
        last = [until for id, until, by in claims if (id, by) == (each.hypothesis, each.by)][-1]
        assert each.until == AT + timedelta(minutes=last)
        assert last > at
