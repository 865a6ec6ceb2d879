"""A suspect's section of the ledger: claim, prediction, verdicts, evidence, and who decided what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.judge.discoveries import SHARE, discoveries
from workbench.model.event import VerdictGiven
from workbench.model.hypothesis import Hypothesis
from workbench.model.standing import Item
from workbench.model.verdict import Verdict
from workbench.report import proofs
from workbench.report.changes import Change, changes
from workbench.report.imported import counted_lines
from workbench.report.log import line, ruled
from workbench.report.markdown import heading, link, opening, plain, prose, table
from workbench.report.reasons import (
    arm,
    base,
    because,
    difference,
    differing,
    evidence_behind,
    item_in_short,
    predicted,
    predicted_as,
    settings,
    source,
    who,
    word,
)
from workbench.report.suspects import Checked, Roster, Suspect
from workbench.report.text import blocks, moment, sentence_of

_SHA = 64
_ADDRESS = re.compile(r"https://[a-z.]+(?:/[A-Za-z0-9._%-]+)+/[0-9a-f]{40,64}")
_EFFECTS = (Verdict.PRESENT, Verdict.PRESENT_BUT_SMALL)
_VERDICT_HEAD = (
    "run",
    "verdict",
    "predicted",
    "prediction",
    "control",
    "treatment",
    "difference",
    "evidence",
    "counts",
)
Row = tuple[str, ...]


def surviving(suspects: Roster) -> frozenset[str]:
    """Name the hypotheses whose effect survives that the campaign made many tests (RULES 6).

    Verdicts of one digest are one test, of which the last word counts.
    """
    last: dict[str, VerdictGiven] = {}
    for event in suspects.registry.events:
        body = event.body
        if isinstance(body, VerdictGiven) and body.verdict is not Verdict.INVALID:
            last[_test_of(body)] = body
    kept = discoveries({test: verdict.evidence.no_effect for test, verdict in last.items()})
    deciding = ((suspect.id, suspect.deciding) for suspect in suspects)
    return frozenset(
        id
        for id, item in deciding
        if item is not None
        and item.verdict is not None
        and item.verdict.verdict in _EFFECTS
        and _test_of(item.verdict) in kept
    )


def _test_of(verdict: VerdictGiven) -> str:
    return verdict.digest or verdict.run


def dossier(suspect: Suspect, suspects: Roster, *, survives: bool) -> Iterator[str]:
    """Yield the section of one suspect."""
    standing = suspect.standing
    yield f"### {heading(suspect.id, suspect.title)}"
    yield ""
    grade = f", grade *{standing.grade}*" if standing.grade else ""
    suggested = " (suggested)" if standing.role_suggested else ""
    role = f", role *{standing.role}*{suggested}" if standing.role else ""
    again = "; to be looked at again" if standing.reopened else ""
    yield f"**{str(suspect.state).capitalize()}**{grade}{role}{again}: {plain(because(suspect))}."
    if shown := proofs.proof_of(suspect):
        yield ""
        yield f"Confirmed takes {plain(proofs.in_full(shown))}."
    for run in suspect.edited:
        yield ""
        changed = f"**Prediction or test changed after {plain(run)}.**"
        yield f"{changed} The verdict stands on the copy kept with the run."
    if suspect.hypothesis is not None and suspect.hypothesis.statement:
        for paragraph in prose(suspect.hypothesis.statement):
            yield ""
            yield f"> {paragraph}"
    yield ""
    yield from table(("what", "as written"), _claims(suspect, suspects))
    yield from _verdicts(suspect, survives)
    yield from _given(standing.items)
    yield from _list("Decided", _rulings(suspect))
    yield from _list("Rests on", map(_assumption, suspect.assumptions))
    yield from _list("Noted", (plain(f"{line(event)} ({event.id})") for event in suspect.noted))


def _claims(suspect: Suspect, suspects: Roster) -> Iterator[Row]:
    file = suspect.hypothesis
    if file is not None:
        yield "prediction", plain(predicted(file.prediction))
        yield from _test(file, suspect)
        if file.falsified_by:
            yield "falsified by", plain(file.falsified_by)
        if file.fails_when:
            yield "fails when", plain(settings(file.fails_when))
        if file.component:
            yield "component", plain(file.component)
    for change in changes(suspect, suspects.history):
        yield "change", _change(change)
    for parent in suspect.parents:
        above = suspects.by_id.get(parent)
        if above is None:
            yield "parent", f"{plain(parent)} (no such hypothesis)"
        else:
            yield (
                "parent",
                f"{link(parent)} ({above.state}{': the link is void' if above.fallen else ''})",
            )
    below = suspects.children.get(suspect.id, [])
    if below:
        yield "children", ", ".join(map(link, below))
    yield "proposed by", plain(suspect.standing.author) or "not on record"
    yield "file", plain(file.file) if file else "no valid file"


def _change(change: Change) -> str:
    """Write a change, with a link to it where its address is one that we made."""
    text = plain(str(change))
    address = change.standing.link if change.standing is not None else ""
    return f"{text} ([on the web]({address}))" if _ADDRESS.fullmatch(address) else text


def _test(file: Hypothesis, suspect: Suspect) -> Iterator[Row]:
    test = file.test
    if test is None:
        yield "test", "none written"
        return
    yield "control", plain(settings(test.control))
    yield "treatment", plain(settings(test.treatment))
    many = f", because {test.why_many}" if test.why_many else ""
    yield "differs in", plain(differing(test.control, test.treatment) + many)
    if test.put_back is not None:
        yield "put back, control", plain(settings(test.put_back.control))
        yield "put back, treatment", plain(settings(test.put_back.treatment))
    named = (("symptom", suspect.symptom), ("workload", test.workload), ("engine", test.engine))
    on = ", ".join(f"{what} {name}" for what, name in named if name)
    if on:
        yield "tested on", plain(on)


def _verdicts(suspect: Suspect, survives: bool) -> Iterator[str]:
    rows = [_verdict(item, item.verdict) for item in suspect.standing.items if item.verdict is not None]
    if not rows:
        yield ""
        yield "No run has tested it."
        return
    yield ""
    yield from table(_VERDICT_HEAD, rows)
    item = suspect.deciding
    if item is not None and item.verdict is not None and item.verdict.verdict in _EFFECTS:
        yield ""
        kept = "survives" if survives else "does not survive"
        yield f"Among all tests of the campaign this effect {kept} (e-BH at {SHARE})."


def _verdict(item: Item, verdict: VerdictGiven) -> Row:
    def counted(name: str) -> str:
        return plain(arm(verdict.arms[name])) if name in verdict.arms else "-"

    guards = "".join(f"; {guard.name}: {guard.detail}" for guard in verdict.guards)
    earlier = "".join(f"; continues {each.run} ({blocks(each.blocks)})" for each in verdict.earlier)
    return (
        plain(f"{verdict.run}, {moment(item.at)}"),
        plain(word(verdict) + guards),
        plain(predicted_as(verdict.predicted)),
        str(verdict.prediction),
        counted("control"),
        counted("treatment"),
        plain(f"{difference(verdict)}, {blocks(verdict.blocks)}{earlier}"),
        plain(evidence_behind(verdict)),
        _counts(item),
    )


def _given(items: Iterable[Item]) -> Iterator[str]:
    rows = [
        (
            plain(item.id),
            str(item.bearing),
            str(item.grade),
            plain(_said(item)),
            plain(source(item.source, _SHA)),
            plain(f"{who(item.who, item.agent)}, {moment(item.at)}"),
            _counts(item),
        )
        for item in items
        if item.verdict is None
    ]
    if rows:
        yield ""
        yield from table(("evidence", "bears", "grade", "says", "source", "who, when", "counts"), rows)


def _said(item: Item) -> str:
    counted = "; ".join(counted_lines(item.counted)) if item.counted else ""
    return "; ".join(filter(None, (item.text, counted)))


def _counts(item: Item) -> str:
    return "yes" if item.counts else f"no: {plain(item.why_not) or 'no reason given'}"


def _rulings(suspect: Suspect) -> Iterator[str]:
    for one in suspect.standing.rulings:
        own = " (self-ruled)" if one.self_ruled else ""
        by = f"{who(one.who, one.agent)}{own}, {moment(one.at)}"
        yield opening(f"{by}: {ruled(one.ruling)} ({one.id})")


def _assumption(checked: Checked) -> str:
    found = {True: "holds", False: "does not hold", None: "not verified"}[checked.holds]
    because_ = f" ({checked.because})" if checked.because else ""
    return opening(f"{checked.assumption.id}: {checked.assumption.text}: {found}{because_}")


def _list(title: str, items: Iterable[str]) -> Iterator[str]:
    for place, item in enumerate(items):
        if place == 0:
            yield ""
            yield f"{title}:"
            yield ""
        yield f"- {item}"


def ruled_out(suspect: Suspect) -> Iterator[str]:
    """Yield what the fall of a suspect says, and on which base, so that nobody need find it again."""
    yield f"- {link(suspect.id)} {plain(suspect.title)}: {suspect.state}; {plain(because(suspect))}"
    for item in suspect.standing.items:
        if not item.counts:
            continue
        if item.verdict is None:
            yield f"  - {opening(item_in_short(item))} {item.bearing}: {plain(item.text)}"
            continue
        verdict = item.verdict
        arms = sentence_of(f"{name} {arm(result)}" for name, result in verdict.arms.items())
        found = f"{verdict.run}: {word(verdict)}, {arms}"
        here = "not needed on this base" if verdict.verdict is Verdict.FALSIFIED else "on this base"
        yield f"  - {opening(found)}; {here}: {plain(base(verdict))}"
