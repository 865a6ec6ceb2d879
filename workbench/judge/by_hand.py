"""What the rules of a run say of an A/B that somebody did by hand: its counts, judged once, at the end.

Nobody can show that a prediction was there before such counts, and they were looked at before they came
here. So nothing is bet on the predicted rates, and they are looked at when all of them are in. A single
start of each arm cannot show how far starts differ: the design effect is then assumed, as everywhere.

Figures of responses are counts of what fails together. They are never tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.judge.reference import notes
from workbench.judge.states import BEARS
from workbench.model.event import ArmResult, Bearing, Counted, Grade, Per
from workbench.model.outcome import Counts
from workbench.model.plan import Cluster, Rules
from workbench.model.prediction import Prediction
from workbench.stats import ABTest, Terms

ONE_START = "one start of each arm: it holds for these two, and how far starts differ is assumed"


def counted(
    pairs: Sequence[tuple[Counts, Counts]],
    settings: Mapping[str, Mapping[str, str]],
    rules: Rules,
    prediction: Prediction,
    *,
    per: Per = Per.SESSION,
    symptom: str = "",
) -> Counted:
    """Judge counts.

    Args:
        pairs: Counts of control and treatment for each start of both, at least one.
        settings: Of `control` and `treatment`.
        rules: Of the test that it would be in the campaign; how many blocks there may be is not asked.
        prediction: What the hypothesis claims.
        per: What was counted.
        symptom: Primary symptom.
    """
    totals = {"control": Counts(0, 0), "treatment": Counts(0, 0)}
    for control, treatment in pairs:
        totals["control"] += control
        totals["treatment"] += treatment
    bare = {
        name: ArmResult(settings=dict(settings[name]), counts=counts, interval=(0.0, 1.0))
        for name, counts in totals.items()
    }
    found = Counted(arms=bare, per=per, pairs=tuple(pairs), symptom=symptom)
    if per is not Per.SESSION:
        return found
    test = ABTest.under(_terms(rules, prediction, len(pairs)))
    test.add_unseen(pairs)
    word = test.close()
    rates = test.rates
    single = len(pairs) == 1 and rules.cluster is Cluster.START
    return replace(
        found,
        arms={name: replace(arm, interval=rates[name]) for name, arm in bare.items()},
        verdict=word,
        # nobody drew which arm came first, so that nothing can be said across restarts
        evidence=replace(test.evidence, across_restarts=None),
        interval=test.interval,
        design_effect=test.design_effect,
        alpha=rules.alpha,
        margin=rules.margin,
        notes=(*([ONE_START] if single else []), *notes(test.terms, prediction)),
    )


def bearing(of: Counted) -> Bearing:
    """Say how it bears on the hypothesis that it was counted for; what was not tested is neutral."""
    return BEARS[of.verdict] if of.verdict is not None else Bearing.NEUTRAL


def grade(of: Counted) -> Grade:
    """Give the grade: two arms judged are a comparison, and figures of responses were only seen."""
    return Grade.COMPARED if of.verdict is not None else Grade.OBSERVED


def _terms(rules: Rules, prediction: Prediction, pairs: int) -> Terms:
    terms = Terms.of(replace(rules, min_blocks=pairs, max_blocks=pairs), prediction)
    return replace(terms, predicted=None)
