"""The runs of a campaign as rows: when, what for, what came of it, with counts and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.model.event import VerdictGiven
from workbench.model.registry import Registry, RunLine
from workbench.model.run import RunState
from workbench.report.figures import rate
from workbench.report.reasons import rates, word
from workbench.report.registry import facts, verdicts
from workbench.report.text import cut, inert

_STATES: Mapping[RunState | None, str] = {RunState.RUNNING: ">", RunState.FINISHED: " ", None: "!"}


def runs(registry: Registry, words: str, marked: Sequence[str], width: int) -> list[tuple[str, str]]:
    """Give the runs, the newest first, each with its id and its two lines or more.

    Args:
        registry: The campaign.
        words: What is sought, every one of the words, in whatever case.
        marked: Ids of the runs that are marked.
        width: Columns of a row.
    """
    said = verdicts(registry)
    sought = words.casefold().split()
    found = []
    for run in reversed(registry.runs):
        lines = list(_lines(run, said.get(run.id, {}), run.id in marked))
        text = "\n".join(cut(line, width) for line in lines)
        if all(each in "\n".join(lines).casefold() for each in sought):
            found.append((run.id, text))
    return found


def _lines(run: RunLine, said: Mapping[str, VerdictGiven], marked: bool) -> Iterator[str]:
    mark = "*" if marked else _STATES.get(run.state, "~")
    yield f"{mark} {run.id}  {' '.join(facts(run))}"
    if run.problem:
        yield f"    cannot be read: {inert(run.problem)}"
    for id, verdict in said.items():
        yield f"    {inert(id)} {word(verdict)}: {rates(verdict)}"
    if run.counts and not said:
        counted = (f"{inert(arm)} {rate(of)}" for arm, of in run.counts.items())
        yield f"    no verdict: {', '.join(counted)}"
