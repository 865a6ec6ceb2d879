"""Lists of a campaign, as text and as JSON: hypotheses and runs; the other views are `show` and others.

    list     this module     each hypothesis: state, grade, counts, title
    runs     this module     each run
    status   `status`        the campaign on one screen
    show     `show`          one hypothesis with all that bears on it
    log      `log`           one line an event
    tree     `tree`          the falsification tree, also for Mermaid
    export   `ledger`        the ledger

All of them are drawn from a `Registry` alone: no disk, no clock, no numbers library. A function that
yields lines gives text that is safe to print; one that yields records gives JSON values, one an object,
whose keys stay once published.

A record of `list`:
    id, title, file, symptom, parent, also   as the file states them; file is null if none is valid
    state, grade, role, role_suggested       where it stands; grade and role may be null
    reopened, replaced_by, author, was       was: the states that it went through
    missing                                  what it lacks to be run: prediction, test
    edited                                   runs after which prediction or test was changed
    verdict                                  the one that the state rests on, or null: run, verdict,
                                             prediction, reason, arms (settings, counts, interval), ...
A record of `runs`:
    id, path, command, state, hypotheses, created, seconds, problem
    planned                                  hypothesis to the sha256 of its file as planned
    counts                                   by arm: hit, clean, errored, incomplete
    verdicts                                 what it said: hypothesis, verdict, prediction
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.model.event import VerdictGiven
from workbench.model.registry import Registry, RunLine
from workbench.model.run import RunState
from workbench.report import values
from workbench.report.reasons import arms, bare_counts, word
from workbench.report.suspects import SYMBOLS, Suspect, roster
from workbench.report.text import (
    WIDTH,
    count,
    cut,
    duration,
    inert,
    moment,
    padded,
    printed,
    sentence_of,
)

_STATE = 14  # columns of "x inconclusive"
_GRADE = 11


def hypotheses(registry: Registry) -> Iterator[str]:
    """Yield the list of hypotheses: two lines each where a verdict stands behind the state."""
    yield from printed(_hypotheses(registry))


def hypothesis_records(registry: Registry) -> Iterator[dict[str, Any]]:
    """Yield a record for each hypothesis, by number."""
    for suspect in roster(registry):
        yield hypothesis_record(suspect)


def runs(registry: Registry) -> Iterator[str]:
    """Yield the list of runs, oldest first."""
    yield from printed(_runs(registry))


def run_records(registry: Registry) -> Iterator[dict[str, Any]]:
    """Yield a record for each run, oldest first."""
    said = verdicts(registry)
    for run in registry.runs:
        words = [
            {"hypothesis": id, "verdict": str(each.verdict), "prediction": str(each.prediction)}
            for id, each in said.get(run.id, {}).items()
        ]
        yield {**values.plain(run), "verdicts": words}


def warnings(registry: Registry) -> Iterator[str]:
    """Yield what a reader of any list must know beside it: what is wrong in files or runs."""
    yield from printed(_warnings(registry))


def hypothesis_record(suspect: Suspect) -> dict[str, Any]:
    """Give a hypothesis and where it stands as JSON values."""
    hypothesis, standing, item = suspect.hypothesis, suspect.standing, suspect.deciding
    return {
        "id": suspect.id,
        "title": suspect.title,
        "file": hypothesis.file if hypothesis else None,
        "symptom": suspect.symptom,
        "parent": suspect.parents[0] if suspect.parents else "",
        "also": list(suspect.parents[1:]),
        "state": str(suspect.state),
        "grade": standing.grade and str(standing.grade),
        "role": standing.role and str(standing.role),
        "role_suggested": standing.role_suggested,
        "reopened": standing.reopened,
        "replaced_by": standing.replaced_by,
        "author": standing.author,
        "was": [str(state) for state in standing.was],
        "missing": list(hypothesis.missing) if hypothesis else [],
        "edited": list(suspect.edited),
        "verdict": values.plain(item.verdict) if item else None,
    }


def state_words(suspect: Suspect) -> str:
    """Write symbol and state."""
    return f"{SYMBOLS[suspect.state]} {suspect.state}"


def notes(suspect: Suspect) -> str:
    """Write what must be known before the title: that no valid file has it, that it is reopened."""
    known = [
        "" if suspect.hypothesis else "no valid file",
        "reopened" if suspect.standing.reopened else "",
    ]
    said = ", ".join(filter(None, known))
    return f"({said}) " if said else ""


def _hypotheses(registry: Registry) -> Iterator[str]:
    suspects = roster(registry)
    if not suspects.suspects:
        yield 'no hypotheses yet; name one: workbench new "..."'
        return
    left = max(len(inert(suspect.id)) for suspect in suspects)
    for suspect in suspects:
        grade = str(suspect.standing.grade or "no evidence")
        head = (
            f"{padded(inert(suspect.id), left)}  {state_words(suspect):<{_STATE}}  {grade:<{_GRADE}}  "
        )
        yield head + cut(notes(suspect) + suspect.title, max(WIDTH - len(head), 20))
        item = suspect.deciding
        if item is not None and item.verdict is not None:
            yield f"{'':<{left}}  {word(item.verdict)}: {arms(item.verdict)}"


def _runs(registry: Registry) -> Iterator[str]:
    if not registry.runs:
        yield "no runs yet; begin one: workbench test ID"
    said = verdicts(registry)
    for run in registry.runs:
        yield " ".join([run.id, *filter(None, facts(run))])
        if run.problem:
            yield f"    cannot be read: {run.problem}"
        words = said.get(run.id, {})
        for id, verdict in words.items():
            yield f"    {inert(id)} {word(verdict)}: {arms(verdict)}"
        if run.counts and not words:
            counted = (f"{inert(arm)} {bare_counts(of)}" for arm, of in run.counts.items())
            yield f"    no verdict: {', '.join(counted)}"


def verdicts(registry: Registry) -> dict[str, dict[str, VerdictGiven]]:
    """Give the last verdict on record by run and hypothesis."""
    found: dict[str, dict[str, VerdictGiven]] = {}
    for event in registry.events:
        if isinstance(event.body, VerdictGiven):
            found.setdefault(event.body.run, {})[event.body.hypothesis] = event.body
    return found


def facts(run: RunLine) -> Iterator[str]:
    """Yield what a list says of a run: state, verb, what it serves, when and how long."""
    yield f"{run.state or 'unreadable'}"
    yield f"{inert(run.command)}"
    yield sentence_of(run.hypotheses) or "no hypothesis"
    if run.created is not None:
        yield f"at {moment(run.created)}"
    if run.seconds:
        yield f"for {duration(run.seconds)}"


def _warnings(registry: Registry) -> Iterator[str]:
    if registry.problems:
        yield f"{count(len(registry.problems), 'problem')} in files: workbench check"
    unread = [run for run in registry.runs if run.problem]
    if unread:
        yield f"{count(len(unread), 'run')} cannot be read: workbench runs"
    crashed = [run for run in registry.runs if run.state is RunState.CRASHED]
    if crashed:
        ids = sentence_of((run.id for run in crashed), most=2)
        yield f"{count(len(crashed), 'run')} crashed and can be resumed: {ids}"
    if len(registry.heads) > 1:
        heads = len(registry.heads)
        yield f"the log has {heads} heads: branches were merged, and the next event joins them"
