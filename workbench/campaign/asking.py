"""Which test of a campaign would tell most a minute; what `next` shows.

Candidates are the tests that stand in files and are not decided, the put-back runs of causes that were
removed, and sufficiency tests: a cause alone, in settings that were found clean. Each is planned as it
would be run, so what cannot be run is no candidate. Suspects of one symptom are weighed together. What
somebody works on already comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from workbench.campaign.pricing import Pricing
from workbench.campaign.registry import Campaign
from workbench.conduct import loads
from workbench.conduct.tests import plan_tests, served_by
from workbench.errors import WorkbenchError
from workbench.judge.claims import live
from workbench.judge.confirming import Pair, proof, unfit
from workbench.judge.next import (
    LEAST_BITS,
    Asked,
    Candidate,
    Kind,
    Seen,
    posterior,
    worth,
)
from workbench.judge.patterns import Claimed, claims, says
from workbench.model.event import ArmResult, VerdictGiven
from workbench.model.hypothesis import Hypothesis, Test
from workbench.model.outcome import Counts
from workbench.model.plan import Plan
from workbench.model.standing import FALLEN, Standing, State
from workbench.model.verdict import Verdict

_ASKED = {"seed": 0}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Offer:
    kind: Kind
    hypothesis: Hypothesis
    pair: Pair
    plan: Plan


def ask(campaign: Campaign) -> Asked:
    """Rank what could be tested next.

    Raises:
        InvalidFiles: `campaign.yaml` has mistakes.
    """
    desk = _Desk(campaign)
    ranked = sorted(
        desk.candidates(), key=lambda each: (bool(each.at_work), -each.worth.rate, each.hypotheses)
    )
    return Asked(candidates=tuple(ranked), shares=desk.shares, refused=desk.refused)


class _Desk:
    """A campaign as the ranking sees it."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._spec = campaign.spec
        self._standings = campaign.registry.standings
        self._files = {each.id: each for each in campaign.registry.hypotheses}
        self._claimed = self._claims()
        self._verdicts = _counted(self._standings)
        self._at_work = live(campaign.log.events, datetime.now(UTC))
        self._pricing = Pricing(campaign.run_lines, self._verdicts)
        self.refused: dict[str, str] = {}
        self.shares = {symptom: self._shares(symptom) for symptom in self._symptoms()}

    def candidates(self) -> Iterator[Candidate]:
        """Yield every candidate that would tell something, equal arms once."""
        found: dict[tuple[object, ...], list[_Offer]] = {}
        for offer in self._offers():
            pair = offer.pair
            arms = tuple(sorted(pair.control.items())), tuple(sorted(pair.treatment.items()))
            alone = offer.hypothesis.id if offer.kind is not Kind.TEST else ""
            key = (offer.kind, alone, arms, pair.symptom, pair.workload, pair.engine)
            found.setdefault(key, []).append(offer)
        for offers in found.values():
            candidate = self._weighed(offers)
            if candidate.worth.bits >= LEAST_BITS:
                yield candidate

    def _weighed(self, offers: Sequence[_Offer]) -> Candidate:
        offer, ids = offers[0], tuple(each.hypothesis.id for each in offers)
        compared = offer.plan.comparisons[0]
        control, treatment = _arm(offer.plan, compared.control), _arm(offer.plan, compared.treatment)
        patterns = {
            each.id: says(
                each,
                control,
                treatment,
                offer.pair.symptom,
                own=each.id in ids,
                put_back=offer.kind is Kind.PUT_BACK,
            )
            for each in self._claimed
        }
        times = self._pricing.times(offer.plan, offer.pair.engine)
        price = self._pricing.price(offer.plan, offer.hypothesis.prediction, times)
        shares = self.shares.get(offer.pair.symptom) or posterior((), ())
        return Candidate(
            kind=offer.kind,
            hypotheses=ids,
            pair=offer.pair,
            worth=worth(patterns, shares, price),
            times=times,
            at_work=tuple(each for each in self._at_work if each.hypothesis in ids),
        )

    def _claims(self) -> list[Claimed]:
        found = [
            (id, self._symptom_of(id), self._files.get(id), standing)
            for id, standing in self._standings.items()
        ]
        return claims(found)

    def _symptom_of(self, id: str) -> str:
        file, symptoms = self._files.get(id), self._spec.symptoms
        named = file.symptom if file else ""
        return named or (next(iter(symptoms)) if len(symptoms) == 1 else "")

    def _symptoms(self) -> list[str]:
        return list(dict.fromkeys(each.symptom for each in self._claimed))

    def _shares(self, symptom: str) -> dict[str, float]:
        asked = [
            each
            for each in self._claimed
            if each.symptom == symptom
            and each.live
            and self._standings[each.id].state is not State.CONFIRMED
        ]
        counted = _once(each for each in self._verdicts if each.symptom in (symptom, ""))
        seen = [_seen(verdict, made_for, asked) for verdict, made_for in counted]
        return posterior([each.id for each in asked], [each for each in seen if each is not None])

    def _offers(self) -> Iterator[_Offer]:
        for id, file in self._files.items():
            standing = self._standings[id]
            test = file.test
            if test is None or file.prediction is None:
                if standing.state not in FALLEN:
                    self.refused[id] = f"it has no {' and '.join(file.missing)}"
                continue
            offers = self._of_file(file, test, standing)
            for kind, hypothesis, put_back in offers:
                offer = self._planned(kind, hypothesis, put_back=put_back)
                if offer is not None and not self._is_decided(offer):
                    yield offer

    def _of_file(
        self, file: Hypothesis, test: Test, standing: Standing
    ) -> Iterator[tuple[Kind, Hypothesis, bool]]:
        """Yield what could be run for one suspect: kind, the file to plan from, its put-back arms."""
        live = standing.state not in FALLEN or standing.reopened
        if live and standing.state is not State.CONFIRMED:
            yield Kind.TEST, file, False
        shown = proof(standing.items)
        if live and shown.lacks == "b" and shown.removed is not None and test.put_back is not None:
            yield Kind.PUT_BACK, file, True
        if standing.state is State.FALSIFIED or self._leads(file.id):
            alone = self._alone(file, test)
            if alone is not None:
                yield Kind.SUFFICIENCY, alone, False

    def _leads(self, id: str) -> bool:
        """Say whether a suspect has the greatest share of its symptom."""
        shares = self.shares[self._symptom_of(id)]
        named = {each: share for each, share in shares.items() if each}
        return id in named and named[id] == max(named.values())

    def _alone(self, file: Hypothesis, test: Test) -> Hypothesis | None:
        """Give a suspect with a sufficiency test: what was found clean, and with its cause in it."""
        pair = Pair(
            control=test.control,
            treatment=test.treatment,
            symptom=self._symptom_of(file.id),
            workload=test.workload,
            engine=test.engine,
        )
        base = next((each for each in reversed(self._verdicts) if _is_clean(each, pair)), None)
        if base is None or len(pair.knobs) != 1 or pair.knobs[0] not in test.control:
            return None
        (knob,) = pair.knobs
        clean = dict(base.arms["treatment"].settings)
        again = {**clean, knob: test.control[knob]}
        known = (dict(test.control), dict(test.treatment))
        if again == clean or (again, clean) == known:
            return None
        return replace(file, test=replace(test, control=again, treatment=clean, put_back=None))

    def _planned(self, kind: Kind, file: Hypothesis, *, put_back: bool) -> _Offer | None:
        try:
            plan = plan_tests(self._spec, [file], _ASKED, put_back=put_back)
            workload, engine = served_by(self._spec, file, _ASKED)
        except WorkbenchError as error:
            self.refused[file.id] = error.what
            return None
        comparison = plan.comparisons[0]
        pair = Pair(
            control=plan.arm(comparison.control).settings,
            treatment=plan.arm(comparison.treatment).settings,
            symptom=plan.symptom.name,
            workload=workload,
            engine=engine,
        )
        if put_back:
            removed = proof(self._standings[file.id].items).removed
            if removed is None or removed.verdict is None or unfit(Pair.of(removed.verdict), pair):
                return None
        return _Offer(kind=kind, hypothesis=file, pair=pair, plan=plan)

    def _is_decided(self, offer: _Offer) -> bool:
        """Say whether a run of these arms has said its word: to run it again would run nothing."""
        if offer.kind is Kind.PUT_BACK:
            return False
        return any(
            verdict.verdict is not Verdict.INCONCLUSIVE
            and not verdict.put_back
            and (offer.kind is Kind.SUFFICIENCY or verdict.hypothesis == offer.hypothesis.id)
            and Pair.of(verdict) == offer.pair
            for verdict in self._verdicts
        )


