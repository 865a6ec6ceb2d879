"""Whether what an arm asks of its knobs can be had at all; looked at when a run is planned.

Which things a knob sets is found by trying all its levels, so that a flag that one level leaves away
counts, too, and so that this holds for kinds that nobody here has heard of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import combinations
from typing import NamedTuple

from workbench import plugins
from workbench.conduct.executor import OURS
from workbench.conduct.knobs import COMPONENTS, LEVELS, READBACK, Knobs
from workbench.errors import nearest
from workbench.judge.readback import CHECKOUT
from workbench.model.campaign import EngineSpec, WorkloadSpec
from workbench.model.plan import Arm, Cluster, Part
from workbench.ports import Launch


class Touch(NamedTuple):
    """Something that a knob sets at one of its levels, at least."""

    noun: str
    name: str
    components: frozenset[str]  # where; empty for everywhere

    def clashes(self, other: Touch) -> bool:
        """Whether two knobs that touch this and that would set the same thing."""
        if self.components and other.components and not self.components & other.components:
            return False
        if self.noun != other.noun:
            return False
        first, second = sorted((self.name, other.name), key=len)
        return first == second or (self.noun in _DOTTED and second.startswith(f"{first}."))


_DOTTED = ("field", "load", "key")


def check(knobs: Knobs, arm: Arm, engine: EngineSpec, workload: WorkloadSpec) -> None:
    """Refuse an arm that cannot be had.

    Raises:
        ValueError: Two of its knobs set the same thing, both named; the workload has no such option; or
            a file of another host would have to be changed.
    """
    touched = {
        name: list(_touched(knobs, name)) for name in sorted(arm.settings) if name in knobs.parts
    }
    for (one, its), (other, others) in combinations(touched.items(), 2):
        for touch in its:
            if any(touch.clashes(each) for each in others):
                raise ValueError(
                    f"knobs {one} and {other} both set {touch.noun} {touch.name}".rstrip()
                    + "; an arm can have one of them"
                )
    beside = knobs.beside(arm)
    for field in beside.load.keys() - set(OURS):
        known = [each for each in _options(workload.kind) if each not in ("cwd",)]
        if field.partition(".")[0] not in known:
            hint = nearest(field, [*OURS, *known])
            raise ValueError(f"workload {workload.kind!r} has no option {field!r} for a load; {hint}")
    _check_code(knobs, arm, engine)
    host = engine.options.get("ssh")
    if beside.edits and host:
        raise ValueError(
            f"{beside.edits[0].path} would be changed on this host, and engine {engine.name!r} runs on"
            f" {host}; give the knob another realisation there by `on:`"
        )


def _check_code(knobs: Knobs, arm: Arm, engine: EngineSpec) -> None:
    """Refuse to check out code for what is not started, or is started elsewhere."""
    for name in arm.settings.keys() - set(knobs.of_code(arm)):
        if CHECKOUT in knobs.parts[name].options.get(READBACK, {}):
            raise ValueError(
                f"knob {name} would be read back by the code that is checked out, and checks none out;"
                " only knobs such as of kind commit and patch do"
            )
    if knobs.checkout(arm) is None:
        return
    kind, host = plugins.engine_type(engine.lifecycle), engine.options.get("ssh")
    of_code = ", ".join(knobs.of_code(arm))
    if not kind.disturbs and kind.cluster is not Cluster.TRIAL:
        raise ValueError(
            f"knob {of_code} would run other code, and engine {engine.name!r} starts nothing; use one"
            " that is started, such as lifecycle process, or knob kind endpoint"
        )
    if host:
        raise ValueError(
            f"knob {of_code} would check code out on this host, and engine {engine.name!r} runs on"
            f" {host}"
        )


def _touched(knobs: Knobs, name: str) -> Iterator[Touch]:
    """Yield what a knob sets, at whatever level."""
    part: Part = knobs.parts[name]
    where = frozenset(part.options.get(COMPONENTS, ()))
    for level in part.options.get(LEVELS, {}):
        arm = Arm(name="", settings={name: level})
        try:
            launch = knobs.apply(arm, Launch(), min(where, default=""))
        except ValueError:  # that level is refused where it is asked for
            continue
        yield from (Touch("variable", each, where) for each in launch.env)
        yield from (Touch("flag", each.partition("=")[0], where) for each in launch.argv[:1])
        yield from (Touch("endpoint", "", where) for _ in launch.url[:1])
        if launch.checkout is not None and launch.checkout.commit:
            yield Touch("the commit", "", frozenset())
        yield from (Touch("field", each, frozenset()) for each in launch.request)
        yield from (Touch("load", each, frozenset()) for each in launch.load)
        for edit in launch.edits:
            noun, what = ("key", edit.key) if edit.key else ("line", edit.line)
            yield Touch(noun, f"{edit.path}: {what}", frozenset())


def _options(kind: str) -> list[str]:
    return [each.name for each in fields(plugins.options_type(plugins.Group.WORKLOAD, kind))]
