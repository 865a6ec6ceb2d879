"""Do the files of a campaign fit together? Names that lead nowhere, arms that do not differ, circles.

Checked on `Facts`, the little of a file that refers to something. They are taken from the fields as
written, so that a file with a mistake in its form still has its references checked in the same pass.
Findings name their place by keys; line and column are looked up only for those there are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Self

from workbench.errors import nearest
from workbench.model.campaign import CampaignSpec
from workbench.model.hypothesis import differing, levels_of, number
from workbench.store.known import Known

Keys = tuple[str | int, ...]
LOADS = ("in_flight", "sessions", "turns")  # what a condition may speak of beside knobs
_MOST = 100  # files told to be in a circle; who cuts one of those has fewer
_CONDITION = re.compile(r"(>=|<=|>|<|=)?\s*[0-9]+")
_OF_CODE = ("commit", "patch")  # kinds of knobs that need a repository
_ARMS = ("control", "treatment", "put_back.control", "put_back.treatment")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A mistake between files: where it stands, by keys, what it is, and what to do."""

    keys: Keys
    what: str
    hint: str = ""
    at_key: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What a hypothesis file refers to.

    Attributes:
        parent: Its parent's id.
        also: Ids of further parents.
        symptom: Name of the symptom.
        workload: Name of the test's workload.
        engine: Name of the test's engine.
        fails_when: Knob, or measure of load, to condition.
        arms: Arm of the test, such as `put_back.control`, to its settings.
        why_many: It says why more than one knob differs.
        assumptions: Ids of the assumptions.
        changed: Changes of settings among the interventions: place, and knob to level.
    """

    parent: str = ""
    also: tuple[str, ...] = ()
    symptom: str = ""
    workload: str = ""
    engine: str = ""
    fails_when: dict[str, str] = field(default_factory=dict)
    arms: dict[str, dict[str, str]] = field(default_factory=dict)
    why_many: bool = False
    assumptions: tuple[str, ...] = ()
    changed: tuple[tuple[int, Mapping[str, str]], ...] = ()

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Take the facts from a file's fields, whatever else they hold."""
        test = _mapping(fields.get("test"))
        back = _mapping(test.get("put_back"))
        arms = {"control": test.get("control"), "treatment": test.get("treatment")}
        arms |= {f"put_back.{name}": back.get(name) for name in ("control", "treatment")}
        assumptions = (_text(_mapping(each).get("id")) for each in _list(fields.get("assumptions")))
        return cls(
            parent=_text(fields.get("parent")),
            also=tuple(_text(each) for each in _list(fields.get("also"))),
            symptom=_text(fields.get("symptom")),
            workload=_text(test.get("workload")),
            engine=_text(test.get("engine")),
            fails_when=_texts(fields.get("fails_when")),
            arms={name: _texts(arm) for name, arm in arms.items() if isinstance(arm, dict) and arm},
            why_many=bool(test.get("why_many")),
            assumptions=tuple(assumptions),
            changed=tuple(
                (place, _texts(_mapping(each).get("setting")))
                for place, each in enumerate(_list(fields.get("interventions")))
            ),
        )


def check_hypothesis(id: str, facts: Facts, known: Known, ids: frozenset[str]) -> Iterator[Finding]:
    """Check what one file refers to.

    Args:
        id: The hypothesis.
        facts: What its file refers to.
        known: Names that the campaign has.
        ids: Ids of all hypotheses, also of those whose files have mistakes.
    """
    for keys, parent in _parents(facts):
        if parent and parent == id:
            yield Finding(
                keys=keys, what=f"{id} cannot be its own parent", hint="name another, or none"
            )
        elif parent and parent not in ids:
            hint = nearest(parent, sorted(ids - {id}, key=number))
            yield Finding(keys=keys, what=f"there is no hypothesis {parent}", hint=hint)
    yield from _name(("symptom",), "symptom", facts.symptom, known.symptoms)
    yield from _name(("test", "workload"), "workload", facts.workload, known.workloads)
    yield from _name(("test", "engine"), "engine", facts.engine, known.engines)
    yield from _left_open(facts, known)
    yield from _conditions(facts, known)
    for arm in facts.arms:
        yield from check_settings(("test", *arm.split(".")), facts.arms[arm], known)
    for place, setting in facts.changed:
        yield from check_settings(("interventions", place, "setting"), setting, known)
    for prefix in ("", "put_back."):
        yield from _difference(prefix, facts)
    for position, each in enumerate(facts.assumptions):
        if each and each in facts.assumptions[:position]:
            yield Finding(
                keys=("assumptions", position, "id"), what=f"there are two assumptions {each}"
            )


