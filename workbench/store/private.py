"""What is redacted of a run's records, and what is masked: the one gate between them and the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from workbench.model.event import ArmResult, Body, Unknown
from workbench.model.outcome import Counts, Label
from workbench.model.plan import Arm, Part, Plan
from workbench.model.run import Fingerprint, Manifest, RunEvent, Sample, Seen, Served
from workbench.model.start import Reading, Start
from workbench.model.verdict import Guard
from workbench.store.redact import (
    REDACTED,
    known_secrets,
    longest_first,
    mask,
    redact_mapping,
    redact_prose,
    redact_text,
    secret_name,
    secrets_given,
)

_REFERENCES = frozenset(
    {
        *("file", "run", "runs", "events", "strikes", "digest", "was", "to"),
        *("hypothesis", "hypotheses", "replaced_by"),
    }
)


_KEY = "api_key_env"  # the option that names a variable, whatever that is called


@dataclass(frozen=True, slots=True)
class Gate:
    """Takes secrets out of records; what it gives back passes it unchanged.

    Attributes:
        secrets: Values known to be secret, longest first.
    """

    secrets: tuple[str, ...] = ()

    @classmethod
    def of_process(cls) -> Gate:
        """Know the values of this process's own secret-like variables."""
        return cls(known_secrets(os.environ))

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Gate:
        """Know these values."""
        return cls(longest_first(secret for secret in secrets if secret))

    def knowing(self, plan: Plan) -> Gate:
        """Know also what a plan holds that is secret by its name, and the keys that it names."""
        given = [arm.settings for arm in plan.arms]
        given += [part.options for part in (plan.engine, plan.workload, plan.classifier)]
        given += [other.classifier.options for other in plan.also]
        given += [part.options for part in plan.knobs.values()]
        given += [_secret_levels(name, part) for name, part in plan.knobs.items()]
        variables = (part.options.get(_KEY) for part in (plan.engine, plan.workload))
        given += [{"api_key": os.environ.get(str(name), "")} for name in variables]
        return Gate.of({*self.secrets, *secrets_given(given)})

    def manifest(self, manifest: Manifest) -> Manifest:
        """Redact the plan, the reason and the guards of a manifest."""
        return replace(
            manifest,
            plan=self._plan(manifest.plan),
            fingerprints={arm: self.fingerprint(found) for arm, found in manifest.fingerprints.items()},
            why=redact_text(manifest.why, self.secrets),
            guards=tuple(
                replace(guard, detail=redact_text(guard.detail, self.secrets))
                for guard in manifest.guards
            ),
            versions=self._strings(manifest.versions),
            serves=tuple(self._served(each) for each in manifest.serves),
        )

    def fingerprint(self, fingerprint: Fingerprint) -> Fingerprint:
        """Redact what was read back; the paths and digests of files stay."""
        return replace(
            fingerprint,
            config=self._strings(fingerprint.config),
            volatile=self._strings(fingerprint.volatile),
            start=self._start(fingerprint.start) if fingerprint.start else None,
        )

    def event(self, event: RunEvent) -> RunEvent:
        """Redact the facts of an event."""
        return replace(event, facts=redact_mapping(event.facts, self.secrets)) if event.facts else event

    def prose(self, text: str) -> str:
        """Redact a person's words; what looks random there may be a quoted reply, and stays."""
        return redact_prose(text, self.secrets)

    def campaign_event(self, body: Body) -> Body:
        """Redact an event of the campaign's log: its words as prose, its settings as settings.

        Fields that name a file, a run or a hypothesis stay: they must name it afterwards, too.
        """
        if isinstance(body, Unknown):
            return Unknown(kind=body.kind, facts=redact_mapping(body.facts, self.secrets))
        clean: Body = self._record(body)
        return clean

    def sample(self, sample: Sample) -> Sample:
        """Mask the reply, the right answer, and whatever may quote either: labels, how it ended."""
        before = sample.exchange
        words = (before.text, before.expected, before.finish, before.detail, *before.earlier)
        text, expected, finish, detail, *earlier = clean = tuple(map(self._masked, words))
        exchange = before
        if clean != words:
            exchange = replace(
                before,
                text=text,
                expected=expected,
                finish=finish,
                detail=detail,
                earlier=tuple(earlier),
            )
        label = self._label(sample.label)
        others = {name: self._seen(seen) for name, seen in sample.others.items()}
        if exchange is before and label is sample.label and others == sample.others:
            return sample
        return replace(sample, exchange=exchange, label=label, others=others)

    def _label(self, label: Label) -> Label:
        rule, signature = self._masked(label.rule), self._masked(label.signature)
        if (rule, signature) == (label.rule, label.signature):
            return label
        return Label(word=label.word, rule=rule, signature=signature)

    def _masked(self, text: str) -> str:
        return mask(text, self.secrets) if text else ""

    def _seen(self, seen: Seen) -> Seen:
        label = self._label(seen.label)
        return seen if label is seen.label else replace(seen, label=label)

    def _record(self, value: Any) -> Any:
        """Redact the texts of a record, at any depth."""
        if isinstance(value, Counts):  # the order of its letters is no text
            return value
        if isinstance(value, str):
            return value if isinstance(value, Enum) else self.prose(value)
        if isinstance(value, ArmResult):
            return replace(value, settings=self._strings(value.settings))
        if isinstance(value, Guard):
            return replace(value, detail=redact_text(value.detail, self.secrets))
        if isinstance(value, tuple):
            return tuple(self._record(item) for item in value)
        if isinstance(value, Mapping):
            return {name: self._record(item) for name, item in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in fields(value) if field.name not in _REFERENCES]
            return replace(value, **{name: self._record(getattr(value, name)) for name in names})
        return value

    def _plan(self, plan: Plan) -> Plan:
        return replace(
            plan,
            arms=tuple(Arm(name=arm.name, settings=self._strings(arm.settings)) for arm in plan.arms),
            engine=self._part(plan.engine),
            workload=self._part(plan.workload),
            classifier=self._part(plan.classifier),
            also=tuple(replace(each, classifier=self._part(each.classifier)) for each in plan.also),
            knobs={name: self._knob(name, part) for name, part in plan.knobs.items()},
        )

    def _served(self, served: Served) -> Served:
        return replace(served, text=redact_text(served.text, self.secrets))

    def _knob(self, name: str, part: Part) -> Part:
        """Redact a knob; of one that sets a secret, the names of its levels are all that stays."""
        options = dict(self._part(part).options)
        if _secret_levels(name, part):
            options["levels"] = dict.fromkeys(part.options["levels"], REDACTED)
        return Part(kind=part.kind, options=options)

    def _start(self, start: Start) -> Start:
        return replace(
            start,
            readbacks=tuple(map(self._reading, start.readbacks)),
            exposure=tuple(map(self._reading, start.exposure)),
            died=redact_text(start.died, self.secrets),
        )

    def _reading(self, reading: Reading) -> Reading:
        """Redact a reading; of something with a secret name what was due and found as a whole."""
        secret = secret_name(reading.about) or secret_name(reading.source.partition(" of ")[0])
        due, found = (
            REDACTED if secret and text else redact_text(text, self.secrets)
            for text in (reading.due, reading.found)
        )
        return replace(reading, due=due, found=found)

    def _part(self, part: Part) -> Part:
        options: Mapping[str, Any] = redact_mapping(part.options, self.secrets)
        return Part(kind=part.kind, options=options)

    def _strings(self, values: Mapping[str, str]) -> dict[str, str]:
        return {
            name: REDACTED if secret_name(name) and value else redact_text(value, self.secrets)
            for name, value in values.items()
        }


def _secret_levels(name: str, part: Part) -> dict[str, Any]:
    """Give what the levels of a knob stand for, by secret names, if it sets something secret."""
    levels = part.options.get("levels")
    named = [name, *(value for value in part.options.values() if isinstance(value, str))]
    if not isinstance(levels, Mapping) or not any(secret_name(each) for each in named):
        return {}
    return {f"SECRET {level}": value for level, value in levels.items() if isinstance(value, str)}
