"""What could be tested next, by bits a minute: what it would tell, what it takes, the command for it.

A record of `next`, best first:
    kind          test, put-back or sufficiency
    hypotheses    those that it would be made for
    control, treatment, symptom, workload, engine      what would be compared
    bits, minutes, bits_a_minute, sessions             expected
    tells         for each pattern: control and treatment (true where it fails), share, and suspects
                  that say so
    claimed       who works on them already: hypothesis, who, agent, until; then it comes last
    seconds       start, session, measured: what the minutes rest on
    command       that runs it, or writes it down
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.judge.next import NONE, Asked, Candidate, Kind
from workbench.judge.patterns import PATTERNS, Pattern
from workbench.report.status import claim_record
from workbench.report.text import (
    count,
    duration,
    inert,
    moment,
    number,
    percent,
    printed,
    sentence_of,
    wrapped,
)

_SHOWN = 5
_SAYS: Mapping[Pattern, str] = {
    (True, False): "the control fails alone",
    (True, True): "both fail",
    (False, False): "neither fails",
    (False, True): "the treatment fails alone",
}


def following(asked: Asked) -> Iterator[str]:
    """Yield what could be tested next, the best few, and the shares that this rests on."""
    return printed(_following(asked))


def next_records(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a record for each candidate, the best first."""
    for each in asked.candidates:
        yield _record(each)


def command(candidate: Candidate) -> str:
    """Give the command that runs a candidate; a sufficiency test has to be written down first."""
    ids = " ".join(map(inert, candidate.hypotheses))
    if candidate.kind is Kind.SUFFICIENCY:
        title = shlex.quote(f"{ids} alone brings it about")
        arms = f"--control {_set(candidate.pair.control)} --treatment {_set(candidate.pair.treatment)}"
        return f"workbench new {title} --parent {ids} --predict removes {arms}"
    return f"workbench test {ids}" + (" --put-back" if candidate.kind is Kind.PUT_BACK else "")


def _set(settings: Mapping[str, str]) -> str:
    return shlex.quote(inert(",".join(f"{knob}={level}" for knob, level in settings.items())))


def _following(asked: Asked) -> Iterator[str]:
    if not asked.candidates:
        yield from _nothing(asked)
        return
    best, *others = asked.candidates[:_SHOWN]
    yield f"next: {_what(best)}"
    yield f"  {command(best)}"
    yield from _telling(best)
    for each in others:
        yield ""
        yield f"or: {_what(each)}"
        yield f"  {command(each)}"
        yield from _telling(each)
    left = len(asked.candidates) - _SHOWN
    if left > 0:
        yield ""
        yield f"and {left} more: workbench next --json"
    yield ""
    yield from _weighed(asked)
    for id, why in asked.refused.items():
        yield from wrapped(f"{inert(id)} is no candidate: {inert(why)}", indent=0, hanging=2)


def _nothing(asked: Asked) -> Iterator[str]:
    yield "nothing that could be run would tell the suspects apart"
    for id, why in asked.refused.items():
        yield from wrapped(f"{inert(id)}: {inert(why)}", hanging=2)
    yield from _weighed(asked)
    alike = [id for shares in asked.shares.values() if len(shares) > 2 for id in shares if id]
    if asked.refused:
        yield f"next: workbench edit {inert(next(iter(asked.refused)))}"
    elif alike:
        yield "next: let the suspects say where they differ, in `fails_when` or in a test"
        yield f"  workbench edit {inert(alike[-1])}"
    else:
        yield 'next: name another suspect: workbench new "..."'


def _weighed(asked: Asked) -> Iterator[str]:
    """Yield the shares of the suspects, where there are any."""
    for symptom, shares in asked.shares.items():
        if any(shares):
            told = f"{inert(symptom) or 'no symptom'}: {_shares(shares)}"
            yield from wrapped(told, indent=0, hanging=2)


def _what(candidate: Candidate) -> str:
    ids = sentence_of(candidate.hypotheses)
    return {
        Kind.TEST: f"test {ids}",
        Kind.PUT_BACK: f"put {ids} back",
        Kind.SUFFICIENCY: f"see whether {ids} alone brings it about, where it was found clean",
    }[candidate.kind]


def _telling(candidate: Candidate) -> Iterator[str]:
    found, times = candidate.worth, candidate.times
    yield (
        f"  {found.bits:.2f} bits in about {duration(60 * found.minutes)}"
        f" ({number(found.rate)} bits a minute)"
    )
    known = "measured" if times.measured else "assumed"
    start = f"{duration(times.start)} a start, " if times.start else ""
    sessions = count(round(found.sessions), "session")
    yield f"  about {sessions}; {start}{duration(times.session)} a session, {known}"
    for pattern, ids in found.groups.items():
        named = sentence_of((id or "none of these" for id in ids), most=8)
        yield from wrapped(f"{_SAYS[pattern]} if it is {named}", indent=2, hanging=2)
    for each in candidate.at_work:
        yield f"  {each.by} works on {each.hypothesis} until {moment(each.until)}"


def _shares(shares: Mapping[str, float]) -> str:
    ranked = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0] == NONE, pair[0]))
    return sentence_of((f"{id or 'none of these'} {percent(share)}" for id, share in ranked), most=10)


def _record(candidate: Candidate) -> dict[str, Any]:
    found, pair, times = candidate.worth, candidate.pair, candidate.times
    return {
        "kind": str(candidate.kind),
        "hypotheses": list(candidate.hypotheses),
        "control": dict(pair.control),
        "treatment": dict(pair.treatment),
        "symptom": pair.symptom,
        "workload": pair.workload,
        "engine": pair.engine,
        "bits": round(found.bits, 4),
        "minutes": round(found.minutes, 3),
        "bits_a_minute": round(found.rate, 4) if found.minutes else None,
        "sessions": round(found.sessions, 1),
        "tells": [
            {
                "control": pattern[0],
                "treatment": pattern[1],
                "share": round(found.shares[pattern], 4),
                "suspects": list(found.groups.get(pattern, ())),
            }
            for pattern in PATTERNS
        ],
        "claimed": [claim_record(each) for each in candidate.at_work],
        "seconds": {"start": times.start, "session": times.session, "measured": times.measured},
        "command": command(candidate),
    }
