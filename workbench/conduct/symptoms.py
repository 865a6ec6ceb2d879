"""From a symptom as a campaign states it to one that labels are judged by; and those watched beside."""

from __future__ import annotations

from contextlib import suppress

from workbench import plugins
from workbench.errors import PluginError, UsageError, nearest
from workbench.model.campaign import CampaignSpec, SymptomSpec
from workbench.model.outcome import Symptom
from workbench.model.plan import Part, Watched
from workbench.ports import Classifier
from workbench.store.layout import CAMPAIGN_FILE


def classifier_of(symptom: SymptomSpec) -> Part:
    """Give what labels exchanges where a symptom is the one that is tested."""
    return symptom.classifier or Part(kind="exit_code")


def as_judged(symptom: SymptomSpec, classifier: Part) -> Symptom:
    """Give the symptom with what its classifier knows: which labels are clean, which say nothing.

    Raises:
        UsageError: The symptom names a label that the classifier never gives.
        PluginError: There is no such classifier, or it refuses its options.
    """
    judge: Classifier = plugins.build(plugins.Group.CLASSIFIER, classifier)
    for label in symptom.labels:
        if label not in judge.words:
            raise UsageError(
                f"{CAMPAIGN_FILE}: symptom {symptom.name!r}: {classifier.kind} gives no label"
                f" {label!r}",
                hint=nearest(label, judge.words),
            )
    return Symptom(
        name=symptom.name,
        labels=symptom.labels,
        clean=tuple(word for word in judge.clean if word not in symptom.labels),
        void=tuple(word for word in judge.void if word not in symptom.labels),
        endings=symptom.endings,
    )


def watched(spec: CampaignSpec, primary: SymptomSpec, classifier: Part) -> tuple[Watched, ...]:
    """Give the symptoms of a campaign that a run can watch beside the one that it tests.

    One that says too little, or whose classifier cannot be built, is left out: it decides nothing, so
    it must not keep anybody from testing. `workbench check` names what is wrong with it.

    Args:
        spec: The campaign.
        primary: The symptom that the run tests.
        classifier: What labels its exchanges.
    """
    found = []
    for symptom in spec.symptoms.values():
        if symptom.name != primary.name and (symptom.labels or symptom.endings):
            with suppress(PluginError, UsageError):
                found.append(beside(symptom, classifier))
    return tuple(found)


def beside(symptom: SymptomSpec, classifier: Part) -> Watched:
    """Give a symptom as it is watched beside the one that a run tests.

    Of one that only endings define, it does not matter what an exchange said that ended: it is clean.

    Args:
        symptom: As the campaign states it.
        classifier: What labels the run's exchanges, for a symptom that needs no labels of its own.

    Raises:
        UsageError: As `as_judged`.
        PluginError: Likewise.
    """
    if symptom.labels:
        part = classifier_of(symptom)
        return Watched(symptom=as_judged(symptom, part), classifier=part)
    judge: Classifier = plugins.build(plugins.Group.CLASSIFIER, classifier)
    by_ending = Symptom(
        name=symptom.name,
        clean=tuple(word for word in judge.words if word not in judge.void),
        void=tuple(judge.void),
        endings=symptom.endings,
    )
    return Watched(symptom=by_ending, classifier=classifier)
