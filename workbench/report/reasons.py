"""Why a suspect stands where it stands, and what to do about it next: a sentence and a command each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.model.event import WORDS, ArmResult, Bearing, Source, VerdictGiven
from workbench.model.hypothesis import Settings
from workbench.model.outcome import Counts
from workbench.model.prediction import Prediction
from workbench.model.run import RunState
from workbench.model.standing import Item, State
from workbench.model.verdict import Held
from workbench.report.suspects import Roster, Suspect
from workbench.report.text import count, hits, inert, percent, points, sentence_of, with_rest


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What to do next: in words, and the command that does it or begins it."""

    what: str
    command: str


def because(suspect: Suspect) -> str:
    """Say why a suspect is in its state."""
    items_for = suspect.bearing(Bearing.FOR)
    items_against = suspect.bearing(Bearing.AGAINST)
    neutral = suspect.bearing(Bearing.NEUTRAL)
    match suspect.state:
        case State.OPEN if not suspect.standing.items:
            return "nothing bears on it yet"
        case State.OPEN:
            return "nothing that bears on it counts any more"
        case State.INCONCLUSIVE:
            return f"what there is speaks neither for nor against it: {_named(neutral)}"
        case State.CONTESTED:
            return f"{_named(items_for)}, and against it {_named(items_against)}"
        case State.SUPPORTED:
            return f"{_named(items_for)}; nothing that counts is against it"
        case State.CONFIRMED:
            return f"removed and put back: {_named(items_for)}; nothing that counts is against it"
        case State.FALSIFIED:
            return f"{_named(items_against)}; nothing that counts is for it"
        case State.OVERTURNED:
            now = f"it was {_was(suspect)}, and now {_named(items_against)}"
            return f"{now}; nothing that counts is for it"
        case State.SUPERSEDED:
            return _superseded(suspect)


def _named(items: Sequence[Item]) -> str:
    return sentence_of((item_in_short(item) for item in items), most=3) or "nothing"


def _was(suspect: Suspect) -> str:
    held = [state for state in suspect.standing.was if state in (State.CONFIRMED, State.SUPPORTED)]
    return held[-1].value if held else "supported"


def _superseded(suspect: Suspect) -> str:
    by = suspect.standing.replaced_by
    ruled = next((each for each in reversed(suspect.standing.rulings) if each.ruling.replaced_by), None)
    if ruled is None:
        return f"{inert(by)} replaces it"
    return f"{inert(ruled.who)} ruled that {inert(by)} replaces it: {inert(ruled.ruling.because)}"


def item_in_short(item: Item) -> str:
    """Name an item of evidence and what it says."""
    if item.verdict is not None:
        return f"{item.verdict.run} says {word(item.verdict)}"
    return f"{item.id} ({item.grade})"


def word(verdict: VerdictGiven) -> str:
    """Write the word of a verdict with what belongs to it."""
    notes = [str(verdict.reason)] if verdict.reason is not None else []
    if verdict.prediction is not Held.UNTESTED:
        notes.append(f"prediction {verdict.prediction}")
    if verdict.harmful:
        notes.append("the treatment fails more often")
    return f"{verdict.verdict} ({'; '.join(notes)})" if notes else str(verdict.verdict)


def arm(result: ArmResult) -> str:
    """Write what an arm counted: hits of decided sessions with the interval, and what was neither."""
    return with_rest(hits(result.counts, result.interval), result.counts)


def arms(verdict: VerdictGiven) -> str:
    """Write what both arms counted."""
    return ", ".join(f"{inert(name)} {arm(result)}" for name, result in verdict.arms.items())


def bare_counts(counts: Counts) -> str:
    """Write counts of an arm that nobody has judged: k of n and no interval."""
    return with_rest(f"{counts.hit}/{counts.decided}", counts)


def difference(verdict: VerdictGiven) -> str:
    """Write the interval of the difference between the arms."""
    return f"{points(*verdict.interval)} (control minus treatment)"


def predicted(prediction: Prediction | None) -> str:
    """Write a prediction as rates of the arms."""
    if prediction is None:
        return "none written"
    control = "not stated" if prediction.control is None else percent(prediction.control)
    if prediction.removes:
        return f"control {control}, treatment removes the symptom"
    treatment = "not stated" if prediction.treatment is None else percent(prediction.treatment)
    return f"control {control}, treatment {treatment}"


