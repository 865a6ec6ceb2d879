"""The first ten lines of the ledger: what a reader must know who reads no further."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.model.event import WORDS, ArmResult, VerdictGiven
from workbench.model.registry import Registry
from workbench.model.standing import Item, State
from workbench.report import proofs, values
from workbench.report.changes import changes
from workbench.report.deployed import untested
from workbench.report.markdown import code, link, plain
from workbench.report.matrix import diagnosis
from workbench.report.others import of_arm
from workbench.report.reasons import arm, arms, because, settings, word
from workbench.report.sightings import seen
from workbench.report.status import symptom_texts
from workbench.report.steps import next_of_all
from workbench.report.suspects import Roster, Suspect
from workbench.report.text import count, duration, moment

REFUTED = (State.FALSIFIED, State.OVERTURNED)
_SYMPTOMS = 3
_LINKED = 12


def headlines(suspects: Roster) -> Iterator[str]:
    """Yield the first ten lines of the ledger."""
    registry = suspects.registry
    yield f"# Ledger: {plain(registry.spec.title) or 'a campaign without a title'}"
    when = f"as of {moment(suspects.newest)}" if suspects.newest else "the log is empty"
    yield f"- **Status** ({when}): {plain(status_sentence(suspects))}"
    texts = symptom_texts(suspects)
    shown = [
        f"{plain(name)} {plain('; '.join(filter(None, [text, seen(registry, name)])))}"
        for name, text in texts[:_SYMPTOMS]
    ]
    more = [f"and {len(texts) - _SYMPTOMS} more"] if len(texts) > _SYMPTOMS else []
    yield f"- **Symptom**: {'; '.join([*shown, *more]) or 'none is named'}"
    yield f"- **Safe today**: {_safe(suspects)}"
    yield f"- **Leading cause**: {_leading(suspects)}"
    out = [suspect for suspect in suspects if suspect.state in REFUTED]
    yield f"- **Refuted**: {_links(out)}"
    yield f"- **Not verified**: {_unverified_in_short(suspects)}"
    yield f"- **Reproduce**: {_reproduce(suspects)}"
    step = next_of_all(suspects)
    yield f"- **Next**: {plain(step.what)}: {code(step.command)}"
    took = spent(registry)
    sessions = count(took["sessions"], "session")
    runs = count(took["runs"], "run")
    ran = f"{duration(took['seconds'])} of running, {sessions} in {runs}"
    yield f"- **Spent**: {ran if took['runs'] else 'nothing, no run yet'}"


def status_sentence(suspects: Roster) -> str:
    """Say how far the campaign is."""
    counts = ", ".join(f"{number} {state}" for state, number in suspects.counts.items())
    return f"{_verdict_of_all(suspects)}; suspects: {counts or 'none'}"


def _verdict_of_all(suspects: Roster) -> str:
    leading = suspects.leading()
    if leading is None:
        return "no cause is known"
    if leading.state is State.CONFIRMED:
        return f"{leading.id} is confirmed as a cause: removed and put back"
    if leading.state is State.CONTESTED:
        return f"{leading.id} leads and is contested; no cause is confirmed"
    if leading.standing.grade in WORDS:
        return f"{leading.id} is argued for, and no run stands behind it"
    return f"{leading.id} is supported ({leading.standing.grade}); no cause is confirmed"


def _safe(suspects: Roster) -> str:
    clean = newest_clean(suspects)
    if clean is None:
        return "nothing is shown to be clean"
    suspect, item, result = clean
    run, workload = (item.verdict.run, item.verdict.workload) if item.verdict else ("", "")
    sent = f", workload {plain(workload)}" if workload else ""
    where = f"{link(suspect.id)}, {plain(run)}, {moment(item.at)}{sent}"
    return (
        f"{plain(settings(result.settings))}: {plain(arm(result))} ({where});"
        f"{_beside(suspects, item)} what it costs in latency and throughput is not measured"
    )


def _beside(suspects: Roster, item: Item) -> str:
    """Say what the safe arm showed of the campaign's other symptoms, and of which nobody knows."""
    verdict = item.verdict
    if verdict is None:
        return ""
    shown = [plain(text) for text in of_arm(verdict.others, "treatment")]
    named = [name for name in suspects.registry.spec.symptoms if name != verdict.symptom]
    unknown = [plain(name) for name in named if name not in verdict.others]
    parts = [f" other symptoms there: {', '.join(shown)};"] if shown else []
    parts += [f" not watched there: {', '.join(unknown)};"] if unknown else []
    return "".join(parts)


