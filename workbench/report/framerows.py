"""Rows of the frames that are made of a registry: plain values by the names of `framecolumns`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from workbench.model.event import ArmResult, Bearing, Event, VerdictGiven
from workbench.model.outcome import Counts
from workbench.model.registry import Registry, RunLine
from workbench.report.suspects import Suspect
from workbench.stats import rate_interval

STATUSES = ("hit", "clean", "errored", "incomplete")


def hypothesis_row(suspect: Suspect, runs_: int) -> dict[str, Any]:
    """Give a suspect, where it stands, and the verdict that this rests on."""
    standing, item = suspect.standing, suspect.deciding
    verdict = item.verdict if item else None
    return {
        "hypothesis": suspect.id,
        "title": suspect.title,
        "symptom": suspect.symptom,
        "state": suspect.state,
        "grade": standing.grade,
        "role": standing.role,
        "parent": suspect.parents[0] if suspect.parents else None,
        "author": standing.author or None,
        "runs": runs_,
        "evidence_for": len(suspect.bearing(Bearing.FOR)),
        "evidence_against": len(suspect.bearing(Bearing.AGAINST)),
        "unverified": len(suspect.unverified),
        **(_said(verdict) if verdict else {}),
    }


def run_row(run: RunLine) -> dict[str, Any]:
    """Give a run; counts are over all arms."""
    return {
        "run": run.id,
        "command": run.command or None,
        "state": run.state,
        "hypotheses": " ".join(run.hypotheses),
        "created": run.created,
        "seconds": run.seconds,
        **_counts(sum(run.counts.values(), Counts(0, 0))),
        "problem": run.problem or None,
    }


def arm_rows(run: RunLine, judged: Collection[tuple[str, ArmResult]]) -> Iterator[dict[str, Any]]:
    """Yield the arms of a run; `judged` holds ids of runs with arms that a verdict counted."""
    for arm, counts in run.counts.items():
        known = [each.interval for id, each in judged if id == run.id and each.counts == counts]
        low, high = known[0] if known else _independent(counts)
        yield {
            "run": run.id,
            "arm": arm,
            **_counts(counts),
            "n": counts.decided,
            "rate": _rate(counts),
            "low": low,
            "high": high,
            "interval": "judged" if known else "independent",
        }


def judged_arms(registry: Registry) -> Iterator[tuple[str, ArmResult]]:
    """Yield the arms of verdicts, each with the id of its run."""
    for event in registry.events:
        if isinstance(event.body, VerdictGiven):
            for arm in event.body.arms.values():
                yield event.body.run, arm


def verdict_row(event: Event) -> dict[str, Any]:
    """Give a verdict on record."""
    verdict = event.body
    assert isinstance(verdict, VerdictGiven)
    return {
        "event": event.id,
        "at": event.at,
        "hypothesis": verdict.hypothesis,
        "predicted": verdict.predicted,
        "reason": verdict.reason,
        "put_back": verdict.put_back,
        "symptom": verdict.symptom,
        "workload": verdict.workload,
        "engine": verdict.engine,
        "design_effect": verdict.design_effect,
        "seconds": verdict.seconds,
        "digest": verdict.digest,
        **_said(verdict),
    }


def _said(verdict: VerdictGiven) -> dict[str, Any]:
    """Give the word of a run with the numbers of both arms."""
    found: dict[str, Any] = {}
    for name, arm in verdict.arms.items():
        low, high = arm.interval
        counts = _counts(arm.counts)
        del counts["clean"]
        values = {
            **counts,
            "n": arm.counts.decided,
            "rate": _rate(arm.counts),
            "low": low,
            "high": high,
        }
        found |= {f"{name}_{key}": value for key, value in values.items()}
    return {
        "run": verdict.run,
        "verdict": verdict.verdict,
        "prediction": verdict.prediction,
        **found,
        "difference": verdict.estimate,
        "difference_low": verdict.interval[0],
        "difference_high": verdict.interval[1],
        "e_no_effect": verdict.evidence.no_effect,
        "e_margin": verdict.evidence.margin,
        "blocks": verdict.blocks,
    }


def commit_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Give a linked commit, from its record."""
    return {
        **record,
        "hypotheses": " ".join(record["hypotheses"]),
        "reverted_by": " ".join(match["commit"] for match in record["reverted_by"]) or None,
        "checkout_would_lose": len(record["checkout_would_lose"]),
        "state": record["state"] or None,
        "problem": record["problem"] or None,
    }


def _counts(counts: Counts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in STATUSES}


def _rate(counts: Counts) -> float | None:
    return counts.hit / counts.decided if counts.decided else None


def _independent(counts: Counts) -> tuple[float, float]:
    return rate_interval(counts.hit, counts.decided) if counts.decided else (0.0, 1.0)
