"""A run as it stands: arms as bars, evidence in words and numbers, what was not clean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.model.progress import Phase, Snapshot
from workbench.model.registry import Failure
from workbench.model.run import RunState
from workbench.report.figures import bar, evidence_so_far, rate, rate_and_rest
from workbench.report.forecast import said
from workbench.report.others import in_full
from workbench.report.sentences import asides, sentence
from workbench.report.starts import starts
from workbench.report.text import cut, duration, inert, ranked, sentence_of, wrapped

_FAILURES = 5


def live(snapshot: Snapshot, state: RunState | None) -> Iterator[str]:
    """Yield the page of a run, from what is decided to what is only seen."""
    plan = snapshot.plan
    ids = sentence_of(each.hypothesis for each in plan.comparisons if each.hypothesis)
    yield f"{snapshot.run}  {state or 'unreadable'}  {ids}".rstrip()
    yield f"  {_where(snapshot, state)}"
    yield ""
    yield from _arms(snapshot)
    for judgement in snapshot.judgements:
        yield ""
        about = f"{inert(judgement.comparison.hypothesis)}: " if judgement.comparison.hypothesis else ""
        if judgement.verdict is None:
            yield f"{about}undecided after {judgement.blocks} of at most {plan.rules.max_blocks} blocks"
        else:
            yield f"{about}{judgement.verdict}"
            yield from wrapped(sentence(judgement, plan))
        yield from wrapped(evidence_so_far(judgement, plan.rules), hanging=2)
        for line in (*asides(judgement), *judgement.notes):
            yield from wrapped(inert(line), hanging=2)
        for line in in_full(judgement.others):
            yield from wrapped(f"beside it, {line}", hanging=2)
    for line in snapshot.problems:
        yield f"WARNING: {inert(line)}"
    yield from _failures(snapshot)
    yield ""
    yield "arms"
    for arm in plan.arms:
        yield from wrapped(said(arm), hanging=13)
    found = list(starts(snapshot.starts))
    if found:
        yield ""
        yield "starts"
        yield from (f"  {line}" for line in found)


def failing(found: Sequence[Failure], width: int) -> list[tuple[str, str]]:
    """Give failing exchanges as rows: key, and a line with its label and how the reply begins."""
    rows = []
    for each in found:
        reply = " ".join(each.text.split()) or "(reply not kept)"
        rows.append((each.key, cut(f"{each.key}  {each.label}  {reply}", width)))
    return rows


def holding(failures: Sequence[Failure], words: str) -> tuple[Failure, ...]:
    """Give the failures that hold all words, in what they are called or in the reply."""
    sought = words.casefold().split()

    def holds(each: Failure) -> bool:
        said = f"{each.key} {each.label} {each.signature} {each.text}".casefold()
        return all(word in said for word in sought)

    return tuple(filter(holds, failures))


def reply(failure: Failure) -> list[str]:
    """Give a reply as a page: what it is, and then every line of it as it came."""
    about = f"{failure.run} {failure.key}: {failure.label}"
    return [about, f"  {failure.signature}" if failure.signature else "", *failure.text.split("\n")]


def _where(snapshot: Snapshot, state: RunState | None) -> str:
    plan = snapshot.plan
    if plan.comparisons:
        parts = [f"block {snapshot.block} of at most {plan.rules.max_blocks}"]
    else:
        parts = ["a measurement"]
    parts.append(duration(snapshot.seconds))
    if state is RunState.RUNNING:
        parts.append(f"{snapshot.in_flight} sessions under way, as far as they have answered")
        if snapshot.worst_seconds and any(each.verdict is None for each in snapshot.judgements):
            parts.append(f"at worst {duration(snapshot.worst_seconds)} more")
    return ", ".join(parts)


def _arms(snapshot: Snapshot) -> Iterator[str]:
    rates = {name: rate for each in snapshot.judgements for name, rate in each.rates.items()}
    if snapshot.phase is Phase.MEASURING or not snapshot.plan.comparisons:
        name = snapshot.plan.measurement.arm if snapshot.plan.measurement else "measured"
        yield f"  {inert(name):<12} {bar(snapshot.measured)} {rate(snapshot.measured)}"
        return
    for name, counts in snapshot.arms.items():
        same = next(
            (each.rates.get(name) for each in snapshot.judgements if each.arms.get(name) == counts),
            rates.get(name) if not snapshot.in_flight else None,
        )
        yield f"  {inert(name):<12} {bar(counts, same)} {rate_and_rest(counts, same)}"


def _failures(snapshot: Snapshot) -> Iterator[str]:
    found = ranked(snapshot.failures)
    if found:
        yield ""
        yield "not clean"
    for signature, times in found[:_FAILURES]:
        yield from wrapped(f"{times:>4} x {signature}", hanging=7)
    if len(found) > _FAILURES:
        yield f"  and {len(found) - _FAILURES} more kinds"
