"""Plans measurements on a campaign's engine: how often settings fail, and equal ones seem to differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.conduct.site import (
    engine_of,
    knobs_of,
    patient,
    positive,
    rules_of,
    seed_of,
    spoken,
    symptom_of,
    workload_of,
)
from workbench.conduct.symptoms import as_judged, classifier_of, watched
from workbench.model.campaign import CampaignSpec
from workbench.model.plan import Arm, Measurement, Plan
from workbench.model.verdict import Comparison

MEASURED, FIRST, SECOND = "measured", "first", "second"
_TWICE_BLOCKS = 2  # of two equal arms, unless asked for more


def plan_measurement(
    spec: CampaignSpec, settings: Mapping[str, str], asked: Mapping[str, Any], *, twice: bool
) -> Plan:
    """Plan sessions of one arm, counted and not judged; or of two equal arms, an A/A.

    Args:
        spec: The campaign.
        settings: Knob to level.
        asked: `engine`, `workload`, `symptom`, `seed`, `in_flight`, `keep_texts`; `trials` and
            `until_hits` of one arm; `sessions` and `max_blocks` of two.
        twice: Two equal arms.

    Raises:
        UsageError: A name is unknown, or settings cannot be had.
        PluginError: The campaign names a plug-in that is unknown or refuses its options.
    """
    engine = engine_of(spec, "", asked)
    workload = workload_of(spec, engine, "", asked)
    symptom = symptom_of(spec, asked.get("symptom", ""))
    classifier = classifier_of(symptom)
    names = (FIRST, SECOND) if twice else (MEASURED,)
    arms = tuple(Arm(name=name, settings=dict(settings)) for name in names)
    blocks = {"max_blocks": positive("max_blocks", asked.get("max_blocks", _TWICE_BLOCKS))}
    low = min(blocks["max_blocks"], spec.defaults.min_blocks)
    spec = replace(spec, defaults=replace(spec.defaults, min_blocks=low))
    rules = rules_of(spec, engine, workload, symptom, None, {**asked, **blocks})
    trials = positive("trials", asked.get("trials", workload.sessions))
    return Plan(
        arms=arms,
        comparisons=(Comparison(control=FIRST, treatment=SECOND),) if twice else (),
        measurement=None
        if twice
        else Measurement(arm=MEASURED, max_trials=trials, until_hits=asked.get("until_hits")),
        rules=rules,
        symptom=as_judged(symptom, classifier),
        engine=spoken(engine),
        workload=patient(workload, symptom),
        classifier=classifier,
        in_flight=positive("in_flight", asked.get("in_flight", workload.in_flight)),
        seed=seed_of(workload, asked),
        keep_texts=asked.get("keep_texts", workload.keep_texts),
        knobs=knobs_of(spec, engine, workload, arms),
        also=watched(spec, symptom, classifier),
        allow_foreign=engine.allow_foreign,
        repo=spec.repo,
    )
