"""Several runs of one test are one process (RULES 6): what says so, and what is carried over.

The *test digest* is equal exactly for runs of the same test. A later run begins with the complete
blocks of the earlier ones, as if it had run them itself; stopping and starting anew would otherwise be
a way to try again until it fits. So nothing that can be changed without changing what is tested is part
of the digest: not the seed, not the number of blocks or their size, not which replies are kept.

A run that goes on from others numbers its blocks after theirs. The same seed then never gives the same
sessions twice, and only the first two blocks of a process ever mirror each other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.judge.fold import Tally
from workbench.model.outcome import Counts
from workbench.model.plan import Part, Plan
from workbench.model.run import Fingerprint
from workbench.model.verdict import Comparison
from workbench.stats import arm_order

# of a knob: levels that an arm does not stand at, and how one knows that it stands there
_NOT_THE_TEST = ("levels", "readback", "moves", "named")


@dataclass(frozen=True, slots=True)
class PairBlock:
    """One complete block of one comparison.

    Attributes:
        control: Counts of the control arm, in assignment order.
        treatment: Counts of the treatment arm.
        first: The arm of the two that was brought up first.
    """

    control: Counts
    treatment: Counts
    first: Literal["control", "treatment"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Beginning:
    """What a run begins with; nothing, for the first of its test.

    Attributes:
        blocks: Complete blocks of earlier runs for each comparison, in the plan's order, oldest first;
            empty when no comparison has any.
        measured: The measurement that the first of these runs made, None where there was none.
        others: The same blocks as other symptoms see them, by their names; None for a block of a run
            that did not watch that symptom.
    """

    blocks: tuple[tuple[PairBlock, ...], ...] = ()
    measured: Counts | None = None
    others: Mapping[str, tuple[tuple[PairBlock | None, ...], ...]] = field(default_factory=dict)

    def of(self, comparison: int) -> tuple[PairBlock, ...]:
        """Give the earlier blocks of a comparison, by its place in the plan."""
        return self.blocks[comparison] if self.blocks else ()

    def others_of(self, symptom: str, comparison: int) -> tuple[PairBlock | None, ...]:
        """Give the earlier blocks of a comparison as another symptom sees them."""
        return self.others[symptom][comparison] if symptom in self.others else ()


NOTHING = Beginning()


def complete_blocks(plan: Plan, tally: Tally, comparison: Comparison) -> Iterator[PairBlock]:
    """Yield the complete blocks that a run itself made for one of its comparisons.

    Args:
        plan: The run's plan.
        tally: Its sessions.
        comparison: One of the plan's.
    """
    size, block = plan.rules.block_size, plan.first_block
    pair = (comparison.control, comparison.treatment)
    names = [arm.name for arm in plan.arms]
    while all(tally.done(arm, block).issuperset(range(size)) for arm in pair):
        first = next(name for name in arm_order(names, block, plan.seed) if name in pair)
        yield PairBlock(
            tally.counts(comparison.control, block, size),
            tally.counts(comparison.treatment, block, size),
            "control" if first == comparison.control else "treatment",
        )
        block += 1


def digest_of_test(
    plan: Plan, comparison: Comparison, found: Mapping[str, Fingerprint], fresh: str = ""
) -> str:
    """Digest what one comparison of a run tests.

    Args:
        plan: The run's plan, as it stands on record.
        comparison: One of the plan's.
        found: What was read back, by arm, as it stands on record; volatile facts do not matter.
        fresh: Id of the run, if no other is to go on from it or before it: one that puts a cause back
            is a process of its own.
    """
    rules, symptom, prediction = plan.rules, plan.symptom, comparison.prediction
    arms = {"control": comparison.control, "treatment": comparison.treatment}
    tested: dict[str, Any] = {
        "arms": {role: _realised(plan, arm) for role, arm in arms.items()},
        "code": {role: _runs(found[arm]) for role, arm in arms.items()},
        "engine": _part(plan.engine),
        "workload": _part(plan.workload),
        "classifier": _part(plan.classifier),
        "symptom": [symptom.name, *map(sorted, (symptom.labels, symptom.clean, symptom.void))],
        "endings": sorted(symptom.endings),
        "prediction": [prediction.control, prediction.treatment, prediction.removes],
        "margin": rules.margin,
        "reference": rules.reference,
        "noise": rules.noise_bound,
        "alpha": rules.alpha,
        "starts": [rules.cluster, rules.design_effect],
    }
    if fresh:
        tested["fresh"] = fresh
    return hashlib.sha256(_canonical(tested).encode()).hexdigest()


def _runs(found: Fingerprint) -> list[Any]:
    """Give what an arm runs, as far as it belongs to the test."""
    code = [list(found.code.identity)] if found.code else []
    return [found.config, found.files, *code]


def _realised(plan: Plan, arm: str) -> list[Any]:
    """Give the settings of an arm as what they stand for: a renamed level is the same arm."""
    realised: list[list[Any]] = []
    for name, level in plan.arm(arm).settings.items():
        knob = plan.knobs.get(name)
        if knob is None:
            realised.append([name, level])
        else:
            options = {key: value for key, value in knob.options.items() if key not in _NOT_THE_TEST}
            realised.append([knob.kind, options, knob.options.get("levels", {}).get(level)])
    return sorted(realised, key=_canonical)


def _part(part: Part) -> list[Any]:
    return [part.kind, dict(part.options)]


def _canonical(value: Any) -> str:
    """Give the one text that stands for a value, however its mappings are ordered."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    """Give a value as JSON knows it; what a record holds is the same before and after its file."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_canonical, value))
    return value if value is None or isinstance(value, str | int | float) else str(value)
