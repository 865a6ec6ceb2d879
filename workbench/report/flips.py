"""What would change where a suspect stands, in words; an item of `flips` in the record of `show`.

Its fields: `change` (strike, assumption, test, put-back), `about` (an item, an assumption, or a
verdict), `run`, and the `state` that it would lead to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from workbench.judge.confirming import Pair
from workbench.judge.flips import Change, Flip, Planned, flips
from workbench.model.event import Exposed
from workbench.model.hypothesis import Test
from workbench.model.registry import Registry
from workbench.model.verdict import Verdict
from workbench.report.suspects import Suspect
from workbench.report.text import inert, sentence_of

NONE = "no single item"


def flips_of(suspect: Suspect, registry: Registry) -> tuple[Flip, ...]:
    """Give the single changes that would change where a suspect stands, the cheapest first."""
    return flips(_planned(suspect, registry), suspect.standing, registry.events)


def flip_lines(found: Sequence[Flip]) -> Iterator[str]:
    """Yield a line for each change, verdicts of one run that lead to one state in one line."""
    if not found:
        yield NONE
    for (change, state), same in groupby(found, key=lambda each: (each.change, each.state)):
        for what in _whats(change, list(same)):
            yield f"{what}: {state}"


def _whats(change: Change, same: Sequence[Flip]) -> Iterator[str]:
    if change is Change.STRIKE:
        for each in same:
            yield f"if {inert(each.about)}{f' ({inert(each.run)})' if each.run else ''} is struck"
    elif change is Change.ASSUMPTION:
        for each in same:
            yield f"if {inert(each.about)} is false, and what rests on it is struck"
    else:
        run = "its test" if change is Change.TEST else "its put-back run"
        yield f"if {run} says {sentence_of((each.about for each in same), most=6)}"


def _planned(suspect: Suspect, registry: Registry) -> Planned:
    file = suspect.hypothesis
    test = file.test if file is not None and not file.missing else None
    open_ones = tuple(each.assumption.id for each in suspect.unverified)
    if test is None:
        return Planned(hypothesis=suspect.id, assumptions=open_ones)
    pair = pair_of(suspect, test, registry)
    back = test.put_back
    put_back = None
    if back is not None:
        put_back = Pair(
            control=back.control,
            treatment=back.treatment,
            symptom=pair.symptom,
            workload=pair.workload,
            engine=pair.engine,
        )
    return Planned(
        hypothesis=suspect.id,
        test=None if is_decided(suspect, pair) else pair,
        put_back=put_back,
        exposed=_asked(test),
        assumptions=open_ones,
    )


def pair_of(suspect: Suspect, test: Test, registry: Registry) -> Pair:
    """Give the arms of a test, with the names that it leaves to the campaign."""
    spec = registry.spec
    workload = test.workload or (next(iter(spec.workloads)) if len(spec.workloads) == 1 else "")
    engine = test.engine or spec.engine
    if not engine and len(spec.engines) == 1:
        engine = next(iter(spec.engines))
    return Pair(
        control=test.control,
        treatment=test.treatment,
        symptom=suspect.symptom,
        workload=workload,
        engine=engine,
    )


def is_decided(suspect: Suspect, pair: Pair) -> bool:
    """Say whether a run of this test has said its word: to run it again would run nothing."""
    return any(
        item.counts
        and item.verdict is not None
        and not item.verdict.put_back
        and item.verdict.verdict is not Verdict.INCONCLUSIVE
        and (item.verdict.arms.keys() >= {"control", "treatment"})
        and _same(Pair.of(item.verdict), pair)
        for item in suspect.standing.items
    )


def _same(one: Pair, other: Pair) -> bool:
    arms = dict(one.control) == dict(other.control) and dict(one.treatment) == dict(other.treatment)
    return arms and one.symptom == other.symptom and one.workload in (other.workload, "")


def _asked(test: Test) -> tuple[Exposed, ...]:
    """Give what the test asks for as proof of a path, as reached where it asks for it."""
    found = []
    for each in test.exposure:
        where = each.get("in", "control")
        if (each.get("at_least") or 0) > 0:
            name = f"metric {each['metric']}" if each.get("metric") else f"log {each.get('log')!r}"
            reached = {role: True if where in ("both", role) else None for role in _ROLES}
            found.append(Exposed(what=name, **reached))
    return tuple(found)


_ROLES = ("control", "treatment")