def _arm(plan: Plan, name: str) -> ArmResult:
    """Give an arm as patterns see it: its settings, and the load that it would be driven with."""
    arm = plan.arm(name)
    return ArmResult(
        settings=arm.settings,
        counts=Counts(0, 0),
        interval=(0.0, 1.0),
        load=loads.of_plan(plan, arm),
    )


def _counted(standings: Mapping[str, Standing]) -> list[VerdictGiven]:
    """Give the verdicts that count, one a process, oldest first."""
    found = {
        (item.at, item.id): item.verdict
        for standing in standings.values()
        for item in standing.items
        if item.counts and item.verdict is not None
    }
    return [found[key] for key in sorted(found)]


def _once(verdicts: Iterable[VerdictGiven]) -> Iterator[tuple[VerdictGiven, set[str]]]:
    """Yield what each run counted of two arms once, with the suspects that it was made for."""
    found: dict[object, tuple[VerdictGiven, set[str]]] = {}
    for verdict in verdicts:
        arms = [sorted(result.settings.items()) for result in verdict.arms.values()]
        _, made_for = found.setdefault((verdict.run, str(arms)), (verdict, set()))
        made_for.add(verdict.hypothesis)
    yield from found.values()


def _seen(verdict: VerdictGiven, made_for: set[str], suspects: Sequence[Claimed]) -> Seen | None:
    control, treatment = verdict.arms.get("control"), verdict.arms.get("treatment")
    if control is None or treatment is None:
        return None
    phi = max(verdict.design_effect, 1.0)
    patterns = {
        each.id: says(
            each,
            control,
            treatment,
            verdict.symptom,
            own=each.id in made_for,
            put_back=verdict.put_back,
        )
        for each in suspects
    }
    return Seen(
        control=(control.counts.hit / phi, control.counts.clean / phi),
        treatment=(treatment.counts.hit / phi, treatment.counts.clean / phi),
        patterns=patterns,
    )


def _is_clean(verdict: VerdictGiven, pair: Pair) -> bool:
    """Say whether the treatment of a verdict was found clean, under the symptom of a test."""
    there = verdict.arms.get("treatment")
    return (
        verdict.verdict is Verdict.PRESENT
        and verdict.symptom == pair.symptom
        and there is not None
        and there.counts.hit == 0
    )
