"""The last line of `--json`: what a run found, for programs."""

from __future__ import annotations

from typing import Any

from workbench.model.progress import Snapshot
from workbench.model.verdict import Judgement
from workbench.report.values import counts, evidence, guard, other
from workbench.stats import rate_interval


def judgement_record(judgement: Judgement, snapshot: Snapshot) -> dict[str, Any]:
    """Give one comparison of a run as JSON values; keys stay once published."""
    low, high = judgement.interval
    record: dict[str, Any] = {
        "verdict": judgement.verdict,
        "prediction": judgement.held,
        "arms": {name: counts(of) for name, of in judgement.arms.items()},
        "blocks": judgement.blocks,
        "evidence": evidence(judgement.evidence),
        "interval": [round(low, 4), round(high, 4)],
        "estimate": None if judgement.estimate is None else round(judgement.estimate, 4),
        "design_effect": round(judgement.design_effect, 4),
        "seconds": round(snapshot.seconds, 3),
        "guards": [guard(each) for each in judgement.guards],
        "reason": judgement.reason,
        "reversed": judgement.harmful,
        "notes": list(judgement.notes),
        "reference": counts(snapshot.measured) if snapshot.plan.measurement else None,
        "failures": dict(snapshot.failures),
        "others": {name: other(of) for name, of in judgement.others.items()},
        "folder": snapshot.folder,
    }
    if judgement.comparison.hypothesis is not None:
        ids = {"run": snapshot.run, "hypothesis": judgement.comparison.hypothesis}
        record = {**ids, **record}
    return record


def measurement_record(snapshot: Snapshot) -> dict[str, Any]:
    """Give a measurement as JSON values."""
    measured = snapshot.measured
    interval = rate_interval(measured.hit, measured.decided) if measured.decided else (0.0, 1.0)
    return {
        "counts": counts(measured),
        "rate": measured.hit / measured.decided if measured.decided else None,
        "interval": [round(bound, 4) for bound in interval],
        "trial_seconds": snapshot.session_seconds,
        "start_seconds": snapshot.start_seconds,
        "seconds": round(snapshot.seconds, 3),
        "failures": dict(snapshot.failures),
        "folder": snapshot.folder,
    }


def progress_record(snapshot: Snapshot) -> dict[str, Any]:
    """Give where a run stands as JSON values."""
    return {
        "run": snapshot.run,
        "folder": snapshot.folder,
        "phase": snapshot.phase,
        "block": snapshot.block,
        "reference": counts(snapshot.measured),
        "arms": {name: counts(of) for name, of in snapshot.arms.items()},
        "verdicts": [judgement.verdict for judgement in snapshot.judgements],
        "evidence": [evidence(judgement.evidence) for judgement in snapshot.judgements],
        "seconds": round(snapshot.seconds, 3),
        "worst_seconds": snapshot.worst_seconds,
    }
