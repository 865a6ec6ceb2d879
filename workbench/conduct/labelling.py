"""Labels an exchange for every symptom that a run watches, and asks each distinct classifier once."""

from __future__ import annotations

from collections.abc import Mapping

from workbench import plugins
from workbench.judge.fold import exchange_status
from workbench.model.outcome import Exchange, Label, Status
from workbench.model.plan import Plan
from workbench.model.run import Seen
from workbench.ports import Classifier


class Labeller:
    """What a run makes of its exchanges.

    Args:
        plan: The run's plan.
        classifier: That of the run's own symptom, built.

    Raises:
        PluginError: A classifier of another symptom cannot be built.
    """

    def __init__(self, plan: Plan, classifier: Classifier) -> None:
        self._symptom = plan.symptom
        self._keep = plan.keep_texts
        self._classifiers = [classifier]
        parts = [plan.classifier]
        self._others = []
        for each in plan.also:
            if each.classifier not in parts:
                parts.append(each.classifier)
                self._classifiers.append(plugins.build(plugins.Group.CLASSIFIER, each.classifier))
            self._others.append((each.symptom, parts.index(each.classifier)))

    def label(self, exchange: Exchange) -> tuple[Label, Status, Mapping[str, Seen]]:
        """Label an exchange: for the run's own symptom, and what has to be kept of the others.

        An ending that one symptom claims is a hit for that one, and errored for the others.
        """
        labels = [classifier.label(exchange) for classifier in self._classifiers]
        own = labels[0]
        others = {}
        for symptom, place in self._others:
            label = labels[place]
            status = exchange_status(exchange, label, symptom)
            if status is not Status.CLEAN or label != own:
                others[symptom.name] = Seen(label=label, status=status)
        return own, exchange_status(exchange, own, self._symptom), others

    def keeps(self, status: Status, others: Mapping[str, Seen]) -> bool:
        """Say whether a reply is kept: where only failing ones are, one that fails for any symptom."""
        if self._keep != "failing":
            return self._keep == "all"
        return {status, *(seen.status for seen in others.values())} != {Status.CLEAN}
