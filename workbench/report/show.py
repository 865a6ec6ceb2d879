"""One hypothesis with all that bears on it.

The record of `show` is the record of `list` and beside it:
    because                                    why it is in its state
    confirming                                 how far it is to `confirmed` (see `proofs`), or null
    statement, component, falsified_by, fails_when, prediction, test     from its file
    evidence         id, at, who, agent, grade, bearing, text, source, verdict, counts, why_not
    flips            what would change its state: change, about, run, state (see `flips`)
    rulings          id, at, who, agent, ruling (strikes, role, replaced_by, because), self_ruled
    assumptions      id, text, check, holds, because
    changes          commit, kind, state, effect, because, dead, was_dead, seen, disputed, sha;
                     git: what git says of it as in `commits`, or null
    git              at, name, facts, problem: what they were held against; null if git was not asked
    noted            records of `log`: notes, links to commits, claims, wishes to reopen it
    runs             records of `runs` that serve it
    children         ids
    problems         of its file, when it is not valid: file, line, column, what, hint
    next             what, command
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.errors import UsageError
from workbench.model.commits import History
from workbench.model.event import Bearing
from workbench.model.hypothesis import Hypothesis
from workbench.model.registry import Registry, RunLine
from workbench.model.standing import Ruled
from workbench.report import proofs, values
from workbench.report.changes import changes
from workbench.report.commitrecords import change_record, history_record
from workbench.report.commits import details, held_against
from workbench.report.flips import flip_lines, flips_of
from workbench.report.items import evidence_lines
from workbench.report.log import event_record, line, ruled
from workbench.report.reasons import bare_counts, because, differing, predicted, settings, who
from workbench.report.registry import hypothesis_record, state_words
from workbench.report.steps import next_step
from workbench.report.suspects import Checked, Roster, Suspect, roster
from workbench.report.text import (
    inert,
    labelled,
    moment,
    printed,
    sentence_of,
    wrapped,
)

_LABEL = 13


def show(registry: Registry, id: str, history: History | None = None) -> Iterator[str]:
    """Yield all there is on one hypothesis.

    Args:
        registry: The campaign.
        id: Its id.
        history: What git says of its commits; None where it has none, or nobody asked.

    Raises:
        UsageError: Neither a file nor the log knows the id.
    """
    suspects = roster(registry, history)
    return printed(_show(found(suspects, id), suspects))


def show_record(registry: Registry, id: str, history: History | None = None) -> dict[str, Any]:
    """Give the same as JSON values; raises UsageError for an unknown id."""
    suspects = roster(registry, history)
    suspect = found(suspects, id)
    return {
        **suspect_record(suspect, suspects),
        "flips": values.plain(flips_of(suspect, registry)),
    }


def found(suspects: Roster, id: str) -> Suspect:
    """Look a suspect up; raises UsageError for an unknown id."""
    suspect = suspects.by_id.get(id)
    if suspect is None:
        known = sentence_of(suspects.by_id, most=8)
        hint = f"known: {known}" if known else 'there is none yet: workbench new "..."'
        raise UsageError(f"no hypothesis {inert(id)!r} in this campaign", hint=hint)
    return suspect


def suspect_record(suspect: Suspect, suspects: Roster) -> dict[str, Any]:
    """Give everything on a suspect as JSON values."""
    file, standing, step = suspect.hypothesis, suspect.standing, next_step(suspect)
    stated = {
        "statement": file.statement if file else "",
        "component": file.component if file else "",
        "falsified_by": file.falsified_by if file else "",
        "fails_when": values.plain(file.fails_when) if file else {},
        "prediction": values.plain(file.prediction) if file else None,
        "test": values.plain(file.test) if file else None,
    }
    return {
        **hypothesis_record(suspect),
        "because": because(suspect),
        "confirming": proofs.proof_record(suspect),
        **stated,
        "evidence": values.plain(standing.items),
        "rulings": values.plain(standing.rulings),
        "assumptions": [_assumption_record(each) for each in suspect.assumptions],
        "changes": list(map(change_record, changes(suspect, suspects.history))),
        "git": history_record(suspects.history),
        "noted": [event_record(event) for event in suspect.noted],
        "runs": values.plain(suspects.runs.get(suspect.id, [])),
        "children": list(suspects.children.get(suspect.id, [])),
        "problems": values.plain(_problems(suspect, suspects.registry)),
        "next": {"what": step.what, "command": step.command},
    }


def _assumption_record(checked: Checked) -> dict[str, Any]:
    found = {"holds": checked.holds, "because": checked.because}
    return {**values.plain(checked.assumption), **found}


def _problems(suspect: Suspect, registry: Registry) -> list[Any]:
    """Give problems of files that may be the suspect's, which has no valid one."""
    if suspect.hypothesis is not None:
        return []
    name = f"hypotheses/H{suspect.id[1:].zfill(2)}-"
    return [problem for problem in registry.problems if problem.file.startswith(name)]


