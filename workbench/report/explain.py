"""Why a run got its word: the verdict table with this run's numbers in it."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.plan import Rules
from workbench.model.progress import Snapshot
from workbench.model.verdict import Evidence, Judgement, Verdict
from workbench.report.figures import rate, rate_and_rest
from workbench.report.forecast import said
from workbench.report.others import in_full
from workbench.report.sentences import asides, sentence
from workbench.report.starts import starts
from workbench.report.text import blocks, duration, inert, number, points, ranked

_FAILURES_SHOWN = 12


def explain(snapshot: Snapshot) -> Iterator[str]:
    """Yield the lines that explain a run, judged anew from its journal."""
    plan = snapshot.plan
    for problem in snapshot.problems:
        yield f"WARNING: {inert(problem)}"
    yield f"run {snapshot.run}, {duration(snapshot.seconds)}, seed {plan.seed}"
    for arm in plan.arms:
        yield f"  {arm.name:<10} {said(arm)}"
    if plan.measurement is not None:
        yield f"  sampled    {plan.measurement.arm}: {rate(snapshot.measured)}"
    for judgement in snapshot.judgements:
        yield ""
        yield from _judgement(judgement, snapshot)
    if snapshot.starts:
        yield ""
        yield from starts(snapshot.starts)
    if snapshot.failures:
        yield ""
        yield "what was not clean, by arm and signature:"
        kinds = ranked(snapshot.failures)
        for signature, times in kinds[:_FAILURES_SHOWN]:
            yield f"  {times:>5} x {signature}"
        if len(kinds) > _FAILURES_SHOWN:
            yield f"  and {len(kinds) - _FAILURES_SHOWN} more kinds"


def _judgement(judgement: Judgement, snapshot: Snapshot) -> Iterator[str]:
    plan = snapshot.plan
    yield f"{judgement.verdict or 'undecided'}: {sentence(judgement, plan)}"
    yield from asides(judgement)
    for name, counts in judgement.arms.items():
        yield f"  {name:<10} {rate_and_rest(counts, judgement.rates[name])}"
    low, high = judgement.interval
    yield f"  difference {points(low, high)} (control minus treatment), {blocks(judgement.blocks)}"
    assumed = " (assumed)" if judgement.design_effect_assumed and judgement.design_effect > 1 else ""
    yield f"  counts divided by a design effect of {judgement.design_effect:.2f}{assumed}"
    for note in judgement.notes:
        yield f"  note: {note}"
    for line in in_full(judgement.others):
        yield f"  also {line}"
    yield ""
    need = number(1 / plan.rules.alpha)
    yield f"  the rules, first match wins; a claim falls when the evidence against it reaches {need}:"
    for row, verdict, condition in _table(judgement.evidence, plan.rules):
        mark = ">" if row == judgement.rule else " "
        yield f"  {mark} {row} {verdict:<19} {condition}"


def _table(evidence: Evidence, rules: Rules) -> Iterator[tuple[int, str, str]]:
    """Yield the rows of the verdict table as text, each with the numbers that it looked at."""
    yield 1, Verdict.INVALID, "a guard tripped"
    yield (
        2,
        Verdict.PREDICTION_REFUTED,
        f"against `removes` {_shown(evidence.treatment_clean)}, with hits in two starts,"
        " while row 4 does not hold and row 5 begins to",
    )
    yield 3, "go on", f"fewer than {rules.min_blocks} blocks"
    yield (
        4,
        Verdict.PRESENT,
        f"against `no effect` {_shown(evidence.no_effect)}; small if `margin` falls too",
    )
    yield (
        5,
        Verdict.FALSIFIED,
        f"against `margin` {_shown(evidence.margin)},"
        f" and against `control below floor` {_shown(evidence.control_low)}",
    )
    yield 6, Verdict.NOT_REPRODUCED, f"against `control above floor` {_shown(evidence.control_high)}"
    yield 7, Verdict.INCONCLUSIVE, f"{rules.max_blocks} blocks are used up"


def _shown(value: float | None) -> str:
    return "n/a" if value is None else number(value)
