"""An A/B that was done by hand, as evidence shows it: what was counted, and what the rules say of it.

The record of `import` has beside id, kind, at and who: hypothesis, bearing, grade, and `counted` with
the fields of the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.model.event import Counted, Event, EvidenceGiven, Per
from workbench.report import values
from workbench.report.reasons import arm, bare_counts, evidence_for, settings
from workbench.report.text import blocks, evidence, inert, points, printed, wrapped


def imported(event: Event) -> Iterator[str]:
    """Yield what was put on record, and where to look at it."""
    return printed(_imported(event))


def imported_record(event: Event) -> dict[str, Any]:
    """Give the same as JSON values."""
    body = event.body
    if not isinstance(body, EvidenceGiven):
        return {}
    bears = [{"hypothesis": id, "bearing": str(bearing)} for id, bearing in body.bears.items()]
    return {**bears[0], "grade": str(body.grade), "counted": values.plain(body.counted)}


def _imported(event: Event) -> Iterator[str]:
    body = event.body
    if isinstance(body, EvidenceGiven) and body.counted is not None:
        for id, bearing in body.bears.items():
            yield from wrapped(
                f"{bearing} {id}, {body.grade}: {in_short(body.counted)}", indent=0, hanging=2
            )
        for line in counted_lines(body.counted):
            yield from wrapped(line, hanging=2)
        yield f"next: workbench show {next(iter(body.bears))}"


def in_short(of: Counted) -> str:
    """Write what was counted, in one line, and the word on it."""
    word = f"{of.verdict} by its counts" if of.verdict is not None else "not judged, per response"
    arms = (f"{inert(name)} {bare_counts(each.counts)}" for name, each in of.arms.items())
    return f"{word}, {', '.join(arms)}"


def counted_lines(of: Counted) -> Iterator[str]:
    """Yield the settings and the numbers behind an A/B done by hand."""
    per = ", per response" if of.per is Per.RESPONSE else ""
    for name, each in of.arms.items():
        counts = bare_counts(each.counts) + per if per else arm(each)
        yield f"{inert(name)} {counts}, with {settings(each.settings)}"
    if of.interval is not None:
        yield f"difference {points(*of.interval)} (control minus treatment), {blocks(len(of.pairs))}"
    if of.evidence is not None:
        against, value = evidence_for(of.verdict, of.evidence, of.margin)
        known = "not defined" if value is None else f"against {against}: {evidence(value, of.alpha)}"
        yield f"evidence {known}"
    for note in of.notes:
        yield f"note: {inert(note)}"
