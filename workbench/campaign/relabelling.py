"""Labels stored replies again, with no engine, and says what would be counted then; writes nothing.

A verdict stands on the labels that were made as the run went, of replies as they came. What is kept of
them may be a part, and may be cut or masked; so nothing in here is ever judged.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import itemgetter

from workbench import plugins
from workbench.campaign import commands
from workbench.campaign.registry import Campaign
from workbench.conduct.symptoms import as_judged, beside, classifier_of
from workbench.errors import UsageError, nearest
from workbench.judge.fold import exchange_status, trial_status
from workbench.model.campaign import CampaignSpec
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Counts, Ending, Label, Status, Symptom
from workbench.model.plan import Part, Plan, Watched
from workbench.model.relabelled import Change, Origin, Pair, Relabelled, Shift
from workbench.model.run import Sample, Seen
from workbench.ports import Classifier
from workbench.store import RunView

_EXAMPLES = 10


def relabel(run: str, *, classifier: str = "", symptom: str = "") -> Relabelled:
    """Label a run again.

    Args:
        run: A folder, an id, or the start of an id.
        classifier: Kind of the classifier to use; empty for that of the symptom.
        symptom: Name of the symptom to judge for; empty for the run's own.

    Raises:
        UsageError: There is no such run, symptom or classifier, or the two do not fit.
        InvalidFiles: `campaign.yaml` has mistakes.
        StoreError: The manifest is damaged.
    """
    view = commands.find(run)
    labels = _Labels(view.manifest.plan, *_asked(view, classifier, symptom))
    for sample in view.samples():
        labels.take(sample)
    return labels.result(view)


def _asked(view: RunView, classifier: str, symptom: str) -> tuple[Watched, Origin]:
    """Give what a run is to be labelled and judged by."""
    plan = view.manifest.plan
    spec = _campaign_of(view) if symptom or view.manifest.serves else None
    own = Watched(symptom=plan.symptom, classifier=plan.classifier)
    stated = spec.symptoms.get(plan.symptom.name) if spec and view.manifest.serves else None
    if stated is not None:
        part = classifier_of(stated)
        own = Watched(symptom=as_judged(stated, part), classifier=part)
    if symptom and symptom != plan.symptom.name:
        return _named(symptom, plan, spec), Origin.SYMPTOM
    if classifier and classifier != own.classifier.kind:
        known = [plan.classifier]
        known += [each.classifier for each in spec.symptoms.values() if each.classifier] if spec else []
        part = next((each for each in known if each.kind == classifier), Part(kind=classifier))
        return Watched(symptom=_fitted(own.symptom, part), classifier=part), Origin.CLASSIFIER
    return own, Origin.PLAN if stated is None else Origin.CAMPAIGN


def _campaign_of(view: RunView) -> CampaignSpec | None:
    """Give the campaign that a run lies in, wherever it is looked at from."""
    with suppress(UsageError):
        return Campaign.find(view.path.resolve()).spec
    return None


def _named(name: str, plan: Plan, spec: CampaignSpec | None) -> Watched:
    """Give another symptom by its name: of the campaign, else as the run watched it."""
    if spec is not None and name in spec.symptoms:
        return beside(spec.symptoms[name], plan.classifier)
    watched = {each.symptom.name: each for each in plan.also}
    if name in watched:
        return watched[name]
    known = dict.fromkeys((plan.symptom.name, *watched, *(spec.symptoms if spec else ())))
    raise UsageError(f"there is no symptom {name!r}", hint=nearest(name, known) or "known: none")


def _fitted(symptom: Symptom, part: Part) -> Symptom:
    """Give a symptom as another classifier can show it: by those of its labels that it gives."""
    judge: Classifier = plugins.build(plugins.Group.CLASSIFIER, part)
    labels = tuple(label for label in symptom.labels if label in judge.words)
    if symptom.labels and not labels:
        raise UsageError(
            f"classifier {part.kind!r} gives none of the labels of {symptom.name!r}:"
            f" {', '.join(symptom.labels)}",
            hint=f"it gives {', '.join(judge.words)}; state a symptom with some of these in"
            " campaign.yaml, and name that with --symptom",
        )
    return replace(
        symptom,
        labels=labels,
        clean=tuple(word for word in judge.clean if word not in labels),
        void=tuple(word for word in judge.void if word not in labels),
    )


@dataclass(slots=True)
class _Session:
    """The statuses of a session's exchanges; it counts once its last one is there."""

    before: list[Status] = field(default_factory=list)
    now: list[Status] = field(default_factory=list)
    ended: bool = False


