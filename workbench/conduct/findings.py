"""From a judgement to what goes on record of it: with it, states need neither numbers nor runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.conduct import loads
from workbench.model.event import ArmResult, Circumstances, VerdictGiven
from workbench.model.outcome import Counts
from workbench.model.run import Manifest, Served
from workbench.model.verdict import Judgement, Other, Verdict

_UNSEEN = (0.0, 1.0)  # interval of the rate of an arm that had no sessions


def finding(
    manifest: Manifest, served: Served, judgement: Judgement, came_about: Circumstances
) -> VerdictGiven:
    """Give what a finished run says of one hypothesis.

    Args:
        manifest: The run's.
        served: The hypothesis as it was planned.
        judgement: What the rules say of its comparison, earlier blocks included.
        came_about: From `circumstances`.
    """
    plan, comparison = manifest.plan, judgement.comparison
    arms = {"control": comparison.control, "treatment": comparison.treatment}
    return VerdictGiven(
        run=manifest.id,
        hypothesis=served.hypothesis,
        verdict=judgement.verdict or Verdict.INCONCLUSIVE,
        prediction=judgement.held,
        predicted=str(comparison.prediction),
        reason=judgement.reason,
        harmful=judgement.harmful,
        arms={
            role: ArmResult(
                settings=dict(plan.arm(name).settings),
                counts=judgement.arms.get(name, Counts(0, 0)),
                interval=judgement.rates.get(name, _UNSEEN),
                load=loads.of_run(manifest.plan, manifest.fingerprints.get(name)),
            )
            for role, name in arms.items()
        },
        blocks=judgement.blocks,
        evidence=judgement.evidence,
        interval=judgement.interval,
        estimate=judgement.estimate,
        design_effect=judgement.design_effect,
        digest=served.digest,
        earlier=served.earlier,
        symptom=plan.symptom.name,
        workload=served.workload,
        engine=served.engine,
        alpha=plan.rules.alpha,
        margin=plan.rules.margin,
        reference=plan.rules.reference,
        seconds=manifest.seconds,
        guards=judgement.guards,
        notes=judgement.notes,
        others={name: _by_role(other, arms) for name, other in judgement.others.items()},
        circumstances=came_about,
    )


def _by_role(other: Other, arms: Mapping[str, str]) -> Other:
    """Give what was seen of another symptom under the roles of the arms in place of their names."""
    seen = {role: name for role, name in arms.items() if name in other.arms}
    return replace(
        other,
        arms={role: other.arms[name] for role, name in seen.items()},
        rates={role: other.rates[name] for role, name in seen.items()},
    )


def differences(recorded: VerdictGiven, recomputed: VerdictGiven) -> list[str]:
    """Name what of a verdict on record is not what its run says, rounding left aside."""
    if recorded.circumstances is None:  # an older workbench wrote it and said nothing of that
        recomputed = replace(recomputed, circumstances=None)
    before, now = _facts(recorded), _facts(recomputed)
    return [
        f"{recorded.hypothesis}: {name} is {_shown(before.get(name))} on record and"
        f" {_shown(now.get(name))} in the run"
        for name in dict.fromkeys((*before, *now))
        if not _same(before.get(name), now.get(name))
    ]


def _facts(verdict: VerdictGiven) -> dict[str, object]:
    """Lay a verdict out flat, under the names that people know."""
    facts: dict[str, object] = {
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "prediction": verdict.prediction,
        "predicted": verdict.predicted,
        "reversed": verdict.harmful,
        "blocks": verdict.blocks,
        "estimate": verdict.estimate,
        "interval from": verdict.interval[0],
        "interval to": verdict.interval[1],
        "design effect": verdict.design_effect,
        "digest": verdict.digest,
        "earlier runs": ", ".join(f"{run.run} ({run.blocks})" for run in verdict.earlier) or "none",
        "symptom": verdict.symptom,
        "alpha": verdict.alpha,
        "margin": verdict.margin,
        "reference": verdict.reference,
        "guards": "; ".join(guard.detail for guard in verdict.guards),
        **_came_about(verdict),
    }
    for role, arm in verdict.arms.items():
        counts = arm.counts
        facts[f"{role} settings"] = ", ".join(
            f"{knob} {arm.settings[knob]}" for knob in sorted(arm.settings)
        )
        facts[f"{role} counts"] = _counted(counts)
        facts[f"{role} rate from"], facts[f"{role} rate to"] = arm.interval
    for name in verdict.evidence.__dataclass_fields__:
        facts[f"E {name}"] = getattr(verdict.evidence, name)
    for symptom, other in verdict.others.items():
        for role, counts in other.arms.items():
            facts[f"{symptom}: {role} counts"] = _counted(counts)
            low, high = other.rates[role]
            facts[f"{symptom}: {role} rate from"], facts[f"{symptom}: {role} rate to"] = low, high
        facts[f"{symptom}: blocks"] = other.blocks
        facts[f"{symptom}: E no_effect"] = other.no_effect
        facts[f"{symptom}: E no_harm"] = other.no_harm
    return facts


def _came_about(verdict: VerdictGiven) -> dict[str, object]:
    """Lay out how a run came about; nothing for a verdict from before that was put on record."""
    told = verdict.circumstances
    if told is None:
        return {}
    return {
        "put back": told.put_back,
        "planned": told.planned,
        "began": told.began,
        "ended": told.ended,
        "reset": told.reset,
        "exposed": "; ".join(f"{each.what}: {each.control}, {each.treatment}" for each in told.exposed),
    }


def _counted(counts: Counts) -> str:
    return (
        f"{counts.hit} hit, {counts.clean} clean, {counts.errored} errored,"
        f" {counts.incomplete} incomplete"
    )


def _same(before: object, now: object) -> bool:
    if isinstance(before, float) and isinstance(now, float):
        return abs(before - now) <= 1e-6 * max(1.0, abs(before), abs(now))
    return before == now


def _shown(value: object) -> str:
    if value is None or value == "":
        return "nothing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
