"""What a plan will cost and can see, before anything is run.

All of it is a rehearsal with expected counts (`stats.planning`): half of the runs take longer.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.plan import Measurement, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.progress import Snapshot
from workbench.model.verdict import Comparison
from workbench.report.text import duration, inert, percent
from workbench.stats import Forecast, Terms, planning

_EXAMPLE_RATES = (0.3, 0.1, 0.03)  # what is rehearsed when nobody has said how often it fails


def forecast(plan: Plan) -> Iterator[str]:
    """Yield the lines that say what a plan does, costs at most, and can see."""
    rules = plan.rules
    at_once = f", {plan.in_flight} at a time" if plan.in_flight > 1 else ""
    if plan.comparisons:
        most = len(plan.arms) * rules.block_size * rules.max_blocks
        yield (
            f"plan: blocks of {rules.block_size} trials per arm, at most {rules.max_blocks}"
            f" ({most:,} trials){at_once}, seed {plan.seed}"
        )
    elif plan.measurement is not None:
        yield f"plan: {_until(plan.measurement)}{at_once}, seed {plan.seed}"
    for arm in plan.arms:
        settings = ", ".join(inert(level) for level in arm.settings.values())
        yield f"  {arm.name:<10} {settings}"
    for comparison in plan.comparisons:
        yield from _outlook(comparison, plan)


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


def _outlook(comparison: Comparison, plan: Plan) -> Iterator[str]:
    prediction, rules = comparison.prediction, plan.rules
    if prediction.control is None:
        if plan.measurement is not None:
            yield f"  first, {comparison.control} is sampled {_until(plan.measurement)}"
        yield "  to tell a clean treatment from a control that fails at"
        for control in _EXAMPLE_RATES:
            outlook = _rehearse(prediction, rules, control, 0.0)
            yield f"    {percent(control):>5}: about {outlook.sessions:,} trials ({outlook.verdict})"
        return
    control, treatment = prediction.control, prediction.treatment or 0.0
    outlook = _rehearse(prediction, rules, control, treatment)
    yield (
        f"  if {percent(control)} against {_clean_or(treatment)} is true:"
        f" about {outlook.sessions:,} trials ({outlook.verdict})"
    )
    outlook = _rehearse(prediction, rules, control, control)
    yield f"  if the treatment changes nothing: about {outlook.sessions:,} trials ({outlook.verdict})"
    asked = Terms.of(rules, prediction, control)
    effect = planning.smallest_visible_effect(asked, control, rules.block_size)
    if effect is None:
        yield "  even a clean treatment is not told from that control: raise --max-blocks or --block"
    else:
        yield f"  smallest effect seen in every second run: {100 * effect:.1f} points"


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
