"""Why a suspect stands where it stands: verdicts, evidence and settings in the words of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.model.event import ArmResult, Bearing, Source, VerdictGiven
from workbench.model.hypothesis import Settings
from workbench.model.hypothesis import differing as differing_knobs
from workbench.model.outcome import Counts
from workbench.model.prediction import Prediction
from workbench.model.standing import Item, State
from workbench.model.verdict import Evidence, Held, Verdict
from workbench.report.suspects import Suspect
from workbench.report.text import (
    evidence,
    hits,
    hits_in_short,
    inert,
    percent,
    points,
    sentence_of,
    with_rest,
)


def because(suspect: Suspect) -> str:
    """Say why a suspect is in its state."""
    items_for = suspect.bearing(Bearing.FOR)
    items_against = suspect.bearing(Bearing.AGAINST)
    neutral = suspect.bearing(Bearing.NEUTRAL)
    match suspect.state:
        case State.OPEN if not suspect.standing.items:
            return "nothing bears on it yet"
        case State.OPEN if not neutral:
            return "nothing that bears on it counts any more"
        case State.OPEN | State.INCONCLUSIVE:
            return f"what there is speaks neither for nor against it: {_named(neutral)}"
        case State.CONTESTED:
            return f"for it {_named(items_for)}, and against it {_named(items_against)}"
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
    notes = ["put back"] if verdict.put_back else []
    notes += [str(verdict.reason)] if verdict.reason is not None else []
    if verdict.prediction is not Held.UNTESTED and verdict.verdict is not Verdict.PREDICTION_REFUTED:
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


def rates(verdict: VerdictGiven) -> str:
    """Write the rates of control and treatment alone, where space is short."""
    arms = (hits_in_short(result.counts, result.interval) for result in verdict.arms.values())
    return " against ".join(arms)


def evidence_for(
    word: Verdict | None, values: Evidence, margin: float | None
) -> tuple[str, float | None]:
    """Give what the evidence is against that a word rests on, or that came nearest to one; and it."""
    match word:
        case Verdict.FALSIFIED:
            return "half removed" if margin is None else f"effect >= {margin:g}", values.margin
        case Verdict.PREDICTION_REFUTED:
            return "removes", values.treatment_clean
        case Verdict.NOT_REPRODUCED:
            return "control shows it", values.control_high
        case _:
            return "no effect", values.no_effect


def evidence_behind(verdict: VerdictGiven) -> str:
    """Write the evidence that a word rests on, or that came nearest to one, and what it is against."""
    against, value = evidence_for(verdict.verdict, verdict.evidence, verdict.margin)
    return "not defined" if value is None else f"against {against}: {evidence(value, verdict.alpha)}"


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
    return sentence_of(differing_knobs(control, treatment)) or "nothing"


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
