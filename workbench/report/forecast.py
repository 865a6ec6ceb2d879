"""What a plan will cost and can see, before anything is run.

All of it is a rehearsal with expected counts (`stats.planning`): half of the runs take longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.model.plan import Arm, Measurement, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.progress import Snapshot
from workbench.model.verdict import Comparison
from workbench.report.text import duration, inert, percent
from workbench.stats import Forecast, Terms, planning

_EXAMPLE_RATES = (0.3, 0.1, 0.03)  # what is rehearsed when nobody has said how often it fails


def forecast(plan: Plan, pace: float | None = None) -> Iterator[str]:
    """Yield the lines that say what a plan does, costs at most, and can see.

    Args:
        plan: The plan.
        pace: Seconds that a session takes on the clock, from an earlier run; None if there is none.
    """
    rules = plan.rules
    at_once = f", {plan.in_flight} at a time" if plan.in_flight > 1 else ""
    if plan.comparisons:
        most = _most(plan)
        worst = "" if pace is None else f", at worst {duration(most * pace)} at the last run's pace"
        yield (
            f"plan: blocks of {rules.block_size} trials per arm, at most {rules.max_blocks}"
            f" ({most:,} trials){at_once}{worst}, seed {plan.seed}"
        )
    elif plan.measurement is not None:
        yield f"plan: {_until(plan.measurement)}{at_once}, seed {plan.seed}"
    for arm in plan.arms:
        yield f"  {arm.name:<10} {said(arm)}"
    if plan.also:
        named = ", ".join(inert(other.symptom.name) for other in plan.also)
        yield f"  beside {inert(plan.symptom.name)}, counted and deciding nothing: {named}"
    for comparison in plan.comparisons:
        if comparison.hypothesis is not None:
            arms = f"{comparison.control} against {comparison.treatment}"
            yield f"  {comparison.hypothesis}: {arms}, predicted {comparison.prediction}"
        yield from _outlook(comparison, plan, pace)


def said(arm: Arm) -> str:
    """Write the settings of an arm; a plain command as it is."""
    if list(arm.settings) == ["command"]:
        return inert(arm.settings["command"])
    return inert(", ".join(f"{knob}={level}" for knob, level in arm.settings.items()))


def plan_record(plan: Plan, pace: float | None = None) -> dict[str, Any]:
    """Give a plan as JSON values: arms, the most that it can cost, what is expected for each suspect.

    `if_true` and `if_no_effect` hold sessions until a verdict in every second run, and that verdict.
    """
    most = _most(plan)
    return {
        "arms": {arm.name: dict(arm.settings) for arm in plan.arms},
        "sessions_per_block": plan.rules.block_size,
        "max_blocks": plan.rules.max_blocks,
        "in_flight": plan.in_flight,
        "seed": plan.seed,
        "symptom": plan.symptom.name,
        "others": [other.symptom.name for other in plan.also],
        "most_sessions": most,
        "most_seconds": None if pace is None else round(most * pace, 1),
        "hypotheses": [_outlook_record(comparison, plan) for comparison in plan.comparisons],
    }


def _most(plan: Plan) -> int:
    return len(plan.arms) * plan.rules.block_size * plan.rules.max_blocks


def _outlook_record(comparison: Comparison, plan: Plan) -> dict[str, Any]:
    prediction, rules = comparison.prediction, plan.rules
    record: dict[str, Any] = {
        "hypothesis": comparison.hypothesis,
        "control": comparison.control,
        "treatment": comparison.treatment,
        "prediction": str(prediction),
    }
    if prediction.control is None:
        return record
    for name, treatment in (
        ("if_true", prediction.treatment or 0.0),
        ("if_no_effect", prediction.control),
    ):
        outlook = _rehearse(prediction, rules, prediction.control, treatment)
        record[name] = {"sessions": outlook.sessions, "verdict": outlook.verdict}
    asked = Terms.of(rules, prediction, prediction.control)
    effect = planning.smallest_visible_effect(asked, prediction.control, rules.block_size)
    return {**record, "smallest_effect": effect}


def cost_against_clean(snapshot: Snapshot) -> Iterator[str]:
    """Yield what an A/B of what was measured against a clean treatment would cost."""
    measured = snapshot.measured
    if not measured.hit or snapshot.session_seconds is None:
        return
    share = min(measured.hit / measured.decided, 0.99)
    rules = _command_rules(snapshot.plan.rules)
    outlook = _rehearse(Prediction(control=share, treatment=0.0, removes=True), rules, share, 0.0)
    seconds = outlook.sessions * snapshot.session_seconds / snapshot.plan.in_flight
    yield (
        f"an A/B against a clean treatment: about {outlook.sessions} trials,"
        f" {duration(seconds)} ({outlook.verdict})"
    )


def _until(measurement: Measurement) -> str:
    if measurement.until_hits is None:
        return f"{measurement.max_trials} trials"
    return f"until {measurement.until_hits} hits, at most {measurement.max_trials} trials"


def _outlook(comparison: Comparison, plan: Plan, pace: float | None) -> Iterator[str]:
    prediction, rules = comparison.prediction, plan.rules
    if prediction.control is None:
        if plan.measurement is not None:
            yield f"  first, {comparison.control} is sampled {_until(plan.measurement)}"
        yield "  to tell a clean treatment from a control that fails at"
        for control in _EXAMPLE_RATES:
            outlook = _rehearse(prediction, rules, control, 0.0)
            yield f"    {percent(control):>5}: {_expected(outlook, pace)}"
        return
    control, treatment = prediction.control, prediction.treatment or 0.0
    outlook = _rehearse(prediction, rules, control, treatment)
    yield (
        f"  if {percent(control)} against {_clean_or(treatment)} is true: {_expected(outlook, pace)}"
    )
    outlook = _rehearse(prediction, rules, control, control)
    yield f"  if the treatment changes nothing: {_expected(outlook, pace)}"
    asked = Terms.of(rules, prediction, control)
    effect = planning.smallest_visible_effect(asked, control, rules.block_size)
    if effect is None:
        yield "  even a clean treatment is not told from that control: raise --max-blocks or --block"
    else:
        yield f"  smallest effect seen in every second run: {100 * effect:.1f} points"


def _expected(outlook: Forecast, pace: float | None) -> str:
    time = "" if pace is None else f", {duration(outlook.sessions * pace)}"
    return f"about {outlook.sessions:,} trials{time} ({outlook.verdict})"


def _clean_or(rate: float) -> str:
    return percent(rate) if rate else "clean"


def _rehearse(prediction: Prediction, rules: Rules, control: float, treatment: float) -> Forecast:
    asked = Terms.of(rules, prediction, control)
    return planning.forecast(asked, control, treatment, rules.block_size)


def _command_rules(rules: Rules) -> Rules:
    """Rules of an A/B as `ab` would plan it with its defaults."""
    return Rules(
        block_size=planning.TRIAL_BLOCK, max_blocks=planning.TRIAL_MAX_BLOCKS, cluster=rules.cluster
    )
