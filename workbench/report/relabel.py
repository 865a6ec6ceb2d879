"""A run whose stored replies were labelled again, as text and as a record.

The record of `relabel`: run, command, hypotheses, symptom, classifier, origin, as_recorded, watched,
labels (before, now, times), relabelled, not_kept, altered, changed, arms (arm, sampled, before, now,
moved), examples (key, before, now, was, status, text), problems. It holds no verdict: that on record
stands.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from workbench.model.outcome import Label
from workbench.model.relabelled import Change, Origin, Relabelled, Shift
from workbench.report import values
from workbench.report.figures import rate_and_rest
from workbench.report.text import count, inert, printed, sentence_of

_LINES = 4  # of a reply; the run has all of it
_LONGEST = 200  # characters of such a line
_KINDS = 20  # rows of the table of labels
_ORIGINS = {
    Origin.PLAN: "as the run was planned",
    Origin.CAMPAIGN: "as campaign.yaml states it now",
    Origin.SYMPTOM: "as the symptom is stated now",
    Origin.CLASSIFIER: "as named",
}


def relabel(found: Relabelled) -> Iterator[str]:
    """Yield what changes when a run is labelled again."""
    return printed(_relabel(found))


def relabel_record(found: Relabelled) -> dict[str, Any]:
    """Give the same as JSON values."""
    record = values.plain(found)
    assert isinstance(record, dict)
    return record


def _relabel(found: Relabelled) -> Iterator[str]:
    for problem in found.problems:
        yield f"WARNING: {problem}"
    by = f"{found.classifier}, {_ORIGINS[found.origin]}"
    yield f"run {found.run}, symptom {found.symptom}, labelled again by {by}"
    left = f"; of {found.not_kept} the reply was not kept, their label stays" if found.not_kept else ""
    yield f"{count(found.relabelled, 'exchange')} labelled again{left}"
    if found.altered:
        replies = count(found.altered, "reply is", "replies are")
        yield f"{replies} kept cut or masked, and labelled as kept"
    if found.labels:
        yield ""
        yield from _labels(found)
    yield ""
    yield "sessions:" if found.watched else "sessions (the run did not watch this symptom):"
    for shift in found.arms:
        yield from _shift(shift)
    yield from _examples(found)
    yield ""
    yield "Nothing was written. The verdict on record stands: it rests on the labels of its time."
    what, command = _next_step(found)
    yield f"next: {what}"
    yield f"  {command}"


def _labels(found: Relabelled) -> Iterator[str]:
    shown = found.labels[:_KINDS]
    left = max(len("label before"), *(len(inert(pair.before)) for pair in shown))
    right = max(len("label now"), *(len(inert(pair.now)) for pair in shown))
    yield f"  {'label before':<{left}}  {'label now':<{right}}  exchanges"
    for pair in shown:
        mark = "" if pair.before == pair.now else "  changed"
        yield f"  {inert(pair.before):<{left}}  {inert(pair.now):<{right}}  {pair.times:>9}{mark}"
    if len(found.labels) > _KINDS:
        yield f"  and {len(found.labels) - _KINDS} more pairs"


def _shift(shift: Shift) -> Iterator[str]:
    name = f"{shift.arm}{' (sampled)' if shift.sampled else ''}"
    now = rate_and_rest(shift.now)
    if shift.before is None:
        yield f"  {name:<10} now {now}"
    elif not shift.moved:
        yield f"  {name:<10} {now}, as before"
    else:
        moved = ", ".join(f"{times} {way}" for way, times in shift.moved.items())
        yield f"  {name:<10} before {rate_and_rest(shift.before)}"
        yield f"  {'':<10} now    {now}: {moved}"


def _examples(found: Relabelled) -> Iterator[str]:
    if not found.changed:
        return
    yield ""
    shown = len(found.examples)
    few = f", {shown} of them" if shown < found.changed else ""
    yield f"{count(found.changed, 'exchange')} changed{few}:"
    for change in found.examples:
        yield from _change(change)


def _change(change: Change) -> Iterator[str]:
    status = f"{change.was} -> {change.status}" if change.was is not None else f"{change.status}"
    yield f"  {change.key}: {status}"
    if change.before == change.now:
        yield f"    label  {_said(change.now)}"
    else:
        yield f"    before {_said(change.before)}"
        yield f"    now    {_said(change.now)}"
    lines = change.text.splitlines()
    for line in lines[:_LINES]:
        cut = "..." if len(line) > _LONGEST else ""
        yield f"    | {line[:_LONGEST]}{cut}"
    if len(lines) > _LINES:
        yield f"    | ... {count(len(lines) - _LINES, 'more line')}"


def _said(label: Label) -> str:
    return f"{label.word} ({label.rule})" if label.rule else label.word


def _next_step(found: Relabelled) -> tuple[str, str]:
    """Say what would have to be done for a verdict under these labels."""
    tests = f"workbench test {' '.join(map(_word, found.hypotheses))}"
    if not found.changed and found.watched:
        return "nothing changes; see how it was judged", f"workbench explain {_word(found.run)}"
    if found.origin is Origin.SYMPTOM:
        what = f"for a verdict on {inert(found.symptom)}, test a suspect of that symptom: a new test"
        return what, f"workbench new 'A SUSPECT' --symptom {_word(found.symptom)}"
    if not found.hypotheses:
        return (
            "for a verdict under these labels, run it anew",
            f"workbench {_word(found.command)} --help",
        )
    served = sentence_of(found.hypotheses)
    if found.origin is Origin.CLASSIFIER:
        what = f"for a verdict, state it in campaign.yaml and test {served} anew: it is a new test then"
        return what, tests
    if found.as_recorded:
        what = (
            f"the classifier is stated as it was, so a test of {served} would go on from the labels on"
            " record; stated otherwise, or with another prediction, it is a new test"
        )
        return what, f"workbench edit {_word(found.hypotheses[0])}"
    return f"for a verdict under these labels, test {served} anew: it is a new test now", tests


def _word(text: str) -> str:
    """Give a text as one word of a command that can be pasted."""
    return shlex.quote(inert(text))
