"""How a run went, block by block: what each arm counted, and what was judged after each block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.model.outcome import Counts
from workbench.model.plan import Plan
from workbench.model.verdict import Judgement


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """The course of a run.

    Attributes:
        run: Its id.
        plan: Its plan.
        counts: What it counted, by block and arm; block 0 is the sample before the first.
        judgements: What was judged of each comparison after each complete block, by block; those of
            earlier runs that it goes on from were complete before its first.
        problems: What of its record is damaged or altered, one line each.
    """

    run: str
    plan: Plan
    counts: Mapping[tuple[int, str], Counts]
    judgements: Mapping[int, tuple[Judgement, ...]]
    problems: tuple[str, ...] = ()