def predicted_as(text: str) -> str:
    """Write a prediction that a verdict carries as `C:T`; what is no prediction stands as it is."""
    try:
        return predicted(Prediction.parse(text))
    except ValueError:
        return inert(text) or "none written"


def settings(of: Settings) -> str:
    """Write settings of an arm."""
    return ", ".join(f"{inert(knob)} {inert(level)}" for knob, level in of.items()) or "no settings"


def base(verdict: VerdictGiven) -> str:
    """Write the settings that the arms of a verdict share: what its word was found on."""
    control, treatment = verdict.arms.get("control"), verdict.arms.get("treatment")
    if control is None or treatment is None:
        return "unknown"
    shared = {k: v for k, v in control.settings.items() if treatment.settings.get(k) == v}
    return settings(shared) if shared else "nothing else set"


def differing(control: Settings, treatment: Settings) -> str:
    """Name the knobs in which two arms differ."""
    knobs = dict.fromkeys([*control, *treatment])
    return sentence_of(knob for knob in knobs if control.get(knob) != treatment.get(knob)) or "nothing"


def source(of: Source, digits: int = 12) -> str:
    """Write where evidence comes from, commits by so many digits."""
    place = inert(of.path) + (f":{of.line}" if of.line is not None else "")
    if of.commit:
        place = (
            f"{inert(of.commit)[:digits]}:{place}" if place else f"commit {inert(of.commit)[:digits]}"
        )
    parts = [f"run {inert(of.run)}" if of.run else "", place, inert(of.text)]
    return "; ".join(part for part in parts if part) or "not stated"


def who(name: str, agent: bool) -> str:
    """Write who did something; a program that acts for somebody is marked."""
    return f"{inert(name)} (agent)" if agent else inert(name)


def next_step(suspect: Suspect) -> Step:
    """Say what would move a suspect on."""
    id, state = inert(suspect.id), suspect.state
    if suspect.hypothesis is None:
        return Step(what="mend or restore its file", command="workbench check")
    if suspect.standing.reopened:
        return _test(suspect, "look at it again, as asked")
    if suspect.fallen:
        what = "nothing, it is out; to look at it again all the same"
        return Step(what=what, command=f'workbench reopen {id} --because "..."')
    if state is State.CONFIRMED:
        return Step(what="write it up", command="workbench export")
    if state is State.SUPPORTED and suspect.standing.grade not in WORDS:
        return _put_back(suspect)
    if state is State.CONTESTED:
        return _test(suspect, "let a run decide between what is for and what is against it")
    if state is State.INCONCLUSIVE:
        return _test(suspect, "go on with its test; blocks that are in count")
    return _test(suspect, "test it")


def _put_back(suspect: Suspect) -> Step:
    id, test = inert(suspect.id), suspect.hypothesis.test if suspect.hypothesis else None
    if test is None or test.put_back is None:
        what = "write `test.put_back`, then put the cause back and see the symptom return"
        return Step(what=what, command=f"workbench edit {id}")
    what = "put the cause back and see the symptom return"
    return Step(what=what, command=f"workbench test {id} --put-back")


def _test(suspect: Suspect, what: str) -> Step:
    id, hypothesis = inert(suspect.id), suspect.hypothesis
    if hypothesis is not None and hypothesis.missing:
        missing = " and ".join(hypothesis.missing)
        return Step(what=f"write its {missing}", command=f"workbench edit {id}")
    return Step(what=what, command=f"workbench test {id}")


def campaign_step(roster: Roster) -> Step:
    """Say what would move the campaign on: mend what hides something, then test what is undecided."""
    registry = roster.registry
    if registry.problems:
        what = f"mend {count(len(registry.problems), 'problem')} in files"
        return Step(what=what, command="workbench check")
    running = [run for run in registry.runs if run.state is RunState.RUNNING]
    if running:
        return Step(what=f"wait for {inert(running[0].id)}", command="workbench runs")
    if not roster.suspects:
        return Step(what="name a suspect", command='workbench new "..."')
    pending = [suspect for suspect in roster if _urgency(suspect) is not None]
    if pending:
        first = min(pending, key=lambda suspect: _urgency(suspect) or 0)
        step = next_step(first)
        return Step(what=f"{inert(first.id)}: {step.what}", command=step.command)
    if any(suspect.state is State.CONFIRMED for suspect in roster):
        return Step(what="write it up", command="workbench export")
    return Step(what="every suspect is out: name another", command='workbench new "..."')


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
