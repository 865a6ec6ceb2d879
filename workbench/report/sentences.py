"""One plain sentence a verdict, and the next command: what a tired person needs at night."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from difflib import SequenceMatcher

from workbench.model.plan import Plan
from workbench.model.progress import Snapshot
from workbench.model.verdict import Held, Judgement, Reason, Verdict
from workbench.report.text import inert, percent, points


def sentence(judgement: Judgement, plan: Plan) -> str:
    """Say in one plain sentence what a judgement means."""
    return _SENTENCES[judgement.verdict](judgement, plan)


def asides(judgement: Judgement) -> Iterator[str]:
    """Yield what else must be said of a judgement, a sentence each."""
    present = judgement.verdict is Verdict.PRESENT
    if present and judgement.held is Held.REFUTED:
        yield "The treatment still fails, so this is a part of the cause."
    if present and judgement.held is Held.HELD:
        yield f"The prediction ({judgement.comparison.prediction}) held."
    if judgement.harmful:
        yield "The treatment fails MORE often than the control."


def next_step(judgement: Judgement, snapshot: Snapshot) -> tuple[str, str]:
    """Say what to do next, and give a command for it that can be pasted and adapted."""
    if judgement.comparison.hypothesis is not None:
        return _campaign_step(judgement, snapshot, judgement.comparison.hypothesis)
    folder = shlex.quote(snapshot.folder)
    if "command" not in snapshot.plan.arms[0].settings:  # two equal arms of a campaign's engine
        return "read what was found running", f"workbench explain {snapshot.run}"
    control, treatment = (shlex.quote(_command(snapshot.plan, name)) for name in _pair(judgement))
    compare = "workbench ab --control {} --treatment {}".format
    match judgement.verdict:
        case Verdict.PRESENT:
            what = "put the suspect back into the treatment, and see the symptom return"
            return what, compare("'TREATMENT WITH THE SUSPECT PUT BACK'", treatment)
        case Verdict.PRESENT_BUT_SMALL:
            what = "look for what causes the rest; this treatment is the new control"
            return what, compare(treatment, "'ANOTHER SUSPECT REMOVED'")
        case Verdict.FALSIFIED:
            return "test another suspect", compare(control, "'ANOTHER SUSPECT REMOVED'")
        case Verdict.PREDICTION_REFUTED:
            return "see whether it removes a part of the failures", compare(control, treatment)
        case Verdict.NOT_REPRODUCED:
            command = _command(snapshot.plan, judgement.comparison.control)
            what = "find a load or a setting at which it shows"
            return what, f"workbench measure --trials 1000 -- {command}"
        case Verdict.INCONCLUSIVE if judgement.reason is Reason.BUDGET:
            more = 2 * snapshot.plan.rules.max_blocks
            what = "go on where it stopped; that is the same test, with more blocks"
            return what, f"workbench ab --resume {folder} --max-blocks {more}"
        case Verdict.INCONCLUSIVE:
            return "see what the errored trials have in common", f"workbench explain {folder}"
        case Verdict.INVALID:
            return "see what changed, then start anew", f"workbench explain {folder}"
        case _:
            return "go on", f"workbench ab --resume {folder}"


def _campaign_step(judgement: Judgement, snapshot: Snapshot, id: str) -> tuple[str, str]:
    match judgement.verdict:
        case Verdict.PRESENT:
            what = "see what else bears on it; what would explain this as well is a suspect, too"
            return what, f"workbench show {id}"
        case Verdict.PRESENT_BUT_SMALL:
            return "look for what causes the rest", f"workbench new 'ANOTHER SUSPECT' --parent {id}"
        case Verdict.FALSIFIED:
            return "test another suspect", "workbench status"
        case Verdict.PREDICTION_REFUTED:
            what = "if it may remove a part of the failures, predict how large a part, and test that"
            return what, f"workbench edit {id}"
        case Verdict.NOT_REPRODUCED:
            return "find a load or a setting at which it shows", f"workbench edit {id}"
        case Verdict.INCONCLUSIVE if judgement.reason is Reason.BUDGET:
            return "go on: the same test begins with the blocks it has", f"workbench test {id}"
        case Verdict.INCONCLUSIVE:
            return "see what the errored trials have in common", f"workbench show {id} --failures"
        case Verdict.INVALID:
            return "see what changed, then test it anew", f"workbench explain {snapshot.run}"
        case _:
            return "go on", f"workbench test --resume {snapshot.run}"


def base(plan: Plan, judgement: Judgement) -> str:
    """Give what both arms share: their settings, or their commands with … for what differs."""
    one, other = (plan.arm(name).settings for name in _pair(judgement))
    if "command" not in one:
        shared = [f"{knob}={level}" for knob, level in one.items() if other.get(knob) == level]
        return inert(", ".join(shared)) or "with nothing else set"
    control, treatment = (_command(plan, name).split() for name in _pair(judgement))
    kept: list[str] = []
    for tag, start, end, _, _ in SequenceMatcher(a=control, b=treatment, autojunk=False).get_opcodes():
        kept += control[start:end] if tag == "equal" else ["…"]
    return " ".join(kept) or "…"


def _pair(judgement: Judgement) -> tuple[str, str]:
    return judgement.comparison.control, judgement.comparison.treatment


def _command(plan: Plan, arm: str) -> str:
    return inert(plan.arm(arm).settings.get("command", arm))


def _present(judgement: Judgement, plan: Plan) -> str:
    low, high = judgement.interval
    control, treatment = _pair(judgement)
    return (
        f"{control} fails more often than {treatment}, by {points(low, high)}:"
        " what differs between them matters."
    )


def _small(judgement: Judgement, plan: Plan) -> str:
    control, treatment = _pair(judgement)
    return (
        f"{control} fails more often than {treatment}, but {treatment} removes less than"
        f" {_margin(plan)}: something else causes the rest."
    )


def _falsified(judgement: Judgement, plan: Plan) -> str:
    control, treatment = _pair(judgement)
    return (
        f"{control} shows the symptom, and {treatment} removes less than {_margin(plan)}: what differs"
        f" is not needed on this base ({base(plan, judgement)}). It may still be one of two causes."
    )


def _refuted(judgement: Judgement, plan: Plan) -> str:
    treatment = judgement.comparison.treatment
    return (
        f"{treatment} was said to remove the symptom, and it still fails: the claim is wrong as stated."
    )


def _not_reproduced(judgement: Judgement, plan: Plan) -> str:
    control = judgement.comparison.control
    return (
        f"{control} did not show the symptom often enough to compare: a failed reproduction,"
        " not a cleared suspect."
    )


def _inconclusive(judgement: Judgement, plan: Plan) -> str:
    if judgement.reason is Reason.ERRORS:
        return (
            "the errored or incomplete trials could turn the word either way, so none is given:"
            " no verdict may rest on what was not seen."
        )
    return "the budget is used up before the counts could say a word; nothing is lost by going on."


def _invalid(judgement: Judgement, plan: Plan) -> str:
    details = "; ".join(inert(guard.detail) for guard in judgement.guards)
    return f"something other than what was asked has been tested: {details}."


def _undecided(judgement: Judgement, plan: Plan) -> str:
    return "no word has fallen yet."


def _margin(plan: Plan) -> str:
    margin = plan.rules.margin
    return "half of the failures" if margin is None else f"the margin of {percent(margin)}"


_SENTENCES = {
    None: _undecided,
    Verdict.PRESENT: _present,
    Verdict.PRESENT_BUT_SMALL: _small,
    Verdict.FALSIFIED: _falsified,
    Verdict.PREDICTION_REFUTED: _refuted,
    Verdict.NOT_REPRODUCED: _not_reproduced,
    Verdict.INCONCLUSIVE: _inconclusive,
    Verdict.INVALID: _invalid,
}
