"""An item of evidence as text: what it says, the numbers behind it, and why it may not count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.model.event import Exposed, VerdictGiven
from workbench.model.standing import Item
from workbench.report import imported
from workbench.report.others import in_full
from workbench.report.reasons import (
    arm,
    difference,
    evidence_behind,
    predicted_as,
    source,
    who,
    word,
)
from workbench.report.text import blocks, duration, inert, moment, sentence_of, wrapped


def evidence_lines(title: str, items: Sequence[Item]) -> Iterator[str]:
    """Yield a section of evidence, if there is any."""
    if not items:
        return
    yield ""
    yield f"{title} ({len(items)})"
    for item in items:
        yield from _item(item)


def _item(item: Item) -> Iterator[str]:
    by = f"by {who(item.who, item.agent)}, {moment(item.at)}"
    if item.verdict is None:
        said = inert(item.text) or (imported.in_short(item.counted) if item.counted else "")
        yield from wrapped(f"{item.id}  {item.grade}, {item.bearing}: {said}", hanging=4)
        if item.counted is not None:
            for line in imported.counted_lines(item.counted):
                yield from wrapped(line, indent=6, hanging=2)
        yield f"      {source(item.source)}; {by}"
    else:
        yield from wrapped(
            f"{item.id}  {item.grade}, {item.bearing}: {item.verdict.run} says {word(item.verdict)}"
        )
        yield from (f"      {line}" for line in verdict_lines(item.verdict))
        yield f"      {by}"
    if not item.counts:
        yield from wrapped(f"does not count: {inert(item.why_not) or 'no reason given'}", indent=6)


def _reached(of: Exposed) -> str:
    """Write of each arm whether it reached what was asked for."""
    words = {True: "reached", False: "NOT reached", None: "not looked up"}
    return f"control {words[of.control]}, treatment {words[of.treatment]}"


def verdict_lines(verdict: VerdictGiven) -> Iterator[str]:
    """Yield the numbers behind a verdict."""
    for name, result in verdict.arms.items():
        yield f"{inert(name):<10} {arm(result)}"
    yield f"difference {difference(verdict)}, {blocks(verdict.blocks)}"
    yield f"evidence   {evidence_behind(verdict)}"
    if verdict.predicted:
        yield f"predicted  {predicted_as(verdict.predicted)}: {verdict.prediction}"
    for each in verdict.circumstances.exposed if verdict.circumstances else ():
        yield f"exposed    {inert(each.what)}: {_reached(each)}"
    for guard in verdict.guards:
        yield f"guard      {inert(guard.name)}: {inert(guard.detail)}"
    for note in verdict.notes:
        yield f"note       {inert(note)}"
    for line in in_full(verdict.others):
        yield f"also       {line}"
    if verdict.earlier:
        earlier = sentence_of(f"{each.run} ({blocks(each.blocks)})" for each in verdict.earlier)
        yield f"continues  {earlier}"
    yield f"took       {duration(verdict.seconds)}"
