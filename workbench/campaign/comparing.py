"""Lays two runs side by side: plans, what was read back of their arms, what each counted and said.

Counts of two runs are never added up here, and no interval spans both: whether runs belong together is
what their test digests say, and only a run that goes on from another counts that one's blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from workbench.campaign import commands, running
from workbench.errors import UsageError
from workbench.model.compared import Compared, Difference, Kinship, Side, Word
from workbench.model.outcome import Counts
from workbench.model.plan import Part, Plan
from workbench.model.progress import Snapshot
from workbench.model.run import Manifest
from workbench.model.verdict import Comparison
from workbench.stats import rate_interval
from workbench.store import RunView

_DIGITS = 12  # of the digest of a file
_LONGEST = 300  # characters of a value; what is longer shows that it differs, no more


def compare(one: str, other: str) -> Compared:
    """Compare two runs, whoever owns them and wherever they lie.

    Args:
        one: A folder, an id, or the start of an id.
        other: The other one.

    Raises:
        UsageError: There is no such run, or both are the same.
        StoreError: A manifest is damaged, or an earlier run that one goes on from is missing.
    """
    views = [commands.find(one), commands.find(other)]
    if views[0].path.resolve() == views[1].path.resolve():
        raise UsageError(f"{one} and {other} are the same run", hint="name two")
    first, second = sorted(views, key=lambda view: (view.manifest.created, view.manifest.id))
    then, now = first.manifest, second.manifest
    aspects = list(_aspects(then.plan, now.plan))
    both = [arm for arm in then.fingerprints if arm in now.fingerprints]
    return Compared(
        first=_side(first),
        second=_side(second),
        equal=tuple(name for name, differs in aspects if not differs),
        differs=tuple(each for _, differs in aspects for each in differs),
        found=tuple(each for arm in both for each in _read_back(arm, then, now)),
        read_back=tuple(both),
        kinship=_kinship(then, now),
    )


def _aspects(one: Plan, other: Plan) -> Iterator[tuple[str, list[Difference]]]:
    """Yield each aspect that one of two plans has, with what differs in it."""
    laid_out = [_laid_out(plan) for plan in (one, other)]
    for aspect in laid_out[0]:
        first, second = (_flat(each[aspect]) for each in laid_out)
        if first or second:
            yield aspect, list(_differences(aspect, first, second))


def _laid_out(plan: Plan) -> dict[str, Any]:
    """Give a plan by aspects, without what never makes two runs another thing: seed and budget."""
    rules = asdict(plan.rules)
    rules["allow_foreign"] = plan.allow_foreign
    rules["measurement"] = None if plan.measurement is None else asdict(plan.measurement)
    return {
        "arm": {arm.name: dict(arm.settings) for arm in plan.arms},
        "knob": {name: _part(part) for name, part in plan.knobs.items()},
        "prediction": {_about(each): str(each.prediction) for each in plan.comparisons},
        "exposure": {
            _about(each): [asdict(one) for one in each.exposure]
            for each in plan.comparisons
            if each.exposure
        },
        "symptom": asdict(plan.symptom),
        "classifier": _part(plan.classifier),
        "workload": _part(plan.workload),
        "in flight": plan.in_flight,
        "engine": _part(plan.engine),
        "rules": rules,
        "watched beside": {each.symptom.name: asdict(each) for each in plan.also},
    }


def _part(part: Part) -> dict[str, Any]:
    return {"kind": part.kind, **part.options}


def _flat(value: Any, name: str = "") -> dict[str, str]:
    """Lay a value out flat, by dotted names."""
    if isinstance(value, Mapping):
        inner: dict[str, str] = {}
        for key, each in value.items():
            inner |= _flat(each, f"{name}.{key}" if name else str(key))
        return inner
    if isinstance(value, list | tuple):
        return {name: ", ".join(map(str, value))[:_LONGEST] or "none"}
    return {name: "none" if value is None else str(value)[:_LONGEST]}


def _differences(
    aspect: str, first: Mapping[str, str], second: Mapping[str, str]
) -> Iterator[Difference]:
    for name in dict.fromkeys((*first, *second)):
        if first.get(name) != second.get(name):
            what = f"{aspect} {name}" if name else aspect
            yield Difference(what=what, first=first.get(name, ""), second=second.get(name, ""))


def _read_back(arm: str, one: Manifest, other: Manifest) -> Iterator[Difference]:
    """Yield what differs of an arm as it was found, volatile facts left out."""
    first, second = one.fingerprints[arm], other.fingerprints[arm]
    for each in _differences(f"{arm}: file", first.files, second.files):
        yield replace(each, first=each.first[:_DIGITS], second=each.second[:_DIGITS])
    yield from _differences(f"{arm}: setting", first.config, second.config)


def _kinship(then: Manifest, now: Manifest) -> Kinship:
    tests = [{each.digest for each in manifest.serves if each.digest} for manifest in (then, now)]
    if not all(tests):
        return Kinship.NO_DIGEST
    shared = tests[0] & tests[1]
    if not shared:
        return Kinship.OTHER_TESTS
    taken_over = {
        earlier.run for each in now.serves if each.digest in shared for earlier in each.earlier
    }
    return Kinship.GOES_ON if then.id in taken_over else Kinship.ONE_TEST


def _side(view: RunView) -> Side:
    manifest, snapshot = view.manifest, running.look(view)
    arms = dict(snapshot.arms)
    if snapshot.plan.measurement is not None and not snapshot.plan.comparisons:
        arms = {snapshot.plan.measurement.arm: snapshot.measured}
    return Side(
        run=manifest.id,
        command=manifest.command,
        state=manifest.state,
        created=manifest.created,
        seconds=manifest.seconds,
        arms=arms,
        rates={name: _rate(name, counts, snapshot) for name, counts in arms.items()},
        words=tuple(_words(manifest, snapshot)),
        problems=snapshot.problems,
    )


def _rate(arm: str, counts: Counts, snapshot: Snapshot) -> tuple[float, float]:
    """Give the interval that a judgement of just these sessions has, else that of independent ones."""
    for judgement in snapshot.judgements:
        if judgement.arms.get(arm) == counts and arm in judgement.rates:
            return judgement.rates[arm]
    return rate_interval(counts.hit, counts.decided, alpha=snapshot.plan.rules.alpha)


def _words(manifest: Manifest, snapshot: Snapshot) -> Iterator[Word]:
    for at, judgement in enumerate(snapshot.judgements):
        served = manifest.serves[at] if at < len(manifest.serves) else None
        earlier = sum(each.blocks for each in served.earlier) if served else 0
        yield Word(
            about=_about(judgement.comparison),
            verdict=str(judgement.verdict or ""),
            reason=str(judgement.reason or ""),
            blocks=judgement.blocks,
            earlier=min(earlier, judgement.blocks),
            digest=served.digest if served else "",
        )


def _about(pair: Comparison) -> str:
    return pair.hypothesis or f"{pair.control} against {pair.treatment}"