def _show(suspect: Suspect, suspects: Roster) -> Iterator[str]:
    yield from wrapped(f"{suspect.id}  {suspect.title}", indent=0)
    yield from _state(suspect)
    for problem in _problems(suspect, suspects.registry):
        yield f"WARNING: {problem}"
    for run in suspect.edited:
        yield from wrapped(
            f"WARNING: prediction or test changed after {run}; the verdict stands on the copy kept with"
            " the run",
            indent=0,
        )
    if suspect.hypothesis is not None:
        yield from _file(suspect.hypothesis, suspect)
    yield from _commits(suspect, suspects.history)
    standing = suspect.standing
    for bearing in Bearing:
        yield from evidence_lines(f"evidence {bearing}", suspect.bearing(bearing))
    idle = [item for item in standing.items if not item.counts]
    yield from evidence_lines("does not count", idle)
    yield from _titled("what would flip it", flip_lines(flips_of(suspect, suspects.registry)))
    yield from _titled("rulings", (each for one in standing.rulings for each in _ruling(one)))
    yield from _titled("assumptions", (_assumption(each) for each in suspect.assumptions))
    yield from _titled("noted", map(line, suspect.noted))
    yield from _titled("runs", map(_run, suspects.runs.get(suspect.id, [])))
    under = (suspects.by_id[id] for id in suspects.children.get(suspect.id, []))
    yield from _titled("children", (f"{each.id}  {state_words(each)}: {each.title}" for each in under))
    step = next_step(suspect)
    yield ""
    yield f"next: {step.what}"
    yield f"  {step.command}"


def _state(suspect: Suspect) -> Iterator[str]:
    standing = suspect.standing
    grade = f", grade {standing.grade}" if standing.grade else ""
    suggested = "suggested role" if standing.role_suggested else "role"
    role = f", {suggested} {standing.role}" if standing.role else ""
    again = ", reopened" if standing.reopened else ""
    yield f"{state_words(suspect)}{again}{grade}{role}"
    yield from wrapped(f"because {because(suspect)}")
    if shown := proofs.proof_of(suspect):
        yield from wrapped(f"confirmed takes {proofs.in_full(shown)}", hanging=2)
    if len(standing.was) > 1:
        yield f"  was {', then '.join(standing.was)}"
    author = f"proposed by {standing.author}" if standing.author else "came without an event"
    where = suspect.hypothesis.file if suspect.hypothesis else "no valid file"
    yield f"  {author}; {where}"


def _file(file: Hypothesis, suspect: Suspect) -> Iterator[str]:
    yield from _paragraph("statement", file.statement)
    yield ""
    for name, text in [*_claims(file, suspect), *_test(file, suspect)]:
        if text:
            yield from labelled(name, text, _LABEL)


def _claims(file: Hypothesis, suspect: Suspect) -> Iterator[tuple[str, str]]:
    yield "prediction", predicted(file.prediction)
    yield "falsified by", file.falsified_by
    yield "fails when", settings(file.fails_when) if file.fails_when else ""
    yield "component", file.component
    yield "parent", sentence_of(suspect.parents)


def _commits(suspect: Suspect, history: History | None) -> Iterator[str]:
    """Yield the changes made because of it, with git's word where it was asked."""
    found = changes(suspect, history)
    if not found:
        return
    yield ""
    yield f"commits, {held_against(history)}" if history is not None and history.at else "commits"
    if history is not None and history.problem:
        yield from wrapped(f"git cannot be asked: {inert(history.problem)}")
    for change in found:
        yield from wrapped(str(change), hanging=4)
        if history is not None:
            yield from details(change, history, indent=2, clues=True)


def _test(file: Hypothesis, suspect: Suspect) -> Iterator[tuple[str, str]]:
    test = file.test
    if test is None:
        yield "test", "none written"
        return
    many = f", because {test.why_many}" if test.why_many else ""
    yield "test", f"differs in {differing(test.control, test.treatment)}{many}"
    yield "  control", settings(test.control)
    yield "  treatment", settings(test.treatment)
    named = (("symptom", suspect.symptom), ("workload", test.workload), ("engine", test.engine))
    yield "  on", ", ".join(f"{what} {name}" for what, name in named if name)
    back = test.put_back
    if back is not None:
        yield "put back", f"differs in {differing(back.control, back.treatment)}"
        yield "  control", settings(back.control)
        yield "  treatment", settings(back.treatment)


def _ruling(one: Ruled) -> Iterator[str]:
    own = " (self-ruled)" if one.self_ruled else ""
    yield f"{one.id}  {moment(one.at)}, {who(one.who, one.agent)}{own}: {ruled(one.ruling)}"


def _assumption(checked: Checked) -> str:
    found = {True: "holds", False: "does NOT hold", None: "unverified"}[checked.holds]
    because_ = f" ({inert(checked.because)})" if checked.because else ""
    return f"{checked.assumption.id}  {found}: {inert(checked.assumption.text)}{because_}"


def _run(run: RunLine) -> str:
    counted = (f"{inert(name)} {bare_counts(counts)}" for name, counts in run.counts.items())
    return "  ".join([f"{run.id} {run.state or 'unreadable'}", ", ".join(counted)])


def _titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a section, if it has lines."""
    for place, text in enumerate(lines):
        if place == 0:
            yield ""
            yield title
        yield from wrapped(text, hanging=4)


def _paragraph(title: str, text: str) -> Iterator[str]:
    if text.strip():
        yield ""
        yield title
        yield from wrapped(text)
