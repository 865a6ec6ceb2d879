"""What to do next about a suspect or the whole campaign: a sentence and a command each."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.model.event import WORDS
from workbench.model.run import RunState
from workbench.model.standing import State
from workbench.report import proofs
from workbench.report.suspects import Roster, Suspect
from workbench.report.text import count, inert


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What to do next: in words, and the command that does it or begins it."""

    what: str
    command: str


def next_step(suspect: Suspect) -> Step:
    """Say what would move a suspect on."""
    id, state = inert(suspect.id), suspect.state
    if suspect.hypothesis is None:
        return Step(what="mend or restore its file", command="workbench check")
    if suspect.standing.reopened:
        return _test(suspect, "look at it again, as asked")
    if suspect.fallen:
        what = "it is out; whoever wants it looked at again says why"
        return Step(what=what, command=f'workbench reopen {id} --because "..."')
    if state is State.CONFIRMED:
        return Step(what="write it up", command="workbench export")
    if state is State.SUPPORTED and suspect.standing.grade not in WORDS:
        return _confirm(suspect) or _rival(suspect)
    if state is State.CONTESTED:
        return _test(suspect, "let a run decide between what is for and what is against it")
    if state is State.INCONCLUSIVE:
        return _test(suspect, "go on with its test; blocks that are in count")
    return _test(suspect, "test it")


def _confirm(suspect: Suspect) -> Step | None:
    """Say what is missing to confirm a suspect that a run has removed; None if nothing would do it."""
    if suspect.deciding is None and any(
        each.counted and each.counts for each in suspect.standing.items
    ):
        return _test(suspect, "test it in a run: an A/B by hand confirms nothing")
    found = proofs.proof_of(suspect)
    command = proofs.command(suspect, found) if found is not None else ""
    if found is None or not command:
        return None
    if found.lacks == "b":
        stated = command.startswith("workbench test")
        what = "put it back, to confirm it" if stated else "write its put_back, to confirm it"
        return Step(what=what, command=command)
    if suspect.standing.role is not None and not suspect.standing.role_suggested:
        return None  # somebody has decided what it is
    what = "count its own path in both arms (exposure, `in: both`), or rule what its role is"
    return Step(what=what, command=command)


def _rival(suspect: Suspect) -> Step:
    what = "name what would explain it as well, and test that"
    return Step(what=what, command=f'workbench new "..." --parent {inert(suspect.id)}')


def _test(suspect: Suspect, what: str) -> Step:
    id, hypothesis = inert(suspect.id), suspect.hypothesis
    if hypothesis is not None and hypothesis.missing:
        missing = " and ".join(hypothesis.missing)
        return Step(what=f"write its {missing}", command=f"workbench edit {id}")
    return Step(what=what, command=f"workbench test {id}")


def campaign_step(roster: Roster) -> Step:
    """Say what to do now: wait for what is running, else what would move the campaign on."""
    running = [run for run in roster.registry.runs if run.state is RunState.RUNNING]
    if running:
        return Step(what=f"wait for {inert(running[0].id)}", command="workbench runs")
    return next_of_all(roster)


def next_of_all(roster: Roster) -> Step:
    """Say what would move the campaign on, the most pressing first."""
    pending = [suspect for suspect in roster if _urgency(suspect) is not None]
    if pending:
        first = min(pending, key=lambda suspect: _urgency(suspect) or 0)
        step = next_step(first)
        return Step(what=f"{inert(first.id)}: {step.what}", command=step.command)
    if any(suspect.state is State.CONFIRMED for suspect in roster):
        return Step(what="write it up", command="workbench export")
    problems = roster.registry.problems
    if problems:
        what = f"mend {count(len(problems), 'problem')} in files"
        return Step(what=what, command="workbench check")
    what = "every suspect is out: name another" if roster.suspects else "name a suspect"
    return Step(what=what, command='workbench new "..."')


def _urgency(suspect: Suspect) -> int | None:
    """Rank what awaits a decision, the most pressing first; None for what awaits none."""
    if suspect.standing.reopened and suspect.runnable:
        return 0
    if suspect.fallen or suspect.state is State.CONFIRMED or suspect.hypothesis is None:
        return None
    if not suspect.runnable:
        return 5
    ranks = {State.CONTESTED: 1, State.SUPPORTED: 2, State.OPEN: 3, State.INCONCLUSIVE: 4}
    return ranks[suspect.state]
