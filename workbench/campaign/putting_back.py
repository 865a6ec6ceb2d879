"""Whether a cause may be put back: only one that a run has removed, into what that run found clean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.campaign.registry import Campaign
from workbench.conduct.site import symptom_of
from workbench.conduct.tests import runnable, served_by
from workbench.errors import UsageError
from workbench.judge.confirming import Pair, proof, unfit
from workbench.model.hypothesis import Hypothesis


def require_removed(campaign: Campaign, hypothesis: Hypothesis, asked: Mapping[str, Any]) -> None:
    """Refuse to put back what was not removed, or not this; it could confirm nothing (RULES 8).

    Args:
        campaign: Whose registry says what was removed.
        hypothesis: The hypothesis.
        asked: What is to differ from its file and the defaults.

    Raises:
        UsageError: Says what is missing, and what to do about it.
    """
    id = hypothesis.id
    shown = proof(campaign.registry.standings[id].items)
    if shown.removed is None or shown.removed.verdict is None:
        raise UsageError(
            f"{id} was not removed yet, so it cannot be put back: {shown.because}",
            hint=f"a run must end `present` with its prediction held: workbench test {id}",
        )
    test = runnable(hypothesis, put_back=True)
    workload, engine = served_by(campaign.spec, hypothesis, asked)
    back = Pair(
        control=test.control,
        treatment=test.treatment,
        symptom=symptom_of(campaign.spec, hypothesis.symptom).name,
        workload=workload,
        engine=engine,
    )
    why = unfit(Pair.of(shown.removed.verdict), back)
    if why:
        raise UsageError(
            f"{hypothesis.file}: what is put back for {id} must be what {shown.removed.verdict.run}"
            f" removed: {why}",
            hint=f"workbench edit {id}",
        )
