"""What makes a cause confirmed: removed, put back, and its path still running (RULES 8).

    (a) removed    `present` with its prediction held, the arms differing in one knob
    (b) put back   planned and begun after (a) had ended: the fixed setting as it is, against the same
                   with the cause in it again; `present`, and what lay between the starts is on record
    (c) exposed    in both arms of both, the suspect's own path was exercised as much as its test asks

A suspect that has all three, and nothing that counts against it, is confirmed. With (a) and (b) alone
the evidence is `intervened` and it stays `supported`: whoever turns a whole path off removes everything
that needs it, and puts all of it back. What is not on record is not known, and confirms nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.model.event import Circumstances, Role, VerdictGiven
from workbench.model.hypothesis import differing
from workbench.model.standing import Item
from workbench.model.verdict import Held, Verdict

# measures of load: they say how hard the engine was driven, and nothing of any path
_LOAD = re.compile(r"in_flight|num_running|num_queue|requests_(running|waiting|processing|deferred)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two arms as a verdict or a file has them, and what they are tested with."""

    control: Mapping[str, str]
    treatment: Mapping[str, str]
    symptom: str
    workload: str
    engine: str

    @classmethod
    def of(cls, verdict: VerdictGiven) -> Pair:
        """Give the pair of a verdict."""
        settings = {role: result.settings for role, result in verdict.arms.items()}
        return cls(
            control=settings.get("control", {}),
            treatment=settings.get("treatment", {}),
            symptom=verdict.symptom,
            workload=verdict.workload,
            engine=verdict.engine,
        )

    @property
    def knobs(self) -> tuple[str, ...]:
        """Knobs in which the arms differ, sorted."""
        return tuple(sorted(differing(self.control, self.treatment)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """How far a hypothesis is on the way to `confirmed`.

    Attributes:
        removed: The run that removed it, (a); None without one.
        put_back: The run that put it back, (b); None without one.
        exposed: The path ran in both arms of both, (c).
        lacks: Which part is the first that is missing: `a`, `b` or `c`; empty for none.
        because: Why it is missing, in words; empty for none.
    """

    removed: Item | None = None
    put_back: Item | None = None
    exposed: bool = False
    lacks: str = ""
    because: str = ""

    @property
    def intervened(self) -> bool:
        """The cause was removed and put back."""
        return self.put_back is not None

    @property
    def confirmed(self) -> bool:
        """Nothing is missing."""
        return not self.lacks

    @property
    def role(self) -> Role | None:
        """The role that (a) and (b) without (c) suggest.

        A test that asks for the suspect's path in the control alone says that the treatment turns it
        off: what it removes may only have shown something else.
        """
        if self.removed is None or not self.intervened or self.exposed:
            return None
        asked = [each for each in _known(self.removed).exposed if not is_load(each.what)]
        alone = any(each.control and each.treatment is None for each in asked)
        return Role.EXPOSER if alone else Role.CONTRIBUTING


def is_load(what: str) -> bool:
    """Say whether something counted tells of the load alone, and so of no suspect's path."""
    return what.startswith("metric ") and _LOAD.search(what) is not None


def proof(items: Sequence[Item]) -> Proof:
    """Say which parts of a confirmation there are.

    Args:
        items: All evidence on one hypothesis, with what counts marked.
    """
    runs = [item for item in items if item.counts and item.verdict is not None]
    removals = [item for item in runs if not _why_no_removal(item)]
    if not removals:
        return Proof(lacks="a", because=_first(map(_why_no_removal, _of(runs, put_back=False))))
    backs = _of(runs, put_back=True)
    pairs = [(a, b) for a in removals for b in backs if not _why_not_back(a, b)]
    if not pairs:
        newest = removals[-1]
        why = _first(_why_not_back(newest, back) for back in backs)
        return Proof(removed=newest, lacks="b", because=why)
    for a, b in reversed(pairs):
        if not _why_not_exposed(a, b):
            return Proof(removed=a, put_back=b, exposed=True)
    a, b = pairs[-1]
    return Proof(removed=a, put_back=b, lacks="c", because=_why_not_exposed(a, b))


def unfit(removed: Pair, back: Pair) -> str:
    """Say why a put-back pair does not belong to a removal; empty when it does.

    Args:
        removed: What was removed, and found so.
        back: What is to put it back, or did.
    """
    for what in ("symptom", "workload", "engine"):
        then, now = getattr(removed, what), getattr(back, what)
        if then != now:
            return (
                f"the {what} is {now or 'not named'}, and was {then or 'not named'} when it was removed"
            )
    if len(back.knobs) != 1:
        return f"its arms differ in {len(back.knobs)} knobs, not in one"
    if back.knobs != removed.knobs:
        return f"its arms differ in {back.knobs[0]}, and those of the removal in {removed.knobs[0]}"
    if dict(back.treatment) != dict(removed.treatment):
        return "its treatment is not the fixed setting, the treatment of the removal"
    return ""


def _of(runs: Sequence[Item], *, put_back: bool) -> list[Item]:
    return [item for item in runs if item.verdict is not None and item.verdict.put_back is put_back]


def _why_no_removal(item: Item) -> str:
    verdict = _verdict(item)
    if verdict.put_back:
        return f"{verdict.run} put it back"
    if verdict.verdict is not Verdict.PRESENT:
        return f"{verdict.run} says {verdict.verdict}"
    if verdict.prediction is not Held.HELD:
        return f"{verdict.run} says present, and of the prediction {verdict.prediction}"
    knobs = Pair.of(verdict).knobs
    if len(knobs) > 1:
        return f"{verdict.run} changed {len(knobs)} knobs at once: it supports only the joint claim"
    if not knobs:
        return f"what {verdict.run} changed is not on record"
    if _known(item).ended is None:
        return f"when {verdict.run} ended is not on record"
    return ""


def _why_not_back(removal: Item, back: Item) -> str:
    verdict = _verdict(back)
    if verdict.verdict is not Verdict.PRESENT:
        return f"{verdict.run} put it back and says {verdict.verdict}"
    why = unfit(Pair.of(_verdict(removal)), Pair.of(verdict))
    if why:
        return f"{verdict.run} does not put back what {_verdict(removal).run} removed: {why}"
    then, now = _known(removal).ended, _known(back)
    if then is None or now.planned is None or now.began is None:
        return f"when {verdict.run} was planned and begun is not on record"
    if min(now.planned, now.began) < then:
        return f"{verdict.run} was planned or begun before {_verdict(removal).run} had ended"
    if not now.reset:
        return f"what lay between the starts of {verdict.run} is not on record"
    return ""


def _why_not_exposed(removal: Item, back: Item) -> str:
    """Say why the suspect's path is not shown to have run in all four arms."""
    common: set[str] | None = None
    for item in (removal, back):
        run, told = _verdict(item).run, _known(item).exposed
        own = [each for each in told if not is_load(each.what)]
        if not own:
            return f"{run} counted nothing of its own path"
        missed = [each.what for each in own if False in (each.control, each.treatment)]
        if missed:
            return f"{run} did not reach {missed[0]} in both arms"
        both = {each.what for each in own if each.control and each.treatment}
        if not both:
            return f"{run} counted {own[0].what} in one arm alone"
        common = both if common is None else common & both
    if not common:
        return "the two runs counted different things"
    return ""


def _first(reasons: Iterator[str]) -> str:
    """Give the newest reason, or that nothing has been tried."""
    told = [why for why in reasons if why]
    return told[-1] if told else "no run has tried"


def _verdict(item: Item) -> VerdictGiven:
    assert item.verdict is not None  # only runs are looked at here
    return item.verdict


def _known(item: Item) -> Circumstances:
    return _verdict(item).circumstances or Circumstances()
