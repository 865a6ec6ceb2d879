"""What a person reads when a run has ended: the word, why, the numbers, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from workbench.model.plan import Plan
from workbench.model.progress import Snapshot
from workbench.model.verdict import Judgement
from workbench.report.figures import bar, rate_and_rest
from workbench.report.forecast import cost_against_clean
from workbench.report.others import in_short
from workbench.report.reasons import evidence_for
from workbench.report.sentences import asides, next_step, sentence
from workbench.report.text import blocks, duration, evidence, inert, points, ranked

_FAILURES_SHOWN = 6


def comparison_summary(snapshot: Snapshot) -> Iterator[str]:
    """Yield the lines that end a run of comparisons."""
    for judgement in snapshot.judgements:
        yield from _comparison(judgement, snapshot)


def measurement_summary(snapshot: Snapshot) -> Iterator[str]:
    """Yield the lines that end a measurement."""
    measured = snapshot.measured
    yield f"failed {rate_and_rest(measured)}"
    if snapshot.session_seconds is not None and snapshot.start_seconds is not None:
        yield (
            f"one trial takes {duration(snapshot.session_seconds)},"
            f" of which starting takes {duration(snapshot.start_seconds)}"
        )
    yield from _failures(snapshot)
    yield from cost_against_clean(snapshot)
    yield ""
    yield f"kept in {snapshot.folder} (seed {snapshot.plan.seed})"
    what, command = _after_measurement(snapshot)
    yield f"next: {what}"
    yield f"  {command}"


def _comparison(judgement: Judgement, snapshot: Snapshot) -> Iterator[str]:
    plan = snapshot.plan
    yield f"{judgement.verdict or 'undecided'}"
    yield sentence(judgement, plan)
    yield from asides(judgement)
    yield ""
    for name, counts in judgement.arms.items():
        interval = judgement.rates[name]
        yield f"  {name:<10} {bar(counts, interval)} {rate_and_rest(counts, interval)}"
    yield from _evidence(judgement, plan)
    for note in judgement.notes:
        yield f"  note       {note}"
    for line in in_short(judgement.others):
        yield f"  {line}"
    yield from _failures(snapshot)
    yield ""
    spent = f"{blocks(judgement.blocks)}, {duration(snapshot.seconds)}, seed {plan.seed}"
    yield f"{spent}, kept in {snapshot.folder}"
    what, command = next_step(judgement, snapshot)
    yield f"next: {what}"
    yield f"  {command}"


def _evidence(judgement: Judgement, plan: Plan) -> Iterator[str]:
    """Show the evidence that the word rests on, or that came nearest to one."""
    if not judgement.blocks:
        return
    against, value = evidence_for(judgement.verdict, judgement.evidence, plan.rules.margin)
    if value is not None:
        yield f"  evidence   against `{against}`: {evidence(value, plan.rules.alpha)}"
    low, high = judgement.interval
    yield f"  difference {points(low, high)} (control minus treatment)"
    if judgement.comparison.prediction.treatment is not None:
        yield f"  prediction {judgement.comparison.prediction}: {judgement.held}"


def _failures(snapshot: Snapshot) -> Iterator[str]:
    """List what was not clean by signature, the most frequent first."""
    kinds = ranked(snapshot.failures)
    for signature, times in kinds[:_FAILURES_SHOWN]:
        yield f"  {times:>5} x    {signature}"
    if len(kinds) > _FAILURES_SHOWN:
        yield f"  and {len(kinds) - _FAILURES_SHOWN} more kinds: workbench explain {snapshot.folder}"


def _after_measurement(snapshot: Snapshot) -> tuple[str, str]:
    measured = snapshot.measured
    settings = snapshot.plan.arms[0].settings
    if "command" not in settings:
        return "read what was found running", f"workbench explain {snapshot.run}"
    command = inert(settings["command"])
    if measured.decided < measured.total and not measured.hit:
        what = "see why nothing, or not everything, was observed"
        return what, f"workbench explain {shlex.quote(snapshot.folder)}"
    if not measured.hit:
        return "raise the load, or look longer", f"workbench measure --trials 1000 -- {command}"
    share = min(measured.hit / measured.decided, 0.99)
    compare = f"workbench ab --control {shlex.quote(command)} --treatment 'THE SUSPECT REMOVED'"
    return "compare it with a suspect removed", f"{compare} --predict {share:.2g}:removes"