def newest_clean(suspects: Roster) -> tuple[Suspect, Item, ArmResult] | None:
    """Find the newest treatment arm shown clean, whose settings have shown the symptom in no test.

    It is one under the load of its control: what is clean when less is asked is no news.
    """
    failing: set[tuple[object, ...]] = set()
    clean: dict[tuple[object, ...], tuple[Suspect, Item, ArmResult]] = {}
    for suspect, item in suspects.verdicts():
        verdict = item.verdict
        if verdict is None:
            continue
        for name, result in verdict.arms.items():
            set_to = tuple(sorted(result.settings.items()))
            place = (set_to, verdict.workload, verdict.symptom, verdict.engine)
            if result.counts.hit:
                failing.add(place)
            elif name == "treatment" and _shown_clean(item) and _same_load(verdict):
                clean.pop(place, None)  # the newest comes last
                clean[place] = (suspect, item, result)
    found = [each for place, each in clean.items() if place not in failing]
    return found[-1] if found else None


def _same_load(verdict: VerdictGiven) -> bool:
    """Say whether a verdict's arms were driven alike."""
    loads = [result.load for result in verdict.arms.values()]
    return all(load == loads[0] for load in loads)


def _shown_clean(item: Item) -> bool:
    """Say whether a verdict's treatment arm is shown clean: its bound is below a quarter of the rate.

    That is the floor below which a control would not have reproduced the symptom (RULES 2).
    """
    verdict = item.verdict
    if verdict is None or "treatment" not in verdict.arms:
        return False
    reference = verdict.reference
    if reference is None:
        control, _, _ = verdict.predicted.rpartition(":")
        try:
            reference = float(control)
        except ValueError:
            return False
    arm = verdict.arms["treatment"]
    return arm.counts.decided > 0 and arm.counts.hit == 0 and arm.interval[1] < reference / 4


def clean_record(suspect: Suspect, item: Item, result: ArmResult) -> dict[str, Any]:
    """Give an arm that is shown clean as JSON values."""
    run = item.verdict.run if item.verdict else ""
    return {"run": run, "hypothesis": suspect.id, **values.plain(result)}


def _leading(suspects: Roster) -> str:
    leading = suspects.leading()
    if leading is None:
        return "none; nothing that counts is for any suspect"
    grade = f", grade *{leading.standing.grade}*" if leading.standing.grade else ""
    item = leading.deciding
    shown = f"{word(item.verdict)}: {arms(item.verdict)}" if item and item.verdict else because(leading)
    told = proofs.proof_of(leading)
    way = f"; {plain(proofs.in_short(told))}" if told else ""
    return f"{link(leading.id)} {plain(leading.title)}: {leading.state}{grade}; {plain(shown)}{way}"


def _links(found: list[Suspect]) -> str:
    if not found:
        return "none"
    shown = ", ".join(link(suspect.id) for suspect in found[:_LINKED])
    more = f" and {len(found) - _LINKED} more" if len(found) > _LINKED else ""
    return f"{len(found)}: {shown}{more}"


def _unverified_in_short(suspects: Roster) -> str:
    items = list(open_points(suspects))
    return f"{count(len(items), 'point')}, listed [below](#not-verified)" if items else "nothing known"


def _reproduce(suspects: Roster) -> str:
    leading = suspects.leading()
    runnable = [suspect for suspect in (leading, *suspects) if suspect and suspect.runnable]
    if not runnable:
        return "no suspect has a test yet"
    test = code(f"workbench test {runnable[0].id}")
    item = runnable[0].deciding
    if item is None or item.verdict is None:
        return test
    return f"{test}; recompute its verdict with {code(f'workbench verify {item.verdict.run}')}"


def spent(registry: Registry) -> dict[str, Any]:
    """Give what all runs took."""
    return {
        "seconds": round(sum(run.seconds for run in registry.runs), 3),
        "sessions": sum(counts.total for run in registry.runs for counts in run.counts.values()),
        "runs": len(registry.runs),
    }


def open_points(suspects: Roster) -> Iterator[str]:
    """Yield what the campaign rests on and nobody has shown."""
    undecided = diagnosis(suspects)
    if undecided:
        yield plain(undecided)
    if deployed := untested(suspects.registry):
        yield plain(deployed)
    for suspect in suspects:
        here = link(suspect.id)
        if not suspect.fallen:
            for each in suspect.unverified:
                yield f"{here} assumes {plain(each.assumption.id)}: {plain(each.assumption.text)}"
        if suspect.state is State.SUPPORTED and suspect.standing.grade in WORDS:
            yield f"{here} is supported by words; no run has tested it"
        elif suspect.state is State.SUPPORTED and (shown := proofs.proof_of(suspect)):
            yield f"{here} is supported, not confirmed: {plain(proofs.in_short(shown))}"
        for change in changes(suspect, suspects.history):
            if change.dead:
                where = "still in the tree" if change.seen else "not noted as reverted"
                yield f"{here}: {plain(str(change))}, {where}"
        for run in suspect.edited:
            yield f"{here}: prediction or test changed after {plain(run)}; see there"
        if any(one.self_ruled for one in suspect.standing.rulings):
            yield f"{here} was ruled on by its own author"
        if suspect.hypothesis is None:
            yield f"{here} has no valid file"
    for problem in suspects.registry.problems:
        yield f"a file is invalid: {plain(str(problem))}"