class _Labels:
    """The labels of a run, before and now."""

    def __init__(self, plan: Plan, by: Watched, origin: Origin) -> None:
        self._plan = plan
        self._by = by
        self._origin = origin
        self._judge: Classifier = plugins.build(plugins.Group.CLASSIFIER, by.classifier)
        recorded = {each.symptom.name: each for each in plan.also}
        recorded[plan.symptom.name] = Watched(symptom=plan.symptom, classifier=plan.classifier)
        self._recorded = recorded.get(by.symptom.name)
        labelled_by = self._recorded.classifier if self._recorded else plan.classifier
        self._same_kind = labelled_by.kind == by.classifier.kind
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._sessions: dict[SessionKey, _Session] = {}
        self._examples: list[tuple[bool, ExchangeKey, Change]] = []  # not of another status, key
        self._relabelled = self._not_kept = self._altered = self._changed = 0

    def take(self, sample: Sample) -> None:
        """Label one exchange again, if its reply was kept."""
        exchange = sample.exchange
        before, was = self._before(sample)
        if _is_kept(sample, self._plan):
            now = self._judge.label(exchange)
            status = exchange_status(exchange, now, self._by.symptom)
            self._relabelled += 1
            self._altered += _digest(exchange.text) != sample.text_sha256
            self._pairs[before.word, now.word] += 1
        else:
            now, status = before, self._without_text(sample, before, was)
            self._not_kept += 1
        if now != before or status is not (was or status):
            self._note(
                exchange.key,
                Change(
                    key=str(exchange.key),
                    before=before,
                    now=now,
                    was=was,
                    status=status,
                    text=exchange.text,
                ),
            )
        session = self._sessions.setdefault(exchange.key.session, _Session())
        session.before.append(was or status)
        session.now.append(status)
        session.ended = session.ended or exchange.last

    def _before(self, sample: Sample) -> tuple[Label, Status | None]:
        """Give the label on record, and what it made of the exchange."""
        if self._recorded is None:
            return sample.label, None
        if self._by.symptom.name == self._plan.symptom.name:
            return sample.label, sample.status
        seen: Seen = sample.seen(self._by.symptom.name)
        return seen.label, seen.status

    def _without_text(self, sample: Sample, label: Label, was: Status | None) -> Status:
        """Judge an exchange by the label on record, as far as that says anything here."""
        if self._same_kind or sample.exchange.ending is not Ending.COMPLETED:
            return exchange_status(sample.exchange, label, self._by.symptom)
        return was or Status.INCOMPLETE

    def _note(self, key: ExchangeKey, change: Change) -> None:
        self._changed += 1
        same_status = change.was is None or change.status is change.was
        self._examples.append((same_status, key, change))
        if len(self._examples) > _EXAMPLES:  # in whatever order sessions ended
            self._examples.sort(key=itemgetter(0, 1))
            self._examples.pop()

    def result(self, view: RunView) -> Relabelled:
        """Sum up."""
        manifest = view.manifest
        by_times = sorted(self._pairs.items(), key=lambda each: (-each[1], each[0]))
        return Relabelled(
            run=manifest.id,
            command=manifest.command,
            hypotheses=tuple(each.hypothesis for each in manifest.serves),
            symptom=self._by.symptom.name,
            classifier=self._by.classifier.kind,
            origin=self._origin,
            as_recorded=self._by == self._recorded,
            watched=self._recorded is not None,
            labels=tuple(Pair(before=was, now=now, times=times) for (was, now), times in by_times),
            relabelled=self._relabelled,
            not_kept=self._not_kept,
            altered=self._altered,
            changed=self._changed,
            arms=tuple(self._shifts()),
            examples=tuple(change for *_, change in sorted(self._examples, key=itemgetter(0, 1))),
            problems=(*view.altered(), *view.damage()),
        )

    def _shifts(self) -> Iterator[Shift]:
        """Yield each arm's sessions, those of the measurement apart, in assignment order."""
        for arm in self._plan.arms:
            for sampled in (True, False):
                ended = [
                    (trial_status(session.before), trial_status(session.now))
                    for key, session in sorted(self._sessions.items())
                    if session.ended and key.arm == arm.name and (key.block == 0) is sampled
                ]
                if ended:
                    moved = Counter(f"{was} -> {now}" for was, now in ended if was is not now)
                    yield Shift(
                        arm=arm.name,
                        sampled=sampled,
                        before=Counts.of(was for was, _ in ended) if self._recorded else None,
                        now=Counts.of(now for _, now in ended),
                        moved=dict(sorted(moved.items())) if self._recorded else {},
                    )


def _is_kept(sample: Sample, plan: Plan) -> bool:
    """Say whether all that was labelled of a reply is there; an empty one need not be kept for that."""
    exchange = sample.exchange
    return bool(exchange.text) or (not exchange.text_bytes and plan.keep_texts != "none")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
