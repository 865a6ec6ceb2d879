"""The campaign on one screen: what a person reads who comes back after a night.

The record of `status`:
    title, as_of     as_of: time of the newest event, or null
    symptoms         name, title, reference_rate, measured (run, hypothesis, counts, interval) or null,
                     beside (run, hypothesis, arms, rates, blocks, evidence) or null: seen in the newest
                     test of another symptom; reported: id, at, who, agent, text, source
    counts           hypotheses by state
    contested        ids
    matrix           that no run tells the live suspects apart, in words; or empty
    leading          a record of `list` with `because` and `confirming` (see `proofs`), or null
    verdicts         the last few, newest first: run, hypothesis, verdict, prediction, at
    claimed          hypothesis, who, agent, until: who worked on what at that time
    unverified       hypothesis, assumption, text
    deployed         that no run came since the last change went live; empty otherwise
    running          ids of runs
    problems         file, line, column, what, hint
    next             what, command
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from workbench.judge.claims import AtWork, live
from workbench.model.campaign import SymptomSpec
from workbench.model.event import ArmResult
from workbench.model.registry import Registry, RunLine
from workbench.model.run import RunState
from workbench.model.standing import Item, State
from workbench.model.verdict import Other
from workbench.report import proofs, values
from workbench.report.deployed import untested
from workbench.report.matrix import diagnosis
from workbench.report.others import arms_of
from workbench.report.reasons import arm, arms, because, rates
from workbench.report.registry import hypothesis_record, state_words
from workbench.report.sightings import seen, sighting_records
from workbench.report.steps import campaign_step
from workbench.report.suspects import Roster, Suspect, roster
from workbench.report.text import WIDTH, cut, inert, labelled, moment, percent, sentence_of

_SYMPTOMS, _CONTESTED, _VERDICTS, _UNVERIFIED, _RUNNING, _PROBLEMS = 3, 3, 4, 2, 2, 2
_LEADING = 2  # lines of the leading suspect; further lines are taken from the verdicts
_LABEL = 12
Row = tuple[str, str]  # a label, empty where the one above goes on, and a text


def status(registry: Registry) -> Iterator[str]:
    """Yield the screen: at most 24 lines of 80 columns."""
    found = roster(registry)
    yield cut(_title(found), WIDTH)
    for label, text in _rows(found):
        yield cut(f"{label:<{_LABEL}}{text}".rstrip(), WIDTH)


def status_card(registry: Registry) -> tuple[str, list[Row]]:
    """Give the title of the screen and its rows, for faces that have more room than a terminal."""
    found = roster(registry)
    return _title(found, room=len(registry.spec.title)), list(_rows(found))


def status_record(registry: Registry) -> dict[str, Any]:
    """Give the same as JSON values, nothing cut."""
    suspects = roster(registry)
    leading = suspects.leading()
    step = campaign_step(suspects)
    return {
        "title": registry.spec.title,
        "as_of": values.utc(suspects.newest) if suspects.newest else None,
        "symptoms": symptom_records(suspects),
        "counts": {str(state): number for state, number in suspects.counts.items()},
        "contested": [each.id for each in suspects if each.state is State.CONTESTED],
        "matrix": diagnosis(suspects),
        "leading": _leading_record(leading) if leading else None,
        "verdicts": [_verdict_record(item) for _, item in last_verdicts(suspects)],
        "claimed": [claim_record(each) for each in _at_work(suspects)],
        "unverified": unverified_records(suspects),
        "deployed": untested(registry),
        "running": [run.id for run in _running(registry)],
        "problems": values.plain(registry.problems),
        "next": {"what": step.what, "command": step.command},
    }


def measured(suspects: Roster) -> dict[str, tuple[Suspect, Item, ArmResult]]:
    """Find the newest control arm that counts of each symptom: how often it shows as found."""
    found = {}
    for suspect, item in suspects.verdicts():
        verdict = item.verdict
        if verdict is None or verdict.put_back:  # there the control is no longer as it was found
            continue
        control = verdict.arms.get("control")
        if control is not None and control.counts.decided:
            found[verdict.symptom or suspect.symptom] = (suspect, item, control)
    return found


def symptom_texts(suspects: Roster) -> list[tuple[str, str]]:
    """Write of each symptom of the campaign how often it shows, and where that was counted."""
    found = measured(suspects)
    return [
        (name, _shows(found.get(name), beside(suspects, name), spec))
        for name, spec in suspects.registry.spec.symptoms.items()
    ]


def beside(suspects: Roster, symptom: str) -> tuple[Suspect, Item, Other] | None:
    """Find the newest verdict on another symptom whose run also watched this one."""
    found = [
        (suspect, item, item.verdict.others[symptom])
        for suspect, item in suspects.verdicts()
        if item.verdict and symptom in item.verdict.others
    ]
    return found[-1] if found else None


def _shows(
    found: tuple[Suspect, Item, ArmResult] | None,
    elsewhere: tuple[Suspect, Item, Other] | None,
    spec: SymptomSpec,
) -> str:
    if found is not None:
        suspect, item, control = found
        workload = item.verdict.workload if item.verdict else ""
        sent = f", workload {inert(workload)}" if workload else ""
        return f"{arm(control)}, control of {inert(suspect.id)}{sent}"
    if elsewhere is not None:
        suspect, _, other = elsewhere
        return f"in no test of its own; beside {inert(suspect.id)}, {arms_of(other)}"
    if spec.reference_rate is not None:
        return f"{percent(spec.reference_rate)} stated in campaign.yaml; not counted in any test yet"
    return "not counted in any test yet"


def symptom_records(suspects: Roster) -> list[dict[str, Any]]:
    """Give each symptom and how often it shows."""
    found = measured(suspects)
    records = []
    for name, spec in suspects.registry.spec.symptoms.items():
        suspect, item, control = found.get(name, (None, None, None))
        counted = None
        if suspect and item and item.verdict and control:
            ids = {"run": item.verdict.run, "hypothesis": suspect.id}
            interval = [round(bound, 6) for bound in control.interval]
            counted = {**ids, "counts": values.counts(control.counts), "interval": interval}
        reference = {"title": spec.title, "reference_rate": spec.reference_rate}
        elsewhere = None
        if seen := beside(suspects, name):
            suspect, item, other = seen
            run = item.verdict.run if item.verdict else ""
            elsewhere = {"run": run, "hypothesis": suspect.id, **values.other(other)}
        told = sighting_records(suspects.registry, name)
        records.append(
            {"name": name, **reference, "measured": counted, "beside": elsewhere, "reported": told}
        )
    return records


def last_verdicts(suspects: Roster) -> list[tuple[Suspect, Item]]:
    """Give the last few verdicts that count, newest first."""
    return list(reversed(list(suspects.verdicts())))[:_VERDICTS]


def unverified_records(suspects: Roster) -> list[dict[str, Any]]:
    """Give the assumptions of suspects that are not out, as far as nobody has verified them."""
    return [
        {"hypothesis": suspect.id, "assumption": each.assumption.id, "text": each.assumption.text}
        for suspect in suspects
        if not suspect.fallen
        for each in suspect.unverified
    ]


def _title(suspects: Roster, room: int = 0) -> str:
    when = f", as of {moment(suspects.newest)}" if suspects.newest else ""
    title = suspects.registry.spec.title or "campaign without a title"
    return f"{cut(title, max(WIDTH - len(when), room))}{when}"


def _rows(suspects: Roster) -> Iterator[Row]:
    registry = suspects.registry
    symptoms = (
        f"{inert(name)} {'; '.join(filter(None, [text, seen(registry, name)]))}"
        for name, text in symptom_texts(suspects)
    )
    yield from _labelled("symptom", symptoms, _SYMPTOMS)
    yield from _states(suspects)
    contested = (each for each in suspects if each.state is State.CONTESTED)
    yield from _labelled("contested", map(_named, contested), _CONTESTED)
    leading = list(_leading(suspects))
    yield from leading
    undecided = diagnosis(suspects)
    if undecided:
        yield "matrix", undecided
    claimed = sentence_of(map(_claim, _at_work(suspects)), most=3)
    if claimed:
        yield "claimed", claimed
    room = _VERDICTS - max(0, len(leading) - _LEADING) - bool(undecided) - bool(claimed)
    yield from _labelled("verdicts", map(_verdict, last_verdicts(suspects)[:room]), room)
    unverified = [
        f"{inert(each['hypothesis'])} {inert(each['assumption'])}: {inert(each['text'])}"
        for each in unverified_records(suspects)
    ]
    if deployed := untested(registry):
        unverified.insert(0, deployed)
    yield from _labelled("unverified", iter(unverified), _UNVERIFIED)
    running = (f"{inert(run.id)} {run.state}" for run in _running(registry))
    yield from _labelled("running", running, _RUNNING)
    if registry.problems:
        yield "problems", f"{len(registry.problems)} in files: workbench check"
        yield from _labelled("", (str(problem) for problem in registry.problems), _PROBLEMS)
    step = campaign_step(suspects)
    yield "next", step.what
    yield "", step.command


def _leading_record(leading: Suspect) -> dict[str, Any]:
    shown = {"because": because(leading), "confirming": proofs.proof_record(leading)}
    return {**hypothesis_record(leading), **shown}


def _states(suspects: Roster) -> Iterator[Row]:
    states = ", ".join(f"{many} {state}" for state, many in suspects.counts.items())
    total = f"{len(suspects.suspects)}: {states}" if states else "none yet"
    for line in islice(labelled("suspects", total, _LABEL - 1), 2):
        yield line[:_LABEL].rstrip(), line[_LABEL:]


def _leading(suspects: Roster) -> Iterator[Row]:
    leading = suspects.leading()
    if leading is None:
        yield "leading", "none: nothing that counts is for any suspect"
        return
    grade = f", {leading.standing.grade}" if leading.standing.grade else ""
    yield "leading", f"{inert(leading.id)} {leading.state}{grade}: {inert(leading.title)}"
    item = leading.deciding
    yield "", arms(item.verdict) if item and item.verdict else because(leading)
    if shown := proofs.proof_of(leading):
        yield "", proofs.in_short(shown)


def _named(suspect: Suspect) -> str:
    return f"{inert(suspect.id)} {state_words(suspect)}: {inert(suspect.title)}"


def _verdict(pair: tuple[Suspect, Item]) -> str:
    suspect, item = pair
    verdict = item.verdict
    if verdict is None:
        return ""
    back = " (put back)" if verdict.put_back else ""
    return f"{inert(suspect.id)} {verdict.verdict}{back} {rates(verdict)}"


def _verdict_record(item: Item) -> dict[str, Any]:
    verdict = item.verdict
    if verdict is None:
        return {}
    words = {"verdict": str(verdict.verdict), "prediction": str(verdict.prediction)}
    return {"run": verdict.run, "hypothesis": verdict.hypothesis, **words, "at": values.utc(item.at)}


def _at_work(suspects: Roster) -> tuple[AtWork, ...]:
    """Give the claims that stand by the newest event: a report knows no other time."""
    return live(suspects.registry.events, suspects.newest) if suspects.newest else ()


def _claim(of: AtWork) -> str:
    return f"{of.hypothesis} by {of.by} until {moment(of.until)}"


def claim_record(of: AtWork) -> dict[str, Any]:
    """Give who works on a suspect, and until when."""
    who = {"who": of.by.name, "agent": of.by.agent}
    return {"hypothesis": of.hypothesis, **who, "until": values.utc(of.until)}


def _running(registry: Registry) -> list[RunLine]:
    return [run for run in registry.runs if run.state in (RunState.PLANNED, RunState.RUNNING)]


def _labelled(label: str, items: Iterator[str], most: int) -> Iterator[Row]:
    """Yield at most `most` rows, the last of which says how many more there are if any are left."""
    lines = list(items)
    shown = lines if len(lines) <= most else [*islice(lines, most - 1), ""]
    if len(lines) > most:
        shown[-1] = f"and {len(lines) - most + 1} more"
    for place, line in enumerate(shown):
        yield (label if place == 0 else ""), line