def check_settings(where: Keys, settings: Mapping[str, str], known: Known) -> Iterator[Finding]:
    """Check that there are such knobs, with such levels."""
    if known.knobs is None:
        return
    for knob, level in settings.items():
        keys = (*where, knob)
        yield from _name(keys, "knob", knob, known.knobs, at_key=True)
        if levels := known.knobs.get(knob):
            yield from _level(keys, knob, level, levels)


def check_tree(facts: Mapping[str, Facts]) -> Iterator[tuple[str, Finding]]:
    """Find parents that lead back to their child; gives the id of the file to blame with each.

    Args:
        facts: Hypothesis id to what its file refers to.
    """
    edges = {
        id: {each for each in (told.parent, *told.also) if each in facts} - {id}
        for id, told in facts.items()
    }
    rest = _circular(edges)
    findings = (
        (
            id,
            Finding(
                keys=keys, what=f"its parents lead back to it: {_shown([id, *way])}", hint="cut one"
            ),
        )
        for id in rest
        for keys, parent in _parents(facts[id])
        if parent in rest and parent != id and (way := _way(parent, id, edges, rest))
    )
    yield from islice(findings, _MOST)


def check_campaign(spec: CampaignSpec, known: Known) -> Iterator[Finding]:
    """Check what `campaign.yaml` says of itself."""
    yield from _name(("engine",), "engine", spec.engine, known.engines)
    components = [
        each.options["components"] for each in spec.engines.values() if "components" in each.options
    ]
    parts = tuple({part: None for each in components if isinstance(each, Mapping) for part in each})
    for name, knob in spec.knobs.items():
        for engine in knob.on:
            keys: Keys = ("knobs", name, "on", engine)
            yield from _name(keys, "engine", engine, known.engines, at_key=True)
            for level in knob.on[engine].get("levels", ()):
                yield from _level((*keys, "levels", level), name, level, knob.levels, at_key=True)
        for position, part in enumerate(knob.components if parts else ()):
            yield from _name(("knobs", name, "components", position), "component", part, parts)
    yield from _code(spec)
    for position, each in enumerate(spec.constraints):
        keys = ("constraints", position, "check")
        knob_name, level = _text(each.check.get("knob")), _text(each.check.get("level"))
        yield from _name((*keys, "knob"), "knob", knob_name, known.knobs)
        if level and known.knobs and (levels := known.knobs.get(knob_name)):
            yield from _level((*keys, "level"), knob_name, level, levels)
    for id, count in Counter(each.id for each in spec.constraints).items():
        if count > 1:
            last = max(i for i, each in enumerate(spec.constraints) if each.id == id)
            yield Finding(keys=("constraints", last, "id"), what=f"there are {count} constraints {id}")


def _code(spec: CampaignSpec) -> Iterator[Finding]:
    """Check the knobs that check code out: where from, and that their levels can name something."""
    for name, knob in spec.knobs.items():
        if knob.kind not in _OF_CODE:
            continue
        if not spec.repo:
            what = f"knob {name} checks code out, and the campaign names no repository"
            yield Finding(keys=("knobs", name, "kind"), what=what, hint="add `repo: FOLDER`")
        for level, value in knob.levels.items():
            if not (isinstance(value, str) or (value is None and knob.kind == "patch")):
                what = f"{value!r} names no {knob.kind}"
                keys: Keys = ("knobs", name, "levels", level)
                yield Finding(keys=keys, what=what, hint="write it in quotes")


# --- one thing at a time --------------------------------------------------------------------------


def _parents(facts: Facts) -> list[tuple[Keys, str]]:
    """Give the parents that a file names, and where."""
    return [(("parent",), facts.parent), *((("also", i), each) for i, each in enumerate(facts.also))]


def _shown(way: list[str]) -> str:
    return " -> ".join(way if len(way) <= 8 else [*way[:4], "...", *way[-3:]])


def _name(
    keys: Keys, noun: str, name: str, known: Iterable[str] | None, *, at_key: bool = False
) -> Iterator[Finding]:
    if name and known is not None and name not in (names := list(known)):
        hint = nearest(name, names) or f"the campaign has no {noun} at all"
        yield Finding(keys=keys, what=f"there is no {noun} {name!r}", hint=hint, at_key=at_key)


def _level(
    keys: Keys, knob: str, level: str, levels: Iterable[str], *, at_key: bool = False
) -> Iterator[Finding]:
    names = list(levels)
    if level not in names:
        what = f"knob {knob} has no level {level!r}"
        yield Finding(keys=keys, what=what, hint=nearest(level, names), at_key=at_key)


def _left_open(facts: Facts, known: Known) -> Iterator[Finding]:
    """A name may be left out of a test only where there is one that it can mean."""
    if not facts.arms:
        return
    engines = None if known.engine else known.engines
    for field_name, named, there in (
        ("symptom", facts.symptom, known.symptoms),
        ("workload", facts.workload, known.workloads),
        ("engine", facts.engine, engines),
    ):
        if named or there is None or len(there) == 1:
            continue
        what = f"does not say which {field_name} its test is about"
        hint = f"add `{field_name}:`, one of {', '.join(there)}"
        if not there:
            what, hint = f"has a test, and the campaign has no {field_name}", "add one to campaign.yaml"
        yield Finding(keys=("test",), at_key=True, what=what, hint=hint)


def _conditions(facts: Facts, known: Known) -> Iterator[Finding]:
    if known.knobs is None:
        return
    for name, condition in facts.fails_when.items():
        keys: Keys = ("fails_when", name)
        if name in known.knobs:
            if levels := known.knobs[name]:
                for level in levels_of(condition):
                    yield from _level(keys, name, level, levels)
        elif name not in LOADS:
            hint = nearest(name, [*known.knobs, *LOADS])
            yield Finding(keys=keys, at_key=True, what=f"there is no knob {name!r}", hint=hint)
        elif not _CONDITION.fullmatch(condition):
            what = f"{condition!r} is no condition on {name}"
            yield Finding(keys=keys, what=what, hint='write one such as ">=30"')


def _difference(prefix: str, facts: Facts) -> Iterator[Finding]:
    """Two arms must differ, and in one knob, or nobody can say what made the difference."""
    control, treatment = facts.arms.get(f"{prefix}control"), facts.arms.get(f"{prefix}treatment")
    if control is None or treatment is None:
        return
    knobs = differing(control, treatment)
    keys: Keys = ("test", *prefix.split(".")[:-1], "treatment")
    if not knobs:
        yield Finding(
            keys=keys, at_key=True, what="control and treatment are equal", hint="change one knob"
        )
    if len(knobs) > 1 and not facts.why_many:
        what = f"control and treatment differ in {len(knobs)} knobs: {', '.join(knobs)}"
        hint = "change one, or say `why_many:` in the test"
        yield Finding(keys=keys, at_key=True, what=what, hint=hint)


def _circular(edges: Mapping[str, set[str]]) -> dict[str, None]:
    """Give the ids in circles, and between two circles: what is left when all loose ends are cut."""
    rest = dict.fromkeys(edges)
    parents = {id: set(each) for id, each in edges.items()}
    children: dict[str, set[str]] = {id: set() for id in edges}
    for id, each in edges.items():
        for parent in each:
            children[parent].add(id)
    for ways, back in ((parents, children), (children, parents)):
        loose = [id for id in rest if not ways[id]]
        while loose:
            id = loose.pop()
            del rest[id]
            for other in back[id]:
                ways[other].discard(id)
                if other in rest and not ways[other]:
                    loose.append(other)
    return rest


def _way(start: str, end: str, edges: Mapping[str, set[str]], within: Iterable[str]) -> list[str]:
    """Give a shortest way from start to end over parents, empty when there is none."""
    allowed, came = set(within), {start: ""}
    queue = [start]
    for here in queue:
        if here == end:
            way = [here]
            while came[way[-1]]:
                way.append(came[way[-1]])
            return way[::-1]
        for other in sorted(edges[here] & allowed):
            if other not in came:
                came[other] = here
                queue.append(other)
    return []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> dict[str, str]:
    return {name: each for name, each in _mapping(value).items() if isinstance(each, str)}
